// Wrong programs whose kernels cannot be compiled: they run natively, whatever the configuration says.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace wrong::native {

struct Program {
  std::function<std::string(int ranks, int number, std::uint64_t seed)> run;
  std::vector<std::string> places;  ///< that its report names
};
[[nodiscard]] Program sets_a_cell_of_its_collective();
[[nodiscard]] Program throws_while_others_wait();

}  // namespace wrong::native
