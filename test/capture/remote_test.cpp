// Windows in kernels: the IR that the functions of namespace pld become.
#include "codegen/remote.hpp"
#include "codegen/json.hpp"
#include "codegen/specialise.hpp"
#include "test/capture/support.hpp"

#include <doctest/doctest.h>

using namespace capture_test;

namespace {

const Captured& remote() {
  const Captured& all = captured("remote.cpp");
  INFO(all.report.text);
  REQUIRE_FALSE(all.report.failed);
  return all;
}

std::string body(const std::string& name) { return remote().body(name); }

/// The kernel's text has these lines, in this order; others may stand between.
void check_lines(const std::string& name, const std::vector<std::string>& lines) {
  const std::string text = body(name);
  std::size_t at = 0;
  for (const std::string& line : lines) {
    INFO(text);
    CAPTURE(line);
    const std::size_t found = text.find(line + "\n", at);
    CHECK(found != std::string::npos);
    if (found != std::string::npos) at = found + line.size();
  }
}

}  // namespace

TEST_CASE(
    "captured: kernels with windows keep the rules of the IR, survive JSON, and say that they may wait") {
  for (const auto& captured : remote().kernels) {
    INFO(captured.kernel.name);
    CHECK_NOTHROW(trilith::codegen::verify(captured.kernel));
    const std::string json = trilith::codegen::to_json(captured.kernel);
    CHECK(trilith::codegen::to_json(trilith::codegen::kernel_from_json(json)) == json);
    CHECK(trilith::codegen::uses_windows(captured.kernel));
    CHECK(trilith::codegen::may_wait(captured.kernel));
  }
}

TEST_CASE("captured: a ring over windows") {
  check_lines("ring",
              {"kernel ring(x: in tensor<float>[N], y: out tensor<float>[N], data: window tensor<float>[N], "
               "signal: window tensor<int32>[4])",
               "  rank = comm_rank(data)", "  nranks = comm_size(data)",
               "  remote_store data of cast<int64>(next) = load x",
               "  notify signal of cast<int64>(next) += 1", "  wait signal >= 1", "  store y = load data"});
}

TEST_CASE("captured: every option of signals and of one-sided memory") {
  check_lines("options", {"  notify s[1, cast<int64>(r)] of cast<int64>(r + 1) = 3",
                          "  wait s[0, cast<int64>(r)] == cast<int64>(r)", "  wait s[1][2] >= 5",
                          "  remote_store w[cast<int64>(r)][0] of 0 += load x",
                          "  remote = remote_load w[1, 0 : 1, 8] of cast<int64>(r)", "  tile = remote",
                          "  remote_store w[2, 0] of 1 = tile * 2.0f", "  put w[0] of cast<int64>(r) = x",
                          "  put w[1, 0 : 2, 4] of cast<int64>(r) += w[0, 0]", "  get y = w[2] of 1",
                          "  get y[4] = w[2][0 : 4] of 1", "  fence"});
}

TEST_CASE("captured: collectives of windows and of parts of them") {
  check_lines("collectives", {"  barrier w", "  allreduce w, sum", "  allreduce w[1], max, ring",
                              "  broadcast w.slice[0, 2 : 4, 2] from cast<int64>(r)", "  broadcast w from 0",
                              "  allgather w", "  reduce_scatter w, min", "  all_to_all w"});
}

TEST_CASE("captured: collectives with a root, between two ranks and with counts") {
  check_lines("rooted", {"  comm_reduce w to cast<int64>(r), prod", "  comm_reduce w to 0, sum",
                         "  comm_scatter w from 1", "  comm_gather w[0] to cast<int64>(r)",
                         "  send_recv w from cast<int64>(r) to 0", "  all_to_all_v w, counts counts",
                         "  all_to_all_v w, counts counts, signal cells[1]"});
}

TEST_CASE("captured: the cells that a signal is given") {
  check_lines("given", {"  barrier w, signal s", "  allreduce w, sum, mesh, signal t[cast<int64>(r)]",
                        "  broadcast w from cast<int64>(r), signal t.slice[1, 0 : 1, 4]",
                        "  send_recv w from 0 to cast<int64>(r), signal s", "  comm_gather w to 0",
                        "  comm_gather w to 2, signal same"});
}

TEST_CASE("captured: windows and who shares them go through helpers") {
  const std::string text = body("helpers");
  CAPTURE(text);
  CHECK(text.find("comm_rank(") != std::string::npos);
  CHECK(text.find("comm_size(") != std::string::npos);
  CHECK(text.find("remote_store ") < text.find("store w = tile"));
  CHECK(text.find("barrier w") != std::string::npos);
}

TEST_CASE("captured: what an operand reads is read before a later operand's wait") {
  check_lines("order", {"  operand = load s", "  wait s >= 1"});
  const std::string text = body("order");
  CHECK(text.find("= operand\n") != std::string::npos);
}
