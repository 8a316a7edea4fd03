// Support of the checker's tests: runs a kernel on every rank with two windows, checked, in the order of a seed.
#pragma once

#include "windows/windows.hpp"

#include <string>

namespace windows {

inline constexpr auto NR = pl::dynamic("NR");
using Data = pld::DistributedTensor<std::int32_t, 64>;
using Cells = pld::DistributedTensor<std::int32_t, 16>;

inline pl::RunConfig checked(int ranks, std::uint64_t seed = 0) {
  pl::RunConfig result = config(ranks);
  result.eager = false;
  result.check = true;
  result.schedule_seed = seed;
  return result;
}

/// What a checked run of kernel(data, signal, number) on every rank says; nothing: no fault. `rounds`: dispatches.
template <class Kernel>
std::string outcome(Kernel& kernel, int ranks, int number = 1, std::uint64_t seed = 0, int rounds = 1) {
  auto device = pl::jit([&](auto data, auto signal, auto n) { kernel(data, signal, n); });
  auto host = pl::jit.host([&](pl::Out<pl::Tensor<std::int32_t, NR>>) {
    auto data = pld::window<std::int32_t>(pld::alloc_window_buffer<std::int32_t>({64}), {64});
    auto signal = pld::window<std::int32_t>(pld::alloc_window_buffer<std::int32_t>({16}), {16});
    for (int round = 0; round < rounds; ++round)
      for (auto r : pl::range(pld::world_size())) device(data, signal, number, pld::device = r);
  });
  pl::Array<std::int32_t> y({ranks});
  return message_of([&] { host(y, checked(ranks, seed)); });
}

/// "name_test.cpp:12"
inline std::string at(const char* file, int line) {
  const std::string path = file;
  return path.substr(path.rfind('/') + 1) + ":" + std::to_string(line);
}

}  // namespace windows
