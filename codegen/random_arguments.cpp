#include "codegen/random_program.hpp"

#include "codegen/printer.hpp"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <limits>

namespace trilith::codegen {
namespace {

/// Elements before and behind each tensor that nobody may touch; odd, so that nothing is aligned by luck.
constexpr std::int64_t margin = 5;

/// How wild the values of one tensor are: with NaN everywhere, most results would be NaN and say little.
enum class Flavour { Tame, Wide, Special };

template <class Float>
Float random_float(Random& random, Flavour flavour) {
  if constexpr (pl::is_narrow_float<Float>) {
    using Limits = std::numeric_limits<Float>;
    const Float special[] = {Limits::max(), Limits::lowest(), Limits::denorm_min(), Limits::min(),
                             Limits::epsilon()};
    if (flavour == Flavour::Special && random.chance(8)) return random.pick(special);
    const float wide = random_float<float>(random, flavour);
    return Float(flavour == Flavour::Wide ? wide / 1e4f : wide);
  } else {
    using Limits = std::numeric_limits<Float>;
    if (flavour == Flavour::Special && random.chance(15)) {
      const Float special[] = {0,
                               Float(-0.0),
                               Limits::infinity(),
                               -Limits::infinity(),
                               Limits::quiet_NaN(),
                               Limits::denorm_min(),
                               -Limits::denorm_min(),
                               Limits::min() / 2,
                               Limits::max(),
                               Limits::lowest(),
                               Limits::epsilon(),
                               Float(2147483648.0),
                               Float(0.5),
                               Float(-2.5)};
      return random.pick(special);
    }
    const auto mantissa =
        static_cast<Float>(random.below(std::int64_t{1} << 24)) / Float(1 << 21) - 4;  // [-4, 4)
    if (flavour == Flavour::Tame) return random.chance(30) ? std::floor(mantissa) : mantissa;
    return std::ldexp(mantissa, static_cast<int>(random.below(120)) - 60);
  }
}

template <class Integer>
Integer random_integer(Random& random, Flavour flavour) {
  using Limits = std::numeric_limits<Integer>;
  if (flavour == Flavour::Special && random.chance(20)) {
    const Integer special[] = {
        Limits::min(), Limits::max(), 0, 1, static_cast<Integer>(-1), 7, 8, 31, 32, 63, 64};
    return random.pick(special);
  }
  if (flavour == Flavour::Tame) return static_cast<Integer>(random.below(21) - 10);
  return static_cast<Integer>(random.bits());
}

void fill(Value& memory, Random& random) {
  const auto flavour = random.chance(50)   ? Flavour::Tame
                       : random.chance(50) ? Flavour::Special
                                           : Flavour::Wide;
  const std::int64_t count = memory.size();
  const auto each = [&](auto* data, const auto& make) {
    for (std::int64_t i = 0; i < count; ++i) data[i] = make();
  };
  const auto integers = [&]<class T>(T) {
    each(memory.data<T>(), [&] { return random_integer<T>(random, flavour); });
  };
  switch (memory.dtype) {
    case DType::Bool: return each(memory.data<bool>(), [&] { return random.chance(50); });
    case DType::Int8: return integers(std::int8_t{});
    case DType::Int16: return integers(std::int16_t{});
    case DType::Int32: return integers(std::int32_t{});
    case DType::Int64: return integers(std::int64_t{});
    case DType::UInt8: return integers(std::uint8_t{});
    case DType::UInt16: return integers(std::uint16_t{});
    case DType::UInt32: return integers(std::uint32_t{});
    case DType::UInt64: return integers(std::uint64_t{});
    case DType::Float16:
      return each(memory.data<pl::half>(), [&] { return random_float<pl::half>(random, flavour); });
    case DType::BFloat16:
      return each(memory.data<pl::bfloat16>(), [&] { return random_float<pl::bfloat16>(random, flavour); });
    case DType::Float32:
      return each(memory.data<float>(), [&] { return random_float<float>(random, flavour); });
    case DType::Float64:
      return each(memory.data<double>(), [&] { return random_float<double>(random, flavour); });
  }
}

Value random_scalar(const RandomParameter& parameter, Random& random) {
  if (parameter.value) return Value::scalar(*parameter.value);
  Value result(parameter.dtype, {});
  fill(result, random);
  result.is_scalar = true;
  return result;
}

/// Strides of the parameter's layout class, and the element the view starts at.
struct Placement {
  Shape strides;
  std::int64_t first = margin;
  std::int64_t elements = 2 * margin;
};

Placement place(const RandomParameter& parameter, Random& random) {
  const std::size_t rank = parameter.extents.size();
  Placement result;
  result.strides.resize(rank);
  std::int64_t stride = 1;
  for (std::size_t i = rank; i-- > 0;) {
    if (parameter.layout == Layout::Strided && i + 1 == rank) stride = 2 + random.below(2);
    result.strides[i] = stride;
    stride *= std::max<std::int64_t>(parameter.extents[i], 1);
    if (parameter.layout != Layout::Dense) stride += random.below(4);
  }
  result.elements += stride + 4;
  if (parameter.layout != Layout::Strided || !parameter.is_input || rank == 0) return result;
  // Inputs may repeat an axis or run backwards.
  const auto axis = static_cast<std::size_t>(random.below(static_cast<std::int64_t>(rank)));
  if (random.chance(30)) {
    result.strides[axis] = 0;
  } else if (random.chance(40)) {
    result.first += result.strides[axis] * std::max<std::int64_t>(parameter.extents[axis] - 1, 0);
    result.strides[axis] = -result.strides[axis];
  }
  return result;
}

/// Distance in representable numbers; 0 for two NaN.
template <class Float, class Bits>
std::uint64_t ulps(Float a, Float b) {
  if (a != a || b != b) return a != a && b != b ? 0 : std::numeric_limits<std::uint64_t>::max();
  const auto ordered = [](Float x) {
    constexpr int sign = 8 * sizeof(Bits) - 1;
    const auto pattern = std::bit_cast<Bits>(x);
    const auto magnitude = static_cast<std::uint64_t>(pattern & ~(Bits{1} << sign));
    constexpr std::uint64_t zero = std::uint64_t{1} << 63;
    return (pattern >> sign) != 0 ? zero - magnitude : zero + magnitude;
  };
  const std::uint64_t x = ordered(a), y = ordered(b);
  return x < y ? y - x : x - y;
}

template <class Float, class Bits>
bool close(Float expected, Float given, Tolerance tolerance) {
  if (tolerance == Tolerance::Exact) {
    if (expected != expected) return given != given;
    return std::bit_cast<Bits>(expected) == std::bit_cast<Bits>(given);
  }
  if (tolerance == Tolerance::Ulp4) return ulps<Float, Bits>(expected, given) <= 4;
  if (expected != expected || given != given) return expected != expected && given != given;
  if (expected == given) return true;
  // A 16-bit sum is kept in float, and only its last rounding may differ.
  const double unit = std::numeric_limits<Float>::epsilon() * (sizeof(Float) == 2 ? 2.0 : 1024.0);
  const double distance = std::fabs(static_cast<double>(expected) - static_cast<double>(given));
  return distance <= unit * (1 + std::fabs(static_cast<double>(expected)));
}

bool same_element(const Value& expected, const Value& given, std::int64_t i, Tolerance tolerance) {
  switch (expected.dtype) {
    case DType::Float16:
      return close<pl::half, std::uint16_t>(expected.get<pl::half>(i), given.get<pl::half>(i), tolerance);
    case DType::BFloat16:
      return close<pl::bfloat16, std::uint16_t>(expected.get<pl::bfloat16>(i), given.get<pl::bfloat16>(i),
                                                tolerance);
    case DType::Float32:
      return close<float, std::uint32_t>(expected.get<float>(i), given.get<float>(i), tolerance);
    case DType::Float64:
      return close<double, std::uint64_t>(expected.get<double>(i), given.get<double>(i), tolerance);
    default: {
      const std::size_t size = size_of(expected.dtype), at = static_cast<std::size_t>(i) * size;
      return std::memcmp(expected.bytes.data() + at, given.bytes.data() + at, size) == 0;
    }
  }
}

std::string text_of_element(const Value& value, std::int64_t i) {
  char text[64];
  const auto print = [&](auto element) {
    return std::string(text, std::to_chars(text, text + sizeof text, element).ptr);
  };
  switch (value.dtype) {
    case DType::Float16: return print(static_cast<float>(value.get<pl::half>(i)));
    case DType::BFloat16: return print(static_cast<float>(value.get<pl::bfloat16>(i)));
    case DType::Float32: return print(value.get<float>(i));
    case DType::Float64: return print(value.get<double>(i));
    case DType::Int8: return print(int{value.get<std::int8_t>(i)});
    case DType::Int16: return print(value.get<std::int16_t>(i));
    case DType::Int32: return print(value.get<std::int32_t>(i));
    case DType::Int64: return print(value.get<std::int64_t>(i));
    case DType::UInt16: return print(value.get<std::uint16_t>(i));
    case DType::UInt32: return print(value.get<std::uint32_t>(i));
    case DType::UInt64: return print(value.get<std::uint64_t>(i));
    default: return print(std::to_integer<int>(value.bytes[static_cast<std::size_t>(i)]));
  }
}

/// "element [1, 2]", or that memory outside the tensor was written.
std::string place_of(const TensorView& view, const Value& memory, std::int64_t element) {
  const auto* start = static_cast<const std::byte*>(view.data);
  const std::int64_t first = (start - memory.bytes.data()) / static_cast<std::int64_t>(size_of(view.dtype));
  Shape index(view.extents.size(), 0);
  const std::int64_t count = element_count(view.extents);
  for (std::int64_t i = 0; i < count; ++i) {
    std::int64_t at = first, rest = i;
    for (std::size_t axis = index.size(); axis-- > 0;) {
      index[axis] = rest % view.extents[axis];
      rest /= view.extents[axis];
      at += index[axis] * view.strides[axis];
    }
    if (at != element) continue;
    std::string text = "element [";
    for (std::size_t axis = 0; axis < index.size(); ++axis)
      text += (axis == 0 ? "" : ", ") + std::to_string(index[axis]);
    return text + "]";
  }
  return "memory outside the tensor, element " + std::to_string(element - first) + " from its start";
}

}  // namespace

RandomArguments random_arguments(const RandomProgram& program) {
  Random random(program.seed ^ 0x5eedu);
  RandomArguments result;
  result.memory.reserve(program.parameters.size());
  for (const RandomParameter& parameter : program.parameters) {
    if (!parameter.is_tensor) {
      result.memory.push_back(random_scalar(parameter, random));
      result.arguments.emplace_back(result.memory.back());
      continue;
    }
    const Placement placement = place(parameter, random);
    result.memory.emplace_back(parameter.dtype, Shape{placement.elements});
    fill(result.memory.back(), random);
    std::byte* start = result.memory.back().bytes.data() +
                       static_cast<std::size_t>(placement.first) * size_of(parameter.dtype);
    result.arguments.emplace_back(TensorView{parameter.dtype, start, parameter.extents, placement.strides});
  }
  for (const RandomParameter& capture : program.captures)
    result.captures.push_back(random_scalar(capture, random));
  return result;
}

Signature signature_of(const RandomProgram& program, const RandomArguments& arguments) {
  const auto constant_of = [](const Value& scalar) {
    Constant constant{scalar.dtype, 0};
    std::memcpy(&constant.bits, scalar.bytes.data(), scalar.bytes.size());
    if (is_integer(scalar.dtype))  // signs fill the word
      return Constant::of(scalar.dtype, static_cast<std::int64_t>(constant.bits));
    return constant;
  };
  Signature signature;
  for (std::size_t i = 0; i < program.parameters.size(); ++i) {
    const Parameter& declared = program.kernel.parameters[i];
    const Type& type = program.kernel.variables[static_cast<std::size_t>(declared.variable)].type;
    ArgumentSignature argument;
    argument.is_tensor = program.parameters[i].is_tensor;
    argument.dtype = program.parameters[i].dtype;
    if (argument.is_tensor) {
      argument.extents = program.parameters[i].extents;
      for (std::size_t axis = 0; axis < type.shape.size(); ++axis)
        if (!type.shape[axis].is_constant()) argument.extents[axis] = -1;
      argument.layout = program.parameters[i].layout;
    } else if (declared.specialised) {
      argument.value = constant_of(std::get<Value>(arguments.arguments[i]));
    }
    signature.arguments.push_back(std::move(argument));
  }
  const std::vector<bool> needed = captures_to_specialise(program.kernel);
  for (std::size_t i = 0; i < arguments.captures.size(); ++i)
    signature.captures.push_back(needed[i] ? std::optional(constant_of(arguments.captures[i]))
                                           : std::nullopt);
  return signature;
}

std::string difference(const RandomProgram& program, const RandomArguments& expected,
                       const RandomArguments& given) {
  for (std::size_t p = 0; p < expected.memory.size(); ++p) {
    const Value& a = expected.memory[p];
    const Value& b = given.memory[p];
    for (std::int64_t i = 0; i < a.size(); ++i) {
      if (same_element(a, b, i, program.parameters[p].tolerance)) continue;
      const auto& variable =
          program.kernel.variables[static_cast<std::size_t>(program.kernel.parameters[p].variable)];
      const auto* view = std::get_if<TensorView>(&expected.arguments[p]);
      return "seed " + std::to_string(program.seed) + ", " + variable.name + ", " +
             (view != nullptr ? place_of(*view, a, i) : std::string("scalar")) + ": expected " +
             text_of_element(a, i) + ", given " + text_of_element(b, i) + "\n" + to_text(program.kernel);
    }
  }
  return {};
}

}  // namespace trilith::codegen
