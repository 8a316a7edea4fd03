// Which inputs may be the very memory of an output: each is loaded where the output is stored, and a block of it before.
#include "codegen/ascendc/context.hpp"

#include <algorithm>

namespace trilith::codegen::ascendc {
namespace {

/// Loads of one tensor and stores to another, in the order of the kernel's body.
struct Accesses {
  std::vector<const Statement*> loads, stores;
  bool ordered = true;  ///< no load behind a store
};

Accesses accesses_of(const Kernel& kernel, VariableId from, VariableId to) {
  Accesses result;
  for (const Statement& statement : kernel.body) {
    const bool loads = statement.kind == StatementKind::Assign && statement.value.op == Op::Load;
    if (!loads && !fuse::is_store(statement)) continue;
    const VariableId tensor = fuse::region_of(kernel, statement).tensor;
    if (loads && tensor == from) {
      result.loads.push_back(&statement);
      result.ordered = result.ordered && result.stores.empty();
    } else if (!loads && tensor == to) {
      result.stores.push_back(&statement);
    }
  }
  return result;
}

/// In the lines of a block, and of what comes before its loop, every read of one object stands before every write of the
/// other. The rounds of a loop are at different elements.
bool reads_first(const Program& program, ObjectId read, ObjectId written) {
  bool writes = false;
  for (const Node& node : program.nodes) {
    const bool reads_here = std::ranges::any_of(
        node.touches, [&](const Touch& touch) { return touch.object == read && !touch.writes; });
    writes = writes || std::ranges::any_of(node.touches, [&](const Touch& touch) {
               return touch.object == written && touch.writes;
             });
    if (reads_here && writes) return false;
  }
  return true;
}

}  // namespace

std::vector<std::pair<int, int>> in_place_pairs(const Context& context) {
  const Kernel& kernel = context.kernel;
  std::vector<std::pair<int, int>> pairs;
  for (int input = 0; input < std::ssize(kernel.parameters); ++input)
    for (int output = 0; output < std::ssize(kernel.parameters); ++output) {
      const Parameter &in = kernel.parameters[static_cast<std::size_t>(input)],
                      &out = kernel.parameters[static_cast<std::size_t>(output)];
      const Type &from = kernel.variables[in.variable].type, &to = kernel.variables[out.variable].type;
      if (!from.is_tensor() || !(from == to) || in.access != Access::In || out.access == Access::In ||
          in.window || out.window)
        continue;
      const Accesses all = accesses_of(kernel, in.variable, out.variable);
      // Every mention of the tensors is one of these: none stands in a loop or branch.
      if (!all.ordered || all.stores.size() != 1 || context.uses.reads[out.variable] != 1 ||
          context.uses.reads[in.variable] != std::ssize(all.loads) ||
          all.stores[0]->value.attributes.atomic != Atomic::None)
        continue;
      const fuse::Region written = fuse::region_of(kernel, *all.stores[0]);
      const bool same = std::ranges::all_of(all.loads, [&](const Statement* load) {
        return fuse::same_region(fuse::region_of(kernel, *load), written);
      });
      if (same && reads_first(context.program, context.tensors.at(in.variable).object,
                              context.tensors.at(out.variable).object))
        pairs.emplace_back(input, output);
    }
  return pairs;
}

}  // namespace trilith::codegen::ascendc
