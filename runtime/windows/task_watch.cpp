#include "runtime/windows/task_watch.hpp"

#include "pl/tensor.hpp"
#include "runtime/thread_state.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace pl::detail {

void TaskWatch::touch(WindowAccess::Kind kind, const char* what, const Place& where, const char* begin,
                      const char* end, std::int64_t bytes) {
  for (std::size_t i = 0; i < touched_count_; ++i) {
    Touched& known = touched_[i];
    if (end < known.begin || begin > known.end || known.kind != kind || known.where.line != where.line ||
        known.where.column != where.column || known.where.file != where.file || known.what != what ||
        known.bytes != bytes || (begin - known.begin) % bytes != 0)
      continue;
    known.begin = std::min(known.begin, begin);
    known.end = std::max(known.end, end);
    return;
  }
  const Touched fresh{kind, what, where, begin, end, bytes};
  if (touched_count_ < touched_.size()) {
    touched_[touched_count_++] = fresh;
    return;
  }
  const Touched oldest = touched_[next_];
  touched_[next_] = fresh;
  next_ = (next_ + 1) % touched_.size();
  tell(oldest);
}

void TaskWatch::tell(const Touched& touched) {
  const std::array<std::int64_t, 1> stride{1}, count{(touched.end - touched.begin) / touched.bytes};
  checker_->access(thread_, touched.kind, touched.what, touched.where,
                   {touched.begin, stride, count, touched.bytes}, true);
}

void TaskWatch::flush_all() {
  const std::size_t count = std::exchange(touched_count_, 0), oldest = std::exchange(next_, 0);
  for (std::size_t i = 0; i < count; ++i) tell(touched_[(oldest + i) % touched_.size()]);
}

void RankWatch::submitted(TaskNumber task, std::span<const TaskNumber> after) {
  if (device_.checker() == nullptr) return;
  CheckedThread& device = device_.thread();
  const Lock lock(mutex_);
  tasks_[task] = {device.clock, {}, {after.begin(), after.end()}, false};
  device.clock.tick(device.lane);
}

std::shared_ptr<TaskWatch> RankWatch::begin(TaskNumber task, std::int64_t block) {
  Checker* const checker = device_.checker();
  CheckedThread thread;
  if (checker != nullptr) {
    VectorClock clock;
    {
      const Lock lock(mutex_);
      const Task& known = tasks_[task];
      clock = known.start;
      for (const TaskNumber before : known.after) join_end(before, clock);
    }
    thread = checker->begin(rank_, std::move(clock));
  }
  auto watch = std::make_shared<TaskWatch>(checker, std::move(thread), Schedule(seed_, rank_, task, block));
  watch->set_is_block();
  watch->schedule().pause();
  return watch;
}

void RankWatch::end(TaskNumber task, TaskWatch& watch) {
  watch.flush();
  watch.schedule().deliver(-1);
  if (watch.checker() == nullptr) return;
  watch.checker()->end(watch.thread());
  const Lock lock(mutex_);
  tasks_[task].end.join(watch.thread().clock);
  tasks_[task].ran = true;
  all_ends_.join(watch.thread().clock);
}

void RankWatch::join_end(TaskNumber task, VectorClock& clock) {
  const Task& known = tasks_[task];
  clock.join(known.end);
  if (known.ran) return;
  // It has no blocks, and comes after others all the same.
  for (const TaskNumber before : known.after) join_end(before, clock);
}

void RankWatch::waited(TaskNumber task) {
  if (device_.checker() == nullptr) return;
  const Lock lock(mutex_);
  join_end(task, device_.thread().clock);
}

void RankWatch::waited_for_all() {
  if (device_.checker() == nullptr) return;
  const Lock lock(mutex_);
  device_.thread().clock.join(all_ends_);
}

void note_access(WindowAccess::Kind kind, const char* what, const ViewRef& view,
                 std::span<const std::int64_t> offsets, std::span<const std::int64_t> shape,
                 const Place& where) {
  TaskWatch* const watch = thread_state().watch;
  if (watch == nullptr || watch->checker() == nullptr) return;
  const auto rank = static_cast<std::size_t>(view.rank);
  const auto element = static_cast<std::int64_t>(trilith::codegen::size_of(view.dtype));
  const char* data = static_cast<const char*>(view.data);
  for (std::size_t axis = 0; axis < offsets.size() && axis < rank; ++axis)
    data += offsets[axis] * view.strides[axis] * element;
  // A tile of lower rank stands at the end of the axes.
  std::array<std::int64_t, max_rank> extents{};
  std::int64_t elements = 1;
  for (std::size_t axis = 0; axis < rank; ++axis)
    elements *= extents[axis] = axis + shape.size() < rank ? 1 : shape[axis + shape.size() - rank];
  if (elements == 1 && watch->is_block())
    return watch->touch(kind, what, where, data, data + element, element);
  watch->checker()->access(watch->thread(), kind, what, where,
                           {data, {view.strides, rank}, {extents.data(), rank}, element});
}

void note_elements(WindowAccess::Kind kind, const char* what, const ViewRef& view,
                   std::span<const std::int64_t> offsets, std::span<const std::int64_t> steps,
                   std::int64_t count, const Place& where) {
  TaskWatch* const watch = thread_state().watch;
  if (watch == nullptr || watch->checker() == nullptr) return;
  const auto element = static_cast<std::int64_t>(trilith::codegen::size_of(view.dtype));
  std::int64_t first = 0, step = 0;
  for (std::size_t axis = 0; axis < offsets.size(); ++axis) {
    first += offsets[axis] * view.strides[axis];
    step += steps[axis] * view.strides[axis];
  }
  if (step == 0) count = 1;
  const char* data = static_cast<const char*>(view.data) + first * element;
  // As one access elements would be looked at from the lowest on, whichever way the loop goes.
  if (step < -1 && watch->is_block()) {
    for (std::int64_t i = 0; i < count; ++i, data += step * element)
      watch->touch(kind, what, where, data, data + element, element);
    return;
  }
  if (step < 0) {
    data += step * (count - 1) * element;
    step = -step;
  }
  if (watch->is_block() && (count == 1 || step == 1))
    return watch->touch(kind, what, where, data, data + count * element, element);
  watch->checker()->access(watch->thread(), kind, what, where, {data, {&step, 1}, {&count, 1}, element},
                           true);
}

}  // namespace pl::detail
