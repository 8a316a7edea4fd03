#include "runtime/windows/add_line.hpp"

#include "runtime/windows/with_number.hpp"

#include <algorithm>
#include <cstring>
#include <type_traits>

namespace pl::detail {
namespace {

// Neighbours change together, in one exchange of so many bytes: what an exchange costs does not depend on its size.
using Word [[gnu::may_alias]] = std::uint64_t;

template <class T>
T sum_of(T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    // Wraps, and without the conversion of small unsigned numbers to int.
    using Wide = std::conditional_t<(sizeof(T) < sizeof(unsigned)), unsigned, std::make_unsigned_t<T>>;
    return static_cast<T>(static_cast<Wide>(a) + static_cast<Wide>(b));
  } else {
    return a + b;
  }
}

template <class T, class Bits>
Bits added(Bits old, const T* from) {
  constexpr std::size_t count = sizeof(Bits) / sizeof(T);
  T elements[count];
  std::memcpy(elements, &old, sizeof old);
  for (std::size_t i = 0; i < count; ++i) elements[i] = sum_of(elements[i], from[i]);
  std::memcpy(&old, elements, sizeof old);
  return old;
}

/// Adds as many elements as `Bits` holds.
template <class T, class Bits>
void exchange(Bits* to, Bits old, Bits sum, const T* from) {
  while (!__atomic_compare_exchange_n(to, &old, sum, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
    sum = added(old, from);
}

template <class T>
void add_element(char* to, T value) {
  using Size = std::conditional_t<
      sizeof(T) == 1, std::uint8_t,
      std::conditional_t<sizeof(T) == 2, std::uint16_t,
                         std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>>>;
  using Bits [[gnu::may_alias]] = Size;
  auto* const bits = reinterpret_cast<Bits*>(to);
  const Bits old = __atomic_load_n(bits, __ATOMIC_RELAXED);
  exchange(bits, old, added(old, &value), &value);
}

/// All sums of a block in one plain loop, then the exchanges: only where another one has come between is a sum made again.
template <class T>
void add_words(char* to, const char* from, std::int64_t words) {
  constexpr std::int64_t block = 32, elements = sizeof(Word) / sizeof(T);
  auto* const memory = reinterpret_cast<Word*>(to);
  for (std::int64_t first = 0; first < words; first += block) {
    const std::int64_t count = std::min(block, words - first);
    Word old[block], sums[block];
    T before[block * elements], values[block * elements];
    for (std::int64_t i = 0; i < count; ++i) old[i] = __atomic_load_n(memory + first + i, __ATOMIC_RELAXED);
    const auto bytes = static_cast<std::size_t>(count) * sizeof(Word);
    std::memcpy(before, old, bytes);
    std::memcpy(values, from + first * static_cast<std::int64_t>(sizeof(Word)), bytes);
    for (std::int64_t i = 0; i < count * elements; ++i) before[i] = sum_of(before[i], values[i]);
    std::memcpy(sums, before, bytes);
    for (std::int64_t i = 0; i < count; ++i)
      exchange(memory + first + i, old[i], sums[i], values + i * elements);
  }
}

template <class T>
void add_as(char* to, std::int64_t to_step, const char* from, std::int64_t from_step, std::int64_t count) {
  constexpr auto size = static_cast<std::int64_t>(sizeof(T));
  const auto each = [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      T value;
      std::memcpy(&value, from + i * from_step * size, sizeof value);
      add_element(to + i * to_step * size, value);
    }
  };
  if (to_step != 1 || from_step != 1) return each(0, count);
  const auto past = static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(to) % sizeof(Word));
  const std::int64_t head =
      std::min(count, past == 0 ? 0 : (static_cast<std::int64_t>(sizeof(Word)) - past) / size);
  const std::int64_t words = (count - head) * size / static_cast<std::int64_t>(sizeof(Word));
  each(0, head);
  add_words<T>(to + head * size, from + head * size, words);
  each(head + words * static_cast<std::int64_t>(sizeof(Word)) / size, count);
}

}  // namespace

void add_line(char* to, std::int64_t to_step, const char* from, std::int64_t from_step, std::int64_t count,
              trilith::codegen::DType dtype) {
  with_number(dtype, "an addition", [&]<class T>(T*) { add_as<T>(to, to_step, from, from_step, count); });
}

}  // namespace pl::detail
