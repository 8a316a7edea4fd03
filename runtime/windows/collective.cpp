// The collectives of all ranks that share a window, made of reads, writes and signals.
//
// Each begins and ends with a barrier, so memory of the last one is free and results are complete. Reductions go
// in the order of ranks (mesh) or of the ring, whatever the timing. With signal cells of the user's a barrier is one
// step of theirs: each rank adds 1 to its cell at every peer, waits until all cells of its own are as high as the
// steps so far, and takes all steps off its own cells at the end. A peer is never more than a step ahead, so nothing
// that it adds for the next call is lost.
#include "runtime/thread_state.hpp"
#include "runtime/windows/call_note.hpp"
#include "runtime/windows/few_elements.hpp"
#include "runtime/windows/meeting.hpp"
#include "runtime/windows/reduce_lines.hpp"
#include "runtime/windows/remote_call.hpp"
#include "runtime/windows/remote_memory.hpp"
#include "runtime/windows/remote_transfer.hpp"
#include "runtime/windows/signal_cells.hpp"
#include "runtime/windows/task_watch.hpp"
#include "runtime/windows/wait_monitor.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <string>
#include <vector>

namespace pl::detail {
namespace {

namespace codegen = trilith::codegen;

class Collective {
 public:
  explicit Collective(const RemoteCall& call)
      : call_(call),
        view_(*call.window),
        own_(*view_.window),
        memory_(*own_.memory),
        offset_(static_cast<char*>(view_.data) - own_.base),
        element_(static_cast<std::int64_t>(codegen::size_of(view_.dtype))) {
    for (int axis = 0; axis < view_.rank; ++axis) elements_ *= view_.extents[axis];
    if (call.signal != nullptr) signal_.emplace(call, *call.signal);
  }

  void run() {
    if (call_.operation != abi::remote_barrier) require_dense();
    if (has_root()) require_rank("root", call_.peer);
    switch (call_.operation) {
      case abi::remote_send_recv:
        require_rank("from", call_.peer);
        require_rank("to", call_.mode);
        break;
      case abi::remote_all_to_all_v:
        require_rows();
        require_counts();
        break;
      case abi::remote_allgather:
      case abi::remote_reduce_scatter:
      case abi::remote_all_to_all:
      case abi::remote_scatter:
      case abi::remote_gather: require_rows(); break;
      default: break;
    }
    const FewElements few(call_, elements_);
    const bool are_few = meets_in_memory() && few.fit();
    if (meets_in_memory())
      enter_in_memory(are_few ? &few : nullptr);
    else
      enter();
    if (Checker* const checker = this->checker()) note_accesses(*checker);
    if (are_few)
      few.take(places_);
    else if (call_.operation != abi::remote_barrier)
      move();
    leave(are_few);
    if (signal_) signal_->clear();
  }

 private:
  // Held while two rows change places: the block and the two stay in the first-level cache.
  static constexpr std::size_t block_bytes = 8192;
  // To and from other processes: a transfer of this many takes longer than to ask for it.
  static constexpr std::int64_t far_block_bytes = 1 << 18;

  [[nodiscard]] int size() const { return memory_.size(); }
  [[nodiscard]] bool meets_in_memory() const { return own_.meeting != nullptr && !signal_; }
  [[nodiscard]] std::string title() const { return name_of(call_.operation); }
  [[nodiscard]] char* data(const WindowPart& part) const { return part.base + offset_; }
  /// Elements of a part from its `first` on go to memory of this rank.
  void bring(const WindowPart& from, std::int64_t first, char* to, std::int64_t count) const {
    read_bytes(from, data(from) + first * element_, to, bytes(count));
  }
  /// Reduces the elements [begin, end) of these parts, in this order, into the same elements of the targets. A target
  /// may be one of the parts.
  void reduce(std::span<const WindowPart* const> from, std::span<const WindowPart* const> to,
              std::int64_t begin, std::int64_t end) const {
    std::vector<const char*> lines(from.size());
    std::vector<char*> targets(to.size());
    if (memory_.remote() == nullptr) {
      const auto at = [&](const WindowPart* part) { return data(*part) + begin * element_; };
      std::ranges::transform(from, lines.begin(), at);
      std::ranges::transform(to, targets.begin(), at);
      if (begin < end) reduce_lines(view_.dtype, call_.reduction(), lines, targets, end - begin);
      return;
    }
    const std::int64_t block = std::min(far_block_bytes / element_, end - begin);
    std::vector<char> copies(bytes(block) * (from.size() + 1));
    for (std::size_t i = 0; i < from.size(); ++i) lines[i] = copies.data() + bytes(block) * i;
    char* const result = copies.data() + bytes(block) * from.size();
    for (std::int64_t at = begin; at < end; at += block) {
      const std::int64_t count = std::min(block, end - at);
      for (std::size_t i = 0; i < from.size(); ++i)
        bring(*from[i], at, copies.data() + bytes(block) * i, count);
      reduce_lines(view_.dtype, call_.reduction(), lines, {&result, 1}, count);
      for (const WindowPart* const part : to)
        write_bytes(*part, data(*part) + at * element_, result, bytes(count));
    }
  }
  [[nodiscard]] std::size_t bytes(std::int64_t count) const {
    return static_cast<std::size_t>(count * element_);
  }

  void move() {
    const int root = static_cast<int>(call_.peer);
    switch (call_.operation) {
      case abi::remote_allreduce:
        if (call_.reduces_by_ring())
          reduce_by_ring();
        else
          reduce_by_mesh(0, size());
        break;
      case abi::remote_reduce: reduce_by_mesh(root, root + 1); break;
      case abi::remote_broadcast:
        if (root != own_.member) bring(memory_.part(root), 0, data(own_), elements_);
        break;
      case abi::remote_send_recv:
        if (call_.mode == own_.member && root != own_.member)
          bring(memory_.part(root), 0, data(own_), elements_);
        break;
      case abi::remote_scatter:
        if (root != own_.member) copy_row(own_, memory_.part(root));
        break;
      case abi::remote_gather:
        if (root != own_.member) copy_row(memory_.part(root), own_);
        break;
      case abi::remote_allgather: gather(); break;
      case abi::remote_reduce_scatter: reduce_rows(); break;
      case abi::remote_all_to_all_v: exchange_counted(); break;
      default: exchange_rows(); break;
    }
  }

  [[nodiscard]] bool has_root() const {
    return call_.operation == abi::remote_broadcast || call_.operation == abi::remote_reduce ||
           call_.operation == abi::remote_scatter || call_.operation == abi::remote_gather;
  }
  void require_rank(const char* what, std::int64_t rank) const {
    if (rank >= 0 && rank < size()) return;
    throw CommError(title() + ": " + what + " " + std::to_string(rank) + " of a window that " +
                        std::to_string(size()) + (size() == 1 ? " rank shares" : " ranks share") +
                        "; ranks are 0 to " + std::to_string(size() - 1),
                    call_.where.location());
  }
  /// One count for each peer, none larger than a row has items.
  void require_counts() const {
    if (view_.rank < 2)
      throw ShapeError(title() + " of " + describe(view_) + "; give a window of {ranks, most items, …}",
                       call_.where.location());
    const ViewRef& counts = *call_.other;
    require_cells(call_, counts, size(), "counts");
    const auto* own = static_cast<const std::int32_t*>(counts.data);
    for (int peer = 0; peer < size(); ++peer)
      if (own[peer] < 0 || own[peer] > view_.extents[1])
        throw CommError(title() + ": " + std::to_string(own[peer]) + " items for rank " +
                            std::to_string(peer) + " from rank " + std::to_string(own_.rank) +
                            ", and a row of " + describe(view_) + " has room for " +
                            std::to_string(view_.extents[1]),
                        call_.where.location());
  }

  void require_dense() const {
    std::int64_t stride = 1;
    for (int axis = view_.rank; axis-- > 0;) {
      if (view_.extents[axis] != 1 && view_.strides[axis] != stride && elements_ != 0)
        throw ShapeError(title() + " of " + describe(view_) +
                             ", a part of a window that is not dense; give the window or whole rows of it",
                         call_.where.location());
      stride *= view_.extents[axis];
    }
  }
  void require_rows() const {
    if (view_.rank != 0 && view_.extents[0] == size()) return;
    throw ShapeError(title() + " of " + describe(view_) + " among " + std::to_string(size()) +
                         " ranks; its first extent is the number of ranks, one row each",
                     call_.where.location());
  }

  void wait(int cell, std::uint32_t value) const {
    const CellWait wait{&own_, own_.own_cells + cell, -1,         static_cast<std::int32_t>(value), true,
                        true,  call_.operation,       call_.where};
    memory_.monitor().wait(wait);
    if (Checker* const checker = this->checker()) checker->waited(watch_->thread(), wait);
  }
  void signal(const WindowPart& part, int cell) const {
    if (Checker* const checker = this->checker())
      checker->change(watch_->thread(), part, part.own_cells + cell, -1, false, 1, name_of(call_.operation),
                      call_.where);
    else
      WaitMonitor::add(part, part.own_cells + cell, 1);
  }
  [[nodiscard]] Checker* checker() const { return watch_ != nullptr ? watch_->checker() : nullptr; }

  /// What the caller must have ordered against the collective: its data between the barriers. It is noted for the own
  /// part, since every other rank does the same.
  void note_accesses(Checker& checker) const {
    using Kind = WindowAccess::Kind;
    const bool at_root = call_.peer == own_.member;
    switch (call_.operation) {
      case abi::remote_barrier: return;
      case abi::remote_broadcast:
      case abi::remote_reduce:
        note_rows(checker, at_root == (call_.operation == abi::remote_reduce) ? Kind::Write : Kind::Read, 0,
                  size());
        return;
      case abi::remote_send_recv:
        if (at_root) note_rows(checker, Kind::Read, 0, size());
        if (call_.mode == own_.member && !at_root) note_rows(checker, Kind::Write, 0, size());
        return;
      case abi::remote_scatter:
        at_root ? note_rows(checker, Kind::Read, 0, size()) : note_rows(checker, Kind::Write, own_.member, 1);
        return;
      case abi::remote_gather:
        at_root ? note_rows(checker, Kind::Write, 0, size()) : note_rows(checker, Kind::Read, own_.member, 1);
        return;
      case abi::remote_reduce_scatter:
        note_rows(checker, Kind::Read, 0, size());
        note_rows(checker, Kind::Write, own_.member, 1);
        return;
      default: note_rows(checker, Kind::Write, 0, size()); return;
    }
  }
  /// All `size()` rows stand for all elements.
  void note_rows(Checker& checker, WindowAccess::Kind kind, std::int64_t first, std::int64_t count) const {
    checker.access(watch_->thread(), kind, name_of(call_.operation), call_.where,
                   {data(own_) + first * row() * element_, std::array{std::int64_t{1}},
                    std::array{count == size() ? elements_ : count * row()}, element_});
  }

  /// A step of all ranks.
  void meet() {
    // Whoever hears of this rank through others must see what it has put, too.
    if (RemoteMemory* const remote = memory_.remote()) remote->fence();
    if (signal_) {
      signal_->step();
      // The checker takes the order from Trilith's own cells, whose values only grow.
      if (checker() == nullptr) return;
    }
    if (own_.meeting != nullptr)
      meet_in_memory();
    else
      meet_by_messages();
  }

  /// A dissemination barrier: in round k each rank signals the one 2^k behind it.
  void meet_by_messages() {
    const std::uint32_t number = ++own_.state->barriers;
    int cell = 0;
    for (int distance = 1; distance < size(); distance *= 2, ++cell) {
      signal(memory_.part((own_.member + distance) % size()), cell);
      wait(cell, number);
    }
  }

  void meet_in_memory() {
    const std::uint32_t step = ++own_.state->steps;
    tell(own_.meeting->steps, step);
    for_each_peer([&](const WindowPart& peer) { look_for(peer, peer.meeting->steps, step); });
    own_.state->unsettled.store(0, std::memory_order_relaxed);
  }

  /// The last step: behind it all parts are complete.
  void leave(bool are_few) {
    if (call_.operation == abi::remote_barrier) return;
    // The checker would take a peer's write of its own result for one that nothing orders.
    if (!are_few || checker() != nullptr) return meet();
    // Only who looks into a peer's part has to wait for it.
    const std::uint32_t step = ++own_.state->steps;
    begin_to_tell(own_.meeting->steps, step);
    own_.state->unsettled.store(step, std::memory_order_relaxed);
    WaitMonitor::wake(own_, {&own_.meeting->shown[own_.state->collectives % 2].number, &own_.meeting->steps});
  }

  template <class Use>
  void for_each_peer(const Use& use) const {
    for (int i = 1; i < size(); ++i) use(memory_.part((own_.member + i) % size()));
  }
  /// Sets a cell of the own place that peers wait for.
  void tell(std::int32_t& cell, std::uint32_t number) const {
    const auto value = static_cast<std::int32_t>(number);
    if (Checker* const checker = this->checker())
      checker->tell(watch_->thread(), own_, &cell, value);
    else
      WaitMonitor::set(own_, &cell, value);
  }
  /// The same but for WaitMonitor::wake, which who sleeps on the cell still needs.
  void begin_to_tell(std::int32_t& cell, std::uint32_t number) const {
    if (watch_ != nullptr || thread_state().traced != nullptr) return tell(cell, number);
    WaitMonitor::set_quietly(&cell, static_cast<std::int32_t>(number));
  }
  void look_for(const WindowPart& peer, std::int32_t& cell, std::uint32_t number) const {
    const CellWait wait{&own_,           &cell,       -1,   static_cast<std::int32_t>(number), true, true,
                        call_.operation, call_.where, &peer};
    memory_.monitor().wait(wait);
    if (Checker* const checker = this->checker()) checker->heard(watch_->thread(), &cell, wait.expected);
  }

  /// The first step: behind it every rank has said which collective it is in.
  void enter() {
    const CollectiveCall own = next_call();
    own_.state->calls[own.number % 2] = own;
    leave_note(own_, own);
    // For ranks that have given no signal: they look there.
    if (own_.meeting != nullptr) {
      Shown& place = own_.meeting->shown[own.number % 2];
      place.call = own;
      tell(place.number, own.number);
    }
    meet();
    const WindowPart& neighbour = memory_.part((own_.member + 1) % size());
    CallNote note;
    require_same(own, call_of(neighbour, own.number, note), own_, neighbour, checker());
  }
  /// The same where the ranks see each other; `few`: with the elements.
  void enter_in_memory(const FewElements* few) {
    const CollectiveCall own = next_call();
    const auto place_of = [&](const WindowPart& part) -> Shown& {
      return part.meeting->shown[own.number % 2];
    };
    Shown& place = place_of(own_);
    place.call = own;
    if (few != nullptr) few->show(place);
    begin_to_tell(place.number, own.number);
    places_[static_cast<std::size_t>(own_.member)] = &place;
    for_each_peer([&](const WindowPart& peer) {
      Shown& shown = place_of(peer);
      // Of a peer that has come first: the second line of the cache comes beside the first.
      __builtin_prefetch(shown.data.data() + 16);
      look_for(peer, shown.number, own.number);
      require_same(own, shown.call, own_, peer, checker());
      places_[static_cast<std::size_t>(peer.member)] = &shown;
    });
    // Of few elements the last step does it.
    if (few == nullptr || checker() != nullptr) WaitMonitor::wake(own_, {&place.number});
  }

  [[nodiscard]] CollectiveCall next_call() const {
    const bool barrier = call_.operation == abi::remote_barrier;
    const CollectiveCall call{
        ++own_.state->collectives,
        static_cast<std::int16_t>(call_.operation),
        static_cast<std::int8_t>(barrier ? DType{} : view_.dtype),
        call_.signal != nullptr,
        call_.mode,
        has_root() || call_.operation == abi::remote_send_recv ? static_cast<std::int32_t>(call_.peer) : 0,
        barrier ? 0 : elements_,
        call_.where};
    if (Checker* const checker = this->checker()) checker->note_collective(own_, call, text_with_place);
    return call;
  }
  /// Those of the members [first, last).
  [[nodiscard]] std::vector<const WindowPart*> parts(int first, int last) const {
    std::vector<const WindowPart*> result;
    for (int member = first; member < last; ++member) result.push_back(&memory_.part(member));
    return result;
  }

  /// Each rank reduces one piece of all parts, in the order of ranks, and writes it to the members [first, last).
  void reduce_by_mesh(int first, int last) const {
    const auto [begin, end] = piece(own_.member);
    reduce(parts(0, size()), parts(first, last), begin, end);
  }

  /// Elements of the `number`th of as many pieces as ranks; whole cache lines where there are enough.
  [[nodiscard]] std::pair<std::int64_t, std::int64_t> piece(int number) const {
    const std::int64_t line = std::max<std::int64_t>(1, 64 / element_);
    const std::int64_t lines = (elements_ + line - 1) / line;
    const auto border = [&](std::int64_t n) { return std::min(elements_, lines * n / size() * line); };
    return {border(number), border(number + 1)};
  }

  /// n - 1 steps in which each rank adds its left neighbour's piece to its own, then n - 1 that pass the sums on.
  void reduce_by_ring() {
    const int n = size();
    if (n == 1) return;
    const WindowPart& left = memory_.part((own_.member + n - 1) % n);
    const WindowPart& right = memory_.part((own_.member + 1) % n);
    const std::uint32_t base = own_.state->ring_steps;
    if (!signal_) own_.state->ring_steps += static_cast<std::uint32_t>(2 * (n - 1));
    for (int step = 0; step < 2 * (n - 1); ++step) {
      const auto done = base + static_cast<std::uint32_t>(step);
      const bool reduces = step < n - 1;
      if (!signal_) wait(WindowMemory::ring_cell, done);  // by the left neighbour
      if (!signal_ && !reduces) wait(WindowMemory::ring_cell + 1, done + 2 - static_cast<std::uint32_t>(n));
      const int shift = reduces ? step + 1 : step - (n - 1);
      const auto [begin, end] = piece(((own_.member - shift) % n + n) % n);
      const std::array<const WindowPart*, 2> both{&left, &own_};
      reduce(std::span(both).first(reduces ? 2 : 1), std::span(both).last(1), begin, end);
      if (signal_) {
        meet();
        continue;
      }
      signal(right, WindowMemory::ring_cell);
      signal(left, WindowMemory::ring_cell + 1);
    }
  }

  [[nodiscard]] std::int64_t row() const { return elements_ / size(); }

  void gather() const {
    const char* own = data(own_) + own_.member * row() * element_;
    for (int i = 1; i < size(); ++i) {
      const WindowPart& peer = memory_.part((own_.member + i) % size());
      write_bytes(peer, data(peer) + own_.member * row() * element_, own, bytes(row()));
    }
  }

  void copy_row(const WindowPart& to, const WindowPart& from) const {
    const std::int64_t first = own_.member * row();
    if (to.far == nullptr)
      bring(from, first, data(to) + first * element_, row());
    else
      write_bytes(to, data(to) + first * element_, data(from) + first * element_, bytes(row()));
  }

  /// Nobody else reads or writes this row of any part.
  void reduce_rows() const {
    const std::int64_t begin = own_.member * row();
    reduce(parts(0, size()), parts(own_.member, own_.member + 1), begin, begin + row());
  }

  /// What was row `own` of each peer, as far as it counts, and those counts.
  void exchange_counted() {
    const ViewRef& counts = *call_.other;
    const std::int64_t item = view_.extents[1] == 0 ? 0 : row() / view_.extents[1];
    std::vector<std::int32_t> received(static_cast<std::size_t>(size()));
    std::int64_t total = 0;
    for (int member = 0; member < size(); ++member) {
      std::int32_t& count = received[static_cast<std::size_t>(member)];
      read_bytes(counts.window->memory->part(member),
                 reinterpret_cast<const char*>(cells_at(counts, member) + own_.member), &count, sizeof count);
      total += count;
    }
    std::vector<char> result(bytes(total * item));
    const auto each = [&](const auto& use) {
      char* at = result.data();
      for (int member = 0; member < size(); ++member) {
        const std::size_t length = bytes(received[static_cast<std::size_t>(member)] * item);
        use(member, at, length);
        at += length;
      }
    };
    each([&](int member, char* at, std::size_t length) {
      read_bytes(memory_.part(member), data(memory_.part(member)) + own_.member * row() * element_, at,
                 length);
    });
    meet();
    each([&](int member, const char* at, std::size_t length) {
      if (length != 0) std::memcpy(data(own_) + member * row() * element_, at, length);
    });
    std::copy(received.begin(), received.end(), static_cast<std::int32_t*>(counts.data));
  }

  void exchange_rows() {
    if (memory_.remote() == nullptr) return swap_rows();
    std::vector<char> result(bytes(elements_));
    for (int i = 0; i < size(); ++i) {
      const int member = (own_.member + i) % size();
      bring(memory_.part(member), own_.member * row(), result.data() + member * row() * element_, row());
    }
    meet();
    std::memcpy(data(own_), result.data(), result.size());
  }

  /// The own row of a peer and the peer's row here change places: each of the two ranks does one half.
  void swap_rows() const {
    for_each_peer([&](const WindowPart& peer) {
      const std::size_t all = bytes(row()), half = std::min(all, (all / 2 + 63) / 64 * 64);
      const bool first = own_.member < peer.member;
      char* const here = data(own_) + peer.member * row() * element_;
      char* const there = data(peer) + own_.member * row() * element_;
      std::array<char, block_bytes> held;
      for (std::size_t at = first ? 0 : half, end = first ? half : all; at < end; at += held.size()) {
        const std::size_t length = std::min(held.size(), end - at);
        std::memcpy(held.data(), here + at, length);
        std::memcpy(here + at, there + at, length);
        std::memcpy(there + at, held.data(), length);
      }
    });
  }

  const RemoteCall& call_;
  const ViewRef& view_;
  const WindowPart& own_;
  const WindowMemory& memory_;
  const std::int64_t offset_;
  const std::int64_t element_;
  TaskWatch* const watch_ = thread_state().watch;
  std::int64_t elements_ = 1;
  std::optional<SignalCells> signal_;
  std::array<const Shown*, MeetingPlace::most_ranks>
      places_{};  ///< of the members, where they have shown this call
};

}  // namespace

void perform_collective(const RemoteCall& call) {
  WindowPart::State& state = *call.window->window->state;
  begin_collective(*call.window->window, name_of(call.operation), call.where);
  struct Leave {
    WindowPart::State& state;
    ~Leave() { state.in_collective.store(false, std::memory_order_release); }
  } leave{state};
  Collective(call).run();
}

}  // namespace pl::detail
