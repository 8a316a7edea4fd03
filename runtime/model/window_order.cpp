#include "runtime/model/window_order.hpp"

#include <algorithm>

#include "runtime/model/fault.hpp"

namespace trilith::model {

WindowOrder& WindowOrder::of_process() {
  static auto* const order = new WindowOrder;
  return *order;
}

WindowOrder::Member::Member(WindowOrder& order, const AscendC::model::Launch& launch, std::uint32_t cores)
    : order_(order), cores_(cores) {
  const std::lock_guard lock(order.mutex_);
  if (order.active_.empty()) {
    // All that was done is known to everyone that comes.
    order.accesses_ = {};
    order.signals_.clear();
    order.owners_.clear();
    order.learned_ = {};
  }
  sequence_ = order.next_++;
  // Numbers of a launch that has ended are taken again when nobody runs any more to whom it might be unknown.
  const std::uint64_t oldest = order.active_.empty() ? sequence_ : *order.active_.begin();
  auto owner = std::ranges::find_if(order.owners_, [&](const Owner& each) {
    return !each.active && each.count == cores && each.ended < oldest;
  });
  if (owner == order.owners_.end()) {
    const std::uint32_t first =
        order.owners_.empty() ? 0 : order.owners_.back().first + order.owners_.back().count;
    owner = order.owners_.insert(owner, Owner{first, cores, {}, {}, 0, 0, false});
  }
  first_core_ = owner->first;
  first_operation_ = last_ = owner->last;
  owner->kernel = launch.name != nullptr ? launch.name : "";
  owner->lines.assign(launch.lines, launch.lines == nullptr ? nullptr : launch.lines + launch.line_count);
  owner->active = true;
  before_ = Clock(first_core_);
  before_.join(order.learned_);
  learned_ = Clock(first_core_);
  for (const Owner& each : order.owners_) {
    if (each.active && &each != &*owner) continue;
    for (std::uint32_t core = each.first; core < each.first + each.count; ++core) {
      Clock done(core);
      for (std::uint8_t pipe = 0; pipe < pipe_count; ++pipe) done.learn(pipe, each.last);
      before_.join(done);
    }
  }
  order.active_.insert(sequence_);
}

WindowOrder::Member::~Member() {
  const std::lock_guard lock(order_.mutex_);
  order_.active_.erase(sequence_);
  const auto owner = std::ranges::find(order_.owners_, first_core_, &Owner::first);
  order_.learned_.join(learned_);
  owner->active = false;
  owner->last = last_;
  owner->ended = order_.next_++;
}

std::optional<AccessMap::Conflict> WindowOrder::conflict(Range range, bool writes, const Stamp& stamp,
                                                         const Clock& clock) {
  const std::lock_guard lock(mutex_);
  return accesses_.conflict(range, writes, stamp, clock);
}

void WindowOrder::record(Range range, bool writes, const Stamp& stamp) {
  const std::lock_guard lock(mutex_);
  accesses_.record(range, writes, stamp);
}

void WindowOrder::release(std::uint64_t cell, const Clock& clock) {
  const std::lock_guard lock(mutex_);
  signals_.try_emplace(cell, clock).first->second.join(clock);
}

void WindowOrder::acquire(std::uint64_t cell, Clock& clock) {
  const std::lock_guard lock(mutex_);
  if (const auto signal = signals_.find(cell); signal != signals_.end()) clock.join(signal->second);
}

std::string WindowOrder::describe(const Stamp& stamp) {
  const std::lock_guard lock(mutex_);
  for (const Owner& owner : owners_) {
    if (stamp.core < owner.first || stamp.core >= owner.first + owner.count) continue;
    std::string place = text("kernel ", owner.kernel, ", line ", stamp.line);
    if (stamp.line >= 1 && stamp.line <= owner.lines.size())
      if (const auto& source = owner.lines[stamp.line - 1]; source.file != nullptr)
        place += text(" (", source.file, ":", source.line, ")");
    return place;
  }
  return "another launch";
}

}  // namespace trilith::model
