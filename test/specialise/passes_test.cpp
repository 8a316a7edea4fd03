// Passes on specialised code written by hand, where the whole specialiser would hide what one of them does.
#include "codegen/passes/liveness.hpp"
#include "codegen/passes/merge_copies.hpp"
#include "codegen/passes/number_variables.hpp"
#include "codegen/passes/remove_dead_code.hpp"
#include "codegen/passes/simplify_control_flow.hpp"
#include "signatures.hpp"

#include <doctest/doctest.h>

using namespace trilith::codegen;
using namespace trilith::codegen::build;
using namespace trilith::codegen::test;

namespace {

/// Scalars and statements written by hand count as specialised: one operation a statement, types complete.
struct Code {
  KernelBuilder k{"code"};
  Expr n = k.scalar("n", DType::Int64);
  Expr a = k.local("a", Type::scalar(DType::Int64));
  Expr b = k.local("b", Type::scalar(DType::Int64));
  Expr c = k.local("c", Type::scalar(DType::Int64));

  std::string after(void (*pass)(Kernel&)) {
    Kernel kernel = k.take();
    kernel.specialised = true;
    pass(kernel);
    return body_text(kernel);
  }
};

}  // namespace

TEST_CASE("merge_copies makes a value where its only copy stands") {
  Code s;
  s.k.assign(s.a, s.n + integer(1));
  s.k.print(s.n);
  s.k.assign(s.c, s.a);
  s.k.print(s.c);
  CHECK(s.after(passes::merge_copies) == "print n\nc = n + 1\nprint c\n");
}

TEST_CASE("merge_copies keeps a value that is read again, or whose inputs change in between") {
  Code again;
  again.k.assign(again.a, again.n + integer(1));
  again.k.assign(again.c, again.a);
  again.k.print(again.a + again.c);
  CHECK(again.after(passes::merge_copies) == "a = n + 1\nc = a\nprint a + c\n");
  Code changed;
  changed.k.assign(changed.a, changed.b + integer(1));
  changed.k.if_(changed.n > integer(0), [&] { changed.k.assign(changed.b, integer(7)); });
  changed.k.assign(changed.c, changed.a);
  changed.k.print(changed.c);
  CHECK(changed.after(passes::merge_copies) == "a = b + 1\nif n > 0\n  b = 7\nc = a\nprint c\n");
}

TEST_CASE("merge_copies does not mistake a value of another list for one of its own") {
  Code s;
  s.k.assign(s.a, s.n + integer(1));
  s.k.if_(
      s.n > integer(0),
      [&] {
        s.k.assign(s.b, integer(1));
        s.k.assign(s.c, s.a);
      },
      [&] { s.k.assign(s.c, integer(2)); });
  s.k.print(s.c);
  CHECK(s.after(passes::merge_copies) == "a = n + 1\nif n > 0\n  b = 1\n  c = a\nelse\n  c = 2\nprint c\n");
}

TEST_CASE("remove_dead_code follows chains, also around a loop, and keeps what a condition needs") {
  Code s;
  s.k.assign(s.a, integer(0));
  s.k.assign(s.b, integer(0));
  s.k.for_("i", 0, s.n, 1, [&](const Expr&) {
    s.k.assign(s.a, s.a + integer(1));  // only for itself
    s.k.assign(s.b, s.b + integer(2));
  });
  s.k.assign(s.c, s.b);
  s.k.if_(s.c > integer(4), [&] { s.k.print(s.n); }, [&] { s.k.assign(s.a, integer(9)); });
  CHECK(s.after([](Kernel& kernel) { passes::remove_dead_code(kernel); }) ==
        "b = 0\nfor i in 0 .. n\n  b = b + 2\nc = b\nif c > 4\n  print n\n");
}

TEST_CASE("simplify_control_flow opens blocks, nests what follows a jump, and drops what cannot run") {
  Code s;
  s.k.block([&](std::int32_t outer) {
    s.k.block([&](std::int32_t) { s.k.print(integer(1)); });
    s.k.if_(s.n > integer(0), [&] {
      s.k.print(integer(2));
      s.k.leave(outer);
    });
    s.k.print(integer(3));
    s.k.leave(outer);
    s.k.print(integer(4));
  });
  s.k.for_("i", 0, s.n, 1, [&](const Expr& i) {
    s.k.if_(i > integer(3), [&] { s.k.continue_(); });
    s.k.print(i);
    s.k.continue_();
  });
  s.k.return_();
  CHECK(s.after(passes::simplify_control_flow) ==
        "print 1\nif n > 0\n  print 2\nelse\n  print 3\n"
        "for i in 0 .. n\n  if i <= 3\n    print i\n");
}

TEST_CASE("number_variables drops what nothing mentions and tells equal names apart") {
  Code s;
  s.k.assign(s.b, s.n);
  s.k.print(s.b);
  const Expr second = s.k.let("b", s.n + s.n);
  s.k.print(second);
  Kernel kernel = s.k.take();
  kernel.specialised = true;
  passes::number_variables(kernel);
  CHECK(kernel.variables.size() == 3);
  CHECK(body_text(kernel) == "b = n\nprint b\nb_1 = n + n\nprint b_1\n");
}

TEST_CASE("liveness: a loop's head sees its next round, a jump sees where it goes") {
  Code s;
  s.k.assign(s.a, integer(0));
  s.k.while_(
      s.n > s.a,
      [&] {
        s.k.if_(s.n > integer(9), [&] { s.k.break_(); });
        s.k.assign(s.c, integer(1));
      },
      [&] { s.k.assign(s.a, s.a + s.c); });
  s.k.print(s.b);
  const Kernel kernel = s.k.take();
  const passes::Liveness live = passes::liveness_of(kernel);
  const auto names = [&](const passes::VariableSet& set) {
    std::string text;
    for (std::size_t i = 0; i < set.size(); ++i)
      if (set[i]) text += kernel.variables[i].name;
    return text;
  };
  const Statement& loop = kernel.body[1];
  CHECK(names(live.after.at(&loop)) == "b");
  CHECK(names(live.at_head.at(&loop)) == "nab");
  CHECK(names(live.at_step.at(&loop)) == "nabc");
  CHECK(names(live.after.at(&loop.body[0].body[0])) == "nab");  // behind `break`: the statement after the if
}
