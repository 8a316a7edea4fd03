// codegen/ascendc/model/queue.h -- TPipe, the queues of buffers TQue and TQueBind, and TBuf. Part of kernel_operator.h.
//
// None has a destructor: what a kernel left undone is checked when it returns, and a fault may leave it from anywhere.
#pragma once

#include "tensor.h"

namespace AscendC {

template <TPosition source, TPosition destination, std::int32_t depth, auto mask = 0>
class TQueBind {
 public:
  template <class T>
  [[nodiscard]] LocalTensor<T> AllocTensor(model::Line line = model::Line::here()) {
    model::Span span{};
    model::run_time().allocate(handle_, &span, line.number);
    return LocalTensor<T>(span);
  }
  template <class T>
  bool EnQue(const LocalTensor<T>& tensor, model::Line line = model::Line::here()) {
    model::run_time().enqueue(handle_, &tensor.span(), line.number);
    return true;
  }
  template <class T>
  [[nodiscard]] LocalTensor<T> DeQue(model::Line line = model::Line::here()) {
    model::Span span{};
    model::run_time().dequeue(handle_, &span, line.number);
    return LocalTensor<T>(span);
  }
  template <class T>
  void FreeTensor(const LocalTensor<T>& tensor, model::Line line = model::Line::here()) {
    model::run_time().free(handle_, &tensor.span(), line.number);
  }
  [[nodiscard]] std::int32_t GetTensorCountInQue(model::Line line = model::Line::here()) const {
    return static_cast<std::int32_t>(model::run_time().queued(handle_, line.number));
  }
  [[nodiscard]] bool HasTensorInQue(model::Line line = model::Line::here()) const {
    return GetTensorCountInQue(line) != 0;
  }
  [[nodiscard]] bool VacantInQue(model::Line line = model::Line::here()) const {
    return GetTensorCountInQue(line) < depth;
  }
  [[nodiscard]] bool HasIdleBuffer(model::Line line = model::Line::here()) const {
    return model::run_time().idle(handle_, line.number) != 0;
  }

 private:
  friend class TPipe;
  std::uint32_t handle_ = 0;
};

namespace model {

/// The way of a queue whose buffers stand at `position`: GM to it, or it to GM, or the next memory of the cube.
[[nodiscard]] constexpr TPosition queue_source(TPosition position) {
  switch (position) {
    case TPosition::A2: return TPosition::A1;
    case TPosition::B2: return TPosition::B1;
    case TPosition::C2: return TPosition::C1;
    case TPosition::CO1: return TPosition::A2;
    case TPosition::VECOUT:
    case TPosition::VECCALC: return TPosition::VECCALC;
    default: return TPosition::GM;
  }
}

}  // namespace model

template <TPosition position, std::int32_t depth, auto mask = 0>
class TQue : public TQueBind<model::queue_source(position), position, depth, mask> {};

template <TPosition position = TPosition::VECCALC>
class TBuf {
 public:
  template <class T>
  [[nodiscard]] LocalTensor<T> Get() const {
    return LocalTensor<T>(span_);
  }
  template <class T>
  [[nodiscard]] LocalTensor<T> Get(std::uint32_t size) const {
    return GetWithOffset<T>(size, 0);
  }
  template <class T>
  [[nodiscard]] LocalTensor<T> GetWithOffset(std::uint32_t size, std::uint32_t offset) const {
    model::Span span = model::part(span_, offset);
    const std::uint64_t bytes = std::uint64_t{size} * sizeof(T);
    if (bytes < span.bytes) span.bytes = bytes;
    return LocalTensor<T>(span);
  }

 private:
  friend class TPipe;
  model::Span span_{};
};

class TPipe {
 public:
  TPipe(model::Line line =
            model::Line::here()) {  // NOLINT(google-explicit-constructor): the device's has no argument
    model::run_time().init_pipe(this, line.number);
  }
  TPipe(const TPipe&) = delete;
  TPipe& operator=(const TPipe&) = delete;

  template <TPosition source, TPosition destination, std::int32_t depth, auto mask>
  bool InitBuffer(TQueBind<source, destination, depth, mask>& queue, std::int64_t count, std::int64_t bytes,
                  model::Line line = model::Line::here()) {
    const model::QueueRequest request{static_cast<std::uint8_t>(source),
                                      static_cast<std::uint8_t>(destination),
                                      line.number,
                                      depth,
                                      count,
                                      bytes};
    queue.handle_ = model::run_time().init_queue(&request);
    return true;
  }
  template <TPosition position>
  bool InitBuffer(TBuf<position>& buffer, std::int64_t bytes, model::Line line = model::Line::here()) {
    model::run_time().init_buffer(static_cast<std::uint8_t>(position), bytes, &buffer.span_, line.number);
    return true;
  }
  void Reset(model::Line line = model::Line::here()) { model::run_time().reset_pipe(line.number); }

  /// An id that is free now; AllocEventID keeps it from others until ReleaseEventID.
  [[nodiscard]] TEventID FetchEventID(HardEvent event, model::Line line = model::Line::here()) {
    return id(event, false, line);
  }
  template <HardEvent event>
  [[nodiscard]] TEventID FetchEventID(model::Line line = model::Line::here()) {
    return id(event, false, line);
  }
  template <HardEvent event>
  [[nodiscard]] TEventID AllocEventID(model::Line line = model::Line::here()) {
    return id(event, true, line);
  }
  template <HardEvent event>
  void ReleaseEventID(TEventID id, model::Line line = model::Line::here()) {
    model::run_time().release_event_id(static_cast<std::uint8_t>(event) / 16,
                                       static_cast<std::uint8_t>(event) % 16, id, line.number);
  }

 private:
  [[nodiscard]] TEventID id(HardEvent event, bool reserve, model::Line line) {
    const auto pipes = static_cast<std::uint8_t>(event);
    return static_cast<TEventID>(model::run_time().event_id(pipes / 16, pipes % 16, reserve, line.number));
  }
};

[[nodiscard]] inline TPipe* GetTPipePtr(model::Line line = model::Line::here()) {
  return static_cast<TPipe*>(model::run_time().pipe(line.number));
}

}  // namespace AscendC
