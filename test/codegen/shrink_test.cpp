#include "codegen/shrink.hpp"
#include "codegen/random_program.hpp"

#include <doctest/doctest.h>

#include <set>

using namespace trilith::codegen;

namespace {

bool uses(const Expr& expr, Op op) {
  if (expr.op == op) return true;
  for (const Expr& operand : expr.operands)
    if (uses(operand, op)) return true;
  return false;
}

bool uses(const std::vector<Statement>& list, Op op) {
  for (const Statement& statement : list)
    if (uses(statement.value, op) || uses(statement.body, op) || uses(statement.else_body, op)) return true;
  return false;
}

std::size_t size(const std::vector<Statement>& list) {
  std::size_t result = list.size();
  for (const Statement& statement : list) result += size(statement.body) + size(statement.else_body);
  return result;
}

}  // namespace

TEST_CASE("a failing kernel shrinks to the statement that fails") {
  int shrunk = 0;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    const Kernel kernel = random_kernel(seed);
    if (!uses(kernel.body, Op::Square)) continue;
    ++shrunk;
    const Kernel small =
        shrink(kernel, [](const Kernel& candidate) { return uses(candidate.body, Op::Square); });
    CHECK(uses(small.body, Op::Square));
    CHECK(size(small.body) == 1);
    CHECK(small.parameters.size() == kernel.parameters.size());
  }
  CHECK(shrunk > 5);
}

TEST_CASE("neighbouring seeds give programs of their own") {
  // Operations and tensors, but no extents: a stream that only moves by one number has the same shape.
  std::set<std::vector<int>> different;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    std::vector<int> shape;
    const Kernel kernel = random_kernel(seed);
    for (const Statement& statement : kernel.body) shape.push_back(static_cast<int>(statement.value.op));
    shape.push_back(static_cast<int>(kernel.parameters.size()));
    different.insert(shape);
  }
  CHECK(different.size() > 90);
}
