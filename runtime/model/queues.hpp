// runtime/model/queues.hpp -- TPipe of one core: buffers, queues of them, and events between pipes.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "codegen/ascendc/model/model_abi.h"
#include "runtime/model/clock.hpp"
#include "runtime/model/memory.hpp"

namespace trilith::model {

class Core;

/// Events HardEvent::A_B: 8 ids for each pair of pipes.
struct Event {
  bool reserved = false;  ///< by AllocEventID, or by a queue while its event is under way
  bool of_queue = false;
  bool set = false;
  std::uint32_t line = 0;
  Clock clock;
};

struct Buffer {
  enum State : std::uint8_t { Free, Allocated, Queued, Dequeued };
  State state = Free;
  std::uint32_t queue = 0;
  std::uint32_t line = 0;  ///< where it got this state
  std::uint32_t ticket = 0;
  std::uint64_t address = 0;
  std::optional<int> event;  ///< the id under way: of EnQue when queued, of FreeTensor when free
};

class Queues {
 public:
  using Span = AscendC::model::Span;

  explicit Queues(Core& core) : core_(core) {}

  void init_pipe(void* pipe, std::uint32_t line);
  [[nodiscard]] void* pipe(std::uint32_t line) const;
  void reset(std::uint32_t line);
  [[nodiscard]] std::uint32_t init_queue(const AscendC::model::QueueRequest& request);
  void init_buffer(std::uint8_t position, std::int64_t bytes, Span& buffer, std::uint32_t line);

  void allocate(std::uint32_t queue, Span& tensor, std::uint32_t line);
  void enqueue(std::uint32_t queue, const Span& tensor, std::uint32_t line);
  void dequeue(std::uint32_t queue, Span& tensor, std::uint32_t line);
  void free(std::uint32_t queue, const Span& tensor, std::uint32_t line);
  [[nodiscard]] std::int64_t queued(std::uint32_t queue, std::uint32_t line) const;
  [[nodiscard]] std::int64_t idle(std::uint32_t queue, std::uint32_t line) const;

  [[nodiscard]] std::int32_t event_id(std::uint8_t from, std::uint8_t to, bool reserve, std::uint32_t line);
  void release_event_id(std::uint8_t from, std::uint8_t to, std::int64_t id, std::uint32_t line);
  void set_flag(std::uint8_t from, std::uint8_t to, std::int64_t id, std::uint32_t line);
  void wait_flag(std::uint8_t from, std::uint8_t to, std::int64_t id, std::uint32_t line);

  /// Faults unless a tensor of a queue may be used now.
  void check_usable(const Span& tensor, const char* operation, std::uint32_t line) const;
  /// The same for a read by a pipe: the one that empties the queue's buffers reads what DeQue gave.
  void check_readable(const Span& tensor, std::uint8_t pipe, const char* operation, std::uint32_t line) const;
  /// What a kernel left undone.
  void check_end() const;

 private:
  struct Queue {
    std::uint8_t position;
    std::uint8_t from, to;  ///< pipes of EnQue's event; FreeTensor's is the reverse
    std::int64_t depth;
    std::uint64_t bytes;
    std::vector<std::size_t> buffers;
    std::size_t next = 0;  ///< buffers are given out in turn
    std::deque<std::size_t> queued;
  };

  [[nodiscard]] Queue& queue(std::uint32_t handle, std::uint32_t line);
  [[nodiscard]] const Queue& queue(std::uint32_t handle, std::uint32_t line) const;
  [[nodiscard]] std::size_t owned(std::uint32_t queue, const Span& tensor, const char* operation,
                                  std::uint32_t line) const;
  [[nodiscard]] std::uint64_t take(std::uint8_t position, std::uint64_t bytes, std::uint64_t count,
                                   std::uint32_t line);
  [[nodiscard]] Span span_of(const Queue& queue, const Buffer& buffer) const;
  [[nodiscard]] Event& event(std::uint8_t from, std::uint8_t to, int id);
  [[nodiscard]] int send(std::uint8_t from, std::uint8_t to, std::uint32_t line);
  void receive(std::uint8_t from, std::uint8_t to, int id);

  Core& core_;
  void* pipe_ = nullptr;
  std::array<std::uint64_t, space_count> taken_{};  ///< bytes given out of each memory
  std::array<std::int64_t, 16> queue_buffers_{};    ///< of each position
  std::int64_t buffer_count_ = 0;
  std::vector<Queue> queues_;
  std::vector<Buffer> buffers_;
  std::vector<std::size_t> tickets_;  ///< the buffer of each ticket, from 1
  std::array<std::array<Event, 8>, pipe_count * pipe_count> events_{};
};

}  // namespace trilith::model
