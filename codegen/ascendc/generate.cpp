// Tiles made from numbers, computed by the scalar pipe: int64 and the upper half of 32-bit products are exact there.
#include "codegen/ascendc/call.hpp"

#include <algorithm>

namespace trilith::codegen::ascendc {
namespace {

constexpr const char* fill_by = R"(
/// Elements of a dense tile by number, in pieces of the buffer.
template <typename T, typename Element>
__aicore__ inline void FillBy(const AscendC::GlobalTensor<T>& to, const AscendC::LocalTensor<T>& buffer, int64_t count,
                              const Element& element) {
  const int64_t room = buffer.GetSize();
  for (int64_t begin = 0; begin < count; begin += room) {
    const int64_t length = count - begin < room ? count - begin : room;
    for (int64_t i = 0; i < length; ++i) buffer.SetValue(i, element(begin + i));
    AscendC::PipeBarrier<PIPE_ALL>();
    AscendC::DataCopyPad(to[begin], buffer,
                         AscendC::DataCopyExtParams{1, static_cast<uint32_t>(length * sizeof(T)), 0, 0, 0});
    AscendC::PipeBarrier<PIPE_ALL>();
  }
}
)";

constexpr const char* arange_floats = R"(
/// start + i * step, both rounded to T, along rows of `columns` elements.
template <typename T>
struct ArangeOfFloats {
  float start, step;
  int64_t columns;
  __aicore__ inline T operator()(int64_t i) const {
    const float number = static_cast<float>(static_cast<T>(static_cast<float>(i % columns)));
    const float distance = static_cast<float>(static_cast<T>(number * step));
    return static_cast<T>(start + distance);
  }
};
)";

constexpr const char* arange_integers = R"(
/// start + i * step, modulo the width of T, along rows of `columns` elements.
template <typename T>
struct ArangeOfIntegers {
  uint64_t start, step;
  int64_t columns;
  __aicore__ inline T operator()(int64_t i) const {
    return static_cast<T>(start + static_cast<uint64_t>(i % columns) * step);
  }
};
)";

constexpr const char* triangle = R"(
/// 1 on one side of a diagonal, which it belongs to, and 0 on the other.
template <typename T, bool upper>
struct Triangle {
  int64_t diagonal, columns;
  __aicore__ inline T operator()(int64_t i) const {
    const int64_t row = i / columns, column = i % columns;
    // A diagonal beyond every tile may not be added to.
    const bool beyond = diagonal > columns, before = diagonal < -row;
    const int64_t edge = beyond ? columns : before ? -1 : row + diagonal;
    return static_cast<T>(static_cast<float>(upper ? column >= edge : column <= edge));
  }
};
)";

constexpr const char* philox = R"(
/// Philox4x32-10: words that depend on seed and counter alone. A number takes the highest bits of one word, a 64-bit
/// integer two words.
template <typename T, int digits>
struct Random {
  uint64_t seed, counter;
  __aicore__ inline T operator()(int64_t i) const {
    constexpr int words = sizeof(T) == 8 ? 2 : 1;
    const uint64_t first = static_cast<uint64_t>(i) * words, at = counter + first / 4;
    uint32_t x[4] = {static_cast<uint32_t>(at), static_cast<uint32_t>(at >> 32), 0, 0};
    uint32_t key0 = static_cast<uint32_t>(seed), key1 = static_cast<uint32_t>(seed >> 32);
    for (int round = 0; round < 10; ++round) {
      const uint64_t a = uint64_t{0xD2511F53u} * x[0], b = uint64_t{0xCD9E8D57u} * x[2];
      x[0] = static_cast<uint32_t>(b >> 32) ^ x[1] ^ key0;
      x[1] = static_cast<uint32_t>(b);
      x[2] = static_cast<uint32_t>(a >> 32) ^ x[3] ^ key1;
      x[3] = static_cast<uint32_t>(a);
      key0 += 0x9E3779B9u;
      key1 += 0xBB67AE85u;
    }
    const uint32_t word = x[first % 4];
    if constexpr (digits > 0) {
      // As many bits as the float has digits: exact.
      const float whole = static_cast<float>(static_cast<int32_t>(word >> (32 - digits)));
      return static_cast<T>(whole * (1.0f / static_cast<float>(int32_t{1} << digits)));
    } else if constexpr (words == 2) {
      return static_cast<T>(uint64_t{word} | uint64_t{x[first % 4 + 1]} << 32);
    } else {
      return static_cast<T>(word);
    }
  }
};
)";

int digits_of(DType dtype) {
  switch (dtype) {
    case DType::Float32: return 24;
    case DType::Float16: return 11;
    case DType::BFloat16: return 8;
    default: return 0;
  }
}

}  // namespace

void lower_generate(TileCall& call) {
  Context& c = call.c;
  if (call.result.size().is(0)) return;
  const View to = call.result.is_dense() ? call.result : new_view(call, call.result);
  const std::string type = type_name(stored_as(to.dtype)),
                    columns = to.extents.empty() ? "1" : to.extents.back().text();
  const auto scalar = [&](std::size_t i) { return c.scalar(call.expr.operands[i]); };
  const auto bits = [&](std::size_t i) { return "static_cast<uint64_t>(" + scalar(i) + ")"; };
  c.function("FillBy", fill_by);
  std::string element;
  switch (call.op()) {
    case Op::Arange:
      if (is_floating(to.dtype)) {
        c.function("ArangeOfFloats", arange_floats);
        element = "ArangeOfFloats<" + type + ">{" + scalar(1) + ", " + scalar(2) + ", " + columns + "}";
      } else {
        c.function("ArangeOfIntegers", arange_integers);
        element = "ArangeOfIntegers<" + type + ">{" + bits(1) + ", " + bits(2) + ", " + columns + "}";
      }
      break;
    case Op::Tri:
      c.function("Triangle", triangle);
      element = "Triangle<" + type + ", " + (call.expr.attributes.upper ? "true" : "false") + ">{" +
                scalar(1) + ", " + columns + "}";
      break;
    default:
      c.function("Random", philox);
      element = "Random<" + type + ", " + std::to_string(digits_of(to.dtype)) + ">{" + bits(1) + ", " +
                bits(2) + "}";
  }
  const Extent count = to.size();
  const ObjectId buffer = c.scratch(std::min<std::int64_t>(16384, count.most * bytes_of(to.dtype)));
  c.call("FillBy(" + text_of(to) + ", " + Context::name(buffer) + ".ReinterpretCast<" + type + ">(), " +
             count.text() + ", " + element + ");",
         {{to.object, true}, {buffer, true}});
  c.takes({{Work::Unit::Scalar, count.most},
           {Work::Unit::MoveOut, round_up(count.most * bytes_of(to.dtype), 32)}});
  if (to.object != call.result.object) copy(call, call.result, to);
}

}  // namespace trilith::codegen::ascendc
