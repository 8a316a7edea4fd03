// `trilith trace` on traces that are written by hand.
#include "jit/tool.hpp"

#include <doctest/doctest.h>

#include <algorithm>

using namespace jit_test;

namespace {

std::string name(int track, int row, const std::string& what, const std::string& text) {
  return R"({"ph": "M", "name": ")" + what + R"(", "pid": )" + std::to_string(track) + R"(, "tid": )" +
         std::to_string(row) + R"(, "args": {"name": ")" + text + "\"}}";
}
std::string span(int track, int row, double begin, double end, const std::string& category,
                 const std::string& text) {
  return R"({"ph": "X", "pid": )" + std::to_string(track) + R"(, "tid": )" + std::to_string(row) +
         R"(, "ts": )" + std::to_string(begin) + R"(, "dur": )" + std::to_string(end - begin) +
         R"(, "cat": ")" + category + R"(", "name": ")" + text + "\"}";
}
struct End {
  int track, row;
  double time;
};
std::string arrow(int id, const std::string& text, const End& from, const End& to) {
  const auto end = [&](const char* phase, const End& at) {
    return std::string(R"({"ph": ")") + phase + R"(", "id": )" + std::to_string(id) + R"(, "pid": )" +
           std::to_string(at.track) + R"(, "tid": )" + std::to_string(at.row) + R"(, "ts": )" +
           std::to_string(at.time) + R"(, "name": ")" + text + "\"}";
  };
  return end("s", from) + ",\n" + end("f", to);
}

/// Rank 1 waits for rank 0; begins at 1000 us.
std::string two_ranks() {
  constexpr double at = 1000;
  constexpr int task = 2000;
  std::string text = "{\"traceEvents\": [\n";
  const auto add = [&](const std::string& event) { text += (text.back() == '\n' ? "" : ",\n") + event; };
  add(name(0, 0, "process_name", "host"));
  add(name(0, 0, "thread_name", "orchestrator"));
  for (int rank = 0; rank < 2; ++rank) {
    add(name(rank + 1, 0, "process_name", "rank " + std::to_string(rank)));
    add(name(rank + 1, 0, "thread_name", "device"));
    add(name(rank + 1, task, "thread_name", "core 0"));
  }
  add(span(0, 0, at, at + 10, "orchestrate", "orchestrate"));
  add(span(0, 0, at + 10, at + 100, "orchestrate", "wait for ranks"));
  add(span(1, 0, at + 2, at + 4, "orchestrate", "orchestrate"));
  add(span(1, 0, at + 4, at + 60, "orchestrate", "wait for tasks"));
  add(span(1, task, at + 49, at + 50, "signal", "pld::notify"));
  add(span(1, task, at + 5, at + 60, "task", "send"));
  add(span(2, 0, at + 3, at + 6, "orchestrate", "orchestrate"));
  add(span(2, 0, at + 6, at + 98, "orchestrate", "wait for tasks"));
  add(span(2, task, at + 10, at + 55, "wait", "pld::wait"));
  add(span(2, task, at + 8, at + 97, "task", "receive"));
  add(arrow(1, "dispatch", {0, 0, at + 1}, {1, 0, at + 2}));
  add(arrow(2, "dispatch", {0, 0, at + 2}, {2, 0, at + 3}));
  add(arrow(3, "submit", {1, 0, at + 3}, {1, task, at + 5}));
  add(arrow(4, "submit", {2, 0, at + 5}, {2, task, at + 8}));
  add(arrow(5, "signal", {1, task, at + 49.5}, {2, task, at + 54.9}));
  add(arrow(6, "last task", {1, task, at + 59.9}, {1, 0, at + 59.95}));
  add(arrow(7, "last task", {2, task, at + 96.9}, {2, 0, at + 97.9}));
  add(arrow(8, "last rank", {2, 0, at + 97.9}, {0, 0, at + 99.9}));
  return text + "\n]}\n";
}

Ended trace_of(const std::string& text, const std::string& options = "") {
  return run_tool_on("trace", "out.json", text, options);
}

}  // namespace

TEST_CASE("trilith trace prints the critical path through spans and arrows, the waiting shares and kernels") {
  const Ended ended = trace_of(two_ranks());
  CHECK(ended.status == 0);
  CHECK(squeezed(ended.output) ==
        "10 spans, 8 arrows, 100.000 us\n"
        "\n"
        "critical path: 100.000 us, 12 steps\n"
        " at time share where what\n"
        " 0.000 us 1.000 us 1.0 % host, orchestrator orchestrate\n"
        " 1.000 us 1.000 us 1.0 % rank 0, device dispatch from host, orchestrator\n"
        " 2.000 us 1.000 us 1.0 % rank 0, device orchestrate\n"
        " 3.000 us 2.000 us 2.0 % rank 0, core 0 submit from rank 0, device\n"
        " 5.000 us 44.000 us 44.0 % rank 0, core 0 send\n"
        " 49.000 us 0.500 us 0.5 % rank 0, core 0 pld::notify\n"
        " 49.500 us 5.400 us 5.4 % rank 1, core 0 signal from rank 0, core 0\n"
        " 54.900 us 0.100 us 0.1 % rank 1, core 0 pld::wait\n"
        " 55.000 us 41.900 us 41.9 % rank 1, core 0 receive\n"
        " 96.900 us 1.000 us 1.0 % rank 1, device last task from rank 1, core 0\n"
        " 97.900 us 2.000 us 2.0 % host, orchestrator last rank from rank 1, device\n"
        " 99.900 us 0.100 us 0.1 % host, orchestrator wait for ranks\n"
        "\n"
        "rank at work of it waiting share\n"
        "rank 0 55.000 us 0.000 us 0.0 %\n"
        "rank 1 89.000 us 45.000 us 50.6 %\n"
        "\n"
        "kernel blocks time of it waiting mean longest\n"
        "receive 1 89.000 us 45.000 us 89.000 us 89.000 us\n"
        "send 1 55.000 us 0.000 us 55.000 us 55.000 us\n");
}

TEST_CASE("a signal that was there before its wait is not on the critical path") {
  std::string text = two_ranks();
  const std::string late = "\"ts\": 1049.500000";
  REQUIRE(contains(text, late));
  // Rank 0 notifies before rank 1 begins to wait.
  text.replace(text.find(late), late.size(), "\"ts\": 1007.000000");
  const Ended ended = trace_of(text);
  CHECK(contains(squeezed(ended.output), " 10.000 us 45.000 us 45.0 % rank 1, core 0 pld::wait\n"));
  CHECK_FALSE(contains(ended.output, "signal from"));
}

TEST_CASE("a task that began when another one of its rank ended has waited for that one") {
  const auto tasks = [](double second_submitted) {
    return "[" + name(1, 0, "process_name", "rank 0") + "," +
           span(1, 0, 0, 20, "orchestrate", "orchestrate") + "," + span(1, 1, 2, 30, "task", "first") + "," +
           span(1, 2, 31, 50, "task", "second") + "," + arrow(1, "submit", {1, 0, 1}, {1, 1, 2}) + "," +
           arrow(2, "submit", {1, 0, second_submitted}, {1, 2, 31}) + "]";
  };
  const Ended waits = trace_of(tasks(3));
  CHECK(
      contains(squeezed(waits.output), " 30.000 us 1.000 us 2.0 % rank 0, row 2 (nothing) before second\n"));
  CHECK(contains(squeezed(waits.output), "critical path: 50.000 us, 5 steps\n"));
}

TEST_CASE("of a long path trilith trace shows the longest steps, and tells what it leaves out") {
  const Ended ended = trace_of(two_ranks(), "--steps 2");
  CHECK(contains(squeezed(ended.output),
                 " 5.000 us 44.000 us 44.0 % rank 0, core 0 send\n"
                 " 55.000 us 41.900 us 41.9 % rank 1, core 0 receive\n"
                 "and 10 shorter steps of together 14.100 us; --steps 0 shows them\n"));
  CHECK(trace_of(two_ranks(), "--steps 0").output == trace_of(two_ranks()).output);
}

TEST_CASE("trilith trace draws a picture with rows, spans and arrows, the same one every time") {
  const TemporaryFolder folder;
  std::string first, second;
  CHECK(trace_of(two_ranks(), "--svg " + folder / "a.svg").status == 0);
  CHECK(trace_of(two_ranks(), "--svg " + folder / "b.svg").status == 0);
  REQUIRE(jit::read_file(folder / "a.svg", first));
  REQUIRE(jit::read_file(folder / "b.svg", second));
  CHECK(first == second);
  CHECK(first.starts_with("<svg xmlns="));
  CHECK(first.ends_with("</svg>\n"));
  for (const char* part : {"host, orchestrator", "rank 1, core 0", ">receive</text>", "pld::wait, 45.000 us",
                           "<title>signal</title>"})
    CHECK_MESSAGE(contains(first, part), part);
  const auto count = [&](const std::string& part) {
    std::size_t found = 0;
    for (std::size_t at = first.find(part); at != std::string::npos; at = first.find(part, at + 1)) ++found;
    return found;
  };
  CHECK(count("marker-end") == 8);
  CHECK(count("<g><title>") == 10);
  const Ended refused = trace_of(two_ranks(), "--svg " + folder / "none/a.svg");
  CHECK(refused.status == 1);
  CHECK(contains(refused.output, "the picture cannot be written to " + folder / "none/a.svg" +
                                     "; name a file in a folder that exists and may be written"));
}

TEST_CASE("trilith trace says what is wrong with a file, and where") {
  const auto error_of = [](const std::string& text) {
    const Ended ended = trace_of(text);
    CHECK(ended.status == 1);
    return ended.output;
  };
  const Ended missing = run_tool("trace /nonexistent/out.json");
  CHECK(missing.status == 1);
  CHECK(contains(missing.output, "/nonexistent/out.json cannot be read: No such file or directory"));
  for (const char* empty : {"", " \n"})
    CHECK(error_of(empty) ==
          "trilith: out.json is empty; a program writes one with TRILITH_TRACE=out.json\n");

  const std::string whole = two_ranks();
  const std::string cut = whole.substr(0, whole.size() / 2);
  const auto line = 1 + std::count(cut.begin(), cut.end(), '\n');
  CHECK(contains(error_of(cut), "trilith: out.json:" + std::to_string(line) + ":"));
  CHECK(contains(error_of(cut), ": the file ends here, after " + std::to_string(cut.size()) +
                                    " bytes, and is not complete; it was cut off: write it again\n"));
  CHECK(contains(error_of("{\"traceEvents\": [\n  oops\n]}"),
                 "out.json:2:3: no JSON can go on like this; a program writes one with"));

  CHECK(contains(error_of("{\"events\": []}"),
                 "out.json is no trace: it has no list \"traceEvents\"; a program writes one with"));
  CHECK(contains(error_of("{\"traceEvents\": 3}"), "out.json is no trace: \"traceEvents\" is no list; "));
  CHECK(contains(error_of("7"), "out.json is no trace: \"traceEvents\" is no list; "));
  CHECK(contains(error_of("[]"), "out.json is a trace without spans; "));
  CHECK(contains(error_of("[1]"), "out.json: event 1 of the trace is no object\n"));
  CHECK(contains(error_of(R"([{"ph": "X", "dur": 1}])"),
                 "event 1 of the trace has no number \"ts\", its time in microseconds\n"));
  CHECK(contains(error_of(R"([{"ph": "X", "ts": 1, "dur": -1}])"),
                 "event 1 of the trace ends before it begins\n"));
  CHECK(contains(error_of(R"([{"ph": "s", "ts": 1}])"), "event 1 of the trace is an arrow without \"id\"\n"));
  CHECK(contains(error_of("[" + span(0, 0, 0, 1, "task", "k") + R"(, {"ph": "f", "id": 7, "ts": 1}])"),
                 "event 2 of the trace ends the arrow 7, which begins nowhere\n"));
}
