// codegen/passes/fuse.hpp -- a run of tile statements as loop nests.
//
// The analysis knows no target: it says which values share a loop nest, in which pass over the last axis each
// is computed, what goes through a row buffer and what through memory. Emitters write loops from the plan.
//
// Words used here:
//  value   what one tile statement computes, or a tile read from memory
//  root    why something is computed at all: a store, a tile needed after the run, a column reduction
//  nest    loops over outer axes; inside them stages: values of one element a row ("row values"), then a pass
//          over the last axis. A column nest walks rows and keeps one accumulator a column.
// Plans point into the statements they were made from, which must stay alive and unmoved.
#pragma once

#include "codegen/ir.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace trilith::codegen::fuse {

using ValueId = std::int32_t;

enum class ValueKind : std::uint8_t {
  Load,       ///< region of a tensor parameter
  Buffer,     ///< a tile variable that earlier statements left in memory
  Full,       ///< one scalar everywhere
  Compute,    ///< Elementwise, Compare, Logic, Bits, Cast
  RowReduce,  ///< one element a row
  ColReduce,  ///< one element a column
};

/// A tile operand (`value >= 0`) or a scalar expression.
struct Operand {
  ValueId value = -1;
  const Expr* scalar = nullptr;
};

struct Value {
  ValueKind kind = ValueKind::Compute;
  const Expr* expr = nullptr;            ///< Load, Full, Compute and reductions
  VariableId variable = no_variable;     ///< the tile variable it is the value of
  const Statement* statement = nullptr;  ///< null for Buffer
  DType dtype = DType::Float32;
  std::vector<Dim> shape;
  std::vector<Operand> operands;
  int order = 0;  ///< index of the statement in the run
  int cost = 0;   ///< of computing one element anew, from memory on
};

enum class RootKind : std::uint8_t {
  Store,   ///< to a tensor parameter
  Keep,    ///< to the buffer of a tile variable
  Reduce,  ///< a column reduction, for others in the same nest or (kept) in later ones
};

struct Root {
  RootKind kind = RootKind::Store;
  ValueId value = -1;
  const Statement* statement = nullptr;
  int order = 0;
  bool temporary = false;  ///< Keep: in a buffer of this run, not in that of the statement's variable
};

/// What one stage of a nest does, each list in order of computation.
struct Stage {
  std::vector<ValueId> row_values;  ///< before the pass, one element a row
  std::vector<Root> row_roots;
  std::vector<ValueId> values;        ///< in the pass
  std::vector<ValueId> reductions;    ///< row (or column) reductions that the pass accumulates
  std::vector<ValueId> row_buffered;  ///< values of this pass that later ones read back
  std::vector<Root> roots;
  [[nodiscard]] bool has_pass() const {
    return !reductions.empty() || !roots.empty() || !row_buffered.empty();
  }
};

struct Nest {
  bool column = false;
  int trailing = 0;            ///< last axes of extent 1 that every value has and the nest drops
  std::vector<Dim> outer;      ///< loops, outermost first; axes of extent 1 included
  Dim rows{1, no_variable};    ///< column nests: the reduced axis
  Dim inner{1, no_variable};   ///< last axis: what each pass walks
  std::vector<Root> roots;     ///< in program order
  std::vector<bool> computed;  ///< by ValueId: the nest computes it
  std::vector<Stage> stages;   ///< row nests; a column nest has two: the body over rows, the columns' end
};

struct Plan {
  std::vector<Value> values;
  std::vector<Nest> nests;
  std::vector<int> kept_in;  ///< by ValueId: the nest that leaves it in memory, -1: none
  /// By ValueId: the tile variable whose buffer holds it; no_variable: a temporary buffer of this run.
  std::vector<VariableId> kept_as;
};

/// How often each variable is read in the whole kernel, and assigned.
struct Uses {
  std::vector<int> reads, writes;
};
[[nodiscard]] Uses count_uses(const Kernel& kernel);

/// Length of the longest prefix of `statements` that may be one run: tile assignments, stores, and scalar
/// assignments that may move in front of it. Memory read in the run is as of the run's start.
[[nodiscard]] std::size_t run_length(const Kernel& kernel, std::span<const Statement> statements);

/// Plans one run. `conflict` (else -1): index of a statement that must begin a run of its own, because it
/// overwrites what others still read; the plan is then of no use.
[[nodiscard]] Plan plan_run(const Kernel& kernel, const Uses& uses, std::span<const Statement> run,
                            int& conflict);

/// The region a Load or Store statement touches.
struct Region {
  VariableId tensor = no_variable;
  const Expr* offsets = nullptr;
  std::vector<Dim> shape;  ///< of the tensor's rank
};
[[nodiscard]] Region region_of(const Kernel& kernel, const Statement& statement);
[[nodiscard]] bool same_region(const Region& a, const Region& b);
/// Provably without a common element.
[[nodiscard]] bool disjoint(const Region& a, const Region& b);

/// Where the last axis of a value of shape `shape` lies in a nest: false when it has one element a row there.
[[nodiscard]] bool varies_in_row(const std::vector<Dim>& shape, const Nest& nest);
/// Axis of `shape` (or -1) that runs along the nest's outer axis `axis` (-1: its last axis, -2: its rows).
[[nodiscard]] int axis_of(const std::vector<Dim>& shape, const Nest& nest, int axis);

/// A tile that a loop nest computes: no tile call and no remote load, which stand between runs.
[[nodiscard]] bool is_tile_assign(const Kernel& kernel, const Statement& statement);
[[nodiscard]] bool is_store(const Statement& statement);
/// Waits for what is done already: operations end before the next begins here.
[[nodiscard]] bool is_barrier(const Statement& statement);

// The steps of plan_run, one file each.
void build_values(const Kernel& kernel, const Uses& uses, std::span<const Statement> run, Plan& plan,
                  std::vector<Root>& roots);
void place_roots(Plan& plan, const std::vector<Root>& roots);
void assign_stages(const Plan& plan, Nest& nest, int number);
/// True when nest `number` reads the value from memory that an earlier nest left it in.
[[nodiscard]] inline bool is_kept_before(const Plan& plan, ValueId value, int number) {
  return plan.kept_in[value] >= 0 && plan.kept_in[value] < number;
}
[[nodiscard]] inline bool is_leaf(const Value& value) {
  return value.kind == ValueKind::Load || value.kind == ValueKind::Buffer || value.kind == ValueKind::Full;
}
[[nodiscard]] int find_conflict(const Kernel& kernel, const Plan& plan);
[[nodiscard]] inline bool is_expensive(const Value& value) {
  return value.cost > 12 || value.kind == ValueKind::RowReduce || value.kind == ValueKind::ColReduce;
}

}  // namespace trilith::codegen::fuse
