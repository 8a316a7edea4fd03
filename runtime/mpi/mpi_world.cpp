#include "runtime/mpi/mpi_world.hpp"

#include "pl/error.hpp"
#include "runtime/error_text.hpp"
#include "runtime/mpi/clock_bounds.hpp"
#include "runtime/mpi/mpi_backing.hpp"
#include "runtime/mpi/mpi_library.hpp"
#include "runtime/program.hpp"
#include "runtime/windows/copy_region.hpp"

#include <pthread.h>
#include <sched.h>
#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <utility>

namespace pl::detail {
namespace {

using namespace std::chrono_literals;

// A partner that is at it answers within this many looks; ranks may share a core, so each gives it away.
constexpr int looks_before_sleep = 40;
constexpr auto first_sleep = 20us, longest_sleep_in_run = 1000us, longest_sleep = 8000us;
// Whoever has waited for so many sleeps, a fifth of a second, waits for something that takes long.
constexpr int sleeps_before_rest = 200;
constexpr auto rest_in_run = 4000us;

}  // namespace

MpiWorld& MpiWorld::open(std::size_t ranks) {
  // Never destroyed: its thread ends with the process.
  static MpiWorld* const world = new MpiWorld(mpi_library());
  if (!world->problem_.empty())
    throw ConfigError("RunConfig.distributed.transport = \"mpi\": MPI could not be started: " +
                      world->problem_);
  if (static_cast<std::size_t>(world->size()) != ranks)
    throw ConfigError("RunConfig.distributed.transport = \"mpi\": " + std::to_string(world->size()) +
                      (world->size() == 1 ? " process was" : " processes were") + " started and " +
                      std::to_string(ranks) + (ranks == 1 ? " device id is" : " device ids are") +
                      " given; each rank is one process: start it with mpirun -n " + std::to_string(ranks) +
                      ", or give " + std::to_string(world->size()) + " in distributed.device_ids");
  return *world;
}

MpiWorld::MpiWorld(const MpiCalls& calls) : calls_(calls) {
  std::atomic<bool> started{false};
  thread_ = std::thread([this, &started] {
    if (const char* why = calls_.start(&rank_, &size_)) problem_ = why;
    const bool works = problem_.empty();
    if (works && rank_ == 0)
      coordinator_ = std::make_unique<Coordinator>(
          size_, [this](int to, const std::string& message) { send(to, message); });
    started.store(true);
    started.notify_one();
    if (works) serve();
  });
  pthread_setname_np(thread_.native_handle(), "trilith-mpi");
  started.wait(false);
  if (!problem_.empty()) {
    thread_.join();
    return;
  }
  in_use_.store(this, std::memory_order_release);
  std::atexit([] { static_cast<MpiWorld*>(RemoteMemory::in_use())->leave(); });
}

void MpiWorld::leave() {
  post([this] {
    if (broken_)
      ending_ = true;
    else
      send(0, Writer(MessageKind::Leaving).bytes);
  });
  thread_.join();
}

void MpiWorld::serve() {
  int looks = 0, sleeps = 0;
  auto sleep = std::chrono::microseconds(first_sleep);
  while (!ending_) {
    busy_ = take_requests();
    if (!broken_) {
      try {
        look();
      } catch (...) {
        give_up(std::current_exception());
      }
    }
    if (busy_) {
      looks = sleeps = 0;
      sleep = first_sleep;
      continue;
    }
    if (++looks < looks_before_sleep) {
      sched_yield();
      continue;
    }
    const Lock lock(mutex_);
    if (!queue_.empty()) continue;
    wake_.wait_for(mutex_, sleep);
    auto longest = std::chrono::microseconds(longest_sleep);
    if (run_ != nullptr) longest = ++sleeps < sleeps_before_rest ? longest_sleep_in_run : rest_in_run;
    sleep = std::min(2 * sleep, longest);
  }
  // Otherwise the others cannot be told any more; mpirun ends them.
  if (!broken_) calls_.finish();
}

void MpiWorld::look() {
  busy_ |= take_messages();
  if (run_ != nullptr) busy_ |= run_->monitor().wake_satisfied();
  if (coordinator_) coordinator_->look_for_deadlock(Coordinator::Clock::now());
}

void MpiWorld::give_up(std::exception_ptr why) {
  broken_ = why;
  if (arrived_ != nullptr) finish(std::exchange(arrived_, nullptr)->request, why);
  for (const auto& [number, request] : std::exchange(asked_, {})) finish(*request, why);
  if (run_ != nullptr) run_->fail(why);
}

void MpiWorld::run_and_wait(Request& request) {
  {
    const Lock lock(mutex_);
    queue_.emplace_back(&request, nullptr);
  }
  wake_.notify_one();
  request.done.wait(0);
  if (request.error) std::rethrow_exception(request.error);
}

void MpiWorld::on_thread(std::function<void()> work) {
  Request request;
  request.work = std::move(work);
  run_and_wait(request);
}

void MpiWorld::post(std::function<void()> work) {
  {
    const Lock lock(mutex_);
    queue_.emplace_back(nullptr, std::move(work));
  }
  wake_.notify_one();
}

void MpiWorld::finish(Request& request, std::exception_ptr error) {
  request.error = std::move(error);
  request.done.store(1);
  request.done.notify_one();
}

bool MpiWorld::take_requests() {
  std::deque<std::pair<Request*, std::function<void()>>> taken;
  {
    const Lock lock(mutex_);
    taken.swap(queue_);
  }
  for (auto& [request, work] : taken) {
    std::exception_ptr error = request != nullptr ? broken_ : nullptr;
    try {
      if (request == nullptr)
        work();
      else if (!error)
        request->work();
    } catch (...) {
      error = std::current_exception();
    }
    if (request == nullptr) {
      if (error && !broken_) give_up(std::move(error));
      continue;
    }
    if (error || !request->keep) finish(*request, std::move(error));
  }
  return !taken.empty();
}

bool MpiWorld::take_messages() {
  bool any = false;
  for (;;) {
    while (!to_self_.empty()) {
      const std::string message = std::move(to_self_.front());
      to_self_.pop_front();
      handle(rank_, message);
      any = true;
    }
    int from = 0;
    const std::int64_t bytes = calls_.probe(&from);
    if (bytes < 0) return any;
    std::string message(static_cast<std::size_t>(bytes), '\0');
    require(calls_.receive(from, message.data(), bytes));
    handle(from, message);
    any = true;
  }
}

void MpiWorld::send(int to, const std::string& message) {
  if (to == rank_)
    to_self_.push_back(message);
  else
    require(calls_.send(to, message.data(), static_cast<std::int64_t>(message.size())));
}

void MpiWorld::require(const char* problem) const {
  if (problem != nullptr) throw CommError("MPI on rank " + std::to_string(rank_) + ": " + problem);
}

void MpiWorld::handle(int from, std::string_view bytes) {
  Reader message(bytes);
  const auto kind = message.get<MessageKind>();
  switch (kind) {
    case MessageKind::Release: {
      if (arrived_ == nullptr) return;
      Arrived& arrived = *std::exchange(arrived_, nullptr);
      const auto meeting = message.get<Meeting>();
      message >> arrived.met.payloads >> arrived.met.failed_rank >> arrived.met.failure;
      if (meeting == Meeting::End) run_ = nullptr;
      finish(arrived.request);
      return;
    }
    case MessageKind::Refuse:
      if (arrived_ != nullptr)
        finish(std::exchange(arrived_, nullptr)->request,
               std::make_exception_ptr(CommError(message.get<std::string>())));
      return;
    case MessageKind::Abandon:
      if (arrived_ != nullptr)
        finish(std::exchange(arrived_, nullptr)->request, std::make_exception_ptr(Stopped{}));
      return;
    case MessageKind::Fail:
      failure_is_known_ = true;
      if (run_ != nullptr) run_->fail(decode_exception(message.rest()));
      return;
    case MessageKind::Query: {
      Writer answer(MessageKind::State);
      answer << message.get<std::uint32_t>();
      write(answer, state());
      send(0, answer.bytes);
      return;
    }
    case MessageKind::ClockAsk:
      send(from, (Writer(MessageKind::ClockTold) << message.get<std::uint64_t>() << Clock::now()).bytes);
      return;
    case MessageKind::ClockTold: {
      const auto number = message.get<std::uint64_t>();
      answer(number, (Writer(message.get<Clock::time_point>()) << Clock::now()).bytes);
      return;
    }
    case MessageKind::Trace:
      if (run_ != nullptr && run_->trace() != nullptr) {
        const auto piece = message.get<TracePiece>();
        run_->trace()->take(piece, message.rest());
      }
      return;
    case MessageKind::Goodbye: ending_ = true; return;
    case MessageKind::Add: apply_add(from, message); return;
    case MessageKind::Added: answer(message.get<std::uint64_t>(), {}); return;
    default: coordinator_->handle(from, kind, message); return;
  }
}

std::uint64_t MpiWorld::expect_answer(Request& request) {
  asked_[next_question_] = &request;
  return next_question_++;
}

void MpiWorld::answer(std::uint64_t question, std::string text) {
  const auto found = asked_.find(question);
  if (found == asked_.end()) return;
  Request* const request = found->second;
  asked_.erase(found);
  request->answer = std::move(text);
  finish(*request);
}

MpiWorld::Met MpiWorld::meet(Meeting meeting, const std::string& what, const std::string& key,
                             const std::string& payload) {
  Arrived arrived;
  arrived.request.keep = true;
  arrived.request.work = [&] {
    // Whoever comes behind the meeting sees what was put before it.
    flush_all();
    arrived_ = &arrived;
    send(0, (Writer(MessageKind::Arrive) << meeting << what << key << payload).bytes);
  };
  run_and_wait(arrived.request);
  return std::move(arrived.met);
}

std::unique_lock<std::mutex> MpiWorld::turn(const std::string& what) {
  if (alone_)
    throw LevelError(
        what +
        " was called in a host callback, which runs on rank 0 alone where the transport is \"mpi\"; "
        "call it behind the program that calls back");
  return std::unique_lock(turn_);
}

MpiWorld::Met MpiWorld::begin(ProgramRun& run, const std::string& what, const std::string& key,
                              const std::string& payload) {
  // Known before the others may begin: they can fail at once.
  on_thread([&] {
    run_ = &run;
    failure_is_known_ = false;
  });
  try {
    return meet(Meeting::Begin, what, key, payload);
  } catch (...) {
    forget_run();
    throw;
  }
}

void MpiWorld::forget_run() {
  on_thread([this] { run_ = nullptr; });
}

void MpiWorld::tell_failure(std::string failure) {
  post([this, failure = std::move(failure)] {
    // A failure that came from there is not told back: it could arrive in the next run.
    if (std::exchange(failure_is_known_, true) || run_ == nullptr || broken_) return;
    Writer message(MessageKind::Failed);
    message.bytes += failure;
    send(0, message.bytes);
  });
}

Clock::duration MpiWorld::clock_of_first_rank() {
  ClockBounds bounds;
  // The shortest of some ways there and back tells most.
  constexpr int ways = 8;
  for (int i = 0; i < ways; ++i) {
    Request request;
    request.keep = true;
    Clock::time_point asked;
    request.work = [&] {
      asked = Clock::now();
      send(0, (Writer(MessageKind::ClockAsk) << expect_answer(request)).bytes);
    };
    run_and_wait(request);
    Reader answer(request.answer);
    const auto told = answer.get<Clock::time_point>();
    bounds.add(asked, told, answer.get<Clock::time_point>());
  }
  return bounds.ahead();
}

void MpiWorld::send_trace(TracePiece piece, std::string_view text) {
  Writer message(MessageKind::Trace);
  message << piece;
  message.bytes += text;
  post([this, bytes = std::move(message.bytes)] {
    if (!broken_) send(0, bytes);
  });
}

std::vector<std::string> MpiWorld::exchange(const std::string& own) {
  std::vector<std::string> result(static_cast<std::size_t>(size_));
  on_thread([&] {
    for (int root = 0; root < size_; ++root) {
      std::string& bytes = result[static_cast<std::size_t>(root)];
      std::uint64_t length = own.size();
      require(calls_.broadcast(root, &length, sizeof length));
      if (root == rank_)
        bytes = own;
      else
        bytes.resize(static_cast<std::size_t>(length));
      require(calls_.broadcast(root, bytes.data(), static_cast<std::int64_t>(length)));
    }
  });
  return result;
}

void MpiWorld::broadcast(int root, void* data, std::int64_t bytes) {
  on_thread([&] { require(calls_.broadcast(root, data, bytes)); });
}

char* MpiWorld::allocate(std::int64_t bytes) {
  {
    const Lock lock(pool_mutex_);
    if (char* memory = pool_.allocate(bytes)) return memory;
  }
  std::int64_t length = 0;
  {
    const Lock lock(pool_mutex_);
    length = pool_.next_piece(bytes);
  }
  void* const base = mmap(nullptr, static_cast<std::size_t>(length), PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (base == MAP_FAILED) return nullptr;
  try {
    (void)meet(Meeting::Window, "allocates a window of " + std::to_string(bytes) + " bytes",
               std::to_string(length));
  } catch (...) {
    munmap(base, static_cast<std::size_t>(length));
    throw;
  }
  on_thread([&] {
    if (size_ > 1) require(calls_.create_window(base, length));
    unflushed_.emplace_back(static_cast<std::size_t>(size_), false);
  });
  const Lock lock(pool_mutex_);
  pool_.add_piece(static_cast<char*>(base), length);
  return pool_.allocate(bytes);
}

void MpiWorld::free(char* memory) {
  const Lock lock(pool_mutex_);
  pool_.free(memory);
}

void MpiWorld::add(MpiBacking& backing) {
  const Lock lock(pool_mutex_);
  backings_.push_back(&backing);
}

void MpiWorld::remove(MpiBacking& backing) {
  const Lock lock(pool_mutex_);
  std::erase(backings_, &backing);
}

WindowPool::Place MpiWorld::place_of(const void* address) {
  const Lock lock(pool_mutex_);
  const auto place = pool_.place_of(static_cast<const char*>(address));
  if (!place) throw InternalError("an address outside of all windows was given to MPI");
  return *place;
}

namespace {

MpiRegion region_of(const RemoteRegion& region, std::int64_t displacement) {
  return {displacement, static_cast<int>(region.shape.size()), region.shape.data(), region.strides.data(),
          static_cast<std::int64_t>(trilith::codegen::size_of(region.dtype))};
}

}  // namespace

void MpiWorld::get(int rank, const RemoteRegion& from, void* dense) {
  const WindowPool::Place place = place_of(from.data);
  on_thread([&] {
    auto unflushed = unflushed_[static_cast<std::size_t>(place.window)][static_cast<std::size_t>(rank)];
    if (unflushed) require(calls_.flush(place.window, rank));
    unflushed = false;
    const MpiRegion region = region_of(from, place.displacement);
    require(calls_.get(place.window, rank, &region, dense));
  });
}

void MpiWorld::put(int rank, const RemoteRegion& to, const void* dense) {
  const WindowPool::Place place = place_of(to.data);
  on_thread([&] {
    unflushed_[static_cast<std::size_t>(place.window)][static_cast<std::size_t>(rank)] = true;
    any_unflushed_.store(true, std::memory_order_release);
    const MpiRegion region = region_of(to, place.displacement);
    require(calls_.put(place.window, rank, &region, dense));
  });
}

std::int32_t MpiWorld::signal(int rank, const std::int32_t* cell, std::int32_t value, bool add) {
  const WindowPool::Place place = place_of(cell);
  std::int32_t before = 0;
  on_thread([&] {
    // Of every piece: the data may lie in another window than the cell.
    for (std::size_t window = 0; window < unflushed_.size(); ++window) {
      auto unflushed = unflushed_[window][static_cast<std::size_t>(rank)];
      if (unflushed) require(calls_.flush(static_cast<int>(window), rank));
      unflushed = false;
    }
    require(calls_.signal(place.window, rank, place.displacement, value, add, &before));
  });
  return before;
}

void MpiWorld::fence() {
  if (!any_unflushed_.load(std::memory_order_acquire)) return;
  on_thread([this] { flush_all(); });
}

void MpiWorld::flush_all() {
  any_unflushed_.store(false, std::memory_order_release);
  for (std::size_t window = 0; window < unflushed_.size(); ++window)
    for (int rank = 0; rank < size_; ++rank) {
      auto unflushed = unflushed_[window][static_cast<std::size_t>(rank)];
      if (unflushed) require(calls_.flush(static_cast<int>(window), rank));
      unflushed = false;
    }
}

void MpiWorld::add(int rank, const RemoteRegion& to, const void* dense) {
  const WindowPool::Place place = place_of(to.data);
  std::int64_t bytes = static_cast<std::int64_t>(trilith::codegen::size_of(to.dtype));
  for (const std::int64_t extent : to.shape) bytes *= extent;
  Request request;
  request.keep = true;
  request.work = [&] {
    Writer message(MessageKind::Add);
    message << expect_answer(request) << place << to.dtype
            << std::vector<std::int64_t>(to.shape.begin(), to.shape.end())
            << std::vector<std::int64_t>(to.strides.begin(), to.strides.end());
    message.bytes.append(static_cast<const char*>(dense), static_cast<std::size_t>(bytes));
    send(rank, message.bytes);
  };
  run_and_wait(request);
}

void MpiWorld::apply_add(int from, Reader& message) {
  const auto number = message.get<std::uint64_t>();
  const auto place = message.get<WindowPool::Place>();
  const auto dtype = message.get<trilith::codegen::DType>();
  std::vector<std::int64_t> shape, strides;
  message >> shape >> strides;
  char* to = nullptr;
  {
    const Lock lock(pool_mutex_);
    to = pool_.address_of(place);
  }
  // Aligned for its elements, which bytes of a message need not be.
  const std::string_view rest = message.rest();
  std::vector<std::uint64_t> dense(rest.size() / sizeof(std::uint64_t) + 1);
  std::memcpy(dense.data(), rest.data(), rest.size());
  add_region(to, strides, reinterpret_cast<const char*>(dense.data()), shape, dtype, {});
  send(from, (Writer(MessageKind::Added) << number).bytes);
}

RemoteState MpiWorld::state() {
  RemoteState result;
  if (run_ == nullptr) return result;
  const auto number_of = [](const WindowPool::Place& place) {
    return static_cast<std::uint64_t>(place.window) << 48 | static_cast<std::uint64_t>(place.displacement);
  };
  const std::optional<WaitMonitor::Idle> idle = run_->monitor().idle(rank_);
  result.finished = run_->finished(rank_);
  result.idle = idle.has_value();
  if (!idle) return result;
  result.numbers = idle->numbers;
  for (const CellWait& wait : idle->waits) {
    RemoteWait& told = result.waits.emplace_back();
    told.report = report_of(wait);
    told.report.writer = -1;
    const WindowMemory& memory = *wait.part->memory;
    told.part = number_of(place_of(wait.part->base));
    told.member = wait.part->member;
    for (int member = 0; member < memory.size(); ++member) told.ranks.push_back(memory.part(member).rank);
  }
  const Lock lock(pool_mutex_);
  for (MpiBacking* const backing : backings_)
    for (std::size_t member = 0; member < backing->size(); ++member)
      for (const LastWriter& last : backing->state(member)->last_writers) {
        if (last.cell.load() < 0) continue;
        result.writers.push_back({number_of(*pool_.place_of(backing->part(0))), static_cast<int>(member),
                                  last.cell.load(), last.time.load(), last.rank.load(),
                                  Location{last.file.load(), last.line.load(), 0}});
      }
  return result;
}

}  // namespace pl::detail
