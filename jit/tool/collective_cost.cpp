// jit/tool/collective_cost.cpp
#include "jit/tool/collective_cost.hpp"

#include "codegen/error.hpp"

#include <algorithm>

namespace trilith::tool {
namespace {

/// B (barriers + (n - 1) (operations alpha + parts m/n / beta + wholes m / beta)), and how to say it.
struct Shape {
  const char* name;
  double barriers;
  double operations;  ///< of (n - 1)
  double parts;       ///< of (n - 1) m/n bytes
  double wholes;      ///< of (n - 1) m bytes
  const char* formula;
};

// Where n - 1 ranks read from, or write to, one root, it serves them one after another.
constexpr Shape shapes[] = {
    {"barrier", 1, 0, 0, 0, "B"},
    {"allreduce", 2, 2, 2, 0, "2 B + 2 (n - 1) (alpha + m/n / beta)"},
    {"reduce", 2, 2, 2, 0, "2 B + 2 (n - 1) (alpha + m/n / beta)"},
    {"broadcast", 2, 1, 0, 1, "2 B + (n - 1) (alpha + m / beta)"},
    {"scatter", 2, 1, 1, 0, "2 B + (n - 1) (alpha + m/n / beta)"},
    {"gather", 2, 1, 1, 0, "2 B + (n - 1) (alpha + m/n / beta)"},
    {"allgather", 2, 1, 1, 0, "2 B + (n - 1) (alpha + m/n / beta)"},
    {"reduce_scatter", 3, 1, 1, 0, "3 B + (n - 1) (alpha + m/n / beta)"},
    {"all_to_all", 3, 1, 1, 0, "3 B + (n - 1) (alpha + m/n / beta)"},
    {"all_to_all_v", 3, 2, 1, 0, "3 B + (n - 1) (2 alpha + (m/n + 4) / beta)"},
};

bool is_ring(const CollectiveCall& call) { return call.operation == "allreduce" && call.algorithm == "ring"; }

const Shape& shape_of(const CollectiveCall& call) {
  const auto* const found = std::find_if(std::begin(shapes), std::end(shapes),
                                         [&](const Shape& s) { return s.name == call.operation; });
  if (found == std::end(shapes))
    throw pl::UserError("the model does not know the collective \"" + call.operation +
                        "\"; is the plan of another version of Trilith?");
  return *found;
}

/// Rounds in which each rank signals one other; on the user's cells each signals all others.
double signals_of_barrier(const CollectiveCall& call, std::int64_t ranks) {
  if (call.signal) return static_cast<double>(ranks - 1);
  int rounds = 0;
  for (std::int64_t distance = 1; distance < ranks; distance *= 2) ++rounds;
  return rounds;
}

}  // namespace

const std::vector<std::string>& modelled_collectives() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> result;
    for (const Shape& shape : shapes) result.emplace_back(shape.name);
    result.emplace_back("send_recv");
    return result;
  }();
  return names;
}

std::string title_of(const CollectiveCall& call) {
  std::string title = call.operation;
  if (call.operation == "allreduce")
    title += is_ring(call) ? ", ring" : call.algorithm == "mesh" ? ", mesh" : ", mesh (Auto)";
  return call.signal ? title + ", .signal" : title;
}

double cost_of(const CollectiveCall& call, std::int64_t ranks, const CostModel& model) {
  const double others = static_cast<double>(ranks - 1);
  const double barrier = signals_of_barrier(call, ranks) * model.alpha;
  const double whole = call.bytes / model.beta, part = whole / static_cast<double>(ranks);
  if (call.operation == "send_recv") return 2 * barrier + (ranks == 1 ? 0 : model.alpha + whole);
  if (is_ring(call))
    // In each step the left neighbour's piece is read, then signalled; on the user's cells a step is a barrier.
    return 2 * barrier + 2 * others * (model.alpha + part + (call.signal ? barrier : model.alpha));
  const Shape& shape = shape_of(call);
  const double counts = call.operation == "all_to_all_v" ? others * 4 / model.beta : 0;
  return shape.barriers * barrier +
         others * (shape.operations * model.alpha + shape.parts * part + shape.wholes * whole) + counts;
}

std::string formula_of(const CollectiveCall& call) {
  if (call.operation == "send_recv") return "2 B + alpha + m / beta";
  if (is_ring(call))
    return call.signal ? "2 B + 2 (n - 1) (alpha + m/n / beta + B)"
                       : "2 B + 2 (n - 1) (2 alpha + m/n / beta)";
  return shape_of(call).formula;
}

}  // namespace trilith::tool
