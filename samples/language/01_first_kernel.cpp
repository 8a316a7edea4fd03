// samples/language/01_first_kernel.cpp -- one kernel, called from main like a function.
//
//   ./samples/run language/01_first_kernel
//
// No orchestrator: a kernel called from ordinary C++ runs on the calling thread. Each new shape is compiled
// at its first call; a shape seen before is a function call. Run the program twice: the second time nothing
// is compiled, the disk cache answers.
#include <pl/pl.hpp>

#include <cstdint>
#include <iostream>

// (1) A kernel is a lambda. `pl::Tensor<float>` is any rank and shape: the call decides.
auto axpy = pl::jit.incore([](pl::Tensor<float> x, pl::InOut<pl::Tensor<float>> y, pl::Scalar<float> a) {
  y = pl::store(a * pl::load(x) + pl::load(y), y);
});

// (2) Calls it, checks every element, and says what the call cost: the statistics before and after tell.
bool call(std::int64_t rows, std::int64_t columns) {
  pl::Array<float> x({rows, columns}, 3.0f);
  pl::Array<float> y({rows, columns}, 1.0f);

  const pl::Statistics before = pl::statistics();
  axpy(x, y, 2.0f);
  const pl::Statistics after = pl::statistics();

  const char* how = after.misses > before.misses             ? "compiled"
                    : after.disk_hits > before.disk_hits     ? "disk cache hit"
                    : after.memory_hits > before.memory_hits ? "memory cache hit"
                                                             : "run natively (TRILITH_EAGER)";
  std::cout << rows << "x" << columns << ": " << how << '\n';
  for (const float element : y)
    if (element != 7.0f) {
      std::cout << "wrong: got " << element << ", expected 7\n";
      return false;
    }
  return true;
}

int main() try {
  // (3) Three shapes, then the same three again.
  for (int round = 0; round < 2; ++round)
    if (!call(8, 8) || !call(3, 50) || !call(1, 1)) return 1;

  // (4) What this process has done in all.
  const pl::Statistics total = pl::statistics();
  std::cout << total.misses << " compiled, " << total.disk_hits << " from the disk cache, "
            << total.memory_hits << " from memory\nOK\n";
} catch (const pl::Error& error) {
  std::cerr << error.what() << '\n';
  return 1;
}
