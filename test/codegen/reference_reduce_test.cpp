#include "values.hpp"

using namespace trilith::codegen;
using namespace trilith::codegen::test;
using reference::apply;

namespace {
using I = std::int32_t;
using L = std::int64_t;
}  // namespace

TEST_CASE("row reductions go over the last axis and keep it as 1") {
  const Value x = tile<float>({2, 3}, {1, 2, 3, -4, 5, 0.5f});
  CHECK_SAME(apply(Op::RowSum, {x}), tile<float>({2, 1}, {6, 1.5f}));
  CHECK_SAME(apply(Op::RowProd, {x}), tile<float>({2, 1}, {6, -10}));
  CHECK_SAME(apply(Op::RowMax, {x}), tile<float>({2, 1}, {3, 5}));
  CHECK_SAME(apply(Op::RowMin, {x}), tile<float>({2, 1}, {1, -4}));
  CHECK_SAME(apply(Op::RowMean, {x}), tile<float>({2, 1}, {2, 0.5f}));
  CHECK_SAME(apply(Op::RowSum, {row<I>({1, 2, 3})}), row<I>({6}));
}

TEST_CASE("column reductions go over the second last axis and keep it as 1") {
  const Value x = tile<I>({2, 2, 3}, {1, 2, 3, 4, 5, 6, 10, 20, 30, 40, 50, -60});
  CHECK_SAME(apply(Op::ColSum, {x}), tile<I>({2, 1, 3}, {5, 7, 9, 50, 70, -30}));
  CHECK_SAME(apply(Op::ColProd, {x}), tile<I>({2, 1, 3}, {4, 10, 18, 400, 1000, -1800}));
  CHECK_SAME(apply(Op::ColMax, {x}), tile<I>({2, 1, 3}, {4, 5, 6, 40, 50, 30}));
  CHECK_SAME(apply(Op::ColMin, {x}), tile<I>({2, 1, 3}, {1, 2, 3, 10, 20, -60}));
  CHECK_SAME(apply(Op::ColMean, {tile<double>({2, 1}, {1, 2})}), tile<double>({1, 1}, {1.5}));
}

TEST_CASE("NaN goes through every reduction, wherever it stands, and +0 is above -0") {
  for (int place = 0; place < 3; ++place) {
    Value x = tile<float>({1, 3}, {1, 2, 3});
    x.data<float>()[place] = nan32;
    for (Op op : {Op::RowSum, Op::RowProd, Op::RowMax, Op::RowMin, Op::RowMean})
      CHECK_SAME(apply(op, {x}), tile<float>({1, 1}, {nan32}));
  }
  CHECK_SAME(apply(Op::RowMax, {tile<float>({2, 2}, {-0.0f, 0.0f, 0.0f, -0.0f})}),
             tile<float>({2, 1}, {0.0f, 0.0f}));
  CHECK_SAME(apply(Op::RowMin, {tile<float>({2, 2}, {-0.0f, 0.0f, 0.0f, -0.0f})}),
             tile<float>({2, 1}, {-0.0f, -0.0f}));
  CHECK_SAME(apply(Op::RowSum, {tile<float>({2, 2}, {inf32, -inf32, inf32, 1})}),
             tile<float>({2, 1}, {nan32, inf32}));
}

TEST_CASE("an empty reduction gives the neutral value") {
  const Value f = tile<float>({2, 0}, {});
  CHECK_SAME(apply(Op::RowSum, {f}), tile<float>({2, 1}, {0, 0}));
  CHECK_SAME(apply(Op::RowProd, {f}), tile<float>({2, 1}, {1, 1}));
  CHECK_SAME(apply(Op::RowMax, {f}), tile<float>({2, 1}, {-inf32, -inf32}));
  CHECK_SAME(apply(Op::RowMin, {f}), tile<float>({2, 1}, {inf32, inf32}));
  CHECK_SAME(apply(Op::RowMean, {f}), tile<float>({2, 1}, {nan32, nan32}));
  const Value i = tile<I>({0, 2}, {});
  CHECK_SAME(apply(Op::ColMax, {i}), tile<I>({1, 2}, {lowest32, lowest32}));
  CHECK_SAME(apply(Op::ColMin, {i}), tile<I>({1, 2}, {highest32, highest32}));
  CHECK_SAME(apply(Op::ColSum, {i}), tile<I>({1, 2}, {0, 0}));
  CHECK_SAME(apply(Op::RowSum, {i}), tile<I>({0, 1}, {}));
}

TEST_CASE("integer sums wrap; float sums are kept in double, double ones wider still") {
  CHECK_SAME(apply(Op::RowSum, {row<I>({highest32, 1})}), row<I>({lowest32}));
  CHECK_SAME(apply(Op::RowProd, {row<L>({lowest64, -1})}), row<L>({lowest64}));
  CHECK_SAME(apply(Op::RowSum, {row({1e8f, 1.0f, -1e8f})}), row({1.0f}));
  CHECK_SAME(apply(Op::RowSum, {row({0x1p53, 1.0, -0x1p53})}), row({1.0}));
}
