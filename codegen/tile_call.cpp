#include "codegen/tile_call.hpp"

#include "codegen/message.hpp"
#include "codegen/passes/describe.hpp"
#include "codegen/passes/fold.hpp"

#include <utility>

namespace trilith::codegen {

TileCallType tile_call_type(const Kernel& kernel, const Expr& call, const pl::Location& location) {
  CallRule rule(kernel, call, location);
  switch (call.op) {
    case Op::Transpose: return rules::transpose(rule);
    case Op::Matmul:
    case Op::MatmulAcc:
    case Op::MatmulBias:
    case Op::BatchMatmul:
    case Op::Gemv:
    case Op::Dot: return rules::linear(rule);
    case Op::TileSlice: return rules::tile_slice(rule);
    case Op::Assemble: return rules::assemble(rule);
    case Op::Concat: return rules::concat(rule);
    case Op::Reshape: return rules::reshape(rule);
    case Op::Reinterpret: return rules::reinterpret(rule);
    case Op::Pad: return rules::pad(rule);
    case Op::Expand: return rules::expand(rule);
    case Op::Arange: return rules::arange(rule);
    case Op::Tri: return rules::tri(rule);
    case Op::Random: return rules::random(rule);
    case Op::RowArgmax:
    case Op::RowArgmin:
    case Op::ColArgmax:
    case Op::ColArgmin: return rules::argument(rule);
    case Op::Cumsum: return rules::cumsum(rule);
    case Op::Gather: return rules::gather(rule);
    case Op::GatherRow: return rules::gather_row(rule);
    case Op::LoadRow: return rules::load_row(rule);
    case Op::PagedGather: return rules::paged_gather(rule);
    case Op::Scatter:
    case Op::ScatterAdd: return rules::scatter(rule);
    case Op::SortIndices: return rules::sort_indices(rule);
    case Op::TopkIndices: return rules::topk_indices(rule);
    case Op::Write: return rules::write(rule);
    default: break;
  }
  throw pl::InternalError(
      "'" + std::string(operation(call.op).name) + "' has no typing rule; please report this", location);
}

int shape_operand(Op op) {
  switch (op) {
    case Op::Arange:
    case Op::Tri:
    case Op::Random: return 0;
    case Op::Reshape:
    case Op::Expand: return 1;
    case Op::TileSlice: return 2;
    default: return -1;
  }
}

bool overwrites_operand(const Expr& call, VariableId variable) {
  for (std::size_t i = call.op == Op::MatmulAcc || changes_first_operand(call.op) ? 1 : 0;
       i < call.operands.size(); ++i)
    if (call.operands[i].op == Op::Variable && call.operands[i].variable == variable) return true;
  return false;
}

// ------------------------------------------------------------------------------------------------ CallRule

void CallRule::shape_error(const std::string& what) const { throw pl::ShapeError(prefixed(what), location_); }
std::string CallRule::prefixed(const std::string& what) const {
  return std::string(operation(call_.op).name) + ": " + what;
}
void CallRule::dtype_error(const std::string& what) const { throw pl::DtypeError(prefixed(what), location_); }

const Type& CallRule::tile(std::size_t i) const {
  const Type& type = call_.operands.at(i).type;
  if (!type.is_tile())
    shape_error("operand " + std::to_string(i) + " must be a tile, not a scalar; make one of it with " +
                "pl::full<T>({1}, value)");
  return type;
}

Expr CallRule::extent(std::size_t i, std::size_t axis) const {
  const Dim& dim = tile(i).shape.at(axis);
  if (dim.is_constant()) return number(dim.extent);
  Expr use;
  use.op = Op::Variable;
  use.variable = dim.variable;
  use.type = Type::scalar(DType::Int64);
  return use;
}

std::vector<Expr> CallRule::extents(std::size_t i) const {
  std::vector<Expr> result;
  for (std::size_t axis = 0; axis < rank(i); ++axis) result.push_back(extent(i, axis));
  return result;
}

const std::vector<Expr>& CallRule::list(std::size_t i) const {
  const Expr& operand = call_.operands.at(i);
  if (operand.op != Op::List)
    throw pl::InternalError(std::string(operation(call_.op).name) + ": operand " + std::to_string(i) +
                                " is no list; please report this",
                            location_);
  return operand.operands;
}

DType CallRule::wanted() const {
  const DType dtype = call_.type.dtype;
  if (call_.type.any_dtype || !accepts(operation(call_.op).dtypes, dtype))
    dtype_error("there is no such tile of " + std::string(name_of(dtype)) + "; make another and convert it " +
                "with pl::cast<" + std::string(cpp_name_of(dtype)) + ">(...)");
  return dtype;
}

void CallRule::scalar(std::size_t i, DType dtype) const {
  const Type& type = call_.operands.at(i).type;
  if (!type.is_scalar())
    shape_error("operand " + std::to_string(i) + " must be a scalar, not a tile of shape " +
                passes::shape_text(kernel_, type.shape));
  if (type.dtype != dtype)
    dtype_error("operand " + std::to_string(i) + " is " + std::string(name_of(type.dtype)) + " and must be " +
                std::string(name_of(dtype)) + "; convert it with " + passes::cast_hint(dtype) + "(...)");
}

const std::vector<Expr>& CallRule::list(std::size_t i, std::size_t size, const std::string& what) const {
  const std::vector<Expr>& items = list(i);
  if (items.size() != size)
    shape_error(std::to_string(items.size()) + " " + what + " for rank " + std::to_string(size) +
                "; give one for each axis");
  return items;
}

std::vector<Expr> CallRule::shape(std::size_t i) {
  const std::vector<Expr>& items = list(i);
  for (std::size_t axis = 0; axis < items.size(); ++axis)
    not_negative(items[axis], "extent of the result, axis " + std::to_string(axis));
  return items;
}

std::string CallRule::shape_text(std::size_t i) const { return passes::shape_text(kernel_, tile(i).shape); }

std::string CallRule::extent_text(const Expr& extent) const {
  if (extent.is_constant()) return std::to_string(extent.value.as_int64());
  return passes::expression_text(kernel_, extent);
}

void CallRule::accept(std::size_t i) const {
  const DType dtype = call_.operands.at(i).type.dtype;
  if (accepts(operation(call_.op).dtypes, dtype)) return;
  std::string taken;
  for (int other = 0; other < dtype_count; ++other)
    if (const auto candidate = static_cast<DType>(other); accepts(operation(call_.op).dtypes, candidate))
      taken += (taken.empty() ? "" : ", ") + std::string(name_of(candidate));
  dtype_error("the tile is " + std::string(name_of(dtype)) + ", and " + taken +
              " are taken; convert it with pl::cast<T>(...)");
}

void CallRule::same_dtype(std::size_t i, std::size_t j) const {
  const DType a = call_.operands.at(i).type.dtype, b = call_.operands.at(j).type.dtype;
  if (a == b) return;
  dtype_error("the operands are " + std::string(name_of(a)) + " and " + std::string(name_of(b)) +
              ", and dtypes are not mixed; convert one with " + passes::cast_hint(a) + "(...)");
}

std::size_t CallRule::axis(std::int64_t given, std::size_t rank) const {
  const auto size = static_cast<std::int64_t>(rank);
  if (given < -size || given >= size)
    shape_error("axis " + std::to_string(given) + " of a tile of rank " + std::to_string(rank) +
                "; axes are 0 to rank - 1, or negative from the end");
  return static_cast<std::size_t>(given < 0 ? given + size : given);
}

void CallRule::equal(Expr a, Expr b, const std::string& what) {
  if (passes::same_value(a, b)) return;
  if (a.is_constant() && b.is_constant())
    shape_error(message::must_be_equal(what, extent_text(a), extent_text(b)));
  checks_.push_back({RunTimeCheck::Equal,
                     std::move(a),
                     std::move(b),
                     {},
                     prefixed(message::must_be_equal(what, message::given_word, message::expected_word))});
}

void CallRule::inside(Expr offset, Expr size, Expr extent, const std::string& what) {
  if (size.is_constant() && size.value.as_int64() < 0)
    shape_error(what + " has the negative extent " + std::to_string(size.value.as_int64()));
  const bool whole = offset.is_constant() && offset.value.as_int64() == 0 && passes::same_value(size, extent);
  if (whole) return;
  const bool below = offset.is_constant() && offset.value.as_int64() < 0;
  const bool known = offset.is_constant() && size.is_constant() && extent.is_constant();
  const bool longer =
      size.is_constant() && extent.is_constant() && size.value.as_int64() > extent.value.as_int64();
  if (below || longer || (known && offset.value.as_int64() > extent.value.as_int64() - size.value.as_int64()))
    shape_error(message::not_inside(what, extent_text(offset), extent_text(size), extent_text(extent)));
  if (known) return;
  checks_.push_back({RunTimeCheck::Inside, std::move(offset), std::move(size), std::move(extent),
                     prefixed(message::not_inside(what, message::given_word, message::length_word,
                                                  message::expected_word))});
}

void CallRule::at_most(Expr size, Expr extent,
                       const std::function<std::string(const std::string&, const std::string&)>& words) {
  const bool negative = size.is_constant() && size.value.as_int64() < 0;
  const bool known = size.is_constant() && extent.is_constant();
  if (negative || (known && size.value.as_int64() > extent.value.as_int64()))
    shape_error(words(extent_text(size), extent_text(extent)));
  if (known || passes::same_value(size, extent)) return;
  checks_.push_back({RunTimeCheck::Inside, number(0), std::move(size), std::move(extent),
                     prefixed(words(message::length_word, message::expected_word))});
}

void CallRule::not_negative(Expr extent, const std::string& what) {
  if (extent.is_constant()) {
    if (extent.value.as_int64() < 0) shape_error(message::negative(what, extent_text(extent)));
    return;
  }
  if (extent.op == Op::Variable &&
      kernel_.variables[static_cast<std::size_t>(extent.variable)].kind == VariableKind::Extent)
    return;
  checks_.push_back({RunTimeCheck::NotNegative,
                     std::move(extent),
                     {},
                     {},
                     prefixed(message::negative(what, message::given_word))});
}

TileCallType CallRule::result(DType dtype, std::vector<Expr> shape) {
  if (shape.size() > static_cast<std::size_t>(max_rank))
    shape_error("a result of rank " + std::to_string(shape.size()) + " is above the largest, " +
                std::to_string(max_rank));
  return {dtype, std::move(shape), std::move(checks_)};
}

Expr CallRule::number(std::int64_t value) { return passes::int64_constant(value, {}); }
Expr CallRule::sum(Expr a, Expr b) {
  // What fills a tile up to an extent gives that extent.
  if (b.op == Op::Sub && passes::same_value(b.operands[1], a)) return std::move(b.operands[0]);
  return passes::scalar_operation(Op::Add, DType::Int64, {std::move(a), std::move(b)}, {});
}
Expr CallRule::product(Expr a, Expr b) {
  return passes::scalar_operation(Op::Mul, DType::Int64, {std::move(a), std::move(b)}, {});
}

}  // namespace trilith::codegen
