#include "runtime/windows/few_elements.hpp"

#include "runtime/windows/reduce_lines.hpp"

#include <cstring>

namespace pl::detail {

FewElements::FewElements(const RemoteCall& call, std::int64_t elements)
    : call_(call),
      ranks_(call.window->window->memory->size()),
      member_(call.window->window->member),
      data_(static_cast<char*>(call.window->data)),
      elements_(elements),
      element_(static_cast<std::int64_t>(trilith::codegen::size_of(call.window->dtype))) {}

bool FewElements::fit() const {
  switch (call_.operation) {
    case abi::remote_barrier:
    case abi::remote_all_to_all_v: return false;
    // Its order is that of the steps.
    case abi::remote_allreduce:
      if (call_.reduces_by_ring()) return false;
      break;
    case abi::remote_allgather:
    case abi::remote_gather: return bytes(row()) <= sizeof(Shown::data);
    default: break;
  }
  return bytes(elements_) <= sizeof(Shown::data);
}

FewElements::Range FewElements::shown_by(int member) const {
  switch (call_.operation) {
    case abi::remote_allgather:
    case abi::remote_gather: return {member * row(), row()};
    case abi::remote_broadcast:
    case abi::remote_scatter:
    case abi::remote_send_recv: return {0, member == call_.peer ? elements_ : 0};
    default: return {0, elements_};
  }
}

void FewElements::show(Shown& place) const {
  const Range own = shown_by(member_);
  if (own.count != 0) std::memcpy(place.data.data(), data_ + own.first * element_, bytes(own.count));
}

void FewElements::take(const std::array<const Shown*, MeetingPlace::most_ranks>& places) const {
  const auto at = [&](int member, std::int64_t first) {
    return places[static_cast<std::size_t>(member)]->data.data() +
           (first - shown_by(member).first) * element_;
  };
  const auto copy = [&](int member, std::int64_t from, std::int64_t to, std::int64_t count) {
    if (count != 0) std::memcpy(data_ + to * element_, at(member, from), bytes(count));
  };
  const auto reduce = [&](std::int64_t first, std::int64_t count) {
    if (count == 0) return;
    std::array<const char*, MeetingPlace::most_ranks> lines;
    for (int member = 0; member < ranks_; ++member)
      lines[static_cast<std::size_t>(member)] = at(member, first);
    char* const to = data_ + first * element_;
    reduce_lines(call_.window->dtype, call_.reduction(), {lines.data(), static_cast<std::size_t>(ranks_)},
                 {&to, 1}, count);
  };
  const bool at_root = member_ == call_.peer;
  switch (call_.operation) {
    case abi::remote_allreduce: reduce(0, elements_); return;
    case abi::remote_reduce:
      if (at_root) reduce(0, elements_);
      return;
    case abi::remote_reduce_scatter: reduce(member_ * row(), row()); return;
    case abi::remote_broadcast:
      if (!at_root) copy(static_cast<int>(call_.peer), 0, 0, elements_);
      return;
    case abi::remote_send_recv:
      if (member_ == call_.mode && !at_root) copy(static_cast<int>(call_.peer), 0, 0, elements_);
      return;
    case abi::remote_scatter:
      if (!at_root) copy(static_cast<int>(call_.peer), member_ * row(), member_ * row(), row());
      return;
    case abi::remote_gather:
      if (!at_root) return;
      [[fallthrough]];
    case abi::remote_allgather:
      for (int member = 0; member < ranks_; ++member)
        if (member != member_) copy(member, member * row(), member * row(), row());
      return;
    default:  // all_to_all
      for (int member = 0; member < ranks_; ++member)
        if (member != member_) copy(member, member_ * row(), member * row(), row());
      return;
  }
}

}  // namespace pl::detail
