// codegen/passes/resolver.hpp -- the state of the walk `resolve` makes. Private to resolve*.cpp.
#pragma once

#include "codegen/error.hpp"
#include "codegen/passes/bind_signature.hpp"
#include "codegen/passes/liveness.hpp"
#include "codegen/remote.hpp"

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace trilith::codegen::passes {

/// What a variable of the captured kernel means at one point of the walk.
struct Binding {
  Type type;                ///< complete; of a view: its own shape, without the axes it dropped
  std::vector<Expr> parts;  ///< scalar: constant or variable; tile: variable; view: the parameter's offsets
  VariableId tensor = no_variable;  ///< view: the parameter
  std::vector<Dim> extents;         ///< view: one per axis of the parameter, 1 where dropped
  std::size_t dropped = 0;          ///< view: leading axes dropped
  std::uint32_t indexed = 0;        ///< view: bit k: axis k of the parameter itself was dropped by `x[i]`
  SourceLocation location;          ///< of the assignment
  [[nodiscard]] bool is_view() const { return tensor != no_variable; }
};
using Bindings = std::vector<std::optional<Binding>>;

struct Environment {
  Bindings bindings;
  bool reachable = true;  ///< false behind a jump
};

/// `destination = source`; those of one jump happen at once.
struct Copy {
  VariableId destination = no_variable;
  Expr source;
};
using Copies = std::vector<Copy>;

/// A Block being walked; `exits` has the bindings at each Leave, and last those at its end.
struct BlockFrame {
  std::int32_t captured_number = -1;  ///< -1: made by the walk itself
  std::int32_t number = 0;
  VariableSet joined;  ///< assigned inside and read behind
  std::vector<Bindings> exits;
};

/// Pairs of a variable that is a view and the number of one of its parts.
using Varying = std::set<std::pair<std::size_t, std::size_t>>;

/// A loop being walked.
struct LoopFrame {
  VariableSet carried;             ///< assigned inside and read in a further round or behind
  Bindings heads;                  ///< of the carried variables: their storage
  std::size_t depth = 0;           ///< scopes around the loop
  std::vector<Statement> prelude;  ///< first values found necessary while walking the body
  Varying varying;                 ///< offsets of views that change from round to round
  bool again = false;              ///< `varying` grew: walk the body again
  bool has_break = false;
  BlockFrame* break_block = nullptr;     ///< unrolled: `break` leaves this block
  BlockFrame* continue_block = nullptr;  ///< `continue` leaves this block
};

class Resolver {
 public:
  explicit Resolver(const Bound& bound);
  Kernel run();

 private:
  /// A statement list being written, and the computed extents known in it.
  struct Scope {
    std::vector<Statement>* statements = nullptr;
    std::map<std::string, VariableId> extents;
    std::size_t first_variable = 0;
  };

  // resolve_expression.cpp: values. `name` names the variables made for parts of the expression.
  Expr evaluate(const Expr& expression, const std::string& name);
  Expr value_of_expression(const Expr& expression, const std::string& name);
  Expr evaluate_atom(const Expr& expression, const std::string& name);
  Expr atom(Expr value, const std::string& name);
  Expr use_of(const Binding& binding, const Expr& where, const std::string& name) const;
  Expr evaluate_operation(const Expr& expression, const std::string& name);
  Expr evaluate_conditional(const Expr& expression, const std::string& name);
  Expr condition(const Expr& expression);
  Expr choose_tile(const Expr& expression, Expr condition, const std::string& name);
  Expr evaluate_reduction(const Expr& expression, const std::string& name);
  Expr evaluate_read(const Expr& expression, const std::string& name);
  void add_view(const Expr& expression, Expr& call);
  Expr evaluate_tile_call(const Expr& expression, const std::string& name);
  Expr evaluate_full(const Expr& expression, const std::string& name);
  Expr evaluate_extent(const Expr& expression, const std::string& name);
  Type type_of(const Expr& expression, const std::string& name);
  Expr integer(const Expr& expression);
  std::vector<Expr> integers(const Expr& list);
  Dim dimension(const Expr& expression);
  Dim dimension_of(const Expr& value);
  std::vector<Dim> dimensions(const Expr& list);
  Expr extent_of(const Dim& dim, const SourceLocation& location) const;

  // resolve_valid.cpp: partly valid tiles.
  [[nodiscard]] static bool partly_valid(const std::vector<Expr>& operands);
  [[nodiscard]] std::string dim_text(const Dim& dim) const;
  Dim least(Expr a, const Dim& b, const SourceLocation& location);
  static Type tile_type(DType dtype, std::vector<Dim> whole, std::vector<Dim> valid);
  std::vector<Dim> asked_valid(const Expr& list, const std::vector<Dim>& shape, std::string_view operation,
                               const SourceLocation& location);
  void cut_to_tensor(const Binding& source, std::vector<Expr>& offsets, std::vector<Dim>& valid,
                     const SourceLocation& location);
  [[nodiscard]] std::optional<std::pair<std::int64_t, std::int64_t>> range_of(const Expr& e) const;
  [[nodiscard]] Expr decided(Expr e) const;
  Expr cut(Expr tile, const std::vector<Dim>& to, const std::string& name);
  Expr filled(Expr tile, const std::vector<Dim>& to, Constant value, const std::string& name);
  Type ruled_type(const Expr& call, DType cast_to, bool of_made_shapes);
  Expr on_valid_boxes(Expr call, DType cast_to, const std::string& name);
  Expr evaluate_set_valid(const Expr& e, const std::string& name);
  Expr evaluate_fillpad(const Expr& e, const std::string& name);
  void forget_made_shapes();

  // resolve_view.cpp: tensors.
  [[nodiscard]] bool is_view(const Expr& expression) const;
  Binding view(const Expr& expression);
  Binding sliced(const Expr& expression);
  Binding indexed(const Expr& expression);
  Expr load(const Expr& expression);
  Binding store(const Expr& expression, const SourceLocation& location);
  void check_region(const Expr& where, const Binding& source, const std::vector<Expr>& offsets,
                    const std::vector<Dim>& shape) const;
  std::vector<Expr> parameter_offsets(const Binding& source, const std::vector<Expr>& offsets) const;

  // resolve_remote.cpp: windows.
  Binding window(const Expr& expression, int operand);
  Binding cells(const Expr& expression, int operand);
  Binding target(const Expr& expression, const RemoteOperands& roles);
  Expr peer(const Expr& expression, int operand);
  void set_cells(const Expr& expression, const CellOperands& roles, Expr& result);
  Expr signal_value(const Expr& expression, const RemoteOperands& roles);
  void check_other(const Expr& expression, const Binding& window, const Binding& other) const;
  Expr remote(const Expr& expression, const std::string& name);
  Expr remote_value(const Expr& expression, const std::string& name);

  // resolve_statement.cpp
  void statements(const std::vector<Statement>& list);
  void statement(const Statement& s);
  void assign(const Statement& s);
  void evaluate_statement(const Statement& s);
  void check(const Statement& s);
  void check_annotation(const Type& annotation, const Type& given, const SourceLocation& location) const;
  void if_(const Statement& s);
  void block(const Statement& s);
  void walk_block(BlockFrame& frame, const SourceLocation& location, const std::function<void()>& body);
  void leave(const Statement& s);
  void leave_block(BlockFrame& frame, const SourceLocation& location);

  // resolve_loop.cpp
  void for_(const Statement& s);
  void while_(const Statement& s);
  void counted(const Statement& s, const Expr& begin, const Expr& end, const Expr& step,
               BlockFrame* break_block = nullptr);
  void unroll(const Statement& s, std::int64_t begin, std::int64_t end, std::int64_t step);
  void split(const Statement& s, std::int64_t begin, std::int64_t end, std::int64_t step);
  void round(const Statement& s, LoopFrame& frame, std::int64_t value);
  void loop(const Statement& s, const std::function<Statement(LoopFrame&)>& body);
  void make_heads(LoopFrame& frame, const SourceLocation& location);
  std::vector<Statement> back_edge(LoopFrame& frame, const SourceLocation& location);
  void break_(const SourceLocation& location);
  void continue_(const SourceLocation& location);
  void while_body(const Statement& s, LoopFrame& frame);
  std::optional<Binding> late_head(LoopFrame& frame, VariableId variable, const Binding& current);

  // resolve_merge.cpp: where paths meet.
  std::optional<Binding> merge(VariableId variable, const std::vector<const Bindings*>& exits,
                               std::vector<Copies>& copies);
  void check_compatible(VariableId variable, const Binding& a, const Binding& b) const;
  [[nodiscard]] bool visible(const Expr& expression, std::size_t depth) const;
  [[nodiscard]] bool visible(const Type& type, std::size_t depth) const;
  std::vector<Statement> in_sequence(Copies copies, const SourceLocation& location);
  void splice(std::vector<Statement> list, Scope inner);

  // resolve.cpp: small services.
  VariableId new_variable(const std::string& name, Type type, const SourceLocation& location);
  [[nodiscard]] Expr use(VariableId id, const SourceLocation& location) const;
  [[nodiscard]] Statement assignment(VariableId id, Expr value, const SourceLocation& location) const;
  void emit(Statement statement) { scopes_.back().statements->push_back(std::move(statement)); }
  VariableId numbered_extent(const Expr& expression);
  [[nodiscard]] std::size_t depth() const { return scopes_.size() - 1; }
  [[nodiscard]] std::size_t depth_of(const Expr& expression) const;
  void open(std::vector<Statement>& list);
  Scope close();
  [[nodiscard]] std::string name_of_variable(VariableId id) const;
  [[nodiscard]] pl::Location at(const SourceLocation& location) const;
  /// True where every call that comes this far runs the line: no condition, no loop that may run no round.
  [[nodiscard]] bool certain() const { return conditional_ == 0 && !may_have_left_; }
  std::optional<Binding>& bound_to(VariableId id) {
    return environment_.bindings[static_cast<std::size_t>(id)];
  }

  const Kernel& captured_;  ///< bound, captured stage
  bool constant_extents_;   ///< Bound::constant_extents
  Liveness liveness_;
  Kernel out_;
  Environment environment_;
  std::vector<Scope> scopes_;
  std::vector<std::size_t> depths_;  ///< per out_.variables: the scope it is defined in
  std::vector<bool> storage_;        ///< per out_.variables: assigned in several places
  std::map<VariableId, std::pair<std::int64_t, std::int64_t>> counters_;  ///< what a scalar lies between:
      ///< counters of loops with constant bounds
  std::vector<BlockFrame*> blocks_;
  std::vector<LoopFrame*> loops_;
  std::int32_t block_count_ = 0;
  int conditional_ = 0;         ///< branches and loops around that may not be entered
  bool may_have_left_ = false;  ///< a jump stands before, under a condition
};

/// The storage for a value not yet given, where some path gives none: zero.
[[nodiscard]] Expr default_value(const Type& type, const SourceLocation& location);

}  // namespace trilith::codegen::passes
