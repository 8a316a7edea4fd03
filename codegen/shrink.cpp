#include "codegen/shrink.hpp"

#include <utility>

namespace trilith::codegen {
namespace {

class Shrinker {
 public:
  Shrinker(Kernel kernel, const std::function<bool(const Kernel&)>& fails, int attempts)
      : kernel_(std::move(kernel)), fails_(fails), attempts_(attempts) {}

  Kernel run() {
    // Whole statements first: each that goes saves the trials within it.
    while (attempts_ > 0 && (shrink_list(kernel_.body) || shrink_operands(kernel_.body))) {
    }
    return std::move(kernel_);
  }

 private:
  /// Keeps what `change` did to the kernel if it still fails.
  template <class Part, class Change>
  bool attempt(Part& part, const Change& change) {
    if (attempts_-- <= 0) return false;
    Part before = part;
    change(part);
    if (fails_(kernel_)) return true;
    part = std::move(before);
    return false;
  }

  bool shrink_list(std::vector<Statement>& list) {
    bool any = false;
    // From the end: what is last is used by nothing.
    for (std::size_t i = list.size(); i-- > 0;) {
      if (attempt(list, [&](auto& kept) { kept.erase(kept.begin() + static_cast<std::ptrdiff_t>(i)); })) {
        any = true;
        continue;
      }
      const bool replaced = replace_by_body(list, i);
      any = any || replaced;
      if (replaced) continue;
      for (auto member : {&Statement::body, &Statement::else_body})
        if (!(list[i].*member).empty()) any = shrink_list(list[i].*member) || any;
    }
    return any;
  }

  /// A branch, loop or block gives way to its statements.
  bool replace_by_body(std::vector<Statement>& list, std::size_t i) {
    for (auto member : {&Statement::body, &Statement::else_body}) {
      if ((list[i].*member).empty()) continue;
      if (attempt(list, [&](auto& kept) {
            const std::vector<Statement> inner = kept[i].*member;
            kept.erase(kept.begin() + static_cast<std::ptrdiff_t>(i));
            kept.insert(kept.begin() + static_cast<std::ptrdiff_t>(i), inner.begin(), inner.end());
          }))
        return true;
    }
    return false;
  }

  bool shrink_operands(std::vector<Statement>& list) {
    bool any = false;
    for (Statement& statement : list) {
      any = shrink_expression(statement.value) || any;
      for (auto member : {&Statement::body, &Statement::else_body})
        any = shrink_operands(statement.*member) || any;
    }
    return any;
  }

  /// An operation gives way to one of its operands.
  bool shrink_expression(Expr& expr) {
    bool any = false;
    for (bool again = true; again;) {
      again = false;
      if (expr.op == Op::Load || expr.op == Op::List || operation(expr.op).group == Group::Remote) break;
      const std::size_t skip = expr.op == Op::Store ? expr.operands.size() : 0;
      for (std::size_t i = skip; i < expr.operands.size() && !again; ++i)
        again = attempt(expr, [&](Expr& kept) {
          Expr operand = kept.operands[i];
          kept = std::move(operand);
        });
      any = any || again;
    }
    for (Expr& operand : expr.operands) any = shrink_expression(operand) || any;
    return any;
  }

  Kernel kernel_;
  const std::function<bool(const Kernel&)>& fails_;
  int attempts_;
};

}  // namespace

Kernel shrink(Kernel kernel, const std::function<bool(const Kernel&)>& fails, int attempts) {
  return Shrinker(std::move(kernel), fails, attempts).run();
}

}  // namespace trilith::codegen
