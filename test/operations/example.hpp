// test/operations/example.hpp -- one small call of every operation of the table, for every dtype it takes: what each
// backend is asked for.
#pragma once

#include "codegen/interpreter.hpp"
#include "codegen/ir.hpp"
#include "codegen/specialise.hpp"

#include <optional>
#include <string>
#include <vector>

namespace operations_test {

using namespace trilith::codegen;

/// An operand, as the kernel gets it: a tensor that is loaded, a tensor, a scalar argument, a number, a list.
struct Operand {
  enum Kind { Tile, Tensor, Scalar, Number, List } kind = Tile;
  Value value;
  Shape list;
};

struct Example {
  Op op = Op::Add;
  DType dtype = DType::Float32;
  std::vector<Operand> operands;
  Attributes attributes;
};

/// True for the rows that have a cell for each backend; the others are plumbing of the IR.
[[nodiscard]] bool has_cells(const Operation& row);
/// An example of a row of has_cells. An operation that is not known here is a pl::InternalError with its name.
[[nodiscard]] Example example_of(Op op, DType dtype);
/// The dtypes that a row takes.
[[nodiscard]] std::vector<DType> dtypes_of(const Operation& row);

/// What the reference operation gives.
[[nodiscard]] Value reference_result(const Example& example);
/// A captured kernel whose last parameter is given the result; the others are the operands that are arguments.
[[nodiscard]] Kernel kernel_of(const Example& example);
/// Views of the operands that are arguments and of `result`, which must live as long.
[[nodiscard]] std::vector<Argument> arguments_of(Example& example, Value& result);
[[nodiscard]] Signature signature_of(const std::vector<Argument>& arguments);

/// "" where a backend has the operation in this dtype, else what it says instead.
[[nodiscard]] std::string try_reference(Op op, DType dtype);
[[nodiscard]] std::string try_interpreter(Op op, DType dtype);
[[nodiscard]] std::string try_eager(Op op, DType dtype);
[[nodiscard]] std::string try_xsimd(Op op, DType dtype);

/// How the AscendC emitter lowers an operation in one dtype.
struct AscendcCell {
  enum Way {
    Instruction,  ///< one of the hardware's
    Composed,     ///< of several
    Elements,     ///< the scalar pipe takes one after the other, at least at the end
    Refused,
  } way;
  std::string reason;  ///< of a refusal
};
[[nodiscard]] AscendcCell ascendc_cell(Op op, DType dtype);

/// The dtype in which a row's example is printed as C++, captured and run natively and compiled.
[[nodiscard]] DType printed_dtype(const Operation& row);
/// "" where the results are equal as far as the row's exactness promises.
[[nodiscard]] std::string difference(const Operation& row, const Value& expected, const Value& given);

/// The operation reference, as Markdown.
[[nodiscard]] std::string page();

}  // namespace operations_test
