#include "runtime/model/elements.hpp"

#include "runtime/model/numbers.hpp"

namespace trilith::model {
namespace {

using AscendC::model::Dtype;
using AscendC::model::VectorOp;

template <class T, class Function>
void each(std::byte* dst, const std::byte* a, const std::byte* b, std::uint64_t count, Function function) {
  for (std::uint64_t i = 0; i < count; ++i)
    set_element(dst, i, static_cast<T>(function(element<T>(a, i), element<T>(b, i))));
}
template <class T, class Function>
void each(std::byte* dst, const std::byte* a, std::uint64_t count, Function function) {
  for (std::uint64_t i = 0; i < count; ++i) set_element(dst, i, static_cast<T>(function(element<T>(a, i))));
}

/// Integers wrap: computed unsigned and in 32 bits, where a product of 16 bits cannot overflow a signed int.
template <class T, class Function>
[[nodiscard]] T wrapped(T a, T b, Function function) {
  if constexpr (std::is_integral_v<T>)
    return static_cast<T>(function(static_cast<std::uint32_t>(a), static_cast<std::uint32_t>(b)));
  else
    return static_cast<T>(function(static_cast<Wide<T>>(a), static_cast<Wide<T>>(b)));
}

template <class T>
[[nodiscard]] T fused(T a, T b, T c) {
  if constexpr (std::is_same_v<T, float>)
    return std::fma(a, b, c);
  else  // a half product is exact in double, and so rounded once
    return static_cast<T>(static_cast<double>(static_cast<float>(a)) * static_cast<float>(b) +
                          static_cast<float>(c));
}

template <class T, VectorOp op>
struct Sum {
  T operator()(T a, T b) const {
    if constexpr (op == VectorOp::Add || op == VectorOp::Adds)
      return wrapped(a, b, [](auto x, auto y) { return x + y; });
    else if constexpr (op == VectorOp::Sub)
      return wrapped(a, b, [](auto x, auto y) { return x - y; });
    else if constexpr (op == VectorOp::Mul || op == VectorOp::Muls)
      return wrapped(a, b, [](auto x, auto y) { return x * y; });
    else if constexpr (op == VectorOp::Max || op == VectorOp::Maxs)
      return static_cast<T>(greater<T>(a, b));
    else
      return static_cast<T>(lesser<T>(a, b));
  }
};

template <class T>
[[nodiscard]] T from_scalar(std::uint64_t bits) {
  T value;
  std::memcpy(&value, &bits, sizeof(T));
  return value;
}

template <class T, VectorOp op>
void binary(std::byte* dst, const std::byte* a, const std::byte* b, std::uint64_t count, std::uint64_t) {
  each<T>(dst, a, b, count, Sum<T, op>());
}
template <class T, VectorOp op>
void with_scalar(std::byte* dst, const std::byte* a, const std::byte*, std::uint64_t count,
                 std::uint64_t scalar) {
  each<T>(dst, a, count, [value = from_scalar<T>(scalar)](T x) { return Sum<T, op>()(x, value); });
}

/// Add, Sub, …, Adds, …: of half, float, int16_t, int32_t.
template <class T>
[[nodiscard]] Elements arithmetic(VectorOp op) {
  switch (op) {
    case VectorOp::Add: return binary<T, VectorOp::Add>;
    case VectorOp::Sub: return binary<T, VectorOp::Sub>;
    case VectorOp::Mul: return binary<T, VectorOp::Mul>;
    case VectorOp::Max: return binary<T, VectorOp::Max>;
    case VectorOp::Min: return binary<T, VectorOp::Min>;
    case VectorOp::Adds: return with_scalar<T, VectorOp::Adds>;
    case VectorOp::Muls: return with_scalar<T, VectorOp::Muls>;
    case VectorOp::Maxs: return with_scalar<T, VectorOp::Maxs>;
    case VectorOp::Mins: return with_scalar<T, VectorOp::Mins>;
    case VectorOp::Relu:
      return [](std::byte* dst, const std::byte* a, const std::byte*, std::uint64_t count, std::uint64_t) {
        each<T>(dst, a, count, [](T x) { return greater<T>(x, 0); });
      };
    case VectorOp::AddRelu:
    case VectorOp::SubRelu:
      return op == VectorOp::AddRelu
                 ? static_cast<Elements>([](std::byte* dst, const std::byte* a, const std::byte* b,
                                            std::uint64_t count, std::uint64_t) {
                     each<T>(dst, a, b, count,
                             [](T x, T y) { return greater<T>(Sum<T, VectorOp::Add>()(x, y), 0); });
                   })
                 : [](std::byte* dst, const std::byte* a, const std::byte* b, std::uint64_t count,
                      std::uint64_t) {
                     each<T>(dst, a, b, count,
                             [](T x, T y) { return greater<T>(Sum<T, VectorOp::Sub>()(x, y), 0); });
                   };
    case VectorOp::CreateVecIndex:
      return
          [](std::byte* dst, const std::byte*, const std::byte*, std::uint64_t count, std::uint64_t scalar) {
            for (std::uint64_t i = 0; i < count; ++i) {
              if constexpr (std::is_integral_v<T>)
                set_element(dst, i, static_cast<T>(static_cast<std::uint64_t>(from_scalar<T>(scalar)) + i));
              else
                set_element(
                    dst, i,
                    static_cast<T>(static_cast<Wide<T>>(from_scalar<T>(scalar)) + static_cast<Wide<T>>(i)));
            }
          };
    default: return nullptr;
  }
}

/// A function of one float, computed in double and rounded.
template <class T, double (*function)(double)>
void unary(std::byte* dst, const std::byte* a, const std::byte*, std::uint64_t count, std::uint64_t) {
  each<T>(dst, a, count, [](T x) { return static_cast<T>(function(static_cast<double>(x))); });
}

double exponential(double x) { return std::exp(x); }
double logarithm(double x) { return std::log(x); }
double square_root(double x) { return std::sqrt(x); }  // double has twice the digits: rounded once
double inverse_root(double x) { return 1.0 / std::sqrt(x); }
double reciprocal(double x) { return 1.0 / x; }
double magnitude(double x) { return std::fabs(x); }

template <class T>
[[nodiscard]] Elements floating(VectorOp op) {
  switch (op) {
    case VectorOp::Div:
      return [](std::byte* dst, const std::byte* a, const std::byte* b, std::uint64_t count, std::uint64_t) {
        each<T>(dst, a, b, count, [](T x, T y) { return static_cast<Wide<T>>(x) / static_cast<Wide<T>>(y); });
      };
    case VectorOp::Exp: return unary<T, exponential>;
    case VectorOp::Ln: return unary<T, logarithm>;
    case VectorOp::Sqrt: return unary<T, square_root>;
    case VectorOp::Rsqrt: return unary<T, inverse_root>;
    case VectorOp::Reciprocal: return unary<T, reciprocal>;
    case VectorOp::Abs: return unary<T, magnitude>;
    case VectorOp::LeakyRelu:
      return [](std::byte* dst, const std::byte* a, const std::byte*, std::uint64_t count,
                std::uint64_t scalar) {
        each<T>(dst, a, count, [slope = static_cast<Wide<T>>(from_scalar<T>(scalar))](T x) {
          const auto wide = static_cast<Wide<T>>(x);
          return wide >= 0 ? wide : wide * slope;
        });
      };
    case VectorOp::FusedMulAdd:  // dst = a · dst + b
      return [](std::byte* dst, const std::byte* a, const std::byte* b, std::uint64_t count, std::uint64_t) {
        for (std::uint64_t i = 0; i < count; ++i)
          set_element(dst, i, fused(element<T>(a, i), element<T>(dst, i), element<T>(b, i)));
      };
    case VectorOp::MulAddDst:  // dst = a · b + dst
      return [](std::byte* dst, const std::byte* a, const std::byte* b, std::uint64_t count, std::uint64_t) {
        for (std::uint64_t i = 0; i < count; ++i)
          set_element(dst, i, fused(element<T>(a, i), element<T>(b, i), element<T>(dst, i)));
      };
    case VectorOp::Axpy:  // dst = a · scalar + dst
      return [](std::byte* dst, const std::byte* a, const std::byte*, std::uint64_t count,
                std::uint64_t scalar) {
        for (std::uint64_t i = 0; i < count; ++i)
          set_element(dst, i, fused(element<T>(a, i), from_scalar<T>(scalar), element<T>(dst, i)));
      };
    default: return arithmetic<T>(op);
  }
}

template <class T>
[[nodiscard]] Elements bitwise(VectorOp op) {
  switch (op) {
    case VectorOp::And:
      return [](std::byte* dst, const std::byte* a, const std::byte* b, std::uint64_t count, std::uint64_t) {
        each<T>(dst, a, b, count, [](T x, T y) { return x & y; });
      };
    case VectorOp::Or:
      return [](std::byte* dst, const std::byte* a, const std::byte* b, std::uint64_t count, std::uint64_t) {
        each<T>(dst, a, b, count, [](T x, T y) { return x | y; });
      };
    case VectorOp::Not:
      return [](std::byte* dst, const std::byte* a, const std::byte*, std::uint64_t count, std::uint64_t) {
        each<T>(dst, a, count, [](T x) { return ~x; });
      };
    case VectorOp::ShiftLeft:
      return [](std::byte* dst, const std::byte* a, const std::byte*, std::uint64_t count,
                std::uint64_t scalar) {
        const auto amount = from_scalar<T>(scalar);
        each<T>(dst, a, count, [amount](T x) {
          return static_cast<std::uint64_t>(amount) >= sizeof(T) * 8
                     ? T{0}
                     : static_cast<T>(static_cast<std::uint64_t>(x) << static_cast<unsigned>(amount));
        });
      };
    case VectorOp::ShiftRight:
      return [](std::byte* dst, const std::byte* a, const std::byte*, std::uint64_t count,
                std::uint64_t scalar) {
        const auto amount = static_cast<std::uint64_t>(from_scalar<T>(scalar));
        each<T>(dst, a, count, [amount](T x) {  // of a signed number: keeps its sign
          const unsigned most = sizeof(T) * 8 - 1;
          if (amount <= most) return static_cast<T>(x >> amount);
          return std::is_signed_v<T> ? static_cast<T>(x >> most) : T{0};
        });
      };
    default: return nullptr;
  }
}

template <class T>
void fill(std::byte* dst, const std::byte*, const std::byte*, std::uint64_t count, std::uint64_t scalar) {
  for (std::uint64_t i = 0; i < count; ++i) set_element(dst, i, from_scalar<T>(scalar));
}

template <std::uint64_t size>
void move(std::byte* dst, const std::byte* a, const std::byte*, std::uint64_t count, std::uint64_t) {
  std::memmove(dst, a, count * size);
}

template <class T>
[[nodiscard]] Elements integer(VectorOp op) {
  const Elements bits = bitwise<T>(op);
  return bits != nullptr ? bits : arithmetic<T>(op);
}

}  // namespace

Elements elements_of(VectorOp op, Dtype dst, Dtype source) {
  const bool wide = dst == Dtype::F32 || dst == Dtype::I32 || dst == Dtype::U32;
  if (op == VectorOp::Duplicate) return wide ? fill<std::uint32_t> : fill<std::uint16_t>;
  if (op == VectorOp::Copy) return wide ? move<4> : move<2>;
  if (op == VectorOp::Axpy && dst != source)  // half into float: the product is exact
    return
        [](std::byte* to, const std::byte* a, const std::byte*, std::uint64_t count, std::uint64_t scalar) {
          const float factor = from_scalar<pl::half>(scalar);
          for (std::uint64_t i = 0; i < count; ++i)
            set_element(to, i,
                        std::fma(static_cast<float>(element<pl::half>(a, i)), factor, element<float>(to, i)));
        };
  switch (dst) {
    case Dtype::F32: return floating<float>(op);
    case Dtype::F16: return floating<pl::half>(op);
    case Dtype::I16: return integer<std::int16_t>(op);
    case Dtype::I32: return integer<std::int32_t>(op);
    case Dtype::U16: return bitwise<std::uint16_t>(op);
    case Dtype::U32: return bitwise<std::uint32_t>(op);
    default: return nullptr;
  }
}

}  // namespace trilith::model
