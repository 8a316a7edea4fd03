// A mistake in a kernel is reported at its line, in the same words by compile(), by a compiled run and natively.
#include "captured/agree.hpp"

using captured_test::Any;
using captured_test::Out;
using support::contains;
using support::message_of;

namespace {

using Int = pl::Scalar<std::int32_t>;
using Erased = pl::Tensor<>;
using Integers = pl::Tensor<std::int32_t>;

struct Messages {
  std::string compiled, run, natively;
};

/// What the three say of kernel(arguments...). The column is the compiler's: it is left out.
template <class E, class Kernel, class... Arguments>
Messages messages(const Kernel& kernel, Arguments&&... arguments) {
  const auto place = [](std::string text) {
    // "file:line:column: words"
    const std::size_t words = text.find(": ");
    const std::size_t column = text.rfind(':', words - 1);
    return words == std::string::npos || column == std::string::npos
               ? text
               : text.substr(0, column) + text.substr(words);
  };
  Messages result;
  {
    const support::Jit jit;
    result.compiled = place(message_of<E>([&] { (void)kernel.compile(arguments...); }));
    result.run = place(message_of<E>([&] { kernel(arguments...); }));
  }
  const support::Eager eager;
  result.natively = place(message_of<E>([&] { kernel(arguments...); }));
  return result;
}

/// All three refuse, with this text, at this line of this file.
void check_all(const Messages& given, int line, const std::string& text) {
  const std::string start = std::string(__FILE__) + ":" + std::to_string(line) + ": ";
  CHECK(given.compiled == given.run);
  CHECK(given.compiled == given.natively);
  CHECK(contains(given.compiled, text));
  CHECK(contains(given.compiled, start.substr(start.rfind('/') + 1)));
}
/// Compiles, and both runs refuse.
void check_runs(const Messages& given, int line, const std::string& text) {
  const std::string start = std::string(__FILE__) + ":" + std::to_string(line) + ": ";
  CHECK(given.compiled == "");
  CHECK(given.run == given.natively);
  CHECK(contains(given.run, text));
  CHECK(contains(given.run, start.substr(start.rfind('/') + 1)));
}

}  // namespace

TEST_CASE("shapes that do not broadcast: operators, named operations, compound assignment") {
  auto add = pl::jit.incore([](Any x, Any z, Out y) { y = pl::store(pl::load(x) + pl::load(z), y); });
  const int add_line = __LINE__ - 1;
  auto named = pl::jit.incore([](Any x, Any z, Out y) {
    auto t = pl::load(x);
    y = pl::store(pl::maximum(t, pl::load(z)), y);
  });
  const int named_line = __LINE__ - 2;
  auto compound = pl::jit.incore([](Any x, Any z, Out y) {
    auto t = pl::load(x);
    t += pl::load(z);
    y = pl::store(t, y);
  });
  const int compound_line = __LINE__ - 3;
  auto x = support::numbers({4, 8}), z = support::numbers({4, 3});
  pl::Array<float> y({4, 8});
  const std::string words =
      ": shapes [4, 8] and [4, 3] do not broadcast: axis 1 has 8 and 3; extents must be equal or 1";
  check_all(messages<pl::ShapeError>(add, x, z, y), add_line, "add" + words);
  check_all(messages<pl::ShapeError>(named, x, z, y), named_line, "maximum" + words);
  check_all(messages<pl::ShapeError>(compound, x, z, y), compound_line, "add" + words);
}

TEST_CASE("dtypes that are mixed, and constants that a dtype cannot hold") {
  auto mixed = pl::jit.incore([](Erased x, Erased z, Out y) {
    auto t = pl::load(x) * pl::load(z);
    y = pl::store(pl::cast<float>(t), y);
  });
  const int mixed_line = __LINE__ - 3;
  auto half = pl::jit.incore([](Erased x, Out y) {
    auto t = pl::load(x) * 0.5;
    y = pl::store(pl::cast<float>(t), y);
  });
  const int half_line = __LINE__ - 3;
  auto large = pl::jit.incore([](Integers x, Out y) {
    auto t = pl::load(x) + 3000000000;
    y = pl::store(pl::cast<float>(t), y);
  });
  const int large_line = __LINE__ - 3;
  auto x = support::numbers({4});
  pl::Array<std::int32_t> i({4}, 1);
  pl::Array<float> y({4});
  check_all(messages<pl::DtypeError>(mixed, x, i, y), mixed_line,
            "mul: the operands are float and int32, and dtypes are not mixed; convert one with "
            "pl::cast<float>(...)");
  check_all(messages<pl::DtypeError>(half, i, y), half_line,
            "mul: the floating constant 0.5 stands beside int32");
  check_all(messages<pl::DtypeError>(large, i, y), large_line,
            "add: the integer constant 3000000000 stands beside int32");
}

TEST_CASE("x[i] with an index that only the run knows is told as an index") {
  auto load = pl::jit.incore([](Any x, Out y, Int i) { y = pl::store(pl::load(x[i]), y); });
  const int load_line = __LINE__ - 1;
  auto store = pl::jit.incore([](Any x, Out y, Int i) { pl::store(pl::load(x[0]), y[i]); });
  const int store_line = __LINE__ - 1;
  auto inner = pl::jit.incore([](Any x, Out y, Int i) { y = pl::store(pl::load(x[1][i], {0}, {8}), y); });
  const int inner_line = __LINE__ - 1;
  auto x = support::numbers({4, 8}), deep = support::numbers({2, 3, 8});
  pl::Array<float> y({8}), rows({4, 8});
  check_runs(messages<pl::ShapeError>(load, x, y, 4), load_line,
             "x[i]: index 4 is outside axis 0, whose extent is 4; positions count from 0");
  check_runs(messages<pl::ShapeError>(load, x, y, -1), load_line,
             "x[i]: index -1 is outside axis 0, whose extent is 4");
  check_runs(messages<pl::ShapeError>(store, x, rows, 7), store_line,
             "x[i]: index 7 is outside axis 0, whose extent is 4");
  check_runs(messages<pl::ShapeError>(inner, deep, y, 3), inner_line,
             "x[i]: index 3 is outside axis 0, whose extent is 3");
}

TEST_CASE("regions, positions and slices that are provably outside") {
  auto load = pl::jit.incore([](Any x, Out y) { y = pl::store(pl::load(x, {2, 0}, {4, 8}), y); });
  const int load_line = __LINE__ - 1;
  auto rank = pl::jit.incore([](Any x, Out y) { y = pl::store(pl::load(x, {0}, {4}), y); });
  const int rank_line = __LINE__ - 1;
  auto index = pl::jit.incore([](Any x, Out y) { pl::store(pl::load(x[4]), y[0]); });
  const int index_line = __LINE__ - 1;
  auto slice = pl::jit.incore([](Any x, Out y) { y = pl::store(pl::load(x.slice({3, 0}, {2, 8})), y); });
  const int slice_line = __LINE__ - 1;
  auto store = pl::jit.incore([](Any x, Out y) { y = pl::store(pl::load(x), {0, 1}, y); });
  const int store_line = __LINE__ - 1;
  auto annotated = pl::jit.incore([](Any x, Out y) {
    pl::Tensor<float, 4, 7> view = x;
    y = pl::store(pl::load(view), y);
  });
  const int annotated_line = __LINE__ - 3;
  auto x = support::numbers({4, 8});
  pl::Array<float> y({4, 8});
  check_all(messages<pl::ShapeError>(load, x, y), load_line,
            "load: offset 2 with extent 4 on axis 0 is not inside the tensor, whose extent is 4");
  check_all(messages<pl::ShapeError>(rank, x, y), rank_line,
            "load: the tensor has rank 2, but 1 offsets and a shape of rank 1 are given");
  check_all(messages<pl::ShapeError>(index, x, y), index_line,
            "x[i]: index 4 is outside axis 0, whose extent is 4; positions count from 0");
  check_all(messages<pl::ShapeError>(slice, x, y), slice_line,
            "slice: offset 3 with extent 2 on axis 0 is not inside the tensor, whose extent is 4");
  check_all(messages<pl::ShapeError>(store, x, y), store_line,
            "store: offset 1 with extent 8 on axis 1 is not inside the tensor, whose extent is 8");
  check_all(messages<pl::ShapeError>(annotated, x, y), annotated_line,
            "a tensor float[4, 8] was given where the annotation says float[4, 7]");
}

TEST_CASE("regions that the run finds outside, and a step that it finds to be 0") {
  auto load =
      pl::jit.incore([](Any x, Out y, Int n) { y = pl::store(pl::load(x, {n, 0}, {2, 8}), {0, 0}, y); });
  const int load_line = __LINE__ - 1;
  auto store =
      pl::jit.incore([](Any x, Out y, Int n) { y = pl::store(pl::load(x, {0, 0}, {2, 8}), {n, 0}, y); });
  const int store_line = __LINE__ - 1;
  auto step = pl::jit.incore([](Any x, Out y, Int n) {
    for (auto i : pl::range(0, 4, n)) y = pl::store(pl::load(x, {i, 0}, {1, 8}), {i, 0}, y);
  });
  const int step_line = __LINE__ - 2;
  auto x = support::numbers({4, 8});
  pl::Array<float> y({4, 8});
  check_runs(messages<pl::ShapeError>(load, x, y, 3), load_line,
             "load: offset 3 with extent 2 on axis 0 is not inside the tensor, whose extent is 4");
  check_runs(messages<pl::ShapeError>(load, x, y, -1), load_line,
             "load: offset -1 with extent 2 on axis 0 is not inside the tensor, whose extent is 4");
  check_runs(messages<pl::ShapeError>(store, x, y, 3), store_line,
             "store: offset 3 with extent 2 on axis 0 is not inside the tensor, whose extent is 4");
  check_runs(messages<pl::UserError>(step, x, y, 0), step_line, "the step of this loop is 0");
}

TEST_CASE("a constant region that cannot fit is no error where it never runs, and a fault where it does") {
  auto loop = pl::jit.incore([](Any x, Out y, Int n) {
    y = pl::store(pl::load(x), y);
    for (auto i : pl::range(n)) y = pl::store(pl::load(x, {3, 0}, {2, 8}) + static_cast<float>(i), {0, 0}, y);
  });
  const int loop_line = __LINE__ - 2;
  auto branch = pl::jit.incore([](Any x, Out y, Int n) {
    y = pl::store(pl::load(x), y);
    if (n < 1) return;
    auto t = pl::load(x[5]);
    pl::store(t, y[0]);
  });
  auto x = support::numbers({4, 8});
  pl::Array<float> y({4, 8});
  CHECK(captured_test::agrees(loop, {4, 8}, 0));
  CHECK(captured_test::agrees(branch, {4, 8}, 0));
  check_runs(messages<pl::ShapeError>(loop, x, y, 1), loop_line,
             "load: offset 3 with extent 2 on axis 0 is not inside the tensor, whose extent is 4");
  const Messages found = messages<pl::ShapeError>(branch, x, y, 1);
  CHECK(found.compiled == "");
  CHECK(contains(found.run, "errors_test.cpp:"));
  CHECK(contains(found.natively, "errors_test.cpp:"));
}

TEST_CASE("x[i] outside the tensor names its line also outside of kernels") {
  auto x = support::numbers({4, 8});
  const pl::Tensor<float> view = x.view();
  const std::string message = message_of<pl::ShapeError>([&] { (void)view[4]; });
  CHECK(contains(message, "errors_test.cpp:" + std::to_string(__LINE__ - 1)));
  CHECK(contains(message, "x[i]: index 4 is outside axis 0, whose extent is 4"));
}

TEST_CASE("in place: a native run allows what compiled code allows, and no more") {
  auto elementwise = pl::jit.incore([](Any x, Out y) { y = pl::store(pl::load(x) * 2.0f, y); });
  auto shifting = pl::jit.incore([](Any x, Out y) {
    y = pl::store(pl::load(x, {0}, {3}), {1}, y);
    y = pl::store(pl::load(x, {3}, {1}), {0}, y);
  });
  for (const bool natively : {false, true}) {
    CAPTURE(natively);
    pl::RunConfig config = support::cached();
    config.eager = natively;
    const pl::Context context(config);
    const pl::ContextScope scope(context);
    auto memory = support::numbers({4});
    elementwise(memory, memory);
    CHECK(memory(3) == 6.0f);
    const std::string message = message_of<pl::ShapeError>([&] { shifting(memory, memory); });
    CHECK(contains(message, "this kernel is not elementwise in it, so it cannot run in place"));
    CHECK(memory(3) == 6.0f);
  }
}

TEST_CASE(
    "extents of one name that differ: the arguments are called by their names, natively and at the first "
    "call") {
  static constexpr auto N = pl::dynamic("N");
  const auto copy = pl::jit.incore([](pl::Tensor<float, N> from, pl::Out<pl::Tensor<float, N>> to) {
    to = pl::store(pl::load(from), to);
  });
  const pl::Array<float> from({3});
  pl::Array<float> to({2});
  const std::string expected =
      "the extent \"N\" is 3 in from (float[3]) (axis 0) and 2 in to (float[2]) (axis 0); all uses of one "
      "name "
      "must agree";
  {
    const support::Eager eager;
    CHECK(contains(message_of<pl::ShapeError>([&] { copy(from, to); }), expected));
  }
  const support::Jit jit;
  CHECK(contains(message_of<pl::ShapeError>([&] { copy(from, to); }), expected));
}
