// jit/tool/commands.hpp -- the sub-commands of `trilith`; each adds itself to the command line.
#pragma once

#include <CLI/CLI.hpp>

#include <functional>
#include <string>
#include <vector>

namespace trilith::tool {

/// What a sub-command does once the command line is read; gives the exit code. Throws pl::Error.
using Action = std::function<int()>;

/// `cache ls|stats|verify|clear`
void add_cache_command(CLI::App& app, Action& action);

/// `capture FILE -- flags` and `emit --target T --arg x=float[8,8] FILE:KERNEL -- flags`. `flags` is what
/// stood after `--`.
void add_capture_command(CLI::App& app, const std::vector<std::string>& flags, Action& action);
void add_emit_command(CLI::App& app, const std::vector<std::string>& flags, Action& action);
/// `map --arg x=float[8,8] --svg PICTURE FILE:KERNEL -- flags`
void add_map_command(CLI::App& app, const std::vector<std::string>& flags, Action& action);

/// `trace FILE --svg PICTURE`
void add_trace_command(CLI::App& app, Action& action);
/// `plan [FILE] --alpha 2us --beta 25GB/s --ranks 2,8`
void add_plan_command(CLI::App& app, Action& action);

}  // namespace trilith::tool
