// codegen/tile_call.hpp -- operations that are neither elementwise nor a row or column reduction.
//
// A tile call reads its tile operands from memory and leaves its result there, each dense and row-major; it is
// emitted as one call of a function template of the device header. Operands are tiles, scalars and lists of
// integers (an offset or shape written in the kernel). Here is the one typing rule of each: `specialise` and
// the verifier use it with run-time extents, the reference and the interpreter with constants.
//
// To add one: README.md, "To add a tile call". Pure functions.
#pragma once

#include "codegen/error.hpp"
#include "codegen/ir.hpp"

#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace trilith::codegen {

/// What only a run can tell. Where the numbers are constants the rule itself throws ShapeError.
struct RunTimeCheck {
  enum Kind : std::uint8_t {
    Equal,        ///< a == b
    Inside,       ///< [a, a + b) lies in [0, c)
    NotNegative,  ///< a >= 0
  } kind = Equal;
  Expr a, b, c;      ///< int64 scalars
  std::string what;  ///< the sentence, with message::given_word and the like for a, b and c
};

struct TileCallType {
  DType dtype = DType::Float32;
  std::vector<Expr> shape;  ///< int64 scalars, folded
  std::vector<RunTimeCheck> checks;
};

/// What `call` gives. Its operands are resolved: complete types, lists of int64 scalars; `call.type` has the
/// dtype that the kernel asked for, or `any_dtype`. Throws ShapeError and DtypeError.
[[nodiscard]] TileCallType tile_call_type(const Kernel& kernel, const Expr& call,
                                          const pl::Location& location);

/// True where the value of an index may turn out to be out of range, which the call itself finds.
[[nodiscard]] bool may_find_bad_index(Op op);
/// True for the operations that copy their first operand and change elements of it.
[[nodiscard]] bool changes_first_operand(Op op);

/// Which operand is a list that gives a shape, so that captures in it are specialised; -1: none.
[[nodiscard]] int shape_operand(Op op);

/// A tile call that must not leave its result in `variable`, because it reads it. The accumulator of a product, and
/// a tile of which only elements change, may be where the result is.
[[nodiscard]] bool overwrites_operand(const Expr& call, VariableId variable);

/// What the rules are written with. Throws at once what constants tell, else notes a run-time check.
class CallRule {
 public:
  CallRule(const Kernel& kernel, const Expr& call, pl::Location location)
      : kernel_(kernel), call_(call), location_(std::move(location)) {}

  [[nodiscard]] const Expr& call() const { return call_; }
  [[nodiscard]] const Attributes& attributes() const { return call_.attributes; }
  [[nodiscard]] std::size_t count() const { return call_.operands.size(); }
  /// The type of operand i, which must be a tile.
  [[nodiscard]] const Type& tile(std::size_t i) const;
  [[nodiscard]] std::size_t rank(std::size_t i) const { return tile(i).shape.size(); }
  /// Extent of a tile operand as an int64 scalar; all of them.
  [[nodiscard]] Expr extent(std::size_t i, std::size_t axis) const;
  [[nodiscard]] std::vector<Expr> extents(std::size_t i) const;
  /// The items of operand i, which must be a list.
  [[nodiscard]] const std::vector<Expr>& list(std::size_t i) const;
  /// "[8, N]"
  [[nodiscard]] std::string shape_text(std::size_t i) const;
  /// "8", "N"
  [[nodiscard]] std::string extent_text(const Expr& extent) const;

  /// DtypeError unless operand i has a dtype of the table's row, or that of operand j.
  void accept(std::size_t i) const;
  void same_dtype(std::size_t i, std::size_t j) const;
  /// An axis of a tile of this rank, counted from 0; ShapeError where there is none.
  [[nodiscard]] std::size_t axis(std::int64_t given, std::size_t rank) const;

  /// The dtype that the kernel asked for; DtypeError unless the row takes it.
  [[nodiscard]] DType wanted() const;
  /// DtypeError unless operand i is a scalar of this dtype.
  void scalar(std::size_t i, DType dtype) const;
  /// ShapeError unless operand i, a list, has `size` items.
  const std::vector<Expr>& list(std::size_t i, std::size_t size, const std::string& what) const;
  /// Operand i, a list, as the shape of a result: no extent is negative.
  std::vector<Expr> shape(std::size_t i);

  void equal(Expr a, Expr b, const std::string& what);
  void inside(Expr offset, Expr size, Expr extent, const std::string& what);
  void not_negative(Expr extent, const std::string& what);
  /// 0 <= size <= extent; `words` makes the sentence of the two.
  void at_most(Expr size, Expr extent,
               const std::function<std::string(const std::string&, const std::string&)>& words);

  void note(RunTimeCheck check) { checks_.push_back(std::move(check)); }

  [[noreturn]] void shape_error(const std::string& what) const;
  [[noreturn]] void dtype_error(const std::string& what) const;
  [[nodiscard]] TileCallType result(DType dtype, std::vector<Expr> shape);

  /// Folded int64 arithmetic on extents.
  [[nodiscard]] static Expr number(std::int64_t value);
  [[nodiscard]] static Expr sum(Expr a, Expr b);
  [[nodiscard]] static Expr product(Expr a, Expr b);

 private:
  /// "concat: …"
  [[nodiscard]] std::string prefixed(const std::string& what) const;

  const Kernel& kernel_;
  const Expr& call_;
  pl::Location location_;
  std::vector<RunTimeCheck> checks_;
};

namespace rules {
// tile_call/layout.cpp
TileCallType transpose(CallRule& rule);
// tile_call/linear.cpp
TileCallType linear(CallRule& rule);
TileCallType tile_slice(CallRule& rule);
TileCallType assemble(CallRule& rule);
TileCallType concat(CallRule& rule);
TileCallType reshape(CallRule& rule);
TileCallType reinterpret(CallRule& rule);
TileCallType pad(CallRule& rule);
TileCallType expand(CallRule& rule);
// tile_call/generate.cpp
TileCallType arange(CallRule& rule);
TileCallType tri(CallRule& rule);
TileCallType random(CallRule& rule);
// tile_call/index.cpp
TileCallType argument(CallRule& rule);
TileCallType cumsum(CallRule& rule);
TileCallType gather(CallRule& rule);
TileCallType gather_row(CallRule& rule);
TileCallType load_row(CallRule& rule);
TileCallType paged_gather(CallRule& rule);
TileCallType scatter(CallRule& rule);
TileCallType sort_indices(CallRule& rule);
TileCallType topk_indices(CallRule& rule);
TileCallType write(CallRule& rule);
}  // namespace rules

}  // namespace trilith::codegen
