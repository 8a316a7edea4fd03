// Barriers and events. Each pipe works through its lines in order, beside the others; a line may begin before lines
// of other pipes, or the line before it on the vector pipe, are done. The walk below keeps, for every pipe, how far of
// each other pipe is surely done when its next line begins, and every touch that somebody may still have to wait for.
// Queues are known to order what moves in, computes and moves out (EnQue, DeQue, the reuse of a buffer).
//
// A loop's body is walked until what holds at its start no longer changes: its first line follows the last one, too.
#include "codegen/ascendc/context.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <map>
#include <set>
#include <tuple>
#include <utility>

namespace trilith::codegen::ascendc {
namespace {

constexpr const char* names[pipe_count] = {"", "S", "V", "MTE2", "MTE3"};
using Known =
    std::array<std::array<std::int64_t, pipe_count>, pipe_count>;  // [pipe][of pipe]: lines surely done

/// What a line touched, and which pipes have waited for it since.
struct Record {
  Pipe pipe = Pipe::None;
  std::size_t line = 0;  ///< of the program, with `touch` its identity
  std::int64_t number = 0;
  Touch touch;
  unsigned done = 0;   ///< bit of every pipe that has
  bool again = false;  ///< a store: its line may write the same elements in a later turn of a loop
  [[nodiscard]] auto key() const {
    return std::tuple(pipe, line, touch.object, touch.begin, touch.end, touch.writes);
  }
};

struct State {
  Known known{};
  std::vector<Record> records;
  std::map<ObjectId, std::array<std::int64_t, pipe_count>> queued;  ///< what the pipe that enqueued it knew
};

void join(std::array<std::int64_t, pipe_count>& into, const std::array<std::int64_t, pipe_count>& from) {
  for (int pipe = 0; pipe < pipe_count; ++pipe) into[pipe] = std::max(into[pipe], from[pipe]);
}

bool overlap(const Object& object, const Touch& a, const Touch& b) {
  const auto end = [&](const Touch& touch) {
    return touch.end < 0 ? std::max<std::int64_t>(object.bytes, 1) : touch.end;
  };
  const auto begin = [](const Touch& touch) { return touch.end < 0 ? 0 : touch.begin; };
  return begin(a) < end(b) && begin(b) < end(a);
}

class Synchroniser {
 public:
  explicit Synchroniser(Context& context) : context_(context), program_(context.program) {}

  void run() {
    std::size_t at = 0;
    State state;
    walk(at, program_.nodes.size(), state, true);
    program_.nodes = std::move(result_);
  }

 private:
  static int index(Pipe pipe) { return static_cast<int>(pipe); }

  /// Calc objects may share memory, so they are compared by place.
  bool conflict(const Touch& a, const Touch& b, bool scalar) const {
    if (!a.writes && !b.writes) return false;
    const Object &first = program_.objects[a.object], &second = program_.objects[b.object];
    if (first.kind == Object::Kind::Calc && second.kind == Object::Kind::Calc) {
      const auto begin = [](const Object& object, const Touch& touch) {
        return object.offset + (touch.end < 0 ? 0 : touch.begin);
      };
      const auto end = [](const Object& object, const Touch& touch) {
        return object.offset + (touch.end < 0 ? object.bytes : touch.end);
      };
      return begin(first, a) < end(second, b) && begin(second, b) < end(first, a);
    }
    // Tensors of one queue take turns in its buffers, which the queue orders for all pipes but the scalar one.
    if (scalar && first.queue >= 0 && first.queue == second.queue) return true;
    if (first.memory >= 0 && first.memory == second.memory) return true;
    return a.object == b.object && overlap(first, a, b);
  }

  /// Stores may overlap where nothing orders them: two that write one element need a barrier.
  bool stores_meet(const Touch& touch, const Record& record) const {
    const Touch& earlier = record.touch;
    if (!touch.writes || !earlier.writes) return false;
    if (touch.object != earlier.object) return true;
    const bool known = touch.store != nullptr && earlier.store != nullptr;
    if (known && context_.apart(*touch.store, *earlier.store)) return false;
    return !known || touch.store != earlier.store || record.again;
  }

  void emit(Node node, bool write) {
    if (write) result_.push_back(std::move(node));
  }

  void event(Pipe from, Pipe to, State& state, const SourceLocation& location, bool write) {
    const int f = index(from), t = index(to);
    if (from == to) {
      emit({.text = "AscendC::PipeBarrier<PIPE_" + std::string(names[f]) + ">();", .location = location},
           write);
      state.known[t][t] = last_;
      learn(state, t);
      return;
    }
    const std::string name = std::string(names[f]) + "_" + names[t];
    emit({.text = "AscendC::SetFlag<AscendC::HardEvent::" + name + ">(" + event_name(name) + ");",
          .location = location},
         write);
    emit({.text = "AscendC::WaitFlag<AscendC::HardEvent::" + name + ">(" + event_name(name) + ");",
          .location = location},
         write);
    if (write) used_.insert(name);
    auto reached = state.known[f];
    reached[f] = last_;
    join(state.known[t], reached);
    learn(state, t);
  }

  static std::string event_name(std::string name) {
    std::ranges::transform(name, name.begin(), [](char c) {
      return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    });
    return "event_" + name;
  }

  void code(std::size_t at, State& state, bool write) {
    const Node& node = program_.nodes[at];
    const Pipe pipe = node.pipe;
    // What stands behind the target of a jump does not know which path led there.
    const bool signal = node.kind == Node::Kind::Signal;
    const bool all = signal || node.kind == Node::Kind::Cube || node.kind == Node::Kind::Call;
    if (((node.leaves && node.text != "return;") || all) && (signal || !state.records.empty())) {
      emit({.text = "AscendC::PipeBarrier<PIPE_ALL>();", .location = node.location}, write);
      state.records.clear();
      for (auto& known : state.known) known.fill(last_);
    }
    if (pipe != Pipe::None) {
      for (int other = 1; other < pipe_count; ++other) {
        const Pipe from = static_cast<Pipe>(other);
        // The scalar pipe and the one that moves in keep their own order.
        const bool stores = from == pipe && pipe == Pipe::MoveOut;
        if (from == pipe && pipe != Pipe::Vector && !stores) continue;
        const bool waits = std::ranges::any_of(state.records, [&](const Record& record) {
          return record.pipe == from && (record.done >> index(pipe) & 1) == 0 &&
                 std::ranges::any_of(node.touches, [&](const Touch& touch) {
                   if (stores && !stores_meet(touch, record)) return false;
                   return conflict(touch, record.touch, pipe == Pipe::Scalar || from == Pipe::Scalar);
                 });
        });
        if (waits) event(from, pipe, state, node.location, write);
      }
      ++last_;
      for (const Touch& touch : node.touches) state.records.push_back({pipe, at, last_, touch, 0});
    }
    emit(node, write);
  }

  /// Notes what the pipe now knows to be done. Touches that all pipes have waited for bind nobody.
  static void learn(State& state, int pipe) {
    for (Record& record : state.records)
      if (record.number <= state.known[pipe][index(record.pipe)]) record.done |= 1U << pipe;
    std::erase_if(state.records, [](const Record& record) {
      const bool keeps_order = record.pipe != Pipe::Vector && record.pipe != Pipe::MoveOut;
      const unsigned own = keeps_order ? 1U << index(record.pipe) : 0;
      return (record.done | own) == (1U << pipe_count) - 2;
    });
  }

  void queue(const Node& node, State& state, bool write) {
    const bool in = program_.objects[node.object].kind == Object::Kind::In;
    const Pipe from = in ? Pipe::MoveIn : Pipe::Vector, to = in ? Pipe::Vector : Pipe::MoveOut;
    if (node.kind == Node::Kind::Alloc) {
      // A fresh buffer: the pipe that fills it has waited for those who used it before.
      const int queue = program_.objects[node.object].queue;
      for (Record& record : state.records)
        if (program_.objects[record.touch.object].queue == queue && record.pipe != Pipe::Scalar)
          record.done |= 1U << index(from);
    } else if (node.kind == Node::Kind::EnQue) {
      auto reached = state.known[index(from)];
      reached[index(from)] = last_;
      state.queued[node.object] = reached;
    } else if (node.kind == Node::Kind::DeQue) {
      join(state.known[index(to)], state.queued[node.object]);
      learn(state, index(to));
    }
    emit(node, write);
  }

  static State merge(const State& a, const State& b) {
    State both = a;
    for (int pipe = 0; pipe < pipe_count; ++pipe)
      for (int of = 0; of < pipe_count; ++of)
        both.known[pipe][of] = std::min(a.known[pipe][of], b.known[pipe][of]);
    for (const Record& record : b.records) {
      const auto same = std::ranges::find_if(
          both.records, [&](const Record& other) { return other.key() == record.key(); });
      if (same == both.records.end()) {
        both.records.push_back(record);
        continue;
      }
      same->number = std::max(same->number, record.number);
      same->done &= record.done;
      same->again |= record.again;
    }
    for (const auto& [object, reached] : b.queued) both.queued.insert({object, reached});
    return both;
  }

  /// Walks nodes until the Close (or Else) of this level; leaves `at` on it.
  void walk(std::size_t& at, std::size_t end, State& state, bool write) {
    while (at < end) {
      const Node& node = program_.nodes[at];
      switch (node.kind) {
        case Node::Kind::Close:
        case Node::Kind::Else: return;
        case Node::Kind::Open: loop(at, end, state, write); break;
        case Node::Kind::Branch: branch(at, end, state, write); break;
        case Node::Kind::Alloc:
        case Node::Kind::EnQue:
        case Node::Kind::DeQue:
        case Node::Kind::Free:
          queue(node, state, write);
          ++at;
          break;
        default: code(at, state, write); ++at;
      }
    }
  }

  /// How many waits a state may still ask for.
  static std::size_t waiting(const State& state) {
    std::size_t count = state.records.size() * pipe_count;
    for (const Record& record : state.records)
      count += (record.again ? 1 : 0) - static_cast<std::size_t>(std::popcount(record.done));
    return count;
  }

  /// Marks the stores of a loop's body, since `before`, that write the same elements again in its next turn.
  void next_turn(const Node& open, std::int64_t before, State& state) const {
    if (open.loop == nullptr) return;
    for (Record& record : state.records)
      if (record.number > before && record.pipe == Pipe::MoveOut && record.touch.writes)
        record.again |=
            record.touch.store == nullptr || !context_.apart_in_turns(*record.touch.store, *open.loop);
  }

  void loop(std::size_t& at, std::size_t end, State& state, bool write) {
    const std::size_t begin = at;
    State entry = state;
    for (int round = 0; round < 4; ++round) {
      State inside = entry;
      std::size_t inner = begin + 1;
      const std::int64_t before = last_;
      walk(inner, end, inside, false);
      next_turn(program_.nodes[begin], before, inside);
      const State next = merge(entry, inside);
      const bool same = next.known == entry.known && waiting(next) == waiting(entry);
      entry = next;
      if (same) break;
    }
    emit(program_.nodes[begin], write);
    at = begin + 1;
    State inside = entry;
    const std::int64_t before = last_;
    walk(at, end, inside, write);
    next_turn(program_.nodes[begin], before, inside);
    emit(program_.nodes[at], write);
    ++at;
    state = merge(entry, inside);
  }

  void branch(std::size_t& at, std::size_t end, State& state, bool write) {
    emit(program_.nodes[at], write);
    State then = state, otherwise = state;
    ++at;
    walk(at, end, then, write);
    if (program_.nodes[at].kind == Node::Kind::Else) {
      emit(program_.nodes[at], write);
      ++at;
      walk(at, end, otherwise, write);
    }
    emit(program_.nodes[at], write);
    ++at;
    state = merge(then, otherwise);
  }

  Context& context_;
  Program& program_;
  std::vector<Node> result_;
  std::int64_t last_ = 0;  ///< number of the last line of any pipe

 public:
  std::set<std::string> used_;
};

}  // namespace

void synchronise(Context& context) {
  Synchroniser synchroniser(context);
  synchroniser.run();
  for (const std::string& event : synchroniser.used_) context.program.events.push_back(event);
}

}  // namespace trilith::codegen::ascendc
