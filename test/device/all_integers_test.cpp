// The 8- and 16-bit integers and the unsigned ones against the reference operations, and casts between all pairs.
#include "sweep.hpp"

namespace {
constexpr int vector_width = trilith::device::lanes<std::int8_t>;  // as in a kernel that mixes every width
}
#include "against_reference.hpp"

namespace {

template <class T>
void all_operations() {
  numeric<T>();
  integer<T>();
}

TEST_CASE("int8 operations give the reference's bits") { all_operations<std::int8_t>(); }
TEST_CASE("int16 operations give the reference's bits") { all_operations<std::int16_t>(); }
TEST_CASE("uint8 operations give the reference's bits") { all_operations<std::uint8_t>(); }
TEST_CASE("uint16 operations give the reference's bits") { all_operations<std::uint16_t>(); }
TEST_CASE("uint32 operations give the reference's bits") { all_operations<std::uint32_t>(); }
TEST_CASE("uint64 operations give the reference's bits") { all_operations<std::uint64_t>(); }

/// Between integers and bool the mode says nothing.
template <class T, class... U>
void exact_casts() {
  (one_cast<T, U, device::CastMode::Rint>(), ...);
}
template <class T>
void casts_to_integers() {
  exact_casts<T, bool, std::int8_t, std::int16_t, std::int32_t, std::int64_t, std::uint8_t, std::uint16_t,
              std::uint32_t, std::uint64_t>();
}
template <class T, class... U>
void rounding_casts() {
  (casts<T, U>(), ...);
}
template <class T>
void casts_to_new_integers() {
  rounding_casts<T, std::int8_t, std::int16_t, std::uint8_t, std::uint16_t, std::uint32_t, std::uint64_t>();
}

TEST_CASE("casts between integers and bool wrap") {
  casts_to_integers<bool>();
  casts_to_integers<std::int8_t>();
  casts_to_integers<std::int16_t>();
  casts_to_integers<std::int32_t>();
  casts_to_integers<std::int64_t>();
  casts_to_integers<std::uint8_t>();
  casts_to_integers<std::uint16_t>();
  casts_to_integers<std::uint32_t>();
  casts_to_integers<std::uint64_t>();
}
TEST_CASE("casts from integers to floats round once") {
  exact_casts<std::int8_t, float, double>();
  exact_casts<std::int16_t, float, double>();
  exact_casts<std::uint8_t, float, double>();
  exact_casts<std::uint16_t, float, double>();
  exact_casts<std::uint32_t, float, double>();
  exact_casts<std::uint64_t, float, double>();
}
TEST_CASE("casts from float saturate to narrow and unsigned integers, in every mode") {
  casts_to_new_integers<float>();
}
TEST_CASE("casts from double saturate to narrow and unsigned integers, in every mode") {
  casts_to_new_integers<double>();
}

template <class T>
void casts_of_16_bit_floats() {
  casts_to_new_integers<T>();
  exact_casts<std::int8_t, T>();
  exact_casts<std::int16_t, T>();
  exact_casts<std::uint8_t, T>();
  exact_casts<std::uint16_t, T>();
  exact_casts<std::uint32_t, T>();
  exact_casts<std::uint64_t, T>();
}
TEST_CASE("casts between half and narrow and unsigned integers") { casts_of_16_bit_floats<pl::half>(); }
TEST_CASE("casts between bfloat16 and narrow and unsigned integers") {
  casts_of_16_bit_floats<pl::bfloat16>();
}

}  // namespace
