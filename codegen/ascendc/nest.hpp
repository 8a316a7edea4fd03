// codegen/ascendc/nest.hpp -- lowers one loop nest of a fusion plan.
//
// A nest walks its outer axes but the innermost of them one by one, that one ("rows") in blocks, and its last axis whole
// or, where a row does not fit, in chunks. In a block every value is computed once, when it is first needed.
#pragma once

#include "codegen/ascendc/vector.hpp"

#include <map>
#include <vector>

namespace trilith::codegen::ascendc {

/// Where one value lies, as the nest walks it.
struct Stream {
  bool global = true;  ///< device memory; else a home in the unified buffer
  ObjectId object = -1;
  DType dtype = DType::Float32;      ///< of the elements there
  std::string name;                  ///< for messages
  bool adds = false;                 ///< an atomic store
  bool is_input = false;             ///< a tensor that the kernel does not write
  const Statement* store = nullptr;  ///< that leaves the value there
  Address base;
  std::vector<Amount> strides;  ///< by loop
  Amount rows{0}, inner{0};
};

/// A value in the unified buffer: a tile, or one scalar everywhere; of comparisons also its bits.
struct Held {
  Operand operand;
  std::optional<Mask> mask;
};

class Nest {
 public:
  Nest(Context& context, const fuse::Plan& plan, int number, std::map<fuse::ValueId, Home>& temporaries)
      : c(context),
        plan_(plan),
        nest_(plan.nests[number]),
        number_(number),
        temporaries_(temporaries),
        v(context, block_) {}

  void emit();

 private:
  struct Loop {
    Extent extent;
    std::string variable;
  };
  /// Values that exist in one level of the nest's loops, and tensors of queues to free at its end.
  struct Scope {
    std::map<fuse::ValueId, Held> held;
    std::map<std::string, std::string> elements;  ///< of tiles of one element that the scalar pipe has read
    std::vector<ObjectId> in;
  };
  struct Pending {
    Tile tile;
    const Stream* stream;
  };

  // nest_streams.cpp
  void collect();
  void collect(fuse::ValueId id, std::vector<bool>& seen);
  Stream stream_of(const fuse::Root& root);
  Stream stream_of(fuse::ValueId id);
  Stream region_stream(const Statement& statement, const std::vector<Dim>& shape);
  Stream home_stream(const Home& home, const std::vector<Dim>& shape);
  void follow(Stream& stream, const std::vector<Dim>& shape, const std::vector<Amount>& strides);
  std::vector<Stream*> streams();
  void collapse();
  void choose_block();
  [[nodiscard]] std::int64_t asked_block();
  [[nodiscard]] bool is_elementwise() const;

  // nest.cpp: rounds
  void rounds();
  void block();
  void chunks(const std::vector<fuse::Stage>& stages);
  void column_rounds();
  void column_end();
  void hoist();
  bool open_rounds(const std::string& hint, const Extent& extent, std::int64_t step, std::string& variable,
                   Amount& count);
  void walk();
  Amount counted(const std::string& hint, const Extent& extent);
  void close_rounds(std::string& variable, Amount& count, std::int64_t step);
  std::map<fuse::ValueId, Tile> start_totals(const std::vector<fuse::ValueId>& reductions);
  void add_columns(fuse::ValueId id, const Tile& total);
  void finish_totals(const std::map<fuse::ValueId, Tile>& totals);
  void open_scope() { scopes_.emplace_back(); }
  void close_scope();
  // values and what becomes of them
  Held get(fuse::ValueId id);
  Held compute(fuse::ValueId id);
  std::string scalar_of(const Tile& tile);
  Tile tile_of(const Held& held, DType dtype, bool rows, bool columns);
  void name(const Tile& tile, VariableId variable);
  void roots(const std::vector<fuse::Root>& list, const std::vector<fuse::ValueId>& then = {});
  void root(std::size_t number);
  void set_aside(ObjectId object);
  void set_aside(ObjectId object, fuse::ValueId id, std::vector<bool>& seen);
  void keep(const Tile& tile, const Tile& home);
  void flush();
  [[nodiscard]] std::size_t index_of(const fuse::Root& root) const;
  [[nodiscard]] Extent reduced_extent() const;
  [[nodiscard]] ObjectId resolve(ObjectId object) const;
  [[nodiscard]] std::vector<Node>::reverse_iterator declaration_of(ObjectId object);
  [[nodiscard]] bool is_older_than_flush(ObjectId object);
  [[nodiscard]] bool is_mine(const Tile& tile) const;
  [[nodiscard]] bool lies_as_block(const Stream& stream, const Address& at, bool rows, bool columns,
                                   DType held) const;
  [[nodiscard]] Address address(const Stream& stream) const;
  [[nodiscard]] bool from_memory(fuse::ValueId id) const;

  // move.cpp
  Held load(fuse::ValueId id, const Stream& stream);
  static std::string step(const Stream& stream, Address at, const std::string& i, const Amount& stride);
  [[nodiscard]] Amount vector_stride(const Tile& tile, const Stream& stream) const;
  Tile spread(const Tile& tile);
  Tile load_vector(const Stream& stream, const Address& at, const Amount& count, const Amount& stride,
                   bool rows, bool columns);
  void store(const Tile& tile, const Stream& stream);
  Tile in_tensor(DType dtype, std::int64_t bytes);
  void arrived(const Tile& tile);
  void free(const Tile& tile);
  Tile from_storage(const Tile& tile, DType dtype);
  Tile to_storage(const Tile& tile, DType dtype);

  Context& c;
  const fuse::Plan& plan_;
  const fuse::Nest& nest_;
  int number_;
  std::map<fuse::ValueId, Home>& temporaries_;
  std::map<fuse::ValueId, Stream> reads_;
  std::vector<Stream> writes_;  ///< by root of the nest
  std::vector<Loop> loops_;
  Extent row_extent_ = 1, inner_extent_ = 1;
  bool reduces_columns_ = false;  ///< a column nest of one column: its rows are the inner axis
  std::string row_, column_;      ///< first row and column of the block; empty: 0
  Block block_;
  Vector v;
  bool repeats_ = false;  ///< more than one block
  bool spreads_ = false;  ///< the next rounds may be spread over cores
  bool twice_ = false;    ///< what moves now has `buffers_` buffers, else one
  int buffers_ = 2;       ///< more or fewer where a put or get asks for them
  std::vector<Scope> scopes_;
  std::vector<fuse::ValueId> later_;  ///< what is computed behind the root of now
  std::vector<Pending> pending_;      ///< computed results, to be moved out at the end of the block
  int next_in_ = 0, next_out_ = 0, hoisted_in_ = 0;
  std::size_t flushed_ = 0;  ///< nodes up to the end of the last flush
  ObjectId first_mine_ = 0;  ///< objects of this block
};

}  // namespace trilith::codegen::ascendc
