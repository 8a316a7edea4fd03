// What is wrong, or looks wrong, with a recorded plan.
#include "pl/detail/location.hpp"
#include "pl/error.hpp"
#include "pl/log.hpp"
#include "runtime/measure.hpp"
#include "runtime/recorder.hpp"

#include <algorithm>
#include <map>
#include <set>

namespace pl::detail {
namespace {

std::string place(const RecordedDispatch& dispatch) { return location_of(dispatch.where).str(); }

void require_all_ranks(const Recorder& recorder, const std::source_location& host) {
  std::set<int> reached;
  for (const RecordedDispatch& dispatch : recorder.dispatches) reached.insert(dispatch.rank);
  std::string missing;
  int count = 0;
  for (int rank = 0; rank < recorder.world_size; ++rank)
    if (!reached.contains(rank)) {
      missing += (count++ == 0 ? "" : ", ") + std::to_string(rank);
    }
  if (count != 0)
    throw PlanError(std::string(count == 1 ? "rank " : "ranks ") + missing + " of " +
                        std::to_string(recorder.world_size) +
                        (count == 1 ? " gets no dispatch" : " get no dispatch") +
                        "; loop over pl::range(pld::world_size()), or list fewer device_ids in the RunConfig",
                    location_of(host));
}

/// Two ranks that write one region. Sorted by address, only neighbours whose byte ranges meet are compared.
void refuse_common_outputs(const Recorder& recorder) {
  struct Output {
    const char *begin, *end;
    const RecordedDispatch* dispatch;
    const RecordedTask* task;
    const RecordedView* view;
  };
  std::vector<Output> outputs;
  for (const RecordedDispatch& dispatch : recorder.dispatches)
    for (const RecordedTask& task : dispatch.tasks)
      for (const RecordedArgument& argument : task.arguments) {
        if (!argument.info.tensor || argument.info.access == Access::In) continue;
        const Measured measured = measure(argument.view.front().view());
        if (measured.begin != measured.end)
          outputs.push_back({measured.begin, measured.end, &dispatch, &task, &argument.view.front()});
      }
  std::sort(outputs.begin(), outputs.end(),
            [](const Output& a, const Output& b) { return a.begin < b.begin; });
  for (std::size_t i = 0; i < outputs.size(); ++i)
    for (std::size_t j = i + 1; j < outputs.size() && outputs[j].begin < outputs[i].end; ++j) {
      const Output &a = outputs[i], &b = outputs[j];
      if (a.dispatch->rank == b.dispatch->rank || !overlap(a.view->view(), b.view->view())) continue;
      const Output& first = a.dispatch->rank < b.dispatch->rank ? a : b;
      const Output& second = a.dispatch->rank < b.dispatch->rank ? b : a;
      throw PlanError(
          "ranks " + std::to_string(first.dispatch->rank) + " and " + std::to_string(second.dispatch->rank) +
              " write the same output region: " + first.task->name + " writes " +
              describe(first.view->view()) + " (dispatched at " + place(*first.dispatch) + "), " +
              second.task->name + " writes " + describe(second.view->view()) + " (dispatched at " +
              place(*second.dispatch) + "); give each rank its own part, such as y[r]",
          location_of(second.dispatch->where));
    }
}

/// The same value, within [0, world), at one place of every rank's integers.
bool same_small_integer(const std::vector<std::int64_t>& values, int world_size) {
  return std::all_of(values.begin(), values.end(), [&](std::int64_t value) {
    return value == values.front() && value >= 0 && value < world_size;
  });
}

/// Another task of the same kernel has another number there: they are counted, not ranks.
bool is_counted(const RecordedDispatch& dispatch, const RecordedTask& task, std::size_t argument,
                std::int64_t value) {
  return std::any_of(dispatch.tasks.begin(), dispatch.tasks.end(), [&](const RecordedTask& other) {
    std::int64_t other_value = value;
    return other.kernel == task.kernel && other.arguments.size() > argument &&
           other.arguments[argument].integer(other_value) && other_value != value;
  });
}

/// The integers of a dispatch: its own, then those of its tasks and their captures, in order; -1 stands for those that
/// are counted.
std::vector<std::int64_t> integers_of(const RecordedDispatch& dispatch) {
  std::vector<std::int64_t> result;
  std::int64_t value = 0;
  for (const RecordedArgument& argument : dispatch.arguments)
    if (argument.integer(value)) result.push_back(value);
  for (const RecordedTask& task : dispatch.tasks) {
    for (std::size_t i = 0; i < task.arguments.size(); ++i)
      if (task.arguments[i].integer(value))
        result.push_back(is_counted(dispatch, task, i, value) ? -1 : value);
    result.insert(result.end(), task.integer_captures.begin(), task.integer_captures.end());
  }
  return result;
}

bool slices_differ(const std::vector<const RecordedDispatch*>& ranks) {
  for (std::size_t i = 0; i < ranks.front()->arguments.size(); ++i) {
    if (!ranks.front()->arguments[i].info.tensor) continue;
    for (const RecordedDispatch* dispatch : ranks)
      if (!dispatch->arguments[i].same_as(ranks.front()->arguments[i])) return true;
  }
  return false;
}

/// A kernel that should know its rank and gets the same number everywhere.
void warn_about_missing_rank(const Recorder& recorder) {
  if (recorder.world_size < 2) return;
  std::map<const void*, std::vector<const RecordedDispatch*>> first_of_rank;
  std::vector<const void*> order;
  for (const RecordedDispatch& dispatch : recorder.dispatches) {
    auto& ranks = first_of_rank[dispatch.entry];
    if (ranks.empty()) order.push_back(dispatch.entry);
    if (std::none_of(ranks.begin(), ranks.end(),
                     [&](const auto* other) { return other->rank == dispatch.rank; }))
      ranks.push_back(&dispatch);
  }
  for (const void* entry : order) {
    const auto& ranks = first_of_rank[entry];
    if (static_cast<int>(ranks.size()) != recorder.world_size) continue;
    bool has_rank = false;
    bool alike = true;
    std::vector<std::vector<std::int64_t>> integers;
    for (const RecordedDispatch* dispatch : ranks) {
      // A kernel asks a window for its rank.
      for (const RecordedArgument& argument : dispatch->arguments)
        has_rank |= argument.info.is_rank || argument.info.window;
      alike &= dispatch->arguments.size() == ranks.front()->arguments.size();
      integers.push_back(integers_of(*dispatch));
      alike &= integers.back().size() == integers.front().size();
    }
    if (has_rank || !alike || !slices_differ(ranks)) continue;
    for (std::size_t i = 0; i < integers.front().size(); ++i) {
      std::vector<std::int64_t> values;
      for (const auto& list : integers) values.push_back(list[i]);
      if (!same_small_integer(values, recorder.world_size)) continue;
      log(LogLevel::Warning,
          place(*ranks.front()) +
              ": rank not passed down: every rank gets its own slices and the same number " +
              std::to_string(values.front()) +
              ", which could be a rank; if the kernel needs its rank, pass the loop's r as an argument");
      break;
    }
  }
}

bool writes_over(const RecordedTask& task, const RecordedTask& of) {
  for (const RecordedArgument& written : task.arguments) {
    if (!written.info.tensor || written.info.access == Access::In) continue;
    for (const RecordedArgument& argument : of.arguments)
      if (argument.info.tensor && overlap(written.view.front().view(), argument.view.front().view()))
        return true;
  }
  return false;
}

bool is_repeat(const RecordedTask& task, const RecordedTask& before) {
  if (task.kernel != before.kernel || task.arguments.size() != before.arguments.size()) return false;
  for (std::size_t i = 0; i < task.arguments.size(); ++i) {
    if (task.arguments[i].info.access == Access::InOut) return false;
    if (!task.arguments[i].same_as(before.arguments[i])) return false;
  }
  return true;
}

/// One kernel with equal arguments twice on one rank, and nothing between that changes what it reads or
/// wrote.
void warn_about_repeats(const Recorder& recorder) {
  struct Step {
    const RecordedDispatch* dispatch;
    const RecordedTask* task;
  };
  std::map<int, std::vector<Step>> steps_of_rank;
  for (const RecordedDispatch& dispatch : recorder.dispatches)
    for (const RecordedTask& task : dispatch.tasks)
      steps_of_rank[dispatch.rank].push_back({&dispatch, &task});
  std::set<const void*> warned;
  for (const auto& [rank, steps] : steps_of_rank)
    for (std::size_t i = 1; i < steps.size(); ++i) {
      const RecordedTask& task = *steps[i].task;
      for (std::size_t j = i; j-- > 0;) {
        if (is_repeat(task, *steps[j].task)) {
          if (warned.insert(task.kernel).second)
            log(LogLevel::Warning, place(*steps[i].dispatch) + ": " + task.name + " runs twice on rank " +
                                       std::to_string(rank) + " with equal arguments (the first time from " +
                                       place(*steps[j].dispatch) +
                                       "); if that is a mistake, give the second call its own arguments");
          break;
        }
        if (writes_over(*steps[j].task, task)) break;
      }
    }
}

}  // namespace

void Recorder::check(const std::source_location& host) const {
  require_all_ranks(*this, host);
  refuse_common_outputs(*this);
  warn_about_missing_rank(*this);
  warn_about_repeats(*this);
}

}  // namespace pl::detail
