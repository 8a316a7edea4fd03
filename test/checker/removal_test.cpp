// Right programs and samples with one notify, wait, fence or barrier less: each is reported.
// `test_checker --success -tc="*table of removals*"` prints what was found.
#include "quiet_programs.hpp"
#include "runtime/windows/remote_call.hpp"

#include "samples/common.hpp"
#include "samples/golden.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <mutex>
#include <set>

using support::contains;
using windows::counted;
using namespace right;

// The lessons as they are; what they include is included above.
namespace lesson_04 {
#include "samples/distributed/04_barrier.cpp"
}
namespace lesson_05 {
#include "samples/distributed/05_remote_ring_shift.cpp"
}
namespace lesson_06 {
#include "samples/distributed/06_put_get_ring_shift.cpp"
}
namespace lesson_07 {
#include "samples/distributed/07_any_rank_count.cpp"
}
namespace lesson_08 {
#include "samples/distributed/08_allreduce_mesh.cpp"
}
namespace lesson_09 {
#include "samples/distributed/09_allreduce_two_phase.cpp"
}
namespace lesson_10 {
#include "samples/distributed/10_allreduce_ring.cpp"
}
namespace lesson_12 {
#include "samples/distributed/12_broadcast.cpp"
}
namespace lesson_13 {
#include "samples/distributed/13_allgather.cpp"
}
namespace lesson_14 {
#include "samples/distributed/14_reduce_scatter.cpp"
}
namespace lesson_15 {
#include "samples/distributed/15_all_to_all.cpp"
}
namespace lesson_16 {
#include "samples/distributed/16_allreduce_rmsnorm.cpp"
}

namespace {

namespace abi = pl::abi;
using pl::detail::RemoteCall;

/// "09_allreduce_two_phase.cpp:38 pld::wait"
std::string place_of(const RemoteCall& call) {
  const std::string file = call.where.file;
  return file.substr(file.rfind('/') + 1) + ":" + std::to_string(call.where.line) + " " +
         pl::detail::name_of(call.operation);
}

std::mutex places_mutex;
std::set<std::string> places;  ///< where the running program has one of these operations
std::string left_out;          ///< the one that it does not do

bool leave_out(const RemoteCall& call) {
  switch (call.operation) {
    case abi::remote_notify:
    case abi::remote_wait:
    case abi::remote_fence:
    case abi::remote_barrier: break;
    default: return false;
  }
  const std::lock_guard lock(places_mutex);
  const std::string place = place_of(call);
  places.insert(place);
  return place == left_out;
}

/// What a sample's main says in a process of its own: a wrong result ends that.
std::string output_of(int (*lesson)(int, char**), const char* devices) {
  std::array<int, 2> ends{};
  REQUIRE(pipe(ends.data()) == 0);
  std::fflush(nullptr);
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    dup2(ends[1], 1);
    dup2(ends[1], 2);
    std::array<std::string, 3> words{"lesson", "-d", devices};
    std::array<char*, 4> arguments{words[0].data(), words[1].data(), words[2].data(), nullptr};
    const int code = lesson(3, arguments.data());
    std::fflush(nullptr);
    _exit(code);
  }
  close(ends[1]);
  std::string output;
  std::array<char, 4096> some{};
  for (ssize_t n = 0; (n = read(ends[0], some.data(), some.size())) > 0;)
    output.append(some.data(), static_cast<std::size_t>(n));
  close(ends[0]);
  waitpid(child, nullptr, 0);
  return output;
}

struct Program {
  std::string name;
  std::function<std::string()> run;
};

template <class Kernel>
Program program(const char* name, Kernel& kernel, int ranks, int number = 1) {
  return {name, [&kernel, ranks, number] { return counted(kernel, ranks, number, 3); }};
}

bool is_report(const std::string& message) {
  for (const char* words : {"race: ", "deadlock: ", "misuse of a signal cell", "lost signal: ",
                            "stale signal: ", "published but never signalled", "different collective calls"})
    if (contains(message, words)) return true;
  return false;
}

struct Found {
  std::size_t removed = 0, reported = 0;
  std::set<std::string> silent;
};

/// Why a program with one operation less is as right as before, in the eyes of a checker of order.
const std::map<std::string, std::string> explained{
    {"collectives back to back", "pld::barrier: the allreduce before it ends with a barrier of its own"},
    {"Sets in turn",
     "pld::notify: its value is read as a number; it orders nothing that its neighbours do not"},
    {"a rank by itself", "pld::wait: what a task has written at its own rank it reads in program order"}};

/// Removes each operation in turn.
Found remove_each(const std::string& name, const std::function<std::set<std::string>()>& find_places,
                  const std::function<std::string()>& run) {
  left_out.clear();
  places.clear();
  const std::set<std::string> all = find_places();
  Found found;
  for (const std::string& place : all) {
    left_out = place;
    const std::string message = run();
    ++found.removed;
    if (is_report(message))
      ++found.reported;
    else
      found.silent.insert(place);
  }
  left_out.clear();
  if (doctest::getContextOptions()->success) {
    std::printf("| %s | %zu | %zu |", name.c_str(), found.removed, found.reported);
    for (const std::string& place : found.silent) std::printf(" %s", place.c_str());
    if (const auto why = explained.find(name); why != explained.end())
      std::printf(" (%s)", why->second.c_str());
    std::printf(" |\n");
  }
  return found;
}

struct Checked {
  Checked() {
    pl::detail::leave_out_for_tests() = leave_out;
    setenv("TRILITH_CHECK", "1", 1);
    if (windows::natively) setenv("TRILITH_EAGER", "1", 1);
    // Of the samples: what a case has compiled stays in the test's own cache.
    setenv("TRILITH_CACHE_DIR", support::shared_cache().c_str(), 1);
  }
  ~Checked() {
    pl::detail::leave_out_for_tests() = nullptr;
    for (const char* name : {"TRILITH_CHECK", "TRILITH_EAGER", "TRILITH_CACHE_DIR"}) unsetenv(name);
  }
};

}  // namespace

TEST_CASE("the table of removals: right programs and samples with one operation less are reported") {
  BOTH_WAYS
  const Checked checked;
  if (doctest::getContextOptions()->success)
    std::printf("\n%s\n\n| program | removals | reported | silent |\n|---|---|---|---|\n",
                windows::natively ? "natively" : "compiled");
  std::size_t removed = 0, reported = 0;
  const auto add = [&](const std::string& name, const Found& found) {
    CAPTURE(name);
    CHECK(found.removed != 0);
    removed += found.removed;
    reported += found.reported;
    CHECK(found.silent.size() == explained.count(name));
    for (const std::string& place : found.silent)
      CHECK(contains(explained.at(name), place.substr(place.find("pld::")) + ": "));
  };
  for (const Program& each :
       {program("two buffers in turn", double_buffering, 3, 7),
        program("a chain through a third rank", chain_through_a_third, 3, 1),
        program("all add to one", all_add_to_one, 3, 9),
        program("collectives back to back", collectives_back_to_back, 3, 3),
        program("ranks that run ahead", runs_free, 3), program("growing values", sets_growing_values, 3),
        program("Sets in turn", takes_turns_to_set, 4), program("a rank by itself", notifies_itself, 2, 3),
        program("neighbours in a line", neighbours_in_one_line, 4),
        program("a gather by get", gathers_by_get, 3, 8)})
    add(each.name, remove_each(
                       each.name,
                       [&] {
                         CHECK(each.run() == "");
                         return places;
                       },
                       each.run));
  const std::map<std::string, int (*)(int, char**)> lessons{{"04_barrier", lesson_04::main},
                                                            {"05_remote_ring_shift", lesson_05::main},
                                                            {"06_put_get_ring_shift", lesson_06::main},
                                                            {"07_any_rank_count", lesson_07::main},
                                                            {"08_allreduce_mesh", lesson_08::main},
                                                            {"09_allreduce_two_phase", lesson_09::main},
                                                            {"10_allreduce_ring", lesson_10::main},
                                                            {"12_broadcast", lesson_12::main},
                                                            {"13_allgather", lesson_13::main},
                                                            {"14_reduce_scatter", lesson_14::main},
                                                            {"15_all_to_all", lesson_15::main},
                                                            {"16_allreduce_rmsnorm", lesson_16::main}};
  for (const auto& [name, lesson] : lessons)
    add(name, remove_each(
                  name,
                  [lesson = lesson] {
                    std::array<std::string, 3> words{"lesson", "-d", "0,1,2"};
                    std::array<char*, 4> arguments{words[0].data(), words[1].data(), words[2].data(),
                                                   nullptr};
                    CHECK(lesson(3, arguments.data()) == 0);
                    return places;
                  },
                  [lesson = lesson] { return output_of(lesson, "0,1,2"); }));
  CAPTURE(removed);
  CAPTURE(reported);
  CHECK(100 * reported >= 95 * removed);
}
