// runtime/pl/jit.hpp -- pl::jit: makes kernels and orchestrators of lambdas.
//
//   pl::jit.incore(λ)    in-core kernel: captured by the build, compiled at the first call of a shape
//   pl::jit.incore_source("file.cpp", "entry", pl::signature<…>)    in-core kernel written by hand
//   pl::jit(λ)           device orchestration: calls kernels, natively
//   pl::jit.host(λ)      host orchestrator: loops over ranks and dispatches, natively
//   pl::jit.inline_(λ)   helper that becomes part of the kernel that calls it
#pragma once

#include "pl/capture_record.hpp"
#include "pl/incore_source.hpp"
#include "pl/kernel.hpp"
#include "pl/orchestrator.hpp"

#include <source_location>
#include <utility>

namespace pl {

/// What `pl::jit.inline_(λ)` returns: calls go to the lambda.
template <class F>
class Inline {
 public:
  explicit Inline(F lambda) : lambda_(std::move(lambda)) {}
  template <class... A>
  decltype(auto) operator()(A&&... arguments) const {
    return lambda_(std::forward<A>(arguments)...);
  }

 private:
  F lambda_;
};

/// The type of `pl::jit`. The last two parameters of `incore` are for the compiler to fill in: they find what
/// the build captured.
class Jit {
 public:
  template <class F>
  [[nodiscard]] InCore<F> incore(F lambda, std::source_location where = std::source_location::current(),
                                 const detail::CaptureUnit* unit = detail::current_capture_unit()) const {
    return InCore<F>(std::move(lambda), where, unit);
  }
  /// A kernel written by hand, see pl/incore_source.hpp.
  template <class... P>
  [[nodiscard]] InCore<detail::ExternalFunction<P...>> incore_source(
      std::string file, std::string entry, detail::SignatureOf<P...>,
      std::source_location where = std::source_location::current()) const {
    return {detail::ExternalFunction<P...>{{std::move(file), std::move(entry), where}}, where, nullptr};
  }
  template <class F>
  [[nodiscard]] DeviceEntry<F> operator()(
      F lambda, std::source_location where = std::source_location::current()) const {
    return DeviceEntry<F>(std::move(lambda), where);
  }
  template <class F>
  [[nodiscard]] HostEntry<F> host(F lambda,
                                  std::source_location where = std::source_location::current()) const {
    return HostEntry<F>(std::move(lambda), where);
  }
  template <class F>
  [[nodiscard]] Inline<F> inline_(F lambda, std::source_location where = std::source_location::current(),
                                  const detail::CaptureUnit* unit = detail::current_capture_unit()) const {
    (void)where;
    (void)unit;
    return Inline<F>(std::move(lambda));
  }
};

inline constexpr Jit jit{};

}  // namespace pl
