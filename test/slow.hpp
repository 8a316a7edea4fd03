// test/slow.hpp -- cases that do the same over and over: a few times in CI, often in the run of label slow.
#pragma once

#include <cstdlib>

namespace support {

/// A test file that calls this is a second ctest test of label slow, with TRILITH_SLOW_TESTS set.
inline int slow_rounds(int quick, int slow) {
  return std::getenv("TRILITH_SLOW_TESTS") != nullptr ? slow : quick;
}

}  // namespace support
