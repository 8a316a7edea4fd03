// One call that the dtype table refuses for each number of CASE; none for 0. Compiled by ctest, which expects the message.
#include "codegen/ascendc/model/kernel_operator.h"

using namespace AscendC;

void kernel() {
  LocalTensor<float> f32;
  LocalTensor<half> f16;
  LocalTensor<bfloat16_t> bf16;
  LocalTensor<std::int32_t> i32;
  LocalTensor<std::int8_t> i8;
  LocalTensor<std::int64_t> i64;
  LocalTensor<std::uint8_t> u8;
  Add(f32, f32, f32, 64);
  Cast(f16, f32, RoundMode::CAST_RINT, 64);
#if CASE == 1
  Add(bf16, bf16, bf16, 64);
#elif CASE == 2
  Div(i32, i32, i32, 64);
#elif CASE == 3
  And(i32, i32, i32, 64);
#elif CASE == 4
  Exp(bf16, bf16, 64);
#elif CASE == 5
  Duplicate(i8, std::int8_t{0}, 64);
#elif CASE == 6
  Cast(f16, i32, RoundMode::CAST_NONE, 64);
#elif CASE == 7
  Select(i32, u8, i32, i32, SELMODE::VSEL_TENSOR_TENSOR_MODE, 64);
#elif CASE == 8
  WholeReduceSum(i32, i32, 64, 1, 1, 1, 8);
#elif CASE == 9
  Mmad(i32, f16, f16, MmadParams(16, 16, 16, 0, false, true));
#elif CASE == 10
  SetAtomicAdd<std::int64_t>();
#elif CASE == 11
  PipeBarrier<PIPE_S>();
#elif CASE == 12
  Compare(u8, i64, i64, CMPMODE::EQ, 64);
#endif
}
