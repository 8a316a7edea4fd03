#include "pl/detail/graph_cache.hpp"

#include "pl/error.hpp"
#include "runtime/context_state.hpp"
#include "runtime/pointer_map.hpp"
#include "runtime/task_graph.hpp"

#include <sys/mman.h>

#include <numeric>
#include <utility>

namespace pl::detail {
namespace {

using Range = std::pair<const char*, const char*>;

bool meet(const Range& a, const Range& b) { return a.first < b.second && b.first < a.second; }

/// Addresses that belong to nothing else while it lives: what is recorded on them cannot be mistaken for
/// memory that the orchestration names by itself.
class Reservation {
 public:
  explicit Reservation(std::size_t bytes) : bytes_(bytes + 4096) {
    memory_ =
        mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory_ == MAP_FAILED)
      throw Error("pl::Graph: no addresses for " + std::to_string(bytes_) + " bytes of arguments");
  }
  Reservation(Reservation&& other) noexcept
      : memory_(std::exchange(other.memory_, nullptr)), bytes_(other.bytes_) {}
  Reservation& operator=(Reservation&&) = delete;
  ~Reservation() {
    if (memory_ != nullptr) munmap(memory_, bytes_);
  }
  [[nodiscard]] char* begin() const { return static_cast<char*>(memory_); }

 private:
  void* memory_;
  std::size_t bytes_;
};

/// The tensor arguments' memory: those that meet are one group, so that a recording keeps how they meet.
struct Groups {
  Groups(std::span<const ParameterInfo> parameters, const Argument* arguments) {
    for (std::size_t i = 0; i < parameters.size(); ++i) {
      group.push_back(static_cast<int>(ranges.size()));
      if (!parameters[i].tensor) continue;
      const Measured measured = measure(arguments[i].view);
      Range range{measured.begin, measured.end};
      // Every group that it meets becomes part of its own.
      for (std::size_t other = 0; other < ranges.size(); ++other) {
        if (!meet(range, ranges[other])) continue;
        range = {std::min(range.first, ranges[other].first), std::max(range.second, ranges[other].second)};
        ranges[other] = {nullptr, nullptr};
        for (int& number : group)
          if (number == static_cast<int>(other)) number = static_cast<int>(ranges.size());
      }
      ranges.push_back(range);
    }
  }
  std::vector<int> group;     ///< of each tensor argument
  std::vector<Range> ranges;  ///< empty ones: nobody's
};

}  // namespace

class GraphCache {
 public:
  void run(std::span<const ParameterInfo> parameters, const Argument* arguments,
           const std::function<void(const Argument*)>& body) {
    ThreadState& thread = thread_state();
    ContextState& context = current_context(thread);
    if (thread.recorder != nullptr || context.eager()) return body(arguments);
    const Groups groups(parameters, arguments);
    const std::shared_ptr<const Recording> recording =
        find(thread, context, parameters, arguments, groups, body);
    if (!recording || !recording->replayable) return body(arguments);
    // Edges to memory that the orchestration names by itself were not recorded.
    for (const Range& own : recording->foreign)
      for (const Range& argument : groups.ranges)
        if (meet(own, argument)) return body(arguments);
    PointerMap map;
    for (std::size_t i = 0; i < groups.ranges.size(); ++i)
      if (recording->groups[i].first != nullptr)
        map.add(recording->groups[i].first, recording->groups[i].second, groups.ranges[i].first);
    for (const Range& buffer : recording->buffers)
      map.add(buffer.first, buffer.second,
              thread.tasks->allocate(static_cast<std::size_t>(buffer.second - buffer.first)));
    thread.tasks->replay(recording->steps, map);
    const Lock lock(mutex_);
    ++counts_.replays;
  }
  [[nodiscard]] GraphCounts counts() const {
    const Lock lock(mutex_);
    return counts_;
  }

 private:
  struct Recording {
    std::vector<std::uint64_t> key;
    RecordedSteps steps;
    std::vector<Range> groups;   ///< where the arguments lay while it was recorded
    std::vector<Range> buffers;  ///< and what pl::create_tensor gave
    std::vector<Range> foreign;  ///< memory that is neither, as it is
    bool replayable = true;      ///< the lambda freed no memory that its tasks may name
  };

  static std::vector<std::uint64_t> key_of(const ContextState& context,
                                           std::span<const ParameterInfo> parameters,
                                           const Argument* arguments, const Groups& groups) {
    std::vector<std::uint64_t> key{context.id};
    for (std::size_t i = 0; i < parameters.size(); ++i) {
      if (!parameters[i].tensor) {
        key.push_back(arguments[i].scalar);
        continue;
      }
      const ViewRef& view = arguments[i].view;
      const Range& range = groups.ranges[static_cast<std::size_t>(groups.group[i])];
      key.push_back(static_cast<std::uint64_t>(view.dtype) | static_cast<std::uint64_t>(view.rank) << 8 |
                    static_cast<std::uint64_t>(view.read_only.read_only) << 16 |
                    static_cast<std::uint64_t>(view.read_only.untracked) << 17);
      key.push_back(static_cast<std::uint64_t>(groups.group[i]));
      key.push_back(static_cast<std::uint64_t>(static_cast<const char*>(view.data) - range.first));
      for (int axis = 0; axis < view.rank; ++axis) {
        key.push_back(static_cast<std::uint64_t>(view.extents[axis]));
        key.push_back(static_cast<std::uint64_t>(view.strides[axis]));
      }
    }
    return key;
  }

  std::shared_ptr<const Recording> find(ThreadState& thread, ContextState& context,
                                        std::span<const ParameterInfo> parameters, const Argument* arguments,
                                        const Groups& groups,
                                        const std::function<void(const Argument*)>& body) {
    std::vector<std::uint64_t> key = key_of(context, parameters, arguments, groups);
    // Held while the lambda is recorded: another thread with these arguments waits and replays.
    const Lock recording_lock(recording_mutex_);
    {
      const Lock lock(mutex_);
      for (const auto& recording : recordings_)
        if (recording->key == key) return recording;
      constexpr std::size_t most = 64;
      if (recordings_.size() >= most) return nullptr;
    }
    auto fresh = std::make_shared<Recording>();
    fresh->key = std::move(key);
    std::vector<Reservation> reservations;
    for (const Range& range : groups.ranges) {
      const auto bytes = static_cast<std::size_t>(range.second - range.first);
      reservations.emplace_back(bytes);
      fresh->groups.emplace_back(reservations.back().begin(), reservations.back().begin() + bytes);
    }
    std::vector<Argument> moved(arguments, arguments + parameters.size());
    for (std::size_t i = 0; i < parameters.size(); ++i) {
      if (!parameters[i].tensor) continue;
      const auto group = static_cast<std::size_t>(groups.group[i]);
      moved[i].view.data = reservations[group].begin() +
                           (static_cast<const char*>(arguments[i].view.data) - groups.ranges[group].first);
    }
    record(thread, *fresh, moved.data(), body);
    const Lock lock(mutex_);
    ++counts_.recordings;
    recordings_.push_back(fresh);
    return fresh;
  }

  static void record(ThreadState& thread, Recording& into, const Argument* arguments,
                     const std::function<void(const Argument*)>& body) {
    const auto recorder = std::make_shared<TaskGraph>(TaskGraph::Settings{});
    recorder->record_into(&into.steps);
    struct Restore {
      TaskGraph* before;
      ~Restore() { thread_state().tasks = before; }
    } const restore{thread.tasks};
    thread.tasks = recorder.get();
    body(arguments);
    into.replayable = !recorder->names_freed_memory();
    for (const TaskGraph::Buffer& buffer : recorder->buffers()) {
      const char* const begin = static_cast<const char*>(buffer.data);
      into.buffers.emplace_back(begin, begin + buffer.bytes);
    }
    std::vector<Range> all;
    for (const RecordedStep& step : into.steps) step.work->add_memory(all);
    for (const Range& range : all) {
      const auto inside = [&](const Range& known) {
        return range.first >= known.first && range.second <= known.second;
      };
      if (range.first != range.second && std::none_of(into.groups.begin(), into.groups.end(), inside) &&
          std::none_of(into.buffers.begin(), into.buffers.end(), inside))
        into.foreign.push_back(range);
    }
  }

  Mutex recording_mutex_;
  mutable Mutex mutex_;
  std::vector<std::shared_ptr<const Recording>> recordings_ TRILITH_GUARDED_BY(mutex_);
  GraphCounts counts_ TRILITH_GUARDED_BY(mutex_);
};

std::shared_ptr<GraphCache> make_graph_cache() { return std::make_shared<GraphCache>(); }
GraphCounts counts_of(const GraphCache& cache) { return cache.counts(); }

void run_graph(GraphCache& cache, std::span<const ParameterInfo> parameters, const Argument* arguments,
               const std::function<void(const Argument*)>& body) {
  cache.run(parameters, arguments, body);
}

}  // namespace pl::detail
