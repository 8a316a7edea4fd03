// jit/capture/tile_calls.cpp -- calls of the operations of codegen/tile_call.hpp: their operands, lists and
// constant attributes.
#include "codegen/tile_call/linear.hpp"

#include "jit/capture/walker.hpp"

namespace trilith::capture {

using codegen::Op;

codegen::Expr Walker::tile_call(Op op, const clang::CallExpr* call) {
  const llvm::ArrayRef<const clang::Expr*> arguments(call->getArgs(), call->getNumArgs());
  switch (op) {
    case Op::Transpose: {
      Expr result = make_tile_call(op, call, arguments.take_front(1));
      result.attributes.axis = constant_integer(arguments[1], "an axis");
      result.attributes.axis2 = constant_integer(arguments[2], "an axis");
      return result;
    }
    case Op::Matmul:
    case Op::MatmulAcc:
    case Op::MatmulBias:
    case Op::BatchMatmul:
    case Op::Gemv:
    case Op::Dot: return linear(op, call);
    case Op::Sum:
    case Op::Prod:
    case Op::Max:
    case Op::Min:
    case Op::Mean: {
      Expr result = make_tile_call(op, call, arguments.take_front(1));
      result.attributes.axis = static_cast<std::int32_t>(option(arguments[1], "axis").value_or(-1));
      return result;
    }
    case Op::MoveTo: {
      Expr result = make_tile_call(op, call, arguments.take_front(1));
      result.attributes.memory =
          static_cast<codegen::MemorySpace>(constant_integer(arguments[1], "a memory"));
      return result;
    }
    case Op::TileSlice:
    case Op::Assemble: return make_tile_call(op, call, arguments.take_front(3));
    case Op::Reshape:
    case Op::Expand: return make_tile_call(op, call, arguments.take_front(2));
    case Op::Reinterpret: return make_tile_call(op, call, arguments.take_front(1));
    case Op::Pad: return make_tile_call(op, call, arguments.take_front(4));
    case Op::Concat: return concat(call);
    case Op::Arange: return make_tile_call(op, call, arguments.take_front(3));
    case Op::Random: {
      Expr result = make_tile_call(op, call, arguments.take_front(3));
      for (std::size_t i = 1; i < 3; ++i)
        result.operands[i] = int64_operand(std::move(result.operands[i]), call);
      return result;
    }
    case Op::Tri: {
      std::vector<Expr> values = operands(arguments.take_front(3));
      for (Expr& value : values) value = int64_operand(std::move(value), call);
      Expr shape;
      shape.op = Op::List;
      shape.type.kind = codegen::TypeKind::List;
      shape.location = location(call->getExprLoc());
      shape.operands = {std::move(values[0]), std::move(values[1])};
      Expr result = make(op, type_of(call->getType(), call->getExprLoc()),
                         {std::move(shape), std::move(values[2])}, call->getExprLoc());
      result.attributes.upper = constant_integer(arguments[3], "`upper`") != 0;
      return result;
    }
    case Op::RowArgmax:
    case Op::RowArgmin:
    case Op::ColArgmax:
    case Op::ColArgmin:
    case Op::Cumsum:
    case Op::Gather:
    case Op::GatherRow:
    case Op::PagedGather:
    case Op::Scatter:
    case Op::ScatterAdd:
    case Op::SortIndices:
    case Op::TopkIndices: return index_call(op, call, type_of(call->getType(), call->getExprLoc()));
    default: break;
  }
  refuse(call, "'pl::" + std::string(codegen::operation(op).name) + "' is not built yet",
         "see the operation reference, runtime/operations.md");
}

/// A product has the dtype of its sums; another one that is asked for is a cast behind it.
codegen::Expr Walker::linear(Op op, const clang::CallExpr* call) {
  const llvm::ArrayRef<const clang::Expr*> arguments(call->getArgs(), call->getNumArgs());
  const auto arity = static_cast<std::size_t>(codegen::operation(op).arity);
  Expr result = make_tile_call(op, call, arguments.take_front(arity));
  if (arguments.size() > arity) {
    result.attributes.trans_a = option(arguments[arity], "trans_a").value_or(0) != 0;
    result.attributes.trans_b = option(arguments[arity], "trans_b").value_or(0) != 0;
  }
  const std::size_t first = op == Op::MatmulAcc ? 1 : 0;
  const codegen::Type wanted = result.type;
  const Expr *a = &result.operands[first], *b = &result.operands[first + 1];
  const Expr* known = a->type.any_dtype ? b : a;
  result.type.any_dtype = known->type.any_dtype;
  result.type.dtype = codegen::product_dtype(known->type.dtype);
  if (wanted.any_dtype || (!result.type.any_dtype && wanted.dtype == result.type.dtype)) return result;
  return make(Op::Cast, wanted, {std::move(result)}, call->getExprLoc());
}

/// A number that stays what it is beside a tile of any dtype: a seed, a diagonal.
codegen::Expr Walker::int64_operand(Expr value, const clang::CallExpr* call) {
  value = convert(std::move(value), DType::Int64, call->getExprLoc());
  value.literal = false;
  return value;
}

/// pl::concat(a, b) or pl::concat({a, b, c}), with the axis behind them.
codegen::Expr Walker::concat(const clang::CallExpr* call) {
  const llvm::ArrayRef<const clang::Expr*> arguments(call->getArgs(), call->getNumArgs());
  const bool is_list = meaning_of(arguments[0]->getType(), context_).kind != Kind::Tile;
  llvm::ArrayRef<const clang::Expr*> tiles = arguments.take_front(2);
  if (is_list) {
    const clang::Expr* list = bare(arguments[0]);
    if (const auto* standard = llvm::dyn_cast<clang::CXXStdInitializerListExpr>(list))
      list = bare(standard->getSubExpr());
    const auto* items = llvm::dyn_cast<clang::InitListExpr>(list);
    if (items == nullptr) refuse(arguments[0], "tiles that are no list", "write pl::concat({a, b, c})");
    tiles = llvm::ArrayRef<const clang::Expr*>(items->getInits(), items->getNumInits());
  }
  Expr result = make_tile_call(Op::Concat, call, tiles);
  const std::size_t options = is_list ? 1 : 2;
  result.attributes.axis = static_cast<std::int32_t>(option(arguments[options], "axis").value_or(-1));
  return result;
}

/// Operands are tiles, scalars (constants are literals, which take the dtype of the tile) and lists.
codegen::Expr Walker::make_tile_call(Op op, const clang::CallExpr* call,
                                     llvm::ArrayRef<const clang::Expr*> arguments) {
  std::vector<Expr> values;
  const bool lists = llvm::any_of(arguments, [&](const clang::Expr* argument) {
    return meaning_of(argument->getType(), context_).kind == Kind::Index;
  });
  if (!lists) {
    values = operands(arguments);
  } else {
    for (const clang::Expr* argument : arguments)
      values.push_back(meaning_of(argument->getType(), context_).kind == Kind::Index ? index_list(argument)
                                                                                     : expression(argument));
  }
  for (Expr& value : values)
    if (value.type.is_scalar() && value.is_constant()) value.literal = true;
  return make(op, type_of(call->getType(), call->getExprLoc()), std::move(values), call->getExprLoc());
}

/// An argument that must be a constant of the program: an axis, a count.
std::int32_t Walker::constant_integer(const clang::Expr* argument, const std::string& what) {
  clang::Expr::EvalResult result;
  if (argument->EvaluateAsInt(result, context_)) {
    const llvm::APSInt& value = result.Val.getInt();
    if (value.isSignedIntN(32)) return static_cast<std::int32_t>(value.getExtValue());
  }
  refuse(argument, what + " that is no constant", "write a number, or a constexpr int");
}

/// The value of a field of an options struct written as {.field = value}; nothing where the argument is none.
std::optional<std::int64_t> Walker::option(const clang::Expr* options, llvm::StringRef field) {
  const clang::Expr* value = options->IgnoreParens();
  if (const auto* defaulted = llvm::dyn_cast<clang::CXXDefaultArgExpr>(value)) value = defaulted->getExpr();
  const auto* record = options->getType().getNonReferenceType()->getAsCXXRecordDecl();
  if (record == nullptr || !is_in_pl(record)) return std::nullopt;  // the source location
  for (const clang::FieldDecl* candidate : record->fields()) {
    if (candidate->getName() != field) continue;
    clang::Expr::EvalResult result;
    if (!value->EvaluateAsRValue(result, context_) || !result.Val.isStruct() ||
        !result.Val.getStructField(candidate->getFieldIndex()).isInt())
      refuse(options, "options that are no constants", "write {." + field.str() + " = …} with a constant");
    return result.Val.getStructField(candidate->getFieldIndex()).getInt().getExtValue();
  }
  return std::nullopt;
}

}  // namespace trilith::capture
