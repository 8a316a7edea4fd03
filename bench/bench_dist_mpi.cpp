// bench/bench_dist_mpi.cpp -- the collectives of Open MPI, on the sizes that bench_dist measures; it starts this.
//
//   mpirun -n R bench_dist_mpi TURNS LARGEST     prints "allreduce.BYTES seconds seconds …" a line
//
// Bytes are those that each rank holds: of an allgather and an all-to-all the whole buffer, as in a window.
#include "dist_rounds.hpp"

#include <mpi.h>

#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

namespace {

void measure(const char* name, std::size_t bytes, int turns, int rank, const std::function<void()>& once) {
  int size = 1;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const int rounds = bench::rounds_for(bytes, size);
  std::string line = std::string(name) + "." + std::to_string(bytes);
  for (int turn = 0; turn <= turns; ++turn) {
    MPI_Barrier(MPI_COMM_WORLD);
    const double begin = MPI_Wtime();
    for (int round = 0; round < rounds; ++round) once();
    MPI_Barrier(MPI_COMM_WORLD);
    if (turn != 0) line += " " + std::to_string((MPI_Wtime() - begin) / rounds * 1e9) + "e-9";
  }
  if (rank == 0) std::puts(line.c_str());
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0, size = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const int turns = argc > 1 ? std::atoi(argv[1]) : 3;
  const std::size_t largest = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 64U << 20;
  for (const std::size_t bytes : bench::collective_sizes(largest)) {
    const int count = static_cast<int>(bytes / sizeof(float));
    std::vector<float> data(static_cast<std::size_t>(count), 0.0f), other(data);
    measure("allreduce", bytes, turns, rank,
            [&] { MPI_Allreduce(MPI_IN_PLACE, data.data(), count, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD); });
    const int row = count / size;
    if (row == 0) continue;
    measure("allgather", bytes, turns, rank, [&] {
      MPI_Allgather(MPI_IN_PLACE, row, MPI_FLOAT, data.data(), row, MPI_FLOAT, MPI_COMM_WORLD);
    });
    measure("all_to_all", bytes, turns, rank,
            [&] { MPI_Alltoall(data.data(), row, MPI_FLOAT, other.data(), row, MPI_FLOAT, MPI_COMM_WORLD); });
  }
  MPI_Finalize();
  return 0;
}
