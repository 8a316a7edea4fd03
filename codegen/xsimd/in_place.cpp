// Which inputs may be the very memory of an output.
#include "codegen/xsimd/context.hpp"

#include <algorithm>

namespace trilith::codegen::xsimd {
namespace {

/// Of a statement in the kernel's body, or -1.
std::ptrdiff_t position(const Kernel& kernel, const Statement* statement) {
  for (const Statement& candidate : kernel.body)
    if (&candidate == statement) return &candidate - kernel.body.data();
  return -1;
}

}  // namespace

[[nodiscard]] std::vector<std::pair<int, int>> in_place_pairs(const Context& context) {
  const Kernel& kernel = context.kernel;
  std::vector<std::pair<int, int>> pairs;
  for (int input = 0; input < std::ssize(kernel.parameters); ++input)
    for (int output = 0; output < std::ssize(kernel.parameters); ++output) {
      const VariableId from = kernel.parameters[input].variable, to = kernel.parameters[output].variable;
      const Type &from_type = kernel.variables[from].type, &to_type = kernel.variables[to].type;
      if (!from_type.is_tensor() || !to_type.is_tensor() || kernel.parameters[input].access != Access::In ||
          kernel.parameters[output].access == Access::In || kernel.parameters[output].window ||
          !(from_type == to_type))
        continue;
      const auto of = [&](const TopLevelAccess& access, VariableId tensor) {
        return fuse::region_of(kernel, *access.statement).tensor == tensor;
      };
      std::vector<TopLevelAccess> reads, writes;
      std::ranges::copy_if(context.reads, std::back_inserter(reads),
                           [&](const auto& a) { return of(a, from); });
      std::ranges::copy_if(context.writes, std::back_inserter(writes),
                           [&](const auto& a) { return of(a, to); });
      const bool also_read = std::ranges::any_of(context.reads, [&](const auto& a) { return of(a, to); });
      // Every mention of the tensors is one of these accesses: none stands in a loop or branch.
      std::vector<const Statement*> loads;
      for (const TopLevelAccess& access : reads)
        if (std::ranges::find(loads, access.statement) == loads.end()) loads.push_back(access.statement);
      const bool adds = writes.size() == 1 &&
                        writes[0].statement->value.attributes.atomic != Atomic::None;  // reads it, too
      if (writes.size() != 1 || adds || also_read || context.uses.reads[to] != 1 ||
          context.uses.reads[from] != std::ssize(loads))
        continue;
      // A load written behind the store sees what the store wrote, though its nest reads it before: the passes took the
      // two tensors for different memory.
      const std::ptrdiff_t stored = position(kernel, writes[0].statement);
      if (stored < 0 || std::ranges::any_of(
                            loads,
                            [&](const Statement* load) {
                              const std::ptrdiff_t loaded = position(kernel, load);
                              return loaded < 0 || loaded > stored;
                            }))
        continue;
      const fuse::Region written = fuse::region_of(kernel, *writes[0].statement);
      if (std::ranges::all_of(reads, [&](const TopLevelAccess& read) {
            return read.time <= writes[0].time &&
                   fuse::same_region(fuse::region_of(kernel, *read.statement), written);
          }))
        pairs.emplace_back(input, output);
    }
  return pairs;
}

}  // namespace trilith::codegen::xsimd
