#include "runtime/windows/traced_call.hpp"

#include <chrono>
#include <string>

namespace pl::detail {
namespace {

// A shorter transfer would be hidden by the cost of its own span.
constexpr std::chrono::microseconds shortest_transfer{1};

const char* category_of(abi::RemoteOperation operation) {
  switch (operation) {
    case abi::remote_rank:
    case abi::remote_size:
    case abi::remote_fence:
    case abi::remote_wait:
    case abi::remote_defer_wait: return nullptr;
    case abi::remote_notify: return "signal";
    case abi::remote_load:
    case abi::remote_store:
    case abi::remote_put:
    case abi::remote_get: return "remote";
    default: return "collective";
  }
}

/// The peer's rank in the program, which is what rows are named by.
std::string peer_of(const RemoteCall& call) {
  const WindowMemory& memory = *call.window->window->memory;
  if (call.peer < 0 || call.peer >= memory.size()) return {};
  return R"(, "peer": )" + std::to_string(memory.part(static_cast<int>(call.peer)).rank);
}

/// Nothing for a call that has changed none.
std::string cell_of(const TracedThread& thread) {
  return thread.cell < 0 ? std::string() : R"(, "cell": )" + std::to_string(thread.cell);
}

std::int64_t elements_of(const RemoteCall& call) {
  std::int64_t elements = 1;
  if (!call.shape.empty())
    for (const std::int64_t extent : call.shape) elements *= extent;
  else
    for (int axis = 0; axis < call.window->rank; ++axis) elements *= call.window->extents[axis];
  return elements;
}

}  // namespace

TracedCall::TracedCall(TracedThread& thread, const RemoteCall& call) : thread_(thread), call_(call) {
  thread_.where = call.where;
  thread_.cell = -1;
}

TracedCall::~TracedCall() {
  const char* const category = category_of(call_.operation);
  if (category == nullptr || call_.window == nullptr || call_.window->window == nullptr) return;
  const Clock::time_point end = Clock::now();
  const bool collective = category[0] == 'c', signal = category[0] == 's';
  if (!collective && !signal && end - begin_ < shortest_transfer) return;
  std::string arguments = R"("window": )" + json_string(call_.window->window->memory->title());
  if (signal)
    arguments += peer_of(call_) + cell_of(thread_) + R"(, "value": )" + std::to_string(call_.value) +
                 R"(, "op": ")" + (call_.mode == 0 ? "Set" : "AtomicAdd") + '"';
  else
    arguments += (collective ? std::string() : peer_of(call_)) + R"(, "elements": )" +
                 std::to_string(elements_of(call_));
  thread_.trace.span(thread_.row, category, name_of(call_.operation), begin_, end,
                     arguments + ", " + traced_place(call_.where));
}

}  // namespace pl::detail
