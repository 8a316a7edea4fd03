// runtime/mpi/mpi_library.hpp -- opens libtrilith-mpi.so.
#pragma once

#include "runtime/mpi/calls.hpp"

namespace pl::detail {

/// Throws ConfigError where the library, or MPI, is not there; it names what to install.
[[nodiscard]] const MpiCalls& mpi_library();

}  // namespace pl::detail
