// codegen/builder.hpp -- writes captured-stage kernel IR in C++ that reads like the kernel.
//
//   KernelBuilder k("scale");
//   Expr x = k.tensor("x", Access::In, DType::Float32);
//   Expr y = k.tensor("y", Access::Out, DType::Float32);
//   Expr t = k.let("t", load(x, {0, 0}, {8, 8}));
//   k.store(t * literal(2.0), {0, 0}, y);
//   Kernel kernel = k.take();
//
// For tests and generators; the front end builds IR from clang's AST instead. Every statement gets the next
// line number of the made-up file, so that diagnostics can be checked. Not synchronised.
#pragma once

#include "codegen/ir.hpp"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace trilith::codegen::build {

/// A scalar expression, or an integer written as one (int64 constant): an element of an offset or shape list.
struct Item {
  Expr expression;
  Item(std::int64_t value);  // NOLINT: implicit on purpose, as in the language
  Item(int value) : Item(static_cast<std::int64_t>(value)) {}
  Item(Expr value) : expression(std::move(value)) {}
};
using Items = std::vector<Item>;

/// A constant that takes the dtype of the tile beside it, like a literal in a kernel.
[[nodiscard]] Expr literal(double value);
[[nodiscard]] Expr literal(int value);
/// A constant of a fixed dtype.
[[nodiscard]] Expr constant(Constant value);
[[nodiscard]] inline Expr integer(std::int64_t value) { return constant(Constant::of(value)); }
[[nodiscard]] Expr list(const Items& items);

/// Any operation of the table; the type follows from the operands as far as the captured stage knows it.
[[nodiscard]] Expr call(Op op, std::vector<Expr> operands);
[[nodiscard]] Expr cast(DType to, Expr operand, CastMode mode = CastMode::Rint);
/// A tile call. Its dtype is `dtype`, by default that of the first tile operand.
[[nodiscard]] Expr tile_call(Op op, std::vector<Expr> operands, const Attributes& attributes = {},
                             std::optional<DType> dtype = {});
[[nodiscard]] Expr load(Expr tensor, const Items& offsets, const Items& shape);
/// One element of a tile; give it a variable with `let`, since it stands only as the root of an assignment.
[[nodiscard]] Expr read(Expr tile, const Items& offsets);
/// An operation on windows, operands as in its row. Those with a value need a variable: give them to `let`.
[[nodiscard]] Expr remote(Op op, std::vector<Expr> operands, const Attributes& attributes = {});
[[nodiscard]] Expr load(Expr tensor);  ///< the whole tensor: both lists are empty
/// A load that is cut to the tensor, or valid in a part only (no items: all of it).
[[nodiscard]] Expr load(Expr tensor, const Items& offsets, const Items& shape, bool clamp,
                        const Items& valid = {});
[[nodiscard]] Expr set_valid(Expr tile, const Items& valid);
[[nodiscard]] Expr fillpad(Expr tile, Fill fill);
/// The valid extent of a tile.
[[nodiscard]] Expr valid(Expr tile, std::int64_t axis);
[[nodiscard]] Expr full(DType dtype, const Items& shape, Expr element);
[[nodiscard]] Expr slice(Expr tensor, const Items& offsets, const Items& shape);
[[nodiscard]] Expr index(Expr tensor, const Item& position);
[[nodiscard]] Expr dim(Expr operand, std::int64_t axis);
[[nodiscard]] Expr rank(Expr operand);

[[nodiscard]] inline Expr operator+(Expr a, Expr b) { return call(Op::Add, {std::move(a), std::move(b)}); }
[[nodiscard]] inline Expr operator-(Expr a, Expr b) { return call(Op::Sub, {std::move(a), std::move(b)}); }
[[nodiscard]] inline Expr operator*(Expr a, Expr b) { return call(Op::Mul, {std::move(a), std::move(b)}); }
[[nodiscard]] inline Expr operator/(Expr a, Expr b) { return call(Op::Div, {std::move(a), std::move(b)}); }
[[nodiscard]] inline Expr operator<(Expr a, Expr b) { return call(Op::Lt, {std::move(a), std::move(b)}); }
[[nodiscard]] inline Expr operator>(Expr a, Expr b) { return call(Op::Gt, {std::move(a), std::move(b)}); }

class KernelBuilder {
 public:
  using Body = std::function<void()>;

  explicit KernelBuilder(std::string name, std::string file = "kernel.cpp");

  /// A tensor parameter of any rank and shape, or of the given one.
  Expr tensor(std::string name, Access access, DType dtype);
  Expr tensor(std::string name, Access access, DType dtype, std::vector<Dim> shape);
  /// A `pl::Tensor<>` parameter: any dtype too.
  Expr any_tensor(std::string name, Access access);
  /// A `pld::DistributedTensor` parameter.
  Expr window(std::string name, DType dtype, std::vector<Dim> shape);
  Expr scalar(std::string name, DType dtype);
  /// A `pl::Const<T>` parameter.
  Expr const_scalar(std::string name, DType dtype);
  /// A by-value capture; offsets follow C++'s layout rules in the order of the calls.
  Expr capture(std::string name, DType dtype);
  /// A `pl::dynamic(name)` extent.
  Dim dynamic(std::string name);
  /// A variable without a value yet.
  Expr local(std::string name, Type type);

  /// A new variable and its first value.
  Expr let(std::string name, Expr value);
  void assign(const Expr& variable, Expr value);
  void store(Expr tile, const Items& offsets, Expr tensor, Atomic atomic = Atomic::None);
  void print(Expr value);
  /// A fault unless 0 <= position < size: an element of an array.
  void check(Expr position, Expr size);
  /// A statement of Group::Remote.
  void remote(Op op, std::vector<Expr> operands, const Attributes& attributes = {});
  /// A statement of Group::Synchronise.
  void synchronise(Op op);
  void if_(Expr condition, const Body& then, const Body& otherwise = {});
  void for_(std::string name, const Item& begin, const Item& end, const Item& step,
            const std::function<void(Expr)>& body, LoopKind loop = LoopKind::Sequential);
  void while_(Expr condition, const Body& body, const Body& step = {});
  /// `body` receives the block's number, for `leave`.
  void block(const std::function<void(std::int32_t)>& body);
  void leave(std::int32_t block);
  void return_() { leave(0); }
  void break_();
  void continue_();
  /// Says that the lambda returns this Out parameter.
  void returns(const Expr& tensor);

  [[nodiscard]] Kernel take();

 private:
  VariableId add_variable(std::string name, Type type, VariableKind kind);
  Expr add_parameter(std::string name, Type type, Access access, bool specialised);
  Expr use(VariableId id) const;
  SourceLocation next_location();
  Statement start(StatementKind kind);
  void add(Statement statement);
  std::vector<Statement> statements_of(const Body& body);

  Kernel kernel_;
  std::vector<std::vector<Statement>> open_;  ///< statement lists being written, innermost last
  std::uint32_t line_ = 1;
  std::int32_t blocks_ = 0;
};

}  // namespace trilith::codegen::build
