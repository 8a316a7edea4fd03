#include "values.hpp"

using namespace trilith::codegen;
using namespace trilith::codegen::test;

TEST_CASE("load copies a region through any strides") {
  Value memory = tile<float>({3, 4}, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11});
  const TensorView x = view_of(memory);
  CHECK_SAME(reference::load(x, {1, 1}, {2, 3}, {}), tile<float>({2, 3}, {5, 6, 7, 9, 10, 11}));
  CHECK_SAME(reference::load(x, {3, 0}, {0, 4}, {}), tile<float>({0, 4}, {}));
  const TensorView transposed{x.dtype, x.data, {4, 3}, {1, 4}};
  CHECK_SAME(reference::load(transposed, {0, 0}, {2, 3}, {}), tile<float>({2, 3}, {0, 4, 8, 1, 5, 9}));
  const TensorView backwards{x.dtype, memory.data<float>() + 3, {4}, {-1}};
  CHECK_SAME(reference::load(backwards, {1}, {3}, {}), row({2.0f, 1.0f, 0.0f}));
  const TensorView repeated{x.dtype, x.data, {2, 3}, {0, 1}};
  CHECK_SAME(reference::load(repeated, {0, 0}, {2, 3}, {}), tile<float>({2, 3}, {0, 1, 2, 0, 1, 2}));
  const TensorView point{x.dtype, memory.data<float>() + 7, {}, {}};
  CHECK_SAME(reference::load(point, {}, {}, {}), tile<float>({}, {7}));
}

TEST_CASE("load makes any nonzero byte a true") {
  unsigned char bytes[] = {0, 1, 7, 255};
  const TensorView x{DType::Bool, bytes, {4}, {1}};
  const Value loaded = reference::load(x, {0}, {4}, {});
  for (int i = 0; i < 4; ++i)
    CHECK(std::to_integer<int>(loaded.bytes[static_cast<std::size_t>(i)]) == (i > 0));
}

TEST_CASE("store writes its region and nothing else") {
  Value memory = reference::full({3, 4}, Value::scalar(-1));
  reference::store(tile<std::int32_t>({2, 2}, {1, 2, 3, 4}), {1, 2}, view_of(memory), {});
  CHECK_SAME(memory, tile<std::int32_t>({3, 4}, {-1, -1, -1, -1, -1, -1, 1, 2, -1, -1, 3, 4}));
}

TEST_CASE("full fills a shape") {
  CHECK_SAME(reference::full({2, 1}, Value::scalar(0.5)), tile<double>({2, 1}, {0.5, 0.5}));
  CHECK_SAME(reference::full({0, 5}, Value::scalar(true)), tile<bool>({0, 5}, {}));
  CHECK_SAME(reference::full({}, Value::scalar(3.0f)), tile<float>({}, {3}));
}

TEST_CASE("print text shows dtype, shape and elements, and stops at a screenful") {
  CHECK(reference::to_text(Value::scalar(2.5f)) == "float 2.5");
  CHECK(reference::to_text(tile<std::int32_t>({2, 2}, {1, 2, 3, 4})) == "tile<int32>[2, 2]\n  1, 2\n  3, 4");
  CHECK(reference::to_text(tile<bool>({1, 2, 1}, {true, false})) ==
        "tile<bool>[1, 2, 1]\n  [0, 0] true\n  [0, 1] false");
  CHECK(reference::to_text(tile<float>({0, 2}, {})) == "tile<float>[0, 2]");
  CHECK(reference::to_text(row({nan32, -inf32, -0.0f})) == "tile<float>[3]\n  nan, -inf, -0");
  const std::string large = reference::to_text(reference::full({100, 100}, Value::scalar(1)));
  CHECK_CONTAINS(large, "... 36 more");
  CHECK_CONTAINS(large, "... 84 more rows");
}
