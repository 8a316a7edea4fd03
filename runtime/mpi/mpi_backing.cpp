#include "runtime/mpi/mpi_backing.hpp"

#include "runtime/mpi/mpi_world.hpp"

namespace pl::detail {

MpiBacking::MpiBacking(MpiWorld& world, char* memory, std::size_t ranks)
    : world_(world), memory_(memory), size_(ranks), states_(std::make_unique<WindowPart::State[]>(ranks)) {
  world_.add(*this);
}

MpiBacking::~MpiBacking() {
  world_.remove(*this);
  world_.free(memory_);
}

// A single process has all parts, and Open MPI makes no window for it.
RemoteMemory* MpiBacking::remote() const { return world_.size() > 1 ? &world_ : nullptr; }

}  // namespace pl::detail
