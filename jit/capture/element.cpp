// jit/capture/element.cpp -- what an lvalue names: variables, members, elements of arrays.
//
// An array's elements are variables. An index that only the run knows is checked by the kernel (a fault at the
// user's line) and chooses among them.
#include "codegen/message.hpp"
#include "jit/capture/walker.hpp"

#include <utility>

namespace trilith::capture {

using codegen::Type;
using codegen::VariableKind;

namespace {

/// Objects that one assignment may have to choose from.
constexpr std::size_t most_places = 256;

bool is_array(clang::QualType type) {
  return type->isConstantArrayType() || is_std_class(type->getAsCXXRecordDecl(), "array");
}

}  // namespace

const clang::Expr* moved_argument(const clang::Expr* expression) {
  const auto* call = llvm::dyn_cast<clang::CallExpr>(expression);
  const clang::FunctionDecl* function = call == nullptr ? nullptr : call->getDirectCallee();
  if (function == nullptr || function->getIdentifier() == nullptr || !function->isInStdNamespace() ||
      call->getNumArgs() != 1)
    return nullptr;
  const llvm::StringRef name = function->getName();
  return name == "move" || name == "forward" || name == "as_const" ? call->getArg(0) : nullptr;
}

std::optional<Walker::Subscript> Walker::subscript_of(const clang::Expr* expression) {
  expression = bare(expression);
  if (const auto* subscript = llvm::dyn_cast<clang::ArraySubscriptExpr>(expression)) {
    const clang::Expr* array = subscript->getBase()->IgnoreParenImpCasts();
    if (!is_array(array->getType())) return std::nullopt;
    return Subscript{array, subscript->getIdx(), 0};
  }
  const auto* call = llvm::dyn_cast<clang::CallExpr>(expression);
  const clang::FunctionDecl* function = call == nullptr ? nullptr : call->getDirectCallee();
  if (function == nullptr) return std::nullopt;
  if (const auto* op = llvm::dyn_cast<clang::CXXOperatorCallExpr>(call)) {
    if (op->getOperator() != clang::OO_Subscript || !is_array(op->getArg(0)->getType())) return std::nullopt;
    return Subscript{op->getArg(0), op->getArg(1), 0};
  }
  if (function->getIdentifier() == nullptr) return std::nullopt;
  const llvm::StringRef name = function->getName();
  if (const auto* member = llvm::dyn_cast<clang::CXXMemberCallExpr>(call)) {
    const clang::Expr* array = member->getImplicitObjectArgument();
    if (!is_std_class(array->getType()->getAsCXXRecordDecl(), "array")) return std::nullopt;
    if (name == "at") return Subscript{array, member->getArg(0), 0};
    if (name == "front") return Subscript{array, nullptr, 0};
    if (name == "back")
      return Subscript{array, nullptr, static_cast<std::int64_t>(parts_of(array->getType())->size()) - 1};
    return std::nullopt;
  }
  if (name != "get" || !function->isInStdNamespace() || call->getNumArgs() != 1) return std::nullopt;
  const auto types = parts_of(call->getArg(0)->getType());
  const clang::TemplateArgumentList* arguments = function->getTemplateSpecializationArgs();
  if (!types || arguments == nullptr) return std::nullopt;
  const clang::TemplateArgument& which = (*arguments)[0];
  if (which.getKind() == clang::TemplateArgument::Integral)
    return Subscript{call->getArg(0), nullptr, which.getAsIntegral().getExtValue()};
  if (which.getKind() == clang::TemplateArgument::Type)
    for (std::size_t i = 0; i < types->size(); ++i)
      if (context_.hasSameType((*types)[i], which.getAsType()))
        return Subscript{call->getArg(0), nullptr, static_cast<std::int64_t>(i)};
  return std::nullopt;
}

std::optional<Binding> Walker::find(const clang::Expr* expression) {
  expression = bare(expression);
  if (const clang::Expr* moved = moved_argument(expression)) return find(moved);
  if (const auto* cast = llvm::dyn_cast<clang::CastExpr>(expression)) {
    switch (cast->getCastKind()) {
      case clang::CK_NoOp:
      case clang::CK_DerivedToBase:
      case clang::CK_UncheckedDerivedToBase:
      case clang::CK_ArrayToPointerDecay: return find(cast->getSubExpr());
      default: return std::nullopt;
    }
  }
  if (const auto* name = llvm::dyn_cast<clang::DeclRefExpr>(expression)) {
    const auto found = bindings_.find(name->getDecl());
    if (found != bindings_.end()) {
      const Binding& binding = found->second;
      if (!binding.closure && !binding.compound && binding.expression.op != Op::Variable) return std::nullopt;
      return binding;
    }
    const auto* variable = llvm::dyn_cast<clang::VarDecl>(name->getDecl());
    if (variable == nullptr || meaning_of(variable->getType(), context_).kind != Kind::Compound)
      return std::nullopt;
    const bool constant = variable->isConstexpr() || (variable->getType().isConstQualified() &&
                                                      variable->isUsableInConstantExpressions(context_));
    const clang::APValue* value = constant ? variable->evaluateValue() : nullptr;
    if (value == nullptr) return std::nullopt;
    return bindings_[variable] = compound_constant(*value, variable->getType(), name->getLocation());
  }
  const auto object = [&]() -> std::optional<Binding> { return frames_.back().object; };
  if (const auto* star = llvm::dyn_cast<clang::UnaryOperator>(expression)) {
    if (star->getOpcode() == clang::UO_Deref && llvm::isa<clang::CXXThisExpr>(bare(star->getSubExpr())))
      return object();
    return std::nullopt;
  }
  if (const auto* member = llvm::dyn_cast<clang::MemberExpr>(expression)) {
    const auto* field = llvm::dyn_cast<clang::FieldDecl>(member->getMemberDecl());
    if (field == nullptr) return std::nullopt;
    const clang::Expr* base = bare(member->getBase());
    std::optional<Binding> whole = llvm::isa<clang::CXXThisExpr>(base) ? object() : find(base);
    if (!whole || !whole->compound || field->getFieldIndex() >= whole->compound->parts.size())
      return std::nullopt;
    return whole->compound->parts[field->getFieldIndex()];
  }
  if (const auto subscript = subscript_of(expression)) {
    std::int64_t position = subscript->position;
    if (subscript->index != nullptr) {
      clang::Expr::EvalResult result;
      if (subscript->index->isValueDependent() || !subscript->index->EvaluateAsInt(result, context_))
        return std::nullopt;
      position = result.Val.getInt().getExtValue();
    }
    const std::optional<Binding> whole = find(subscript->array);
    if (!whole || !whole->compound || position < 0 ||
        position >= static_cast<std::int64_t>(whole->compound->parts.size()))
      return std::nullopt;
    return whole->compound->parts[static_cast<std::size_t>(position)];
  }
  return std::nullopt;
}

Binding Walker::part(const clang::MemberExpr* member) {
  const auto* field = llvm::dyn_cast<clang::FieldDecl>(member->getMemberDecl());
  const clang::Expr* base = bare(member->getBase());
  if (field == nullptr || llvm::isa<clang::CXXThisExpr>(base) ||
      meaning_of(base->getType(), context_).kind != Kind::Compound)
    refuse(member, "a member of an object in a kernel",
           "copy the value into a local variable in front of the lambda and capture that");
  const Binding whole = compound_value(base);
  return whole.compound->parts.at(field->getFieldIndex());
}

codegen::Expr Walker::checked_position(const clang::Expr* at, const Subscript& subscript, std::size_t size) {
  const clang::SourceLocation where = at->getExprLoc();
  Expr position = int64(subscript.position, where);
  if (subscript.index != nullptr) {
    // std::array's operator[] takes std::size_t: look through that conversion.
    position = expression(subscript.index->IgnoreParenImpCasts());
    if (!position.type.is_scalar() || codegen::is_floating(position.type.dtype))
      refuse(subscript.index, "an index that is no integer", "index with an integer");
    position = snapshot(convert(std::move(position), DType::Int64, where), "position", where);
  }
  if (position.is_constant()) {
    const std::int64_t value = position.value.as_int64();
    if (value < 0 || value >= static_cast<std::int64_t>(size))
      refuse(at, codegen::message::position(value, static_cast<std::int64_t>(size)), "");
    return position;
  }
  Statement check;
  check.kind = codegen::StatementKind::Evaluate;
  check.location = location(where);
  check.value = make(Op::Check, Type{}, {position, int64(static_cast<std::int64_t>(size), where)}, where);
  emit(std::move(check));
  return position;
}

Binding Walker::chosen(const std::vector<Binding>& elements, const Expr& position,
                       clang::SourceLocation where) {
  if (elements.front().closure)
    refuse(where, "a lambda chosen from an array when the kernel runs",
           "call each where it is meant, with if");
  if (elements.front().compound) {
    Binding result;
    result.compound = std::make_shared<CompoundValue>();
    for (std::size_t part = 0; part < elements.front().compound->parts.size(); ++part) {
      std::vector<Binding> column;
      for (const Binding& element : elements) column.push_back(element.compound->parts[part]);
      result.compound->parts.push_back(chosen(column, position, where));
    }
    return result;
  }
  Expr result = elements.back().expression;
  for (std::size_t i = elements.size() - 1; i-- > 0;) {
    Expr here = make(Op::Eq, Type::scalar(DType::Bool),
                     {position, int64(static_cast<std::int64_t>(i), where)}, where);
    Type type = result.type;
    result = make(Op::Conditional, std::move(type),
                  {std::move(here), elements[i].expression, std::move(result)}, where);
  }
  return result;
}

Binding Walker::element(const clang::Expr* at, const Subscript& subscript) {
  const Binding array = compound_value(subscript.array);
  const std::vector<Binding>& parts = array.compound->parts;
  if (parts.empty()) refuse(at, "an element of an array of 0 elements", "give the array elements");
  const Expr position = checked_position(at, subscript, parts.size());
  if (position.is_constant()) return parts[static_cast<std::size_t>(position.value.as_int64())];
  return chosen(parts, position, at->getExprLoc());
}

/// A call of a function, method or lambda of the user's, which is inlined.
bool Walker::calls_helper(const clang::CallExpr* call) const {
  const clang::FunctionDecl* function = call->getDirectCallee();
  if (function == nullptr || is_in_pl(function) || function->isInStdNamespace()) return false;
  const auto* method = llvm::dyn_cast<clang::CXXMethodDecl>(function);
  if (method == nullptr) return function->hasBody();
  return !is_in_pl(method->getParent()) && !method->getParent()->isInStdNamespace() &&
         method->isUserProvided();
}

std::vector<Walker::Place> Walker::places(const clang::Expr* expression) {
  if (std::optional<Binding> named = find(expression)) return {{std::nullopt, *std::move(named)}};
  expression = bare(expression);
  const clang::SourceLocation where = expression->getExprLoc();
  std::vector<Place> result;
  if (const auto* member = llvm::dyn_cast<clang::MemberExpr>(expression)) {
    const auto* field = llvm::dyn_cast<clang::FieldDecl>(member->getMemberDecl());
    if (field == nullptr || llvm::isa<clang::CXXThisExpr>(bare(member->getBase()))) return {};
    for (const Place& whole : places(member->getBase())) {
      if (!whole.object.compound) return {};
      result.push_back({whole.condition, whole.object.compound->parts.at(field->getFieldIndex())});
    }
    return result;
  }
  const auto subscript = subscript_of(expression);
  if (const auto* called = llvm::dyn_cast<clang::CallExpr>(expression); called != nullptr && !subscript) {
    // A helper that returns a reference gives the very object, see returned_value.
    if (!called->isLValue() || called->getType().isConstQualified() || !calls_helper(called)) return {};
    return {{std::nullopt, call(called)}};
  }
  if (!subscript) return {};
  const std::vector<Place> arrays = places(subscript->array);
  if (arrays.empty() || !arrays.front().object.compound || arrays.front().object.compound->parts.empty())
    return {};
  const std::size_t size = arrays.front().object.compound->parts.size();
  if (size * arrays.size() > most_places)
    refuse(
        expression,
        "an assignment that chooses from " + std::to_string(size * arrays.size()) + " elements when it runs",
        "use smaller arrays, or a tensor");
  const Expr position = checked_position(expression, *subscript, size);
  for (const Place& array : arrays)
    for (std::size_t i = 0; i < size; ++i) {
      const auto number = static_cast<std::int64_t>(i);
      if (position.is_constant() && position.value.as_int64() != number) continue;
      std::optional<Expr> condition = array.condition;
      if (!position.is_constant()) {
        Expr here = make(Op::Eq, Type::scalar(DType::Bool), {position, int64(number, where)}, where);
        condition =
            condition ? make(Op::LogicalAnd, Type::scalar(DType::Bool), {*condition, here}, where) : here;
      }
      result.push_back({std::move(condition), array.object.compound->parts[i]});
    }
  return result;
}

codegen::Expr Walker::read(const std::vector<Place>& from, clang::SourceLocation where) {
  Expr result = from.back().object.expression;
  for (std::size_t i = from.size() - 1; i-- > 0;) {
    Type type = result.type;
    result = make(Op::Conditional, std::move(type),
                  {*from[i].condition, from[i].object.expression, std::move(result)}, where);
  }
  result.location = location(where);
  return result;
}

codegen::Expr Walker::assign(const clang::Expr* target, const std::vector<Place>& to, Expr value,
                             clang::SourceLocation where) {
  if (to.empty()) {
    (void)expression(target);  // names what is wrong with it, where something is
    refuse(target, "an assignment to something that is no local variable",
           "assign to a local scalar, tile or tensor variable; write memory with pl::store");
  }
  for (const Place& place : to) {
    if (place.object.compound || place.object.closure || place.object.expression.op != Op::Variable)
      refuse(target, "an assignment to something that is no local variable",
             "assign to a local scalar, tile or tensor variable; write memory with pl::store");
    const codegen::VariableId id = place.object.expression.variable;
    const codegen::Variable& assigned = kernel_.variables[static_cast<std::size_t>(id)];
    if (assigned.kind != VariableKind::Local && !(value.op == Op::Variable && value.variable == id))
      refuse(target,
             "an assignment to the " +
                 std::string(assigned.kind == VariableKind::Capture ? "captured value" : "parameter") + " '" +
                 assigned.name + "'",
             "assign to a local variable: auto copy = " + assigned.name + ";");
  }
  const codegen::VariableId first = to.front().object.expression.variable;
  const codegen::Type type = kernel_.variables[static_cast<std::size_t>(first)].type;
  if (type.is_scalar() && value.type.is_scalar()) value = convert(std::move(value), type.dtype, where);
  if (to.size() == 1) {
    emit_assign(first, std::move(value), where);
    return variable(first, where);
  }
  value = snapshot(std::move(value), "assigned", where);
  for (const Place& place : to) {
    Statement branch;
    branch.kind = codegen::StatementKind::If;
    branch.location = location(where);
    branch.value = *place.condition;
    Statements* const outer = std::exchange(current_, &branch.body);
    emit_assign(place.object.expression.variable, value, where);
    current_ = outer;
    emit(std::move(branch));
  }
  return value;
}

codegen::Expr Walker::assign(const clang::Expr* target, Expr value, clang::SourceLocation where) {
  return assign(target, places(target), std::move(value), where);
}

}  // namespace trilith::capture
