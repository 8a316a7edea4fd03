// jit/tool/cache_command.cpp -- `trilith cache`: what is in the disk cache, and whether it is whole.
#include "codegen/error.hpp"
#include "jit/cache/disk_cache.hpp"
#include "jit/compiler/mapped_header.hpp"
#include "jit/file.hpp"
#include "jit/fork_gate.hpp"
#include "jit/loader/host_cpu.hpp"
#include "jit/tool/commands.hpp"

#include <cstdio>
#include <filesystem>
#include <memory>

namespace trilith::tool {
namespace {

struct Options {
  std::string folder;
  bool verbose = false;
  bool remove = false;
};

jit::DiskCache open(const Options& options) {
  // Looking must not create: a folder that is not there has nothing in it.
  if (!options.folder.empty() && !std::filesystem::is_directory(options.folder))
    throw pl::ConfigError("no cache folder " + options.folder);
  const jit::CacheDirectory directory = jit::open_cache_directory(options.folder, /*shared=*/false);
  if (directory.path.empty()) throw pl::ConfigError("there is no cache folder: " + directory.problem);
  jit::DiskCache::Options cache_options;
  cache_options.cpu_features = jit::host_features();
  return {directory, std::move(cache_options)};
}

std::string age(double seconds) {
  const auto whole = static_cast<long>(seconds);
  if (whole < 120) return std::to_string(whole) + " s";
  if (whole < 2 * 3600) return std::to_string(whole / 60) + " min";
  if (whole < 48 * 3600) return std::to_string(whole / 3600) + " h";
  return std::to_string(whole / 86400) + " d";
}

int list(const Options& options) {
  const jit::DiskCache cache = open(options);
  for (const jit::EntryFile& file : cache.list()) {
    std::string bytes;
    std::string reason;
    if (!jit::read_file(file.path, bytes, false)) continue;
    const auto entry = jit::decode_entry(bytes, reason);
    std::printf("%.16s %8llu bytes  used %s ago  %s\n", file.digest.c_str(),
                static_cast<unsigned long long>(file.bytes), age(file.age_seconds).c_str(),
                entry ? entry->name.c_str() : ("damaged: " + reason).c_str());
    if (!options.verbose || !entry) continue;
    for (const jit::KeyPart& part : entry->key)
      std::printf("    %s: %s\n", part.name.c_str(), part.value.c_str());
    const auto missing = jit::missing_features(entry->required_features, jit::host_features());
    for (const std::string& feature : missing) std::printf("    needs the CPU feature %s\n", feature.c_str());
  }
  return 0;
}

int statistics(const Options& options) {
  const jit::DiskCache cache = open(options);
  unsigned long long bytes = 0;
  const auto files = cache.list();
  for (const jit::EntryFile& file : files) bytes += file.bytes;
  unsigned long long header_bytes = 0;
  const auto headers = cache.headers();
  for (const std::string& header : headers) header_bytes += std::filesystem::file_size(header);
  std::printf("folder   %s\nentries  %zu, %llu bytes\nheaders  %zu, %llu bytes\n", cache.folder().c_str(),
              files.size(), bytes, headers.size(), header_bytes);
  return 0;
}

int verify(const Options& options) {
  const jit::DiskCache cache = open(options);
  std::size_t damaged = 0;
  const auto report = [&](const std::string& path, const std::string& reason) {
    ++damaged;
    std::printf("%s: %s%s\n", path.c_str(), reason.c_str(), options.remove ? ", removed" : "");
    if (options.remove) std::filesystem::remove(path);
  };
  const auto files = cache.list();
  for (const jit::EntryFile& file : files) {
    std::string bytes;
    std::string reason = "cannot be read";
    const auto entry = jit::read_file(file.path, bytes, false) ? jit::decode_entry(bytes, reason)
                                                               : std::optional<jit::CacheEntry>();
    if (!entry)
      report(file.path, reason);
    else if (jit::digest(entry->key) != file.digest)
      report(file.path, "belongs to another key");
  }
  const auto headers = cache.headers();
  const jit::CompilingHere here;
  for (const std::string& path : headers) {
    const auto header = jit::MappedHeader::open(path);
    if (header == nullptr || !header->whole()) report(path, "the precompiled header is damaged");
  }
  std::printf("%zu entries and %zu headers, %zu damaged\n", files.size(), headers.size(), damaged);
  return damaged == 0 || options.remove ? 0 : 1;
}

int clear(const Options& options) {
  const jit::DiskCache cache = open(options);
  std::printf("%zu files removed from %s\n", cache.clear(), cache.folder().c_str());
  return 0;
}

}  // namespace

void add_cache_command(CLI::App& app, Action& action) {
  auto options = std::make_shared<Options>();
  CLI::App* cache = app.add_subcommand("cache", "Compiled kernels that are kept on disk");
  cache->require_subcommand(1);
  const auto add = [&](const char* name, const char* description, int (*run)(const Options&)) {
    CLI::App* command = cache->add_subcommand(name, description);
    command->add_option("--dir", options->folder, "The folder; else TRILITH_CACHE_DIR, XDG_CACHE_HOME, HOME");
    command->callback([&action, options, run] { action = [options, run] { return run(*options); }; });
    return command;
  };
  add("ls", "Lists the entries, last used first", list)
      ->add_flag("-v,--verbose", options->verbose, "With key parts");
  add("stats", "Counts entries and bytes", statistics);
  add("verify", "Reads everything and reports what is damaged", verify)
      ->add_flag("--remove", options->remove, "Removes what is damaged");
  add("clear", "Removes every entry and precompiled header", clear);
}

}  // namespace trilith::tool
