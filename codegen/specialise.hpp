// codegen/specialise.hpp -- binds a captured kernel to one signature: shapes, dtypes, constants.
#pragma once

#include "codegen/ir.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace trilith::codegen {

/// What is known of a tensor's strides. The key holds this class, never the strides themselves.
enum class Layout : std::uint8_t {
  Dense,       ///< row-major without gaps: strides follow from the extents
  InnerDense,  ///< the last axis has stride 1, the others are run-time values
  Strided,     ///< every stride is a run-time value (may be 0 or negative for inputs)
};

/// A run-time extent of `pl::Tensor<T>` that the caller knows to be equal wherever it gives the same number.
[[nodiscard]] constexpr std::int64_t shared_extent(std::int64_t number) { return -2 - number; }
[[nodiscard]] constexpr bool is_shared_extent(std::int64_t extent) { return extent <= -2; }

/// One argument of a call, as far as the specialisation depends on it.
struct ArgumentSignature {
  bool is_tensor = false;
  DType dtype = DType::Float32;
  /// Tensors; -1: a run-time extent of its own; `shared_extent(k)`: run-time, one with all others of number k.
  std::vector<std::int64_t> extents;
  Layout layout = Layout::Dense;
  bool aligned = false;           ///< data is aligned to 64 bytes (a hint; false is always right)
  std::optional<Constant> value;  ///< pl::Const<T>
  bool operator==(const ArgumentSignature&) const = default;
};

struct Signature {
  std::vector<ArgumentSignature> arguments;  ///< one per Kernel::parameters
  /// One per Kernel::captures; set where a shape or bound needs the value, see `captures_to_specialise`.
  std::vector<std::optional<Constant>> captures;
  bool fast_math = false;
  bool checked = false;  ///< the code tells the run what it loads from windows and stores there
  bool operator==(const Signature&) const = default;
};

/// Which captures a shape, an unroll bound or a `pl::Const` needs as constants (one flag per
/// Kernel::captures).
[[nodiscard]] std::vector<bool> captures_to_specialise(const Kernel& captured);

/// A place where constants could change what a specialised kernel means: an extent that is computed from run-time
/// extents of tensors meets another one there. Were it a constant it could be 1 and broadcast; at run time none does.
/// Line 0: there is no such place, so constants in the place of `shared_extent`s give the same results.
[[nodiscard]] SourceLocation computed_extent_in_doubt(const Kernel& specialised);

/// Gives the specialised kernel: types complete, shapes bound, constants folded, "let" form, dead code gone,
/// verified. Throws pl::ShapeError, pl::DtypeError at the user's line. Extents of `pl::dynamic` stay
/// variables.
[[nodiscard]] Kernel specialise(const Kernel& captured, const Signature& signature);

/// Checks a kernel of either stage; throws pl::InternalError naming the broken rule and the place in the
/// kernel.
void verify(const Kernel& kernel);

}  // namespace trilith::codegen
