// codegen/random_program.hpp -- seeded random kernels with arguments, for tests that run one kernel two ways.
//
//   const RandomProgram program = random_program(seed);
//   RandomArguments expected = random_arguments(program), given = random_arguments(program);
//   interpret(program.kernel, expected.arguments, expected.captures);
//   run_some_other_way(program.kernel, given);
//   CHECK(difference(program, expected, given) == "");
//
// Every program is correct by construction: shapes fit, dtypes agree, loops end, regions lie inside.
// Operations come from the table, so a new row takes part at once. Results of operations that are not exact
// are stored and used no further, so that a tolerance is enough to compare them. Equal seeds give equal
// programs and values on every machine. Pure functions.
#pragma once

#include "codegen/interpreter.hpp"
#include "codegen/ir.hpp"
#include "codegen/specialise.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace trilith::codegen {

struct RandomOptions {
  int statements = 8;           ///< about how many at the outermost level
  bool control_flow = true;     ///< loops, branches, blocks
  bool dynamic_extents = true;  ///< `pl::dynamic`
  bool approximate = true;      ///< operations that are not Exactness::Exact
  bool strided = true;          ///< tensors that are not dense
  bool any_dtype = true;        ///< `pl::Tensor<>`
  bool tile_calls = true;       ///< operations of tile_call.hpp
  bool hardware = false;        ///< only dtypes that Ascend has, or nearly so
  bool prints = false;          ///< tiles are printed
};

/// How an output may differ from the reference.
enum class Tolerance : std::uint8_t { Exact, Ulp4, Sum };

struct RandomParameter {
  DType dtype = DType::Float32;
  bool is_tensor = false;
  Shape extents;
  Layout layout = Layout::Dense;
  bool is_input = true;  ///< zero and negative strides are for inputs only
  Tolerance tolerance = Tolerance::Exact;
  std::optional<std::int64_t> value;  ///< scalars that stand for an extent
};

struct RandomProgram {
  std::uint64_t seed = 0;
  Kernel kernel;  ///< captured stage
  std::vector<RandomParameter> parameters;
  std::vector<RandomParameter> captures;
};

/// Arguments with their memory. Movable; the views point into `memory`, so not copyable.
struct RandomArguments {
  std::vector<Value> memory;        ///< one per parameter: all bytes, with gaps and a margin on both sides
  std::vector<Argument> arguments;  ///< one per parameter
  std::vector<Value> captures;

  RandomArguments() = default;
  RandomArguments(RandomArguments&&) = default;
  RandomArguments& operator=(RandomArguments&&) = default;
};

[[nodiscard]] RandomProgram random_program(std::uint64_t seed, const RandomOptions& options = {});
[[nodiscard]] inline Kernel random_kernel(std::uint64_t seed, const RandomOptions& options = {}) {
  return random_program(seed, options).kernel;
}
/// Fresh memory with the same values at each call: NaN, infinities, denormals, signed zeros, extremes among
/// them.
[[nodiscard]] RandomArguments random_arguments(const RandomProgram& program);
/// The signature that these arguments are called with.
[[nodiscard]] Signature signature_of(const RandomProgram& program, const RandomArguments& arguments);
/// The first place where two runs left different memory, also between and around the tensors; "" when there
/// is none.
[[nodiscard]] std::string difference(const RandomProgram& program, const RandomArguments& expected,
                                     const RandomArguments& given);

/// Numbers that are equal on every machine, unlike those of <random>'s distributions.
class Random {
 public:
  // Mixed: a state that grows with the seed by what a step adds would make each stream the one before, a
  // number later, and neighbouring seeds would give nearly the same program.
  explicit Random(std::uint64_t seed) : state_(mix(seed + 1)) {}

  std::uint64_t bits() { return mix(state_ += 0x9e3779b97f4a7c15u); }  // splitmix64
  /// From 0 to below - 1.
  std::int64_t below(std::int64_t below) {
    return static_cast<std::int64_t>(bits() % static_cast<std::uint64_t>(below));
  }
  bool chance(int percent) { return below(100) < percent; }
  template <class List>
  const auto& pick(const List& list) {
    return list[static_cast<std::size_t>(below(static_cast<std::int64_t>(std::size(list))))];
  }

 private:
  static std::uint64_t mix(std::uint64_t x) {
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
  }
  std::uint64_t state_;
};

}  // namespace trilith::codegen
