// The runtime in awkward processes: forks, exit with kernels in static objects, no JIT, no cache folder.
// Cases named "child: …" are skipped here and run in a process of their own.
#include "child.hpp"
#include "hand_captured.hpp"
#include "runtime/backend.hpp"
#include "support.hpp"

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <optional>
#include <thread>

using support::child_succeeds;
using support::contains;
using support::hand_kernel;
using support::Jit;
using support::LogLines;
using support::numbers;
using support::run_case;

namespace build = trilith::codegen::build;
using trilith::codegen::Access;
using trilith::codegen::DType;
using trilith::codegen::Op;

namespace {

using Any = pl::Tensor<float>;
constexpr auto NR = pl::dynamic("NR");
using Rows = pl::Tensor<float, NR, 4>;

auto scale_any() {
  build::KernelBuilder k("scale");
  auto x = k.tensor("x", Access::In, DType::Float32);
  auto y = k.tensor("y", Access::Out, DType::Float32);
  auto s = k.scalar("s", DType::Float32);
  auto t = k.let("t", build::load(x));
  k.store(build::call(Op::Mul, {t, s}), {}, y);
  return hand_kernel([](Any a, pl::Out<Any> b, pl::Scalar<float> f) { (void)pl::store(pl::load(a) * f, b); },
                     k.take());
}
using ScaleKernel = decltype(scale_any());

/// Calls the kernel with n elements; true when the numbers are right.
bool scales(const ScaleKernel& kernel, int n) {
  auto x = numbers({n});
  pl::Array<float> y({n});
  kernel(x, y, 2.0f);
  for (int i = 0; i < n; ++i)
    if (y(i) != 2.0f * x(i)) return false;
  return true;
}

/// Runs a program on two devices; true when the numbers are right.
bool runs_program(const ScaleKernel& kernel, pl::RunConfig config) {
  auto device = pl::jit([&](auto a, auto b, auto rank) { kernel(a, b, static_cast<float>(rank + 1)); });
  auto host = pl::jit.host([&](Rows a, pl::Out<Rows> b) {
    for (auto r : pl::range(pld::world_size())) device(a[r], b[r], r, pld::device = r);
  });
  auto x = numbers({2, 4});
  pl::Array<float> y({2, 4});
  config.distributed.device_ids = {0, 1};
  host(x, y, config);
  return y(1, 3) == 2.0f * x(1, 3) && y(0, 3) == x(0, 3);
}

}  // namespace

TEST_CASE("fork before the first use: parent and child both compile and run") {
  const Jit jit;
  auto kernel = scale_any();
  CHECK(child_succeeds([&] { return scales(kernel, 8); }));
  CHECK(scales(kernel, 8));
}

TEST_CASE("fork after a compile and after devices have run: the child compiles and runs a program") {
  const Jit jit;
  auto kernel = scale_any();
  CHECK(scales(kernel, 8));
  CHECK(runs_program(kernel, jit.context.config()));
  CHECK(child_succeeds(
      [&] { return scales(kernel, 8) && scales(kernel, 9) && runs_program(kernel, jit.context.config()); }));
  CHECK(runs_program(kernel, jit.context.config()));
}

TEST_CASE("fork while other threads call kernels: the child compiles and runs") {
  const Jit jit;
  auto kernel = scale_any();
  std::atomic<bool> end{false};
  std::thread busy([&] {
    const pl::ContextScope scope(jit.context);
    for (int n = 1; !end; n = n % 5 + 1) (void)scales(kernel, n);
  });
  CHECK(scales(kernel, 3));
  const bool right =
      child_succeeds([&] { return scales(kernel, 3) && runs_program(kernel, jit.context.config()); });
  end = true;
  busy.join();
  CHECK(right);
}

TEST_CASE("kernels and contexts in static objects, thread_local and leaked ones: the process ends with 0") {
  CHECK(run_case("child: kernels everywhere at exit", "env TRILITH_CACHE_DIR=" + support::shared_cache()) ==
        0);
}

TEST_CASE("child: kernels everywhere at exit" * doctest::skip()) {
  static std::optional<ScaleKernel> kernel_before;  // destroyed after the contexts below
  static pl::Context static_context;
  thread_local pl::Context thread_context;
  auto* leaked = new pl::Context;
  static std::optional<ScaleKernel> kernel_after;
  kernel_before.emplace(scale_any());
  kernel_after.emplace(scale_any());
  for (const pl::Context* context : {&static_context, &thread_context, leaked}) {
    const pl::ContextScope scope(*context);
    CHECK(scales(*kernel_before, 5));
    CHECK(scales(*kernel_after, 6));
    CHECK(runs_program(*kernel_before, context->config()));
  }
  CHECK(scales(*kernel_before, 7));  // the default context
  // And one that is called while the process ends.
  struct CallsAtExit {
    ~CallsAtExit() {
      if (!scales(kernel, 8)) std::abort();
    }
    ScaleKernel kernel = scale_any();
  };
  static CallsAtExit at_exit;
}

TEST_CASE("a static object made before the first kernel may compile a new shape while the process ends") {
  CHECK(run_case("child: a shape compiled at exit", "env TRILITH_CACHE_DIR=" + support::shared_cache()) == 0);
}

TEST_CASE("child: a shape compiled at exit" * doctest::skip()) {
  // Destroyed after everything that the first compile brings into the process, and nothing has seen shape 1013.
  struct CompilesAtExit {
    ~CompilesAtExit() {
      if (!scales(kernel, 1013)) std::abort();
    }
    ScaleKernel kernel = scale_any();
  };
  static const CompilesAtExit at_exit;
  CHECK(scales(at_exit.kernel, 1009));
}

TEST_CASE("no HOME, a HOME that does not exist: kernels run from the memory cache") {
  CHECK(run_case("child: a kernel and a program", "env -u HOME -u XDG_CACHE_HOME -u TRILITH_CACHE_DIR") == 0);
  CHECK(run_case("child: a kernel and a program",
                 "env -u XDG_CACHE_HOME -u TRILITH_CACHE_DIR HOME=/proc/nonexistent") == 0);
}

TEST_CASE("TRILITH_EAGER=1 needs no compiler and compiles nothing") {
  CHECK(run_case("child: nothing is compiled", "env TRILITH_EAGER=1 PATH=") == 0);
}

TEST_CASE("child: a kernel and a program" * doctest::skip()) {
  auto kernel = scale_any();
  CHECK(scales(kernel, 8));
  CHECK(runs_program(kernel, {}));
}

TEST_CASE("child: nothing is compiled" * doctest::skip()) {
  auto kernel = scale_any();
  CHECK(scales(kernel, 8));
  CHECK(pl::statistics().eager_calls == 1);
  CHECK(pl::statistics().compiles == 0);
  std::ifstream maps("/proc/self/maps");
  const std::string text{std::istreambuf_iterator<char>(maps), {}};
  CHECK_FALSE(contains(text, "trilith-compiler"));
}

TEST_CASE("no executable memory: kernels run natively and the log says so once") {
  const LogLines lines;
  pl::detail::engine_hooks_for_tests().deny_executable_memory = true;
  const Jit jit;
  pl::detail::engine_hooks_for_tests() = {};
  auto kernel = scale_any();
  CHECK(scales(kernel, 8));
  CHECK(scales(kernel, 9));
  CHECK(jit.context.statistics().eager_calls == 2);
  CHECK(lines.count("degraded") == 1);
}

TEST_CASE("pl::configure after the first use is a ConfigError") {
  (void)pl::statistics();
  CHECK(contains(support::message_of<pl::ConfigError>([] { pl::configure({}); }), "before the first"));
}

TEST_CASE("contexts may end right after a program, two hundred times") {
  auto kernel = scale_any();
  const pl::RunConfig config = support::cached();
  for (int round = 0; round < 200; ++round) {
    const pl::Context context(config);
    const pl::ContextScope scope(context);
    REQUIRE(runs_program(kernel, config));
  }
}
