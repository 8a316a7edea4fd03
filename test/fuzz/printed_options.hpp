// test/fuzz/printed_options.hpp -- which random programs are printed as C++; the printing tool and the tests agree.
#pragma once

#include "codegen/random_program.hpp"

namespace fuzz {

inline trilith::codegen::RandomOptions printed_options() {
  trilith::codegen::RandomOptions options;
  options.statements = 5;     // 64 of them are compiled in each run of CI
  options.any_dtype = false;  // a variable of C++ has one type, also where the dtype is the call's
  return options;
}

}  // namespace fuzz
