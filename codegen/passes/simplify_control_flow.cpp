#include "codegen/passes/simplify_control_flow.hpp"

#include "codegen/passes/fold.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace trilith::codegen::passes {
namespace {

using Statements = std::vector<Statement>;

/// Where control goes at the end of a list: behind that Block, to that loop's next round, or on.
struct Tail {
  enum Kind { On, Block, Round } kind = On;
  std::int32_t block = -1;
};

bool is_jump(const Statement& s) {
  return s.kind == StatementKind::Leave || s.kind == StatementKind::Break ||
         s.kind == StatementKind::Continue;
}

bool goes_to(const Statement& s, const Tail& tail) {
  return (tail.kind == Tail::Block && s.kind == StatementKind::Leave && s.block == tail.block) ||
         (tail.kind == Tail::Round && s.kind == StatementKind::Continue);
}

bool leaves(const Statements& list, std::int32_t block) {
  for (const Statement& s : list)
    if ((s.kind == StatementKind::Leave && s.block == block) || leaves(s.body, block) ||
        leaves(s.else_body, block))
      return true;
  return false;
}

void simplify(Statements& list, const Tail& tail);

/// `if (c) { a; jump-to-tail } rest` → `if (c) { a } else { rest }`, for as long as it finds one.
void nest_rest(Statements& list, const Tail& tail) {
  for (std::size_t i = 0; i + 1 < list.size(); ++i) {
    Statement& s = list[i];
    if (s.kind != StatementKind::If) continue;
    const bool then_jumps = !s.body.empty() && goes_to(s.body.back(), tail);
    const bool else_jumps = !s.else_body.empty() && goes_to(s.else_body.back(), tail);
    if (then_jumps == else_jumps) continue;
    Statements& stays = then_jumps ? s.else_body : s.body;
    if (!stays.empty() && is_jump(stays.back())) continue;
    Statements rest(std::make_move_iterator(list.begin() + static_cast<std::ptrdiff_t>(i) + 1),
                    std::make_move_iterator(list.end()));
    list.resize(i + 1);
    Statements& into = then_jumps ? list[i].else_body : list[i].body;
    for (Statement& r : rest) into.push_back(std::move(r));
    return;
  }
}

/// Opens Blocks that nothing leaves and drops empty Ifs, and what an opened Block's jump cuts off.
Statements flattened(Statements list) {
  Statements result;
  for (Statement& s : list) {
    if (s.kind == StatementKind::If && s.body.empty() && s.else_body.empty()) continue;
    if (s.kind == StatementKind::If && s.body.empty()) {
      s.body = std::move(s.else_body);
      s.else_body.clear();
      s.value = scalar_operation(Op::LogicalNot, DType::Bool, {std::move(s.value)}, s.location);
    }
    if (s.kind == StatementKind::Block && !leaves(s.body, s.block)) {
      for (Statement& inner : s.body) result.push_back(std::move(inner));
    } else {
      result.push_back(std::move(s));
    }
    if (!result.empty() && is_jump(result.back())) break;
  }
  return result;
}

void simplify(Statements& list, const Tail& tail) {
  const auto jump = std::find_if(list.begin(), list.end(), is_jump);
  if (jump != list.end()) list.erase(jump + 1, list.end());
  nest_rest(list, tail);
  for (std::size_t i = 0; i < list.size(); ++i) {
    Statement& s = list[i];
    const bool last = i + 1 == list.size();
    switch (s.kind) {
      case StatementKind::If:
        simplify(s.body, last ? tail : Tail{});
        simplify(s.else_body, last ? tail : Tail{});
        break;
      case StatementKind::For:
      case StatementKind::While: simplify(s.body, {Tail::Round, -1}); break;
      case StatementKind::Block: simplify(s.body, {Tail::Block, s.block}); break;
      default: break;
    }
  }
  if (!list.empty() && goes_to(list.back(), tail)) list.pop_back();
  list = flattened(std::move(list));
}

}  // namespace

void simplify_control_flow(Kernel& kernel) { simplify(kernel.body, {Tail::Block, 0}); }

}  // namespace trilith::codegen::passes
