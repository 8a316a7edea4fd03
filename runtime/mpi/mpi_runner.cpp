// The transport mpi: this process runs the jobs of its own rank, and every process the host orchestrator.
#include "pl/detail/location.hpp"
#include "pl/error.hpp"
#include "runtime/error_text.hpp"
#include "runtime/measure.hpp"
#include "runtime/mpi/mpi_backing.hpp"
#include "runtime/mpi/mpi_world.hpp"
#include "runtime/packed_view.hpp"
#include "runtime/program.hpp"
#include "runtime/rank_runner.hpp"
#include "runtime/written_regions.hpp"

#include <algorithm>
#include <mutex>
#include <utility>
#include <vector>

namespace pl::detail {
namespace {

/// The tensors that were given to the dispatches of a rank: what it has written lies in one of them, at the same place
/// in every process.
class GivenTensors {
 public:
  void add(const ViewRef& view) {
    const Measured range = measure(view);
    if (range.begin == range.end) return;
    for (const Given& other : list_)
      if (other.begin == range.begin && other.end == range.end) return;
    list_.push_back({range.begin, range.end});
  }
  struct Place {
    std::uint64_t tensor;
    std::int64_t offset;
  };
  [[nodiscard]] std::optional<Place> place_of(const ViewRef& view) const {
    const Measured range = measure(view);
    for (std::size_t i = 0; i < list_.size(); ++i)
      if (list_[i].begin <= range.begin && range.end <= list_[i].end)
        return Place{i, static_cast<const char*>(view.data) - list_[i].begin};
    return std::nullopt;
  }
  [[nodiscard]] char* at(const Place& place) const {
    return const_cast<char*>(list_.at(static_cast<std::size_t>(place.tensor)).begin) + place.offset;
  }

 private:
  struct Given {
    const char *begin, *end;
  };
  std::vector<Given> list_;
};

class MpiRunner final : public RankRunner {
 public:
  explicit MpiRunner(ProgramRun& run)
      : run_(run),
        world_(MpiWorld::open(run.config().distributed.device_ids.size())),
        own_(make_thread_runner(run)),
        given_(run.config().distributed.device_ids.size()) {}

  [[nodiscard]] bool ranks_are_far() const override { return true; }

  void begin(const std::string& what, const std::string& key) override {
    what_ = what;
    turn_ = world_.turn(what);
    Trace* const trace = run_.trace() != nullptr ? &run_.trace()->trace() : nullptr;
    const MpiWorld::Met met = world_.begin(run_, "runs " + what, key,
                                           trace == nullptr ? std::string() : Writer(trace->start()).bytes);
    const std::string& first = met.payloads.front();
    if (trace == nullptr || world_.rank() == 0 || first.empty()) return;
    // Rank 0 writes the file.
    const auto rank = static_cast<std::uint64_t>(world_.rank());
    trace->send_by(
        {.send = [this](TracePiece piece, std::string_view text) { world_.send_trace(piece, text); },
         .first_arrow = rank << 40,
         .host_of_rank = world_.rank(),
         .start = Reader(first).get<Clock::time_point>() - world_.clock_of_first_rank()});
  }

  void enqueue(int rank, Job job) override {
    if (rank == world_.rank())
      own_->enqueue(rank, std::move(job));
    else
      run_.forget_jobs(rank);
  }

  void wait() override { own_->wait(); }

  void stop() override { world_.tell_failure(encode_exception(run_.failure())); }

  [[nodiscard]] std::unique_ptr<WindowBacking> back_window(std::size_t part_bytes,
                                                           std::size_t ranks) override {
    char* const memory = world_.allocate(static_cast<std::int64_t>(part_bytes));
    return memory == nullptr ? nullptr : std::make_unique<MpiBacking>(world_, memory, ranks);
  }

  void window_was_cleared() override { (void)world_.meet(Meeting::Renew, "clears a persistent window"); }

  [[nodiscard]] WrittenRegions* regions() override { return &regions_; }

  void note_dispatch(int rank, std::span<const ParameterInfo> parameters,
                     std::span<const Argument> arguments) override {
    for (std::size_t i = 0; i < parameters.size(); ++i)
      if (parameters[i].tensor && arguments[i].view.window == nullptr)
        given_[static_cast<std::size_t>(rank)].add(arguments[i].view);
  }

  /// On rank 0 alone. It sees what all ranks have written, and what it changes goes to all.
  void call_back(const HostCallback& callback, const std::function<void()>& run) override {
    const std::string what = "calls a host callback at " + location_of(callback.where).str();
    (void)world_.meet(Meeting::Callback, what, what);
    share_written();
    if (world_.rank() == 0) {
      const MpiWorld::AloneHere alone;
      run();
    }
    run_.throw_if_stopped();
    (void)world_.meet(Meeting::CallbackEnd, what, what);
    for (const Tensor<>& tensor : callback.tensors) {
      const ViewRef view = tensor.view();
      const PackedView packed(view);
      if (view.window != nullptr || packed.bytes() == 0) continue;
      std::vector<char> bytes(packed.bytes());
      if (world_.rank() == 0) packed.read(bytes.data());
      world_.broadcast(0, bytes.data(), static_cast<std::int64_t>(bytes.size()));
      if (world_.rank() != 0) packed.write(bytes.data());
    }
  }

  [[nodiscard]] std::exception_ptr end(std::exception_ptr failure) override {
    // A process that stands elsewhere fails the run; then all come here, if they still live.
    const std::unique_lock<std::mutex> turn = std::move(turn_);
    struct NoMore {
      RunTrace* const run;
      ~NoMore() {
        if (run != nullptr && run->trace().is_sent()) run->trace().write_itself();
      }
    } no_more{run_.trace()};
    for (bool again = false;; again = true) {
      try {
        const MpiWorld::Met met = world_.end("ends " + what_);
        if (met.failed_rank == world_.rank() && failure) return failure;
        if (met.failed_rank >= 0) return decode_exception(met.failure);
        if (run_.config().distributed.results == "all") share_written();
        return nullptr;
      } catch (const Error&) {
        if (again) {
          world_.forget_run();
          return failure ? failure : std::current_exception();
        }
        if (!failure) failure = std::current_exception();
        run_.fail(failure);
      }
    }
  }

 private:
  /// Every process gets what each rank has written since the last time.
  void share_written() {
    Writer own;
    const GivenTensors& given = given_[static_cast<std::size_t>(world_.rank())];
    const auto list = [&](const std::vector<RecordedView>& views, bool with_data) {
      std::vector<std::pair<GivenTensors::Place, const RecordedView*>> known;
      // Memory that no dispatch was given is the rank's own.
      for (const RecordedView& view : views)
        if (const auto place = given.place_of(view.view())) known.emplace_back(*place, &view);
      own << static_cast<std::uint64_t>(known.size());
      for (const auto& [place, view] : known) {
        own << place << *view;
        if (!with_data) continue;
        const ViewRef source = view->view();
        const PackedView packed(source);
        const std::size_t at = own.bytes.size();
        own.bytes.resize(at + packed.bytes());
        packed.read(own.bytes.data() + at);
      }
    };
    list(regions_.written(), true);
    list(regions_.read(), false);
    regions_.clear();

    const std::vector<std::string> all = world_.exchange(own.bytes);
    std::vector<RankRegions> ranks;
    std::vector<std::pair<RecordedView, std::string_view>> arrived;
    for (int rank = 0; rank < world_.size(); ++rank) {
      Reader from(all[static_cast<std::size_t>(rank)]);
      RankRegions& regions = ranks.emplace_back();
      regions.rank = rank;
      for (auto* views : {&regions.written, &regions.read})
        for (auto count = from.get<std::uint64_t>(); count > 0; --count) {
          const auto place = from.get<GivenTensors::Place>();
          auto view = from.get<RecordedView>();
          view.data = given_[static_cast<std::size_t>(rank)].at(place);
          views->push_back(view);
          if (views != &regions.written) continue;
          const std::string_view data = from.take(PackedView(view.view()).bytes());
          if (rank != world_.rank()) arrived.emplace_back(view, data);
        }
    }
    refuse_common_memory(ranks);
    for (const auto& [view, data] : arrived) PackedView(view.view()).write(data.data());
  }

  ProgramRun& run_;
  MpiWorld& world_;
  const std::unique_ptr<RankRunner> own_;
  WrittenRegions regions_{true};
  std::vector<GivenTensors> given_;  ///< by rank
  std::string what_;
  std::unique_lock<std::mutex> turn_;
};

}  // namespace

std::unique_ptr<RankRunner> make_mpi_runner(ProgramRun& run) { return std::make_unique<MpiRunner>(run); }

}  // namespace pl::detail
