// jit/capture/compound.cpp -- structs, pairs, tuples and arrays inside a kernel.
//
// They exist at capture time only: each part is a variable of the kernel, however deep it lies. Elements of arrays
// with an index that only the run knows, and what an lvalue names, are in element.cpp.
#include "jit/capture/walker.hpp"

#include <utility>

namespace trilith::capture {

using codegen::VariableKind;

namespace {

/// Each part becomes a variable: more belong in a tile or a tensor.
constexpr std::uint64_t most_parts = 256;

bool is_compound_class(const clang::CXXRecordDecl* record) {
  if (!record->hasDefinition() || record->isUnion() || record->isPolymorphic() || record->isLambda() ||
      record->getNumVBases() != 0)
    return false;
  for (const clang::CXXBaseSpecifier& base : record->bases()) {
    const clang::CXXRecordDecl* parent = base.getType()->getAsCXXRecordDecl();
    if (parent == nullptr || !parent->isEmpty()) return false;
  }
  // What keeps memory or a resource is no plain value.
  return record->hasTrivialDestructor() || record->getDestructor() == nullptr ||
         !record->getDestructor()->isUserProvided();
}

/// A name for a part of `name`, for people who read the emitted code.
std::string part_name(const std::string& name, clang::QualType type, std::size_t index) {
  const auto* record = type->getAsCXXRecordDecl();
  if (record != nullptr && !record->isInStdNamespace()) {
    std::size_t at = 0;
    for (const clang::FieldDecl* field : record->fields())
      if (at++ == index && !field->getName().empty()) return name + "_" + field->getNameAsString();
  }
  return name + "_" + std::to_string(index);
}

}  // namespace

bool is_std_class(const clang::CXXRecordDecl* record, llvm::StringRef name) {
  return record != nullptr && record->getIdentifier() != nullptr && record->getName() == name &&
         record->isInStdNamespace();
}

std::optional<std::vector<clang::QualType>> parts_of(clang::QualType type) {
  type = type.getCanonicalType().getNonReferenceType();
  std::vector<clang::QualType> parts;
  if (const auto* array = llvm::dyn_cast_or_null<clang::ConstantArrayType>(type->getAsArrayTypeUnsafe())) {
    const std::uint64_t size = array->getSize().getZExtValue();
    if (size > most_parts) return std::nullopt;
    parts.assign(size, array->getElementType());
    return parts;
  }
  const clang::CXXRecordDecl* record = type->getAsCXXRecordDecl();
  if (record == nullptr) return std::nullopt;
  const auto* special = llvm::dyn_cast<clang::ClassTemplateSpecializationDecl>(record);
  if (record->isInStdNamespace()) {
    if (special == nullptr) return std::nullopt;
    const clang::TemplateArgumentList& arguments = special->getTemplateArgs();
    if (special->getName() == "pair") return {{arguments[0].getAsType(), arguments[1].getAsType()}};
    if (special->getName() == "tuple") {
      for (const clang::TemplateArgument& part : arguments[0].getPackAsArray())
        parts.push_back(part.getAsType());
      return parts;
    }
    if (special->getName() != "array" || arguments[1].getAsIntegral().getZExtValue() > most_parts)
      return std::nullopt;
    parts.assign(arguments[1].getAsIntegral().getZExtValue(), arguments[0].getAsType());
    return parts;
  }
  if (!is_compound_class(record)) return std::nullopt;
  for (const clang::FieldDecl* field : record->fields()) {
    if (field->isBitField() || field->isAnonymousStructOrUnion()) return std::nullopt;
    parts.push_back(field->getType());
  }
  return parts;
}

Binding Walker::value(const clang::Expr* expression) {
  switch (meaning_of(expression->getType(), context_).kind) {
    case Kind::Closure:
    case Kind::Helper: return {{}, closure_value(expression)};
    case Kind::Compound: return compound_value(expression);
    case Kind::Index: return index_list(expression);
    default: return this->expression(expression);
  }
}

std::vector<Binding> Walker::values(llvm::ArrayRef<const clang::Expr*> expressions) {
  std::vector<Binding> results;
  for (const clang::Expr* expression : expressions) {
    Statements effects;
    Statements* const outer = std::exchange(current_, &effects);
    Binding one = value(expression);
    current_ = outer;
    if (!effects.empty()) {
      for (std::size_t i = 0; i < results.size(); ++i)
        results[i] = copy_of(results[i], expressions[i]->getType().getNonReferenceType(), "operand",
                             expression->getExprLoc());
      for (Statement& effect : effects) emit(std::move(effect));
    }
    results.push_back(std::move(one));
  }
  return results;
}

Binding Walker::storage(clang::QualType type, const std::string& name, clang::SourceLocation where) {
  const Meaning meaning = meaning_of(type, context_);
  if (meaning.kind == Kind::Compound) {
    const std::vector<clang::QualType> types = *parts_of(type);
    Binding result;
    result.compound = std::make_shared<CompoundValue>();
    for (std::size_t i = 0; i < types.size(); ++i)
      result.compound->parts.push_back(storage(types[i], part_name(name, type, i), where));
    return result;
  }
  if (meaning.kind == Kind::Closure || meaning.kind == Kind::Helper)
    refuse(where, "a lambda that is stored without a value, or comes from one of several places",
           "name it with auto and call that name");
  if (meaning.kind == Kind::Index)
    refuse(where, "offsets or a shape that come from one of several places", "choose the numbers one by one");
  const codegen::Type variable_type = type_of(type, where);
  if (variable_type.is_scalar()) require_built(variable_type.dtype, where);
  return variable(add_variable(name, variable_type, VariableKind::Local, where), where);
}

Binding Walker::copy_of(const Binding& value, clang::QualType type, const std::string& name,
                        clang::SourceLocation where) {
  if (value.closure) return value;
  if (value.compound) {
    const auto types = parts_of(type);
    Binding result;
    result.compound = std::make_shared<CompoundValue>();
    for (std::size_t i = 0; i < value.compound->parts.size(); ++i)
      result.compound->parts.push_back(copy_of(value.compound->parts[i], (*types)[i].getNonReferenceType(),
                                               part_name(name, type, i), where));
    return result;
  }
  if (value.expression.type.kind == codegen::TypeKind::List) return snapshot(value.expression, name, where);
  // A tile that was declared without a value, part of a whole that is copied.
  if (value.expression.type.kind == codegen::TypeKind::Void) return storage(type, name, where);
  Binding result = storage(type, name, where);
  Expr copied = value.expression;
  if (result.expression.type.is_scalar())
    copied = convert(std::move(copied), result.expression.type.dtype, where);
  emit_assign(result.expression.variable, std::move(copied), where);
  return result;
}

void Walker::assign_parts(const Binding& target, const Binding& value, clang::SourceLocation where) {
  if (target.compound && value.compound && target.compound->parts.size() == value.compound->parts.size()) {
    for (std::size_t i = 0; i < target.compound->parts.size(); ++i)
      assign_parts(target.compound->parts[i], value.compound->parts[i], where);
    return;
  }
  if (value.expression.type.kind == codegen::TypeKind::Void) return;  // without a value, see copy_of
  if (target.closure || value.closure || target.expression.op != Op::Variable)
    refuse(where, "an assignment to something that is no local variable",
           "assign to a local scalar, tile, tensor, struct or array");
  Expr assigned = value.expression;
  const codegen::Type& type = target.expression.type;
  if (type.is_scalar()) assigned = convert(std::move(assigned), type.dtype, where);
  emit_assign(target.expression.variable, std::move(assigned), where);
}

Binding Walker::converted(Binding value, clang::QualType type, clang::SourceLocation where) {
  if (value.closure) return value;
  if (!value.compound) {
    if (const auto dtype = dtype_of(type, context_); dtype && value.expression.type.is_scalar())
      value.expression = convert(std::move(value.expression), *dtype, where);
    return value;
  }
  const auto types = parts_of(type);
  if (!types || types->size() != value.compound->parts.size())
    refuse(where, "a conversion to '" + type.getAsString(context_.getPrintingPolicy()) + "' in a kernel",
           "convert the parts one by one");
  Binding result;
  result.compound = std::make_shared<CompoundValue>();
  for (std::size_t i = 0; i < types->size(); ++i)
    result.compound->parts.push_back(converted(value.compound->parts[i], (*types)[i], where));
  return result;
}

Binding Walker::zero(clang::QualType type, const clang::Expr* where) {
  const Meaning meaning = meaning_of(type, context_);
  if (meaning.kind == Kind::Scalar) {
    require_built(meaning.dtype, where->getExprLoc());
    Expr value = int64(0, where->getExprLoc());
    value.value = {meaning.dtype, 0};
    value.type = codegen::Type::scalar(meaning.dtype);
    return value;
  }
  Binding result;
  if (meaning.kind != Kind::Compound) return result;  // a tile without a value
  result.compound = std::make_shared<CompoundValue>();
  const std::vector<clang::QualType> types = *parts_of(type);
  for (const clang::QualType part : types) result.compound->parts.push_back(zero(part, where));
  return result;
}

Binding Walker::compound_constant(const clang::APValue& value, clang::QualType type,
                                  clang::SourceLocation where) {
  if (value.isInt() || value.isFloat()) return constant(value, type, where);
  const auto types = parts_of(type);
  Binding result;
  result.compound = std::make_shared<CompoundValue>();
  // std::array is a class around an array.
  const clang::APValue* whole = &value;
  if (whole->isStruct() && is_std_class(type->getAsCXXRecordDecl(), "array") &&
      whole->getStructNumFields() == 1)
    whole = &whole->getStructField(0);
  for (std::size_t i = 0; types && i < types->size(); ++i) {
    const auto at = static_cast<unsigned>(i);
    if (whole->isArray())
      result.compound->parts.push_back(compound_constant(
          at < whole->getArrayInitializedElts() ? whole->getArrayInitializedElt(at) : whole->getArrayFiller(),
          (*types)[i], where));
    else if (whole->isStruct() && at < whole->getStructNumFields())
      result.compound->parts.push_back(compound_constant(whole->getStructField(at), (*types)[i], where));
    else
      refuse(where, "a constant of type '" + type.getAsString(context_.getPrintingPolicy()) + "' in a kernel",
             "use constexpr numbers, and arrays and structs of them");
  }
  return result;
}

Binding Walker::compound_list(const clang::Expr* where, clang::QualType type,
                              llvm::ArrayRef<const clang::Expr*> inits) {
  const std::vector<clang::QualType> types = *parts_of(type);
  std::vector<Binding> given = values(inits);
  Binding result;
  result.compound = std::make_shared<CompoundValue>();
  for (std::size_t i = 0; i < types.size(); ++i)
    result.compound->parts.push_back(i < given.size()
                                         ? converted(std::move(given[i]), types[i], where->getExprLoc())
                                         : zero(types[i], where));
  return result;
}

Binding Walker::compound_value(const clang::Expr* expression) {
  expression = bare(expression);
  if (const clang::Expr* moved = moved_argument(expression)) return compound_value(moved);
  if (std::optional<Binding> named = find(expression)) return *std::move(named);
  const clang::QualType type = expression->getType();
  if (const auto* list = llvm::dyn_cast<clang::InitListExpr>(expression)) {
    if (list->isSyntacticForm() && list->getSemanticForm() != nullptr) list = list->getSemanticForm();
    // `Pair p{q}` copies, and std::array is a class around an array.
    if (list->getNumInits() == 1 && (is_std_class(type->getAsCXXRecordDecl(), "array") ||
                                     context_.hasSameUnqualifiedType(list->getInit(0)->getType(), type)))
      return compound_value(list->getInit(0));
    return compound_list(list, type, list->inits());
  }
  if (const auto* list = llvm::dyn_cast<clang::CXXParenListInitExpr>(expression)) {
    std::vector<const clang::Expr*> inits(list->getInitExprs().begin(), list->getInitExprs().end());
    return compound_list(list, type, inits);
  }
  // A copy of an array, element by element.
  if (const auto* copied = llvm::dyn_cast<clang::ArrayInitLoopExpr>(expression))
    return compound_value(copied->getCommonExpr()->getSourceExpr());
  if (llvm::isa<clang::ImplicitValueInitExpr>(expression) ||
      llvm::isa<clang::CXXScalarValueInitExpr>(expression))
    return zero(type, expression);
  if (const auto* list = llvm::dyn_cast<clang::CXXStdInitializerListExpr>(expression))
    return compound_value(list->getSubExpr());
  if (const auto* choice = llvm::dyn_cast<clang::AbstractConditionalOperator>(expression))
    return chosen_compound(choice);
  if (const auto* made = llvm::dyn_cast<clang::CXXConstructExpr>(expression))
    return compound_construct(made, type);
  if (const auto* called = llvm::dyn_cast<clang::CallExpr>(expression)) return call(called);
  if (const auto* member = llvm::dyn_cast<clang::MemberExpr>(expression)) return part(member);
  if (const auto subscript = subscript_of(expression)) return element(expression, *subscript);
  if (const auto* cast = llvm::dyn_cast<clang::CastExpr>(expression))
    return compound_value(cast->getSubExpr());
  if (const auto* op = llvm::dyn_cast<clang::BinaryOperator>(expression);
      op != nullptr && op->getOpcode() == clang::BO_Comma) {
    emit_effect(op->getLHS());
    return compound_value(op->getRHS());
  }
  // A name that nothing is bound to: refused in the words for numbers.
  if (const auto* name = llvm::dyn_cast<clang::DeclRefExpr>(expression)) (void)name_expression(name);
  refuse(expression,
         "this C++ expression (clang: " + std::string(expression->getStmtClassName()) + ") of type '" +
             type.getUnqualifiedType().getAsString(context_.getPrintingPolicy()) +
             "' is not part of the kernel language",
         "name the parts one by one");
}

Binding Walker::compound_construct(const clang::CXXConstructExpr* made, clang::QualType type) {
  // `Pair pairs[3];` constructs each element.
  if (const auto* array = context_.getAsConstantArrayType(type)) {
    Binding result;
    result.compound = std::make_shared<CompoundValue>();
    for (std::size_t i = parts_of(type)->size(); i > 0; --i)
      result.compound->parts.push_back(compound_construct(made, array->getElementType()));
    return result;
  }
  if (meaning_of(type, context_).kind != Kind::Compound) return zero(type, made);
  const clang::CXXConstructorDecl* constructor = made->getConstructor();
  const clang::CXXRecordDecl* record = constructor->getParent();
  const llvm::ArrayRef<const clang::Expr*> arguments(made->getArgs(), made->getNumArgs());
  const std::size_t parts = parts_of(type)->size();
  if (!constructor->isUserProvided() && constructor->isCopyOrMoveConstructor())
    return compound_value(arguments[0]);
  if (record->isInStdNamespace()) {
    const auto given = [&](std::size_t i) { return parts_of(arguments[i]->getType()); };
    if (arguments.empty()) return zero(type, made);
    if (arguments.size() == 1 && given(0) && given(0)->size() == parts)
      return converted(compound_value(arguments[0]), type, made->getExprLoc());
    if (arguments.size() == parts) return compound_list(made, type, arguments);
    refuse(made, "this constructor of '" + type.getAsString(context_.getPrintingPolicy()) + "' in a kernel",
           "give one value for each part");
  }
  const clang::FunctionDecl* definition = nullptr;
  if (!constructor->isUserProvided() && constructor->getBody(definition) == nullptr)
    return made->requiresZeroInitialization() ? zero(type, made)
                                              : storage(type, "object", made->getExprLoc());
  Binding object = storage(type, "object", made->getExprLoc());
  if (made->requiresZeroInitialization()) assign_parts(object, zero(type, made), made->getExprLoc());
  (void)inline_call(made, constructor, arguments, nullptr, object);
  return object;
}

void Walker::initialise(const clang::CXXConstructorDecl* constructor) {
  const Binding object = *frames_.back().object;
  for (const clang::CXXCtorInitializer* init : constructor->inits()) {
    const clang::SourceLocation where =
        init->isWritten() ? init->getSourceLocation() : constructor->getLocation();
    if (init->isBaseInitializer()) continue;  // an empty class, see parts_of
    if (init->isDelegatingInitializer()) {
      assign_parts(object, value(init->getInit()), where);
      continue;
    }
    if (!init->isMemberInitializer())
      refuse(where, "a member of an anonymous union in a kernel", "give the members names");
    Binding& member = object.compound->parts[init->getMember()->getFieldIndex()];
    const auto* made = llvm::dyn_cast<clang::CXXConstructExpr>(bare(init->getInit()));
    if (made != nullptr && made->getNumArgs() == 0 &&
        meaning_of(made->getType(), context_).kind == Kind::Tile) {
      // A tile without a value, which the body of a constructor may give one.
      if (!constructor->isUserProvided()) member = {};
      continue;
    }
    assign_parts(member, value(init->getInit()), where);
  }
}

Binding Walker::chosen_compound(const clang::AbstractConditionalOperator* op) {
  const clang::SourceLocation where = op->getQuestionLoc();
  Statement branch;
  branch.kind = codegen::StatementKind::If;
  branch.location = location(where);
  branch.value = condition(op->getCond());
  Binding result = storage(op->getType(), "chosen", where);
  Statements* const outer = std::exchange(current_, &branch.body);
  assign_parts(result, value(op->getTrueExpr()), op->getTrueExpr()->getExprLoc());
  current_ = &branch.else_body;
  assign_parts(result, value(op->getFalseExpr()), op->getFalseExpr()->getExprLoc());
  current_ = outer;
  emit(std::move(branch));
  return result;
}

void Walker::decompose(const clang::DecompositionDecl* declared, std::optional<Binding> whole) {
  const clang::SourceLocation where = declared->getLocation();
  const clang::QualType plain = declared->getType().getNonReferenceType();
  if (meaning_of(plain, context_).kind != Kind::Compound)
    refuse(where,
           "a structured binding of a '" +
               plain.getUnqualifiedType().getAsString(context_.getPrintingPolicy()) + "'",
           "take a std::pair, std::tuple, std::array, array or plain struct apart");
  if (!whole && declared->getType()->isReferenceType()) whole = find(declared->getInit());
  if (!whole) whole = copy_of(value(declared->getInit()), plain, "part", where);
  std::size_t i = 0;
  for (const clang::BindingDecl* name : declared->bindings()) {
    Binding part = whole->compound->parts[i++];
    // Named after the binding: the emitted code is for people.
    if (part.expression.op == Op::Variable && !declared->getType()->isReferenceType() && !part.compound)
      kernel_.variables[static_cast<std::size_t>(part.expression.variable)].name = name->getNameAsString();
    bindings_[name] = std::move(part);
  }
}

std::optional<Binding> Walker::compound_call(const clang::CallExpr* call) {
  const clang::FunctionDecl* function = call->getDirectCallee();
  if (function == nullptr || !function->isInStdNamespace() || function->getIdentifier() == nullptr)
    return std::nullopt;
  const llvm::StringRef name = function->getName();
  const llvm::ArrayRef<const clang::Expr*> arguments(call->getArgs(), call->getNumArgs());
  if (name == "make_pair" || name == "make_tuple") return compound_list(call, call->getType(), arguments);
  if (name != "tie" && name != "forward_as_tuple") return std::nullopt;
  Binding result;
  result.compound = std::make_shared<CompoundValue>();
  for (const clang::Expr* argument : arguments) {
    std::optional<Binding> named = find(argument);
    if (!named)
      refuse(argument, "std::" + name.str() + " of something that is no local variable",
             "name local variables");
    result.compound->parts.push_back(*std::move(named));
  }
  return result;
}

}  // namespace trilith::capture
