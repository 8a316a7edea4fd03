// Choosing elements by position and finding positions by value: numbers by hand.
#include "codegen/values.hpp"

using namespace trilith::codegen;
using namespace trilith::codegen::test;

namespace {

using I = std::int32_t;

Value run(Op op, std::vector<reference::CallOperand> operands, int axis = -1, bool flag = false) {
  Attributes attributes;
  attributes.axis = axis;
  attributes.flag = flag;
  return reference::tile_call(op, operands, attributes, {}, {"user.cpp", 7, 3});
}

Value number(std::int64_t value) { return Value::scalar(value); }

std::string refusal(Op op, std::vector<reference::CallOperand> operands, int axis = -1) {
  return message_of<pl::UserError>([&] { (void)run(op, operands, axis); });
}

}  // namespace

TEST_CASE("argmax: the first of equals, the first NaN, -1 where there is nothing") {
  const Value x = tile<float>({3, 4}, {1, 5, 5, 2, -1, nan32, 7, nan32, -0.0f, 0.0f, -0.0f, 0.0f});
  CHECK_SAME(run(Op::RowArgmax, {x}), (tile<I>({3, 1}, {1, 1, 0})));
  CHECK_SAME(run(Op::RowArgmin, {x}), (tile<I>({3, 1}, {0, 1, 0})));
  CHECK_SAME(run(Op::ColArgmax, {x}), (tile<I>({1, 4}, {0, 1, 1, 1})));
  CHECK_SAME(run(Op::ColArgmin, {x}), (tile<I>({1, 4}, {1, 1, 2, 1})));
  CHECK_SAME(run(Op::RowArgmax, {Value(DType::Int32, {2, 0})}), (tile<I>({2, 1}, {-1, -1})));
  CHECK_SAME(run(Op::ColArgmax, {Value(DType::Int32, {0, 2})}), (tile<I>({1, 2}, {-1, -1})));
}

TEST_CASE("cumsum: in index order along any axis; integers wrap; floats are kept in double") {
  CHECK_SAME(run(Op::Cumsum, {tile<I>({2, 3}, {1, 2, 3, highest32, 1, 1})}),
             (tile<I>({2, 3}, {1, 3, 6, highest32, lowest32, lowest32 + 1})));
  CHECK_SAME(run(Op::Cumsum, {tile<I>({2, 2}, {1, 2, 3, 4})}, 0), (tile<I>({2, 2}, {1, 2, 4, 6})));
  CHECK_SAME(run(Op::Cumsum, {row<float>({16777216, 1, 1, -inf32, 1, inf32})}),
             row<float>({16777216, 16777216, 16777218, -inf32, -inf32, nan32}));
}

TEST_CASE("gather takes elements along an axis, gather_row whole rows") {
  const Value x = tile<float>({2, 3}, {10, 11, 12, 20, 21, 22});
  CHECK_SAME(run(Op::Gather, {x, tile<I>({2, 4}, {2, 0, 0, 1, 1, 1, 2, 0})}),
             (tile<float>({2, 4}, {12, 10, 10, 11, 21, 21, 22, 20})));
  CHECK_SAME(run(Op::Gather, {x, tile<std::int64_t>({1, 3}, {1, 0, 1})}, 0),
             (tile<float>({1, 3}, {20, 11, 22})));
  CHECK_SAME(run(Op::GatherRow, {x, row<I>({1, 0, 1})}),
             (tile<float>({3, 3}, {20, 21, 22, 10, 11, 12, 20, 21, 22})));
}

TEST_CASE("gather_row of a tensor follows its strides") {
  Value memory = tile<float>({3, 4}, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11});
  const TensorView view{DType::Float32, memory.data<float>() + 3, {3, 2}, {4, -2}};
  CHECK_SAME(run(Op::LoadRow, {view, Shape(), Shape(), row<I>({2, 0})}, 0),
             (tile<float>({2, 2}, {11, 9, 3, 1})));
}

TEST_CASE("paged_gather: rows of ragged sequences in the order of their tables, zeros behind their ends") {
  Value memory = tile<float>({4, 2, 1}, {0, 1, 10, 11, 20, 21, 30, 31});
  const TensorView pages = view_of(memory);
  const Value table = tile<I>({2, 3}, {3, 1, 0, 2, 99, 99});
  const Value lengths = row<I>({5, 1});
  CHECK_SAME(run(Op::PagedGather, {pages, Shape(), Shape(), table, lengths, number(4), number(0)}, 0),
             (tile<float>({2, 4, 1}, {30, 31, 10, 11, 20, 0, 0, 0})));
  CHECK_SAME(run(Op::PagedGather, {pages, Shape(), Shape(), table, lengths, number(3), number(3)}, 0),
             (tile<float>({2, 3, 1}, {11, 0, 0, 0, 0, 0})));
  CHECK_SAME(
      run(Op::PagedGather, {pages, Shape(), Shape(), row<I>({1}), number(-4), number(1), number(0)}, 0),
      (tile<float>({1, 1}, {0})));
}

TEST_CASE("scatter: the last of equal indices wins; scatter_add counts them all") {
  const Value x = tile<float>({2, 3}, {1, 2, 3, 4, 5, 6});
  const Value indices = tile<I>({2, 2}, {2, 2, 0, 1}), source = tile<float>({2, 2}, {10, 20, 30, 40});
  CHECK_SAME(run(Op::Scatter, {x, indices, source}), (tile<float>({2, 3}, {1, 2, 20, 30, 40, 6})));
  CHECK_SAME(run(Op::ScatterAdd, {x, indices, source}), (tile<float>({2, 3}, {1, 2, 33, 34, 45, 6})));
  CHECK_SAME(run(Op::Scatter, {x, tile<I>({1, 3}, {1, 0, 1}), tile<float>({1, 3}, {7, 8, 9})}, 0),
             (tile<float>({2, 3}, {1, 8, 3, 7, 5, 9})));
}

TEST_CASE("sort is stable with NaN last in both directions; topk is its beginning") {
  const Value x = row<float>({2, nan32, 1, 2, -0.0f, 0.0f, inf32});
  CHECK_SAME(run(Op::SortIndices, {x}), row<I>({4, 5, 2, 0, 3, 6, 1}));
  CHECK_SAME(run(Op::SortIndices, {x}, -1, true), row<I>({6, 0, 3, 2, 4, 5, 1}));
  CHECK_SAME(run(Op::TopkIndices, {x, number(3)}, -1, true), row<I>({6, 0, 3}));
  CHECK_SAME(run(Op::TopkIndices, {x, number(2)}, -1, false), row<I>({4, 5}));
  CHECK_SAME(run(Op::SortIndices, {tile<I>({3, 2}, {3, 1, 1, 1, 2, 0})}, 0),
             (tile<I>({3, 2}, {1, 2, 2, 0, 0, 1})));
}

TEST_CASE("one element is read and written") {
  const Value x = tile<double>({2, 2}, {1, 2, 3, 4});
  CHECK(reference::read(x, {1, 0}, {}).get<double>() == 3);
  CHECK_SAME(run(Op::Write, {x, Shape{0, 1}, Value::scalar(9.0)}), (tile<double>({2, 2}, {1, 9, 3, 4})));
}

TEST_CASE("an index out of range is refused with the place, the index and the bound") {
  const Value x = tile<float>({2, 3}, {1, 2, 3, 4, 5, 6});
  CHECK(refusal(Op::Gather, {x, tile<I>({2, 1}, {0, 3})}) ==
        "user.cpp:7:3: gather: index 3 is not inside [0, 3); clamp or mask the indices before");
  CHECK_CONTAINS(refusal(Op::Gather, {x, tile<I>({2, 1}, {-1, 3})}), "gather: index -1 is not inside [0, 3)");
  CHECK_CONTAINS(refusal(Op::GatherRow, {x, row<I>({0, 2})}), "gather_row: index 2 is not inside [0, 2)");
  CHECK_CONTAINS(refusal(Op::Scatter, {x, tile<I>({2, 1}, {0, 3}), tile<float>({2, 1}, {0, 0})}),
                 "scatter: index 3 is not inside [0, 3)");
  CHECK_CONTAINS(refusal(Op::Write, {x, Shape{0, 3}, Value::scalar(1.0f)}),
                 "write: axis 1: index 3 is not inside [0, 3)");
  CHECK_CONTAINS(message_of<pl::ShapeError>([&] { (void)reference::read(x, {2, 0}, {}); }),
                 "read: axis 0: index 2 is not inside [0, 2)");
  Value memory = tile<float>({2, 2, 1}, {0, 1, 2, 3});
  const TensorView pages = view_of(memory);
  CHECK_CONTAINS(
      refusal(Op::PagedGather, {pages, Shape(), Shape(), row<I>({0}), number(3), number(4), number(0)}, 0),
      "paged_gather: block table: index 1 is not inside [0, 1)");
  CHECK_CONTAINS(
      refusal(Op::PagedGather, {pages, Shape(), Shape(), row<I>({2}), number(3), number(4), number(0)}, 0),
      "paged_gather: index 2 is not inside [0, 2)");
}

TEST_CASE("operands that do not fit are refused with what was given and what is needed") {
  const Value x = tile<float>({2, 3}, {1, 2, 3, 4, 5, 6}), flat = row<float>({1, 2});
  CHECK_CONTAINS(refusal(Op::Gather, {x, x}), "the indices are float and must be integers");
  CHECK_CONTAINS(refusal(Op::Gather, {x, row<I>({0})}), "has rank 2 and the indices [1] have rank 1");
  CHECK_CONTAINS(refusal(Op::Gather, {x, tile<I>({3, 1}, {0, 0, 0})}),
                 "extents of the tile and the indices along axis 0 are 2 and 3 and must be equal");
  CHECK_CONTAINS(refusal(Op::Scatter, {x, tile<I>({2, 1}, {0, 0}), tile<float>({2, 2}, {0, 0, 0, 0})}),
                 "extents of the indices and the source along axis 1 are 1 and 2");
  CHECK_CONTAINS(refusal(Op::ColArgmax, {flat}), "needs a tile of rank 2 or more");
  CHECK_CONTAINS(refusal(Op::Cumsum, {x}, 2), "axis 2 of a tile of rank 2");
  CHECK_CONTAINS(refusal(Op::TopkIndices, {flat, number(3)}),
                 "k is 3 and axis 0 of the tile has 2 elements; give a k from 0 to 2");
  CHECK_CONTAINS(refusal(Op::SortIndices, {row<bool>({true})}), "the tile is bool");
  CHECK_CONTAINS(refusal(Op::Write, {x, Shape{0}, Value::scalar(1.0f)}), "1 offsets in a tile of rank 2");
  Value memory = row<float>({1, 2});
  CHECK_CONTAINS(
      refusal(Op::PagedGather,
              {view_of(memory), Shape(), Shape(), row<I>({0}), number(3), number(4), number(0)}, 0),
      "the tensor has rank 1 and needs 2 or more");
}
