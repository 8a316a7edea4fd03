// runtime/pl/orchestrator.hpp -- the two levels above the kernels: pl::DeviceEntry, pl::HostEntry,
// pl::CompiledProgram.
//
//   auto device_orch = pl::jit([](auto x, auto y, auto rank) { return scale_by_rank(x, y, rank); });
//   auto host_orch = pl::jit.host([](pl::Tensor<float, NR, 8, 8> x, pl::Out<pl::Tensor<float, NR, 8, 8>> y) {
//     for (auto r : pl::range(pld::world_size())) device_orch(x[r], y[r], r, pld::device = r);
//   });
//   auto program = host_orch.compile(x, y, config);   // every kernel compiled, the plan checked
//   program(x, y);                                    // each device a thread; returns when all have finished
//
// Both run natively, as ordinary C++. A dispatch copies its arguments: views, not what they point to, which
// must live until the program returns. The first error of any rank stops the others and is thrown on the
// host; the program stays usable. Thread-safe: a program may run several times at once. Errors: LevelError,
// PlanError, ConfigError, and what the kernels raise.
#pragma once

#include "pl/context.hpp"
#include "pl/detail/graph_cache.hpp"
#include "pl/detail/program.hpp"
#include "pl/kernel.hpp"
#include "pl/pld.hpp"
#include "pl/recording.hpp"
#include "pl/worker.hpp"

#include <mutex>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

namespace pl {

/// What a device entry gives: its lambda's result, where it ran on the calling thread. A dispatch from a host
/// orchestrator only enqueues: reading its result there is a LevelError.
template <class R>
class DispatchResult {
 public:
  DispatchResult() = default;
  explicit DispatchResult(R result) : result_(std::move(result)) {}
  [[nodiscard]] const R& get(std::source_location where = std::source_location::current()) const {
    if (!result_)
      throw LevelError(
          "the result of a dispatch was read in a host orchestrator, where the work is only enqueued, or "
          "that "
          "of a pl::Graph, whose lambda does not run; use the tensor that was passed as pl::Out, when the "
          "call or the program has returned",
          {where.file_name(), where.line(), where.column()});
    return *result_;
  }
  operator const R&() const { return get(); }  // NOLINT(google-explicit-constructor): stands for the result

 private:
  std::optional<R> result_;
};

namespace detail {

template <class R>
struct DispatchResultOf {
  using type = DispatchResult<std::remove_cvref_t<R>>;
};
template <>
struct DispatchResultOf<void> {
  using type = void;
};
template <class R>
using dispatch_result_t = typename DispatchResultOf<R>::type;

template <class... P>
inline constexpr std::array<ParameterInfo, sizeof...(P)> parameter_infos = {parameter_info<P>()...};

/// The lambda of a device entry and its dispatch.
template <class F>
class DeviceLambda {
 public:
  DeviceLambda(F lambda, std::source_location where)
      : shared_(std::make_shared<const F>(std::move(lambda))), definition_(where) {}

  template <class R, class... P>
  dispatch_result_t<R> run(const pld::DeviceArgument* device, const std::source_location& where,
                           const P&... parameters) const {
    const std::tuple<P...> own(on_device(parameters, device)...);
    return std::apply([&](const P&... each) { return run_here<R, P...>(device, where, each...); }, own);
  }

 private:
  /// A window's part of the device that a dispatch goes to.
  template <class A>
  static A on_device(const A& parameter, const pld::DeviceArgument* device) {
    if constexpr (is_window<A>)
      if (device != nullptr) return A(on_rank(parameter.view(), device->index, device->where), device->where);
    return parameter;
  }
  template <class R, class... P>
  dispatch_result_t<R> run_here(const pld::DeviceArgument* device, const std::source_location& where,
                                const P&... parameters) const {
    std::array<Argument, sizeof...(P) + 1> arguments;
    [[maybe_unused]] std::size_t number = 0;
    (to_argument(parameters, arguments[number++]), ...);
    const Dispatch request{shared_.get(),
                           definition_,
                           parameter_infos<P...>,
                           arguments.data(),
                           device != nullptr ? device->where : where,
                           device != nullptr,
                           device != nullptr ? device->index : 0};
    const auto later = [&]() -> std::function<void()> {
      return [lambda = shared_, graph = graph_, values = std::tuple<P...>(parameters...)]() mutable {
        if (graph != nullptr)
          replay(*lambda, *graph, values);
        else
          (void)std::apply([&](P&... each) { (void)(*lambda)(each...); }, values);
      };
    };
    std::tuple<P...> values(parameters...);
    if (graph_ != nullptr) {
      dispatch(request, [&] { replay(*shared_, *graph_, values); }, later);
      if constexpr (!std::is_void_v<R>) return {};
    } else if constexpr (std::is_void_v<R>) {
      dispatch(request, [&] { std::apply(*shared_, values); }, later);
    } else {
      std::optional<std::remove_cvref_t<R>> result;
      const bool ran = dispatch(
          request, [&] { std::apply([&](P&... each) { result.emplace((*shared_)(each...)); }, values); },
          later);
      if (ran && result) return DispatchResult<std::remove_cvref_t<R>>(*std::move(result));
      return {};
    }
  }

 public:
  /// From now on the tasks of a call are recorded and replayed.
  void record_tasks() { graph_ = make_graph_cache(); }
  [[nodiscard]] GraphCounts recorded() const {
    return graph_ != nullptr ? counts_of(*graph_) : GraphCounts{};
  }

 private:
  template <class... P>
  static void replay(const F& lambda, GraphCache& graph, std::tuple<P...>& values) {
    std::array<Argument, sizeof...(P) + 1> arguments;
    [[maybe_unused]] std::size_t number = 0;
    std::apply([&](P&... each) { (to_argument(each, arguments[number++]), ...); }, values);
    run_graph(graph, parameter_infos<P...>, arguments.data(), [&](const Argument* given) {
      [&]<std::size_t... I>(std::index_sequence<I...>) {
        std::tuple<P...> own(from_argument<P>(given[I])...);
        (void)std::apply([&](P&... each) { (void)lambda(each...); }, own);
      }(std::index_sequence_for<P...>{});
    });
  }

  std::shared_ptr<const F> shared_;
  std::shared_ptr<GraphCache> graph_;  ///< of a pl::Graph; else null
  std::source_location definition_;
};

template <class F, class R, class... P>
class TypedDeviceEntry {
 public:
  TypedDeviceEntry(F lambda, std::source_location where) : lambda_(std::move(lambda), where) {}
  dispatch_result_t<R> operator()(Given<P>... arguments,
                                  std::source_location where = std::source_location::current()) const {
    return lambda_.template run<R, P...>(nullptr, where, arguments.value()...);
  }
  dispatch_result_t<R> operator()(Given<P>... arguments, const pld::DeviceArgument& device) const {
    return lambda_.template run<R, P...>(&device, device.where, arguments.value()...);
  }

 protected:
  void record_tasks() { lambda_.record_tasks(); }
  [[nodiscard]] GraphCounts recorded() const { return lambda_.recorded(); }

 private:
  DeviceLambda<F> lambda_;
};

template <class F>
class GenericDeviceEntry {
  template <class A>
  using Parameter = deduced_t<std::remove_cvref_t<A>>;

 public:
  GenericDeviceEntry(F lambda, std::source_location where) : lambda_(std::move(lambda), where) {}
  template <class... A>
  auto operator()(A&&... arguments) const {
    if constexpr ((std::is_same_v<std::remove_cvref_t<A>, pld::DeviceArgument> || ...)) {
      static_assert(
          std::is_same_v<std::remove_cvref_t<std::tuple_element_t<sizeof...(A) - 1, std::tuple<A...>>>,
                         pld::DeviceArgument>,
          "pld::device = r stands behind the arguments");
      return split(std::make_index_sequence<sizeof...(A) - 1>{}, std::forward_as_tuple(arguments...));
    } else {
      using R = std::invoke_result_t<const F&, Parameter<A>&...>;
      return lambda_.template run<R>(nullptr, std::source_location{},
                                     to_parameter<Parameter<A>>(arguments, std::source_location{})...);
    }
  }

 protected:
  void record_tasks() { lambda_.record_tasks(); }
  [[nodiscard]] GraphCounts recorded() const { return lambda_.recorded(); }

 private:
  template <std::size_t... I, class Arguments>
  auto split(std::index_sequence<I...>, const Arguments& arguments) const {
    using R = std::invoke_result_t<const F&, Parameter<std::tuple_element_t<I, Arguments>>&...>;
    const pld::DeviceArgument& device = std::get<sizeof...(I)>(arguments);
    return lambda_.template run<R>(
        &device, device.where,
        to_parameter<Parameter<std::tuple_element_t<I, Arguments>>>(std::get<I>(arguments), device.where)...);
  }
  DeviceLambda<F> lambda_;
};

template <class F, bool generic = Generic<F>>
struct DeviceCalls {
  using type = GenericDeviceEntry<F>;
};
template <class F>
struct DeviceCalls<F, false> {
  template <class R, class... P>
  using Typed = TypedDeviceEntry<F, R, P...>;
  using type = typename MemberSignature<decltype(&F::operator())>::template apply<Typed>;
};

/// The lambda of a host orchestrator and what was compiled from it.
template <class F>
class HostLambda {
 public:
  HostLambda(F lambda, std::source_location where) : lambda_(std::move(lambda)), definition_(where) {}

  template <class... P>
  std::shared_ptr<Program> compile(const RunConfig* config, const std::source_location& where,
                                   const P&... parameters) const {
    return with_body(
        [&](const std::function<void()>& body, const ProgramArguments& with) {
          return compile_program(body, with, config, definition_, where);
        },
        parameters...);
  }
  template <class... P>
  void run(const std::shared_ptr<Program>& program, const RunConfig* config,
           const std::source_location& where, const P&... parameters) const {
    with_body([&](const std::function<void()>& body,
                  const ProgramArguments& with) { run_program(program, body, with, config, where); },
              parameters...);
  }
  /// A run of a worker's, with what it keeps.
  template <class... P>
  void run_kept(const std::shared_ptr<Program>& program, KeptForRuns& kept, const std::source_location& where,
                const P&... parameters) const {
    with_body([&](const std::function<void()>& body,
                  const ProgramArguments& with) { run_program(program, body, with, nullptr, where, &kept); },
              parameters...);
  }
  /// As compile, but once for arguments and configurations that are alike.
  template <class... P>
  std::shared_ptr<Program> compiled(const RunConfig* config, const std::source_location& where,
                                    const P&... parameters) const {
    std::shared_ptr<Program> found = with_body(
        [&](const std::function<void()>&, const ProgramArguments& with) {
          const std::scoped_lock lock(mutex_);
          for (const auto& program : programs_)
            if (compiled_for(*program, with, config)) return program;
          return std::shared_ptr<Program>();
        },
        parameters...);
    if (found) return found;
    found = compile(config, where, parameters...);
    const std::scoped_lock lock(mutex_);
    programs_.push_back(found);
    return found;
  }

 private:
  template <class Use, class... P>
  auto with_body(Use&& use, const P&... parameters) const {
    std::array<Argument, sizeof...(P) + 1> arguments;
    [[maybe_unused]] std::size_t number = 0;
    (to_argument(parameters, arguments[number++]), ...);
    const std::function<void()> body = [&] {
      std::tuple<P...> values(parameters...);
      (void)std::apply([&](P&... each) { (void)lambda_(each...); }, values);
    };
    return use(body, ProgramArguments{parameter_infos<P...>, arguments.data()});
  }
  const F lambda_;
  const std::source_location definition_;
  mutable std::mutex mutex_;
  mutable std::vector<std::shared_ptr<Program>> programs_;
};

}  // namespace detail

/// A host orchestrator with every kernel compiled and its plan checked. Call it with arguments of the dtypes
/// and extents it was compiled for; extents that are `pl::dynamic` may differ.
template <class F, class... P>
class CompiledProgram {
 public:
  CompiledProgram(std::shared_ptr<const detail::HostLambda<F>> lambda,
                  std::shared_ptr<detail::Program> program)
      : lambda_(std::move(lambda)), program_(std::move(program)) {}

  void operator()(detail::Given<P>... arguments,
                  std::source_location where = std::source_location::current()) const {
    lambda_->run(program_, nullptr, where, arguments.value()...);
  }
  /// `config` must be what it was compiled for: ConfigError with both otherwise.
  void operator()(detail::Given<P>... arguments, const RunConfig& config,
                  std::source_location where = std::source_location::current()) const {
    lambda_->run(program_, &config, where, arguments.value()...);
  }
  /// Keeps devices, windows and code ready for many calls: see pl/worker.hpp. Throws ConfigError for programs of
  /// other devices, missing callbacks and devices that do not answer in time.
  [[nodiscard]] Worker<F, P...> prepare(const PrepareOptions& options = {},
                                        std::source_location where = std::source_location::current()) const {
    return Worker<F, P...>(*this, options, where);
  }
  /// For pl::Worker.
  [[nodiscard]] const std::shared_ptr<detail::Program>& shared() const { return program_; }
  void run_on(detail::WorkerState& worker, const std::source_location& where, const P&... parameters) const {
    with_arguments(
        [&](const detail::ProgramArguments& with) {
          detail::call_on(
              worker, *program_, with,
              [&](detail::KeptForRuns& kept) { lambda_->run_kept(program_, kept, where, parameters...); },
              where);
        },
        parameters...);
  }
  [[nodiscard]] std::shared_ptr<detail::Submission> submit_to(detail::WorkerState& worker,
                                                              const std::source_location& where,
                                                              const P&... parameters) const {
    return with_arguments(
        [&](const detail::ProgramArguments& with) {
          return detail::submit_to(
              worker, *program_, with,
              [lambda = lambda_, program = program_, where,
               values = std::tuple<P...>(parameters...)](detail::KeptForRuns& kept) {
                std::apply([&](const P&... each) { lambda->run_kept(program, kept, where, each...); },
                           values);
              },
              where);
        },
        parameters...);
  }
  /// The dispatch plan as text: ranks, arguments, kernels.
  [[nodiscard]] std::string plan() const { return detail::plan_of(*program_); }
  /// Writes the plan's collectives, of the host and, as far as they can be told from their code, of kernels, as JSON
  /// for `trilith plan`. Throws ConfigError where the file cannot be written.
  void save_plan(const std::string& path,
                 std::source_location where = std::source_location::current()) const {
    detail::save_plan(*program_, path, where);
  }
  /// Writes the package for the hardware into a folder: kernels as AscendC, launcher, manifest, build file, README. For
  /// programs compiled with platform "a2a3" or "a2a3model". Throws PlanError for a plan that a launcher cannot carry
  /// out, ConfigError for another platform and a folder that cannot be written.
  void save(const std::string& folder, std::source_location where = std::source_location::current()) const {
    detail::save_package(*program_, folder, where);
  }
  /// The same with data to compare with: the arguments as inputs, and what the simulator computes from them, which the
  /// arguments hold afterwards.
  void save_with_data(const std::string& folder, detail::Given<P>... arguments,
                      std::source_location where = std::source_location::current()) const {
    detail::save_package(*program_, folder, where);
    const auto data = [&](detail::SavedData which) {
      with_arguments(
          [&](const detail::ProgramArguments& with) {
            detail::save_data(*program_, folder, with, which, where);
          },
          arguments.value()...);
    };
    data(detail::SavedData::Inputs);
    const RunConfig simulator = detail::simulator_config(*program_);
    lambda_->run(lambda_->compiled(&simulator, where, arguments.value()...), &simulator, where,
                 arguments.value()...);
    data(detail::SavedData::Expected);
  }
  /// Of the context that the program was compiled in.
  [[nodiscard]] Statistics statistics() const { return detail::statistics_of(*program_); }

 private:
  template <class Use>
  static auto with_arguments(Use&& use, const P&... parameters) {
    std::array<detail::Argument, sizeof...(P) + 1> arguments;
    [[maybe_unused]] std::size_t number = 0;
    (detail::to_argument(parameters, arguments[number++]), ...);
    return use(detail::ProgramArguments{detail::parameter_infos<P...>, arguments.data()});
  }
  std::shared_ptr<const detail::HostLambda<F>> lambda_;
  std::shared_ptr<detail::Program> program_;
};

namespace detail {

template <class F, class R, class... P>
class TypedHostEntry {
 public:
  TypedHostEntry(F lambda, std::source_location where)
      : lambda_(std::make_shared<const HostLambda<F>>(std::move(lambda), where)) {}

  [[nodiscard]] CompiledProgram<F, P...> compile(
      Given<P>... arguments, std::source_location where = std::source_location::current()) const {
    return {lambda_, lambda_->compile(nullptr, where, arguments.value()...)};
  }
  [[nodiscard]] CompiledProgram<F, P...> compile(
      Given<P>... arguments, const RunConfig& config,
      std::source_location where = std::source_location::current()) const {
    return {lambda_, lambda_->compile(&config, where, arguments.value()...)};
  }
  /// Compiles where nothing that fits was compiled before, then runs.
  void operator()(Given<P>... arguments, std::source_location where = std::source_location::current()) const {
    lambda_->run(lambda_->compiled(nullptr, where, arguments.value()...), nullptr, where,
                 arguments.value()...);
  }
  void operator()(Given<P>... arguments, const RunConfig& config,
                  std::source_location where = std::source_location::current()) const {
    lambda_->run(lambda_->compiled(&config, where, arguments.value()...), &config, where,
                 arguments.value()...);
  }

 private:
  std::shared_ptr<const HostLambda<F>> lambda_;
};

template <class F>
class GenericHostEntry {
  template <class A>
  using Parameter = deduced_t<std::remove_cvref_t<A>>;

 public:
  GenericHostEntry(F lambda, std::source_location where)
      : lambda_(std::make_shared<const HostLambda<F>>(std::move(lambda), where)) {}

  /// `compile(args…[, config])`
  template <class... A>
  [[nodiscard]] auto compile(A&&... arguments) const {
    return apply(std::forward_as_tuple(arguments...),
                 [&](const RunConfig* config, const auto&... parameters) {
                   return CompiledProgram<F, std::remove_cvref_t<decltype(parameters)>...>(
                       lambda_, lambda_->compile(config, std::source_location{}, parameters...));
                 });
  }
  template <class... A>
  void operator()(A&&... arguments) const {
    apply(std::forward_as_tuple(arguments...), [&](const RunConfig* config, const auto&... parameters) {
      lambda_->run(lambda_->compiled(config, std::source_location{}, parameters...), config,
                   std::source_location{}, parameters...);
    });
  }

 private:
  /// Calls use(config or null, parameters…).
  template <class... A, class Use>
  static auto apply(const std::tuple<A...>& arguments, Use&& use) {
    if constexpr ((std::is_same_v<std::remove_cvref_t<A>, RunConfig> || ...))
      return split(std::make_index_sequence<sizeof...(A) - 1>{}, arguments,
                   &std::get<sizeof...(A) - 1>(arguments), use);
    else
      return split(std::index_sequence_for<A...>{}, arguments, nullptr, use);
  }
  template <std::size_t... I, class Arguments, class Use>
  static auto split(std::index_sequence<I...>, const Arguments& arguments, const RunConfig* config,
                    Use& use) {
    return use(config, to_parameter<Parameter<std::tuple_element_t<I, Arguments>>>(
                           std::get<I>(arguments), std::source_location{})...);
  }
  std::shared_ptr<const HostLambda<F>> lambda_;
};

template <class F, bool generic = Generic<F>>
struct HostCalls {
  using type = GenericHostEntry<F>;
};
template <class F>
struct HostCalls<F, false> {
  template <class R, class... P>
  using Typed = TypedHostEntry<F, R, P...>;
  using type = typename MemberSignature<decltype(&F::operator())>::template apply<Typed>;
};

}  // namespace detail

/// What `pl::jit(λ)` returns: dispatched by a host orchestrator as `entry(args…, pld::device = r)`; called
/// from ordinary C++ it runs on device 0 and returns when its tasks are done.
template <class F>
class DeviceEntry : public detail::DeviceCalls<F>::type {
  using Base = typename detail::DeviceCalls<F>::type;

 public:
  using Base::Base;
};

/// What `pl::jit.host(λ)` returns: `compile(args…[, config])`, or a direct call, which compiles and runs.
template <class F>
class HostEntry : public detail::HostCalls<F>::type {
  using Base = typename detail::HostCalls<F>::type;

 public:
  using Base::Base;
};

}  // namespace pl
