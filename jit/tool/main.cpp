// jit/tool/main.cpp -- the `trilith` command.
//
// Exit code 0: done. 1: the user's source or data is refused (the reason is on stderr). 2: wrong use. 3: a
// fault of our own.
#include "codegen/error.hpp"
#include "jit/tool/commands.hpp"

#include <algorithm>
#include <cstdio>
#include <exception>

int main(int count, char** arguments) {
  // What stands after "--" is for the compiler and none of ours.
  std::vector<std::string> own(arguments + 1, arguments + count);
  const auto dashes = std::find(own.begin(), own.end(), "--");
  std::vector<std::string> flags(dashes == own.end() ? dashes : dashes + 1, own.end());
  own.erase(dashes, own.end());
  std::reverse(own.begin(), own.end());  // CLI11 takes a vector from its end

  CLI::App app(
      "Trilith's command: looks into the cache, captures kernels, shows what is emitted for them, and reads "
      "traces",
      "trilith");
  app.require_subcommand(1);
  trilith::tool::Action action;
  trilith::tool::add_cache_command(app, action);
  trilith::tool::add_capture_command(app, flags, action);
  trilith::tool::add_emit_command(app, flags, action);
  trilith::tool::add_map_command(app, flags, action);
  trilith::tool::add_trace_command(app, action);
  trilith::tool::add_plan_command(app, action);
  try {
    app.parse(own);
    return action();
  } catch (const CLI::ParseError& error) {
    const int code = app.exit(error);
    return code == 0 ? 0 : 2;
  } catch (const pl::UserError& error) {
    std::fprintf(stderr, "trilith: %s\n", error.what());
    return 1;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "trilith: %s\n", error.what());
    return 3;
  }
}
