// codegen/ir.hpp -- kernel IR: typed, structured control flow, source locations.
//
// One data structure serves two stages:
//  captured     -- what the front end read from the lambda. Shapes of tiles and of `pl::Tensor<T>` are
//  unknown
//                  (`Type::any_shape`), variables are mutable, tile expressions nest.
//  specialised  -- what `specialise` makes of it for one signature: every type complete, shapes bound,
//  integer
//                  expressions folded, one operation on tiles per Assign ("let" form), tile variables
//                  assigned once except those carried by a loop or a branch.
// Plain values, no pointers: copy, compare and move freely. Not synchronised.
#pragma once

#include "codegen/dtype.hpp"
#include "codegen/operation.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace trilith::codegen {

/// Format version of the IR and its JSON. Older is read, newer is refused by name.
inline constexpr int ir_version = 1;
inline constexpr int max_rank = 8;

/// Index into Kernel::files, and 1-based line and column. line == 0: unknown.
struct SourceLocation {
  std::uint32_t file = 0;
  std::uint32_t line = 0;
  std::uint32_t column = 0;
  bool operator==(const SourceLocation&) const = default;
};

/// Index into Kernel::variables.
using VariableId = std::int32_t;
inline constexpr VariableId no_variable = -1;

/// One extent: a constant, or the run-time value of an int64 scalar variable (a named `pl::dynamic` extent,
/// or, after specialisation, any computed extent).
struct Dim {
  std::int64_t extent = 0;  ///< valid when `variable == no_variable`
  VariableId variable = no_variable;
  [[nodiscard]] bool is_constant() const { return variable == no_variable; }
  [[nodiscard]] bool is(std::int64_t value) const { return is_constant() && extent == value; }
  bool operator==(const Dim&) const = default;
};

enum class TypeKind : std::uint8_t { Void, Scalar, Tile, Tensor, List };

struct Type {
  TypeKind kind = TypeKind::Void;
  DType dtype = DType::Float32;
  bool any_dtype = false;  ///< captured only: `pl::Tensor<>`, `pl::Tile<>`
  bool any_shape = false;  ///< captured only: rank and shape unknown
  std::vector<Dim> shape;  ///< Tile and Tensor, when !any_shape
  /// A partly valid tile while it is specialised: the extents it was made with; `shape` is then its valid box
  /// (valid.hpp). Empty: all of it is valid.
  std::vector<Dim> physical = {};
  bool operator==(const Type&) const = default;

  [[nodiscard]] static Type scalar(DType dtype) { return {TypeKind::Scalar, dtype, false, false, {}}; }
  [[nodiscard]] static Type tile(DType dtype) { return {TypeKind::Tile, dtype, false, true, {}}; }
  [[nodiscard]] static Type tile(DType dtype, std::vector<Dim> shape) {
    return {TypeKind::Tile, dtype, false, false, std::move(shape)};
  }
  [[nodiscard]] bool is_scalar() const { return kind == TypeKind::Scalar; }
  [[nodiscard]] bool is_tile() const { return kind == TypeKind::Tile; }
  [[nodiscard]] bool is_tensor() const { return kind == TypeKind::Tensor; }
  /// The shape a tile was made with, valid or not.
  [[nodiscard]] const std::vector<Dim>& whole_shape() const { return physical.empty() ? shape : physical; }
};

/// Rounding of a cast. `Rint` is the default of `pl::cast`; a C++ conversion written in a kernel is `Trunc`.
enum class CastMode : std::uint8_t { Rint, Round, Floor, Ceil, Trunc, Odd };

/// Memories of an AI core: hints on the simulator, whose tiles all lie in one.
enum class MemorySpace : std::uint8_t { Vec, Mat, Left, Right, Acc, Bias };

/// What `fillpad` writes: 0; infinity or the largest; minus infinity or the lowest.
enum class Fill : std::uint8_t { Zero, Max, Min };

/// How a store writes: `Add` adds each element to what is there, one indivisible step an element.
enum class Atomic : std::uint8_t { None, Add };

/// How a notify changes its cell, and what a wait compares it with.
enum class NotifyOp : std::uint8_t { Set, AtomicAdd };
enum class WaitCmp : std::uint8_t { Eq, Ge };
/// Of collectives: what becomes of the ranks' elements, and which way the data goes.
enum class ReduceOp : std::uint8_t { Sum, Max, Min, Prod };
enum class Algorithm : std::uint8_t { Auto, Mesh, Ring };

/// What an operation needs beside its operands.
struct Attributes {
  CastMode mode = CastMode::Rint;         ///< Cast
  bool clamp = false;                     ///< captured Load: the tile is valid as far as the tensor goes
  std::int32_t axis = 0;                  ///< tile calls; negative axes count from the end
  bool flag = false;                      ///< SortIndices: descending; TopkIndices: the largest
  std::int32_t axis2 = 0;                 ///< Transpose: the other axis
  bool trans_a = false;                   ///< products: operand a is given as [K, M]
  bool trans_b = false;                   ///< products: operand b is given as [N, K]
  bool upper = false;                     ///< Tri
  MemorySpace memory = MemorySpace::Vec;  ///< MoveTo
  Atomic atomic = Atomic::None;           ///< Store, RemoteStore, RemotePut
  NotifyOp notify = NotifyOp::AtomicAdd;  ///< Notify
  WaitCmp compare = WaitCmp::Ge;          ///< Wait
  ReduceOp reduce = ReduceOp::Sum;        ///< Allreduce, ReduceScatter, CommReduce
  Algorithm algorithm = Algorithm::Auto;  ///< Allreduce
  Fill fill = Fill::Zero;                 ///< Fillpad
  std::int32_t chunk = 0;                 ///< RemotePut, RemoteGet: elements at a time; 0: as many as fit
  std::int32_t pipeline = 2;              ///< RemotePut, RemoteGet: buffers that the chunks alternate between
  std::uint32_t indexed = 0;  ///< specialised Load, Store: bit k: the offset on axis k is the index of `x[i]`
  bool operator==(const Attributes&) const = default;
};

/// The bits of a scalar of `dtype`: floats as their IEEE pattern, integers sign-extended to 64 bits, bool 0
/// or 1.
struct Constant {
  DType dtype = DType::Int64;
  std::uint64_t bits = 0;
  bool operator==(const Constant&) const = default;

  [[nodiscard]] static Constant of(bool value);
  [[nodiscard]] static Constant of(std::int32_t value);
  [[nodiscard]] static Constant of(std::int64_t value);
  [[nodiscard]] static Constant of(float value);
  [[nodiscard]] static Constant of(double value);
  /// An integer as a constant of any dtype: cut to the width, rounded to nearest.
  [[nodiscard]] static Constant of(DType dtype, std::int64_t value);
  /// A number as a constant of a floating dtype, rounded to nearest.
  [[nodiscard]] static Constant rounded(DType dtype, double value);
  /// The smallest and the largest value of a dtype, infinities where it has them.
  [[nodiscard]] static Constant lowest(DType dtype);
  [[nodiscard]] static Constant highest(DType dtype);
  [[nodiscard]] std::int64_t as_int64() const;  ///< integers and bool
  [[nodiscard]] double as_double() const;       ///< any dtype, rounded to double
};

/// An expression tree. `op` gives the meaning of `operands` (see operation.hpp).
struct Expr {
  Op op = Op::Constant;
  Type type;
  std::vector<Expr> operands;
  Attributes attributes;
  Constant value;                     ///< Op::Constant
  VariableId variable = no_variable;  ///< Op::Variable
  SourceLocation location;
  /// A literal or `constexpr` value written beside a tile: takes the tile's dtype when specialised.
  bool literal = false;
  bool operator==(const Expr&) const = default;

  [[nodiscard]] bool is_constant() const { return op == Op::Constant; }
};

enum class VariableKind : std::uint8_t { Local, Parameter, Capture, Extent };

struct Variable {
  std::string name;
  Type type;
  VariableKind kind = VariableKind::Local;
  SourceLocation location;
  std::int64_t multiple = 1;  ///< Extent: every value is a multiple of it
  bool specialised = false;   ///< captured Extent: `pl::specialised`, its value is part of the key
  bool operator==(const Variable&) const = default;
};

enum class StatementKind : std::uint8_t {
  Assign,    ///< variable = value
  Evaluate,  ///< value, for its effect (Store, Print)
  If,        ///< if (value) body else else_body
  For,       ///< for (variable = begin; variable < end (or > when step < 0); variable += step) body
  While,     ///< while (value) { body; step_body }  -- `continue` runs step_body
  Block,     ///< body; `Leave` with the same block number jumps behind it
  Leave,     ///< leave the enclosing Block number `block`; block 0 is the kernel: an early return
  Break,     ///< of the innermost For or While
  Continue,  ///< of the innermost For or While
};

/// How a For may be run: Unroll needs constant bounds, rounds of Parallel are independent, Pipeline is a hint.
enum class LoopKind : std::uint8_t { Sequential, Parallel, Unroll, Pipeline };

struct Statement {
  StatementKind kind = StatementKind::Evaluate;
  SourceLocation location;
  VariableId variable = no_variable;  ///< Assign, For
  Expr value;                         ///< Assign, Evaluate, If, While
  Expr begin, end, step;              ///< For: int64 scalars, evaluated once before the loop
  LoopKind loop = LoopKind::Sequential;
  std::int32_t stages = 1;  ///< Pipeline
  std::int32_t block = 0;   ///< Block, Leave
  std::vector<Statement> body;
  std::vector<Statement> else_body;
  std::vector<Statement> step_body;
  bool operator==(const Statement&) const = default;
};

enum class Access : std::uint8_t { In, Out, InOut };

struct Parameter {
  VariableId variable = no_variable;
  Access access = Access::In;
  bool specialised = false;  ///< `pl::Const<T>`: its value is part of the key
  bool window = false;       ///< `pld::DistributedTensor`: an InOut tensor that other ranks reach, too
  bool operator==(const Parameter&) const = default;
};

/// A by-value capture: where clang's record layout puts it in the closure object.
struct ClosureField {
  VariableId variable = no_variable;
  std::uint32_t offset = 0;  ///< bytes
  bool operator==(const ClosureField&) const = default;
};

struct Kernel {
  std::string name;  ///< of the variable the kernel initialises, for people; need not be unique
  SourceLocation location;
  std::vector<std::string> files;  ///< as SourceLocation::file counts them
  std::vector<Variable> variables;
  std::vector<Parameter> parameters;
  std::vector<ClosureField> captures;
  std::uint32_t closure_size = 0;
  std::int32_t returned_parameter = -1;  ///< index into parameters of the Out the lambda returns, -1: void
  bool specialised = false;              ///< the stage, see above
  bool fast_math = false;                ///< specialised only
  std::vector<Statement> body;
  bool operator==(const Kernel&) const = default;
};

}  // namespace trilith::codegen
