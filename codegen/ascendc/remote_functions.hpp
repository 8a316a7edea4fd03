// codegen/ascendc/remote_functions.hpp -- text in front of kernels that reach windows.
#pragma once

namespace trilith::codegen::ascendc {

inline constexpr const char* window_functions = R"(
/// What this rank is told of a window: its number among those that share it, and where in this device's address space
/// each of them has its part and its cells.
struct Window {
  uint32_t rank, ranks;
  uint64_t unused;
  uint64_t memory[64], cells[64];
};

__aicore__ inline __gm__ Window& WindowAt(GM_ADDR windows, int64_t number) {
  return reinterpret_cast<__gm__ Window*>(windows)[number];
}

/// The part of a rank.
template <typename T>
__aicore__ inline __gm__ T* PartOf(GM_ADDR windows, int64_t number, int64_t rank) {
  return reinterpret_cast<__gm__ T*>(WindowAt(windows, number).memory[rank]);
}
)";

inline constexpr const char* notify_function = R"(
/// Sets a cell, or adds to it, by a copy of 4 bytes: nothing else of its cache line is written. All pipes have finished
/// what came before.
template <bool add>
__aicore__ inline void Notify(__gm__ int32_t* cell, int32_t value, const AscendC::LocalTensor<int32_t>& word) {
  AscendC::GlobalTensor<int32_t> signal;
  signal.SetGlobalBuffer(cell, 1);
  word.SetValue(0, value);
  AscendC::PipeBarrier<PIPE_ALL>();
  if (add) AscendC::SetAtomicAdd<int32_t>();
  AscendC::DataCopyPad(signal, word, AscendC::DataCopyExtParams{1, sizeof(int32_t), 0, 0, 0});
  if (add) AscendC::SetAtomicNone();
  AscendC::PipeBarrier<PIPE_ALL>();
}
)";

}  // namespace trilith::codegen::ascendc
