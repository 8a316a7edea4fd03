// codegen/ascendc/context.hpp -- what the parts of the emitter share while one kernel is lowered.
//
// Text of lines names objects by a mark (`Context::name`), which becomes the C++ name when the program is printed:
// a computed tile may still become the tensor of a queue, or part of a tile that outlives its nest.
#pragma once

#include "codegen/ascendc/emit.hpp"
#include "codegen/ascendc/peers.hpp"
#include "codegen/ascendc/program.hpp"
#include "codegen/error.hpp"
#include "codegen/fault_text.hpp"
#include "codegen/passes/fuse.hpp"
#include "codegen/xsimd/writer.hpp"

#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace trilith::codegen::ascendc {

/// A constant, or a constant times a C++ name that has its value when the kernel runs.
struct Amount {
  std::int64_t factor = 0;
  std::string name = {};
  [[nodiscard]] bool is_constant() const { return name.empty(); }
  [[nodiscard]] bool is(std::int64_t value) const { return name.empty() && factor == value; }
  [[nodiscard]] Amount times(std::int64_t by) const { return {factor * by, by == 0 ? "" : name}; }
  [[nodiscard]] std::string text() const {
    if (name.empty()) return std::to_string(factor);
    return factor == 1 ? name : name + " * " + std::to_string(factor);
  }
  bool operator==(const Amount&) const = default;
};

/// How many elements an axis has: a constant, or a number that the kernel knows when it runs.
struct Extent {
  std::int64_t most = 1;  ///< the constant, or what the number never exceeds
  std::string name = {};  ///< C++ of the number: a name, or a product; empty: the constant

  Extent() = default;
  Extent(std::int64_t constant) : most(constant) {}  // NOLINT: a constant is an extent
  Extent(std::int64_t most_, std::string name_) : most(most_), name(std::move(name_)) {}
  [[nodiscard]] bool is_constant() const { return name.empty(); }
  [[nodiscard]] bool is(std::int64_t value) const { return name.empty() && most == value; }
  [[nodiscard]] std::string text() const { return name.empty() ? std::to_string(most) : name; }
  [[nodiscard]] Extent times(const Extent& other) const;
  [[nodiscard]] Amount amount() const { return name.empty() ? Amount{most} : Amount{1, name}; }
  bool operator==(const Extent&) const = default;
};
[[nodiscard]] Extent product_of(std::span<const Extent> extents);
/// Of elements without gaps.
[[nodiscard]] std::vector<Amount> dense_strides(std::span<const Extent> extents);

/// A sum of a constant and terms: the number of an element.
struct Address {
  std::int64_t constant = 0;
  std::vector<std::string> terms = {};
  void add(const Amount& stride, const std::string& variable);
  void add(const Address& other);
  [[nodiscard]] bool is_constant() const { return terms.empty(); }
  [[nodiscard]] bool is_zero() const { return constant == 0 && terms.empty(); }
  [[nodiscard]] std::string text() const;
  /// "name[12]", or the bare name.
  [[nodiscard]] std::string of(const std::string& name) const {
    return is_zero() ? name : name + "[" + text() + "]";
  }
};

/// A tensor parameter in device memory.
struct TensorInfo {
  int index = 0;  ///< among the tensor arguments
  int parameter = 0;
  ObjectId object = -1;
  DType dtype = DType::Float32;
  codegen::Access access = codegen::Access::In;
  std::string argument;  ///< of the entry
  std::vector<std::int64_t> extents;
  std::vector<Amount> strides;
  std::vector<bool> passes_stride;  ///< by axis: a run-time stride that is an argument
};

/// A tile variable that outlives its nest: whole, its rows padded to blocks of 32 bytes. In the unified buffer, or
/// dense in the workspace where it does not fit or is not walked by such rows.
struct Home {
  ObjectId object = -1;
  bool in_workspace = false;
  DType dtype = DType::Float32;  ///< of its elements there
  std::vector<Extent> extents;
  std::vector<std::int64_t> strides;  ///< with room for the most of each extent
};

/// Elements in device memory, as operations on whole tiles read and write them: a tile's home, or a region of a tensor.
struct View {
  ObjectId object = -1;
  DType dtype = DType::Float32;
  Address at = {};
  std::vector<Extent> extents;
  std::vector<Amount> strides;
  [[nodiscard]] Extent size() const { return product_of(extents); }
  [[nodiscard]] bool is_dense() const;
};

[[nodiscard]] inline std::vector<Amount> strides_of(const Home& home) {
  std::vector<Amount> strides;
  for (const std::int64_t stride : home.strides) strides.push_back({stride});
  return strides;
}

/// What an integer lies between, both ends included.
struct Range {
  static constexpr std::int64_t none = std::int64_t{1}
                                       << 62;  ///< (or its negative) as an end: nothing is known
  std::int64_t first = -none, last = none;
};

/// Thrown when a tile cannot be kept in the unified buffer: it is then kept in the workspace.
struct Spill {
  std::string name;
};

/// What the search for a tiling tries.
struct Tiling {
  std::int64_t block_elements = 0;  ///< most elements of one tile in a nest
  int queue_limit = 8;              ///< queues a position: 4 where buffers are doubled
  int cores = 1;                    ///< that a data-parallel nest is spread over
  bool one_core = false;            ///< spreading was tried and gives one round only
  std::set<std::string> spilled;    ///< names of tiles that live in the workspace
};

struct Context {
  Context(const WithPeers& kernel, const Signature& signature, const Tiling& tiling);

  const Kernel& kernel;
  const Signature& signature;
  const Tiling& tiling;
  fuse::Uses uses;
  xsimd::Names names;
  std::vector<std::string> variables;  ///< C++ name by VariableId
  std::map<VariableId, TensorInfo> tensors;
  Program program;
  std::map<VariableId, Home> homes;
  std::set<VariableId> of_calls;  ///< operands and results of operations on whole tiles: in device memory
  std::map<VariableId, View>
      regions;  ///< operands that are regions of tensors, and results that are stored only
  std::vector<std::pair<std::string, std::string>> functions;  ///< name and text, in front of the kernel
  bool uses_cube = false;
  std::vector<Home> temporary_homes;
  std::map<VariableId, Expr> peer_parts;  ///< tensors that stand for parts of peers, and the operation
  std::vector<WindowArgument> windows;    ///< that the context has records of
  std::vector<WindowCall> calls;
  std::vector<Node> deferred;             ///< waits that stand at the end of the kernel
  std::map<VariableId, int> rank_counts;  ///< variables that are the number of ranks of a window
  bool reaches_peers = false;             ///< one block alone runs it
  bool prints = false;                    ///< the same: each block would print
  std::int64_t granule = 8;               ///< rows of tiles are padded to a multiple of it, in elements
  std::int64_t workspace_bytes = 0;       ///< of one block, behind its line of checks
  std::vector<Check> checks;
  std::set<VariableId> named;
  std::vector<bool> declared;             ///< scalars, by VariableId
  std::vector<std::string> declarations;  ///< in front of the first statement
  bool uses_workspace = false;
  bool spmd = false;
  std::string index_type = "int32_t";  ///< of numbers of elements
  bool doubled = false;                ///< some queue has two buffers
  std::set<ObjectId> used_tensors;
  int nests = 0;            ///< lowered so far
  bool spreads = false;     ///< the nest's rounds do not depend on each other
  std::int64_t rounds = 1;  ///< of the nest that is spread
  bool has_jumps = false;   ///< `goto`: nothing is declared where it is first assigned
  int depth = 0;            ///< of control flow
  SourceLocation location;  ///< of the statement that is lowered

  /// Bytes of the workspace in front of tiles: a line of 64 bytes a block.
  [[nodiscard]] std::int64_t check_bytes() const { return checks.empty() ? 0 : 64 * most_blocks; }
  static constexpr std::int64_t most_blocks = 64;

  // program
  ObjectId add_object(Object object);
  [[nodiscard]] static std::string name(ObjectId object);
  void line(Pipe pipe, std::string text, std::vector<Touch> touches = {}, bool in_place = false);
  /// The last line takes this.
  void takes(std::vector<Work> work) { program.nodes.back().work = std::move(work); }
  void comment(const Statement& statement);
  void note(const std::string& text);  ///< a comment line
  void open(const std::string& text, bool loop = true);
  /// The body that was opened last runs that often.
  void turns(double count) { program.nodes.back().turns = count; }
  void otherwise();
  void close();
  int queue(bool in, int number, std::int64_t bytes, int buffers);

  [[noreturn]] void refuse(std::string_view operation, DType dtype, const std::string& reason,
                           const SourceLocation& at) const;
  [[nodiscard]] pl::Location place(const SourceLocation& at) const;
  [[nodiscard]] std::string place_text(const SourceLocation& at) const;  ///< "kernel.cpp:12"
  /// What a tile's axis has, and room for it: by the range of the number, or the tensors that such tiles are loaded from.
  [[nodiscard]] Extent extent(const Dim& dim, const SourceLocation& at) const;
  [[nodiscard]] std::vector<Extent> extents(const std::vector<Dim>& shape, const SourceLocation& at) const;
  /// The same of a tensor or window, whose extents are constants.
  [[nodiscard]] std::vector<std::int64_t> constant_extents(const std::vector<Dim>& shape) const;

  /// The tile variable's own name the first time, another one later.
  [[nodiscard]] std::string tile_name(VariableId variable);
  Home& home_of(VariableId variable);
  [[nodiscard]] Home new_home(const std::string& hint, DType dtype, const std::vector<Extent>& shape,
                              bool stored = false);
  /// Elements from one row of a tile to the next.
  [[nodiscard]] std::int64_t pitch(std::int64_t columns) const { return round_up(columns, granule); }

  // range.cpp
  std::map<VariableId, Range> ranges;
  std::map<VariableId, const Expr*> definitions;      ///< of scalars that one statement alone assigns
  std::map<VariableId, std::int64_t> loaded_extents;  ///< of tensors that tiles of this extent are parts of
  [[nodiscard]] Range range_of(const Expr& expression, bool of_tiles = false) const;
  void remember_range(VariableId variable, Range range);
  void remember_extents(std::span<const Statement> list);
  /// `dim` elements from `offset` on end inside `extent` in any case.
  [[nodiscard]] bool ends_inside(const Expr& offset, const Dim& dim, std::int64_t extent) const;

  // apart.cpp: stores that surely have no element in common, in whichever turns of loops
  [[nodiscard]] bool apart(const Statement& store, const Statement& other) const;
  /// The same store in two turns of a loop around it.
  [[nodiscard]] bool apart_in_turns(const Statement& store, const Statement& loop) const;

  // scalar.cpp
  [[nodiscard]] std::string scalar(const Expr& expression);
  /// The same where plain int64 arithmetic is wanted: constants are bare numbers.
  [[nodiscard]] std::string index(const Expr& expression);
  /// A scalar as an operand of a vector operation on elements of `held`.
  [[nodiscard]] std::string element(const Expr& expression, DType held);
  [[nodiscard]] std::string scalar_by_vector(const Expr& expression);
  [[nodiscard]] std::string guarded(DType dtype, const std::string& a, const std::string& b, const char* sign,
                                    const std::string& minus_one) const;
  void scalar_assign(const Statement& statement);
  void check_region(const Statement& statement);
  void check_shapes(const Statement& statement);
  void check_room(const Expr& value, const SourceLocation& at);
  void fault_if(const std::string& condition, std::int32_t code, const SourceLocation& at,
                const std::string& what, const std::string& given, const std::string& expected,
                const std::string& length = "0");

  // call.cpp: operations on whole tiles
  void remember_calls(std::span<const Statement> list);
  /// A load that needs no copy: only operations on whole tiles read the tile, and nothing writes its tensor.
  [[nodiscard]] bool is_operand_region(std::span<const Statement> list, std::size_t at) const;
  /// A call whose result is only stored, by the next statement.
  [[nodiscard]] bool is_result_region(std::span<const Statement> list, std::size_t at) const;
  [[nodiscard]] View view_of(VariableId variable);
  [[nodiscard]] View region_view(const Statement& statement);
  /// One of the functions in front of the kernel is called: a line between barriers.
  void call(const std::string& text, std::vector<Touch> touches);
  /// The same of one that tells other ranks something, or waits for them.
  void signal(const std::string& text, std::vector<Touch> touches, WindowCall call);
  void function(const std::string& name, const std::string& text);
  /// A buffer of the unified buffer for one call.
  [[nodiscard]] ObjectId scratch(std::int64_t bytes);

  // console.cpp
  void print(const Statement& statement);

  // remote.cpp: operations on windows
  void remote(const Statement& statement);
  [[nodiscard]] int window_of(VariableId window, bool signals);
  void check_peer(const std::string& peer, int window, const std::string& what, const SourceLocation& at);
  [[nodiscard]] Address address_in(const TensorInfo& tensor, const std::vector<Expr>& offsets,
                                   const std::vector<std::int64_t>& shape, const Expr& call);
  /// How many statements of a run may stand before one that may meet the memory of another one through a peer's part.
  [[nodiscard]] std::size_t length_without_meeting(std::span<const Statement> run) const;

  // statement.cpp
  void statements(std::span<const Statement> list);
  void run(std::span<const Statement> run);

 private:
  void statement(const Statement& statement);
  void nested(std::span<const Statement> list);
  void for_loop(const Statement& statement);
  void while_loop(const Statement& statement);
  void read(const Statement& statement);
  void tile_call(const Statement& statement);
  void run_time_checks(const Statement& statement);
  void jump(const std::string& text);
  void declare(VariableId variable);
  std::string label(const std::string& hint, std::int32_t number);
  void peer_part(const Statement& statement);
  void notify(const Statement& statement);
  void wait(const Statement& statement);
  void check_offset(const Expr& offset, std::int64_t length, std::int64_t extent, const std::string& what,
                    std::size_t axis, const SourceLocation& where);
  [[nodiscard]] Address cell_of(const Expr& call);

  std::map<std::int32_t, std::string> labels;
  std::vector<std::string> continue_labels;  ///< of the open loops; empty: a plain `continue`
};

/// sync.cpp: puts `PipeBarrier`s and events where a line needs what another pipe, or its own before it, did.
void synchronise(Context& context);

/// in_place.cpp: (input, output) parameters that may be the same memory.
[[nodiscard]] std::vector<std::pair<int, int>> in_place_pairs(const Context& context);

/// What the elements of a dtype are in the unified buffer: float for bfloat16, int32 for the short integers and
/// uint32, half 0 or 1 for bool. 64-bit types stay what they are and can only be moved.
[[nodiscard]] DType held_as(DType dtype);
/// "float", "half", "int32_t", ...
[[nodiscard]] std::string type_name(DType dtype);
[[nodiscard]] inline std::int64_t bytes_of(DType dtype) { return static_cast<std::int64_t>(size_of(dtype)); }
/// A constant as C++ of its own dtype; 16-bit floats as float.
[[nodiscard]] std::string literal(const Constant& constant);
/// Scalars are computed as this: float for 16-bit floats.
[[nodiscard]] DType scalar_type(DType dtype);

}  // namespace trilith::codegen::ascendc
