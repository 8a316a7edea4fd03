// Every function of the device header in one object; check_symbols.cmake looks at what it refers to.
#include "codegen/xsimd/device/trilith/device.hpp"

namespace {

namespace device = trilith::device;
constexpr int floats = device::lanes<float>, doubles = device::lanes<double>;

}  // namespace

#define UNARY(name)                                                   \
  extern "C" void unary_##name(float* x, double* y) {                 \
    device::store(x, device::name(device::load<float, floats>(x)));   \
    device::store(y, device::name(device::load<double, doubles>(y))); \
    device::store(y, device::name(device::load<double, floats>(y)));  \
    x[0] = device::name(x[1]);                                        \
    y[0] = device::name(y[1]);                                        \
  }
#define BINARY(name, small, large)                                                                        \
  extern "C" void binary_##name##_##small(small* x, large* y) {                                           \
    device::store(x, device::name(device::load<small, floats>(x), device::load<small, floats>(x + 99)));  \
    device::store(y, device::name(device::load<large, doubles>(y), device::load<large, doubles>(y + 9))); \
    device::store(y, device::name(device::load<large, floats>(y), device::load<large, floats>(y + 99)));  \
    x[0] = device::name(x[1], x[2]);                                                                      \
    y[0] = device::name(y[1], y[2]);                                                                      \
  }
#define FLOATING(name) BINARY(name, float, double)
#define INTEGER(name) BINARY(name, int, long)
#define BOTH(name) FLOATING(name) INTEGER(name)

// clang-format off: calls of macros without semicolons
UNARY(neg) UNARY(abs) UNARY(recip) UNARY(sqrt) UNARY(rsqrt) UNARY(square) UNARY(sign) UNARY(floor)
UNARY(ceil) UNARY(round) UNARY(rint) UNARY(trunc) UNARY(relu) UNARY(exp) UNARY(exp2) UNARY(expm1) UNARY(log)
UNARY(log2) UNARY(log1p) UNARY(sin) UNARY(cos) UNARY(tanh) UNARY(erf) UNARY(sigmoid) BOTH(add) BOTH(sub)
BOTH(mul) BOTH(div) BOTH(fmod) BOTH(rem) BOTH(maximum) BOTH(minimum) FLOATING(pow) INTEGER(bit_and)
INTEGER(bit_or) INTEGER(bit_xor) INTEGER(shl) INTEGER(shr)
    // clang-format on

    extern "C" void other(float* x, double* y, int* i, long* l, bool* b, int n) {
  x[0] = device::fma(x[1], x[2], x[3]);
  y[0] = device::fma(y[1], y[2], y[3]);
  y[1] = device::reduce_add(device::load_partial<double, floats>(y, n)) +
         device::reduce_max(device::load_strided<double, doubles>(y, n, n));
  const auto wide = device::load<double, floats>(y);
  device::store_partial(i, device::cast<std::int32_t, device::CastMode::Odd>(wide), n);
  device::store_strided(l, n, device::cast<std::int64_t, device::CastMode::Round>(wide), n);
  device::store_mask_partial(b, device::load_mask_partial<floats>(b, n), n);
  device::store_streaming(x, device::cast<float>(device::load<std::int64_t, floats>(l)));
}
