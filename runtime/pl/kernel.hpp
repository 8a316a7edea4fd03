// runtime/pl/kernel.hpp -- in-core kernels: pl::InCore, pl::Kernel, pl::Compiled.
//
//   auto scale = pl::jit.incore([](pl::Tensor<float> x, pl::Out<pl::Tensor<float>> y, pl::Scalar<float> s) {
//     return pl::store(pl::load(x) * s, y);
//   });
//   scale(x, y, 2.0f);                       // compiled at the first call of a shape, then a cached call
//   auto handle = scale.compile(x, y, 2.0f); // compiled now; handle(x, y, 3.0f) skips the look-up
//   auto bound = handle.bind(x, y, 3.0f);    // checked now; bound() does no more than run the code
//   pl::Kernel<void(pl::Tensor<float>, pl::Out<pl::Tensor<float>>, float)> k = scale;  // nameable, type-erased
//
// Arguments: views (`pl::tensor(…)`, slices), `pl::Array`, numbers. The views' memory must live until the
// call returns. Copies of a kernel share the lambda and the compiled code; the code is released with the last
// copy. Thread-safe. Errors: ShapeError, DtypeError (an argument that does not fit), LevelError (called from
// a host orchestrator), CaptureError (the source file was not given to `trilith_capture`).
#pragma once

#include "pl/bound.hpp"
#include "pl/capture_record.hpp"
#include "pl/detail/kernel_family.hpp"
#include "pl/error.hpp"

#include <array>
#include <functional>
#include <memory>
#include <optional>
#include <utility>

namespace pl {

namespace detail {

/// Null for a lambda; a kernel in a file of its own knows its source.
template <class F>
[[nodiscard]] const ExternalSource* external_source_of(const F& function) {
  if constexpr (requires { function.external; })
    return &function.external;
  else
    return nullptr;
}

/// The kernel object of a lambda F with the parameters P.
template <class F, class R, class... P>
class LambdaKernel final : public KernelObject {
  static_assert(std::is_void_v<R> || is_tensor<std::remove_cvref_t<R>>,
                "a kernel returns nothing or the pl::Out it wrote");

 public:
  static constexpr std::array<ParameterInfo, sizeof...(P)> parameters = {parameter_info<P>()...};

  LambdaKernel(const F& lambda, std::vector<const std::type_info*> argument_types, std::source_location where,
               const CaptureUnit* unit)
      : KernelObject({parameters, &lambda, sizeof(F), &typeid(F), std::move(argument_types), where, unit,
                      external_source_of(lambda)}),
        lambda_(lambda) {}

 private:
  void run_natively(const Argument* arguments, void* result) const override {
    run(arguments, result, std::index_sequence_for<P...>{});
  }
  template <std::size_t... I>
  void run([[maybe_unused]] const Argument* arguments, [[maybe_unused]] void* result,
           std::index_sequence<I...>) const {
    call_lambda(result, from_argument<P>(arguments[I])...);
  }
  void call_lambda([[maybe_unused]] void* result, P... values) const {
    if constexpr (!Generic<F> && !std::is_invocable_v<const F&, P&...>) {
      return;  // `mutable`: MemberSignature says so
    } else if constexpr (std::is_void_v<R>) {
      lambda_(values...);
    } else if (result == nullptr) {
      (void)lambda_(values...);
    } else {
      static_cast<std::optional<std::remove_cvref_t<R>>*>(result)->emplace(lambda_(values...));
    }
  }
  const F& lambda_;
};

/// The parameter with number `index`, or the first that can be an R. `number`: of the first of these.
template <class R, int number = 0, class P, class... Rest>
R returned_parameter(int index, const P& parameter, const Rest&... rest) {
  if constexpr (is_tensor<P>)
    // Of a generic kernel the argument's type is known only, perhaps not that it is an output.
    if constexpr (std::is_constructible_v<R, const P&>)
      if (index == number ||
          (index == result_is_unknown && (access_of<P> != Access::In || access_of<R> == Access::In)))
        return to_parameter<R>(parameter, std::source_location{});
  if constexpr (sizeof...(Rest) != 0)
    return returned_parameter<R, number + 1>(index, rest...);
  else
    throw InternalError("a kernel returned parameter " + std::to_string(index) + ", which has another type");
}

/// Calls `invoke(arguments, result)` and gives what the lambda returns.
template <class R, class Invoke, class... P>
R call_with(Invoke&& invoke, const P&... parameters) {
  std::array<Argument, sizeof...(P) + 1> arguments;
  [[maybe_unused]] std::size_t number = 0;
  (to_argument(parameters, arguments[number++]), ...);
  if constexpr (std::is_void_v<R>) {
    invoke(arguments.data(), nullptr);
  } else {
    using Result = std::remove_cvref_t<R>;
    std::optional<Result> result;
    const int index = invoke(arguments.data(), &result);
    if (result) return *std::move(result);
    return returned_parameter<Result>(index, parameters...);
  }
}

/// A lambda with its kernel objects.
template <class F>
class LambdaFamily final : public KernelFamily {
 public:
  LambdaFamily(F lambda, std::source_location where, const CaptureUnit* unit)
      : KernelFamily(where, unit), lambda_(std::move(lambda)) {}
  ~LambdaFamily() override { clear(); }
  LambdaFamily(const LambdaFamily&) = delete;
  LambdaFamily& operator=(const LambdaFamily&) = delete;

  template <class R, class... P>
  [[nodiscard]] KernelObject& object() {
    static constexpr char tag = 0;
    if (KernelObject* const found = find(&tag)) return *found;
    std::vector<const std::type_info*> types;
    if constexpr (Generic<F>) types = {&typeid(P)...};
    return keep(&tag, std::unique_ptr<KernelObject>(
                          new LambdaKernel<F, R, P...>(lambda_, std::move(types), where(), unit())));
  }

 private:
  const F lambda_;
};

}  // namespace detail

/// A specialisation that is ready: skips the look-up. Called with arguments of another signature: ShapeError.
template <class Signature>
class Compiled;
template <class R, class... P>
class Compiled<R(P...)> {
 public:
  Compiled(std::shared_ptr<detail::KernelObject> kernel, detail::KernelObject::Handle handle)
      : kernel_(std::move(kernel)), handle_(std::move(handle)) {}

  R operator()(detail::Given<P>... arguments,
               std::source_location where = std::source_location::current()) const {
    return detail::call_with<R>([&](const detail::Argument* list,
                                    void* result) { return kernel_->call(handle_, list, result, where); },
                                arguments.value()...);
  }
  /// This call with these very arguments, all checks done now: `bound()` then costs little more than a call
  /// through a function pointer. Errors as of a call, at `where`.
  [[nodiscard]] Bound bind(detail::Given<P>... arguments,
                           std::source_location where = std::source_location::current()) const {
    std::shared_ptr<const detail::BoundCall> call;
    detail::call_with<void>(
        [&](const detail::Argument* list, void*) { call = kernel_->bind(handle_, list, where); },
        arguments.value()...);
    return Bound(kernel_, std::move(call));
  }

 private:
  std::shared_ptr<detail::KernelObject> kernel_;
  detail::KernelObject::Handle handle_;
};

namespace detail {

/// The calls of a kernel whose lambda names its parameters' types.
template <class F, class R, class... P>
class TypedKernel {
 public:
  TypedKernel(F lambda, std::source_location where, const CaptureUnit* unit)
      : family_(new LambdaFamily<F>(std::move(lambda), where, unit)),
        object_(&static_cast<LambdaFamily<F>&>(*family_).template object<R, P...>()) {}

  R operator()(Given<P>... arguments, std::source_location where = std::source_location::current()) const {
    return call_with<R>(
        [&](const Argument* list, void* result) { return object_->call(list, result, where); },
        arguments.value()...);
  }

  /// Compiles for arguments like these, or finds the code in a cache, without running it.
  [[nodiscard]] Compiled<R(P...)> compile(
      Given<P>... arguments, std::source_location where = std::source_location::current()) const {
    KernelObject::Handle handle;
    call_with<void>([&](const Argument* list, void*) { handle = object_->compile(list, where); },
                    arguments.value()...);
    return {std::shared_ptr<KernelObject>(family_, object_), std::move(handle)};
  }

  /// The specialised IR for arguments like these, as text.
  [[nodiscard]] std::string lower(Given<P>... arguments) const {
    std::string text;
    call_with<void>([&](const Argument* list, void*) { text = object_->lower(list); }, arguments.value()...);
    return text;
  }
  /// What a target makes of it: "xsimd" (C++), "ir" (as lower), "json".
  [[nodiscard]] std::string emit(std::string_view target, Given<P>... arguments) const {
    std::string text;
    call_with<void>([&](const Argument* list, void*) { text = object_->emit(target, list); },
                    arguments.value()...);
    return text;
  }
  /// Of the variable the kernel initialises, else "kernel at file:line".
  [[nodiscard]] std::string name() const { return object_->name(); }

 private:
  std::shared_ptr<KernelFamily> family_;
  KernelObject* object_;
};

/// The calls of a kernel with `auto` parameters: one kernel object for each list of argument types.
template <class F>
class GenericKernel {
  // A rank is a number in a kernel.
  template <class A>
  using Parameter = std::conditional_t<std::is_same_v<std::remove_cvref_t<A>, pld::Rank>, std::int32_t,
                                       deduced_t<std::remove_cvref_t<A>>>;
  template <class... A>
  using Result = std::invoke_result_t<const F&, Parameter<A>&...>;

 public:
  GenericKernel(F lambda, std::source_location where, const CaptureUnit* unit)
      : family_(new LambdaFamily<F>(std::move(lambda), where, unit)) {}

  template <class... A>
  Result<A...> operator()(A&&... arguments) const {
    KernelObject& object = object_of<A...>();
    return call_with<Result<A...>>(
        [&](const Argument* list, void* result) { return object.call(list, result, std::source_location{}); },
        to_parameter<Parameter<A>>(arguments, std::source_location{})...);
  }
  template <class... A>
  [[nodiscard]] Compiled<Result<A...>(Parameter<A>...)> compile(A&&... arguments) const {
    KernelObject& object = object_of<A...>();
    KernelObject::Handle handle;
    call_with<void>(
        [&](const Argument* list, void*) { handle = object.compile(list, std::source_location{}); },
        to_parameter<Parameter<A>>(arguments, std::source_location{})...);
    return {std::shared_ptr<KernelObject>(family_, &object), std::move(handle)};
  }
  template <class... A>
  [[nodiscard]] std::string lower(A&&... arguments) const {
    return emit("ir", arguments...);
  }
  template <class... A>
  [[nodiscard]] std::string emit(std::string_view target, A&&... arguments) const {
    KernelObject& object = object_of<A...>();
    std::string text;
    call_with<void>([&](const Argument* list, void*) { text = object.emit(target, list); },
                    to_parameter<Parameter<A>>(arguments, std::source_location{})...);
    return text;
  }

 private:
  template <class... A>
  [[nodiscard]] KernelObject& object_of() const {
    return static_cast<LambdaFamily<F>&>(*family_).template object<Result<A...>, Parameter<A>...>();
  }

  std::shared_ptr<KernelFamily> family_;
};

template <class F, bool generic = Generic<F>>
struct KernelCalls {
  using type = GenericKernel<F>;
};
template <class F>
struct KernelCalls<F, false> {
  template <class R, class... P>
  using Typed = TypedKernel<F, R, P...>;
  using type = typename MemberSignature<decltype(&F::operator())>::template apply<Typed>;
};

}  // namespace detail

/// What `pl::jit.incore(λ)` returns. Calls, `compile`, `lower`, `emit` and `name`: see above.
template <class F>
class InCore : public detail::KernelCalls<F>::type {
  using Base = typename detail::KernelCalls<F>::type;

 public:
  using Base::Base;
};

/// A kernel as a value: any in-core kernel that can be called with these arguments. Empty until assigned.
template <class Signature>
class Kernel;
template <class... Args>
class Kernel<void(Args...)> {
 public:
  Kernel() = default;
  template <class F>
    requires std::is_invocable_v<const InCore<F>&, Args&...>
  Kernel(InCore<F> kernel)  // NOLINT(google-explicit-constructor): a kernel is a Kernel
      : model_(std::make_shared<const Model<InCore<F>>>(std::move(kernel))) {}

  [[nodiscard]] explicit operator bool() const { return model_ != nullptr; }

  void operator()(detail::Given<Args>... arguments,
                  std::source_location where = std::source_location::current()) const {
    model(where).call(arguments.value()...);
  }
  /// Compiles for arguments like these; returns a call that skips the look-up.
  [[nodiscard]] std::function<void(Args...)> compile(
      detail::Given<Args>... arguments, std::source_location where = std::source_location::current()) const {
    return model(where).compile(arguments.value()...);
  }
  [[nodiscard]] std::string lower(detail::Given<Args>... arguments) const {
    return model({}).emit("ir", arguments.value()...);
  }
  [[nodiscard]] std::string emit(std::string_view target, detail::Given<Args>... arguments) const {
    return model({}).emit(target, arguments.value()...);
  }

 private:
  struct Concept {
    virtual ~Concept() = default;
    virtual void call(const Args&...) const = 0;
    [[nodiscard]] virtual std::function<void(Args...)> compile(const Args&...) const = 0;
    [[nodiscard]] virtual std::string emit(std::string_view target, const Args&...) const = 0;
  };
  template <class K>
  struct Model final : Concept {
    explicit Model(K kernel_) : kernel(std::move(kernel_)) {}
    void call(const Args&... arguments) const override { (void)kernel(arguments...); }
    std::function<void(Args...)> compile(const Args&... arguments) const override {
      return [handle = kernel.compile(arguments...)](const Args&... later) { (void)handle(later...); };
    }
    std::string emit(std::string_view target, const Args&... arguments) const override {
      return kernel.emit(target, arguments...);
    }
    K kernel;
  };
  const Concept& model(const std::source_location& where) const {
    if (!model_)
      throw UserError("an empty pl::Kernel was called; assign the result of pl::jit.incore(…) to it first",
                      {where.line() == 0 ? "" : where.file_name(), where.line(), where.column()});
    return *model_;
  }
  std::shared_ptr<const Concept> model_;
};

}  // namespace pl
