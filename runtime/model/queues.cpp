#include "runtime/model/queues.hpp"

#include <algorithm>

#include "runtime/model/core.hpp"
#include "runtime/model/fault.hpp"

namespace trilith::model {
namespace {

using AscendC::TPosition;

constexpr std::int64_t most_buffers = 64, most_queue_buffers = 8;
/// Ids of raw events; the two above are the interface's own.
constexpr std::int64_t raw_ids = 6;

/// The pipe that fills the buffers of a queue, and the one that empties them.
std::uint8_t filling_pipe(TPosition source, TPosition destination) {
  switch (destination) {
    case TPosition::VECOUT: return source == TPosition::VECCALC ? PIPE_V : PIPE_MTE2;
    case TPosition::VECCALC: return PIPE_V;
    case TPosition::A2:
    case TPosition::B2:
    case TPosition::C2: return PIPE_MTE1;
    case TPosition::CO1: return PIPE_M;
    default: return PIPE_MTE2;
  }
}

std::uint8_t emptying_pipe(TPosition destination) {
  switch (destination) {
    case TPosition::VECIN:
    case TPosition::VECCALC: return PIPE_V;
    case TPosition::VECOUT: return PIPE_MTE3;
    case TPosition::A2:
    case TPosition::B2:
    case TPosition::C2: return PIPE_M;
    case TPosition::CO1:
    case TPosition::C2PIPE2GM: return PIPE_FIX;
    default: return PIPE_MTE1;
  }
}

constexpr std::uint64_t rounded(std::uint64_t bytes) { return (bytes + 31) / 32 * 32; }

}  // namespace

void Queues::init_pipe(void* pipe, std::uint32_t line) {
  if (pipe_ != nullptr) core_.fault(line, "a second TPipe: a kernel has one");
  pipe_ = pipe;
}

void* Queues::pipe(std::uint32_t line) const {
  if (pipe_ == nullptr) core_.fault(line, "GetTPipePtr: the kernel has made no TPipe yet");
  return pipe_;
}

void Queues::reset(std::uint32_t line) {
  for (const Buffer& buffer : buffers_)
    if (buffer.state != Buffer::Free)
      core_.fault(line,
                  text("TPipe::Reset: the tensor that AllocTensor of ", buffer.line, " gave was not freed"));
  core_.barrier(PIPE_ALL, line);
  queues_.clear();
  buffers_.clear();
  std::ranges::fill(tickets_, ~std::size_t{0});
  taken_.fill(0);
  queue_buffers_.fill(0);
  buffer_count_ = 0;
  for (auto& events : events_)
    for (Event& event : events) event = Event{};
}

std::uint64_t Queues::take(std::uint8_t position, std::uint64_t bytes, std::uint64_t count,
                           std::uint32_t line) {
  if (pipe_ == nullptr) core_.fault(line, "InitBuffer before a TPipe was made");
  const Space space = space_of(position);
  if (space == Space::Gm)
    core_.fault(line, text("InitBuffer: there are no buffers at TPosition::", position_name(position)));
  buffer_count_ += static_cast<std::int64_t>(count);
  if (buffer_count_ > most_buffers)
    core_.fault(line, text("InitBuffer: more than ", most_buffers, " buffers"));
  std::uint64_t& taken = taken_[static_cast<std::size_t>(space)];
  const SpaceFacts& limit = facts(space);
  const std::uint64_t begin = (taken + limit.alignment - 1) / limit.alignment * limit.alignment;
  if (begin + bytes * count > limit.plan)
    core_.fault(line, text("InitBuffer: ", count, " buffers of ", bytes, " bytes do not fit ", limit.name,
                           ": ", taken, " of ", limit.plan, " bytes are taken"));
  taken = begin + bytes * count;
  return begin;
}

std::uint32_t Queues::init_queue(const AscendC::model::QueueRequest& request) {
  if (request.count < 1 || request.bytes < 1)
    core_.fault(request.line, text("InitBuffer: ", request.count, " buffers of ", request.bytes, " bytes"));
  const std::uint64_t bytes = rounded(static_cast<std::uint64_t>(request.bytes));
  const auto source = static_cast<TPosition>(request.source),
             destination = static_cast<TPosition>(request.destination);
  // A queue from VECIN to VECOUT stands in one memory for both.
  Queue queue{request.destination,
              filling_pipe(source, destination),
              emptying_pipe(destination),
              request.depth,
              bytes,
              {},
              0,
              {}};
  const std::uint64_t address =
      take(request.destination, bytes, static_cast<std::uint64_t>(request.count), request.line);
  std::int64_t& live = queue_buffers_[request.destination];
  live += request.count;
  if (live > most_queue_buffers)
    core_.fault(request.line, text("InitBuffer: more than ", most_queue_buffers,
                                   " buffers of queues at TPosition::", position_name(request.destination)));
  queues_.push_back(queue);
  const auto handle = static_cast<std::uint32_t>(queues_.size());
  for (std::int64_t i = 0; i < request.count; ++i) {
    queues_.back().buffers.push_back(buffers_.size());
    buffers_.push_back(
        {Buffer::Free, handle, request.line, 0, address + static_cast<std::uint64_t>(i) * bytes, {}});
  }
  return handle;
}

void Queues::init_buffer(std::uint8_t position, std::int64_t bytes, Span& buffer, std::uint32_t line) {
  if (bytes < 1) core_.fault(line, text("InitBuffer: a buffer of ", bytes, " bytes"));
  const std::uint64_t size = rounded(static_cast<std::uint64_t>(bytes));
  buffer = {take(position, size, 1, line), size, 0, position, {}};
}

Queues::Queue& Queues::queue(std::uint32_t handle, std::uint32_t line) {
  if (handle == 0 || handle > queues_.size()) core_.fault(line, "a queue that InitBuffer was not called for");
  return queues_[handle - 1];
}
const Queues::Queue& Queues::queue(std::uint32_t handle, std::uint32_t line) const {
  return const_cast<Queues*>(this)->queue(handle, line);
}

Queues::Span Queues::span_of(const Queue& queue, const Buffer& buffer) const {
  return {buffer.address, queue.bytes, buffer.ticket, queue.position, {}};
}

Event& Queues::event(std::uint8_t from, std::uint8_t to, int id) {
  return events_[static_cast<std::size_t>(from * pipe_count + to)][static_cast<std::size_t>(id)];
}

int Queues::send(std::uint8_t from, std::uint8_t to, std::uint32_t line) {
  if (from == to) {
    core_.barrier(from, line);
    return 0;
  }
  for (int id = 0; id < 8; ++id) {
    Event& each = event(from, to, id);
    if (each.reserved) continue;
    if (each.set)
      core_.fault(line, text("a queue takes event ", id, " of HardEvent::", pipe_name(from), "_",
                             pipe_name(to), ", which SetFlag of ", each.line,
                             " has set and nothing waited for yet; take the id from AllocEventID"));
    each = {true, true, true, line, core_.complete(from)};
    return id;
  }
  core_.fault(line,
              text("no event of HardEvent::", pipe_name(from), "_", pipe_name(to), " is left for a queue"));
}

void Queues::receive(std::uint8_t from, std::uint8_t to, int id) {
  if (from == to) return;
  Event& each = event(from, to, id);
  core_.clock(to).join(each.clock);
  each = Event{};
}

void Queues::allocate(std::uint32_t handle, Span& tensor, std::uint32_t line) {
  Queue& queue = this->queue(handle, line);
  for (std::size_t tried = 0; tried < queue.buffers.size(); ++tried) {
    const std::size_t index = queue.buffers[queue.next];
    queue.next = (queue.next + 1) % queue.buffers.size();
    Buffer& buffer = buffers_[index];
    if (buffer.state != Buffer::Free) continue;
    if (buffer.event) receive(queue.to, queue.from, *buffer.event);
    buffer.event.reset();
    buffer.state = Buffer::Allocated;
    buffer.line = line;
    tickets_.push_back(index);
    buffer.ticket = static_cast<std::uint32_t>(tickets_.size());
    // What stood there before is nobody's; a core of the other kind only keeps account.
    const Space space = space_of(queue.position);
    if (facts(space).cube == core_.is_cube())
      core_.memory(space, "AllocTensor", line).poison({buffer.address, buffer.address + queue.bytes});
    tensor = span_of(queue, buffer);
    return;
  }
  core_.fault(line,
              text("AllocTensor would wait for ever: all ", queue.buffers.size(),
                   " buffers of the queue are taken (since line ", buffers_[queue.buffers[queue.next]].line,
                   "); FreeTensor first, or more buffers in InitBuffer"));
}

std::size_t Queues::owned(std::uint32_t handle, const Span& tensor, const char* operation,
                          std::uint32_t line) const {
  check_usable(tensor, operation, line);
  if (tensor.ticket == 0 || buffers_[tickets_[tensor.ticket - 1]].queue != handle)
    core_.fault(line, text(operation, ": the tensor is not of this queue"));
  return tickets_[tensor.ticket - 1];
}

void Queues::enqueue(std::uint32_t handle, const Span& tensor, std::uint32_t line) {
  Queue& queue = this->queue(handle, line);
  const std::size_t index = owned(handle, tensor, "EnQue", line);
  if (static_cast<std::int64_t>(queue.queued.size()) >= queue.depth)
    core_.fault(line,
                text("EnQue: the queue holds ", queue.queued.size(), " tensors already, which is its depth"));
  buffers_[index].event = send(queue.from, queue.to, line);
  buffers_[index].state = Buffer::Queued;
  buffers_[index].line = line;
  queue.queued.push_back(index);
}

void Queues::dequeue(std::uint32_t handle, Span& tensor, std::uint32_t line) {
  Queue& queue = this->queue(handle, line);
  if (queue.queued.empty()) core_.fault(line, "DeQue would wait for ever: the queue is empty; EnQue first");
  Buffer& buffer = buffers_[queue.queued.front()];
  queue.queued.pop_front();
  if (buffer.event) receive(queue.from, queue.to, *buffer.event);
  buffer.event.reset();
  buffer.state = Buffer::Dequeued;
  buffer.line = line;
  tensor = span_of(queue, buffer);
}

void Queues::free(std::uint32_t handle, const Span& tensor, std::uint32_t line) {
  const Queue& queue = this->queue(handle, line);
  Buffer& buffer = buffers_[owned(handle, tensor, "FreeTensor", line)];
  buffer.event = send(queue.to, queue.from, line);
  buffer.state = Buffer::Free;
  buffer.line = line;
}

std::int64_t Queues::queued(std::uint32_t handle, std::uint32_t line) const {
  return static_cast<std::int64_t>(queue(handle, line).queued.size());
}

std::int64_t Queues::idle(std::uint32_t handle, std::uint32_t line) const {
  return std::ranges::count_if(queue(handle, line).buffers,
                               [&](std::size_t index) { return buffers_[index].state == Buffer::Free; });
}

void Queues::check_usable(const Span& tensor, const char* operation, std::uint32_t line) const {
  if (tensor.ticket == 0) return;
  const std::size_t index = tickets_[tensor.ticket - 1];
  if (index >= buffers_.size() || buffers_[index].ticket != tensor.ticket ||
      buffers_[index].state == Buffer::Free)
    core_.fault(line,
                text(operation, ": the tensor was given back by FreeTensor",
                     index < buffers_.size() ? text(" of line ", buffers_[index].line) : std::string()));
  if (buffers_[index].state == Buffer::Queued)
    core_.fault(line, text(operation, ": the tensor was put into its queue by EnQue of line ",
                           buffers_[index].line, " and not taken out; DeQue first"));
}

void Queues::check_readable(const Span& tensor, std::uint8_t pipe, const char* operation,
                            std::uint32_t line) const {
  check_usable(tensor, operation, line);
  if (tensor.ticket == 0) return;
  const Buffer& buffer = buffers_[tickets_[tensor.ticket - 1]];
  const Queue& queue = queues_[buffer.queue - 1];
  if (buffer.state != Buffer::Allocated || queue.from == queue.to || pipe != queue.to) return;
  core_.fault(line, text(operation, ": pipe ", pipe_name(pipe), " reads a tensor of AllocTensor of line ",
                         buffer.line, " that has not been through its queue; EnQue and DeQue first"));
}

std::int32_t Queues::event_id(std::uint8_t from, std::uint8_t to, bool reserve, std::uint32_t line) {
  for (int id = 0; id < raw_ids; ++id) {
    Event& each = event(from, to, id);
    if (each.reserved) continue;
    each.reserved = reserve;
    each.line = line;
    return id;
  }
  core_.fault(line, text(reserve ? "AllocEventID" : "FetchEventID",
                         ": all ids of HardEvent::", pipe_name(from), "_", pipe_name(to), " are taken"));
}

void Queues::release_event_id(std::uint8_t from, std::uint8_t to, std::int64_t id, std::uint32_t line) {
  if (id < 0 || id >= raw_ids || !event(from, to, static_cast<int>(id)).reserved)
    core_.fault(line, text("ReleaseEventID: id ", id, " was not given by AllocEventID"));
  if (event(from, to, static_cast<int>(id)).set)
    core_.fault(line, text("ReleaseEventID: id ", id, " is set and nothing has waited for it"));
  event(from, to, static_cast<int>(id)).reserved = false;
}

void Queues::set_flag(std::uint8_t from, std::uint8_t to, std::int64_t id, std::uint32_t line) {
  if (id < 0 || id >= raw_ids)
    core_.fault(line,
                text("SetFlag: event id ", id, ": ids are 0 to ", raw_ids - 1, " (6 and 7 are reserved)"));
  Event& each = event(from, to, static_cast<int>(id));
  if (each.set)
    core_.fault(line, text("SetFlag: event ", id, " of HardEvent::", pipe_name(from), "_", pipe_name(to),
                           " was set already (line ", each.line, ") and nothing has waited for it"));
  each.set = true;
  each.line = line;
  each.clock = core_.complete(from);
}

void Queues::wait_flag(std::uint8_t from, std::uint8_t to, std::int64_t id, std::uint32_t line) {
  if (id < 0 || id >= raw_ids)
    core_.fault(line,
                text("WaitFlag: event id ", id, ": ids are 0 to ", raw_ids - 1, " (6 and 7 are reserved)"));
  Event& each = event(from, to, static_cast<int>(id));
  if (!each.set)
    core_.fault(line, text("WaitFlag would wait for ever: nothing has set event ", id,
                           " of HardEvent::", pipe_name(from), "_", pipe_name(to)));
  core_.clock(to).join(each.clock);
  each.set = false;
}

void Queues::check_end() const {
  for (const Buffer& buffer : buffers_)
    if (buffer.state != Buffer::Free)
      core_.fault(buffer.line, text("the kernel ends with a tensor that was not freed (",
                                    buffer.state == Buffer::Queued     ? "EnQue"
                                    : buffer.state == Buffer::Dequeued ? "DeQue"
                                                                       : "AllocTensor",
                                    " of line ", buffer.line, "); FreeTensor"));
  for (int from = 0; from < pipe_count; ++from)
    for (int to = 0; to < pipe_count; ++to)
      for (const Event& each : events_[static_cast<std::size_t>(from * pipe_count + to)])
        if (each.set && !each.of_queue)
          core_.fault(
              each.line,
              text("the kernel ends with event HardEvent::", pipe_name(static_cast<std::uint8_t>(from)), "_",
                   pipe_name(static_cast<std::uint8_t>(to)), " set and never waited for; WaitFlag"));
}

}  // namespace trilith::model
