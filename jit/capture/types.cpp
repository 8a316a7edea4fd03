// jit/capture/types.cpp -- what a C++ type means to the kernel language.
#include "jit/capture/walker.hpp"

#include <clang/AST/DeclTemplate.h>

namespace trilith::capture {

using codegen::DType;

bool is_in_pl(const clang::Decl* declaration) {
  const clang::DeclContext* scope = declaration->getDeclContext()->getRedeclContext();
  const auto* space = llvm::dyn_cast<clang::NamespaceDecl>(scope);
  return space != nullptr && space->getParent()->getRedeclContext()->isTranslationUnit() &&
         (space->getName() == "pl" || space->getName() == "pld");
}

bool is_pl_class(const clang::CXXRecordDecl* record, llvm::StringRef name) {
  return record != nullptr && record->getIdentifier() != nullptr && record->getName() == name &&
         is_in_pl(record);
}

std::optional<DType> dtype_of(clang::QualType type, clang::ASTContext& context) {
  type = type.getCanonicalType().getNonReferenceType().getUnqualifiedType();
  if (const auto* enumeration = type->getAs<clang::EnumType>()) {
    if (!enumeration->getDecl()->isComplete()) return std::nullopt;
    const clang::QualType underlying = enumeration->getDecl()->getIntegerType();
    return dtype_of(underlying, context);
  }
  if (const clang::CXXRecordDecl* record = type->getAsCXXRecordDecl()) {
    if (is_pl_class(record, "half")) return DType::Float16;
    if (is_pl_class(record, "bfloat16")) return DType::BFloat16;
    return std::nullopt;
  }
  const auto* builtin = type->getAs<clang::BuiltinType>();
  if (builtin == nullptr) return std::nullopt;
  if (builtin->getKind() == clang::BuiltinType::Bool) return DType::Bool;
  if (builtin->getKind() == clang::BuiltinType::Float) return DType::Float32;
  if (builtin->getKind() == clang::BuiltinType::Double) return DType::Float64;
  if (builtin->isInteger()) {
    const bool is_signed = builtin->isSignedInteger();
    switch (context.getTypeSize(type)) {
      case 8: return is_signed ? DType::Int8 : DType::UInt8;
      case 16: return is_signed ? DType::Int16 : DType::UInt16;
      case 32: return is_signed ? DType::Int32 : DType::UInt32;
      case 64: return is_signed ? DType::Int64 : DType::UInt64;
      default: return std::nullopt;
    }
  }
  return std::nullopt;
}

namespace {

const clang::ClassTemplateSpecializationDecl* tensor_base(const clang::CXXRecordDecl* record) {
  const auto* special = llvm::dyn_cast<clang::ClassTemplateSpecializationDecl>(record);
  if (special != nullptr && is_pl_class(special, "Tensor")) return special;
  if (!record->hasDefinition()) return nullptr;
  for (const clang::CXXBaseSpecifier& base : record->bases())
    if (const clang::CXXRecordDecl* parent = base.getType()->getAsCXXRecordDecl())
      if (const auto* found = tensor_base(parent)) return found;
  return nullptr;
}

/// The element type of a pl class template whose first argument is a type; void becomes `any_dtype`.
void element_type(const clang::ClassTemplateSpecializationDecl* record, clang::ASTContext& context,
                  Meaning& meaning) {
  const clang::TemplateArgument& argument = record->getTemplateArgs()[0];
  if (argument.getKind() != clang::TemplateArgument::Type) return;
  if (argument.getAsType()->isVoidType()) {
    meaning.any_dtype = true;
  } else if (const auto dtype = dtype_of(argument.getAsType(), context)) {
    meaning.dtype = *dtype;
  } else {
    meaning.kind = Kind::Other;
  }
}

}  // namespace

Meaning meaning_of(clang::QualType type, clang::ASTContext& context) {
  Meaning meaning;
  type = type.getCanonicalType().getNonReferenceType().getUnqualifiedType();
  if (type->isVoidType()) {
    meaning.kind = Kind::Void;
    return meaning;
  }
  if (const auto dtype = dtype_of(type, context)) {
    meaning.kind = Kind::Scalar;
    meaning.dtype = *dtype;
    return meaning;
  }
  const clang::CXXRecordDecl* record = type->getAsCXXRecordDecl();
  if (record == nullptr) {
    if (parts_of(type)) meaning.kind = Kind::Compound;
    return meaning;
  }
  if (record->isLambda()) {
    meaning.kind = Kind::Closure;
    meaning.closure = record;
    return meaning;
  }
  if (const auto* tensor = tensor_base(record)) {
    meaning.kind = Kind::Tensor;
    meaning.tensor = tensor;
    element_type(tensor, context, meaning);
    if (is_pl_class(record, "Out")) meaning.access = codegen::Access::Out;
    if (is_pl_class(record, "InOut")) meaning.access = codegen::Access::InOut;
    if (is_pl_class(record, "DistributedTensor")) {
      meaning.access = codegen::Access::InOut;
      meaning.window = true;
    }
    return meaning;
  }
  if (is_pl_class(record, "CommCtx") || is_pl_class(record, "AnyTensor") || is_pl_class(record, "Signal")) {
    meaning.kind = Kind::Tensor;
    meaning.any_dtype = true;
    return meaning;
  }
  if (is_pl_class(record, "Extent")) {
    meaning.kind = Kind::Scalar;
    meaning.dtype = DType::Int64;
    meaning.wrapper = true;
    return meaning;
  }
  if (is_pl_class(record, "Index")) meaning.kind = Kind::Index;
  if (is_pl_class(record, "Dynamic")) meaning.kind = Kind::Dynamic;
  const auto* special = llvm::dyn_cast<clang::ClassTemplateSpecializationDecl>(record);
  if (!is_in_pl(record)) {
    if (parts_of(type)) meaning.kind = Kind::Compound;
    return meaning;
  }
  if (special == nullptr) return meaning;
  const llvm::StringRef name = special->getName();
  if (name == "Tile") {
    meaning.kind = Kind::Tile;
    element_type(special, context, meaning);
  } else if (name == "Scalar" || name == "Const") {
    meaning.kind = Kind::Scalar;
    meaning.wrapper = true;
    meaning.specialised = name == "Const";
    element_type(special, context, meaning);
  } else if (name == "Sorted") {
    meaning.kind = Kind::Compound;
  } else if (special->getTemplateArgs().size() > 0 &&
             special->getTemplateArgs()[0].getKind() == clang::TemplateArgument::Type) {
    // InCore<F>, Inline<F>, ...: told apart by name where they are called.
    const clang::CXXRecordDecl* inner = special->getTemplateArgs()[0].getAsType()->getAsCXXRecordDecl();
    if (inner != nullptr && inner->isLambda()) {
      meaning.kind = name.starts_with("Inline") ? Kind::Helper : Kind::Kernel;
      meaning.closure = inner;
    } else if (name == "Kernel") {
      meaning.kind = Kind::Kernel;
    }
  }
  return meaning;
}

const clang::Expr* bare(const clang::Expr* expression) {
  for (;;) {
    const clang::Expr* inner = expression->IgnoreParens();
    if (const auto* full = llvm::dyn_cast<clang::FullExpr>(inner)) {
      inner = full->getSubExpr();
    } else if (const auto* temporary = llvm::dyn_cast<clang::MaterializeTemporaryExpr>(inner)) {
      inner = temporary->getSubExpr();
    } else if (const auto* bound = llvm::dyn_cast<clang::CXXBindTemporaryExpr>(inner)) {
      inner = bound->getSubExpr();
    } else if (const auto* substituted = llvm::dyn_cast<clang::SubstNonTypeTemplateParmExpr>(inner)) {
      inner = substituted->getReplacement();
    } else if (const auto* defaulted = llvm::dyn_cast<clang::CXXDefaultArgExpr>(inner)) {
      inner = defaulted->getExpr();
    } else if (const auto* member = llvm::dyn_cast<clang::CXXDefaultInitExpr>(inner)) {
      inner = member->getExpr();
    } else if (const auto* cast = llvm::dyn_cast<clang::ImplicitCastExpr>(inner)) {
      if (cast->getCastKind() == clang::CK_NoOp || cast->getCastKind() == clang::CK_LValueToRValue ||
          cast->getCastKind() == clang::CK_FunctionToPointerDecay)
        inner = cast->getSubExpr();
    }
    if (inner == expression) return expression;
    expression = inner;
  }
}

// --- the types of IR variables and expressions

codegen::Type Walker::type_of(clang::QualType type, clang::SourceLocation where) {
  const Meaning meaning = meaning_of(type, context_);
  if (meaning.kind == Kind::Other || meaning.kind == Kind::Closure || meaning.kind == Kind::Helper ||
      meaning.kind == Kind::Kernel || meaning.kind == Kind::Dynamic || meaning.kind == Kind::Compound)
    refuse(where,
           "the type '" + type.getUnqualifiedType().getAsString(context_.getPrintingPolicy()) +
               "' is no type of the kernel language",
           "use pl::Tile, pl::Tensor, pl::Scalar, bool, an integer, pl::half, pl::bfloat16, float or double");
  return type_of(meaning, where);
}

codegen::Type Walker::type_of(const Meaning& meaning, clang::SourceLocation where) {
  codegen::Type type;
  type.dtype = meaning.dtype;
  switch (meaning.kind) {
    case Kind::Void: type.kind = codegen::TypeKind::Void; return type;
    case Kind::Scalar: type.kind = codegen::TypeKind::Scalar; return type;
    case Kind::Index: type.kind = codegen::TypeKind::List; return type;
    case Kind::Tile:
      type.kind = codegen::TypeKind::Tile;
      type.any_dtype = meaning.any_dtype;
      type.any_shape = true;
      return type;
    default: break;
  }
  type.kind = codegen::TypeKind::Tensor;
  type.any_dtype = meaning.any_dtype;
  type.any_shape = true;
  if (meaning.tensor == nullptr) return type;
  const clang::TemplateArgumentList& arguments = meaning.tensor->getTemplateArgs();
  llvm::ArrayRef<clang::TemplateArgument> dims;
  if (arguments.size() > 1) dims = arguments[1].getPackAsArray();
  type.any_shape = dims.empty();
  for (const clang::TemplateArgument& dim : dims) {
    if (dim.getKind() == clang::TemplateArgument::Integral) {
      const std::int64_t extent = dim.getAsIntegral().getExtValue();
      if (extent < 0)
        refuse(where, "an extent of " + std::to_string(extent) + " in a tensor type",
               "extents are 0 or more");
      type.shape.push_back({extent, codegen::no_variable});
      continue;
    }
    const clang::APValue* value = nullptr;
    if (dim.getKind() == clang::TemplateArgument::Declaration) {
      if (const auto* object = llvm::dyn_cast<clang::TemplateParamObjectDecl>(dim.getAsDecl()))
        value = &object->getValue();
    } else if (dim.getKind() == clang::TemplateArgument::StructuralValue) {
      value = &dim.getAsStructuralValue();
    }
    if (value == nullptr || !value->isStruct())
      refuse(where, "an extent that is no integer, pl::dynamic(\"name\") or pl::no_dims",
             "write pl::Tensor<float, 8, 8>, or make the extent with pl::dynamic");
    if (value->getStructNumFields() == 0) continue;  // pl::no_dims
    type.shape.push_back({0, extent_variable(*value, where)});
  }
  return type;
}

codegen::VariableId Walker::extent_variable(const clang::APValue& value, clang::SourceLocation where) {
  // pl::Dynamic: name, multiple, constant.
  std::string name;
  if (const clang::APValue& characters = value.getStructField(0); characters.isArray())
    for (unsigned i = 0; i < characters.getArraySize(); ++i) {
      const clang::APValue& character = i < characters.getArrayInitializedElts()
                                            ? characters.getArrayInitializedElt(i)
                                            : characters.getArrayFiller();
      if (!character.isInt() || character.getInt() == 0) break;
      name.push_back(static_cast<char>(character.getInt().getExtValue()));
    }
  const std::int64_t multiple = value.getStructField(1).getInt().getExtValue();
  const bool specialised = value.getStructField(2).getInt().getBoolValue();
  const bool known = extents_.contains(name);
  const codegen::VariableId id = extent_variable(name, where);
  codegen::Variable& variable = kernel_.variables[static_cast<std::size_t>(id)];
  if (known && (variable.multiple != multiple || variable.specialised != specialised))
    refuse(where, "two kinds of extent with the name \"" + name + "\"",
           "use one pl::dynamic or pl::specialised for all of them, or give them different names");
  variable.multiple = multiple;
  variable.specialised = specialised;
  return id;
}

}  // namespace trilith::capture
