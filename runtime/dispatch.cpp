// What a call of a pl::jit entry does at each level, and the questions of namespace pld.
#include "pl/detail/location.hpp"
#include "pl/error.hpp"
#include "pl/pld.hpp"
#include "runtime/entry_run.hpp"
#include "runtime/program.hpp"

namespace pl::detail {
namespace {

std::string title(const Dispatch& dispatch) {
  return "the pl::jit entry at " + std::string(dispatch.definition.file_name()) + ":" +
         std::to_string(dispatch.definition.line());
}

void require_rank(const Dispatch& dispatch, int world_size) {
  if (dispatch.device >= 0 && dispatch.device < world_size) return;
  throw PlanError("pld::device = " + std::to_string(dispatch.device) + " for " + title(dispatch) +
                      "; the program has " + std::to_string(world_size) +
                      (world_size == 1 ? " device" : " devices") + ", 0 to " +
                      std::to_string(world_size - 1) +
                      ": loop over pl::range(pld::world_size()), or list more device_ids in the RunConfig",
                  location_of(dispatch.where));
}

void record(ThreadState& thread, const Dispatch& dispatch, const std::function<void()>& body) {
  Recorder& recorder = *thread.recorder;
  require_rank(dispatch, recorder.world_size);
  RecordedDispatch recorded{dispatch.entry, dispatch.device, dispatch.where, {}, {}};
  for (std::size_t i = 0; i < dispatch.parameters.size(); ++i)
    recorded.arguments.emplace_back(dispatch.parameters[i], dispatch.arguments[i]);
  recorder.dispatches.push_back(std::move(recorded));
  const ThreadStateScope scope;
  thread.level = Level::Device;
  thread.rank = dispatch.device;
  try {
    body();
  } catch (const PlanEnds& end) {
    recorder.dispatches.back().ended_at = end.where;
  }
}

/// In a run whose ranks cannot compile: what the dispatch will call.
void compile_first(ThreadState& thread, const Dispatch& dispatch, const std::function<void()>& body) {
  Recorder recorder(thread.run->world_size());
  const ThreadStateScope scope;
  thread.run = nullptr;
  thread.recorder = &recorder;
  record(thread, dispatch, body);
}

}  // namespace

bool dispatch(const Dispatch& dispatch, const std::function<void()>& body,
              const std::function<std::function<void()>()>& later) {
  ThreadState& thread = thread_state();
  switch (thread.level) {
    case Level::None: {
      const ContextState& context = current_context(thread);
      require_rank(dispatch, static_cast<int>(context.config.distributed.device_ids.size()));
      run_entry_body({thread.context, &context.config, dispatch.device, nullptr, nullptr, thread.times},
                     body);
      return true;
    }
    case Level::Device:
    case Level::Core:
      throw LevelError(title(dispatch) + " was called on a device" +
                           (thread.level == Level::Core ? ", in an in-core kernel" : "") +
                           "; entries do not nest: call kernels and inline helpers there",
                       location_of(dispatch.where));
    case Level::Host: break;
  }
  if (!dispatch.has_device)
    throw LevelError(
        title(dispatch) + " was dispatched without a device; write entry(args…, pld::device = r)",
        location_of(dispatch.where));
  if (thread.recorder != nullptr) {
    record(thread, dispatch, body);
  } else {
    require_rank(dispatch, thread.run->world_size());
    if (thread.run->compiles_first()) compile_first(thread, dispatch, body);
    thread.run->runner().note_dispatch(dispatch.device, dispatch.parameters,
                                       {dispatch.arguments, dispatch.parameters.size()});
    thread.run->enqueue(dispatch.device, later());
  }
  return false;
}

}  // namespace pl::detail

namespace pld {

WorldSize world_size(std::source_location where) {
  using pl::detail::Level;
  const pl::detail::ThreadState& thread = pl::detail::thread_state();
  if (thread.level == Level::Host)
    return WorldSize(thread.recorder != nullptr ? thread.recorder->world_size : thread.run->world_size());
  const char* place = thread.level == Level::None     ? "outside a program"
                      : thread.level == Level::Device ? "in a device orchestration"
                                                      : "in an in-core kernel";
  throw pl::LevelError(
      std::string("pld::world_size() was called ") + place +
          "; only a host orchestrator knows the ranks: pass the number down as an argument (ordinary "
          "C++ has the RunConfig's device_ids)",
      {where.file_name(), where.line(), where.column()});
}

int rank(std::source_location where) {
  using pl::detail::Level;
  const Level level = pl::detail::current_level();
  throw pl::LevelError(
      level == Level::Host
          ? "pld::rank() was called in a host orchestrator, which has no rank; it loops over all of "
            "them: for (auto r : pl::range(pld::world_size())), and passes r down"
      : level == Level::None
          ? "pld::rank() was called outside a program; ranks exist in a host orchestrator's loop"
          : "pld::rank() was called without a window; write pld::rank(window), or pass the rank down as an "
            "argument",
      {where.file_name(), where.line(), where.column()});
}

}  // namespace pld
