// Every float there is. Expected values come from the double functions, which the transcendental tests hold
// to 4 ulp of double: far finer than a float. Skipped unless asked for: a minute or two each.
#include "sweep.hpp"

namespace {

using namespace sweep;

template <class Narrow, class Wide>
void sweep_floats(const char* name, Narrow narrow, Wide wide) {
  constexpr int n = device::lanes<float>;
  Worst worst;
  std::uint64_t wrong = 0;
  for (std::uint64_t first = 0; first < (std::uint64_t{1} << 32); first += n) {
    float x[n], got[n];
    double exact[n];
    device::store(reinterpret_cast<std::int32_t*>(x),
                  device::iota<std::int32_t, n>(static_cast<std::int32_t>(first)));
    const auto argument = device::load<float, n>(x);
    device::store(got, narrow(argument));
    device::store(exact, wide(device::cast<double>(argument)));
    for (int i = 0; i < n; ++i) {
      const float rounded = static_cast<float>(exact[i]);
      if (pattern_of(got[i]) == pattern_of(rounded)) continue;
      if (got[i] != got[i] && rounded != rounded) continue;
      const double distance = ulp_distance<float>(got[i], exact[i]);
      if (distance > worst.ulp) worst = {distance, x[i], 0};
      wrong += distance > 4;
    }
  }
  CHECK(wrong == 0);
  report(std::string(name) + " all", "float", std::size_t{1} << 32, worst);
}

#define EVERY(name)                                                       \
  TEST_CASE(#name " is within 4 ulp for every float" * doctest::skip()) { \
    const auto function = [](const auto& x) { return device::name(x); };  \
    sweep_floats(#name, function, function);                              \
  }
EVERY(exp)
EVERY(exp2)
EVERY(expm1)
EVERY(log)
EVERY(log2)
EVERY(log1p)
EVERY(sin)
EVERY(cos)
EVERY(tanh)
EVERY(erf)
EVERY(sigmoid)

}  // namespace
