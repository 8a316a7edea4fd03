#include "runtime/model/core.hpp"

#include "runtime/model/run.hpp"

namespace trilith::model {
namespace {

/// Pipes whose operations are done one after the other; on the others, operations may overlap unless a barrier stands
/// between them (MTE2 and MTE3: the documentation asks for it where destinations overlap; M: see mmad).
constexpr bool in_order(std::uint8_t pipe) { return pipe == PIPE_S || pipe == PIPE_MTE1 || pipe == PIPE_FIX; }

}  // namespace

const char* pipe_name(std::uint8_t pipe) {
  static constexpr std::array<const char*, pipe_count + 1> names{"S",    "V",    "M",   "MTE1",
                                                                 "MTE2", "MTE3", "FIX", "ALL"};
  return pipe < names.size() ? names[pipe] : "?";
}

Core::Core(Run& run, std::uint32_t number, bool cube, std::int64_t block, std::int64_t sub_block)
    : run_(run),
      number_(number),
      id_(number),
      cube_(cube),
      block_(block),
      sub_block_(sub_block),
      queues_(*this) {
  if (const WindowOrder::Member* const member = run.windows()) {
    id_ += member->first_core();
    started_.fill(member->first_operation());
    Clock clock(id_);
    clock.join(member->before());
    clocks_.fill(clock);
    return;
  }
  clocks_.fill(Clock(id_));
}

std::string Core::name() const { return text(cube_ ? "cube core " : "vector core ", block_); }

Memory& Core::memory(Space space, const char* operation, std::uint32_t line) {
  if (space == Space::Gm)
    fault(line, text(operation, ": a tensor that was never allocated, or that stands in GM"));
  if (facts(space).cube != cube_)
    fault(line, text(operation, ": a ", cube_ ? "cube" : "vector", " core has no ", facts(space).name));
  auto& memory = memories_[static_cast<std::size_t>(space)];
  if (memory == nullptr) memory = std::make_unique<Memory>(space);
  return *memory;
}

void Core::fault(std::uint32_t line, const std::string& message) const {
  run_.fault(*this, line, message);
  throw Stop{};
}

Clock Core::complete(std::uint8_t pipe) const {
  Clock clock = clocks_[pipe];
  clock.learn(pipe, started_[pipe]);
  return clock;
}

void Core::barrier(std::uint8_t pipe, std::uint32_t line) {
  if (run_.has_place(line)) last_place = line;
  if (pipe < pipe_count) {
    if (pipe == PIPE_S)
      fault(line, "PipeBarrier<PIPE_S> is a hardware error: scalar work is in order by itself");
    clocks_[pipe] = complete(pipe);
    return;
  }
  run_.fenced(*this, line);
  Clock all(id_);
  for (std::uint8_t each = 0; each < pipe_count; ++each) all.join(complete(each));
  clocks_.fill(all);
}

std::uint32_t Core::start(std::uint8_t pipe) {
  const std::uint32_t number = ++started_[pipe];
  if (in_order(pipe)) clocks_[pipe].learn(pipe, number);
  return number;
}

std::uint64_t Core::started_by_pipes() const {
  std::uint64_t sum = 0;
  for (std::uint8_t pipe = 0; pipe < pipe_count; ++pipe)
    if (pipe != PIPE_S) sum += started_[pipe];
  return sum;
}

Operation::Operation(Core& core, std::uint8_t pipe, const char* name, std::uint32_t line)
    : core_(core), name_(name), line_(line) {
  stamp_.core = core.id();
  stamp_.line = line;
  stamp_.pipe = pipe;
  stamp_.name = name;
  if (core.run().has_place(line)) core.last_place = line;
}

void Operation::fault(const std::string& message) const { core_.fault(line_, text(name_, ": ", message)); }

Memory& Operation::memory(const Span& tensor) const {
  return core_.memory(space_of(tensor.position), name_, line_);
}

std::uint64_t Operation::place(const Span& tensor, std::uint64_t offset, std::uint64_t bytes,
                               std::uint64_t alignment, bool writes) const {
  const Memory& owner = memory(tensor);
  if (writes)
    core_.queues().check_usable(tensor, name_, line_);
  else
    core_.queues().check_readable(tensor, stamp_.pipe, name_, line_);
  const char* const verb = writes ? "writes" : "reads";
  if (offset + bytes > tensor.bytes)
    fault(text(verb, " bytes ", offset, " to ", offset + bytes, " of a tensor in ",
               position_name(tensor.position), " that has ", tensor.bytes));
  const std::uint64_t address = tensor.address + offset;
  if (address + bytes > facts(owner.space()).size)
    fault(text(verb, " beyond the end of ", facts(owner.space()).name));
  if (address % alignment != 0)
    fault(text(verb, " from byte ", address, " of ", facts(owner.space()).name,
               ", which is not a multiple of ", alignment));
  return address;
}

std::uint64_t Operation::global(const Span& tensor, std::int64_t offset, std::uint64_t bytes,
                                bool writes) const {
  const char* const verb = writes ? "writes" : "reads";
  if (tensor.position != 0) fault("a tensor on the chip where one in GM is expected");
  const auto at = static_cast<std::uint64_t>(offset);
  if (tensor.address == 0)
    fault(text(verb, " a GlobalTensor that names nothing: no SetGlobalBuffer, or beyond its end"));
  if (tensor.bytes != 0 && at + bytes > tensor.bytes)
    fault(
        text(verb, " bytes ", offset, " to ", at + bytes, " of a GlobalTensor of ", tensor.bytes, " bytes"));
  const std::uint64_t address = tensor.address + at;
  const AscendC::model::Region* const region = core_.run().gm().find(address, bytes);
  if (region == nullptr)
    fault(text(verb, " ", bytes,
               " bytes of GM outside the tensors of the launch: ", core_.run().gm().describe(address)));
  if (writes && !region->writable) fault(text("writes tensor '", region->name, "', which is an input"));
  return address;
}

void Operation::check(const Access& access) const {
  AccessMap& map = access.memory != nullptr ? access.memory->accesses() : core_.run().gm().accesses();
  const Clock& clock = core_.clock(stamp_.pipe);
  const auto conflict = access.window
                            ? WindowOrder::of_process().conflict(access.range, access.writes, stamp_, clock)
                            : map.conflict(access.range, access.writes, stamp_, clock);
  if (!conflict) return;
  report(access, *conflict);
}

void Operation::report(const Access& access, const AccessMap::Conflict& conflict) const {
  const Stamp& earlier = conflict.earlier;
  const bool same = earlier.core == core_.id(), own = access.window ? core_.run().is_own(earlier.core) : true;
  std::string where;
  if (access.memory != nullptr)
    where =
        text(facts(access.memory->space()).name, " bytes ", conflict.range.begin, " to ", conflict.range.end);
  else
    where = text("GM at ", core_.run().gm().describe(conflict.range.begin));
  std::string mend;
  if (!own)
    core_.run().race(
        core_, line_,
        text(name_, access.writes ? " writes " : " reads ", where, " while ", earlier.name, " of ",
             WindowOrder::of_process().describe(earlier), " may still ",
             conflict.earlier_writes ? "write" : "read",
             " it; nothing orders the two ranks: pld::notify behind the one and pld::wait in front of "
             "the other"));
  if (!same)
    mend = "nothing orders these two cores: SyncAll, or CrossCoreSetFlag and CrossCoreWaitFlag";
  else if (earlier.pipe == stamp_.pipe)
    mend = text("PipeBarrier<PIPE_", pipe_name(stamp_.pipe), "> between them");
  else
    mend = text("a queue, or SetFlag and WaitFlag of HardEvent::", pipe_name(earlier.pipe), "_",
                pipe_name(stamp_.pipe), " between them");
  core_.fault(line_, text("missing synchronisation: ", name_, " (pipe ", pipe_name(stamp_.pipe), ") ",
                          access.writes ? "writes " : "reads ", where, " while ", earlier.name, " of ",
                          core_.run().place(earlier.line), " (pipe ", pipe_name(earlier.pipe),
                          same ? "" : ", another core", ") may still ",
                          conflict.earlier_writes ? "write" : "read", " it; ", mend));
}

/// A cell keeps no order of its own: what a store to it knows is given to who looks at it.
bool Operation::signal(const Access& access) {
  if (!core_.run().gm().is_signal(access.range.begin, access.range.end - access.range.begin)) return false;
  if (core_.run().call_at(core_, line_) == nullptr)
    core_.run().use(core_, line_, access.range, access.writes, stamp_.atomic);
  Clock& clock = core_.clock(stamp_.pipe);
  if (!access.writes) {
    WindowOrder::of_process().acquire(access.range.begin, clock);
    looks_ = true;
    return true;
  }
  for (const Stamp& stamp : core_.last_window)
    if (stamp.number != 0 && !clock.knows(stamp))
      fault(text("missing synchronisation: signals other ranks while ", stamp.name, " of ",
                 core_.run().place(stamp.line), " (pipe ", pipe_name(stamp.pipe),
                 ") may still be under way in a window; PipeBarrier<PIPE_ALL> before the signal"));
  WindowOrder::of_process().release(access.range.begin, clock);
  return true;
}

/// Behind a wait, whatever another pipe does to a window must be ordered after the look that ended it.
void Operation::check_window(const Access& access) {
  const Stamp& look = core_.last_look;
  if (look.number == 0 || core_.clock(stamp_.pipe).knows(look)) return;
  fault(text("missing synchronisation: ", access.writes ? "writes" : "reads",
             " a window and may begin before the wait of ", core_.run().place(look.line),
             " has seen its signal; PipeBarrier<PIPE_ALL> behind the wait"));
}

void Operation::start(std::uint8_t atomic) {
  stamp_.atomic = atomic;
  GlobalMemory& gm = core_.run().gm();
  for (Access& access : accesses_)
    if (access.memory == nullptr && access.range.begin < access.range.end)
      access.window = gm.find(access.range.begin, access.range.end - access.range.begin)->window;
  std::erase_if(accesses_, [&](const Access& access) {
    if (access.range.begin >= access.range.end) return true;
    if (access.memory != nullptr) return false;
    const std::uint64_t bytes = access.range.end - access.range.begin;
    const AscendC::model::Region& region = *gm.find(access.range.begin, bytes);
    if (signal(access)) return true;
    if (access.window) {
      core_.run().use(core_, line_, access.range, access.writes, stamp_.atomic);
      check_window(access);
    }
    return !region.writable;
  });
  for (const Access& access : accesses_) {
    check(access);
    if (access.memory != nullptr || gm.dirty.empty()) continue;
    const auto line = gm.dirty.lower_bound(access.range.begin / cache_line * cache_line);
    if (line == gm.dirty.end() || line->first >= access.range.end) continue;
    if (stamp_.pipe == PIPE_S && line->second.core == core_.number()) continue;
    fault(text("touches GM at ", gm.describe(access.range.begin), " that a scalar store of ",
               core_.run().place(line->second.line),
               " has changed in a core's cache only; DataCacheCleanAndInvalid after the store"));
  }
  stamp_.number = core_.start(stamp_.pipe);
  if (looks_) core_.last_look = stamp_;
  for (const Access& access : accesses_) {
    if (access.window) {
      WindowOrder::of_process().record(access.range, access.writes, stamp_);
      core_.last_window[stamp_.pipe] = stamp_;
    } else {
      AccessMap& map = access.memory != nullptr ? access.memory->accesses() : gm.accesses();
      map.record(access.range, access.writes, stamp_);
    }
    if (access.memory == nullptr && access.writes) ++gm.stores;
  }
}

}  // namespace trilith::model
