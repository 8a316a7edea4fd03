// jit/capture/index_calls.cpp -- gather, scatter, sort and their like; one element read or written.
#include "jit/capture/walker.hpp"

namespace trilith::capture {

using codegen::Op;
using codegen::Type;
using codegen::TypeKind;

codegen::Expr Walker::index_call(Op op, const clang::CallExpr* call, Type type) {
  const clang::SourceLocation where = call->getExprLoc();
  const llvm::ArrayRef<const clang::Expr*> arguments(call->getArgs(), call->getNumArgs());
  const auto integer = [&](Expr value) { return convert(std::move(value), DType::Int64, where); };
  const auto list = [&] {
    Expr empty;
    empty.op = Op::List;
    empty.type.kind = TypeKind::List;
    empty.location = location(where);
    return empty;
  };
  std::vector<Expr> values;
  switch (op) {
    case Op::GatherRow:
      values = operands(arguments.take_front(2));
      if (values[0].type.is_tensor()) {
        op = Op::LoadRow;
        values = {std::move(values[0]), list(), list(), std::move(values[1])};
      }
      break;
    case Op::PagedGather: {
      values = operands(arguments.take_front(4));
      for (std::size_t i : {2, 3})
        if (values[i].type.is_scalar()) values[i] = integer(std::move(values[i]));
      Expr start = field_expression(arguments[4], "start");
      values = {std::move(values[0]),
                list(),
                list(),
                std::move(values[1]),
                std::move(values[2]),
                std::move(values[3]),
                integer(std::move(start))};
      break;
    }
    case Op::TopkIndices:
      values = operands(arguments.take_front(2));
      values[1] = integer(std::move(values[1]));
      break;
    default:
      values = operands(arguments.take_front(static_cast<std::size_t>(codegen::operation(op).arity)));
      break;
  }
  Expr result = make(op, std::move(type), std::move(values), where);
  for (const clang::Expr* argument : arguments) {
    if (meaning_of(argument->getType(), context_).kind == Kind::Tile) continue;
    if (const auto axis = option(argument, "axis")) result.attributes.axis = static_cast<std::int32_t>(*axis);
    for (const char* flag : {"descending", "largest"})
      if (const auto given = option(argument, flag)) result.attributes.flag = *given != 0;
  }
  return result;
}

/// sort and topk give two tiles: the positions, and the elements gathered by them.
std::optional<Binding> Walker::sorted_call(const clang::CallExpr* call, const clang::FunctionDecl* function) {
  if (function->getIdentifier() == nullptr) return std::nullopt;
  const bool sorts = function->getName() == "sort";
  if (!sorts && function->getName() != "topk") return std::nullopt;
  const clang::SourceLocation where = call->getExprLoc();
  Expr order = index_call(sorts ? Op::SortIndices : Op::TopkIndices, call, Type::tile(DType::Int32));
  const Expr x = snapshot(order.operands[0], "unsorted", where);
  order.operands[0] = x;
  const std::int32_t axis = order.attributes.axis;
  const Expr indices = snapshot(std::move(order), "indices", where);
  Expr values = make(Op::Gather, x.type, {x, indices}, where);
  values.attributes.axis = axis;
  Binding result;
  result.compound = std::make_shared<CompoundValue>();
  result.compound->parts = {snapshot(std::move(values), "values", where), indices};
  return result;
}

/// A field of an options struct that may be a number known only when the kernel runs.
codegen::Expr Walker::field_expression(const clang::Expr* options, llvm::StringRef field) {
  const auto* list = llvm::dyn_cast<clang::InitListExpr>(bare(options));
  const auto* record = options->getType().getNonReferenceType()->getAsCXXRecordDecl();
  if (list != nullptr && record != nullptr)
    for (const clang::FieldDecl* candidate : record->fields()) {
      if (candidate->getName() != field || candidate->getFieldIndex() >= list->getNumInits()) continue;
      const clang::Expr* given = list->getInit(candidate->getFieldIndex());
      if (const auto* defaulted = llvm::dyn_cast<clang::CXXDefaultInitExpr>(given))
        given = defaulted->getExpr();
      return expression(given);
    }
  refuse(options, "options that are not written in the call", "write {." + field.str() + " = …}");
}

/// Offsets of one element, as many as the tile or tensor has axes where that is known.
codegen::Expr Walker::element_list(const clang::Expr* offsets, const Expr& of) {
  Expr list = index_list(offsets);
  if (of.type.is_tensor()) check_region(offsets, of, list);
  return list;
}

codegen::Expr Walker::read_element(const clang::CallExpr* call) {
  const clang::SourceLocation where = call->getExprLoc();
  Expr source = expression(call->getArg(0));
  Expr offsets = element_list(call->getArg(1), source);
  if (source.type.is_tensor()) {
    Type type = Type::tile(source.type.dtype);
    type.any_dtype = source.type.any_dtype;
    Expr ones = offsets, zeros = offsets;
    for (Expr& one : ones.operands) one = int64(1, where);
    for (Expr& zero : zeros.operands) zero = int64(0, where);
    source = make(Op::Load, std::move(type), {std::move(source), std::move(offsets), std::move(ones)}, where);
    offsets = std::move(zeros);
  }
  const DType dtype = source.type.dtype;
  // A statement of its own: it may fault, so it must run exactly where it is written.
  return snapshot(make(Op::Read, Type::scalar(dtype), {std::move(source), std::move(offsets)}, where),
                  "element", where);
}

codegen::Expr Walker::write_element(const clang::CallExpr* call) {
  const clang::SourceLocation where = call->getExprLoc();
  const clang::Expr* target = call->getArg(0);
  Expr whole = expression(target);
  Expr offsets = element_list(call->getArg(1), whole);
  Expr element = expression(call->getArg(2));
  if (element.is_constant())
    element.literal = true;
  else if (!whole.type.any_dtype && element.type.dtype != whole.type.dtype)
    refuse(call->getArg(2),
           "a " + std::string(codegen::name_of(element.type.dtype)) + " written to elements of " +
               std::string(codegen::name_of(whole.type.dtype)),
           "convert it with pl::cast<" + std::string(codegen::cpp_name_of(whole.type.dtype)) + ">(...)");
  if (whole.type.is_tile()) {
    Type type = whole.type;
    Expr changed =
        make(Op::Write, std::move(type), {std::move(whole), std::move(offsets), std::move(element)}, where);
    (void)assign(target, std::move(changed), where);
    return {};
  }
  Type type = Type::tile(whole.type.dtype);
  type.any_dtype = whole.type.any_dtype;
  Expr ones = offsets;
  for (Expr& one : ones.operands) one = int64(1, where);
  Expr tile = make(Op::Full, std::move(type), {std::move(ones), std::move(element)}, where);
  Statement effect;
  effect.kind = codegen::StatementKind::Evaluate;
  effect.location = location(where);
  effect.value = make(Op::Store, Type{}, {std::move(tile), std::move(offsets), whole}, where);
  emit(std::move(effect));
  return whole;
}

}  // namespace trilith::capture
