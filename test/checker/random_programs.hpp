// Random right programs over ranks: ring shifts, halo exchanges, two buffers in turn, relays, gathers and collectives,
// one behind the other, ordered no more than they need. One kernel runs the steps of all of them.
#pragma once

#include "check.hpp"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <random>
#include <vector>

namespace right {

/// What one step does on each rank: blocks of `data`, a peer `distance` ranks further on, a cell.
enum Kind : int {
  fill,          ///< to = value + 10 * rank
  add,           ///< to = from + value
  remote_store,  ///< the peer's to = from
  put,
  remote_load,  ///< to = the peer's from
  get,
  remote_add,     ///< the peer's to += from
  notify_add,     ///< the peer's cell += value
  notify_set,     ///< the peer's cell = value
  wait_at_least,  ///< for the own cell
  wait_equal,
  fence,
  barrier,
  allreduce_sum,  ///< of to
  allreduce_max,  ///< by the ring
  broadcast,      ///< of to, from rank `distance`
  allgather,      ///< of as many elements as there are ranks, from to on
  reduce_scatter,
  all_to_all,
};

struct Step {
  Kind kind{};
  int from = 0, to = 0, size = 0;
  int distance = 0;
  int cell = 0, value = 0;
  int who = -1;  ///< the only rank that does it; -1: all; -2 - r: all but r
};
inline constexpr int step_fields = 8;

/// A program: several dispatches of steps, a barrier of the host behind some of them, and what the ranks' data are then.
struct RandomProgram {
  int ranks = 0;
  std::vector<std::vector<Step>> dispatches;
  std::vector<bool> host_barrier;
  std::vector<std::vector<int>> expected;  ///< by rank: 64 elements
};

class ProgramMaker {
 public:
  ProgramMaker(std::uint64_t seed, int ranks) : random_(seed) {
    program_.ranks = ranks;
    program_.expected.assign(static_cast<std::size_t>(ranks), std::vector<int>(elements, 0));
  }

  RandomProgram make(int patterns) {
    begin_dispatch();
    for (int i = 0; i < patterns; ++i) {
      pattern();
      if (draw(0, 5) == 0) end_dispatch();
    }
    program_.host_barrier.push_back(false);
    return program_;
  }

 private:
  static constexpr int blocks = 8, block = 8, elements = blocks * block;
  // Cells 0 and 1: a barrier by hand. Three distances have a cell for data and one for acknowledgements each, so that
  // every cell has one sender. Then: a chain, a Set value and its acknowledgement, a count of all at rank 0, an answer.
  static constexpr int first_pair = 2, chain = 8, set_value = 9, set_seen = 10, all_at_root = 11, answer = 12;

  /// Of a block since all ranks last met: untouched; its owner alone may go on; others may still read it.
  enum class State { Free, Owned, Read };

  int draw(int least, int most) { return std::uniform_int_distribution<int>(least, most)(random_); }
  [[nodiscard]] int n() const { return program_.ranks; }

  void begin_dispatch() { program_.dispatches.emplace_back(); }
  void end_dispatch() {
    const bool meet = draw(0, 1) == 0;
    program_.host_barrier.push_back(meet);
    if (meet) all_met();
    begin_dispatch();
  }

  // --- blocks

  void all_met() {
    std::fill(std::begin(state_), std::end(state_), State::Free);
    root_counted_ = false;
  }
  /// Another one than `other` that is in a state no worse than `worst`; all ranks meet first where there is none.
  int choose(State worst, int other = -1) {
    for (int attempt = 0;; ++attempt) {
      const int number = draw(0, blocks - 1);
      if (number == other) continue;
      if (state_[number] <= worst) return number;
      if (attempt > 20) meet();
    }
  }
  struct Region {
    int from = 0, to = 0, size = 0;
  };
  /// Parts of two blocks.
  Region parts(int from, int to) {
    const int size = draw(1, block), from_at = draw(0, block - size), to_at = draw(0, block - size);
    return {from * block + from_at, to * block + to_at, size};
  }

  // --- steps

  void emit(Step step) {
    program_.dispatches.back().push_back(step);
    simulate(step);
  }
  void notify(int cell, int distance, int who = -1) {
    emit({.kind = notify_add, .distance = distance, .cell = cell, .value = 1, .who = who});
  }
  void wait(int cell, int expected, int who = -1) {
    emit({.kind = wait_at_least, .cell = cell, .value = expected, .who = who});
  }
  void copy(Kind kind, const Region& region, int distance, int who = -1) {
    emit({.kind = kind,
          .from = region.from,
          .to = region.to,
          .size = region.size,
          .distance = distance,
          .who = who});
  }

  static int sum(int a, int b) {
    return static_cast<int>(static_cast<std::uint32_t>(a) + static_cast<std::uint32_t>(b));
  }
  /// What all ranks do at once.
  void simulate(const Step& step) {
    auto& now = program_.expected;
    const auto before = now;
    const auto at = [](int value) { return static_cast<std::size_t>(value); };
    for (int rank = 0; rank < n(); ++rank) {
      if (step.who >= 0 ? rank != step.who : rank == -2 - step.who) continue;
      const auto peer = at((rank + step.distance) % n()), me = at(rank);
      const int size = step.kind >= allgather ? n() : step.size;
      for (int i = 0; i < size; ++i) {
        const auto from = at(step.from + i), to = at(step.to + i);
        switch (step.kind) {
          case fill: now[me][to] = step.value + 10 * rank; break;
          case add: now[me][to] = sum(before[me][from], step.value); break;
          case remote_store:
          case put: now[peer][to] = before[me][from]; break;
          case remote_load:
          case get: now[me][to] = before[peer][from]; break;
          case remote_add: now[peer][to] = sum(now[peer][to], before[me][from]); break;
          case allreduce_sum:
            now[me][to] = 0;
            for (const auto& other : before) now[me][to] = sum(now[me][to], other[to]);
            break;
          case allreduce_max:
            for (const auto& other : before) now[me][to] = std::max(now[me][to], other[to]);
            break;
          case broadcast: now[me][to] = before[at(step.distance)][to]; break;
          case allgather: now[me][to] = before[at(i)][to]; break;
          case reduce_scatter:
            if (i != rank) break;
            now[me][to] = 0;
            for (const auto& other : before) now[me][to] = sum(now[me][to], other[to]);
            break;
          case all_to_all: now[me][to] = before[at(i)][at(step.to + rank)]; break;
          default: break;
        }
      }
    }
  }

  // --- patterns

  void meet() {
    switch (draw(0, 7)) {
      case 0: emit({.kind = barrier}); break;
      case 1: emit({.kind = allreduce_sum, .to = draw(0, 50), .size = draw(1, 14)}); break;
      case 2: emit({.kind = allreduce_max, .to = draw(0, 50), .size = draw(1, 14)}); break;
      case 3:
        emit({.kind = broadcast, .to = draw(0, 50), .size = draw(1, 14), .distance = draw(0, n() - 1)});
        break;
      case 4: emit({.kind = allgather, .to = draw(0, elements - n())}); break;
      case 5: emit({.kind = reduce_scatter, .to = draw(0, elements - n())}); break;
      case 6: emit({.kind = all_to_all, .to = draw(0, elements - n())}); break;
      default: {
        // Two cells in turn: a rank that is ahead signals the other one.
        const int cell = meetings_ % 2, round = ++meetings_;
        for (int distance = 0; distance < n(); ++distance) notify(cell, distance);
        wait(cell, n() * ((round + 1) / 2));
      }
    }
    all_met();
  }

  void pattern() {
    switch (draw(0, 9)) {
      case 0: return own();
      case 1:
      case 2: return push();
      case 3: return pull();
      case 4: return halo();
      case 5: return two_buffers();
      case 6: return relay();
      case 7: return set_and_acknowledge();
      case 8: return gather_and_answer();
      default: return meet();
    }
  }

  void own() {
    const int to = choose(State::Owned), from = draw(0, blocks - 1);
    if (draw(0, 1) == 0 || from == to) {
      const Region region = parts(to, to);
      emit({.kind = fill, .to = region.to, .size = region.size, .value = draw(0, 9)});
    } else {
      const Region region = parts(from, to);
      emit({.kind = add, .from = region.from, .to = region.to, .size = region.size, .value = draw(0, 9)});
      if (state_[from] == State::Free) state_[from] = State::Owned;
    }
    state_[to] = State::Owned;
  }

  /// 0, 1, 2: to the next rank, the one before, the next but one. Each has cells of its own.
  [[nodiscard]] int distance_of(int pair) const {
    return pair == 1 ? n() - 1 : pair == 0 ? 1 % n() : 2 % n();
  }
  [[nodiscard]] static int data_cell(int pair) { return first_pair + 2 * pair; }
  [[nodiscard]] static int seen_cell(int pair) { return first_pair + 2 * pair + 1; }
  [[nodiscard]] int back(int pair) const { return (n() - distance_of(pair)) % n(); }

  void touch_own(int number) {
    if (state_[number] == State::Free) state_[number] = State::Owned;
  }

  void push() {
    const int pair = draw(0, 2), to = choose(State::Free), from = draw(0, blocks - 1);
    if (from == to) return;
    copy(draw(0, 1) == 0 ? remote_store : put, parts(from, to), distance_of(pair));
    notify(data_cell(pair), distance_of(pair));
    wait(data_cell(pair), ++count_[data_cell(pair)]);
    touch_own(from);
    state_[to] = State::Owned;
  }

  void pull() {
    const int pair = draw(0, 2), from = draw(0, blocks - 1), to = choose(State::Owned, from);
    // My data are there for who reads them; then those of my peer are.
    notify(seen_cell(pair), back(pair));
    wait(seen_cell(pair), ++count_[seen_cell(pair)]);
    copy(draw(0, 1) == 0 ? remote_load : get, parts(from, to), distance_of(pair));
    state_[to] = State::Owned;
    if (draw(0, 1) == 0) {
      state_[from] = State::Read;
      return;
    }
    notify(data_cell(pair), distance_of(pair));
    wait(data_cell(pair), ++count_[data_cell(pair)]);
    if (state_[from] != State::Read) state_[from] = State::Owned;
  }

  void halo() {
    const int left = choose(State::Free), right = choose(State::Free, left), from = draw(0, blocks - 1);
    if (from == left || from == right) return;
    copy(remote_store, parts(from, left), distance_of(0));
    copy(put, parts(from, right), distance_of(1));
    notify(data_cell(0), distance_of(0));
    notify(data_cell(1), distance_of(1));
    for (const int pair : {0, 1}) wait(data_cell(pair), ++count_[data_cell(pair)]);
    touch_own(from);
    state_[left] = state_[right] = State::Owned;
  }

  void two_buffers() {
    const int first = choose(State::Free), second = choose(State::Free, first), from = draw(0, blocks - 1);
    const int pair = draw(0, 1), rounds = draw(2, 6);
    if (from == first || from == second || state_[from] == State::Read) return;
    const int seen = count_[seen_cell(pair)];
    for (int round = 0; round < rounds; ++round) {
      const int to = round % 2 == 0 ? first : second;
      if (round >= 2) wait(seen_cell(pair), seen + round - 1);
      const Region region = parts(from, to);
      copy(draw(0, 1) == 0 ? remote_store : put, region, distance_of(pair));
      notify(data_cell(pair), distance_of(pair));
      wait(data_cell(pair), ++count_[data_cell(pair)]);
      emit({.kind = add, .from = region.to, .to = region.from, .size = region.size, .value = 1});
      notify(seen_cell(pair), back(pair));
    }
    wait(seen_cell(pair), count_[seen_cell(pair)] = seen + rounds);
    state_[first] = state_[second] = state_[from] = State::Owned;
  }

  /// Rank 0 writes to the last one and tells it through all the others.
  void relay() {
    if (n() < 2) return;
    const int to = choose(State::Free), from = draw(0, blocks - 1);
    if (from == to) return;
    copy(draw(0, 1) == 0 ? remote_store : put, parts(from, to), n() - 1, 0);
    if (n() > 2) emit({.kind = fence, .who = 0});
    notify(chain, 1, 0);
    ++count_[chain];
    for (int rank = 1; rank < n(); ++rank) {
      wait(chain, count_[chain], rank);
      if (rank + 1 < n()) notify(chain, 1, rank);
    }
    touch_own(from);
    state_[to] = State::Owned;
  }

  void set_and_acknowledge() {
    const int to = choose(State::Free), from = draw(0, blocks - 1);
    if (from == to) return;
    const int value = ++count_[set_value];
    copy(draw(0, 1) == 0 ? remote_store : put, parts(from, to), 1 % n());
    emit({.kind = notify_set, .distance = 1 % n(), .cell = set_value, .value = value});
    emit({.kind = draw(0, 1) == 0 ? wait_equal : wait_at_least, .cell = set_value, .value = value});
    notify(set_seen, n() - 1);
    wait(set_seen, ++count_[set_seen]);
    touch_own(from);
    state_[to] = State::Owned;
  }

  /// All add to rank 0, which answers each of them.
  void gather_and_answer() {
    if (root_counted_) meet();
    const int sum = choose(State::Free), result = choose(State::Free, sum), from = draw(0, blocks - 1);
    if (from == sum || from == result) return;
    const Region region = parts(from, sum);
    // Distances are from the rank, the root is one for all: a step for each.
    for (int rank = 0; rank < n(); ++rank) {
      copy(remote_add, region, n() - rank, rank);
      notify(all_at_root, n() - rank, rank);
    }
    count_[all_at_root] += n();
    wait(all_at_root, count_[all_at_root], 0);
    for (int peer = 0; peer < n(); ++peer) {
      copy(draw(0, 1) == 0 ? remote_store : put, parts(sum, result), peer, 0);
      notify(answer, peer, 0);
    }
    wait(answer, ++count_[answer]);
    touch_own(from);
    state_[sum] = state_[result] = State::Owned;
    root_counted_ = true;  // a rank that is ahead must not count for one that is behind
  }

  std::mt19937_64 random_;
  RandomProgram program_;
  State state_[blocks]{};
  int count_[16]{};
  int meetings_ = 0;
  bool root_counted_ = false;
};

}  // namespace right
