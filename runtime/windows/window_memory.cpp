#include "runtime/windows/window_memory.hpp"

#include "pl/detail/location.hpp"
#include "runtime/kept_for_runs.hpp"
#include "runtime/program.hpp"
#include "runtime/rank_runner.hpp"
#include "runtime/recorder.hpp"
#include "runtime/shared_memory.hpp"
#include "runtime/thread_state.hpp"
#include "runtime/windows/call_note.hpp"
#include "runtime/windows/device_cells.hpp"
#include "runtime/windows/meeting.hpp"
#include "runtime/windows/remote_memory.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <deque>
#include <limits>
#include <new>
#include <numeric>

namespace pl::detail {
namespace {

constexpr std::int64_t line = 64;

std::int64_t round_up(std::int64_t bytes) { return (bytes + line - 1) / line * line; }

[[noreturn]] void throw_no_memory(std::int64_t bytes, std::size_t ranks, const Location& where) {
  throw Error("no memory for a window of " + std::to_string(bytes) + " bytes on each of " +
                  std::to_string(ranks) + " ranks: " + std::strerror(errno) + "; use a smaller one",
              where);
}

/// Parts, states and meeting places in one shared mapping, without physical pages until they are touched.
class SharedMapping final : public WindowBacking {
 public:
  SharedMapping(SharedPages pages, std::size_t part_bytes, std::size_t ranks)
      : pages_(std::move(pages)),
        part_bytes_(part_bytes),
        states_(pages_.data() + part_bytes * ranks),
        meetings_(meeting_bytes(ranks) == 0 ? nullptr : states_ + state_bytes * ranks) {
    for (std::size_t i = 0; i < ranks; ++i) new (states_ + i * state_bytes) WindowPart::State;
  }
  char* part(std::size_t member) override { return pages_.data() + member * part_bytes_; }
  WindowPart::State* state(std::size_t member) override {
    return std::launder(reinterpret_cast<WindowPart::State*>(states_ + member * state_bytes));
  }
  MeetingPlace* meeting(std::size_t member) override {
    if (meetings_ == nullptr) return nullptr;
    // Zero is what it begins with; a constructor would touch its pages.
    return std::launder(reinterpret_cast<MeetingPlace*>(meetings_ + member * sizeof(MeetingPlace)));
  }
  [[nodiscard]] static std::size_t bytes(std::size_t part_bytes, std::size_t ranks) {
    return (part_bytes + state_bytes + meeting_bytes(ranks)) * ranks;
  }

 private:
  static constexpr std::size_t state_bytes = sizeof(WindowPart::State);
  [[nodiscard]] static std::size_t meeting_bytes(std::size_t ranks) {
    return ranks > 1 && ranks <= MeetingPlace::most_ranks ? sizeof(MeetingPlace) : 0;
  }
  const SharedPages pages_;
  const std::size_t part_bytes_;
  char* const states_;
  char* const meetings_;
};

}  // namespace

std::unique_ptr<WindowBacking> map_window(std::size_t part_bytes, std::size_t ranks) {
  SharedPages pages(SharedMapping::bytes(part_bytes, ranks));
  if (pages.data() == nullptr) return nullptr;
  return std::make_unique<SharedMapping>(std::move(pages), part_bytes, ranks);
}

WindowMemory::WindowMemory(int number, std::int64_t bytes_, std::int64_t elements_, std::vector<int> ranks,
                           std::shared_ptr<WaitMonitor> monitor, RankRunner* runner,
                           const std::source_location& where)
    : bytes(bytes_),
      elements(elements_),
      number_(number),
      where_(location_of(where)),
      monitor_(std::move(monitor)) {
  const bool far = runner != nullptr && runner->ranks_are_far();
  const std::int64_t cells =
      device_cells_offset + (far ? call_notes_bytes : line * static_cast<std::int64_t>(ranks.size()));
  std::int64_t part = 0, total = 0;
  if (__builtin_add_overflow(bytes, line + cells, &part) ||
      __builtin_mul_overflow(round_up(part), static_cast<std::int64_t>(ranks.size()), &total)) {
    errno = ENOMEM;
    throw_no_memory(bytes, ranks.size(), where_);
  }
  const auto part_bytes = static_cast<std::size_t>(round_up(part));
  backing_ = runner != nullptr ? runner->back_window(part_bytes, ranks.size())
                               : map_window(part_bytes, ranks.size());
  if (backing_ == nullptr) throw_no_memory(bytes, ranks.size(), where_);
  remote_ = backing_->remote();
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    char* base = backing_->part(i);
    parts_.push_back({this, static_cast<int>(i), ranks[i], base,
                      reinterpret_cast<std::int32_t*>(base + round_up(bytes)), backing_->state(i),
                      remote_ != nullptr && ranks[i] != remote_->own_rank() ? remote_ : nullptr,
                      backing_->meeting(i)});
  }
  host_ = {this, -1, -1, parts_.front().base, nullptr, nullptr};
}

WindowMemory::~WindowMemory() { release(); }

void WindowMemory::release() { backing_.reset(); }

void WindowMemory::throw_released(const char* what, const Location& where) const {
  throw CommError(
      std::string(what) + " on a pld::DistributedTensor that was kept too long: " + title() +
          " was released when the run of its orchestrator ended, and a peer may still have used it; "
          "windows live for one run: make them in each with pld::alloc_window_buffer",
      where);
}

void WindowMemory::renew(std::shared_ptr<WaitMonitor> monitor, bool zero) {
  monitor_ = std::move(monitor);
  // A run that failed may have left signals there.
  for (const WindowPart& part : parts_) {
    if (char* const cells = device_cells(part); cells != nullptr)
      std::memset(cells, 0, static_cast<std::size_t>(line) * parts_.size());
    if (part.state != nullptr) part.state->device_collectives = part.state->device_steps = 0;
  }
  if (!zero) return;
  for (const WindowPart& part : parts_)
    if (part.far == nullptr) std::memset(part.base, 0, static_cast<std::size_t>(bytes));
}

const WindowPart* WindowMemory::part_of_rank(int rank) const {
  for (const WindowPart& part : parts_)
    if (part.rank == rank) return &part;
  return nullptr;
}

std::string WindowMemory::title() const {
  return "window " + std::to_string(number_) + " (" + std::to_string(bytes) + " bytes a rank, allocated at " +
         where_.str() + ")";
}

namespace {

// Views know their window by address: of the last ones it is still told that they are gone, and no new one takes
// their place.
constexpr std::size_t most_retired = 256;

void retire(std::shared_ptr<WindowMemory> window) {
  struct Retired {
    Mutex mutex;
    std::deque<std::shared_ptr<WindowMemory>> windows TRILITH_GUARDED_BY(mutex);
  };
  static Retired* const retired = new Retired;
  const Lock lock(retired->mutex);
  retired->windows.push_back(std::move(window));
  if (retired->windows.size() > most_retired) retired->windows.pop_front();
}

}  // namespace

void release_windows(std::vector<std::shared_ptr<WindowMemory>>& windows) {
  for (std::shared_ptr<WindowMemory>& window : windows) {
    window->release();
    retire(std::move(window));
  }
  windows.clear();
}

void Windows::release() {
  if (kept_ == nullptr || !kept_->persistent) release_windows(windows_);
}

std::shared_ptr<WindowMemory> Windows::make(std::int64_t bytes, std::int64_t elements,
                                            const std::source_location& where) {
  const std::size_t number = windows_.size();
  const bool persistent = kept_ != nullptr && kept_->persistent;
  if (persistent && number < kept_->windows.size()) {
    const std::shared_ptr<WindowMemory>& window = kept_->windows[number];
    if (window->bytes != bytes)
      throw PlanError("a persistent window was allocated with " + std::to_string(bytes) +
                          " bytes a rank; in the worker's call before it was " + window->title() +
                          ": allocate the same windows in every call, or prepare without .persistent",
                      location_of(where));
    window->renew(monitor_, kept_->zero_windows);
    if (kept_->zero_windows && runner_ != nullptr) runner_->window_was_cleared();
    windows_.push_back(window);
    used_.emplace_back();
    return window;
  }
  std::vector<int> ranks;
  if (number < domains_.size()) ranks = domains_[number];
  if (ranks.empty()) {
    ranks.resize(static_cast<std::size_t>(world_size_));
    std::iota(ranks.begin(), ranks.end(), 0);
  }
  windows_.push_back(std::make_shared<WindowMemory>(static_cast<int>(number), bytes, elements,
                                                    std::move(ranks), monitor_, runner_, where));
  used_.emplace_back();
  if (persistent) kept_->windows.push_back(windows_.back());
  return windows_.back();
}

void Windows::note_use(const WindowMemory& window, int rank) {
  for (std::size_t i = 0; i < windows_.size(); ++i)
    if (windows_[i].get() == &window && std::find(used_[i].begin(), used_[i].end(), rank) == used_[i].end())
      used_[i].push_back(rank);
}

std::vector<int> Windows::ranks_of(const WindowMemory& window) const {
  std::vector<int> ranks;
  for (std::size_t i = 0; i < windows_.size(); ++i)
    if (windows_[i].get() == &window) ranks = used_[i];
  std::sort(ranks.begin(), ranks.end());
  return ranks;
}

std::vector<std::vector<int>> Windows::used() const {
  std::vector<std::vector<int>> result = used_;
  for (std::vector<int>& ranks : result) std::sort(ranks.begin(), ranks.end());
  return result;
}

ViewRef on_rank(const ViewRef& view, int rank, const std::source_location& where) {
  const WindowPart* part = view.window;
  if (part == nullptr)
    throw PlanError(
        "a dispatch was given a pld::DistributedTensor without a window; make one with "
        "pld::window<T>(buffer, {…})",
        location_of(where));
  const WindowMemory& memory = *part->memory;
  memory.require_alive("a dispatch", location_of(where));
  if (part->member >= 0) return view;
  if (const ThreadState& thread = thread_state(); thread.recorder != nullptr)
    thread.recorder->windows.note_use(memory, rank);
  const WindowPart* own = memory.part_of_rank(rank);
  if (own == nullptr)
    throw PlanError(memory.title() + " is not shared by rank " + std::to_string(rank) +
                        ": when the program was compiled it was not dispatched there; dispatch it to the "
                        "same ranks in every run",
                    location_of(where));
  ViewRef result = view;
  result.data = own->base + (static_cast<char*>(view.data) - part->base);
  result.window = own;
  return result;
}

std::shared_ptr<WindowMemory> make_window(std::int64_t bytes, std::int64_t elements,
                                          const std::source_location& where) {
  const ThreadState& thread = thread_state();
  if (thread.level != Level::Host)
    throw LevelError(
        "pld::alloc_window_buffer was called outside a host orchestrator; allocate windows in "
        "pl::jit.host, before the loop over ranks, and pass them to the dispatches",
        location_of(where));
  if (bytes < 0)
    throw ShapeError("a window buffer of " + std::to_string(bytes) + " bytes; its size is 0 or more",
                     location_of(where));
  Windows& windows = thread.recorder != nullptr ? thread.recorder->windows : thread.run->windows();
  auto window = windows.make(bytes, elements, where);
  if (thread.recorder == nullptr && thread.run->checker() != nullptr) thread.run->checker()->add(*window);
  return window;
}

ViewRef whole_window(const std::shared_ptr<WindowMemory>& memory, DType dtype,
                     std::span<const std::int64_t> extents, std::span<const std::int64_t> strides,
                     const std::source_location& where) {
  memory->require_alive("pld::window", location_of(where));
  const ViewRef view{
      dtype,          false,          static_cast<int>(extents.size()), memory->host().base, extents.data(),
      strides.data(), &memory->host()};
  std::int64_t elements = 1;
  for (const std::int64_t extent : extents) elements *= extent;
  const auto size = static_cast<std::int64_t>(trilith::codegen::size_of(dtype));
  if (elements * size <= memory->bytes) return view;
  std::string text = "pld::window: " + describe(view) + " needs " + std::to_string(elements * size) +
                     " bytes and the buffer has " + std::to_string(memory->bytes);
  if (memory->elements < 0 && memory->bytes == elements)
    text +=
        ", which is its number of elements: pld::alloc_window_buffer(bytes) counts bytes; write "
        "pld::alloc_window_buffer<T>({…}) to count elements";
  else
    text += "; allocate more, or view less of it";
  throw ShapeError(text, location_of(where));
}

}  // namespace pl::detail
