#include "runtime/mpi/equal_plans.hpp"

#include "jit/key.hpp"
#include "runtime/mpi/mpi_world.hpp"

#include <algorithm>
#include <sstream>
#include <vector>

namespace pl::detail {
namespace {

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

std::string quoted(const std::vector<std::string>& lines, std::size_t at) {
  if (at >= lines.size()) return "no such line";
  const std::size_t begin = lines[at].find_first_not_of(' ');
  return "\"" + (begin == std::string::npos ? std::string() : lines[at].substr(begin)) + "\"";
}

}  // namespace

void require_equal_plans(std::size_t ranks, const std::string& program, const std::string& plan,
                         const Location& where) {
  MpiWorld& world = MpiWorld::open(ranks);
  const std::unique_lock<std::mutex> turn = world.turn(program);
  const std::vector<std::string> hashes =
      world.meet(Meeting::Compile, "compiles " + program, {}, trilith::jit::content_hash(plan)).payloads;
  if (std::all_of(hashes.begin(), hashes.end(),
                  [&](const std::string& hash) { return hash == hashes.front(); }))
    return;
  // Rare: only now the whole texts travel.
  const std::vector<std::string> plans =
      world.meet(Meeting::Compile, "compares " + program, {}, program + "\n" + plan).payloads;
  const auto other = std::find_if(plans.begin(), plans.end(),
                                  [&](const std::string& text) { return text != plans.front(); });
  const std::vector<std::string> first = lines_of(plans.front()), second = lines_of(*other);
  std::size_t line = 0;
  while (line < first.size() && line < second.size() && first[line] == second[line]) ++line;
  const std::string rank = std::to_string(other - plans.begin());
  throw PlanError("ranks 0 and " + rank + " have compiled different programs: line " + std::to_string(line) +
                      " of the plan is " + quoted(first, line) + " on rank 0 and " + quoted(second, line) +
                      " on rank " + rank +
                      "; with the transport \"mpi\" every process must call the same programs with equal "
                      "arguments and configuration",
                  where);
}

}  // namespace pl::detail
