// codegen/xsimd/context.hpp -- what the parts of the xsimd emitter share while one kernel is written.
#pragma once

#include "codegen/ir.hpp"
#include "codegen/passes/fuse.hpp"
#include "codegen/specialise.hpp"
#include "codegen/xsimd/writer.hpp"

#include <map>
#include <set>
#include <span>
#include <string>
#include <vector>

namespace trilith::codegen::xsimd {

/// A product of a constant and run-time integers, kept so that equal products compare equal.
struct Product {
  std::int64_t factor = 1;
  std::vector<std::string> terms;  ///< C++ names, sorted
  bool operator==(const Product&) const = default;

  [[nodiscard]] bool is(std::int64_t value) const { return terms.empty() && factor == value; }
  [[nodiscard]] bool is_constant() const { return terms.empty(); }
  [[nodiscard]] std::string text() const;
  [[nodiscard]] Product operator*(const Product& other) const;
};

struct TensorInfo {
  int index = 0;  ///< into abi::Args::tensors
  int parameter = 0;
  std::string name;
  Access access = Access::In;
  std::vector<Product> strides;
  std::vector<std::string> run_time_strides;  ///< by axis, empty where the stride follows from extents
  std::vector<bool> uses_stride;              ///< by axis: run_time_strides must be declared
};

/// Memory for one tile: on the stack, or scratch of the host.
struct Buffer {
  std::string name;
  DType dtype = DType::Float32;
  std::vector<Dim> shape;
  bool on_stack = false;
  [[nodiscard]] std::string pointer() const { return on_stack ? name : name + ".data"; }
};

/// A region of a tensor that is read or written where it lies.
struct View {
  std::string pointer;
  std::vector<Product> strides;  ///< of the tile's axes
};

/// One memory access of the top level, for Emitted::in_place. Later accesses have greater times.
struct TopLevelAccess {
  const Statement* statement = nullptr;
  std::int64_t time = 0;
};

struct Context {
  Context(const Kernel& kernel, const Signature& signature);

  const Kernel& kernel;
  const Signature& signature;
  fuse::Uses uses;
  Names names;
  std::vector<std::string> variables;  ///< C++ name by VariableId
  std::map<VariableId, TensorInfo> tensors;
  std::vector<std::string> declarations;  ///< in front of the first statement
  Writer out;
  std::set<std::string> headers;  ///< of the device header's folder, beside device.hpp

  std::map<VariableId, Buffer> buffers;
  std::map<VariableId, View> views;  ///< tiles that are no more than a region of a tensor
  std::int64_t stack_bytes = 0;
  int depth = 0;  ///< of control flow; 0: the kernel's top level
  std::int64_t time = 0;
  std::vector<TopLevelAccess> reads, writes;

  [[nodiscard]] Product product(const Dim& dim) const;
  [[nodiscard]] Product count(const std::vector<Dim>& shape) const;
  [[nodiscard]] std::string dim(const Dim& dim) const { return product(dim).text(); }
  /// "kernel.cpp:12", for comments.
  [[nodiscard]] std::string place(const SourceLocation& location) const;

  /// The buffer of a tile variable.
  Buffer& buffer_of(VariableId variable);
  Buffer new_buffer(const std::string& hint, DType dtype, std::vector<Dim> shape, std::int64_t padding = 0);
  /// Makes room in it, where that happens at run time.
  void reserve(const Buffer& buffer, const SourceLocation& location, std::int64_t padding = 0);

  // emit_scalar.cpp
  [[nodiscard]] std::string scalar(const Expr& expression);
  /// The same where plain int64 arithmetic is wanted: constants are bare numbers.
  [[nodiscard]] std::string index(const Expr& expression);
  [[nodiscard]] std::string call(const Expr& expression, const std::vector<std::string>& operands);

  // emit_checks.cpp
  void fault_if(const std::string& condition, std::string_view code, const SourceLocation& location,
                const std::string& what, const std::string& given, const std::string& expected,
                const std::string& length = {});
  void check(const Statement& statement);
  /// Of a load or a store: the condition under which its check ends the kernel; empty: it never does.
  [[nodiscard]] std::string leaves_tensor(const Statement& statement);

  // emit_statement.cpp, emit_run.cpp
  void statements(std::span<const Statement> list);
  void run(std::span<const Statement> run);
  /// tile_call.cpp. `store`: writes its result straight to a tensor, and is checked behind the call.
  void tile_call(const Statement& statement, const Statement* store = nullptr);
  void remote(const Statement& statement);  ///< emit_remote.cpp
  // emit_accesses.cpp: of a load or store, a gather; nothing where no run is told of it.
  void report_access(const Statement& statement);
  void report_rows(const Statement& statement);
  /// Of an element that moves along the device::Line of this name, all rounds at once.
  void report_accesses(const Statement& statement, const std::string& line, const std::string& rounds);
  // views.cpp
  void find_views();
  /// Points the view of a tile that is loaded here at its region; nothing for other statements.
  void set_view(const Statement& statement);
  /// Length of a product and of the store behind it that it can write straight to its tensor; 0: none.
  std::size_t product_and_store(std::span<const Statement> list);
  /// The same of a remote load.
  std::size_t remote_load_and_store(std::span<const Statement> list);
  /// The tile of the first statement, by the second one alone?
  [[nodiscard]] bool is_only_stored(std::span<const Statement> list) const;
  void scalar_assign(const Statement& statement);
  // calls_index.cpp: one element of a tile. The text of its number, once its offsets are checked.
  void read(const Statement& statement);
  std::string element(const Statement& statement, const Type& tile, const Expr& offsets);
  void comment(const Statement& statement);
  void find_shapes();
  [[nodiscard]] bool is_extent_of_a_shape(VariableId variable) const { return in_shapes[variable]; }

 private:
  void statement(const Statement& statement);
  void nested(std::span<const Statement> list);
  void for_loop(const Statement& statement);
  // emit_ahead.cpp, emit_accesses.cpp
  void report_ahead(const Statement& loop, const std::string& begin, const std::string& end,
                    const std::string& step);
  [[nodiscard]] std::string access_mode(const Statement& statement);
  // emit_parallel.cpp
  /// Rounds that may run at the same time, as a function of their own that the host calls.
  void parallel_loop(const Statement& statement);
  /// The bounds of a counted loop, each evaluated once.
  struct Bounds {
    std::string begin, end, step;
  };
  Bounds bounds(const Statement& statement);
  void while_loop(const Statement& statement);
  void print(const Statement& statement);
  void declare(VariableId variable);
  std::string label(const std::string& hint, std::int32_t number);

  std::span<const Statement> scope;  ///< the statement list being written
  std::vector<bool> in_shapes;       ///< by VariableId: an extent of a tile or tensor
  std::map<std::int32_t, std::string> labels;
  std::vector<std::string> continue_labels;  ///< of the open loops; empty: a plain `continue`
  bool in_parallel_loop = false;
  std::vector<SourceLocation> element_places;  ///< emit_accesses.cpp
  std::set<const Statement*>
      told_ahead;  ///< loads and stores of which a request in front of their loop tells

 public:
  std::vector<bool> declared;  ///< scalars, by VariableId
};

[[nodiscard]] std::string literal(const Constant& constant);
[[nodiscard]] std::string quoted(std::string_view text);
[[nodiscard]] inline std::string type_name(DType dtype) { return std::string(cpp_name_of(dtype)); }

/// Bytes of one element in a register: half and bfloat16 are floats there.
[[nodiscard]] inline std::int64_t lane_size(DType dtype) {
  return is_narrow_float(dtype) ? 4 : static_cast<std::int64_t>(size_of(dtype));
}
/// Lanes of a vector register of 16 to 64 bytes.
[[nodiscard]] inline std::int64_t fewest_lanes(DType dtype) { return 16 / lane_size(dtype); }
[[nodiscard]] inline std::int64_t most_lanes(DType dtype) { return 64 / lane_size(dtype); }

}  // namespace trilith::codegen::xsimd
