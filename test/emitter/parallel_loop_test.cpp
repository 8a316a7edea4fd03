// pl::parallel: the host of these tests runs the rounds one by one, the last one first. Loops whose rounds depend on each
// other run in order, and the text says why.
#include "codegen/specialise.hpp"
#include "emitter/compare.hpp"
#include "emitter/kernels.hpp"

using namespace emitter_test;

namespace {

const DType f32 = DType::Float32;

/// A kernel of x[N, 32] and y[N, 32] whose parallel loop over the rows has this body.
using Body = std::function<void(KernelBuilder&, const Expr& x, const Expr& y, const Expr& i)>;
Kernel over_rows(const Body& body, Access access = Access::Out, const Item& begin = 0, const Item& step = 1) {
  KernelBuilder k("rows");
  const Expr x = k.tensor("x", Access::In, f32), y = k.tensor("y", access, f32);
  const Expr rows = k.let("rows", dim(x, 0));
  k.for_("i", begin, rows, step, [&](const Expr& i) { body(k, x, y, i); }, LoopKind::Parallel);
  return k.take();
}

std::string text_of(const Kernel& kernel) {
  const Signature signature = signature_of(kernel, {TensorSpec{{6, 32}, f32}, TensorSpec{{6, 32}, f32}});
  return xsimd::emit(specialise(kernel, signature), signature).text;
}

/// What the text says of a loop that runs in order; "" where the rounds may run at the same time.
std::string reason(const Kernel& kernel) {
  const std::string text = text_of(kernel), words = ": in order, since ";
  const auto at = text.find(words);
  REQUIRE((at == std::string::npos) == (text.find("device::run_rounds") != std::string::npos));
  if (at == std::string::npos) return "";
  return text.substr(at + words.size(), text.find('\n', at) - at - words.size());
}

void run(const Kernel& kernel, const Options& options = {}) {
  CHECK(reason(kernel) == "");
  for (const std::int64_t rows : {1, 2, 6, 13}) {
    const TensorSpec tensor{{rows, 32}, f32};
    CHECK(compare(kernel, {tensor, tensor}, options) == pl::abi::fault_none);
    const TensorSpec run_time{{rows, 32}, f32, Layout::Strided, {32, 1}, true};
    CHECK(compare(kernel, {run_time, run_time}, options) == pl::abi::fault_none);
  }
}

}  // namespace

TEST_CASE("rounds that write a row each may run in any order") {
  run(over_rows([](KernelBuilder& k, const Expr& x, const Expr& y, const Expr& i) {
    k.store(load(x, {i, 0}, {1, 32}) + cast(f32, i), {i, 0}, y);
  }));
  // A first and a step.
  run(over_rows([](KernelBuilder& k, const Expr& x, const Expr& y,
                   const Expr& i) { k.store(load(x, {i, 0}, {1, 32}) * literal(2.0), {i, 0}, y); },
                Access::InOut, 0, 3));
  // What a round reads and writes is its own.
  run(over_rows(
      [](KernelBuilder& k, const Expr& x, const Expr& y, const Expr& i) {
        k.store(load(x, {i, 0}, {1, 32}) + load(y, {i, 0}, {1, 32}), {i, 0}, y);
      },
      Access::InOut));
}

TEST_CASE("what a round declares is its own: tiles, loops with carried values, branches") {
  run(over_rows([](KernelBuilder& k, const Expr& x, const Expr& y, const Expr& i) {
        const Expr row = k.let("row", load(x, {i, 0}, {1, 32}));
        const Expr sum = k.let("sum", full(f32, {1, 1}, literal(0.0)));
        k.for_("j", 0, 4, 1, [&](const Expr& j) {
          k.assign(sum, sum + call(Op::RowSum, {load(x, {i, j * integer(8)}, {1, 8})}));
          k.if_(call(Op::Eq, {j, integer(2)}), [&] { k.continue_(); });
          k.assign(row, row * literal(1.5));
        });
        k.if_(
            call(Op::Gt, {i, integer(2)}), [&] { k.assign(row, row + sum); },
            [&] { k.assign(row, row - sum); });
        k.store(row, {i, 0}, y);
      }),
      {.special_values = false, .tolerance = 1e-5});  // a sum of eight
}

TEST_CASE("rounds read what was computed in front of the loop, small and large") {
  for (const std::int64_t columns : {32, 8192}) {  // on the stack, in scratch memory
    KernelBuilder k("outside");
    const Expr x = k.tensor("x", Access::In, f32), y = k.tensor("y", Access::Out, f32);
    const Expr first = k.let("first", call(Op::Exp, {load(x, {0, 0}, {1, columns})}));
    const Expr squares = k.let("squares", tile_call(Op::Transpose, {first * first}, {.axis = 0, .axis2 = 1}));
    const Expr back = k.let("back", tile_call(Op::Transpose, {squares}, {.axis = 0, .axis2 = 1}));
    k.for_(
        "i", 0, dim(x, 0), 1,
        [&](const Expr& i) { k.store(load(x, {i, 0}, {1, columns}) + first + back, {i, 0}, y); },
        LoopKind::Parallel);
    const TensorSpec tensor{{5, columns}, f32};
    CHECK(compare(k.take(), {tensor, tensor}, {.special_values = false, .tolerance = 1e-5}) ==
          pl::abi::fault_none);
  }
}

TEST_CASE("products in a parallel loop: their operands lie in the tensors") {
  KernelBuilder k("batch");
  const Expr a = k.tensor("a", Access::In, f32), b = k.tensor("b", Access::In, f32);
  const Expr y = k.tensor("y", Access::Out, f32);
  k.for_(
      "i", 0, dim(a, 0), 1,
      [&](const Expr& i) {
        const Expr left = k.let("left", load(index(a, i), {0, 0}, {9, 17}));
        const Expr product =
            k.let("product", tile_call(Op::Matmul, {left, load(index(b, i), {0, 0}, {17, 5})}));
        k.store(product, {0, 0}, index(y, i));
      },
      LoopKind::Parallel);
  const Kernel kernel = k.take();
  CHECK(compare(kernel,
                {TensorSpec{{4, 9, 17}, f32}, TensorSpec{{4, 17, 5}, f32}, TensorSpec{{4, 9, 5}, f32}},
                {.special_values = false, .tolerance = 1e-4}) == pl::abi::fault_none);
}

TEST_CASE("a parallel loop in a parallel loop is one whose rounds run in order") {
  const Kernel kernel = over_rows([](KernelBuilder& k, const Expr& x, const Expr& y, const Expr& i) {
    k.for_(
        "j", 0, 32, 8, [&](const Expr& j) { k.store(load(x, {i, j}, {1, 8}) * literal(3.0), {i, j}, y); },
        LoopKind::Parallel);
  });
  const std::string text = text_of(kernel);
  CHECK(text.find("device::run_rounds") == text.rfind("device::run_rounds"));
  run(kernel);
}

TEST_CASE("loops whose rounds depend on each other run in order, and the text says why") {
  CHECK(reason(over_rows([](KernelBuilder& k, const Expr& x, const Expr& y, const Expr& i) {
          k.store(load(x, {i, 0}, {1, 32}), {0, 0}, y);
        })) == "every round stores to the same region of `y`");
  // An inner loop does not make it another one.
  CHECK(reason(over_rows([](KernelBuilder& k, const Expr& x, const Expr& y, const Expr& i) {
          k.for_("j", 0, 4, 1, [&](const Expr& j) {
            k.store(load(x, {i, j * integer(8)}, {1, 8}), {0, j * integer(8)}, y);
          });
        })) == "every round stores to the same region of `y`");
  CHECK(reason(over_rows([](KernelBuilder& k, const Expr&, const Expr& y,
                            const Expr& i) { k.store(load(y, {i - integer(1), 0}, {1, 32}), {i, 0}, y); },
                         Access::InOut, 1)) == "a round may read what another one writes to `y`");
  CHECK(reason(over_rows([](KernelBuilder& k, const Expr& x, const Expr& y, const Expr& i) {
          k.store(load(x, {i, 0}, {1, 32}), {i, 0}, y);
          k.if_(call(Op::Gt, {i, integer(3)}), [&] { k.break_(); });
        })) == "a round may end the loop");
  CHECK(reason(over_rows([](KernelBuilder& k, const Expr& x, const Expr& y, const Expr& i) {
          k.store(load(x, {i, 0}, {1, 32}), {i, 0}, y);
          k.if_(call(Op::Gt, {i, integer(3)}), [&] { k.return_(); });
        })) == "a round may end the loop");
  CHECK(reason(over_rows([](KernelBuilder& k, const Expr& x, const Expr& y, const Expr& i) {
          const Expr row = k.let("row", load(x, {i, 0}, {1, 32}));
          k.print(row);
          k.store(row, {i, 0}, y);
        })) == "rounds print");
  CHECK(reason(over_rows([](KernelBuilder& k, const Expr& x, const Expr& y,
                            const Expr& i) { k.store(load(x, {i, 0}, {1, 32}), {0, 0}, y, Atomic::Add); },
                         Access::InOut)) == "floats are added to `y`");

  KernelBuilder k("carries");
  const Expr x = k.tensor("x", Access::In, f32), y = k.tensor("y", Access::Out, f32);
  const Expr sum = k.let("sum", full(f32, {1, 32}, literal(0.0)));
  k.for_(
      "i", 0, dim(x, 0), 1,
      [&](const Expr& i) {
        k.assign(sum, sum + load(x, {i, 0}, {1, 32}));
        k.store(sum, {i, 0}, y);
      },
      LoopKind::Parallel);
  const Kernel carries = k.take();
  CHECK(reason(carries) == "`sum` is carried from round to round");
  CHECK(compare(carries, {TensorSpec{{7, 32}, f32}, TensorSpec{{7, 32}, f32}}) == pl::abi::fault_none);
}

TEST_CASE("integers may be added to one region from every round") {
  KernelBuilder k("count");
  const Expr x = k.tensor("x", Access::In, DType::Int32), y = k.tensor("y", Access::InOut, DType::Int32);
  k.for_(
      "i", 0, dim(x, 0), 1, [&](const Expr& i) { k.store(load(x, {i, 0}, {1, 32}), {0, 0}, y, Atomic::Add); },
      LoopKind::Parallel);
  const TensorSpec tensor{{6, 32}, DType::Int32};
  CHECK(compare(k.take(), {tensor, tensor}) == pl::abi::fault_none);
}

TEST_CASE("a round that faults ends the kernel with its fault") {
  KernelBuilder k("faults");
  const Expr x = k.tensor("x", Access::In, f32), y = k.tensor("y", Access::Out, f32);
  const Expr by = k.scalar("by", DType::Int64);
  k.for_(
      "i", 0, 6, 1, [&](const Expr& i) { k.store(load(x, {i * by, 0}, {1, 32}), {i, 0}, y); },
      LoopKind::Parallel);
  const Kernel kernel = k.take();
  const TensorSpec tensor{{6, 32}, f32};
  CHECK(compare(kernel, {tensor, tensor, Value::scalar(std::int64_t{1})}) == pl::abi::fault_none);
  CHECK(compare(kernel, {tensor, tensor, Value::scalar(std::int64_t{3})}) == pl::abi::fault_range);
}
