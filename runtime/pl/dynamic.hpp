// runtime/pl/dynamic.hpp -- the dims of a tensor annotation: constants, run-time extents, rank 0.
//
//   constexpr auto NR = pl::dynamic("NR");
//   constexpr auto N = pl::dynamic("N", 16), D = pl::specialised("D");
//   pl::Tensor<float, NR, 8, 8>        // first extent bound when called, the same for every use of the name
//   pl::Tensor<float, NR, N, D>        // the second a multiple of 16; the third a constant of each call's code
//   pl::Tensor<float, pl::no_dims>     // rank 0
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>

namespace pl {

/// A named extent that is bound when called. A run-time one is not part of the specialisation key: one specialisation
/// serves every value.
struct Dynamic {
  char name[32]{};
  std::int64_t multiple = 1;  ///< every value is a multiple of it: checked at the call, known to the compiler
  bool constant = false;      ///< each value has a specialisation, in whose code it is a constant
  bool operator==(const Dynamic&) const = default;
  [[nodiscard]] constexpr std::string_view str() const { return name; }
};

/// Names a run-time extent; at most 31 characters. With `multiple`, a call with another extent than a multiple of it is
/// a ShapeError.
template <std::size_t N>
consteval Dynamic dynamic(const char (&name)[N], std::int64_t multiple = 1) {
  static_assert(N > 1 && N <= sizeof(Dynamic::name), "pl::dynamic: a name has 1 to 31 characters");
  if (multiple < 1) throw "pl::dynamic: an extent is a multiple of 1 or more";
  Dynamic result;
  for (std::size_t i = 0; i < N; ++i) result.name[i] = name[i];
  result.multiple = multiple;
  return result;
}

/// Names an extent that takes any value at a call and is a constant of the code: as all extents of `pl::Tensor<T>` are,
/// beside others that are not.
template <std::size_t N>
consteval Dynamic specialised(const char (&name)[N]) {
  Dynamic result = dynamic(name);
  result.constant = true;
  return result;
}

struct NoDims {
  bool operator==(const NoDims&) const = default;
};
/// `pl::Tensor<T, pl::no_dims>`: a tensor of rank 0, one element.
inline constexpr NoDims no_dims{};

namespace detail {

inline constexpr int max_rank = 8;
inline constexpr std::int64_t run_time_extent = -1;
inline constexpr std::int64_t specialised_extent = -2;  ///< of any value, which is part of the key

template <class D>
constexpr bool is_dim = std::integral<D> || std::same_as<D, Dynamic> || std::same_as<D, NoDims>;

template <class D>
constexpr std::int64_t extent_of(const D& dim) {
  if constexpr (std::integral<D>)
    return static_cast<std::int64_t>(dim);
  else if constexpr (std::same_as<D, Dynamic>)
    return dim.constant ? specialised_extent : run_time_extent;
  else
    return run_time_extent;
}

template <class D>
constexpr std::int64_t multiple_of(const D& dim) {
  if constexpr (std::same_as<D, Dynamic>)
    return dim.multiple;
  else
    return 1;
}

template <class D>
constexpr std::string_view dynamic_name_of(const D& dim) {
  if constexpr (std::same_as<D, Dynamic>)
    return dim.str();
  else
    return {};
}

/// The annotation `Dims…` of a tensor type as constants.
template <auto... Dims>
struct Annotation {
  static_assert(
      (is_dim<std::remove_cv_t<decltype(Dims)>> && ...),
      "a dim of pl::Tensor is an integer, pl::dynamic(\"name\"), pl::specialised(\"name\") or pl::no_dims");
  static constexpr bool any_shape = sizeof...(Dims) == 0;
  static constexpr bool is_rank_0 = (std::same_as<std::remove_cv_t<decltype(Dims)>, NoDims> || ...);
  static_assert(!is_rank_0 || sizeof...(Dims) == 1, "pl::no_dims stands alone");
  static_assert(sizeof...(Dims) <= max_rank, "a tensor has rank 0 to 8");
  /// Rank of the annotation, -1 for any.
  static constexpr int rank = any_shape ? -1 : is_rank_0 ? 0 : static_cast<int>(sizeof...(Dims));
  static constexpr int capacity = any_shape ? max_rank : rank > 0 ? rank : 1;
  /// Per axis: the constant, `run_time_extent` or `specialised_extent`.
  static constexpr std::int64_t extents[sizeof...(Dims) + 1] = {extent_of(Dims)..., 0};
  /// Per axis: the name of the dynamic extent, or empty.
  static constexpr std::string_view names[sizeof...(Dims) + 1] = {dynamic_name_of(Dims)..., {}};
  /// Per axis: what the extent is a multiple of.
  static constexpr std::int64_t multiples[sizeof...(Dims) + 1] = {multiple_of(Dims)..., 1};
};

}  // namespace detail
}  // namespace pl
