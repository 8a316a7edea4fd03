// jit/capture/choice.cpp -- switch: a Block of Ifs that `break` leaves.
//
// Each run of case labels starts a segment. A segment is entered when its labels match, or when the one
// before it fell through; a flag remembers that once a segment was entered.
#include "jit/capture/walker.hpp"

namespace trilith::capture {

using codegen::Op;
using codegen::StatementKind;
using codegen::Type;
using codegen::VariableKind;

namespace {

struct Segment {
  std::vector<std::pair<llvm::APSInt, llvm::APSInt>> labels;  ///< inclusive
  bool is_default = false;
  std::vector<const clang::Stmt*> body;
};

/// True when nothing behind this statement is reached.
bool always_leaves(const clang::Stmt* stmt) {
  if (const auto* compound = llvm::dyn_cast<clang::CompoundStmt>(stmt))
    return !compound->body_empty() && always_leaves(compound->body_back());
  return llvm::isa<clang::BreakStmt>(stmt) || llvm::isa<clang::ContinueStmt>(stmt) ||
         llvm::isa<clang::ReturnStmt>(stmt);
}

bool has_label_inside(const clang::Stmt* stmt) {
  if (stmt == nullptr || llvm::isa<clang::SwitchStmt>(stmt)) return false;
  if (llvm::isa<clang::SwitchCase>(stmt)) return true;
  for (const clang::Stmt* child : stmt->children())
    if (has_label_inside(child)) return true;
  return false;
}

}  // namespace

void Walker::switch_statement(const clang::SwitchStmt* stmt) {
  const clang::SourceLocation where = stmt->getSwitchLoc();
  if (stmt->getInit() != nullptr) statement(stmt->getInit());
  if (stmt->getConditionVariable() != nullptr) local_variable(stmt->getConditionVariable());
  Expr value = expression(stmt->getCond());
  if (!value.type.is_scalar() || codegen::is_floating(value.type.dtype))
    refuse(stmt->getCond(), "a switch over something that is no integer", "switch over an int or an enum");
  value = snapshot(convert(std::move(value), DType::Int64, where), "chosen", where);

  const auto* body = llvm::dyn_cast<clang::CompoundStmt>(stmt->getBody());
  if (body == nullptr) refuse(where, "a switch without braces", "write switch (x) { case ...: ... }");
  std::vector<Segment> segments;
  for (const clang::Stmt* part : body->body()) {
    bool fresh = true;
    while (const auto* label = llvm::dyn_cast<clang::SwitchCase>(part)) {
      if (fresh) segments.emplace_back();
      fresh = false;
      if (const auto* one = llvm::dyn_cast<clang::CaseStmt>(label)) {
        const llvm::APSInt low = one->getLHS()->EvaluateKnownConstInt(context_);
        segments.back().labels.emplace_back(
            low, one->getRHS() == nullptr ? low : one->getRHS()->EvaluateKnownConstInt(context_));
      } else {
        segments.back().is_default = true;
      }
      part = label->getSubStmt();
    }
    if (has_label_inside(part))
      refuse(part->getBeginLoc(), "a case label inside another statement",
             "put the labels directly into the switch");
    if (segments.empty()) {
      if (llvm::isa<clang::DeclStmt>(part))
        refuse(part->getBeginLoc(), "a declaration in front of the first case",
               "move it in front of the switch");
      continue;  // never reached
    }
    segments.back().body.push_back(part);
  }

  const auto matches = [&](const Segment& segment) {
    std::optional<Expr> result;
    for (const auto& [low, high] : segment.labels) {
      Expr test = make(Op::Eq, Type::scalar(DType::Bool), {value, int64(low.getExtValue(), where)}, where);
      if (low != high) {
        Expr fixed = boolean(false, where);
        test =
            make(Op::Conditional, Type::scalar(DType::Bool),
                 {make(Op::Ge, Type::scalar(DType::Bool), {value, int64(low.getExtValue(), where)}, where),
                  make(Op::Le, Type::scalar(DType::Bool), {value, int64(high.getExtValue(), where)}, where),
                  fixed},
                 where);
      }
      result = result ? make(Op::LogicalOr, Type::scalar(DType::Bool), {std::move(*result), std::move(test)},
                             where)
                      : std::move(test);
    }
    return result;
  };
  // default: none of the labels anywhere in the switch.
  const auto no_label = [&] {
    std::optional<Expr> any;
    for (const Segment& segment : segments)
      if (auto some = matches(segment))
        any = any ? make(Op::LogicalOr, Type::scalar(DType::Bool), {std::move(*any), std::move(*some)}, where)
                  : std::move(*some);
    return any ? negate(std::move(*any)) : boolean(true, where);
  };

  bool falls_through = false;
  for (std::size_t i = 0; i + 1 < segments.size(); ++i)
    falls_through = falls_through || segments[i].body.empty() || !always_leaves(segments[i].body.back());

  Statement block;
  block.kind = StatementKind::Block;
  block.location = location(where);
  block.block = next_block_++;
  codegen::VariableId entered = codegen::no_variable;
  Statements* const outer = current_;
  if (falls_through) {
    entered = add_variable("entered", Type::scalar(DType::Bool), VariableKind::Local, where);
    emit_assign(entered, boolean(false, where), where);
  }
  current_ = &block.body;
  break_targets_.push_back(block.block);
  for (const Segment& segment : segments) {
    Statement branch;
    branch.kind = StatementKind::If;
    branch.location = segment.body.empty() ? location(where) : location(segment.body.front()->getBeginLoc());
    std::optional<Expr> test = matches(segment);
    if (segment.is_default) {
      Expr none = no_label();
      test = test ? make(Op::LogicalOr, Type::scalar(DType::Bool), {std::move(*test), std::move(none)}, where)
                  : std::move(none);
    }
    if (falls_through)
      test =
          make(Op::LogicalOr, Type::scalar(DType::Bool), {variable(entered, where), std::move(*test)}, where);
    branch.value = std::move(*test);
    current_ = &branch.body;
    if (falls_through) emit_assign(entered, boolean(true, where), where);
    for (const clang::Stmt* part : segment.body) statement(part);
    current_ = &block.body;
    emit(std::move(branch));
  }
  break_targets_.pop_back();
  current_ = outer;
  emit(std::move(block));
}

}  // namespace trilith::capture
