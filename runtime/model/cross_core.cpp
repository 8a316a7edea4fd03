// Flags between cores: CrossCoreSetFlag, CrossCoreWaitFlag, SyncAll.
#include <algorithm>

#include "runtime/model/run.hpp"

namespace trilith::model {
namespace {

constexpr int flag_ids = 16, most_pending = 15;
/// SyncAll's own flags: no kernel can name them.
constexpr int sync_vector = -1, sync_all_cores = -2;

}  // namespace

std::vector<std::uint32_t> Run::all_of(bool cube) const {
  std::vector<std::uint32_t> cores;
  const auto count = static_cast<std::uint32_t>(launch_.blocks);
  switch (launch_.cores) {
    case AscendC::model::Cores::Vector:
    case AscendC::model::Cores::Cube:
      if (cube != (launch_.cores == AscendC::model::Cores::Cube)) break;
      for (std::uint32_t core = 0; core < count; ++core) cores.push_back(core);
      break;
    case AscendC::model::Cores::Mixed:
      for (std::uint32_t group = 0; group < count; ++group) {
        if (cube)
          cores.push_back(3 * group);
        else
          cores.insert(cores.end(), {3 * group + 1, 3 * group + 2});
      }
      break;
  }
  return cores;
}

/// Whose flags go up when all of `core`'s kind in its group have set one.
std::vector<std::uint32_t> Run::partners(const Core& core, std::uint8_t mode) const {
  if (mode == 0) return all_of(core.is_cube());
  const std::uint32_t group = core.number() / 3 * 3;
  if (mode == 1 || core.is_cube()) return {group + 1, group + 2};
  return {group};
}

void Run::set_cross(Core& core, std::uint8_t mode, std::uint8_t pipe, int id, std::uint32_t line) {
  if (id >= flag_ids)
    core.fault(line, text("CrossCoreSetFlag: flag ", id, ": flags are 0 to ", flag_ids - 1));
  if (launch_.cores != AscendC::model::Cores::Mixed && id >= 0)
    core.fault(
        line,
        "CrossCoreSetFlag: the kernel is launched on one kind of core; flags need KERNEL_TYPE_MIX_AIC_1_2");
  if (mode == 1 && core.is_cube())
    core.fault(line, "CrossCoreSetFlag: mode 1 is for the two vector cores of a group");
  // Who must set it before it counts: all cores of the kind, both vector cores of the group, or the cube core alone.
  std::vector<std::uint32_t> setters{core.number()};
  if (mode == 0)
    setters = all_of(core.is_cube());
  else if (!core.is_cube())
    setters = {core.number() / 3 * 3 + 1, core.number() / 3 * 3 + 2};
  const std::uint32_t group =
      mode == 0 ? (core.is_cube() ? 0 : 1) : core.number() / 3 * 3 + (core.is_cube() ? 0 : 1);
  Gathering& gathering = gatherings_[{mode, group, id}];
  gathering.line = line;
  gathering.arrived[core.number()].push_back(core.complete(pipe));
  const bool all = std::ranges::all_of(setters, [&](std::uint32_t setter) {
    const auto found = gathering.arrived.find(setter);
    return found != gathering.arrived.end() && !found->second.empty();
  });
  if (!all) return;
  Clock together(core.id());
  for (const std::uint32_t setter : setters) {
    together.join(gathering.arrived[setter].front());
    gathering.arrived[setter].pop_front();
  }
  for (const std::uint32_t partner : partners(core, mode)) {
    Flag& flag = flags_[{partner, id}];
    flag.line = line;
    flag.clocks.push_back(together);
    if (++flag.count > most_pending)
      core.fault(line, text("CrossCoreSetFlag: flag ", id, " of a core counts more than ", most_pending,
                            " sets that it has not waited for"));
  }
}

void Run::wait_cross(Core& core, int id, std::uint32_t line) {
  if (id >= flag_ids)
    core.fault(line, text("CrossCoreWaitFlag: flag ", id, ": flags are 0 to ", flag_ids - 1));
  Flag& flag = flags_[{core.number(), id}];
  wait(core, line,
       id >= 0 ? text("waits for flag ", id, " (CrossCoreWaitFlag)") : std::string("waits in SyncAll"),
       [&flag] { return flag.count > 0; });
  --flag.count;
  // It stops the core's instruction stream: all that is started after it comes after.
  for (std::uint8_t pipe = 0; pipe < pipe_count; ++pipe) core.clock(pipe).join(flag.clocks.front());
  flag.clocks.pop_front();
}

void Run::sync_all(Core& core, bool vector_only, std::uint32_t line) {
  core.barrier(PIPE_ALL, line);
  if (launch_.cores == AscendC::model::Cores::Cube || (vector_only && core.is_cube()))
    core.fault(line, "SyncAll is for vector cores; SyncAll<false> for all cores of a mixed kernel");
  const int id = vector_only ? sync_vector : sync_all_cores;
  if (vector_only || launch_.cores == AscendC::model::Cores::Vector) {
    set_cross(core, 0, PIPE_MTE3, id, line);
    wait_cross(core, id, line);
    return;
  }
  Gathering& gathering = gatherings_[{3, 0, id}];
  gathering.line = line;
  gathering.arrived[core.number()].push_back(core.complete(PIPE_MTE3));
  std::vector<std::uint32_t> cores = all_of(true);
  const std::vector<std::uint32_t> vectors = all_of(false);
  cores.insert(cores.end(), vectors.begin(), vectors.end());
  const bool all =
      std::ranges::all_of(cores, [&](std::uint32_t each) { return !gathering.arrived[each].empty(); });
  if (all) {
    Clock together(core.id());
    for (const std::uint32_t each : cores) {
      together.join(gathering.arrived[each].front());
      gathering.arrived[each].pop_front();
    }
    for (const std::uint32_t each : cores) {
      Flag& flag = flags_[{each, id}];
      flag.line = line;
      flag.clocks.push_back(together);
      ++flag.count;
    }
  }
  wait_cross(core, id, line);
}

}  // namespace trilith::model
