// Stores of one kernel to one place: the pipe that moves out may overlap them unless a barrier stands between, and stores
// that cannot meet have none.
#include "ascendc/emitted.hpp"
#include "ascendc/on_model.hpp"

#include <doctest/doctest.h>

#include <functional>

using namespace ascendc_test;
using namespace emitter_test;
using namespace trilith::codegen::build;

namespace {

const Options plain{.special_values = false};
constexpr std::int64_t size = 1024, width = 64;
constexpr const char* barrier = "PipeBarrier<PIPE_MTE3>";

using Body = std::function<void(KernelBuilder&, const Expr& x, const Expr& y)>;

Kernel kernel_of(const Body& body) {
  KernelBuilder k("stores");
  const Expr x = k.tensor("x", Access::In, DType::Float32);
  const Expr y = k.tensor("y", Access::InOut, DType::Float32);
  body(k, x, y);
  return k.take();
}

/// Right on the model, which faults where stores may overlap; returns whether a barrier orders them.
bool is_ordered(const Body& body) {
  const Kernel kernel = kernel_of(body);
  agrees(kernel, {TensorSpec{{size}}, TensorSpec{{size}}}, plain);
  return emit(kernel, {{.extents = {size}}, {.extents = {size}}}).text.find(barrier) != std::string::npos;
}

/// x moved by `step` elements a turn, into y at a multiple of the turn.
Body moved_in_turns(std::int64_t factor, std::int64_t step, bool computes = true) {
  return [=](KernelBuilder& k, const Expr& x, const Expr& y) {
    k.for_("i", 0, 8 * step, step, [&](const Expr& i) {
      const Expr tile = load(x, {i * integer(16)}, {width});
      k.store(computes ? tile + literal(1) : tile, {i * integer(factor)}, y);
    });
  };
}

}  // namespace

TEST_CASE("A loop that stores to one place again waits for the store of the turn before") {
  CHECK(is_ordered(moved_in_turns(0, 1)));
  CHECK(is_ordered(moved_in_turns(0, 1, false)));
  CHECK(is_ordered([](KernelBuilder& k, const Expr& x, const Expr& y) {
    const Expr tile = k.let("tile", load(x, {0}, {width}) + literal(1));
    k.for_("i", 0, 8, 1, [&](const Expr& i) { k.store(tile, {i * integer(16)}, y); });
  }));
}

TEST_CASE("A loop whose stores overlap in part waits, one whose stores lie side by side does not") {
  CHECK(is_ordered(moved_in_turns(width - 1, 1)));
  CHECK_FALSE(is_ordered(moved_in_turns(width, 1)));
  CHECK(is_ordered(moved_in_turns(width / 2 - 1, 2)));
  CHECK_FALSE(is_ordered(moved_in_turns(width / 2, 2)));
  CHECK_FALSE(is_ordered(moved_in_turns(width, 1, false)));
}

TEST_CASE("What is left behind a loop's whole tiles lies behind all that the loop stores") {
  const auto rest = [](std::int64_t at) {
    return [=](KernelBuilder& k, const Expr& x, const Expr& y) {
      k.for_("i", 0, 4, 1, [&](const Expr& i) {
        k.store(load(x, {i * integer(width)}, {width}) + literal(1), {i * integer(width)}, y);
      });
      k.store(load(x, {at}, {11}) + literal(1), {at}, y);
    };
  };
  CHECK_FALSE(is_ordered(rest(4 * width)));
  CHECK(is_ordered(rest(4 * width - 1)));
}

TEST_CASE("Stores that go backwards, or by a number that a turn computes, are known to lie side by side") {
  CHECK_FALSE(is_ordered([](KernelBuilder& k, const Expr& x, const Expr& y) {
    k.for_("i", 0, 8, 1, [&](const Expr& i) {
      const Expr at = k.let("at", integer(512) - i * integer(width));
      k.store(load(x, {at}, {width}) + literal(1), {at}, y);
    });
  }));
}

TEST_CASE("Two loops around a store that takes turns of both meets itself, rows and columns do not") {
  const auto both = [](std::int64_t outer, std::int64_t inner) {
    return [=](KernelBuilder& k, const Expr& x, const Expr& y) {
      k.for_("i", 0, 3, 1, [&](const Expr& i) {
        k.for_("j", 0, 3, 1, [&](const Expr& j) {
          const Expr at = i * integer(outer) + j * integer(inner);
          k.store(load(x, {j * integer(width)}, {width}) + cast(DType::Float32, i), {at}, y);
        });
      });
    };
  };
  // (0, 1) and (1, 0) are one place.
  CHECK(is_ordered(both(width, width)));
  const auto by_axes = [](KernelBuilder& k, const Expr& x, const Expr& y) {
    k.for_("i", 0, 4, 1, [&](const Expr& i) {
      k.for_("j", 0, 4, 1, [&](const Expr& j) {
        k.store(load(x, {i, j * integer(16)}, {1, 16}) + literal(1), {i, j * integer(16)}, y);
      });
    });
  };
  const Kernel kernel = kernel_of(by_axes);
  agrees(kernel, {TensorSpec{{4, 64}}, TensorSpec{{4, 64}}}, plain);
  CHECK(emit(kernel, {{.extents = {4, 64}}, {.extents = {4, 64}}}).text.find(barrier) == std::string::npos);
}

TEST_CASE("Two stores that overlap are in order, two halves and two sums are not") {
  const auto pair = [](std::int64_t second, Atomic atomic) {
    return [=](KernelBuilder& k, const Expr& x, const Expr& y) {
      k.for_("i", 0, 2, 1, [&](const Expr&) {
        k.store(load(x, {0}, {width}), {0}, y, atomic);
        k.store(load(x, {width}, {width}), {second}, y, atomic);
      });
    };
  };
  CHECK(is_ordered(pair(width / 2, Atomic::None)));
  CHECK_FALSE(is_ordered(pair(width / 2, Atomic::Add)));
  const auto halves = [](KernelBuilder& k, const Expr& x, const Expr& y) {
    k.for_("i", 0, 4, 1, [&](const Expr& i) {
      const Expr tile = k.let("tile", load(x, {i, 0}, {1, 32}));
      k.store(tile + literal(1), {i, 0}, y);
      k.store(tile * literal(2), {i, 32}, y);
    });
  };
  const Kernel kernel = kernel_of(halves);
  agrees(kernel, {TensorSpec{{4, 64}}, TensorSpec{{4, 64}}}, plain);
  CHECK(emit(kernel, {{.extents = {4, 64}}, {.extents = {4, 64}}}).text.find(barrier) == std::string::npos);
}

TEST_CASE("A while loop's stores wait, whatever its counter says") {
  CHECK(is_ordered([](KernelBuilder& k, const Expr& x, const Expr& y) {
    const Expr i = k.let("i", integer(0));
    k.while_(i < integer(4), [&] {
      k.store(load(x, {i * integer(width)}, {width}), {i * integer(width)}, y);
      k.assign(i, i + integer(1));
    });
  }));
}
