// codegen/ascendc/vector.hpp -- vector operations on tiles of one block in the unified buffer.
//
// Each function appends the line of one AscendC operation and gives its result as a new tile, so that lowerings read as
// formulas. Operands broadcast: a tile has rows and columns of its block, or one of either.
#pragma once

#include "codegen/ascendc/context.hpp"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace trilith::codegen::ascendc {

/// What a nest has in the unified buffer at one time: `rows` rows of `columns` elements, `pitch` elements apart.
/// Columns that only the run knows are at the start of rows of a constant pitch.
struct Block {
  [[nodiscard]] bool is_ragged() const { return max_rows > 1 && !columns.is_constant(); }
  Amount rows{1};
  Amount columns{1};
  std::int64_t max_rows = 1, max_columns = 1, pitch = 1;
};

/// A tile of the block. Without `rows` (`columns`) it has one of them, the same for all of the block's.
struct Tile {
  ObjectId object = -1;
  DType dtype = DType::Float32;  ///< of its elements in the unified buffer
  bool rows = false, columns = false;
  Address at = {};  ///< its first element in the object
  [[nodiscard]] bool same_axes(const Tile& other) const {
    return rows == other.rows && columns == other.columns;
  }
};

/// One bit an element, from a comparison.
struct Mask {
  ObjectId object = -1;
  bool rows = false, columns = false;
};

/// A tile, or a C++ scalar of the elements' type.
struct Operand {
  Tile tile = {};
  std::string scalar = {};
  [[nodiscard]] bool is_scalar() const { return tile.object < 0; }
};

/// A C++ expression of the operands' elements.
using ElementFormula = std::function<std::string(const std::vector<std::string>& elements)>;

class Vector {
 public:
  Vector(Context& context, const Block& block) : c(context), block_(block) {}

  [[nodiscard]] const Block& block() const { return block_; }
  [[nodiscard]] std::string text(const Tile& tile) const;
  /// Elements of a tile as one stretch of memory, padding included.
  [[nodiscard]] Amount count(bool rows, bool columns) const;
  [[nodiscard]] Amount count(const Tile& tile) const { return count(tile.rows, tile.columns); }
  [[nodiscard]] std::int64_t capacity(bool rows, bool columns) const;

  /// A new tile without a value.
  Tile fresh(DType dtype, bool rows, bool columns);
  Tile fresh_bytes(DType dtype, std::int64_t bytes);

  Tile unary(const char* operation, const Tile& a);
  Tile with_scalar(const char* operation, const Tile& a,
                   const std::string& scalar);  ///< Adds, Muls, Maxs, Mins
  /// Add, Sub, Mul, Div, Max, Min, with operands that broadcast. Scalars must be the second operand, of Add, Mul, Max
  /// and Min alone.
  Tile binary(const char* operation, const Tile& a, const Tile& b);
  Tile cast(const Tile& a, DType to, const char* mode);
  Tile duplicate(DType dtype, const std::string& scalar, bool rows, bool columns);
  /// Bit operation of 16-bit elements: any dtype as twice or half as many.
  Tile bitwise(const char* operation, const Tile& a, const Tile& b);
  Tile bitwise_not(const Tile& a);
  Tile shift(bool left, const Tile& a, const std::string& amount, bool logical);

  Mask compare(const char* mode, const Tile& a, const Tile& b);
  Mask compare_scalar(const char* mode, const Tile& a, const std::string& scalar);
  Mask mask_not(const Mask& mask);
  Mask mask_binary(const char* operation, const Mask& a, const Mask& b);
  /// Tiles of all of the mask's rows and columns.
  Tile select(const Mask& mask, const Tile& a, const Tile& b);
  Tile select(const Mask& mask, const Tile& a, const std::string& scalar);

  /// The same elements in a tile of its own.
  Tile copy(const Tile& a);
  void copy_into(const Tile& to, const Tile& a);
  /// broadcast.cpp: with the rows and columns wanted.
  Tile expand(const Tile& a, bool rows, bool columns);
  /// by_element.cpp: fills a tile that has all of the operands' rows and columns.
  void by_element(const Tile& to, const std::vector<Operand>& operands, const ElementFormula& formula);
  /// The one element of a tile, read by the scalar pipe.
  std::string read(const Tile& a);
  [[nodiscard]] bool is_one(const Tile& a) const { return !a.rows && !a.columns; }

  // reduce.cpp
  enum class Fold { Sum, Prod, Max, Min, MaxUnsigned, MinUnsigned };  ///< the last two: of 64 bits
  /// Over the columns; the result has one element a row.
  Tile reduce_columns(Fold fold, const Tile& a);
  /// Adds every row of `a` to `into`, a tile of one row, whatever the fold's operation is.
  void accumulate_rows(Fold fold, const Tile& into, const Tile& a);
  void accumulate(Fold fold, const Tile& into, const Tile& a);
  /// into += a * scalar, of floats whose products and sums are exact: how often it rounds is not documented.
  void accumulate_times(const Tile& into, const Tile& a, const std::string& scalar);
  /// The largest element, as a C++ scalar.
  std::string largest(const Tile& a);

  [[nodiscard]] Touch reads(const Tile& tile) const { return touch(tile, false); }
  [[nodiscard]] Touch writes(const Tile& tile) const { return touch(tile, true); }

  Context& c;

 private:
  Touch touch(const Tile& tile, bool writes) const;
  /// What the last line takes: every element of the tile once.
  void takes(const Tile& tile);
  void takes_bytes(std::int64_t bytes);
  /// `lines` operations whose repeats are the block's rows.
  void takes_rows(std::int64_t lines) { c.takes({{Work::Unit::Vector, lines * block_.max_rows}}); }
  Tile broadcast(const char* operation, const Tile& a, const Tile& b);
  Tile fold_rows(Fold fold, const Tile& a);
  Tile fold_ragged_rows(Fold fold, const Tile& a);
  Tile fold_flat(Fold fold, const Tile& a);
  /// Elements that the scalar pipe makes one of, or one a row.
  struct Rows {
    std::string text;
    Touch touch;
    Amount count;
    std::int64_t most, pitch;
  };
  Tile total_rows(Fold fold, const Tile& a, const Rows& from);

  const Block& block_;
};

/// Elements that one repeat of a vector operation works on.
[[nodiscard]] inline std::int64_t per_repeat(DType dtype) { return 256 / bytes_of(dtype); }
[[nodiscard]] inline std::int64_t per_block(DType dtype) { return 32 / bytes_of(dtype); }

}  // namespace trilith::codegen::ascendc
