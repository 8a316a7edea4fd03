#include "runtime/windows/checker.hpp"

#include "runtime/windows/check_report.hpp"
#include "runtime/windows/pause.hpp"
#include "runtime/windows/remote_call.hpp"

#include <algorithm>

namespace pl::detail {
namespace {

/// Calls visit(box) for bytes that are all elements; `base`: what boxes count from.
template <class Visit>
void for_each_box(const Elements& elements, const char* base, const Visit& visit) {
  for (const std::int64_t extent : elements.shape)
    if (extent == 0) return;
  ByteBox box{0, elements.bytes, 1, 0};
  std::size_t outer = elements.shape.size();
  const auto stride = [&](std::size_t axis) { return elements.strides[axis] * elements.bytes; };
  // The last axes that lie side by side, then those that are rows of one distance.
  while (outer != 0 && (elements.shape[outer - 1] == 1 || stride(outer - 1) == box.width))
    box.width *= elements.shape[--outer];
  if (outer != 0 && stride(outer - 1) > box.width) {
    box.pitch = stride(outer - 1);
    while (outer != 0 && (elements.shape[outer - 1] == 1 || stride(outer - 1) == box.pitch * box.rows))
      box.rows *= elements.shape[--outer];
  }
  std::vector<std::int64_t> at(outer, 0);
  for (;;) {
    box.begin = elements.data - base;
    for (std::size_t axis = 0; axis < outer; ++axis) box.begin += at[axis] * stride(axis);
    visit(box);
    std::size_t axis = outer;
    while (axis != 0 && ++at[axis - 1] == elements.shape[axis - 1]) at[--axis] = 0;
    if (axis == 0) return;
  }
}

/// Tries for a while before it sleeps: what the checker does takes less time than to sleep and be woken, and the ranks
/// of a collective come at the same time.
class TRILITH_ANNOTATION(scoped_lockable) ShortLock {
 public:
  explicit ShortLock(Mutex& mutex) TRILITH_ANNOTATION(acquire_capability(mutex))
      TRILITH_ANNOTATION(no_thread_safety_analysis)
      : mutex_(mutex) {
    for (int tries = 0; tries < 256; ++tries) {
      if (mutex_.native().try_lock()) return;
      pause_processor();
    }
    mutex_.lock();
  }
  ~ShortLock() TRILITH_ANNOTATION(release_capability()) { mutex_.unlock(); }
  ShortLock(const ShortLock&) = delete;
  ShortLock& operator=(const ShortLock&) = delete;

 private:
  Mutex& mutex_;
};

/// Of the box and one past it.
std::int64_t end_of(const ByteBox& box) { return box.begin + (box.rows - 1) * box.pitch + box.width; }

}  // namespace

Checker::Checker(int ranks) : ranks_(ranks) {
  for (int rank = 0; rank < ranks; ++rank) lanes_.push_back({rank, 1, false});
}

void Checker::add(const WindowMemory& window) {
  const ShortLock lock(mutex_);
  for (int member = 0; member < window.size(); ++member)
    parts_.emplace(window.part(member).base, Part{&window.part(member), Shadow(window.bytes)});
}

CheckedThread Checker::device(int rank) {
  CheckedThread thread{rank, rank, {}, {}};
  thread.clock.set(rank, 1);
  return thread;
}

CheckedThread Checker::begin(int rank, VectorClock after) {
  const ShortLock lock(mutex_);
  CheckedThread thread{rank, -1, std::move(after), {}};
  for (std::size_t lane = static_cast<std::size_t>(ranks_); lane < lanes_.size(); ++lane) {
    Lane& candidate = lanes_[lane];
    if (!candidate.free || candidate.rank != rank || thread.clock.at(static_cast<int>(lane)) < candidate.last)
      continue;
    candidate.free = false;
    thread.lane = static_cast<int>(lane);
    thread.clock.set(thread.lane, candidate.last + 1);
    return thread;
  }
  thread.lane = static_cast<int>(lanes_.size());
  lanes_.push_back({rank, 1, false});
  thread.clock.set(thread.lane, 1);
  return thread;
}

void Checker::end(CheckedThread& thread) {
  const ShortLock lock(mutex_);
  const std::uint32_t now = thread.clock.at(thread.lane);
  for (const auto& unpublished : thread.unpublished) *unpublished.time = now;
  thread.unpublished.clear();
  lanes_[static_cast<std::size_t>(thread.lane)].last = now;
  lanes_[static_cast<std::size_t>(thread.lane)].free = true;
}

Checker::Part* Checker::part_of(const char* address) {
  auto at = parts_.upper_bound(address);
  if (at == parts_.begin()) return nullptr;
  --at;
  Part& part = at->second;
  return address < at->first + part.part->memory->bytes ? &part : nullptr;
}

const char* Checker::lasting(const char* file) {
  auto known = files_.find(std::string_view(file));
  if (known == files_.end()) known = files_.emplace(file).first;
  return known->c_str();
}

WindowAccess Checker::make_access(const CheckedThread& thread, WindowAccess::Kind kind, const char* what,
                                  const Place& where) {
  WindowAccess access;
  access.kind = kind;
  access.rank = thread.rank;
  access.lane = thread.lane;
  access.now = thread.clock.at(thread.lane);
  access.what = what;
  access.where = where;
  access.where.file = lasting(where.file);
  return access;
}

PublishTime Checker::publish_time(CheckedThread& thread, const Part& part, const WindowAccess& access) {
  const int peer = part.part->rank;
  if (peer == thread.rank || access.kind == WindowAccess::Kind::Read) return nullptr;
  for (const auto& unpublished : thread.unpublished)
    if (unpublished.peer == peer) return unpublished.time;
  auto time = std::make_shared<std::uint32_t>(not_published);
  thread.unpublished.push_back({peer, time});
  unsignalled_.push_back({part.part, access});
  unsignalled_.back().access.published = time;
  return time;
}

void Checker::access(CheckedThread& thread, WindowAccess::Kind kind, const char* what, const Place& where,
                     const Elements& elements, bool one_by_one) {
  const ShortLock lock(mutex_);
  Part* const part = part_of(elements.data);
  if (part == nullptr) return;
  WindowAccess access = make_access(thread, kind, what, where);
  if (one_by_one) access.element = elements.bytes;
  access.begin = std::numeric_limits<std::int64_t>::max();
  std::vector<ByteBox> boxes;
  for_each_box(elements, part->part->base, [&](const ByteBox& box) {
    boxes.push_back(box);
    access.begin = std::min(access.begin, box.begin);
    access.end = std::max(access.end, end_of(box));
  });
  if (boxes.empty()) return;
  access.published = publish_time(thread, *part, access);
  const auto shared = std::make_shared<const WindowAccess>(std::move(access));
  for (const ByteBox& box : boxes) access_box(box, shared, thread, *part);
}

void Checker::access_box(const ByteBox& box, const AccessRef& access, const CheckedThread& thread,
                         Part& part) {
  const char* const base = part.part->base;
  constexpr auto cell_bytes = static_cast<std::int64_t>(sizeof(std::int32_t));
  for (auto at = cells_.lower_bound(
           reinterpret_cast<const std::int32_t*>(base + box.begin / cell_bytes * cell_bytes));
       at != cells_.end() && reinterpret_cast<const char*>(at->first) < base + end_of(box); ++at) {
    // Between the rows?
    const std::int64_t behind = reinterpret_cast<const char*>(at->first) - (base + box.begin);
    if (box.rows > 1 && behind > 0 && behind % box.pitch >= box.width &&
        behind % box.pitch + cell_bytes <= box.pitch)
      continue;
    const WindowAccess one = access->at_byte(std::max(box.begin, box.begin + behind));
    if (access->kind != WindowAccess::Kind::Read)
      throw CommError(report::misuse(*part.part, at->second.last_use(), one), access->where.location());
    if (const std::optional<WindowAccess> writer = at->second.unordered_change(*access, thread.clock))
      throw CommError(report::race(*part.part, *writer, one), access->where.location());
  }
  const Shadow::Conflict conflict = part.shadow.add(box, access, thread.clock);
  if (conflict.earlier == nullptr) return;
  // A wait that waits for too little is how it came to this.
  for (const int rank : {access->rank, conflict.earlier->rank}) throw_stale(rank);
  throw CommError(
      report::race(*part.part, conflict.earlier->at_byte(conflict.byte), access->at_byte(conflict.byte)),
      access->where.location());
}

void Checker::throw_stale(int rank) {
  for (const auto& [cell, signal] : cells_) {
    const Part* const part = part_of(reinterpret_cast<const char*>(cell));
    const SignalCell::Fault* const stale = signal.stale();
    if (stale == nullptr || part == nullptr || (rank >= 0 && part->part->rank != rank)) continue;
    const std::int64_t index = stale->later.begin / static_cast<std::int64_t>(sizeof(std::int32_t));
    throw CommError(report::fault(*part->part, index, *stale), stale->later.where.location());
  }
}

SignalCell& Checker::cell_of(const WindowAccess& access, const WindowPart& part, const std::int32_t* cell,
                             std::int64_t index) {
  const auto [at, is_new] = cells_.try_emplace(cell);
  if (const WindowAccess* const collective = at->second.collective())
    throw CommError(report::by_hand(part, *collective, access), access.where.location());
  if (is_new && index >= 0)
    if (const Part* owner = part_of(reinterpret_cast<const char*>(cell)))
      if (const auto store = owner->shadow.last_write(access.begin, access.end)) {
        cells_.erase(at);
        throw CommError(report::misuse(part, access, *store), access.where.location());
      }
  at->second.set_last_use(access);
  return at->second;
}

void Checker::change(CheckedThread& thread, const WindowPart& part, std::int32_t* cell, std::int64_t index,
                     bool sets, std::int32_t value, const char* what, const Place& where) {
  const ShortLock lock(mutex_);
  WindowAccess access =
      make_access(thread, sets ? WindowAccess::Kind::Write : WindowAccess::Kind::Add, what, where);
  access.begin = index * static_cast<std::int64_t>(sizeof(std::int32_t));
  access.end = access.begin + static_cast<std::int64_t>(sizeof(std::int32_t));
  SignalCell& signal = cell_of(access, part, cell, index);
  const auto now = std::atomic_ref<std::int32_t>(*cell).load(std::memory_order_relaxed);
  const auto next =
      sets ? value
           : static_cast<std::int32_t>(static_cast<std::uint32_t>(now) + static_cast<std::uint32_t>(value));
  const auto fault = signal.change(access, next, thread.clock, part.rank);
  thread.clock.tick(thread.lane);
  if (fault) throw CommError(report::fault(part, index, *fault), fault->later.where.location());
  if (sets)
    WaitMonitor::set(part, cell, value);
  else
    WaitMonitor::add(part, cell, value);
}

void Checker::tell(CheckedThread& thread, const WindowPart& part, std::int32_t* cell, std::int32_t number) {
  const ShortLock lock(mutex_);
  note(thread, cell, number);
  WaitMonitor::set(part, cell, number);
}

void Checker::note_told(CheckedThread& thread, const std::int32_t* cell, std::int32_t number) {
  const ShortLock lock(mutex_);
  note(thread, cell, number);
}

void Checker::note(CheckedThread& thread, const std::int32_t* cell, std::int32_t number) {
  auto& [before, last] = told_[cell];
  std::swap(before, last);
  last.number = number;
  last.clock = thread.clock;
  thread.clock.tick(thread.lane);
}

void Checker::heard(CheckedThread& thread, const std::int32_t* cell, std::int32_t number) {
  const ShortLock lock(mutex_);
  const auto& [before, last] = told_[cell];
  thread.clock.join(before.number == number ? before.clock : last.clock);
  thread.clock.tick(thread.lane);
}

void Checker::lend_to_collective(CheckedThread& thread, const WindowPart& part, std::int32_t* cell,
                                 std::int64_t index, std::int64_t count, const char* what,
                                 const Place& where) {
  const ShortLock lock(mutex_);
  WindowAccess access = make_access(thread, WindowAccess::Kind::Add, what, where);
  for (std::int64_t i = 0; i < count; ++i) {
    access.begin = (index + i) * static_cast<std::int64_t>(sizeof(std::int32_t));
    access.end = access.begin + static_cast<std::int64_t>(sizeof(std::int32_t));
    const auto known = cells_.find(cell + i);
    if (known == cells_.end()) {
      cell_of(access, part, cell + i, index + i).set_collective(access);
      continue;
    }
    if (known->second.collective() == nullptr)
      throw CommError(report::by_hand(part, access, known->second.last_use()), where.location());
    known->second.set_last_use(access);
    known->second.set_collective(access);
  }
}

namespace {

void place(WindowAccess& access, const CellWait& wait) {
  access.begin = wait.index * static_cast<std::int64_t>(sizeof(std::int32_t));
  access.end = access.begin + static_cast<std::int64_t>(sizeof(std::int32_t));
}

}  // namespace

void Checker::will_wait(CheckedThread& thread, const CellWait& wait) {
  const ShortLock lock(mutex_);
  WindowAccess access = make_access(thread, WindowAccess::Kind::Read, name_of(wait.operation), wait.where);
  place(access, wait);
  (void)cell_of(access, *wait.part, wait.cell, wait.index);
}

void Checker::waited(CheckedThread& thread, const CellWait& wait) {
  const ShortLock lock(mutex_);
  WindowAccess access = make_access(thread, WindowAccess::Kind::Read, name_of(wait.operation), wait.where);
  place(access, wait);
  const auto fault = cells_[wait.cell].waited(access, wait, thread.clock);
  thread.clock.tick(thread.lane);
  if (fault) throw CommError(report::fault(*wait.part, wait.index, *fault), fault->later.where.location());
}

void Checker::publish(CheckedThread& thread, int peer) {
  const ShortLock lock(mutex_);
  const std::uint32_t now = thread.clock.at(thread.lane);
  std::erase_if(thread.unpublished, [&](const CheckedThread::Unpublished& unpublished) {
    if (peer >= 0 && unpublished.peer != peer) return false;
    *unpublished.time = now;
    return true;
  });
  std::erase_if(unsignalled_, [&](const Unsignalled& write) {
    return write.access.rank == thread.rank && (peer < 0 || write.part->rank == peer) &&
           write.access.before(thread.clock);
  });
}

void Checker::all_have_met(const std::vector<CheckedThread*>& devices) {
  VectorClock all;
  for (const CheckedThread* device : devices) all.join(device->clock);
  for (CheckedThread* device : devices) {
    device->clock.join(all);
    publish(*device, -1);
    device->clock.tick(device->lane);
  }
}

void Checker::note_collective(const WindowPart& part, const CollectiveCall& call,
                              std::string (*text)(const CollectiveCall&)) {
  const ShortLock lock(mutex_);
  auto& ranks = collectives_[part.memory];
  ranks.resize(static_cast<std::size_t>(part.memory->size()));
  auto& [kinds, calls] = ranks[static_cast<std::size_t>(part.member)];
  const auto alike = [&](const Called::Kind& kind) {
    CollectiveCall known = kind.call;
    known.number = call.number;
    return known.same_as(call) && same_place(known.where, call.where);
  };
  auto kind = std::ranges::find_if(kinds, alike);
  if (kind == kinds.end()) {
    kinds.push_back({call, text(call)});
    kind = std::prev(kinds.end());
    kind->call.where.file = lasting(call.where.file);
  }
  calls.push_back(static_cast<std::uint32_t>(kind - kinds.begin()));
}

std::string Checker::collectives(const WindowMemory& window) {
  const ShortLock lock(mutex_);
  const auto at = collectives_.find(&window);
  if (at == collectives_.end()) return {};
  std::vector<std::vector<std::string>> texts;
  for (const auto& [kinds, calls] : at->second) {
    texts.emplace_back();
    for (const std::uint32_t kind : calls) texts.back().push_back(kinds[kind].text);
  }
  return report::collectives(window, texts);
}

void Checker::finish() {
  const ShortLock lock(mutex_);
  throw_stale(-1);
  if (unsignalled_.empty()) return;
  const Unsignalled& write = unsignalled_.front();
  throw CommError(report::unsignalled(*write.part, write.access), write.access.where.location());
}

}  // namespace pl::detail
