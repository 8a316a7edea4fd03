// runtime/windows/few_elements.hpp -- a collective whose elements are so few that each rank shows its own to all others
// (Shown::data), and makes its result of what it sees: one step instead of two.
#pragma once

#include "runtime/windows/meeting.hpp"
#include "runtime/windows/remote_call.hpp"

#include <array>
#include <cstdint>

namespace pl::detail {

class FewElements {
 public:
  /// `elements`: of the part. The call has been checked.
  FewElements(const RemoteCall& call, std::int64_t elements);
  /// The same on all ranks that make this call.
  [[nodiscard]] bool fit() const;
  /// Writes what the others need of the own part.
  void show(Shown& place) const;
  /// `places`: of all members, that have shown this call.
  void take(const std::array<const Shown*, MeetingPlace::most_ranks>& places) const;

 private:
  struct Range {
    std::int64_t first, count;
  };
  [[nodiscard]] std::int64_t row() const { return elements_ / ranks_; }
  [[nodiscard]] Range shown_by(int member) const;
  [[nodiscard]] std::size_t bytes(std::int64_t count) const {
    return static_cast<std::size_t>(count * element_);
  }

  const RemoteCall& call_;
  const int ranks_, member_;
  char* const data_;
  const std::int64_t elements_, element_;
};

}  // namespace pl::detail
