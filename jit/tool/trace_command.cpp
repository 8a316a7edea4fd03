// jit/tool/trace_command.cpp -- `trilith trace`: what a trace tells.
#include "codegen/error.hpp"
#include "jit/file.hpp"
#include "jit/tool/commands.hpp"
#include "jit/tool/critical_path.hpp"
#include "jit/tool/trace_report.hpp"

#include <cstdio>
#include <memory>

namespace trilith::tool {
namespace {

struct Options {
  std::string file, svg;
  std::size_t steps = 40;
};

int run(const Options& options) {
  const TraceFile trace = read_trace(options.file);
  const std::vector<PathStep> path = critical_path(trace);
  const std::string text = report_of(trace, path, options.steps);
  std::fwrite(text.data(), 1, text.size(), stdout);
  if (!options.svg.empty() && !jit::publish_file(options.svg, timeline_svg(trace, path)))
    throw pl::UserError("the picture cannot be written to " + options.svg +
                        "; name a file in a folder that exists and may be written");
  return 0;
}

}  // namespace

void add_trace_command(CLI::App& app, Action& action) {
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand(
      "trace", "What a trace (TRILITH_TRACE=out.json) tells: critical path, waiting ranks, kernels");
  command->add_option("FILE", options->file, "The trace")->required();
  command->add_option("--svg", options->svg, "Also writes a picture of it to this file");
  command->add_option("--steps", options->steps, "Most steps of the path that are shown; 0: all")
      ->capture_default_str();
  command->callback([&action, options] { action = [options] { return run(*options); }; });
}

}  // namespace trilith::tool
