// Runs one kernel twice, compiled and interpreted, on equal memory between guard pages, and compares every
// byte.
#pragma once

#include "codegen/builder.hpp"
#include "codegen/interpreter.hpp"
#include "codegen/printer.hpp"
#include "codegen/specialise.hpp"
#include "codegen/tile_call.hpp"
#include "codegen/value.hpp"
#include "codegen/xsimd/emit.hpp"
#include "emitter/compile_kernel.hpp"
#include "emitter/guarded.hpp"

#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <variant>
#include <vector>

namespace emitter_test {

using namespace trilith::codegen;

inline constexpr DType all_dtypes[] = {DType::Bool,   DType::Int8,    DType::Int16,    DType::Int32,
                                       DType::Int64,  DType::UInt8,   DType::UInt16,   DType::UInt32,
                                       DType::UInt64, DType::Float16, DType::BFloat16, DType::Float32,
                                       DType::Float64};

struct TensorSpec {
  std::vector<std::int64_t> extents;
  DType dtype = DType::Float32;
  Layout layout = Layout::Dense;
  std::vector<std::int64_t> strides = {};  ///< empty: dense
  bool run_time_extents = false;           ///< but for extents of 1: only constants broadcast
};
using ArgumentSpec = std::variant<TensorSpec, Value>;

struct Options {
  bool special_values = true;  ///< NaN, infinities, zeros of both signs, subnormals, extreme integers
  double tolerance = 0;        ///< relative; 0: bit for bit, but any NaN equals any NaN
  int misalignment = 0;        ///< elements that the first byte is moved by (dense tensors)
  bool at_end = true;
  std::uint64_t seed = 1;
  bool in_place = false;  ///< the first pair of Emitted::in_place shares its memory
};

class Memory {
 public:
  Memory(const TensorSpec& spec, const Options& options, std::mt19937_64& random) : spec_(spec) {
    strides_ = spec.strides;
    if (strides_.empty()) {
      strides_.resize(spec.extents.size());
      std::int64_t dense = 1;
      for (std::size_t axis = spec.extents.size(); axis-- > 0;) {
        strides_[axis] = dense;
        dense *= spec.extents[axis];
      }
    }
    std::int64_t lowest = 0, highest = 0;
    bool empty = false;
    for (std::size_t axis = 0; axis < strides_.size(); ++axis) {
      if (spec.extents[axis] == 0) empty = true;
      const std::int64_t reach = (spec.extents[axis] - 1) * strides_[axis];
      (reach < 0 ? lowest : highest) += reach;
    }
    count_ = empty ? 0 : highest - lowest + 1;
    origin_ = empty ? 0 : -lowest;
    const std::size_t size = size_of(spec.dtype);
    const std::size_t shift = static_cast<std::size_t>(options.misalignment) * size;
    bytes_.emplace(static_cast<std::size_t>(count_) * size + shift, options.at_end);
    data_ = bytes_->data() + (options.at_end ? 0 : shift);
    for (std::int64_t i = 0; i < count_; ++i)
      fill(data_ + static_cast<std::size_t>(i) * size, options, random);
  }

  [[nodiscard]] void* first() const {
    return data_ + static_cast<std::size_t>(origin_) * size_of(spec_.dtype);
  }
  [[nodiscard]] std::byte* data() const { return data_; }
  [[nodiscard]] std::int64_t count() const { return count_; }
  [[nodiscard]] const TensorSpec& spec() const { return spec_; }
  [[nodiscard]] const std::vector<std::int64_t>& strides() const { return strides_; }
  void copy_from(const Memory& other) const {
    std::memcpy(data_, other.data_, static_cast<std::size_t>(count_) * size_of(spec_.dtype));
  }

 private:
  template <class T>
  static T floating(const Options& options, std::mt19937_64& random) {
    if (options.special_values && random() % 8 == 0) {
      using Limits = std::numeric_limits<T>;
      const T values[] = {T(0),
                          -T(0),
                          Limits::infinity(),
                          -Limits::infinity(),
                          Limits::quiet_NaN(),
                          Limits::denorm_min(),
                          -Limits::min() / T(2),
                          Limits::max(),
                          T(1),
                          T(-0.5)};
      return values[random() % std::size(values)];
    }
    return static_cast<T>(std::uniform_real_distribution<double>(-4, 4)(random));
  }
  template <class T>
  static T whole(const Options& options, std::mt19937_64& random) {
    if (options.special_values && random() % 8 == 0) {
      using Limits = std::numeric_limits<T>;
      const T values[] = {0, static_cast<T>(-1), 1, Limits::min(), Limits::max(), 7, 8, 31, 63, 64};
      return values[random() % std::size(values)];
    }
    return static_cast<T>(static_cast<std::int64_t>(random() % 200) - 100);
  }
  void fill(std::byte* to, const Options& options, std::mt19937_64& random) const {
    const auto put = [&](auto value) { std::memcpy(to, &value, sizeof value); };
    switch (spec_.dtype) {
      case DType::Bool: return put(random() % 2 == 0);
      case DType::Int8: return put(whole<std::int8_t>(options, random));
      case DType::Int16: return put(whole<std::int16_t>(options, random));
      case DType::UInt8: return put(whole<std::uint8_t>(options, random));
      case DType::UInt16: return put(whole<std::uint16_t>(options, random));
      case DType::UInt32: return put(whole<std::uint32_t>(options, random));
      case DType::UInt64: return put(whole<std::uint64_t>(options, random));
      case DType::Int32: return put(whole<std::int32_t>(options, random));
      case DType::Int64: return put(whole<std::int64_t>(options, random));
      case DType::Float16: return put(floating<pl::half>(options, random));
      case DType::BFloat16: return put(floating<pl::bfloat16>(options, random));
      case DType::Float32: return put(floating<float>(options, random));
      default: return put(floating<double>(options, random));
    }
  }

  TensorSpec spec_;
  std::vector<std::int64_t> strides_;
  std::optional<Guarded> bytes_;
  std::byte* data_ = nullptr;
  std::int64_t count_ = 0, origin_ = 0;
};

/// The host's side of the ABI.
struct Host {
  std::optional<pl::abi::Fault> fault;
  std::vector<Guarded> scratch;
  std::string printed;
  pl::abi::Services services{
      pl::abi::version, sizeof(pl::abi::Services), this, on_fault, on_scratch, on_print, on_remote, nullptr,
      on_rounds};

  Host() = default;
  Host(const Host&) = delete;
  Host& operator=(const Host&) = delete;

  static void on_fault(void* context, const pl::abi::Fault* fault) {
    static_cast<Host*>(context)->fault = *fault;
  }
  static void* on_scratch(void* context, std::uint64_t bytes) {
    auto& blocks = static_cast<Host*>(context)->scratch;
    blocks.emplace_back((bytes + 63) / 64 * 64, true);
    return blocks.back().data();
  }
  static void on_print(void* context, const char* name, std::int32_t dtype, std::int32_t rank,
                       const std::int64_t*, const void*) {
    static_cast<Host*>(context)->printed +=
        std::string(name) + ":" + std::to_string(dtype) + ":" + std::to_string(rank) + "\n";
  }
  /// There are no ranks here.
  static std::int32_t on_remote(void*, pl::abi::Remote*) { return pl::abi::fault_remote; }
  /// One by one, the last first: nothing may depend on the order. The fault of the first is the last to be kept.
  static std::int32_t on_rounds(void* context, std::int64_t count, const void* frame, pl::abi::Rounds run) {
    std::int32_t code = pl::abi::fault_none;
    while (count-- > 0)
      if (const std::int32_t of_round = run(frame, &static_cast<Host*>(context)->services, count, count + 1);
          of_round != pl::abi::fault_none)
        code = of_round;
    return code;
  }
};

inline Signature signature_of(const Kernel& kernel, const std::vector<ArgumentSpec>& arguments) {
  Signature signature;
  signature.captures.resize(kernel.captures.size());
  for (const ArgumentSpec& argument : arguments) {
    ArgumentSignature one;
    if (const auto* tensor = std::get_if<TensorSpec>(&argument)) {
      one.is_tensor = true;
      one.dtype = tensor->dtype;
      one.layout = tensor->layout;
      one.extents = tensor->extents;
      for (std::int64_t& extent : one.extents)
        if (tensor->run_time_extents && extent != 1) extent = -1;
    } else {
      one.dtype = std::get<Value>(argument).dtype;
    }
    signature.arguments.push_back(one);
  }
  return signature;
}

template <class T>
bool equal_elements(const std::byte* a, const std::byte* b, double tolerance) {
  T x, y;
  std::memcpy(&x, a, sizeof x);
  std::memcpy(&y, b, sizeof y);
  if (std::memcmp(&x, &y, sizeof x) == 0) return true;
  if constexpr (is_floating(dtype_of<T>)) {
    if (std::isnan(x) || std::isnan(y)) return std::isnan(x) && std::isnan(y);
    if (tolerance == 0) return false;
    if (x == y) return true;
    if (std::isinf(x) || std::isinf(y)) return false;
    const double scale = std::max<double>(1, std::abs(static_cast<double>(y)));
    return std::abs(static_cast<double>(x) - static_cast<double>(y)) <= tolerance * scale;
  } else {
    return false;
  }
}

inline bool equal_elements(DType dtype, const std::byte* a, const std::byte* b, double tolerance) {
  switch (dtype) {
    case DType::Float16: return equal_elements<pl::half>(a, b, tolerance);
    case DType::BFloat16: return equal_elements<pl::bfloat16>(a, b, tolerance);
    case DType::Float32: return equal_elements<float>(a, b, tolerance);
    case DType::Float64: return equal_elements<double>(a, b, tolerance);
    default: return std::memcmp(a, b, size_of(dtype)) == 0;
  }
}

/// A kernel of one target, ready to be called.
struct Compiled {
  std::string text;
  pl::abi::Entry entry = nullptr;
  std::vector<std::pair<int, int>> in_place = {};
  const void* model = nullptr;  ///< of abi::Services
};
inline Compiled for_simulator(const Kernel& specialised, const Signature& signature) {
  const xsimd::Emitted emitted = xsimd::emit(specialised, signature);
  return {emitted.text, compile(emitted), emitted.in_place};
}

/// Runs `kernel` (captured stage) compiled and interpreted and compares all memory. Gives the fault code.
inline std::int32_t compare(const Kernel& kernel, const std::vector<ArgumentSpec>& arguments,
                            const Options& options = {},
                            Compiled (*compile_for)(const Kernel&, const Signature&) = for_simulator) {
  const Signature signature = signature_of(kernel, arguments);
  const Kernel specialised = specialise(kernel, signature);
  const Compiled emitted = compile_for(specialised, signature);
  INFO(emitted.text);
  const pl::abi::Entry entry = emitted.entry;

  std::mt19937_64 random(options.seed);
  std::vector<std::unique_ptr<Memory>> given, expected;
  std::vector<pl::abi::Tensor> tensors;
  std::vector<std::uint64_t> scalars;
  std::vector<Argument> interpreted;
  std::vector<int> owner(arguments.size(), -1);
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const auto* spec = std::get_if<TensorSpec>(&arguments[i]);
    if (spec == nullptr) {
      const Value& value = std::get<Value>(arguments[i]);
      std::uint64_t slot = 0;
      std::memcpy(&slot, value.bytes.data(), value.bytes.size());
      scalars.push_back(slot);
      continue;
    }
    owner[i] = static_cast<int>(given.size());
    given.push_back(std::make_unique<Memory>(*spec, options, random));
    expected.push_back(std::make_unique<Memory>(*spec, options, random));
    expected.back()->copy_from(*given.back());
  }
  std::vector<void*> pointers;
  for (const auto& memory : given) pointers.push_back(memory->first());
  if (options.in_place) {
    REQUIRE(!emitted.in_place.empty());
    const auto [input, output] = emitted.in_place.front();
    given[owner[output]]->copy_from(*given[owner[input]]);
    expected[owner[output]]->copy_from(*given[owner[input]]);
    pointers[owner[input]] = pointers[owner[output]];
  }
  for (std::size_t i = 0; i < given.size(); ++i)
    tensors.push_back({pointers[i], given[i]->spec().extents.data(), given[i]->strides().data()});
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (owner[i] < 0) {
      interpreted.emplace_back(std::get<Value>(arguments[i]));
    } else {
      const Memory& memory = *expected[owner[i]];
      interpreted.emplace_back(
          TensorView{memory.spec().dtype, memory.first(), memory.spec().extents, memory.strides()});
    }
  }

  Host host;
  host.services.model = emitted.model;
  const pl::abi::Args args{tensors.data(), scalars.data(), 0, 1};
  const std::int32_t code = entry(&args, &host.services);
  CHECK((code != 0) == host.fault.has_value());
  bool refused = false;
  try {
    interpret(kernel, interpreted, {});
  } catch (const pl::ShapeError& error) {
    refused = true;
    if (code == 0) MESSAGE("only the interpreter refuses: ", error.what());
  }
  CHECK(refused == (code != 0));
  if (code != 0) return code;
  for (std::size_t i = 0; i < given.size(); ++i) {
    if (options.in_place && pointers[i] != given[i]->first()) continue;
    const std::size_t size = size_of(given[i]->spec().dtype);
    for (std::int64_t element = 0; element < given[i]->count(); ++element) {
      const std::byte* a = given[i]->data() + static_cast<std::size_t>(element) * size;
      const std::byte* b = expected[i]->data() + static_cast<std::size_t>(element) * size;
      if (equal_elements(given[i]->spec().dtype, a, b, options.tolerance)) continue;
      const auto text = [&](const std::byte* bytes) {
        if (given[i]->spec().dtype == DType::Float32) {
          float value;
          std::memcpy(&value, bytes, sizeof value);
          return std::to_string(value);
        }
        if (given[i]->spec().dtype == DType::Float64) {
          double value;
          std::memcpy(&value, bytes, sizeof value);
          return std::to_string(value);
        }
        if (is_narrow_float(given[i]->spec().dtype)) {
          Constant value{given[i]->spec().dtype, 0};
          std::memcpy(&value.bits, bytes, size);
          return std::to_string(value.as_double());
        }
        std::int64_t value = 0;
        std::memcpy(&value, bytes, size);
        return std::to_string(value);
      };
      FAIL_CHECK("tensor ", i, " element ", element, ": compiled ", text(a), ", interpreted ", text(b));
      break;
    }
  }
  return code;
}

/// compare() with each guard page and several alignments.
inline void compare_everywhere(const Kernel& kernel, const std::vector<ArgumentSpec>& arguments,
                               Options options = {}) {
  for (const bool at_end : {true, false})
    for (const int misalignment : {0, 1, 3}) {
      options.at_end = at_end;
      options.misalignment = misalignment;
      ++options.seed;
      compare(kernel, arguments, options);
    }
}

}  // namespace emitter_test
