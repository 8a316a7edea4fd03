// codegen/reference.hpp -- the reference operations: one plain, slow, obviously right definition of each.
//
// The oracle of every backend: eager runs call these, and so does the interpreter. They know no vectors, no
// fusion and no layout but dense row-major. Errors: pl::ShapeError and pl::DtypeError with `location`.
// Thread-safety: pure functions. The floating-point environment is the caller's and is not changed.
#pragma once

#include "codegen/error.hpp"
#include "codegen/ir.hpp"
#include "codegen/value.hpp"

#include <optional>
#include <span>
#include <variant>
#include <vector>

namespace trilith::codegen::reference {

/// What an operation gives for these operand types; also the rule the verifier and `specialise` use.
/// Handles every group but Structure and Move. `result_dtype` is used by Cast alone.
struct TypeOf {
  DType dtype;
  bool is_scalar;
  Shape shape;
};
/// Throws ShapeError ("add: shapes [8, 4] and [8, 3] do not broadcast ...") or DtypeError ("... pl::cast
/// ...").
[[nodiscard]] TypeOf result_type(Op op, std::span<const TypeOf> operands, DType result_dtype,
                                 const pl::Location& location);

/// Evaluates an Elementwise, Compare, Logic, Bits, Cast, RowReduce or ColReduce operation.
[[nodiscard]] Value apply(Op op, std::span<const Value> operands, const Attributes& attributes,
                          DType result_dtype, const pl::Location& location);
[[nodiscard]] inline Value apply(Op op, std::initializer_list<Value> operands,
                                 const pl::Location& location = {}) {
  return apply(op, std::span<const Value>(operands.begin(), operands.size()), {}, DType::Float32, location);
}

/// One operand of a tile call: a tile or scalar, a list of integers, or a tensor.
using CallOperand = std::variant<Value, Shape, TensorView>;
/// Evaluates a tile call (tile_call.hpp). `wanted`: the dtype the kernel asked for; none: what follows from
/// the operands.
[[nodiscard]] Value tile_call(Op op, std::span<const CallOperand> operands, const Attributes& attributes,
                              std::optional<DType> wanted, const pl::Location& location);

/// The element of a tile at `offsets`, as a scalar.
[[nodiscard]] Value read(const Value& tile, const Shape& offsets, const pl::Location& location);

/// A tile of `shape`, every element `element`.
[[nodiscard]] Value full(const Shape& shape, const Value& element);
/// Copies the region [offsets, offsets + shape) of `tensor`. Rank of offsets and shape must be the tensor's.
[[nodiscard]] Value load(const TensorView& tensor, const Shape& offsets, const Shape& shape,
                         const pl::Location& location);
/// The same of a partly valid tile. `clamp`: it is valid as far as the tensor goes behind the offsets; `valid`: no
/// further than this box. Only valid elements are read, and must lie inside the tensor.
[[nodiscard]] Value load(const TensorView& tensor, const Shape& offsets, const Shape& shape, bool clamp,
                         const std::optional<Shape>& valid, const pl::Location& location);
/// `tile`, of which only what lies inside the box `valid` stays valid.
[[nodiscard]] Value set_valid(const Value& tile, const Shape& valid, const pl::Location& location);
/// `tile` with every cell valid: those that were not are `fill`.
[[nodiscard]] Value fillpad(const Value& tile, Fill fill, const pl::Location& location);
/// Writes `tile` to the region at `offsets`; ranks must agree, except that a scalar fills nothing (error).
/// `Atomic::Add` adds to what is there, indivisibly for each element: other threads may add meanwhile.
void store(const Value& tile, const Shape& offsets, const TensorView& tensor, const pl::Location& location,
           Atomic atomic = Atomic::None);

/// The region [offsets, offsets + shape) of `tensor` as a view of the same memory.
[[nodiscard]] TensorView slice(const TensorView& tensor, const Shape& offsets, const Shape& shape,
                               const pl::Location& location);
/// `tensor[position]`: without its leading axis.
[[nodiscard]] TensorView index(const TensorView& tensor, std::int64_t position, const pl::Location& location);

/// A literal as a scalar of the dtype of the tile or scalar beside it: rounded to a floating dtype; refused
/// where an integer dtype cannot hold it or the literal is floating and the dtype is not.
[[nodiscard]] Value literal_as(const Value& literal, DType dtype, std::string_view operation,
                               const pl::Location& location);

/// NumPy broadcast of two shapes. Throws ShapeError.
[[nodiscard]] Shape broadcast(const Shape& a, const Shape& b, std::string_view operation,
                              const pl::Location& location);
/// The text of a tile for `pl::print`: dtype, shape, elements (at most 64 a row, 16 rows).
[[nodiscard]] std::string to_text(const Value& value);

}  // namespace trilith::codegen::reference
