// jit/capture/statements.cpp -- declarations, return, if; loops are in loops.cpp, switch in choice.cpp.
#include "codegen/tile_call.hpp"
#include "jit/capture/at_body.hpp"
#include "jit/capture/walker.hpp"

#include <utility>

namespace trilith::capture {

using codegen::StatementKind;
using codegen::TypeKind;
using codegen::VariableKind;

void Walker::statements_into(Statements& list, const clang::Stmt* stmt) {
  Statements* const outer = current_;
  current_ = &list;
  if (stmt != nullptr) statement(stmt);
  current_ = outer;
}

namespace {

/// `(void)task;` of a pl::at body: naming the task is what makes the body wait for it.
bool only_names_a_task(const clang::Expr* expression) {
  const clang::Expr* named = expression->IgnoreParenCasts();
  return llvm::isa<clang::DeclRefExpr>(named) && is_task_id(named->getType()->getAsCXXRecordDecl());
}

}  // namespace

void Walker::emit_effect(const clang::Expr* expression) {
  if (only_names_a_task(expression)) return;
  if (meaning_of(expression->getType(), context_).kind == Kind::Compound) {
    (void)this->value(expression);
    return;
  }
  Expr value = this->expression(expression);
  // A value nobody uses is pure by now, except a load: it may be out of range, and says so when it is kept.
  if (value.op == Op::Load || codegen::may_find_bad_index(value.op))
    (void)snapshot(std::move(value), "unused", expression->getExprLoc());
}

void Walker::statement(const clang::Stmt* stmt) {
  if (const auto* compound = llvm::dyn_cast<clang::CompoundStmt>(stmt)) {
    for (const clang::Stmt* inner : compound->body()) statement(inner);
    return;
  }
  if (const auto* declarations = llvm::dyn_cast<clang::DeclStmt>(stmt)) {
    for (const clang::Decl* decl : declarations->decls()) declaration(decl);
    return;
  }
  if (llvm::isa<clang::NullStmt>(stmt)) return;
  if (const auto* attributed = llvm::dyn_cast<clang::AttributedStmt>(stmt))
    return statement(attributed->getSubStmt());
  if (const auto* returned = llvm::dyn_cast<clang::ReturnStmt>(stmt)) return return_statement(returned);
  if (const auto* branch = llvm::dyn_cast<clang::IfStmt>(stmt)) return if_statement(branch);
  if (const auto* loop = llvm::dyn_cast<clang::ForStmt>(stmt)) return for_statement(loop);
  if (const auto* loop = llvm::dyn_cast<clang::CXXForRangeStmt>(stmt)) return range_for(loop);
  if (const auto* loop = llvm::dyn_cast<clang::WhileStmt>(stmt)) return while_statement(loop);
  if (const auto* loop = llvm::dyn_cast<clang::DoStmt>(stmt)) return do_statement(loop);
  if (const auto* choice = llvm::dyn_cast<clang::SwitchStmt>(stmt)) return switch_statement(choice);
  if (llvm::isa<clang::BreakStmt>(stmt) || llvm::isa<clang::ContinueStmt>(stmt)) {
    Statement jump;
    jump.location = location(stmt->getBeginLoc());
    const bool next_round = llvm::isa<clang::ContinueStmt>(stmt);
    const std::vector<std::int32_t>& targets = next_round ? continue_targets_ : break_targets_;
    const std::int32_t block = targets.empty() ? 0 : targets.back();
    if (block != 0) {
      jump.kind = StatementKind::Leave;
      jump.block = block;
    } else {
      jump.kind = next_round ? StatementKind::Continue : StatementKind::Break;
    }
    emit(std::move(jump));
    return;
  }
  if (llvm::isa<clang::GotoStmt>(stmt) || llvm::isa<clang::IndirectGotoStmt>(stmt) ||
      llvm::isa<clang::LabelStmt>(stmt))
    refuse(stmt->getBeginLoc(), "goto or a label in a kernel", "write a loop with break and continue");
  if (llvm::isa<clang::CXXTryStmt>(stmt))
    refuse(stmt->getBeginLoc(), "try in a kernel: kernels throw nothing",
           "remove it; catch around the call of the kernel");
  if (llvm::isa<clang::AsmStmt>(stmt))
    refuse(stmt->getBeginLoc(), "inline assembly in a kernel",
           "use pl::jit.incore_source for hand-written code");
  if (llvm::isa<clang::CoreturnStmt>(stmt) || llvm::isa<clang::CoroutineBodyStmt>(stmt))
    refuse(stmt->getBeginLoc(), "a coroutine as a kernel", "write an ordinary lambda");
  if (const auto* expression = llvm::dyn_cast<clang::Expr>(stmt)) return emit_effect(expression);
  refuse(stmt->getBeginLoc(),
         std::string("this statement (clang: ") + stmt->getStmtClassName() +
             ") is not part of the kernel language",
         "see runtime/language.md");
}

void Walker::declaration(const clang::Decl* decl) {
  if (llvm::isa<clang::StaticAssertDecl>(decl) || llvm::isa<clang::TypedefNameDecl>(decl) ||
      llvm::isa<clang::UsingDecl>(decl) || llvm::isa<clang::UsingDirectiveDecl>(decl) ||
      llvm::isa<clang::UsingEnumDecl>(decl) || llvm::isa<clang::TagDecl>(decl) ||
      llvm::isa<clang::EmptyDecl>(decl) || llvm::isa<clang::NamespaceAliasDecl>(decl) ||
      llvm::isa<clang::FunctionDecl>(decl))
    return;
  const auto* variable = llvm::dyn_cast<clang::VarDecl>(decl);
  if (variable == nullptr)
    refuse(decl->getLocation(), "this declaration is not part of the kernel language",
           "see runtime/language.md");
  local_variable(variable);
}

void Walker::local_variable(const clang::VarDecl* declared) {
  const clang::SourceLocation where = declared->getLocation();
  const std::string name = declared->getNameAsString();
  const clang::QualType type = declared->getType();
  const clang::Expr* init = declared->getInit();
  if (declared->getTLSKind() != clang::VarDecl::TLS_None)
    refuse(where, "the thread_local variable '" + name + "' in a kernel", "pass the value as an argument");
  if (declared->isStaticLocal() && !declared->isConstexpr())
    refuse(where, "the static variable '" + name + "' in a kernel: a kernel keeps nothing between calls",
           "make it a local variable, or constexpr");
  if (type.isVolatileQualified())
    refuse(where, "the volatile variable '" + name + "' in a kernel",
           "remove volatile: a kernel's variables are its own");
  // Compile-time values are folded where they are named, whatever their type.
  if (declared->isConstexpr()) return;
  if (const auto* decomposition = llvm::dyn_cast<clang::DecompositionDecl>(declared))
    return decompose(decomposition);
  const Meaning meaning = meaning_of(type, context_);
  if (meaning.kind == Kind::Closure || meaning.kind == Kind::Helper) {
    bindings_[declared] = {{}, closure_value(init)};
    return;
  }
  if (meaning.kind == Kind::Index) {
    bindings_[declared] = {snapshot(index_list(init), name, where), nullptr};
    return;
  }
  if (type->isPointerType())
    refuse(where, "the pointer '" + name + "' in a kernel",
           type.getNonReferenceType()->isFunctionPointerType()
               ? "call the function by its name, or through a lambda: auto f = [](auto v) { return "
                 "function(v); }"
               : "read and write memory with pl::load and pl::store");
  if (meaning.kind == Kind::Compound) {
    const clang::QualType plain = type.getNonReferenceType();
    std::optional<Binding> named;
    if (type->isReferenceType()) named = find(init);
    if (type->isReferenceType() && !named && subscript_of(init))
      refuse(where, "a reference to an element whose index is known only when the kernel runs",
             "copy the element, and write it back with array[i] = copy");
    if (named)
      bindings_[declared] = *named;
    else if (init == nullptr)
      bindings_[declared] = storage(plain, name, where);
    else
      bindings_[declared] = copy_of(value(init), plain, name, where);
    return;
  }
  if (type->isArrayType())
    refuse(where,
           "the array '" + name + "' of type '" + type.getAsString(context_.getPrintingPolicy()) +
               "' in a kernel",
           "arrays hold up to 256 scalars, tiles or structs, and their size is known when the program is "
           "built; use "
           "a tile or pass a tensor");
  const codegen::Type variable_type = type_of(type, where);
  if (variable_type.kind == TypeKind::Void) return;
  if (type->isReferenceType()) {
    if (const auto named = find(init)) {
      bindings_[declared] = *named;
      return;
    }
    if (subscript_of(init))
      refuse(where, "a reference to an element whose index is known only when the kernel runs",
             "copy the element, and write it back with array[i] = copy");
    if (type->isLValueReferenceType() && !type->getPointeeType().isConstQualified())
      refuse(where, "the reference '" + name + "' to something that is no local variable",
             "declare it by value");
  }
  const auto* made = init == nullptr ? nullptr : llvm::dyn_cast<clang::CXXConstructExpr>(bare(init));
  const bool empty =
      init == nullptr || (made != nullptr && made->getNumArgs() == 0 && !variable_type.is_scalar());
  if (empty) {
    if (variable_type.is_tensor())
      refuse(where, "the tensor '" + name + "' without a value", "give it one: auto view = x;");
    bindings_[declared] = {variable(add_variable(name, variable_type, VariableKind::Local, where), where),
                           nullptr};
    return;
  }
  Expr value = expression(init);
  if (variable_type.is_scalar()) {
    value = convert(std::move(value), variable_type.dtype, where);
    // A named constant needs no variable.
    if (value.is_constant() && type.isConstQualified()) {
      bindings_[declared] = {std::move(value), nullptr};
      return;
    }
  }
  const codegen::VariableId id = add_variable(name, variable_type, VariableKind::Local, where);
  emit_assign(id, std::move(value), where);
  bindings_[declared] = {variable(id, where), nullptr};
}

void Walker::return_statement(const clang::ReturnStmt* stmt) {
  const clang::SourceLocation where = stmt->getReturnLoc();
  const std::size_t depth = frames_.size() - 1;
  const clang::Expr* returned = stmt->getRetValue();
  if (depth > 0 && frames_[depth].block == -1) {
    if (returned != nullptr) returned_value(returned, where);
    return;
  }
  if (depth == 0) {
    if (returned != nullptr && meaning_of(returned->getType(), context_).kind != Kind::Void) {
      Expr value = expression(returned);
      if (!value.type.is_tensor())
        refuse(stmt, "a kernel that returns something that is no tensor",
               "store the result: y = pl::store(tile, y); return y;");
      std::int32_t index = -1;
      for (std::size_t i = 0; i < kernel_.parameters.size(); ++i)
        if (value.op == Op::Variable && value.variable == kernel_.parameters[i].variable)
          index = static_cast<std::int32_t>(i);
      if (index < 0) refuse(stmt, "a kernel that returns a view", "return the pl::Out parameter itself");
      if (kernel_.parameters[static_cast<std::size_t>(index)].access == codegen::Access::In)
        refuse(stmt, "a kernel that returns a plain pl::Tensor",
               "return a pl::Out or pl::InOut parameter, or nothing");
      if (kernel_.returned_parameter >= 0 && kernel_.returned_parameter != index)
        refuse(stmt, "a kernel that returns different parameters",
               "return the same one everywhere, or nothing");
      kernel_.returned_parameter = index;
    } else if (returned != nullptr) {
      emit_effect(returned);
    }
    const auto* body = llvm::dyn_cast<clang::CompoundStmt>(call_operator_->getBody());
    if (body != nullptr && !body->body_empty() && body->body_back() == stmt) return;
  } else if (returned != nullptr) {
    returned_value(returned, where);
    if (frames_[depth].result)
      assign_parts(*frames_[depth].result, *std::exchange(frames_[depth].direct, std::nullopt), where);
  }
  Statement leave;
  leave.kind = StatementKind::Leave;
  leave.location = location(where);
  leave.block = depth == 0 ? 0 : frames_[depth].block;
  emit(std::move(leave));
}

/// Leaves what a helper returns in its frame.
void Walker::returned_value(const clang::Expr* returned, clang::SourceLocation where) {
  const std::size_t depth = frames_.size() - 1;
  const Meaning meaning = meaning_of(returned->getType(), context_);
  if (meaning.kind == Kind::Void) return emit_effect(returned);
  if (meaning.kind == Kind::Index) {
    frames_[depth].direct = snapshot(index_list(returned), "extent", where);
    return;
  }
  if (meaning.kind == Kind::Closure || meaning.kind == Kind::Helper) {
    if (frames_[depth].result)
      refuse(returned, "a helper that returns a lambda from one of several places",
             "return it at the end, or pass the lambda as an argument");
    frames_[depth].direct = Binding({}, closure_value(returned));
    return;
  }
  const clang::QualType type = frames_[depth].type;
  if (type->isReferenceType() && !frames_[depth].result)
    if (const std::optional<Binding> named = find(returned)) {
      frames_[depth].direct = *named;
      return;
    }
  if (type->isLValueReferenceType() && !type.getNonReferenceType().isConstQualified())
    refuse(returned, "a helper that returns a reference to what is known only when the kernel runs",
           "return a value, or let the helper change what it is given");
  if (meaning.kind == Kind::Compound) {
    frames_[depth].direct = copy_of(value(returned), type.getNonReferenceType(), "result", where);
    return;
  }
  Expr value = expression(returned);
  if (const auto dtype = dtype_of(type, context_)) value = convert(std::move(value), *dtype, where);
  frames_[depth].direct = std::move(value);
}

void Walker::if_statement(const clang::IfStmt* stmt) {
  if (stmt->getInit() != nullptr) statement(stmt->getInit());
  if (stmt->isConstexpr() || stmt->isConsteval()) {
    if (stmt->isConsteval()) refuse(stmt->getBeginLoc(), "if consteval in a kernel", "use if constexpr");
    if (const auto taken = stmt->getNondiscardedCase(context_)) {
      if (*taken != nullptr) statement(*taken);
      return;
    }
  }
  if (stmt->getConditionVariable() != nullptr) local_variable(stmt->getConditionVariable());
  Statement branch;
  branch.kind = StatementKind::If;
  branch.location = location(stmt->getIfLoc());
  branch.value = condition(stmt->getCond());
  if (branch.value.is_constant()) {  // as the specialiser: what is never taken is not looked at
    const clang::Stmt* taken = branch.value.value.bits != 0 ? stmt->getThen() : stmt->getElse();
    if (taken != nullptr) statement(taken);
    return;
  }
  statements_into(branch.body, stmt->getThen());
  statements_into(branch.else_body, stmt->getElse());
  emit(std::move(branch));
}

}  // namespace trilith::capture
