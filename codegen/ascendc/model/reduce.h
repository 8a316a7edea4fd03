// codegen/ascendc/model/reduce.h -- reductions: of each repeat, of each block, of neighbours, of a whole range. Part of
// kernel_operator.h.
#pragma once

#include "vector_request.h"

namespace AscendC {

/// Each repeat becomes one element; results stand `dst_repeat` elements apart.
template <class T, class Mask>
void WholeReduceSum(const LocalTensor<T>& dst, const LocalTensor<T>& src, Mask mask, std::int64_t repeat,
                    std::int32_t dst_repeat, std::int32_t src_block, std::int32_t src_repeat,
                    model::Line line = model::Line::here()) {
  static_assert(model::is_float<T>, "WholeReduceSum is for half and float");
  model::VectorCall(model::VectorOp::WholeReduceSum, line, dst, src)
      .blocks(1, src_block, 1)
      .repeats(dst_repeat, src_repeat, 8)
      .run(model::mask_of(mask), repeat);
}

/// Each repeat becomes its greatest element and, by the order, its place; `dst_repeat` counts results.
template <class T, class Mask>
void WholeReduceMax(const LocalTensor<T>& dst, const LocalTensor<T>& src, Mask mask, std::int64_t repeat,
                    std::int32_t dst_repeat, std::int32_t src_block, std::int32_t src_repeat,
                    ReduceOrder order = ReduceOrder::ORDER_VALUE_INDEX,
                    model::Line line = model::Line::here()) {
  static_assert(model::is_float<T>, "WholeReduceMax is for half and float");
  model::VectorCall(model::VectorOp::WholeReduceMax, line, dst, src)
      .mode(order)
      .blocks(1, src_block, 1)
      .repeats(dst_repeat, src_repeat, 8)
      .run(model::mask_of(mask), repeat);
}

/// Each repeat becomes its least element and, by the order, its place; `dst_repeat` counts results.
template <class T, class Mask>
void WholeReduceMin(const LocalTensor<T>& dst, const LocalTensor<T>& src, Mask mask, std::int64_t repeat,
                    std::int32_t dst_repeat, std::int32_t src_block, std::int32_t src_repeat,
                    ReduceOrder order = ReduceOrder::ORDER_VALUE_INDEX,
                    model::Line line = model::Line::here()) {
  static_assert(model::is_float<T>, "WholeReduceMin is for half and float");
  model::VectorCall(model::VectorOp::WholeReduceMin, line, dst, src)
      .mode(order)
      .blocks(1, src_block, 1)
      .repeats(dst_repeat, src_repeat, 8)
      .run(model::mask_of(mask), repeat);
}

/// Each block of a repeat becomes one element: 8 a repeat. `dst_repeat` counts the results of a repeat.
template <class T, class Mask>
void BlockReduceSum(const LocalTensor<T>& dst, const LocalTensor<T>& src, std::int64_t repeat, Mask mask,
                    std::int32_t dst_repeat, std::int32_t src_block, std::int32_t src_repeat,
                    model::Line line = model::Line::here()) {
  static_assert(model::is_float<T>, "BlockReduceSum is for half and float");
  model::VectorCall(model::VectorOp::BlockReduceSum, line, dst, src)
      .blocks(1, src_block, 1)
      .repeats(dst_repeat, src_repeat, 8)
      .run(model::mask_of(mask), repeat);
}

/// Each block of a repeat becomes its greatest element. `dst_repeat` counts the results of a repeat.
template <class T, class Mask>
void BlockReduceMax(const LocalTensor<T>& dst, const LocalTensor<T>& src, std::int64_t repeat, Mask mask,
                    std::int32_t dst_repeat, std::int32_t src_block, std::int32_t src_repeat,
                    model::Line line = model::Line::here()) {
  static_assert(model::is_float<T>, "BlockReduceMax is for half and float");
  model::VectorCall(model::VectorOp::BlockReduceMax, line, dst, src)
      .blocks(1, src_block, 1)
      .repeats(dst_repeat, src_repeat, 8)
      .run(model::mask_of(mask), repeat);
}

/// Each block of a repeat becomes its least element. `dst_repeat` counts the results of a repeat.
template <class T, class Mask>
void BlockReduceMin(const LocalTensor<T>& dst, const LocalTensor<T>& src, std::int64_t repeat, Mask mask,
                    std::int32_t dst_repeat, std::int32_t src_block, std::int32_t src_repeat,
                    model::Line line = model::Line::here()) {
  static_assert(model::is_float<T>, "BlockReduceMin is for half and float");
  model::VectorCall(model::VectorOp::BlockReduceMin, line, dst, src)
      .blocks(1, src_block, 1)
      .repeats(dst_repeat, src_repeat, 8)
      .run(model::mask_of(mask), repeat);
}

/// Each two neighbours become their sum: half a repeat. `dst_repeat` counts the results of a repeat.
template <class T, class Mask>
void PairReduceSum(const LocalTensor<T>& dst, const LocalTensor<T>& src, std::int64_t repeat, Mask mask,
                   std::int32_t dst_repeat, std::int32_t src_block, std::int32_t src_repeat,
                   model::Line line = model::Line::here()) {
  static_assert(model::is_float<T>, "PairReduceSum is for half and float");
  model::VectorCall(model::VectorOp::PairReduceSum, line, dst, src)
      .blocks(1, src_block, 1)
      .repeats(dst_repeat, src_repeat, 8)
      .run(model::mask_of(mask), repeat);
}

/// dst[0] = the sum of `count` elements; `work` holds one element for each repeat, rounded up to 32 bytes.
template <class T>
void ReduceSum(const LocalTensor<T>& dst, const LocalTensor<T>& src, const LocalTensor<T>& work,
               std::int32_t count, model::Line line = model::Line::here()) {
  static_assert(model::is_float<T>, "ReduceSum is for half and float");
  model::VectorCall(model::VectorOp::ReduceSum, line, dst, src, work).run(std::int64_t{count});
}

/// dst[0] = the greatest of `count` elements, dst[1] = its index's bits where asked; `work` holds two elements a repeat.
template <class T>
void ReduceMax(const LocalTensor<T>& dst, const LocalTensor<T>& src, const LocalTensor<T>& work,
               std::int32_t count, bool index = false, model::Line line = model::Line::here()) {
  static_assert(model::is_float<T>, "ReduceMax is for half and float");
  model::VectorCall(model::VectorOp::ReduceMax, line, dst, src, work).mode(index).run(std::int64_t{count});
}

/// dst[0] = the least of `count` elements, dst[1] = its index's bits where asked; `work` holds two elements a repeat.
template <class T>
void ReduceMin(const LocalTensor<T>& dst, const LocalTensor<T>& src, const LocalTensor<T>& work,
               std::int32_t count, bool index = false, model::Line line = model::Line::here()) {
  static_assert(model::is_float<T>, "ReduceMin is for half and float");
  model::VectorCall(model::VectorOp::ReduceMin, line, dst, src, work).mode(index).run(std::int64_t{count});
}

}  // namespace AscendC
