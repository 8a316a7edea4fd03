// jit/tool/plan_command.cpp -- `trilith plan`: what the collectives of a program's plan cost on a real interconnect.
#include "codegen/error.hpp"
#include "jit/tool/collective_cost.hpp"
#include "jit/tool/commands.hpp"
#include "jit/tool/json_file.hpp"
#include "jit/tool/trace_report.hpp"

#include <charconv>
#include <cmath>
#include <cstdio>
#include <memory>
#include <optional>
#include <span>
#include <utility>

namespace trilith::tool {
namespace {

using nlohmann::json;

constexpr const char* how_to_get_one = "; a program writes one with compiled.save_plan(\"plan.json\")";

struct Options {
  std::string file, alpha = "2us", beta = "25GB/s", bytes = "65536";
  std::vector<std::string> ranks;
  bool formulas = false;
};

struct Unit {
  const char* name;
  double factor;
};
constexpr Unit times[] = {{"ns", 1e-9}, {"us", 1e-6}, {"ms", 1e-3}, {"s", 1}};
constexpr Unit speeds[] = {{"KB/s", 1e3},     {"MB/s", 1e6},     {"GB/s", 1e9},     {"TB/s", 1e12},
                           {"Mb/s", 1e6 / 8}, {"Gb/s", 1e9 / 8}, {"Tb/s", 1e12 / 8}};

double measure(const std::string& option, const std::string& text, std::span<const Unit> units,
               const std::string& expected) {
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const std::string unit(end, text.data() + text.size());
  if (error == std::errc() && number > 0 && std::isfinite(number))
    for (const Unit& known : units)
      if (unit == known.name) return number * known.factor;
  throw pl::UserError("--" + option + " " + text + ": expected " + expected);
}

std::int64_t count(const std::string& option, const std::string& text) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number < 1)
    throw pl::UserError("--" + option + " " + text + ": expected a whole number of 1 or more");
  return number;
}

/// One collective of a plan, or of the table without one.
struct Line {
  CollectiveCall call;
  std::optional<std::int64_t> times;  ///< nothing: not known
  std::string notes;
};

class Plan {
 public:
  explicit Plan(const std::string& path) : path_(path), document_(read_json(path, how_to_get_one)) {
    if (!document_.is_object() || !document_.contains("trilith_plan"))
      throw pl::UserError(path + " is no plan: it has no number \"trilith_plan\"" + how_to_get_one);
    if (document_["trilith_plan"] != 1)
      throw pl::UserError(path + " is a plan of format " + document_["trilith_plan"].dump() +
                          "; this command reads format 1: use that of the same version of Trilith");
  }

  [[nodiscard]] std::int64_t number(const char* key) const { return get<std::int64_t>(document_, key); }

  [[nodiscard]] std::vector<Line> lines() const {
    std::vector<Line> result;
    const auto list = get<json::array_t>(document_, "collectives");
    for (const json& item : list) {
      ++item_;
      Line line;
      line.call.operation = get<std::string>(item, "operation");
      line.call.algorithm = get<std::string>(item, "algorithm");
      line.call.bytes = static_cast<double>(get<std::int64_t>(item, "bytes"));
      line.call.signal = get<bool>(item, "signal");
      if (!get<json>(item, "times").is_null()) line.times = get<std::int64_t>(item, "times");
      line.notes = get<std::string>(item, "by") + " at " + get<std::string>(item, "at");
      if (get<bool>(item, "conditional")) line.notes += ", if its condition holds";
      (void)cost_of(line.call, 1, {});  // refuses one that it does not know
      if (!result.empty() && line.times && result.back().times && result.back().notes == line.notes &&
          title_of(result.back().call) == title_of(line.call) && result.back().call.bytes == line.call.bytes)
        *result.back().times += *line.times;
      else
        result.push_back(std::move(line));
    }
    return result;
  }

 private:
  template <class T>
  [[nodiscard]] T get(const json& object, const char* key) const {
    try {
      return object.at(key).get<T>();
    } catch (const json::exception&) {
      throw pl::UserError(path_ + ": " +
                          (item_ == 0 ? std::string("the plan") : "collective " + std::to_string(item_)) +
                          " has no fit \"" + key + '"' + how_to_get_one);
    }
  }
  const std::string path_;
  json document_;
  mutable std::size_t item_ = 0;
};

std::string padded(const std::string& text, int width) {
  const auto wide = static_cast<std::size_t>(std::abs(width));
  if (text.size() >= wide) return text;
  const std::string room(wide - text.size(), ' ');
  return width < 0 ? text + room : room + text;
}

std::string time_text(double seconds) { return duration_text(std::llround(seconds * 1e9)); }

std::string table_of(const std::vector<Line>& lines, const std::vector<std::int64_t>& ranks,
                     const CostModel& model, bool has_plan) {
  std::string text =
      padded("collective", -26) + padded("bytes a rank", 14) + (has_plan ? padded("times", 7) : "");
  for (const std::int64_t n : ranks) text += padded("n=" + std::to_string(n), 14);
  text += has_plan ? "  by\n" : "\n";
  for (const Line& line : lines) {
    text += padded(title_of(line.call), -26) + padded(std::to_string(std::llround(line.call.bytes)), 14);
    if (has_plan) text += padded(line.times ? std::to_string(*line.times) : "?", 7);
    for (const std::int64_t n : ranks)
      text +=
          padded(time_text(cost_of(line.call, n, model) * static_cast<double>(line.times.value_or(1))), 14);
    text += has_plan ? "  " + line.notes + "\n" : "\n";
  }
  return text;
}

std::string model_text(const Options& options) {
  const bool own = options.alpha != Options{}.alpha || options.beta != Options{}.beta;
  return "model: alpha " + options.alpha + " an operation on another rank's memory, beta " + options.beta +
         (own ? "" : " (assumed: HDR InfiniBand, whose line rate is 200 Gb/s; give your own)") +
         ";\n       a rank does one operation after another, and serves one after another\n";
}

std::string plan_text(const Options& options, const std::vector<std::int64_t>& given,
                      const CostModel& model) {
  const Plan plan(options.file);
  const std::vector<Line> lines = plan.lines();
  const std::vector<std::int64_t> ranks = given.empty() ? std::vector{plan.number("ranks")} : given;
  std::string text = "plan for " + std::to_string(plan.number("ranks")) +
                     " ranks: " + std::to_string(plan.number("dispatches")) + " dispatches, " +
                     std::to_string(plan.number("kernel_calls")) + " kernel calls, " +
                     std::to_string(lines.size()) + " places with collectives\n" + model_text(options) +
                     "\n" + table_of(lines, ranks, model, true);
  text += padded("together", -26) + padded("", 21);
  bool unknown = false;
  for (const Line& line : lines) unknown |= !line.times;
  for (const std::int64_t n : ranks) {
    double total = 0;
    for (const Line& line : lines)
      if (line.times) total += cost_of(line.call, n, model) * static_cast<double>(*line.times);
    text += padded(time_text(total), 14);
  }
  text += "\n";
  if (unknown)
    text += "?: how often is known only when it runs; the row is for once, and is not in the sum\n";
  if (const std::int64_t unseen = plan.number("kernel_calls_without_ir"); unseen != 0)
    text +=
        std::to_string(unseen) +
        " kernel calls with windows are of code that is not captured: their collectives are not counted\n";
  if (!lines.empty() && ranks != std::vector{plan.number("ranks")})
    text += "other numbers of ranks: with the same bytes a rank\n";
  return text;
}

std::string all_text(const Options& options, std::vector<std::int64_t> ranks, const CostModel& model) {
  if (ranks.empty()) ranks = {2, 8, 64, 1024};
  const auto bytes = static_cast<double>(count("bytes", options.bytes));
  std::vector<Line> lines;
  for (const std::string& name : modelled_collectives()) {
    lines.push_back({{name, "auto", name == "barrier" ? 0 : bytes, false}, 1, ""});
    if (name == "allreduce") lines.push_back({{name, "ring", bytes, false}, 1, ""});
  }
  return model_text(options) + "\n" + table_of(lines, ranks, model, false);
}

int run(const Options& options) {
  const CostModel model{measure("alpha", options.alpha, times, "a time such as 2us, with ns, us, ms or s"),
                        measure("beta", options.beta, speeds,
                                "a speed such as 25GB/s or 200Gb/s, with K, M, G or T and B/s or b/s")};
  std::vector<std::int64_t> ranks;
  for (const std::string& text : options.ranks) ranks.push_back(count("ranks", text));
  std::string text =
      options.file.empty() ? all_text(options, ranks, model) : plan_text(options, ranks, model);
  if (options.formulas) {
    text +=
        "\nn ranks, m bytes a rank; B: a barrier, ceil(log2 n) alpha, or (n - 1) alpha on cells of .signal\n";
    for (const std::string& name : modelled_collectives()) {
      const CollectiveCall call{name};
      text += padded(title_of(call), -26) + formula_of(call) + "\n";
      if (name == "allreduce") text += padded("allreduce, ring", -26) + formula_of({name, "ring"}) + "\n";
    }
  }
  std::fwrite(text.data(), 1, text.size(), stdout);
  return 0;
}

}  // namespace

void add_plan_command(CLI::App& app, Action& action) {
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand(
      "plan", "What a latency-bandwidth model says of the collectives of a plan, or of all that there are");
  command->add_option("FILE", options->file, "The plan, of compiled.save_plan(…); without: every collective");
  command->add_option("--alpha", options->alpha, "Time of one operation on another rank's memory")
      ->capture_default_str();
  command->add_option("--beta", options->beta, "Bytes a second of one link")->capture_default_str();
  command->add_option("--ranks", options->ranks, "Numbers of ranks: 2,8,64; else the plan's")->delimiter(',');
  command->add_option("--bytes", options->bytes, "Without a plan: bytes of each rank's part")
      ->capture_default_str();
  command->add_flag("--formulas", options->formulas, "Also prints the formulas");
  command->callback([&action, options] { action = [options] { return run(*options); }; });
}

}  // namespace trilith::tool
