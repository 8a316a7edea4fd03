#include "runtime/mpi/coordinator.hpp"

#include "runtime/error_text.hpp"
#include "runtime/windows/wait_group.hpp"

#include <algorithm>
#include <utility>

namespace pl::detail {
namespace {

// A deadlock is told within three seconds; asking a rank that works costs it some microseconds.
constexpr std::chrono::milliseconds first_pause{100}, longest_pause{400};

void write(Writer& to, const Location& place) { to << place.file << place.line << place.column; }
void read(Reader& from, Location& place) { from >> place.file >> place.line >> place.column; }

bool lies_in_run(Meeting meeting) { return meeting != Meeting::Compile && meeting != Meeting::Begin; }

}  // namespace

void write(Writer& to, const RemoteState& state) {
  to << state.idle << state.finished << state.numbers << static_cast<std::uint64_t>(state.waits.size());
  for (const RemoteWait& wait : state.waits) {
    const WaitReport& report = wait.report;
    to << report.rank << report.what << report.window << report.index << report.expected << report.at_least
       << report.seen << report.call << report.call_window << report.call_number << wait.part << wait.member
       << wait.ranks;
    write(to, report.where);
  }
  to << static_cast<std::uint64_t>(state.writers.size());
  for (const RemoteWriter& writer : state.writers) {
    to << writer.part << writer.member << writer.index << writer.time << writer.rank;
    write(to, writer.where);
  }
}

RemoteState read_state(Reader& from) {
  RemoteState state;
  from >> state.idle >> state.finished >> state.numbers;
  state.waits.resize(from.get<std::uint64_t>());
  for (RemoteWait& wait : state.waits) {
    WaitReport& report = wait.report;
    from >> report.rank >> report.what >> report.window >> report.index >> report.expected >>
        report.at_least >> report.seen >> report.call >> report.call_window >> report.call_number >>
        wait.part >> wait.member >> wait.ranks;
    read(from, report.where);
  }
  state.writers.resize(from.get<std::uint64_t>());
  for (RemoteWriter& writer : state.writers) {
    from >> writer.part >> writer.member >> writer.index >> writer.time >> writer.rank;
    read(from, writer.where);
  }
  return state;
}

Coordinator::Coordinator(int size, Send send)
    : size_(size),
      send_(std::move(send)),
      arrived_(static_cast<std::size_t>(size)),
      refusals_(static_cast<std::size_t>(size)),
      gone_(static_cast<std::size_t>(size), false) {}

void Coordinator::send_all(const std::string& message) {
  for (int rank = 0; rank < size_; ++rank) send_(rank, message);
}

void Coordinator::handle(int from, MessageKind kind, Reader& message) {
  const auto rank = static_cast<std::size_t>(from);
  switch (kind) {
    case MessageKind::Arrive: {
      Arrival arrival{};
      message >> arrival.meeting >> arrival.what >> arrival.key >> arrival.payload;
      if (std::string& refusal = refusals_[rank]; !refusal.empty()) {
        send_(from, (Writer(MessageKind::Refuse) << refusal).bytes);
        refusal.clear();
        return;
      }
      arrived_[rank] = std::move(arrival);
      settle();
      return;
    }
    case MessageKind::Failed:
      fail(from, std::string(message.rest()));
      settle();
      return;
    case MessageKind::Leaving:
      gone_[rank] = true;
      if (std::find(gone_.begin(), gone_.end(), false) == gone_.end()) {
        send_all(Writer(MessageKind::Goodbye).bytes);
        return;
      }
      if (in_run_)
        fail(from, encode_exception(std::make_exception_ptr(CommError(
                       "rank " + std::to_string(from) +
                       " has ended its process while the others ran a program; see what it printed"))));
      settle();
      return;
    case MessageKind::State: {
      const auto round = message.get<std::uint32_t>();
      if (round != round_ || !asked_) return;
      answers_[rank] = read_state(message);
      if (std::all_of(answers_.begin(), answers_.end(),
                      [](const auto& answer) { return answer.has_value(); }))
        judge();
      return;
    }
    default: return;
  }
}

void Coordinator::fail(int rank, std::string failure) {
  // The first one counts; one that comes behind the run is of a run that has failed already.
  if (!in_run_ || failed_rank_ >= 0) return;
  failed_rank_ = rank;
  failure_ = std::move(failure);
  Writer message(MessageKind::Fail);
  message.bytes += failure_;
  send_all(message.bytes);
}

void Coordinator::refuse(const std::string& why) {
  for (int rank = 0; rank < size_; ++rank) {
    auto& arrival = arrived_[static_cast<std::size_t>(rank)];
    if (!arrival) {
      refusals_[static_cast<std::size_t>(rank)] = why;
      continue;
    }
    arrival.reset();
    send_(rank, (Writer(MessageKind::Refuse) << why).bytes);
  }
}

/// The first two processes that are not at the same place; empty: there are none.
std::string Coordinator::difference() const {
  const Arrival* first = nullptr;
  int first_rank = 0;
  for (int rank = 0; rank < size_; ++rank) {
    const auto& arrival = arrived_[static_cast<std::size_t>(rank)];
    if (!arrival) continue;
    if (first == nullptr) {
      first = &*arrival;
      first_rank = rank;
    } else if (first->meeting != arrival->meeting || first->key != arrival->key) {
      return "the processes of a program on transport mpi do different things: rank " +
             std::to_string(first_rank) + " " + first->what + ", rank " + std::to_string(rank) + " " +
             arrival->what +
             "; every process must make the same calls in the same order, with equal arguments";
    }
  }
  return {};
}

void Coordinator::settle() {
  if (failed_rank_ >= 0)
    for (int rank = 0; rank < size_; ++rank) {
      auto& arrival = arrived_[static_cast<std::size_t>(rank)];
      if (!arrival || !lies_in_run(arrival->meeting) || arrival->meeting == Meeting::End) continue;
      arrival.reset();
      send_(rank, Writer(MessageKind::Abandon).bytes);
    }
  if (const std::string why = difference(); !why.empty()) return refuse(why);
  bool all = true;
  for (int rank = 0; rank < size_; ++rank) {
    all &= arrived_[static_cast<std::size_t>(rank)].has_value();
    if (!gone_[static_cast<std::size_t>(rank)]) continue;
    for (int other = 0; other < size_; ++other)
      if (const auto& arrival = arrived_[static_cast<std::size_t>(other)])
        return refuse("rank " + std::to_string(rank) + " has ended its process, and rank " +
                      std::to_string(other) + " " + arrival->what +
                      "; every process must make the same calls");
  }
  if (!all) return;

  const Meeting meeting = arrived_.front()->meeting;
  Writer release(MessageKind::Release);
  release << meeting << static_cast<std::uint64_t>(size_);
  for (auto& arrival : arrived_) {
    release << arrival->payload;
    arrival.reset();
  }
  release << failed_rank_ << failure_;
  if (meeting == Meeting::Begin) {
    in_run_ = true;
    pause_ = first_pause;
    ask_at_ = Clock::now() + pause_;
  } else if (meeting == Meeting::End) {
    in_run_ = false;
    asked_ = false;
    failed_rank_ = -1;
    failure_.clear();
  }
  send_all(release.bytes);
}

void Coordinator::look_for_deadlock(Clock::time_point now) {
  if (!in_run_ || asked_ || failed_rank_ >= 0 || now < ask_at_) return;
  asked_ = true;
  ++round_;
  answers_.assign(static_cast<std::size_t>(size_), std::nullopt);
  send_all((Writer(MessageKind::Query) << round_).bytes);
}

/// The ranks that wait for one another, or for ranks that have finished; empty: they can go on.
std::vector<int> Coordinator::stuck() const {
  for (int start = 0; start < size_; ++start) {
    if (answers_[static_cast<std::size_t>(start)]->waits.empty()) continue;
    WaitGroup group;
    group.add(start);
    bool all_idle = true;
    for (std::optional<int> rank; all_idle && (rank = group.next());) {
      const RemoteState& state = *answers_[static_cast<std::size_t>(*rank)];
      all_idle = state.idle;
      for (const RemoteWait& wait : state.waits) group.add(wait.part, wait.ranks);
    }
    if (all_idle) return {group.ranks().begin(), group.ranks().end()};
  }
  return {};
}

void Coordinator::judge() {
  asked_ = false;
  const std::vector<int> ranks = failed_rank_ >= 0 ? std::vector<int>() : stuck();
  if (ranks.empty()) {
    first_answers_.clear();
    pause_ = std::min(2 * pause_, longest_pause);
    ask_at_ = Clock::now() + pause_;
    return;
  }
  bool same = !first_answers_.empty();
  for (const int rank : ranks)
    same = same && first_answers_[static_cast<std::size_t>(rank)]->numbers ==
                       answers_[static_cast<std::size_t>(rank)]->numbers;
  if (!same) {
    first_answers_ = answers_;
    ask_at_ = Clock::now();
    return;
  }
  std::vector<WaitReport> waits;
  std::vector<int> finished;
  for (const int rank : ranks) {
    const RemoteState& state = *answers_[static_cast<std::size_t>(rank)];
    if (state.finished) finished.push_back(rank);
    for (const RemoteWait& wait : state.waits) {
      waits.push_back(wait.report);
      waits.back().ranks = wait.ranks;
      std::int64_t latest = 0;
      for (const auto& answer : answers_)
        for (const RemoteWriter& writer : answer->writers)
          if (writer.part == wait.part && writer.member == wait.member && writer.index == wait.report.index &&
              writer.time > latest) {
            latest = writer.time;
            waits.back().writer = writer.rank;
            waits.back().written_at = writer.where;
          }
    }
  }
  first_answers_.clear();
  const Location where = waits.front().where;
  fail(waits.front().rank,
       encode_exception(std::make_exception_ptr(CommError(deadlock_text(waits, finished, {}), where))));
  // Not a failure of that rank's own: it takes the words from here, as all do.
  failed_rank_ = size_;
  settle();
}

}  // namespace pl::detail
