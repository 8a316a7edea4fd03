// runtime/pl/host_callback.hpp -- pl::host_callback: ordinary C++ between the dispatches of a host orchestrator.
//
//   auto host = pl::jit.host([&](pl::Tensor<float, NR, 8> x, pl::Out<pl::Tensor<float, NR, 8>> y) {
//     for (auto r : pl::range(pld::world_size())) first(x[r], y[r], pld::device = r);
//     pl::host_callback([&](pl::Tensor<float> now) { largest = *std::max_element(…); }, y);
//     for (auto r : pl::range(pld::world_size())) second(y[r], pld::device = r);
//   });
//
// It begins when every earlier dispatch has ended on every rank, and no later one begins before it has returned. With
// `RunConfig.distributed.num_sub_workers` = 0 it runs on the thread that called the program; else on one of so many
// threads, where callbacks that follow each other and share no memory may overlap. It does not run while a program is
// compiled. By name, `pl::host_callback("loss", y)`, it is what `prepare({.callbacks = {{"loss", …}}})` was given.
// Errors: LevelError outside a host orchestrator; ConfigError for a name without a callback; what a callback throws
// ends the program as an error of a rank does.
#pragma once

#include "pl/detail/parameter.hpp"

#include <array>
#include <functional>
#include <map>
#include <source_location>
#include <span>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace pl {

/// The callbacks of a worker by name: each is given the tensors of the call.
using HostCallbacks = std::map<std::string, std::function<void(std::span<const Tensor<>>)>>;

namespace detail {

/// Runs `work`, or the callback called `name` where `work` is empty, between the dispatches.
void host_callback(const std::string& name, std::function<void()> work, std::span<const Tensor<>> tensors,
                   const std::source_location& where);

template <class P>
void add_tensor(std::vector<Tensor<>>& tensors, const P& parameter) {
  static_assert(
      !is_window<P>,
      "pl::host_callback takes tensors and scalars; bring a window's part to the host with a kernel");
  if constexpr (is_tensor<P>) tensors.emplace_back(parameter.view(), std::source_location{});
}

/// What is called, and the place of the call, which cannot follow a list of arguments.
template <class F>
struct CallbackTarget {
  template <class G>
    requires std::is_constructible_v<F, G&&>
  CallbackTarget(G&& given,  // NOLINT(google-explicit-constructor): stands for what is called
                 const std::source_location& location = std::source_location::current())
      : target(std::forward<G>(given)), where(location) {}
  F target;
  std::source_location where;
};

}  // namespace detail

/// Calls `callback(arguments…)` between the dispatches; tensors are views, whose memory must live until then.
template <class F, class... A>
  requires(!std::is_convertible_v<F, std::string>)
void host_callback(F callback, A&&... arguments) {
  std::tuple<detail::deduced_t<std::remove_cvref_t<A>>...> values(
      detail::to_parameter<detail::deduced_t<std::remove_cvref_t<A>>>(arguments, std::source_location{})...);
  std::vector<Tensor<>> tensors;
  std::apply([&](const auto&... each) { (detail::add_tensor(tensors, each), ...); }, values);
  detail::host_callback(
      "", [callback = std::move(callback), values]() mutable { (void)std::apply(callback, values); }, tensors,
      std::source_location{});
}

/// The same for a callback that the worker was prepared with.
template <class... A>
void host_callback(const detail::CallbackTarget<std::string>& name, A&&... arguments) {
  std::vector<Tensor<>> tensors;
  const auto add = [&]<class Argument>(Argument& argument) {
    detail::add_tensor(tensors, detail::to_parameter<detail::deduced_t<std::remove_cvref_t<Argument>>>(
                                    argument, std::source_location{}));
  };
  (add(arguments), ...);
  detail::host_callback(name.target, {}, tensors, name.where);
}

}  // namespace pl
