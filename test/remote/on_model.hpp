// Programs with windows on the model of AscendC, beside the simulator.
#pragma once

#include "runtime/support.hpp"

#include <pl/pld.hpp>

#include <cstring>
#include <numeric>
#include <string>

namespace remote {

constexpr auto NR = pl::dynamic("NR");

inline pl::RunConfig config(const char* platform, int ranks) {
  pl::RunConfig result = support::cached();
  result.platform = platform;
  result.distributed.device_ids.resize(static_cast<std::size_t>(ranks));
  std::iota(result.distributed.device_ids.begin(), result.distributed.device_ids.end(), 0);
  return result;
}

inline pl::RunConfig on_model(int ranks) { return config("a2a3model", ranks); }

/// Numbers that are exact in every dtype, and differ between neighbours and ranks.
template <class T>
pl::Array<T> small_numbers(std::vector<std::int64_t> dims, int most = 9) {
  pl::Array<T> result{pl::Index(std::move(dims))};
  std::uint32_t state = 7;
  for (T& element : result) {
    state = state * 1664525U + 1013904223U;
    element = static_cast<T>(static_cast<float>(state >> 16 & 0xffff) / 65536.0F * static_cast<float>(most));
  }
  return result;
}

/// How many bytes differ.
template <class T>
std::int64_t differences(const pl::Array<T>& a, const pl::Array<T>& b) {
  std::int64_t count = 0;
  for (std::size_t i = 0; i < a.size(); ++i)
    count += std::memcmp(a.data() + i, b.data() + i, sizeof(T)) != 0 ? 1 : 0;
  return count;
}

}  // namespace remote
