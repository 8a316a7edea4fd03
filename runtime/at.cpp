// The task of a pl::at: its kernel object, made from what the build captured, and its arguments, read from the
// closure.
#include "pl/at.hpp"

#include "pl/detail/kernel_object.hpp"
#include "pl/detail/location.hpp"
#include "runtime/captured_kernel.hpp"
#include "runtime/context_state.hpp"
#include "runtime/program.hpp"
#include "runtime/task_graph.hpp"
#include "runtime/windows/remote_call.hpp"

#include <cstring>
#include <deque>
#include <optional>

namespace pl::detail {
namespace {

/// The parameters of a captured body, as those of a kernel's C++ types would be.
struct BodyParameters {
  explicit BodyParameters(const trilith::codegen::Kernel& ir) {
    for (const trilith::codegen::Parameter& parameter : ir.parameters) {
      const trilith::codegen::Type& type = ir.variables[static_cast<std::size_t>(parameter.variable)].type;
      ParameterInfo info;
      info.tensor = true;
      info.access = static_cast<Access>(parameter.access);
      info.window = parameter.window;
      info.any_dtype = type.any_dtype;
      info.dtype = type.dtype;
      if (!type.any_shape) {
        info.rank = static_cast<int>(type.shape.size());
        auto& extents = all_extents.emplace_back();
        auto& names = all_names.emplace_back();
        for (const trilith::codegen::Dim& dim : type.shape) {
          if (dim.is_constant()) {
            extents.push_back(dim.extent);
            names.emplace_back();
            continue;
          }
          const auto& variable = ir.variables[static_cast<std::size_t>(dim.variable)];
          extents.push_back(variable.specialised ? specialised_extent : run_time_extent);
          names.push_back(variable.name);
        }
        info.extents = extents.data();
        info.names = names.data();
      }
      infos.push_back(info);
    }
  }
  std::vector<ParameterInfo> infos;
  std::deque<std::vector<std::int64_t>> all_extents;
  std::deque<std::vector<std::string_view>> all_names;
};

const char* place_of(const NamedCapture& capture, const void* closure) {
  const char* place = static_cast<const char*>(closure) + capture.offset;
  if (capture.by_reference == 0) return place;
  const char* object = nullptr;
  std::memcpy(&object, place, sizeof object);
  return object;
}

template <class T>
T read(const char* place) {
  T value;
  std::memcpy(&value, place, sizeof value);
  return value;
}

}  // namespace

class AtKernel final : private BodyParameters, public KernelObject {
 public:
  AtKernel(std::shared_ptr<const CapturedKernel> captured, const CaptureRecord& record, const AtSite& site)
      : BodyParameters(captured->ir),
        KernelObject(
            {infos, nullptr, captured->ir.closure_size, site.closure_type, {}, site.where, site.unit}),
        captured_(std::move(captured)),
        named_(record.named, record.named_count) {}

  /// The arguments that the closure names, and the tasks.
  void read_closure(const void* closure, std::vector<Argument>& arguments,
                    std::vector<std::uint64_t>& scalars, std::vector<TaskId>& tasks,
                    const std::source_location& where) const {
    for (const NamedCapture& capture : named_) {
      const char* const place = place_of(capture, closure);
      if (capture.kind == 2) {
        tasks.push_back(read<TaskId>(place));
      } else if (capture.kind == 1) {
        scalars.push_back(0);
        std::memcpy(&scalars.back(), place, capture.size);
      } else {
        const ParameterInfo& info = infos[arguments.size()];
        ViewRef view{};
        view.dtype = capture.dtype < 0 ? info.dtype : read<DType>(place + capture.dtype);
        view.read_only = read<ViewFlags>(place + capture.flags);
        view.rank = capture.rank < 0 ? info.rank : read<int>(place + capture.rank);
        view.data = read<void*>(place + capture.data);
        view.extents = reinterpret_cast<const std::int64_t*>(place + capture.extents);
        view.strides = reinterpret_cast<const std::int64_t*>(place + capture.strides);
        if (capture.window >= 0) view.window = read<const WindowPart*>(place + capture.window);
        if (info.access != Access::In && view.read_only) throw_read_only(view, where);
        arguments.emplace_back();
        arguments.back().view = view;
      }
    }
  }

 private:
  // A body runs natively only where it is called: the variables it names are gone later.
  void run_natively(const Argument*, void*) const override {
    throw InternalError("the body of a pl::at was to run natively as a task");
  }
  std::shared_ptr<const CapturedKernel> captured_;
  std::span<const NamedCapture> named_;
};

namespace {

AtKernel& kernel_of(AtSite& site) {
  if (AtKernel* kernel = site.kernel.load(std::memory_order_acquire)) return *kernel;
  const CaptureRecord& record = find_capture(site.unit, site.where, *site.closure_type);
  auto fresh = std::make_unique<AtKernel>(captured_kernel({site.unit, site.where, site.closure_type, {}}),
                                          record, site);
  AtKernel* expected = nullptr;
  if (site.kernel.compare_exchange_strong(expected, fresh.get(), std::memory_order_acq_rel))
    return *fresh.release();
  return *expected;
}

void run_here(ThreadState& thread, const void* closure, void (*natively)(const void*),
              const std::source_location& where) {
  if (thread.tasks->is_recording())
    throw PlanError("a pl::Graph cannot record a pl::at where kernels run natively", location_of(where));
  thread.tasks->wait_all();
  current_context(thread).count_eager_call();
  // It may wait: a signal that nothing can send is found as in a task.
  std::optional<ProgramRun::MayWait> may_wait;
  if (thread.run != nullptr) may_wait.emplace(*thread.run, thread.rank);
  DeferredWaits deferred;
  {
    const ThreadStateScope scope;
    thread.level = Level::Core;
    thread.options = nullptr;
    natively(closure);
  }
  deferred.wait();
}

}  // namespace

TaskId run_at(AtSite& site, const void* closure, void (*natively)(const void*), const TaskOption& option,
              const std::source_location& where) {
  TaskCall call("pl::at", 1, where);
  ThreadState& thread = thread_state();
  if (thread.run != nullptr) thread.run->throw_if_stopped();
  if (current_context(thread).eager()) {
    if (thread.recorder == nullptr) run_here(thread, closure, natively, where);
    return {};
  }
  AtKernel& kernel = kernel_of(site);
  std::vector<Argument> arguments;
  std::vector<std::uint64_t> scalars;
  TaskOption all = option;
  kernel.read_closure(closure, arguments, scalars, all.after, where);
  call.add(all);
  if (kernel.submit_body(arguments.data(), scalars.data(), where)) return call.task();
  run_here(thread, closure, natively, where);
  return {};
}

}  // namespace pl::detail
