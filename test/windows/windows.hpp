// Support of the tests of windows: configurations, and numbers that tell ranks apart.
#pragma once

#include "runtime/support.hpp"

#include <pl/pld.hpp>

#include <cstdlib>
#include <numeric>
#include <vector>

namespace windows {

/// Do the kernels of this run of a test case run natively?
inline bool natively = true;
/// Opens a test case that runs once natively and once compiled.
#define BOTH_WAYS                                   \
  SUBCASE("natively") { windows::natively = true; } \
  SUBCASE("compiled") { windows::natively = false; }

/// Of the configurations that follow.
inline const char* transport = "threads";
inline const char* platform = "a2a3sim";

inline pl::RunConfig config(int ranks) {
  pl::RunConfig result;
  // Processes of one test share a cache that its caller gives them.
  if (std::getenv("TRILITH_CACHE_DIR") == nullptr) result = support::cached();
  result.distributed.transport = transport;
  result.platform = platform;
  result.eager = natively;
  result.distributed.device_ids.resize(static_cast<std::size_t>(ranks));
  std::iota(result.distributed.device_ids.begin(), result.distributed.device_ids.end(), 0);
  return result;
}

/// The message of the pl::UserError that `run` ends with, or nothing.
template <class Run>
std::string message_of(const Run& run) {
  return support::message_of<pl::UserError>(run);
}

inline pl::Array<float> numbers(std::vector<std::int64_t> dims) {
  pl::Array<float> result{pl::Index(std::move(dims))};
  float next = 1;
  for (float& element : result) element = next++;
  return result;
}

}  // namespace windows
