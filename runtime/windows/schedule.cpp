#include "runtime/windows/schedule.hpp"

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

namespace pl::detail {
namespace {

// A program of a million operations must not sleep before a quarter of them.
constexpr int most_pauses = 64;
constexpr std::size_t most_held = 64;

std::uint64_t mix(std::uint64_t value) {
  value += 0x9e3779b97f4a7c15;
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9;
  value = (value ^ (value >> 27)) * 0x94d049bb133111eb;
  return value ^ (value >> 31);
}

}  // namespace

Schedule::Schedule(std::uint64_t seed, int rank, std::uint64_t task, std::int64_t block)
    : state_(seed == 0 ? 0
                       : mix(mix(mix(seed) + static_cast<std::uint64_t>(rank)) + task * 64 +
                             static_cast<std::uint64_t>(block)) |
                             1) {}

std::uint64_t Schedule::next() {
  state_ = (state_ + 0x9e3779b97f4a7c15) | 1;
  return mix(state_);
}

void Schedule::pause() {
  if (!active() || pauses_ == most_pauses) return;
  const std::uint64_t choice = next();
  if (choice % 4 != 0) return;
  ++pauses_;
  // The first operation of a rank may be late by more than the others take together.
  const std::uint64_t longest = pauses_ == 1 ? 2000 : 200;
  std::this_thread::sleep_for(std::chrono::microseconds((choice >> 8) % longest));
}

void Schedule::hold(int peer, std::function<void()> write) {
  held_.push_back({peer, std::move(write)});
  if (held_.size() < most_held) return;
  const auto one = held_.begin() + static_cast<std::ptrdiff_t>(next() % held_.size());
  one->write();
  held_.erase(one);
}

void Schedule::deliver(int peer) {
  if (held_.empty()) return;
  std::vector<Held> now;
  std::vector<Held> later;
  for (Held& held : held_) (peer < 0 || held.peer == peer ? now : later).push_back(std::move(held));
  held_ = std::move(later);
  for (std::size_t i = now.size(); i > 1; --i) std::swap(now[i - 1], now[next() % i]);
  for (const Held& held : now) held.write();
}

}  // namespace pl::detail
