// jit/capture/valid_calls.cpp -- tiles of which only a part is valid: options of load, set_valid, fillpad.
#include "jit/capture/walker.hpp"

namespace trilith::capture {

using codegen::Op;

/// What a field of an options struct is given in the call; null: its default.
const clang::Expr* Walker::field_of(const clang::Expr* options, llvm::StringRef field) {
  const clang::Expr* value = options->IgnoreParens();
  if (const auto* defaulted = llvm::dyn_cast<clang::CXXDefaultArgExpr>(value)) value = defaulted->getExpr();
  const auto* list = llvm::dyn_cast<clang::InitListExpr>(bare(value));
  const auto* record = options->getType().getNonReferenceType()->getAsCXXRecordDecl();
  if (list == nullptr || record == nullptr) return nullptr;
  for (const clang::FieldDecl* candidate : record->fields()) {
    if (candidate->getName() != field || candidate->getFieldIndex() >= list->getNumInits()) continue;
    const clang::Expr* given = list->getInit(candidate->getFieldIndex());
    return llvm::isa<clang::CXXDefaultInitExpr>(given) ? nullptr : given;
  }
  return nullptr;
}

void Walker::load_options(const clang::Expr* options, Expr& load) {
  const auto* record = options->getType().getNonReferenceType()->getAsCXXRecordDecl();
  if (!is_pl_class(record, "LoadOptions")) return;  // the source location
  const clang::Expr* written = options->IgnoreParens();
  if (const auto* defaulted = llvm::dyn_cast<clang::CXXDefaultArgExpr>(written))
    written = defaulted->getExpr();
  if (!llvm::isa<clang::InitListExpr>(bare(written)))
    refuse(options, "options of pl::load that are not written in the call",
           "write {.clamp = true} or {.valid = {rows, columns}}");
  if (const clang::Expr* clamp = field_of(options, "clamp")) {
    clang::Expr::EvalResult result;
    if (!clamp->EvaluateAsRValue(result, context_) || !result.Val.isInt())
      refuse(clamp, "`clamp` that is no constant", "write {.clamp = true}");
    load.attributes.clamp = result.Val.getInt().getBoolValue();
  }
  if (const clang::Expr* valid = field_of(options, "valid")) {
    Expr extents = index_list(valid);
    if (extents.operands.empty()) return;
    check_region(valid, load.operands[0], extents);
    load.operands.push_back(std::move(extents));
  }
}

/// pl::fillpad(x, pad) or pl::set_valid(x, extents).
codegen::Expr Walker::valid_call(const clang::CallExpr* call, bool fills) {
  Expr tile = expression(call->getArg(0));
  codegen::Type type = type_of(call->getType(), call->getExprLoc());
  if (!fills)
    return make(Op::SetValid, std::move(type), {std::move(tile), index_list(call->getArg(1))},
                call->getExprLoc());
  Expr result = make(Op::Fillpad, std::move(type), {std::move(tile)}, call->getExprLoc());
  result.attributes.fill = static_cast<codegen::Fill>(constant_integer(call->getArg(1), "a pad"));
  return result;
}

}  // namespace trilith::capture
