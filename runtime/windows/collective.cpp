// The collectives of all ranks that share a window, made of reads, writes and signals.
//
// Each begins and ends with a barrier, so memory of the last one is free and results are complete. Reductions go
// in the order of ranks (mesh) or of the ring, whatever the timing.
#include "runtime/windows/reduce_lines.hpp"
#include "runtime/windows/remote_call.hpp"
#include "runtime/windows/wait_monitor.hpp"

#include <algorithm>
#include <cstring>
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
  }

  void run() {
    if (call_.operation != abi::remote_barrier) require_dense();
    switch (call_.operation) {
      case abi::remote_broadcast:
        if (call_.peer < 0 || call_.peer >= size())
          throw CommError(title() + ": root " + std::to_string(call_.peer) + " of a window that " +
                              std::to_string(size()) + " ranks share; ranks are 0 to " +
                              std::to_string(size() - 1),
                          call_.where.location());
        break;
      case abi::remote_allgather:
      case abi::remote_reduce_scatter:
      case abi::remote_all_to_all: require_rows(); break;
      default: break;
    }
    enter();
    switch (call_.operation) {
      case abi::remote_barrier: return;
      case abi::remote_allreduce:
        if (algorithm() == ring)
          reduce_by_ring();
        else
          reduce_by_mesh();
        break;
      case abi::remote_broadcast:
        if (call_.peer != own_.member)
          std::memcpy(data(own_), data(memory_.part(static_cast<int>(call_.peer))), bytes(elements_));
        break;
      case abi::remote_allgather: gather(); break;
      case abi::remote_reduce_scatter: reduce_rows(); break;
      default: exchange_rows(); break;
    }
    meet();
  }

 private:
  static constexpr int ring = 2;
  // A block of this many bytes and its copy stay in the first-level cache.
  static constexpr std::int64_t block_bytes = 8192;

  [[nodiscard]] int size() const { return memory_.size(); }
  [[nodiscard]] int algorithm() const { return call_.mode / 4; }
  [[nodiscard]] ReduceOperation operation() const { return static_cast<ReduceOperation>(call_.mode % 4); }
  [[nodiscard]] std::string title() const { return name_of(call_.operation); }
  [[nodiscard]] char* data(const WindowPart& part) const { return part.base + offset_; }
  [[nodiscard]] std::size_t bytes(std::int64_t count) const {
    return static_cast<std::size_t>(count * element_);
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
    memory_.monitor().wait({&own_, own_.own_cells + cell, -1, static_cast<std::int32_t>(value), true, true,
                            name_of(call_.operation), call_.where});
  }
  void signal(const WindowPart& part, int cell) const { WaitMonitor::add(part, part.own_cells + cell, 1); }

  /// A dissemination barrier: in round k each rank signals the one 2^k behind it.
  void meet() const {
    const std::uint32_t number = ++own_.state->barriers;
    int cell = 0;
    for (int distance = 1; distance < size(); distance *= 2, ++cell) {
      signal(memory_.part((own_.member + distance) % size()), cell);
      wait(cell, number);
    }
  }

  /// The first barrier: behind it every rank has said which collective it is in.
  void enter() const {
    const std::uint32_t number = ++own_.state->collectives;
    CollectiveCall& own = own_.state->calls[number % 2];
    own = {number,     call_.operation,
           call_.mode, call_.operation == abi::remote_broadcast ? call_.peer : 0,
           elements_,  static_cast<std::int32_t>(view_.dtype),
           call_.where};
    if (call_.operation == abi::remote_barrier) own.elements = own.dtype = 0;
    meet();
    const WindowPart& neighbour = memory_.part((own_.member + 1) % size());
    const CollectiveCall& other = neighbour.state->calls[number % 2];
    if (own.same_as(other)) return;
    throw CommError(
        "ranks make different collective calls, of " + memory_.title() + ": call " + std::to_string(number) +
            " of rank " + std::to_string(own_.rank) + " is " + text(own) + ", of rank " +
            std::to_string(neighbour.rank) + " " + text(other) +
            "; every rank makes the same calls in the same order, with the same shape and options",
        call_.where.location());
  }
  [[nodiscard]] static std::string text(const CollectiveCall& call) {
    std::string result = name_of(static_cast<abi::RemoteOperation>(call.operation));
    if (call.elements != 0)
      result += " of " + std::to_string(call.elements) + " " +
                std::string(codegen::name_of(static_cast<DType>(call.dtype)));
    if (call.operation == abi::remote_broadcast) result += " from root " + std::to_string(call.peer);
    if (call.operation == abi::remote_allreduce || call.operation == abi::remote_reduce_scatter) {
      static constexpr const char* names[] = {"Sum", "Max", "Min", "Prod"};
      result += std::string(" by ") + names[call.mode % 4];
      if (call.mode / 4 != 0) result += call.mode / 4 == ring ? " (ring)" : " (mesh)";
    }
    return result + " at " + call.where.location().str();
  }

  /// Each rank reduces one piece of all parts, in the order of ranks, and writes it to all.
  void reduce_by_mesh() const {
    const auto [begin, end] = piece(own_.member);
    LineReducer reducer(view_.dtype, operation(), block_bytes / element_);
    for (std::int64_t at = begin; at < end; at += reducer.capacity()) {
      const std::int64_t count = std::min(reducer.capacity(), end - at);
      for (int member = 0; member < size(); ++member)
        reducer.take(data(memory_.part(member)) + at * element_, count, member == 0);
      for (int member = 0; member < size(); ++member)
        reducer.give(data(memory_.part(member)) + at * element_, count);
    }
  }

  /// Elements of the `number`th of as many pieces as ranks; whole cache lines where there are enough.
  [[nodiscard]] std::pair<std::int64_t, std::int64_t> piece(int number) const {
    const std::int64_t line = std::max<std::int64_t>(1, 64 / element_);
    const std::int64_t lines = (elements_ + line - 1) / line;
    const auto border = [&](std::int64_t n) { return std::min(elements_, lines * n / size() * line); };
    return {border(number), border(number + 1)};
  }

  /// n - 1 steps in which each rank adds its left neighbour's piece to its own, then n - 1 that pass the sums on.
  void reduce_by_ring() const {
    const int n = size();
    if (n == 1) return;
    const WindowPart& left = memory_.part((own_.member + n - 1) % n);
    const WindowPart& right = memory_.part((own_.member + 1) % n);
    const std::uint32_t base = own_.state->ring_steps;
    own_.state->ring_steps += static_cast<std::uint32_t>(2 * (n - 1));
    LineReducer reducer(view_.dtype, operation(), block_bytes / element_);
    for (int step = 0; step < 2 * (n - 1); ++step) {
      const auto done = base + static_cast<std::uint32_t>(step);
      wait(WindowMemory::ring_cell, done);  // by the left neighbour
      const bool reduces = step < n - 1;
      if (!reduces) wait(WindowMemory::ring_cell + 1, done + 2 - static_cast<std::uint32_t>(n));
      const int shift = reduces ? step + 1 : step - (n - 1);
      const auto [begin, end] = piece(((own_.member - shift) % n + n) % n);
      for (std::int64_t at = begin; at < end; at += reducer.capacity()) {
        const std::int64_t count = std::min(reducer.capacity(), end - at);
        reducer.take(data(left) + at * element_, count, true);
        if (reduces) reducer.take(data(own_) + at * element_, count, false);
        reducer.give(data(own_) + at * element_, count);
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
      std::memcpy(data(peer) + own_.member * row() * element_, own, bytes(row()));
    }
  }

  void reduce_rows() const {
    std::vector<char> result(bytes(row()));
    LineReducer reducer(view_.dtype, operation(), block_bytes / element_);
    for (std::int64_t at = 0; at < row(); at += reducer.capacity()) {
      const std::int64_t count = std::min(reducer.capacity(), row() - at);
      for (int member = 0; member < size(); ++member)
        reducer.take(data(memory_.part(member)) + (own_.member * row() + at) * element_, count, member == 0);
      reducer.give(result.data() + at * element_, count);
    }
    meet();
    std::memcpy(data(own_) + own_.member * row() * element_, result.data(), result.size());
  }

  void exchange_rows() const {
    std::vector<char> result(bytes(elements_));
    for (int i = 0; i < size(); ++i) {
      const int member = (own_.member + i) % size();
      std::memcpy(result.data() + member * row() * element_,
                  data(memory_.part(member)) + own_.member * row() * element_, bytes(row()));
    }
    meet();
    std::memcpy(data(own_), result.data(), result.size());
  }

  const RemoteCall& call_;
  const ViewRef& view_;
  const WindowPart& own_;
  const WindowMemory& memory_;
  const std::int64_t offset_;
  const std::int64_t element_;
  std::int64_t elements_ = 1;
};

}  // namespace

void perform_collective(const RemoteCall& call) { Collective(call).run(); }

}  // namespace pl::detail
