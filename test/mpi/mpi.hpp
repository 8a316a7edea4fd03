// Support of the tests that run under mpirun: every process runs every case.
#pragma once

#include "windows/windows.hpp"

#include <cstdlib>
#include <cstring>
#include <utility>

namespace mpi {

/// Of mpirun; 1 without it.
inline int processes() {
  const char* text = std::getenv("OMPI_COMM_WORLD_SIZE");
  return text != nullptr ? std::atoi(text) : 1;
}
inline int own_rank() {
  const char* text = std::getenv("OMPI_COMM_WORLD_RANK");
  return text != nullptr ? std::atoi(text) : 0;
}

/// Until the end of the block windows::config gives this transport.
class On {
 public:
  explicit On(const char* transport) : before_(std::exchange(windows::transport, transport)) {}
  ~On() { windows::transport = before_; }
  On(const On&) = delete;
  On& operator=(const On&) = delete;

 private:
  const char* before_;
};

inline pl::RunConfig config(int ranks = processes()) {
  const On mpi("mpi");
  return windows::config(ranks);
}

/// Do the transports threads and mpi give the same bits? `run` gives a pl::Array.
template <class Run>
bool same_bits(const Run& run) {
  const auto on = [&](const char* transport) {
    const On here(transport);
    return run();
  };
  const auto threads = on("threads"), mpi = on("mpi");
  return threads.size() == mpi.size() &&
         std::memcmp(threads.data(), mpi.data(), static_cast<std::size_t>(mpi.size()) * sizeof *mpi.data()) ==
             0;
}

}  // namespace mpi
