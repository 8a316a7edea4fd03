// jit/capture/operations.cpp -- calls into namespace pl: operations, operators, members, load and store.
#include "codegen/message.hpp"
#include "codegen/operation.hpp"

#include "jit/capture/walker.hpp"

#include <algorithm>

namespace trilith::capture {

using codegen::Group;
using codegen::Op;
using codegen::Type;
using codegen::TypeKind;

namespace {

std::optional<Op> op_of(clang::OverloadedOperatorKind kind, bool unary) {
  switch (kind) {
    case clang::OO_Plus:
    case clang::OO_PlusEqual: return Op::Add;
    case clang::OO_Minus: return unary ? Op::Neg : Op::Sub;
    case clang::OO_MinusEqual: return Op::Sub;
    case clang::OO_Star:
    case clang::OO_StarEqual: return Op::Mul;
    case clang::OO_Slash:
    case clang::OO_SlashEqual: return Op::Div;
    case clang::OO_Percent:
    case clang::OO_PercentEqual: return Op::Fmod;
    case clang::OO_Amp:
    case clang::OO_AmpEqual: return Op::BitAnd;
    case clang::OO_Pipe:
    case clang::OO_PipeEqual: return Op::BitOr;
    case clang::OO_Caret:
    case clang::OO_CaretEqual: return Op::BitXor;
    case clang::OO_Tilde: return Op::BitNot;
    case clang::OO_Exclaim: return Op::LogicalNot;
    case clang::OO_AmpAmp: return Op::LogicalAnd;
    case clang::OO_PipePipe: return Op::LogicalOr;
    case clang::OO_LessLess:
    case clang::OO_LessLessEqual: return Op::Shl;
    case clang::OO_GreaterGreater:
    case clang::OO_GreaterGreaterEqual: return Op::Shr;
    case clang::OO_EqualEqual: return Op::Eq;
    case clang::OO_ExclaimEqual: return Op::Ne;
    case clang::OO_Less: return Op::Lt;
    case clang::OO_LessEqual: return Op::Le;
    case clang::OO_Greater: return Op::Gt;
    case clang::OO_GreaterEqual: return Op::Ge;
    default: return std::nullopt;
  }
}

bool is_compound(clang::OverloadedOperatorKind kind) {
  switch (kind) {
    case clang::OO_PlusEqual:
    case clang::OO_MinusEqual:
    case clang::OO_StarEqual:
    case clang::OO_SlashEqual:
    case clang::OO_PercentEqual:
    case clang::OO_AmpEqual:
    case clang::OO_PipeEqual:
    case clang::OO_CaretEqual:
    case clang::OO_LessLessEqual:
    case clang::OO_GreaterGreaterEqual: return true;
    default: return false;
  }
}

/// The type of `condition ? a : b`, which is what an operation on two C++ numbers works in.
codegen::DType common_dtype(codegen::DType a, codegen::DType b) {
  using codegen::DType;
  if (a == b) return a;
  if (codegen::is_floating(a) || codegen::is_floating(b)) return std::max(a, b);  // floats come last in DType
  const auto promoted = [](DType dtype) { return codegen::size_of(dtype) < 4 ? DType::Int32 : dtype; };
  a = promoted(a);
  b = promoted(b);
  if (codegen::size_of(a) != codegen::size_of(b)) return codegen::size_of(a) < codegen::size_of(b) ? b : a;
  return codegen::is_signed_integer(a) ? b : a;  // of two as wide the unsigned one
}

/// Whether every number of `from` is one of `to`.
bool holds_all(codegen::DType to, codegen::DType from) {
  if (codegen::is_floating(to))
    return codegen::is_floating(from) && codegen::size_of(from) < codegen::size_of(to);
  if (!codegen::is_integer(to) || codegen::is_floating(from)) return false;
  if (from == codegen::DType::Bool) return true;
  if (codegen::is_signed_integer(to) == codegen::is_signed_integer(from))
    return codegen::size_of(from) <= codegen::size_of(to);
  return codegen::is_signed_integer(to) && codegen::size_of(from) < codegen::size_of(to);
}

/// What specialise and a native run say of offsets and a shape that the tensor's rank does not fit; "" where it does.
std::string wrong_rank(std::string_view operation, const codegen::Expr& tensor, const codegen::Expr& offsets,
                       const codegen::Expr& shape) {
  const std::size_t rank = tensor.type.shape.size();
  if (tensor.type.any_shape || (offsets.operands.size() == rank && shape.operands.size() == rank)) return "";
  return codegen::message::region_rank(operation, rank, offsets.operands.size(), shape.operands.size());
}

}  // namespace

codegen::Expr Walker::pl_function(const clang::CallExpr* call, const clang::FunctionDecl* function) {
  const std::string name = function->getNameAsString();
  const llvm::ArrayRef<const clang::Expr*> arguments(call->getArgs(), call->getNumArgs());
  const clang::SourceLocation where = call->getExprLoc();
  if (is_in_pld(function)) return remote_call(call, function);
  if (name == "load") return load(call);
  if (name == "store") return store(call);
  if (name == "read") return read_element(call);
  if (name == "write") return write_element(call);
  if (name == "fillpad" || name == "set_valid") return valid_call(call, name == "fillpad");
  if (name == "full" || name == "zeros") {
    const Type type = type_of(call->getType(), where);
    Expr shape = index_list(arguments[0]);
    Expr value;
    if (name == "zeros") {
      value = int64(0, where);
      value.value = {type.dtype, 0};
      value.type = Type::scalar(type.dtype);
    } else {
      value = expression(arguments[1]);
      if (!value.type.is_scalar())
        refuse(arguments[1], "pl::full of something that is no scalar", "give one value");
      if (value.is_constant())
        value.literal = true;
      else if (value.type.dtype != type.dtype)
        refuse(arguments[1],
               "pl::full of a " + std::string(codegen::name_of(value.type.dtype)) + " in a tile of " +
                   std::string(codegen::name_of(type.dtype)),
               "convert it with pl::cast<" + std::string(codegen::cpp_name_of(type.dtype)) + ">(...)");
    }
    return make(Op::Full, type, {std::move(shape), std::move(value)}, where);
  }
  if (name == "cast") {
    Expr value = expression(arguments[0]);
    const Type type = type_of(call->getType(), where);
    Expr result = make(Op::Cast, type, {std::move(value)}, where);
    if (arguments.size() > 1) result.attributes.mode = cast_mode(arguments[1]);
    return result;
  }
  if (name == "print") {
    Expr value = expression(arguments[0]);
    Statement print;
    print.kind = codegen::StatementKind::Evaluate;
    print.location = location(where);
    print.value = make(Op::Print, Type{}, {std::move(value)}, where);
    emit(std::move(print));
    return {};
  }
  const std::optional<Op> op = name == "sel"     ? Op::Where
                               : name == "slice" ? Op::TileSlice
                                                 : codegen::operation_from_name(name);
  if (op) {
    const codegen::Operation& row = codegen::operation(*op);
    if (codegen::is_tile_call(row.group) || row.group == Group::Reduce || *op == Op::MoveTo)
      return tile_call(*op, call);
    if (row.group == Group::Identity) return make(*op, Type::scalar(DType::Int32), {}, where);
    if (row.group == Group::Synchronise) {
      Statement barrier;
      barrier.kind = codegen::StatementKind::Evaluate;
      barrier.location = location(where);
      barrier.value = make(*op, Type{}, {}, where);
      emit(std::move(barrier));
      return {};
    }
    if (row.group != Group::Structure && row.group != Group::Move && row.group != Group::Remote &&
        row.arity >= 1 && arguments.size() >= static_cast<std::size_t>(row.arity))
      return operation(*op, call, arguments.take_front(static_cast<std::size_t>(row.arity)));
  }
  refuse(
      call,
      "'" + function->getQualifiedNameAsString() + "' cannot stand in an in-core kernel, or is not built yet",
      "see the operation reference, runtime/operations.md");
}

codegen::Expr Walker::operation(Op op, const clang::Expr* where,
                                llvm::ArrayRef<const clang::Expr*> arguments) {
  std::vector<Expr> values = operands(arguments);
  const Type type = type_of(where->getType(), where->getExprLoc());
  if (type.is_tile()) {
    for (std::size_t i = 0; i < values.size(); ++i) check_beside_tile(arguments[i], values[i], values);
    if (op == Op::Where && values[1].type.is_scalar() && values[2].type.is_scalar() && !type.any_dtype)
      unify_scalars(op, where, arguments, values);
  } else {
    unify_scalars(op, where, arguments, values);
  }
  return make(op, type, std::move(values), where->getExprLoc());
}

void Walker::check_beside_tile(const clang::Expr* argument, Expr& operand,
                               const std::vector<Expr>& operands) {
  if (!operand.type.is_scalar()) return;
  if (operand.is_constant()) {
    operand.literal = true;
    return;
  }
  for (const Expr& other : operands) {
    if (!other.type.is_tile() || other.type.any_dtype || other.type.dtype == DType::Bool) continue;
    if (other.type.dtype == operand.type.dtype || operand.type.dtype == DType::Bool) return;
    refuse(argument,
           "a run-time " + std::string(codegen::name_of(operand.type.dtype)) + " beside a tile of " +
               std::string(codegen::name_of(other.type.dtype)),
           "convert it with pl::cast<" + std::string(codegen::cpp_name_of(other.type.dtype)) + ">(...)");
  }
}

void Walker::unify_scalars(Op op, const clang::Expr* where, llvm::ArrayRef<const clang::Expr*> arguments,
                           std::vector<Expr>& operands) {
  const std::size_t first = op == Op::Where ? 1 : 0;
  std::optional<DType> wanted;
  for (std::size_t i = first; i < operands.size() && !wanted; ++i)
    if (meaning_of(arguments[i]->getType(), context_).wrapper) wanted = operands[i].type.dtype;
  const bool numbers_only = !wanted;
  // As detail::Element has it: an int64, as loop variables and extents are, widens the scalar.
  if (wanted && codegen::is_integer(*wanted) && codegen::size_of(*wanted) < 8)
    for (std::size_t i = first; i < operands.size(); ++i)
      if (operands[i].type.dtype == DType::Int64) wanted = DType::Int64;
  if (!wanted) {
    wanted = operands[first].type.dtype;
    for (std::size_t i = first; i < operands.size(); ++i)
      wanted = common_dtype(*wanted, operands[i].type.dtype);
  }
  for (std::size_t i = first; i < operands.size(); ++i) {
    const DType given = operands[i].type.dtype;
    if (given == *wanted) continue;
    const bool narrows = codegen::is_floating(given) && !codegen::is_floating(*wanted);
    if (!numbers_only && !holds_all(*wanted, given) && (!operands[i].is_constant() || narrows))
      refuse(arguments[i],
             "a number of " + std::string(codegen::name_of(given)) + " beside a scalar of " +
                 std::string(codegen::name_of(*wanted)),
             "convert it with pl::cast<" + std::string(codegen::cpp_name_of(*wanted)) + ">(...)");
    operands[i] = convert(std::move(operands[i]), *wanted, where->getExprLoc());
  }
}

codegen::Expr Walker::load(const clang::CallExpr* call) {
  const clang::SourceLocation where = call->getExprLoc();
  Expr tensor = expression(call->getArg(0));
  if (!tensor.type.is_tensor())
    refuse(call->getArg(0), "pl::load of something that is no tensor", "load a pl::Tensor");
  Expr offsets, shape;
  offsets.op = shape.op = Op::List;
  offsets.type.kind = shape.type.kind = TypeKind::List;
  offsets.location = shape.location = location(where);
  if (call->getNumArgs() > 2 && meaning_of(call->getArg(1)->getType(), context_).kind == Kind::Index) {
    offsets = index_list(call->getArg(1));
    shape = index_list(call->getArg(2));
    if (const std::string what = wrong_rank("load", tensor, offsets, shape); !what.empty())
      refuse(call->getArg(1), what, "");
    check_region(call->getArg(1), tensor, offsets);
    check_region(call->getArg(2), tensor, shape);
  }
  const bool has_options = call->getNumArgs() > 3 && !shape.operands.empty();
  Expr result = make(Op::Load, type_of(call->getType(), where),
                     {std::move(tensor), std::move(offsets), std::move(shape)}, where);
  if (has_options) load_options(call->getArg(3), result);
  return result;
}

codegen::Expr Walker::store(const clang::CallExpr* call) {
  const clang::SourceLocation where = call->getExprLoc();
  const bool has_offsets =
      call->getNumArgs() > 2 && meaning_of(call->getArg(1)->getType(), context_).kind == Kind::Index;
  const clang::Expr* target = call->getArg(has_offsets ? 2 : 1);
  Expr tile = expression(call->getArg(0));
  if (!tile.type.is_tile())
    refuse(call->getArg(0), "pl::store of something that is no tile",
           "make a tile of it with pl::full<T>({1}, value)");
  Expr offsets;
  offsets.op = Op::List;
  offsets.type.kind = TypeKind::List;
  offsets.location = location(where);
  if (has_offsets) offsets = index_list(call->getArg(1));
  Expr tensor = expression(target);
  if (!tensor.type.is_tensor())
    refuse(target, "pl::store to something that is no tensor", "store to a pl::Out parameter");
  if (meaning_of(target->getType(), context_).access == codegen::Access::In)
    refuse(target, "pl::store to a plain pl::Tensor, which is read-only",
           "declare the parameter pl::Out<...> or pl::InOut<...>");
  if (has_offsets) check_region(call->getArg(1), tensor, offsets);
  Statement effect;
  effect.kind = codegen::StatementKind::Evaluate;
  effect.location = location(where);
  effect.value = make(Op::Store, Type{}, {std::move(tile), std::move(offsets), tensor}, where);
  const unsigned options = has_offsets ? 3 : 2;
  if (call->getNumArgs() > options)
    if (const auto atomic = option(call->getArg(options), "atomic"))
      effect.value.attributes.atomic = static_cast<codegen::Atomic>(*atomic);
  emit(std::move(effect));
  return tensor;
}

void Walker::check_region(const clang::Expr* where, const Expr& tensor, const Expr& list) {
  // Two empty lists mean the whole tensor in the IR, so an empty one may stand for rank 0 alone.
  if (tensor.type.any_shape && list.operands.empty())
    refuse(where, "empty offsets or shape for a tensor of any rank",
           "write pl::load(x) for the whole tensor");
  if (tensor.type.any_shape || list.operands.size() == tensor.type.shape.size()) return;
  refuse(where,
         std::to_string(list.operands.size()) + " entries for a tensor of rank " +
             std::to_string(tensor.type.shape.size()),
         "give one offset and one extent for each axis of the tensor");
}

codegen::Expr Walker::index_list(const clang::Expr* expression) {
  expression = bare(expression);
  const clang::SourceLocation where = expression->getExprLoc();
  if (const auto* made = llvm::dyn_cast<clang::CXXConstructExpr>(expression)) {
    if (made->getNumArgs() == 0) {
      Expr list;
      list.op = Op::List;
      list.type.kind = TypeKind::List;
      list.location = location(where);
      return list;
    }
    return index_list(made->getArg(0));
  }
  if (const auto* cast = llvm::dyn_cast<clang::CastExpr>(expression)) return index_list(cast->getSubExpr());
  if (const auto* list = llvm::dyn_cast<clang::CXXStdInitializerListExpr>(expression))
    return index_list(list->getSubExpr());
  if (const auto* list = llvm::dyn_cast<clang::InitListExpr>(expression)) {
    Expr result;
    result.op = Op::List;
    result.type.kind = TypeKind::List;
    result.location = location(where);
    result.operands = operands(list->inits());
    for (Expr& element : result.operands) element = convert(std::move(element), DType::Int64, where);
    return result;
  }
  if (llvm::isa<clang::DeclRefExpr>(expression)) {
    Expr bound = this->expression(expression);
    if (bound.type.kind == TypeKind::List) return bound;
  }
  refuse(expression, "offsets or a shape that are no list", "write them as {row, column}");
}

codegen::CastMode Walker::cast_mode(const clang::Expr* options) {
  const clang::Expr* value = options->IgnoreParens();
  if (const auto* defaulted = llvm::dyn_cast<clang::CXXDefaultArgExpr>(value)) value = defaulted->getExpr();
  const auto* record = options->getType()->getAsCXXRecordDecl();
  if (!is_pl_class(record, "CastOptions")) return codegen::CastMode::Rint;  // the source location
  clang::Expr::EvalResult result;
  if (!value->EvaluateAsRValue(result, context_) || !result.Val.isStruct() ||
      !result.Val.getStructField(0).isInt())
    refuse(options, "a cast mode that is no constant", "write {.mode = pl::CastMode::trunc}");
  const std::int64_t mode = result.Val.getStructField(0).getInt().getExtValue();
  const auto* enumeration = (*record->field_begin())->getType()->getAs<clang::EnumType>();
  for (const clang::EnumConstantDecl* enumerator : enumeration->getDecl()->enumerators()) {
    if (enumerator->getInitVal().getExtValue() != mode) continue;
    const llvm::StringRef name = enumerator->getName();
    if (name == "rint") return codegen::CastMode::Rint;
    if (name == "round") return codegen::CastMode::Round;
    if (name == "floor") return codegen::CastMode::Floor;
    if (name == "ceil") return codegen::CastMode::Ceil;
    if (name == "trunc") return codegen::CastMode::Trunc;
    if (name == "odd") return codegen::CastMode::Odd;
  }
  refuse(options, "an unknown cast mode", "use rint, round, floor, ceil, trunc or odd");
}

codegen::Expr Walker::pl_operator(const clang::CXXOperatorCallExpr* call) {
  const clang::OverloadedOperatorKind kind = call->getOperator();
  const clang::SourceLocation where = call->getOperatorLoc();
  const llvm::ArrayRef<const clang::Expr*> arguments(call->getArgs(), call->getNumArgs());
  if (kind == clang::OO_Equal) return assign(arguments[0], expression(arguments[1]), where);
  if (kind == clang::OO_Subscript) {
    std::vector<Expr> parts = operands(arguments);
    if (!parts[0].type.is_tensor())
      refuse(call, "an element of something that is no tensor",
             "a tile has no elements here; load the region you need");
    parts[1] = convert(std::move(parts[1]), DType::Int64, where);
    return make(Op::Index, type_of(call->getType(), where), std::move(parts), where);
  }
  const std::optional<Op> op = op_of(kind, arguments.size() == 1);
  if (!op)
    refuse(call, std::string("the operator '") + clang::getOperatorSpelling(kind) + "' on these operands",
           "see the operation reference, runtime/operations.md");
  if (is_compound(kind)) {
    std::vector<Expr> values;
    values.push_back(expression(arguments[1]));
    const std::vector<Place> to = places(arguments[0]);
    values.insert(values.begin(), to.empty() ? expression(arguments[0]) : read(to, where));
    const Type type = type_of(arguments[0]->getType(), where);
    if (type.is_tile())
      for (std::size_t i = 0; i < values.size(); ++i) check_beside_tile(arguments[i], values[i], values);
    else
      unify_scalars(*op, call, arguments, values);
    const Type computed = type.is_tile() ? type : values[0].type;
    return assign(arguments[0], to, make(*op, computed, std::move(values), where), where);
  }
  return operation(*op, call, arguments);
}

codegen::Expr Walker::pl_member(const clang::CXXMemberCallExpr* call) {
  const clang::SourceLocation where = call->getExprLoc();
  const clang::Expr* object = call->getImplicitObjectArgument();
  const clang::CXXMethodDecl* method = call->getMethodDecl();
  if (llvm::isa<clang::CXXConversionDecl>(method)) {
    Expr value = expression(object);
    const auto dtype = dtype_of(call->getType(), context_);
    return dtype ? convert(std::move(value), *dtype, where) : value;
  }
  const std::string name = method->getNameAsString();
  const Meaning meaning = meaning_of(object->getType(), context_);
  if (name == "value" && meaning.kind == Kind::Scalar) return expression(object);
  if (meaning.kind == Kind::Tensor || meaning.kind == Kind::Tile) {
    const Type result = Type::scalar(DType::Int64);
    if (name == "dim" || (name == "valid" && meaning.kind == Kind::Tile)) {
      std::vector<Expr> parts = operands({object, call->getArg(0)});
      parts[1] = convert(std::move(parts[1]), DType::Int64, where);
      const Type& of = parts[0].type;
      if (!of.any_shape && parts[1].is_constant()) {
        std::int64_t axis = parts[1].value.as_int64();
        const auto rank = static_cast<std::int64_t>(of.shape.size());
        if (axis < -rank || axis >= rank)
          refuse(call->getArg(0),
                 "axis " + std::to_string(axis) + " of a tensor of rank " + std::to_string(rank),
                 "axes are 0 to rank - 1, or negative from the end");
        if (axis < 0) parts[1].value = codegen::Constant::of(axis + rank);
      }
      return make(name == "dim" ? Op::Dim : Op::Valid, result, std::move(parts), where);
    }
    if (name == "rank")
      return convert(make(Op::Rank, result, operands({object}), where), DType::Int32, where);
    if (name == "slice" && meaning.kind == Kind::Tensor) {
      Expr tensor = expression(object);
      Expr offsets = index_list(call->getArg(0));
      Expr shape = index_list(call->getArg(1));
      if (const std::string what = wrong_rank("slice", tensor, offsets, shape); !what.empty())
        refuse(call->getArg(0), what, "");
      check_region(call->getArg(0), tensor, offsets);
      check_region(call->getArg(1), tensor, shape);
      return make(Op::Slice, type_of(call->getType(), where),
                  {std::move(tensor), std::move(offsets), std::move(shape)}, where);
    }
  }
  refuse(call, "the member function '" + name + "' in a kernel",
         "kernels use dim, rank, [] and slice of tensors, and dim, valid and rank of tiles");
}

}  // namespace trilith::capture
