// Support of the checker's tests: runs a kernel on every rank with two windows, checked, in the order of a seed, natively
// or compiled (BOTH_WAYS).
#pragma once

#include "windows/windows.hpp"

#include <algorithm>
#include <string>

namespace windows {

inline constexpr auto NR = pl::dynamic("NR");
using Data = pld::DistributedTensor<std::int32_t, 64>;
using Cells = pld::DistributedTensor<std::int32_t, 16>;

inline pl::RunConfig checked(int ranks, std::uint64_t seed = 0) {
  pl::RunConfig result = config(ranks);
  result.check = true;
  result.schedule_seed = seed;
  return result;
}

/// What a checked run of call(wrong, data, signal, number) on every rank says; nothing: no fault. `rounds`: dispatches.
/// "wrong data" where a kernel has stored another number than 0 to its `wrong`.
template <class Call>
std::string run_checked(const Call& call, int ranks, int number, std::uint64_t seed, int rounds) {
  auto device = pl::jit([&](auto wrong, auto data, auto signal, auto n) { call(wrong, data, signal, n); });
  auto host = pl::jit.host([&](pl::Out<pl::Tensor<std::int32_t, NR, 1>> wrong) {
    auto data = pld::window<std::int32_t>(pld::alloc_window_buffer<std::int32_t>({64}), {64});
    auto signal = pld::window<std::int32_t>(pld::alloc_window_buffer<std::int32_t>({16}), {16});
    for (int round = 0; round < rounds; ++round)
      for (auto r : pl::range(pld::world_size())) device(wrong[r], data, signal, number, pld::device = r);
  });
  pl::Array<std::int32_t> wrong({ranks, 1});
  std::string message = message_of([&] { host(wrong, checked(ranks, seed)); });
  if (message.empty() &&
      std::any_of(wrong.begin(), wrong.end(), [](std::int32_t count) { return count != 0; }))
    message = "wrong data";
  return message;
}

/// Of kernel(data, signal, number).
template <class Kernel>
std::string outcome(Kernel& kernel, int ranks, int number = 1, std::uint64_t seed = 0, int rounds = 1) {
  return run_checked([&](auto, auto data, auto signal, auto n) { kernel(data, signal, n); }, ranks, number,
                     seed, rounds);
}

/// Of kernel(wrong, data, signal, number), which counts what it has read wrongly.
template <class Kernel>
std::string counted(Kernel& kernel, int ranks, int number = 1, std::uint64_t seed = 0, int rounds = 1) {
  return run_checked([&](auto wrong, auto data, auto signal, auto n) { kernel(wrong, data, signal, n); },
                     ranks, number, seed, rounds);
}

/// While this lives, programs run on the model of AscendC.
struct OnModel {
  OnModel() { platform = "a2a3model"; }
  ~OnModel() { platform = "a2a3sim"; }
};
/// What a kernel of that platform is refused for: its tiles have constant shapes.
inline bool needs_constants(const std::string& message) {
  return support::contains(message, "AscendC: the extent ") ||
         support::contains(message, "AscendC: an extent ") ||
         (support::contains(message, "AscendC: pld::") && support::contains(message, " whose extent "));
}

/// "name_test.cpp:12"
inline std::string at(const char* file, int line) {
  const std::string path = file;
  return path.substr(path.rfind('/') + 1) + ":" + std::to_string(line);
}

}  // namespace windows
