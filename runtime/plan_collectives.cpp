#include "runtime/plan_collectives.hpp"

#include "codegen/remote.hpp"
#include "pl/detail/location.hpp"
#include "runtime/program.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>

namespace pl::detail {
namespace {

namespace codegen = trilith::codegen;
using codegen::Expr;
using codegen::Op;
using codegen::Statement;
using codegen::StatementKind;

/// May it leave a block, or the kernel, around it?
bool leaves(const Statement& statement, std::vector<std::int32_t> blocks = {}) {
  if (statement.kind == StatementKind::Leave)
    return std::ranges::find(blocks, statement.block) == blocks.end();
  if (statement.kind == StatementKind::Block) blocks.push_back(statement.block);
  const auto any = [&](const std::vector<Statement>& list) {
    return std::ranges::any_of(list, [&](const Statement& inner) { return leaves(inner, blocks); });
  };
  return any(statement.body) || any(statement.else_body) || any(statement.step_body);
}

/// May it end a round of the loop around it, or the loop?
bool breaks(const Statement& statement) {
  if (statement.kind == StatementKind::Break || statement.kind == StatementKind::Continue) return true;
  if (statement.kind == StatementKind::For || statement.kind == StatementKind::While) return false;
  return std::ranges::any_of(statement.body, breaks) || std::ranges::any_of(statement.else_body, breaks);
}

class Walk {
 public:
  Walk(const codegen::Kernel& kernel, const std::vector<RecordedArgument>& arguments)
      : kernel_(kernel), arguments_(arguments) {}
  std::vector<RecordedCollective> run() {
    list(kernel_.body, 1, false);
    return std::move(result_);
  }

 private:
  using Times = std::optional<std::int64_t>;

  void list(const std::vector<Statement>& statements, Times times, bool conditional) {
    for (const Statement& statement : statements) {
      switch (statement.kind) {
        case StatementKind::For: {
          const Times rounds = rounds_of(statement);
          list(statement.body, times && rounds ? Times(*times * *rounds) : std::nullopt,
               conditional || std::ranges::any_of(statement.body, breaks));
          break;
        }
        case StatementKind::While:
          list(statement.body, std::nullopt, conditional);
          list(statement.step_body, std::nullopt, conditional);
          break;
        case StatementKind::If:
          list(statement.body, times, true);
          list(statement.else_body, times, true);
          break;
        default:
          if (codegen::is_collective(statement.value.op)) add(statement, times, conditional);
          list(statement.body, times, conditional);
      }
      conditional |= leaves(statement);
    }
  }

  [[nodiscard]] Times rounds_of(const Statement& loop) const {
    const Times begin = value_of(loop.begin), end = value_of(loop.end), step = value_of(loop.step);
    if (!begin || !end || !step || *step == 0) return std::nullopt;
    const std::int64_t distance = *step > 0 ? *end - *begin : *begin - *end;
    const std::int64_t stride = std::abs(*step);
    return distance <= 0 ? 0 : (distance + stride - 1) / stride;
  }

  [[nodiscard]] int argument_of(codegen::VariableId variable) const {
    for (std::size_t i = 0; i < kernel_.parameters.size(); ++i)
      if (kernel_.parameters[i].variable == variable) return static_cast<int>(i);
    return -1;
  }

  [[nodiscard]] Times value_of(const Expr& expression) const {
    const auto both = [&](auto&& combine) -> Times {
      const Times a = value_of(expression.operands[0]), b = value_of(expression.operands[1]);
      return a && b ? Times(combine(*a, *b)) : std::nullopt;
    };
    switch (expression.op) {
      case Op::Constant:
        if (codegen::is_floating(expression.value.dtype)) return std::nullopt;
        return expression.value.as_int64();
      case Op::Cast: return value_of(expression.operands[0]);
      case Op::Add: return both([](std::int64_t a, std::int64_t b) { return a + b; });
      case Op::Sub: return both([](std::int64_t a, std::int64_t b) { return a - b; });
      case Op::Mul: return both([](std::int64_t a, std::int64_t b) { return a * b; });
      case Op::Variable: {
        const int argument = argument_of(expression.variable);
        std::int64_t value = 0;
        if (argument < 0 || !arguments_[static_cast<std::size_t>(argument)].integer(value))
          return std::nullopt;
        return value;
      }
      default: return std::nullopt;
    }
  }

  /// The argument that a window operand names, or a part of it.
  [[nodiscard]] int window_argument(const Expr& operand) const {
    if (operand.op == Op::Variable) return argument_of(operand.variable);
    for (const Expr& inner : operand.operands)
      if (const int found = window_argument(inner);
          found >= 0 && kernel_.parameters[static_cast<std::size_t>(found)].window)
        return found;
    return -1;
  }

  void add(const Statement& statement, Times times, bool conditional) {
    const Expr& operation = statement.value;
    const Expr& operand = operation.operands[0];
    const int argument = window_argument(operand);
    if (argument < 0 || times == 0) return;
    const RecordedView& view = arguments_[static_cast<std::size_t>(argument)].view.front();
    if (view.window == nullptr) return;
    RecordedCollective found;
    found.operation = codegen::name_in_pld(operation.op);
    found.signal = codegen::remote_operands(operation).signal.given();
    found.algorithm = operation.attributes.algorithm == codegen::Algorithm::Ring   ? "ring"
                      : operation.attributes.algorithm == codegen::Algorithm::Mesh ? "mesh"
                                                                                   : "auto";
    found.window = view.window->memory;
    // Of x[i] the last axes.
    const bool part = operand.op != Op::Variable && !operand.type.any_shape;
    const int dropped = part ? std::max(0, view.rank - static_cast<int>(operand.type.shape.size())) : 0;
    found.bytes = static_cast<std::int64_t>(codegen::size_of(view.dtype));
    for (int axis = dropped; axis < view.rank; ++axis)
      found.bytes *= view.extents[static_cast<std::size_t>(axis)];
    if (operation.op == Op::Barrier) found.bytes = 0;
    const codegen::SourceLocation at = operation.location.line != 0 ? operation.location : statement.location;
    found.where = {at.file < kernel_.files.size() ? kernel_.files[at.file] : std::string(), at.line,
                   at.column};
    found.times = times;
    found.conditional = conditional;
    result_.push_back(std::move(found));
  }

  const codegen::Kernel& kernel_;
  const std::vector<RecordedArgument>& arguments_;
  std::vector<RecordedCollective> result_;
};

nlohmann::ordered_json json_of(const RecordedCollective& collective, const std::string& by,
                               std::size_t ranks) {
  nlohmann::ordered_json json{{"operation", collective.operation},
                              {"algorithm", collective.algorithm},
                              {"by", by},
                              {"at", collective.where.file + ":" + std::to_string(collective.where.line)},
                              {"ranks", ranks},
                              {"bytes", collective.bytes},
                              {"signal", collective.signal},
                              {"times", nullptr},
                              {"conditional", collective.conditional}};
  if (collective.times) json["times"] = *collective.times;
  return json;
}

}  // namespace

std::vector<RecordedCollective> collectives_of(const codegen::Kernel& kernel,
                                               const std::vector<RecordedArgument>& arguments) {
  return Walk(kernel, arguments).run();
}

std::string plan_as_json(const Recorder& recorder) {
  std::size_t calls = 0, unseen = 0;
  auto list = nlohmann::ordered_json::array();
  const auto ranks_of = [&](const RecordedCollective& collective) {
    std::vector<int> ranks = recorder.windows.ranks_of(*collective.window);
    if (ranks.empty())
      for (int rank = 0; rank < recorder.world_size; ++rank) ranks.push_back(rank);
    return ranks;
  };
  for (const RecordedDispatch& dispatch : recorder.dispatches)
    for (const RecordedTask& task : dispatch.tasks) {
      ++calls;
      unseen += task.has_unseen_code ? 1 : 0;
      for (const RecordedCollective& collective : task.collectives)
        if (const std::vector<int> ranks = ranks_of(collective); ranks.front() == dispatch.rank)
          list.push_back(json_of(collective, task.name, ranks.size()));
    }
  for (const RecordedCollective& collective : recorder.collectives)
    list.push_back(json_of(collective, "the host", ranks_of(collective).size()));
  return nlohmann::ordered_json{{"trilith_plan", 1},
                                {"ranks", recorder.world_size},
                                {"dispatches", recorder.dispatches.size()},
                                {"kernel_calls", calls},
                                {"kernel_calls_without_ir", unseen},
                                {"collectives", list}}
      .dump(1, ' ', false, nlohmann::json::error_handler_t::replace);
}

void save_plan(const Program& program, const std::string& path, const std::source_location& where) {
  std::ofstream file(path, std::ios::binary);
  file << program.collectives << "\n";
  file.close();
  if (!file)
    throw ConfigError("save_plan: " + path + " cannot be written: " + std::strerror(errno) +
                          "; name a file in a folder that exists and may be written",
                      location_of(where));
}

}  // namespace pl::detail
