// Every transcendental function, over all exponents, against the C library in long double.
#include "sweep.hpp"

namespace {

using namespace sweep;

template <class T>
std::vector<T> arguments() {
  std::vector<T> values = all_exponents<T>(sizeof(T) == 4 ? 256 : 24);
  add_uniform(values, -1, 1, 100000, 3);
  add_uniform(values, -10, 10, 100000, 4);
  add_uniform(values, -110, 110, 100000, 5);
  if (sizeof(T) == 8) add_uniform(values, -1100, 1100, 100000, 6);
  return values;
}

#define CHECK_BOTH(name, exact)                                                  \
  check_transcendental<float>(                                                   \
      #name, arguments<float>(), [](const auto& x) { return device::name(x); },  \
      [](long double x) -> long double { return exact; });                       \
  check_transcendental<double>(                                                  \
      #name, arguments<double>(), [](const auto& x) { return device::name(x); }, \
      [](long double x) -> long double { return exact; });

TEST_CASE("exp is within 4 ulp everywhere") { CHECK_BOTH(exp, expl(x)); }
TEST_CASE("exp2 is within 4 ulp everywhere") { CHECK_BOTH(exp2, exp2l(x)); }

}  // namespace
