// jit/capture/flags.cpp -- a target's compile flags as arguments for this clang.
#include "jit/capture/flags.hpp"

#include <clang/Basic/Version.h>
#include <clang/Driver/Options.h>
#include <dlfcn.h>
#include <llvm/ADT/StringExtras.h>
#include <llvm/Option/ArgList.h>
#include <llvm/Option/OptTable.h>

#include <cstdlib>
#include <filesystem>

namespace trilith::capture {
namespace {

namespace options = clang::driver::options;

bool is_dropped(const llvm::opt::Arg& argument) {
  const llvm::opt::Option option = argument.getOption();
  if (option.getKind() == llvm::opt::Option::UnknownClass ||
      option.getKind() == llvm::opt::Option::InputClass)
    return true;
  if (option.matches(options::OPT_W_Group) || option.matches(options::OPT_M_Group)) return true;
  switch (option.getID()) {
    case options::OPT_o:
    case options::OPT_c:
    case options::OPT_S:
    case options::OPT_E:
    case options::OPT_MF:
    case options::OPT_MT:
    case options::OPT_MQ:
    case options::OPT_MD:
    case options::OPT_MMD:
    case options::OPT_MP:
    case options::OPT_w:
    case options::OPT_pedantic:
    case options::OPT_pedantic_errors:
    case options::OPT_fplugin_EQ:
    case options::OPT_mtune_EQ:
    case options::OPT_resource_dir:
    case options::OPT_include_pch: return true;
    case options::OPT_include: {
      const llvm::StringRef header = argument.getValue();
      return header.ends_with(generated_suffix) || header.ends_with("cmake_pch.hxx");
    }
    default: return false;
  }
}

bool holds_headers(const std::filesystem::path& directory) {
  std::error_code ignored;
  return std::filesystem::exists(directory / "include" / "stddef.h", ignored);
}

}  // namespace

std::string resource_directory() {
  if (const char* given = std::getenv("TRILITH_CLANG_RESOURCE_DIR"))
    if (holds_headers(given)) return given;
  std::vector<std::filesystem::path> candidates;
  // Beside the clang library this process has loaded: right wherever LLVM was installed.
  Dl_info library{};
  if (dladdr(reinterpret_cast<const void*>(&clang::driver::getDriverOptTable), &library) != 0 &&
      library.dli_fname != nullptr) {
    std::error_code ignored;
    for (const std::filesystem::path& file :
         {std::filesystem::path(library.dli_fname), std::filesystem::canonical(library.dli_fname, ignored)}) {
      candidates.push_back(file.parent_path() / "clang" / CLANG_VERSION_MAJOR_STRING);
      candidates.push_back(file.parent_path().parent_path() / "lib" / "clang" / CLANG_VERSION_MAJOR_STRING);
      candidates.push_back(file.parent_path().parent_path() / "lib" / ("llvm-" CLANG_VERSION_MAJOR_STRING) /
                           "lib" / "clang" / CLANG_VERSION_MAJOR_STRING);
      candidates.push_back(file.parent_path().parent_path() / ("llvm-" CLANG_VERSION_MAJOR_STRING) / "lib" /
                           "clang" / CLANG_VERSION_MAJOR_STRING);
    }
  }
#ifdef TRILITH_CLANG_RESOURCE_DIR
  candidates.emplace_back(TRILITH_CLANG_RESOURCE_DIR);
#endif
  for (const std::filesystem::path& candidate : candidates)
    if (holds_headers(candidate)) return candidate.lexically_normal().string();
  return {};
}

std::vector<std::string> clang_arguments(const std::string& source, const std::vector<std::string>& flags) {
  std::vector<const char*> given;
  given.reserve(flags.size());
  for (const std::string& flag : flags)
    if (!flag.empty()) given.push_back(flag.c_str());
  const std::string resources = resource_directory();
  // The driver looks for the C++ library from where it believes to be installed.
  const std::filesystem::path root =
      std::filesystem::path(resources).parent_path().parent_path().parent_path();
  std::vector<std::string> result{resources.empty() ? "clang++" : (root / "bin" / "clang++").string()};
  const llvm::opt::OptTable& table = clang::driver::getDriverOptTable();
  unsigned missing_index = 0, missing_count = 0;
  const llvm::opt::InputArgList parsed =
      table.ParseArgs(given, missing_index, missing_count, llvm::opt::Visibility(options::ClangOption));
  bool has_standard = false;
  for (const llvm::opt::Arg* argument : parsed) {
    if (is_dropped(*argument)) continue;
    has_standard = has_standard || argument->getOption().getID() == options::OPT_std_EQ;
    llvm::opt::ArgStringList rendered;
    argument->render(parsed, rendered);
    for (const char* text : rendered) result.emplace_back(text);
  }
  if (!has_standard) result.emplace_back("-std=c++20");
  if (!resources.empty()) result.push_back("-resource-dir=" + resources);
  for (const char* fixed :
       {"-w", "-Wno-everything", "-fsyntax-only", "-ferror-limit=100", "-DTRILITH_CAPTURING=1"})
    result.emplace_back(fixed);
  result.push_back(source);
  return result;
}

}  // namespace trilith::capture
