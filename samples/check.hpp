// samples/check.hpp -- what the lessons share: numbers that look random, and the comparison with a golden.
//
//   pl::Array<float> x = samples::numbers({64, 64}, 1);
//   samples::check("double", y, [&](auto i, auto j) { return 2.0 * x(i, j); }, 1e-5);     // double: OK (64x64)
//
// A golden is plain C++ in double precision: a function of one index for each axis, or a pl::Array<double>. The first
// element that is off by more than `tolerance` (1 + |golden|) is printed and ends the program with exit code 1.
#pragma once

#include <pl/pl.hpp>

#include <array>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <iostream>
#include <string>
#include <type_traits>
#include <utility>

namespace samples {

/// A tensor of numbers in [-size, size), the same for the same seed.
template <class T = float>
pl::Array<T> numbers(const pl::Index& dims, std::uint32_t seed, float size = 2) {
  pl::Array<T> result(dims);
  std::uint32_t state = seed * 2654435761U + 1;
  for (T& element : result) {
    state = state * 1664525U + 1013904223U;
    element = static_cast<T>((static_cast<float>(state >> 8) / static_cast<float>(1 << 23) - 1) * size);
  }
  return result;
}

/// An element of any dtype as a double, exactly.
template <class T>
double wide(T value) {
  if constexpr (sizeof(T) > 2)
    return static_cast<double>(value);
  else
    return static_cast<double>(static_cast<float>(value));
}

namespace detail {

template <class T, class Golden, std::size_t... Axis>
void compare(const std::string& what, const pl::Array<T>& given, const Golden& golden, double tolerance,
             std::index_sequence<Axis...>) {
  std::array<std::int64_t, sizeof...(Axis)> index{};
  for (const T element : given) {
    const double expected = golden(index[Axis]...);
    if (!(std::abs(wide(element) - expected) <= tolerance * (1 + std::abs(expected)))) {
      std::cout << what << ": wrong at [";
      ((std::cout << (Axis == 0 ? "" : ", ") << index[Axis]), ...);
      std::cout << "]: got " << wide(element) << ", expected " << expected << '\n';
      std::exit(1);
    }
    for (std::size_t axis = sizeof...(Axis);
         axis-- > 0 && ++index[axis] == given.dim(static_cast<int>(axis));)
      index[axis] = 0;
  }
  std::cout << what << ": OK (";
  ((std::cout << (Axis == 0 ? "" : "x") << given.dim(Axis)), ...);
  std::cout << ")\n";
}

template <class Golden, std::size_t... Axis>
constexpr bool takes(std::index_sequence<Axis...>) {
  return std::is_invocable_r_v<double, const Golden&, decltype(Axis, std::int64_t{})...>;
}

}  // namespace detail

/// Compares every element with `golden(i, j, …)`. Ranks 1 to 4, as the golden says.
template <class T, class Golden>
void check(const std::string& what, const pl::Array<T>& given, const Golden& golden, double tolerance) {
  if constexpr (detail::takes<Golden>(std::make_index_sequence<1>{}))
    detail::compare(what, given, golden, tolerance, std::make_index_sequence<1>{});
  else if constexpr (detail::takes<Golden>(std::make_index_sequence<2>{}))
    detail::compare(what, given, golden, tolerance, std::make_index_sequence<2>{});
  else if constexpr (detail::takes<Golden>(std::make_index_sequence<3>{}))
    detail::compare(what, given, golden, tolerance, std::make_index_sequence<3>{});
  else
    detail::compare(what, given, golden, tolerance, std::make_index_sequence<4>{});
}

/// Compares two matrices.
template <class T>
void check(const std::string& what, const pl::Array<T>& given, const pl::Array<double>& golden,
           double tolerance) {
  check(what, given, [&](std::int64_t i, std::int64_t j) { return golden(i, j); }, tolerance);
}

/// What `main` of a lesson does: runs `lesson` and prints a kernel's error.
inline int run(const std::function<void()>& lesson) {
  try {
    lesson();
    return 0;
  } catch (const pl::Error& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
}

}  // namespace samples
