// runtime/pl/scalar.hpp -- by-value arguments of kernels, and the integers that make offsets and shapes.
#pragma once

#include "codegen/dtype.hpp"

#include <cstdint>
#include <initializer_list>
#include <source_location>
#include <type_traits>
#include <utility>
#include <vector>

namespace pl {

using DType = trilith::codegen::DType;

/// A run-time scalar: not part of the specialisation key. Converts from and to T.
template <class T>
class Scalar {
  static_assert(is_number<T>, "pl::Scalar<T>: T is a bool, an integer or a float");

 public:
  using value_type = T;
  constexpr Scalar() = default;
  constexpr Scalar(T value) : value_(value) {}     // NOLINT(google-explicit-constructor): a value is a scalar
  constexpr operator T() const { return value_; }  // NOLINT(google-explicit-constructor)
  [[nodiscard]] constexpr T value() const { return value_; }

 private:
  T value_{};
};

/// A scalar that the kernel is specialised on: one specialisation per value.
template <class T>
class Const {
  static_assert(is_number<T>, "pl::Const<T>: T is a bool, an integer or a float");

 public:
  using value_type = T;
  constexpr Const() = default;
  constexpr Const(T value) : value_(value) {}      // NOLINT(google-explicit-constructor)
  constexpr operator T() const { return value_; }  // NOLINT(google-explicit-constructor)
  [[nodiscard]] constexpr T value() const { return value_; }

 private:
  T value_{};
};

namespace detail {
template <class A>
struct IsFloatingScalar : std::bool_constant<std::is_floating_point_v<A> || is_narrow_float<A>> {};
template <class T>
struct IsFloatingScalar<Scalar<T>> : IsFloatingScalar<T> {};
template <class T>
struct IsFloatingScalar<Const<T>> : IsFloatingScalar<T> {};
}  // namespace detail

/// One offset or extent: made from any integer, Scalar or Const of an integer, or rank.
struct Extent {
  template <class A>
    requires(std::is_convertible_v<const A&, std::int64_t> && !detail::IsFloatingScalar<A>::value)
  constexpr Extent(const A& integer,  // NOLINT(google-explicit-constructor): written inside {…}
                   std::source_location place = std::source_location::current())
      : value(static_cast<std::int64_t>(integer)), where(place) {}
  std::int64_t value;
  std::source_location where;  ///< `x[i]` has no other way to know its line
};

/// A list of offsets or extents, one per axis: `{0, 0}`, `{ROWS, x.dim(1)}`.
class Index {
 public:
  Index(std::initializer_list<Extent> extents) {
    values_.reserve(extents.size());
    for (const Extent& extent : extents) values_.push_back(extent.value);
  }
  explicit Index(std::vector<std::int64_t> values) : values_(std::move(values)) {}
  [[nodiscard]] const std::vector<std::int64_t>& values() const { return values_; }

 private:
  std::vector<std::int64_t> values_;
};

}  // namespace pl
