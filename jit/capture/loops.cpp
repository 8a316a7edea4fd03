// jit/capture/loops.cpp -- for, range-for, while, do.
#include "codegen/message.hpp"
#include "jit/capture/walker.hpp"

#include <clang/AST/RecursiveASTVisitor.h>

#include <cstdint>
#include <utility>

namespace trilith::capture {

using codegen::LoopKind;
using codegen::StatementKind;
using codegen::Type;
using codegen::VariableKind;

namespace {

/// True when the value cannot change while `body` runs: constants, extents, and variables it does not write.
class Invariance : public clang::RecursiveASTVisitor<Invariance> {
 public:
  Invariance(const clang::Stmt* body, const clang::Stmt* function) : body_(body), function_(function) {}
  bool holds = true;
  bool VisitDeclRefExpr(clang::DeclRefExpr* name) {
    const auto* variable = llvm::dyn_cast<clang::VarDecl>(name->getDecl());
    if (variable != nullptr && !variable->isConstexpr() &&
        (may_modify(body_, variable) || has_alias(function_, variable) ||
         variable->getType()->isReferenceType()))
      holds = false;
    // An element of something: of what, may_modify does not tell.
    if (llvm::isa<clang::BindingDecl>(name->getDecl())) holds = false;
    return holds;
  }
  bool VisitCXXThisExpr(clang::CXXThisExpr*) { return holds = false; }
  bool VisitStmt(clang::Stmt* stmt) {
    if (const auto* unary = llvm::dyn_cast<clang::UnaryOperator>(stmt))
      holds = holds && !unary->isIncrementDecrementOp();
    if (const auto* binary = llvm::dyn_cast<clang::BinaryOperator>(stmt))
      holds = holds && !binary->isAssignmentOp();
    if (const auto* call = llvm::dyn_cast<clang::CallExpr>(stmt)) {
      // Members and conversions of pl types have no effects; of other calls that is not known.
      const auto* method = llvm::dyn_cast_or_null<clang::CXXMethodDecl>(call->getDirectCallee());
      const auto* op = llvm::dyn_cast<clang::CXXOperatorCallExpr>(call);
      const bool pl_operator = op != nullptr && !op->isAssignmentOp() && op->getDirectCallee() != nullptr &&
                               is_in_pl(op->getDirectCallee());
      holds =
          holds && (pl_operator || (method != nullptr && method->isConst() && is_in_pl(method->getParent())));
    }
    return holds;
  }

 private:
  const clang::Stmt* body_;
  const clang::Stmt* function_;
};

bool is_invariant(const clang::Expr* expression, const clang::Stmt* body, const clang::Stmt* function) {
  Invariance invariance(body, function);
  invariance.TraverseStmt(const_cast<clang::Expr*>(expression));
  return invariance.holds;
}

struct Comparison {
  clang::BinaryOperatorKind kind;
  const clang::Expr *left, *right;
};

/// `a < b` of C++'s numbers or of a pl::Scalar.
std::optional<Comparison> comparison_of(const clang::Expr* condition) {
  condition = bare(condition);
  if (const auto* binary = llvm::dyn_cast<clang::BinaryOperator>(condition)) {
    if (!binary->isComparisonOp()) return std::nullopt;
    return Comparison{binary->getOpcode(), binary->getLHS(), binary->getRHS()};
  }
  const auto* cast = llvm::dyn_cast<clang::ImplicitCastExpr>(condition);
  if (cast != nullptr && cast->getCastKind() == clang::CK_UserDefinedConversion)
    condition = bare(cast->getSubExpr());
  if (const auto* member = llvm::dyn_cast<clang::CXXMemberCallExpr>(condition))
    if (llvm::isa<clang::CXXConversionDecl>(member->getMethodDecl()))
      condition = bare(member->getImplicitObjectArgument());
  const auto* call = llvm::dyn_cast<clang::CXXOperatorCallExpr>(condition);
  if (call == nullptr || !call->isComparisonOp() || call->getNumArgs() != 2 ||
      call->getDirectCallee() == nullptr || !is_in_pl(call->getDirectCallee()))
    return std::nullopt;
  return Comparison{clang::BinaryOperator::getOverloadedOpcode(call->getOperator()), call->getArg(0),
                    call->getArg(1)};
}

bool names(const clang::Expr* expression, const clang::VarDecl* variable) {
  const auto* name = llvm::dyn_cast<clang::DeclRefExpr>(expression->IgnoreParenImpCasts());
  return name != nullptr && name->getDecl() == variable;
}

}  // namespace

void Walker::loop_body(Statement& loop, const clang::Stmt* body) {
  break_targets_.push_back(0);
  continue_targets_.push_back(0);
  statements_into(loop.body, body);
  continue_targets_.pop_back();
  break_targets_.pop_back();
}

/// An unsigned bound as int64: what lies beyond is never reached.
codegen::Expr Walker::loop_bound(Expr bound, clang::SourceLocation where) {
  if (bound.type.dtype != DType::UInt64) return convert(std::move(bound), DType::Int64, where);
  constexpr std::int64_t highest = INT64_MAX;
  if (bound.is_constant())
    return int64(bound.value.bits > static_cast<std::uint64_t>(highest)
                     ? highest
                     : static_cast<std::int64_t>(bound.value.bits),
                 where);
  // std::size_t(x.dim(0)): the extent itself, which is never negative.
  if (bound.op == Op::Cast && bound.operands[0].type.dtype == DType::Int64 &&
      (bound.operands[0].op == Op::Dim || bound.operands[0].op == Op::Rank))
    return bound.operands[0];
  Expr limit = int64(highest, where);
  Expr above = make(Op::Gt, Type::scalar(DType::Bool), {bound, convert(limit, DType::UInt64, where)}, where);
  return make(Op::Conditional, Type::scalar(DType::Int64),
              {std::move(above), std::move(limit), convert(std::move(bound), DType::Int64, where)}, where);
}

void Walker::for_statement(const clang::ForStmt* stmt) {
  if (!counted_for(stmt)) general_for(stmt);
}

bool Walker::counted_for(const clang::ForStmt* stmt) {
  const auto* init = llvm::dyn_cast_or_null<clang::DeclStmt>(stmt->getInit());
  const auto condition = stmt->getCond() == nullptr ? std::nullopt : comparison_of(stmt->getCond());
  const clang::Expr* increment = stmt->getInc() == nullptr ? nullptr : bare(stmt->getInc());
  if (init == nullptr || !init->isSingleDecl() || !condition || increment == nullptr) return false;
  const auto* counter = llvm::dyn_cast<clang::VarDecl>(init->getSingleDecl());
  if (counter == nullptr || counter->getInit() == nullptr || counter->isStaticLocal() ||
      counter->getType()->isReferenceType() || meaning_of(counter->getType(), context_).wrapper)
    return false;
  // Counters of fewer bits are computed with as ints and wrap early: they count in a general loop.
  const auto counts = [](const std::optional<DType>& type) {
    return type && codegen::is_integer(*type) && codegen::size_of(*type) >= 4;
  };
  const auto dtype = dtype_of(counter->getType(), context_);
  if (!counts(dtype) || counter->getType()->isEnumeralType()) return false;

  std::int64_t step = 0;
  if (const auto* unary = llvm::dyn_cast<clang::UnaryOperator>(increment)) {
    if (!unary->isIncrementDecrementOp() || !names(unary->getSubExpr(), counter)) return false;
    step = unary->isIncrementOp() ? 1 : -1;
  } else if (const auto* compound = llvm::dyn_cast<clang::CompoundAssignOperator>(increment)) {
    clang::Expr::EvalResult amount;
    if (!names(compound->getLHS(), counter) || !compound->getRHS()->EvaluateAsInt(amount, context_))
      return false;
    step = amount.Val.getInt().getExtValue();
    if (compound->getOpcode() == clang::BO_SubAssign)
      step = -step;
    else if (compound->getOpcode() != clang::BO_AddAssign)
      return false;
  } else {
    return false;
  }
  const clang::BinaryOperatorKind kind = condition->kind;
  const bool is_unsigned = !codegen::is_signed_integer(*dtype);
  clang::Expr::EvalResult first;
  const bool from_zero_up = counter->getInit()->EvaluateAsInt(first, context_) && !first.HasSideEffects &&
                            !first.Val.getInt().isNegative();
  // `i != n` in steps of one is `i < n`, unless n lies on the other side: where that is no mistake, it wraps around.
  const bool meets =
      kind == clang::BO_NE &&
      (is_unsigned ? step == 1 && from_zero_up && first.Val.getInt() == 0 : step == 1 || step == -1);
  const bool up = step > 0 && (kind == clang::BO_LT || kind == clang::BO_LE || meets);
  // An unsigned counter is always >= 0.
  const bool down = step < 0 && (kind == clang::BO_GT || (kind == clang::BO_GE && !is_unsigned) || meets);
  if (!up && !down) return false;
  const clang::Expr* bound = condition->right;
  const auto number = [&](const clang::Expr* operand) -> std::optional<DType> {
    const Meaning meaning = meaning_of(operand->getType(), context_);
    return meaning.kind == Kind::Scalar ? std::optional(meaning.dtype) : std::nullopt;
  };
  // A number beside a pl::Scalar is compared in the scalar's type.
  const auto bound_dtype = number(bound);
  const auto compared =
      meaning_of(bound->getType(), context_).wrapper ? bound_dtype : number(condition->left);
  if (!names(condition->left, counter) || !counts(bound_dtype) || !counts(compared) ||
      (!codegen::is_signed_integer(*compared) && !is_unsigned && !(up && from_zero_up)) ||
      may_modify(stmt->getBody(), counter) ||
      !is_invariant(bound, stmt->getBody(), frames_.back().function->getBody()) || names(bound, counter))
    return false;

  const clang::SourceLocation where = stmt->getForLoc();
  Statement loop;
  loop.kind = StatementKind::For;
  loop.location = location(where);
  loop.begin = convert(convert(expression(counter->getInit()), *dtype, where), DType::Int64, where);
  const codegen::VariableId id = add_variable(counter->getNameAsString(), Type::scalar(DType::Int64),
                                              VariableKind::Local, counter->getLocation());
  loop.variable = id;
  Expr value = variable(id, counter->getLocation());
  if (*dtype != DType::Int64) {
    narrow_counters_.insert(id);
    value = make(Op::Cast, Type::scalar(*dtype), {std::move(value)}, counter->getLocation());
  }
  bindings_[counter] = {std::move(value), nullptr};
  loop.end = loop_bound(expression(bound), where);
  if (kind == clang::BO_LE || kind == clang::BO_GE) {
    const std::int64_t one = kind == clang::BO_LE ? 1 : -1;
    if (loop.end.is_constant())
      loop.end.value = codegen::Constant::of(loop.end.value.as_int64() + one);
    else
      loop.end = make(Op::Add, Type::scalar(DType::Int64), {std::move(loop.end), int64(one, where)}, where);
  }
  loop.step = int64(step, where);
  loop_body(loop, stmt->getBody());
  emit(std::move(loop));
  return true;
}

void Walker::general_for(const clang::ForStmt* stmt) {
  if (stmt->getInit() != nullptr) statement(stmt->getInit());
  general_loop(stmt->getForLoc(), stmt->getConditionVariable(), stmt->getCond(), stmt->getBody(),
               stmt->getInc(), false);
}

void Walker::while_statement(const clang::WhileStmt* stmt) {
  general_loop(stmt->getWhileLoc(), stmt->getConditionVariable(), stmt->getCond(), stmt->getBody(), nullptr,
               false);
}

void Walker::do_statement(const clang::DoStmt* stmt) {
  general_loop(stmt->getDoLoc(), nullptr, stmt->getCond(), stmt->getBody(), nullptr, true);
}

void Walker::general_loop(clang::SourceLocation where, const clang::VarDecl* condition_variable,
                          const clang::Expr* condition, const clang::Stmt* body, const clang::Expr* step,
                          bool body_first) {
  Statement loop;
  loop.kind = StatementKind::While;
  loop.location = location(where);
  Statements* const outer = current_;
  // `do`: the first round does not ask.
  codegen::VariableId first = codegen::no_variable;
  if (body_first) {
    first = add_variable("first", Type::scalar(DType::Bool), VariableKind::Local, where);
    emit_assign(first, boolean(true, where), where);
  }
  Statements effects;
  Expr test = boolean(true, where);
  if (condition != nullptr) {
    current_ = &effects;
    if (condition_variable != nullptr) local_variable(condition_variable);
    test = this->condition(condition);
    current_ = outer;
  }
  if (effects.empty()) {
    if (body_first)
      test = make(Op::Conditional, Type::scalar(DType::Bool),
                  {variable(first, where), boolean(true, where), std::move(test)}, where);
    loop.value = std::move(test);
  } else {
    // The condition needs statements of its own: while (true) { ...; if (!test) break; body }.
    loop.value = boolean(true, where);
    Statement leave;
    leave.kind = StatementKind::If;
    leave.location = location(where);
    leave.value = negate(std::move(test));
    Statement stop;
    stop.kind = StatementKind::Break;
    stop.location = location(where);
    leave.body.push_back(std::move(stop));
    effects.push_back(std::move(leave));
    if (body_first) {
      Statement ask;
      ask.kind = StatementKind::If;
      ask.location = location(where);
      ask.value = negate(variable(first, where));
      ask.body = std::move(effects);
      loop.body.push_back(std::move(ask));
    } else {
      loop.body = std::move(effects);
    }
  }
  if (body_first) {
    current_ = &loop.body;
    emit_assign(first, boolean(false, where), where);
    current_ = outer;
  }
  loop_body(loop, body);
  if (step != nullptr) {
    current_ = &loop.step_body;
    emit_effect(step);
    current_ = outer;
  }
  emit(std::move(loop));
}

/// A loop over an array is written out: its elements are variables.
void Walker::array_for(const clang::CXXForRangeStmt* stmt, const Binding& array,
                       clang::QualType element_type) {
  const clang::VarDecl* element = stmt->getLoopVariable();
  const auto begin_block = [&] {
    Statement block;
    block.kind = StatementKind::Block;
    block.location = location(stmt->getForLoc());
    block.block = next_block_++;
    return block;
  };
  Statement all = begin_block();
  Statements* const outer = std::exchange(current_, &all.body);
  break_targets_.push_back(all.block);
  for (const Binding& part : array.compound->parts) {
    Statement one = begin_block();
    continue_targets_.push_back(one.block);
    Statements* const rounds = std::exchange(current_, &one.body);
    const Binding given =
        element->getType()->isReferenceType() && (part.compound || !part.expression.is_constant())
            ? part
            : copy_of(part, element_type.getNonReferenceType(), element->getNameAsString(),
                      element->getLocation());
    if (const auto* names = llvm::dyn_cast<clang::DecompositionDecl>(element)) {
      decompose(names, given);
    } else {
      const auto dtype = dtype_of(element->getType(), context_);
      bindings_[element] =
          dtype && given.expression.type.is_scalar() && given.expression.type.dtype != *dtype
              ? copy_of(given, element->getType(), element->getNameAsString(), element->getLocation())
              : given;
    }
    statement(stmt->getBody());
    current_ = rounds;
    continue_targets_.pop_back();
    emit(std::move(one));
  }
  break_targets_.pop_back();
  current_ = outer;
  emit(std::move(all));
}

void Walker::range_for(const clang::CXXForRangeStmt* stmt) {
  const clang::SourceLocation where = stmt->getForLoc();
  if (stmt->getInit() != nullptr) statement(stmt->getInit());
  const clang::Expr* over = bare(stmt->getRangeInit());
  if (const auto* list = llvm::dyn_cast<clang::CXXStdInitializerListExpr>(over))
    over = bare(list->getSubExpr());
  const auto* record = over->getType()->getAsCXXRecordDecl();
  if (over->getType()->isConstantArrayType() || is_std_class(record, "array")) {
    if (const auto types = parts_of(over->getType())) {
      if (types->empty()) return;
      const std::optional<Binding> named = find(over);
      return array_for(stmt, named ? *named : copy_of(value(over), over->getType(), "list", where),
                       types->front());
    }
  }
  const auto* call = llvm::dyn_cast<clang::CallExpr>(bare(stmt->getRangeInit()));
  const clang::FunctionDecl* function = call == nullptr ? nullptr : call->getDirectCallee();
  const std::string name = function != nullptr && is_in_pl(function) ? function->getNameAsString() : "";
  if (name != "range" && name != "parallel" && name != "unroll" && name != "pipeline")
    refuse(stmt->getRangeInit(), "a range-for over something that is no pl::range",
           "loop over pl::range, pl::parallel, pl::unroll or pl::pipeline, or write a counted for");
  Statement loop;
  loop.kind = StatementKind::For;
  loop.location = location(where);
  loop.loop = name == "parallel"   ? LoopKind::Parallel
              : name == "unroll"   ? LoopKind::Unroll
              : name == "pipeline" ? LoopKind::Pipeline
                                   : LoopKind::Sequential;
  std::vector<const clang::Expr*> bounds;
  for (const clang::Expr* argument : call->arguments()) {
    if (is_pl_class(argument->getType()->getAsCXXRecordDecl(), "PipelineOptions")) {
      const clang::Expr* options = argument->IgnoreParens();
      if (const auto* defaulted = llvm::dyn_cast<clang::CXXDefaultArgExpr>(options))
        options = defaulted->getExpr();
      clang::Expr::EvalResult result;
      if (!options->EvaluateAsRValue(result, context_) || !result.Val.isStruct() ||
          !result.Val.getStructField(0).isInt())
        refuse(argument, "pipeline options that are no constant", "write {.stage = 2}");
      loop.stages = static_cast<std::int32_t>(result.Val.getStructField(0).getInt().getExtValue());
      if (loop.stages < 1)
        refuse(argument, "a pipeline of " + std::to_string(loop.stages) + " stages", "use 1 or more");
    } else {
      bounds.push_back(argument);
    }
  }
  std::vector<Expr> values = operands(bounds);
  for (Expr& value : values) {
    if (!value.type.is_scalar())
      refuse(stmt->getRangeInit(), "loop bounds that are no integers", "give integers");
    value = convert(std::move(value), DType::Int64, where);
  }
  if (values.size() == 1) values.insert(values.begin(), int64(0, where));
  if (values.size() == 2) values.push_back(int64(1, where));
  if (values.size() != 3)
    refuse(stmt->getRangeInit(), "loop bounds of this form", "write n, or first, last[, step]");
  if (values[2].is_constant() && values[2].value.as_int64() == 0)
    refuse(stmt->getRangeInit(), codegen::message::zero_step, "");
  loop.begin = std::move(values[0]);
  loop.end = std::move(values[1]);
  loop.step = std::move(values[2]);

  const clang::VarDecl* element = stmt->getLoopVariable();
  const auto dtype = dtype_of(element->getType(), context_);
  if (!dtype) refuse(element->getLocation(), "a loop variable that is no integer", "write auto");
  const std::string element_name = element->getNameAsString();
  loop.variable =
      add_variable(element_name, Type::scalar(DType::Int64), VariableKind::Local, element->getLocation());
  Expr value = convert(variable(loop.variable, element->getLocation()), *dtype, element->getLocation());
  if (may_modify(stmt->getBody(), element)) {
    // The body works on a copy: the loop counts on its own.
    const codegen::VariableId copy =
        add_variable(element_name, Type::scalar(*dtype), VariableKind::Local, element->getLocation());
    Statements* const outer = current_;
    current_ = &loop.body;
    emit_assign(copy, std::move(value), element->getLocation());
    current_ = outer;
    value = variable(copy, element->getLocation());
  }
  bindings_[element] = {std::move(value), nullptr};
  loop_body(loop, stmt->getBody());
  emit(std::move(loop));
}

}  // namespace trilith::capture
