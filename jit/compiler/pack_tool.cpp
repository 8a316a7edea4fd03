// jit/compiler/pack_tool.cpp -- trilith-header-pack: copies every header that the device header reads into a
// folder that Trilith carries, with the licence texts of the packages they come from.
//
//   trilith-header-pack OUTPUT ROOT… (in search order)
//
// Run when Trilith is built. The headers are found by Clang itself, for each level of the CPU that emitted
// code may be compiled for: what a lower level includes need not be what a higher one does.
#include "codegen/error.hpp"
#include "jit/compiler/client.hpp"
#include "jit/compiler/flags.hpp"
#include "jit/compiler/header_pack.hpp"
#include "jit/file.hpp"

#include <cstdio>
#include <exception>
#include <filesystem>
#include <map>
#include <set>
#include <sstream>

namespace {

namespace fs = std::filesystem;
namespace jit = trilith::jit;

/// The device header, those beside it, which only some kernels include, and what stands in for the AscendC headers.
/// The first root is the device's. Last, for its macros: the model's header.
std::string everything_includable(const std::string& device_root) {
  std::set<std::string> headers;
  for (const fs::directory_entry& entry : fs::directory_iterator(device_root + "/trilith"))
    if (entry.path().extension() == ".hpp") headers.insert(entry.path().filename().string());
  std::string source = jit::device_header_source;
  source += "#include \"pl/external.hpp\"\n";
  for (const std::string& header : headers) source += "#include \"trilith/" + header + "\"\n";
  source += "#include \"kernel_operator.h\"\n";
  return source;
}

std::set<std::string> headers_read(const trilith_compiler& compiler, const std::vector<std::string>& roots,
                                   const std::string& target_cpu) {
  jit::CompilerInput input;
  input.action = trilith_scan_header;
  input.source = everything_includable(roots.front());
  input.file_name = "/trilith/device_header.cpp";
  input.arguments = jit::language_arguments(jit::resolve_target(target_cpu), {});
  input.arguments.insert(input.arguments.end(), {"-nostdsysteminc", "-nobuiltininc"});
  for (const std::string& root : roots) {
    input.arguments.emplace_back("-internal-isystem");
    input.arguments.push_back(root);
  }
  input.want_dependencies = true;
  const jit::CompilerOutput output = jit::run_compiler(compiler, input);
  if (output.status != trilith_compiler_ok)
    throw pl::InternalError("the device header cannot be read for " + target_cpu + ": " + output.first_error);
  std::set<std::string> files;
  std::istringstream lines(output.dependencies);
  for (std::string line; std::getline(lines, line);) {
    if (line != input.file_name) files.insert(line);
  }
  return files;
}

/// Debian keeps each package's licences in one place; the packages that headers come from are few.
void copy_licences(const std::string& output) {
  std::error_code error;
  fs::create_directories(output + "/licences", error);
  for (fs::directory_iterator at("/usr/share/doc", error), end; !error && at != end; at.increment(error)) {
    const std::string package = at->path().filename().string();
    const bool ours = package.starts_with("libstdc++-") || package == "libc6-dev" ||
                      package == "libxsimd-dev" || package.starts_with("libclang-common-") ||
                      package == "linux-libc-dev";
    if (ours && fs::exists(at->path() / "copyright"))
      fs::copy_file(at->path() / "copyright", output + "/licences/" + package,
                    fs::copy_options::overwrite_existing);
  }
}

void make_pack(const std::string& output, const std::vector<std::string>& roots) {
  std::string reason;
  const trilith_compiler* compiler = jit::open_compiler(reason);
  if (compiler == nullptr) throw pl::InternalError(reason);
  std::set<std::string> files;
#if defined(__x86_64__)
  for (const char* level : {"x86-64", "x86-64-v2", "x86-64-v3", "x86-64-v4", "native"})
#else
  for (const char* level : {"native"})
#endif
    files.merge(headers_read(*compiler, roots, level));

  fs::remove_all(output);
  jit::HeaderPack pack;
  std::map<std::string, std::string> root_names;
  for (std::size_t i = 0; i < roots.size(); ++i) {
    const std::string name = std::to_string(i) + "-" + fs::path(roots[i]).filename().string();
    root_names[roots[i]] = name;
    pack.roots.push_back(name);
    fs::create_directories(output + "/" + name);
  }
  for (const std::string& file : files) {
    // The longest root: /usr/include is a prefix of most.
    std::string best;
    for (const std::string& root : roots) {
      if (file.starts_with(root + "/") && root.size() > best.size()) best = root;
    }
    if (best.empty())
      throw pl::InternalError("the device header reads " + file + ", which is below no include root");
    const std::string path = root_names[best] + file.substr(best.size());
    std::string text;
    if (!jit::read_file(file, text)) throw pl::InternalError("cannot read " + file);
    fs::create_directories(fs::path(output + "/" + path).parent_path());
    if (!jit::publish_file(output + "/" + path, text, 0644)) throw pl::InternalError("cannot write " + path);
    pack.add_file(path, text);
  }
  copy_licences(output);
  if (!jit::publish_file(output + "/manifest", jit::header_pack_manifest(pack), 0644))
    throw pl::InternalError("cannot write " + output + "/manifest");
  std::printf("%zu headers in %s\n", files.size(), output.c_str());
}

}  // namespace

int main(int count, char** arguments) {
  if (count < 3) {
    std::fprintf(stderr, "usage: trilith-header-pack OUTPUT ROOT...\n");
    return 2;
  }
  try {
    make_pack(arguments[1], {arguments + 2, arguments + count});
  } catch (const std::exception& error) {
    std::fprintf(stderr, "trilith-header-pack: %s\n", error.what());
    return 1;
  }
  return 0;
}
