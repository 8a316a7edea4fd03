// Tasks in awkward processes: forks, contexts that end at once, exit, and processes that need no pool.
#include "child.hpp"
#include "runtime/core_pool.hpp"
#include "support.hpp"

#include <fstream>
#include <iterator>

using support::child_succeeds;
using support::contains;
using support::numbers;
using support::run_case;

namespace {

using Any = pl::Tensor<float>;
using AnyOut = pl::Out<Any>;

auto copy = pl::jit.incore([](Any x, AnyOut y) { (void)pl::store(pl::load(x), y); });
auto rows = pl::jit([](Any x, AnyOut y) {
  for (int row = 0; row < 8; ++row) copy(x[row], y[row]);
});
auto chain = pl::jit([](Any x, AnyOut y) {
  copy(x, y);
  copy(x, y);
});

template <class Entry>
bool runs(const Entry& entry) {
  auto x = numbers({8, 4});
  pl::Array<float> y({8, 4});
  entry(x.view(), AnyOut(y.view()));
  return y(7, 3) == x(7, 3) && y(0, 1) == x(0, 1);
}

bool is_mapped(const std::string& library) {
  std::ifstream maps("/proc/self/maps");
  return contains({std::istreambuf_iterator<char>(maps), {}}, library);
}

}  // namespace

TEST_CASE("fork after tasks have run on several cores: the child runs tasks, and so does the parent") {
  const support::Eager eager;
  CHECK(runs(rows));
  CHECK(pl::detail::core_pool_is_open());
  CHECK(child_succeeds([] { return runs(rows) && runs(chain); }));
  CHECK(runs(rows));
}

TEST_CASE("contexts may end right after parallel tasks, two hundred times") {
  for (int round = 0; round < 200; ++round) {
    const support::Eager eager;
    auto host = pl::jit.host([](Any x, AnyOut y) { rows(x, y, pld::device = 0); });
    auto x = numbers({8, 4});
    pl::Array<float> y({8, 4});
    host(x, y);
    REQUIRE(y(7, 3) == x(7, 3));
  }
}

TEST_CASE("a process whose tasks follow one another loads no thread pool") {
  CHECK(run_case("child: tasks one after the other", "env TRILITH_EAGER=1") == 0);
}

TEST_CASE("child: tasks one after the other" * doctest::skip()) {
  auto x = numbers({4});
  pl::Array<float> y({4});
  copy(x, y);
  CHECK(runs(chain));
  CHECK_FALSE(pl::detail::core_pool_is_open());
  CHECK_FALSE(is_mapped("libtbb"));
  CHECK(runs(rows));
  CHECK(pl::detail::core_pool_is_open());
  CHECK(is_mapped("trilith-cores"));
}

TEST_CASE("tasks of static and leaked contexts, also while the process ends: it ends with 0") {
  CHECK(run_case("child: tasks until the end", "env TRILITH_EAGER=1") == 0);
}

TEST_CASE("child: tasks until the end" * doctest::skip()) {
  struct RunsAtExit {
    ~RunsAtExit() {
      if (!runs(rows)) std::abort();
    }
  };
  static const RunsAtExit at_exit;
  static const pl::Context static_context;
  static const pl::Context& leaked = *new pl::Context;
  for (const pl::Context* context : {&static_context, &leaked}) {
    const pl::ContextScope scope(*context);
    CHECK(runs(rows));
  }
}
