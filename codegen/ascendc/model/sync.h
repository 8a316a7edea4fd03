// codegen/ascendc/model/sync.h -- events, barriers, cores and what they wait for. Part of kernel_operator.h.
#pragma once

#include "tensor.h"

namespace AscendC {

template <HardEvent event>
void SetFlag(std::int64_t id, model::Line line = model::Line::here()) {
  const auto pipes = static_cast<std::uint8_t>(event);
  model::run_time().set_flag(pipes / 16, pipes % 16, id, line.number);
}

template <HardEvent event>
void WaitFlag(std::int64_t id, model::Line line = model::Line::here()) {
  const auto pipes = static_cast<std::uint8_t>(event);
  model::run_time().wait_flag(pipes / 16, pipes % 16, id, line.number);
}

template <pipe_t pipe>
void PipeBarrier(model::Line line = model::Line::here()) {
  static_assert(pipe != PIPE_S, "PipeBarrier<PIPE_S> is a hardware error: scalar work is in order by itself");
  model::run_time().barrier(pipe, line.number);
}

[[nodiscard]] inline std::int64_t GetBlockIdx() { return model::run_time().block_index(); }
[[nodiscard]] inline std::int64_t GetBlockNum() { return model::run_time().block_count(); }
[[nodiscard]] inline std::int64_t GetSubBlockIdx() { return model::run_time().sub_block_index(); }

/// Mode 0: among all cores of this kind; 1: the two vector cores of a group; 2: the cube core and both vector cores.
template <std::uint8_t mode, pipe_t pipe>
void CrossCoreSetFlag(std::uint16_t id, model::Line line = model::Line::here()) {
  static_assert(mode <= 2, "the modes of CrossCoreSetFlag are 0, 1 and 2");
  static_assert(pipe != PIPE_S && pipe != PIPE_ALL, "CrossCoreSetFlag is not for PIPE_S and PIPE_ALL");
  model::run_time().set_cross(mode, pipe, id, line.number);
}

inline void CrossCoreWaitFlag(std::uint16_t id, model::Line line = model::Line::here()) {
  model::run_time().wait_cross(id, line.number);
}

template <bool vector_only = true>
void SyncAll(model::Line line = model::Line::here()) {
  model::run_time().sync_all(vector_only, line.number);
}

/// Writes what this core's cache holds of the line (or of GM) back, and forgets it.
template <class T, CacheLine extent, DcciDst destination = DcciDst::CACHELINE_OUT>
void DataCacheCleanAndInvalid(const GlobalTensor<T>& tensor, model::Line line = model::Line::here()) {
  static_assert(destination == DcciDst::CACHELINE_OUT || destination == DcciDst::CACHELINE_ALL,
                "only DcciDst::CACHELINE_OUT reaches GM");
  model::run_time().clean_cache(&tensor.span(), extent == CacheLine::ENTIRE_DATA_CACHE, line.number);
}

template <class T>
[[nodiscard]] T ReadGmByPassDCache(__gm__ T* address, model::Line line = model::Line::here()) {
  static_assert(std::is_integral_v<T>, "ReadGmByPassDCache reads integers");
  const model::Span span{reinterpret_cast<std::uint64_t>(address), sizeof(T), 0, 0, model::dtype_of<T>()};
  return model::from_bits<T>(model::run_time().get_uncached(&span, line.number));
}

template <class T>
void WriteGmByPassDCache(__gm__ T* address, T value, model::Line line = model::Line::here()) {
  static_assert(std::is_integral_v<T>, "WriteGmByPassDCache writes integers");
  const model::Span span{reinterpret_cast<std::uint64_t>(address), sizeof(T), 0, 0, model::dtype_of<T>()};
  model::run_time().set_uncached(&span, model::to_bits(value), line.number);
}

}  // namespace AscendC
