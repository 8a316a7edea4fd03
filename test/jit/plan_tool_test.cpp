// `trilith plan`: the numbers of the model, by hand, and what it says of plans.
#include "jit/tool.hpp"

#include <doctest/doctest.h>

using namespace jit_test;

namespace {

Ended plan_of(const std::string& text, const std::string& options = "") {
  return run_tool_on("plan", "plan.json", text, options);
}

std::string collective(const std::string& operation, const std::string& algorithm, int bytes,
                       const std::string& times, const std::string& by, bool signal = false,
                       bool conditional = false) {
  return R"({"operation": ")" + operation + R"(", "algorithm": ")" + algorithm + R"(", "by": ")" + by +
         R"(", "at": "main.cpp:7", "ranks": 4, "bytes": )" + std::to_string(bytes) + R"(, "signal": )" +
         (signal ? "true" : "false") + R"(, "times": )" + times + R"(, "conditional": )" +
         (conditional ? "true" : "false") + "}";
}
std::string plan(const std::string& collectives, int unseen = 0) {
  return R"({"trilith_plan": 1, "ranks": 4, "dispatches": 8, "kernel_calls": 12, "kernel_calls_without_ir": )" +
         std::to_string(unseen) + R"(, "collectives": [)" + collectives + "]}";
}

}  // namespace

// alpha 2 us, 65536 bytes / (25 GB/s) = 2.62144 us, a barrier of 8 ranks 3 alpha = 6 us:
// mesh of 8: 2 * 6 + 14 * (2 + 2.62144 / 8) = 44.58752; ring: 2 * 6 + 14 * (4 + 2.62144 / 8) = 72.58752; …
TEST_CASE("trilith plan without a plan prints the model's numbers of every collective") {
  const Ended ended = run_tool("plan --ranks 1,2,8");
  CHECK(ended.status == 0);
  CHECK(squeezed(ended.output) ==
        "model: alpha 2us an operation on another rank's memory, beta 25GB/s (assumed: HDR InfiniBand, whose "
        "line rate is 200 Gb/s; give your own);\n"
        " a rank does one operation after another, and serves one after another\n"
        "\n"
        "collective bytes a rank n=1 n=2 n=8\n"
        "barrier 0 0.000 us 2.000 us 6.000 us\n"
        "allreduce, mesh (Auto) 65536 0.000 us 10.621 us 44.588 us\n"
        "allreduce, ring 65536 0.000 us 14.621 us 72.588 us\n"
        "reduce 65536 0.000 us 10.621 us 44.588 us\n"
        "broadcast 65536 0.000 us 8.621 us 44.350 us\n"
        "scatter 65536 0.000 us 7.311 us 28.294 us\n"
        "gather 65536 0.000 us 7.311 us 28.294 us\n"
        "allgather 65536 0.000 us 7.311 us 28.294 us\n"
        "reduce_scatter 65536 0.000 us 9.311 us 34.294 us\n"
        "all_to_all 65536 0.000 us 9.311 us 34.294 us\n"
        "all_to_all_v 65536 0.000 us 11.311 us 48.295 us\n"
        "send_recv 65536 0.000 us 8.621 us 16.621 us\n");
}

TEST_CASE("trilith plan prints what the collectives of a plan take, and their sum") {
  const std::string text = plan(collective("allreduce", "ring", 65536, "3", "fused") + "," +
                                collective("barrier", "auto", 0, "1", "the host", true) + "," +
                                collective("barrier", "auto", 0, "2", "the host", true) + "," +
                                collective("broadcast", "auto", 1000, "null", "loop", false, true));
  const Ended ended = plan_of(text, "--alpha 1us --beta 1GB/s --ranks 2,8");
  CHECK(ended.status == 0);
  // Ring of 2: 2 * 1 + 2 * (2 + 32.768) = 71.536; on cells a barrier of 8 is 7 alpha.
  CHECK(squeezed(ended.output) ==
        "plan for 4 ranks: 8 dispatches, 12 kernel calls, 3 places with collectives\n"
        "model: alpha 1us an operation on another rank's memory, beta 1GB/s;\n"
        " a rank does one operation after another, and serves one after another\n"
        "\n"
        "collective bytes a rank times n=2 n=8 by\n"
        "allreduce, ring 65536 3 214.608 us 446.064 us fused at main.cpp:7\n"
        "barrier, .signal 0 3 3.000 us 21.000 us the host at main.cpp:7\n"
        "broadcast 1000 ? 4.000 us 20.000 us loop at main.cpp:7, if its condition holds\n"
        "together 217.608 us 467.064 us\n"
        "?: how often is known only when it runs; the row is for once, and is not in the sum\n"
        "other numbers of ranks: with the same bytes a rank\n");
  const Ended own = plan_of(plan("", 2));
  CHECK(contains(squeezed(own.output), "collective bytes a rank times n=4 by\ntogether 0.000 us\n"));
  CHECK(contains(
      own.output,
      "2 kernel calls with windows are of code that is not captured: their collectives are not counted"));
}

TEST_CASE("trilith plan prints its formulas when asked") {
  const std::string text = run_tool("plan --formulas").output;
  CHECK(
      contains(text, "n ranks, m bytes a rank; B: a barrier, ceil(log2 n) alpha, or (n - 1) alpha on cells"));
  CHECK(contains(squeezed(text), "allreduce, mesh (Auto) 2 B + 2 (n - 1) (alpha + m/n / beta)\n"));
  CHECK(contains(squeezed(text), "allreduce, ring 2 B + 2 (n - 1) (2 alpha + m/n / beta)\n"));
  CHECK(contains(squeezed(text), "send_recv 2 B + alpha + m / beta\n"));
}

TEST_CASE("trilith plan says what is wrong with a plan or an option") {
  const auto refused = [](const Ended& ended) {
    CHECK(ended.status == 1);
    return ended.output;
  };
  CHECK(contains(refused(plan_of("")), "plan.json is empty; a program writes one with compiled.save_plan("));
  CHECK(contains(refused(plan_of("{\"trilith_plan\": 1,")),
                 "plan.json:1:20: the file ends here, after 19 bytes"));
  CHECK(contains(refused(plan_of("[]")),
                 "plan.json is no plan: it has no number \"trilith_plan\"; a program writes one with"));
  CHECK(
      contains(refused(plan_of("{\"trilith_plan\": 2}")),
               "plan.json is a plan of format 2; this command reads format 1: use that of the same version"));
  CHECK(contains(refused(plan_of("{\"trilith_plan\": 1}")),
                 "plan.json: the plan has no fit \"collectives\"; "));
  CHECK(contains(refused(plan_of(plan("{}"))), "plan.json: collective 1 has no fit \"operation\"; "));
  CHECK(contains(
      refused(plan_of(plan(collective("allsort", "auto", 1, "1", "k")))),
      "the model does not know the collective \"allsort\"; is the plan of another version of Trilith?"));
  CHECK(contains(refused(run_tool("plan --alpha 2")),
                 "--alpha 2: expected a time such as 2us, with ns, us, ms or s"));
  CHECK(contains(refused(run_tool("plan --alpha -1us")), "--alpha -1us: expected a time"));
  CHECK(contains(refused(run_tool("plan --beta 25")),
                 "--beta 25: expected a speed such as 25GB/s or 200Gb/s, with K, M, G or T and B/s or b/s"));
  CHECK(contains(refused(run_tool("plan --ranks 2,x")), "--ranks x: expected a whole number of 1 or more"));
  CHECK(contains(refused(run_tool("plan --bytes 0")), "--bytes 0: expected a whole number of 1 or more"));
  CHECK(run_tool("plan --ranks 2 --beta 200Gb/s").output == [&] {
    std::string same = run_tool("plan --ranks 2 --beta 25.0GB/s").output;
    same.replace(same.find("25.0GB/s"), 8, "200Gb/s");
    return same;
  }());
}

TEST_CASE("the tables of the page on scaling are those that trilith plan prints") {
  std::string page;
  REQUIRE(jit::read_file(TRILITH_SOURCE_DIR "/runtime/windows/scaling.md", page));
  int tables = 0;
  const std::string prompt = "    $ trilith ";
  for (std::size_t at = page.find(prompt); at != std::string::npos; at = page.find(prompt, at + 1)) {
    const std::size_t end = page.find('\n', at);
    const std::string command = page.substr(at + prompt.size(), end - at - prompt.size());
    std::string shown;
    for (std::size_t line = end + 1;
         page.compare(line, 4, "    ") == 0 || page.compare(line, 1, "\n") == 0;) {
      const std::size_t next = page.find('\n', line) + 1;
      // A blank line ends the block where no more output follows.
      if (page[line] == '\n' &&
          (page.compare(next, 4, "    ") != 0 || page.compare(next, prompt.size(), prompt) == 0))
        break;
      shown += page[line] == '\n' ? "\n" : page.substr(line + 4, next - line - 4);
      line = next;
    }
    CAPTURE(command);
    CHECK(run_tool(command).output == shown);
    ++tables;
  }
  CHECK(tables == 2);
}
