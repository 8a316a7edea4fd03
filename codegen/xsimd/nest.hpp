// codegen/xsimd/nest.hpp -- writes one loop nest of a fusion plan.
#pragma once

#include "codegen/xsimd/context.hpp"

namespace trilith::codegen::xsimd {

/// Where one value lies in memory, as the nest walks it.
struct Stream {
  DType dtype = DType::Float32;
  bool writes = false;
  std::string base;              ///< pointer to the region's first element
  std::string row;               ///< pointer to the current row
  std::vector<Product> strides;  ///< by outer loop
  Product inner, rows;           ///< along the last axis; column nests: along the reduced axis
};

struct Loop {
  Product extent;
  std::string variable;
};

/// Element the body of a pass stands at, and how many elements of the vector exist.
struct Place {
  std::string at;           ///< index along the last axis
  std::string count;        ///< empty: all N
  std::string accumulator;  ///< index suffix of accumulators ("[u]"), or empty
};

class NestEmitter {
 public:
  NestEmitter(Context& context, const fuse::Plan& plan, int number,
              std::map<fuse::ValueId, Buffer>& temporaries)
      : c_(context), plan_(plan), nest_(plan.nests[number]), number_(number), temporaries_(temporaries) {}

  void emit();

 private:
  // nest_streams.cpp: memory and loops
  void collect_streams();
  Stream memory_of(const fuse::Root& root);
  Stream memory_of(fuse::ValueId id);
  Stream region_stream(const Statement& statement, const std::vector<Dim>& shape);
  Stream buffer_stream(const Buffer& buffer);
  void follow(Stream& stream, const std::vector<Dim>& shape, const std::vector<Product>& strides);
  void collapse_loops();
  std::vector<Stream*> all_streams();
  void declare_row(Stream& stream, bool along_rows);
  [[nodiscard]] std::string pointer(const Stream& stream, const std::string& at) const;

  // emit_pass.cpp: one pass over the last axis
  void pass(const fuse::Stage& stage);
  void streaming_pass(const fuse::Stage& stage);
  [[nodiscard]] const fuse::Root* streamed_root(const fuse::Stage& stage) const;
  void accumulators(const fuse::Stage& stage, int count);
  void finish_reductions(const fuse::Stage& stage, int count);
  void body(const fuse::Stage& stage, const Place& place);
  void vector_value(fuse::ValueId id, const Place& place);
  void vector_root(const fuse::Root& root, const Place& place);
  [[nodiscard]] bool adds(const fuse::Root& root);  ///< an atomic store; its header is included
  void accumulate(fuse::ValueId reduction, const Place& place);
  [[nodiscard]] std::string vector_operand(const fuse::Operand& operand);
  [[nodiscard]] std::string splat(DType dtype, const std::string& scalar) const;
  [[nodiscard]] bool is_cheap(const fuse::Stage& stage) const;
  [[nodiscard]] bool is_strided(const fuse::Stage& stage) const;  ///< reads or writes elements that lie apart

  // emit_rows.cpp: outer loops and values of one element a row
  void row_nest();
  void row_values(const fuse::Stage& stage);
  void row_roots(const fuse::Stage& stage);
  void open_loops();
  void row_buffers();
  [[nodiscard]] std::string row_operand(const fuse::Operand& operand);
  [[nodiscard]] bool from_memory(fuse::ValueId id) const;

  // emit_columns.cpp
  void column_nest();
  void column_body(const std::string& columns);
  void column_end(const std::string& columns);
  void column_loop(const std::string& columns, const fuse::Stage& stage, bool end);

  [[nodiscard]] std::string name_of(fuse::ValueId id);
  [[nodiscard]] bool varies(fuse::ValueId id) const {
    return fuse::varies_in_row(plan_.values[id].shape, nest_);
  }
  [[nodiscard]] const fuse::Value& value(fuse::ValueId id) const { return plan_.values[id]; }

  Context& c_;
  const fuse::Plan& plan_;
  const fuse::Nest& nest_;
  int number_;
  std::map<fuse::ValueId, Buffer>& temporaries_;
  std::map<fuse::ValueId, Stream> reads_;
  std::map<const fuse::Root*, Stream> writes_;  ///< roots of the stages, which do not move
  std::vector<Loop> loops_;                     ///< outer ones
  Product inner_;
  std::string block_;      ///< column nests: first column of the block, or empty
  std::string row_count_;  ///< column nests: rows `u` of one turn, or empty
  std::map<fuse::ValueId, std::string> names_;
  std::map<fuse::ValueId, std::string> row_buffers_;
  std::map<fuse::ValueId, std::string> accumulators_, neutrals_, totals_;
  std::vector<bool> buffered_;  ///< by ValueId: a pass before this one left it in its row buffer
  DType narrowest_ = DType::Float32;
  bool streams_ = false;                  ///< a fence must follow the nest
  const fuse::Root* streamed_ = nullptr;  ///< the store of this pass that goes past the caches
};

struct Reduction {
  const char* combine;
  const char* across;
  DType accumulator;  ///< what it is kept in: sums and products of half and bfloat16 in float
  Constant neutral;
  bool mean;
};
[[nodiscard]] Reduction reduction_of(const Expr& expression);
/// The text of a value of one dtype as one of another.
[[nodiscard]] std::string converted(std::string text, DType from, DType to);

}  // namespace trilith::codegen::xsimd
