// jit/cache/directory.cpp
#include "jit/cache/directory.hpp"

#include "codegen/error.hpp"

#include <sys/stat.h>
#include <unistd.h>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

namespace trilith::jit {
namespace {

std::string from_environment(const char* variable, const char* below) {
  const char* value = std::getenv(variable);
  if (value == nullptr || *value == '\0') return {};
  return std::string(value) + below;
}

std::string choose(const std::string& configured) {
  if (!configured.empty()) return configured;
  for (const auto& [variable, below] :
       {std::pair{"TRILITH_CACHE_DIR", ""}, std::pair{"XDG_CACHE_HOME", "/trilith"},
        std::pair{"HOME", "/.cache/trilith"}}) {
    if (std::string path = from_environment(variable, below); !path.empty()) return path;
  }
  return {};
}

/// Makes the folder and its parents; errno says why it could not.
bool make_folders(const std::string& path, mode_t mode) {
  if (mkdir(path.c_str(), mode) == 0) {
    // The umask must neither open it to others nor close a shared one.
    chmod(path.c_str(), mode);
    return true;
  }
  if (errno == EEXIST) return true;
  if (errno != ENOENT) return false;
  const std::string parent = std::filesystem::path(path).parent_path().string();
  if (parent.empty() || parent == path || !make_folders(parent, mode)) return false;
  return mkdir(path.c_str(), mode) == 0 || errno == EEXIST;
}

std::string octal(mode_t mode) {
  char text[16];
  std::snprintf(text, sizeof text, "%04o", mode & 07777U);
  return text;
}

}  // namespace

CacheDirectory open_cache_directory(const std::string& configured, bool shared) {
  CacheDirectory directory;
  std::string path = choose(configured);
  if (path.empty()) {
    directory.problem = "none of TRILITH_CACHE_DIR, XDG_CACHE_HOME and HOME is set";
    return directory;
  }
  while (path.size() > 1 && path.back() == '/') path.pop_back();
  if (!make_folders(path, shared ? 0755 : 0700)) {
    directory.problem = "the cache folder " + path + " cannot be made (" + std::strerror(errno) + ")";
    return directory;
  }
  struct stat status = {};
  if (stat(path.c_str(), &status) != 0 || !S_ISDIR(status.st_mode)) {
    directory.problem = path + " is not a folder";
    return directory;
  }
  const auto refuse = [&](const std::string& what, const std::string& mend) {
    throw pl::ConfigError("the cache folder " + path + " " + what +
                          ", who could place code there that this process would run; " + mend +
                          " or set TRILITH_CACHE_DIR to another folder");
  };
  // Root's folders are as trustworthy as the system itself: a shared read-only cache is usually root's.
  if (status.st_uid != geteuid() && !(shared && status.st_uid == 0))
    refuse("belongs to user " + std::to_string(status.st_uid) + ", not to user " + std::to_string(geteuid()),
           "change its owner");
  if ((status.st_mode & (S_IWGRP | S_IWOTH)) != 0)
    refuse("may be written by others (mode " + octal(status.st_mode) + ")", "run chmod go-w " + path);
  directory.path = path;
  directory.writable = access(path.c_str(), W_OK | X_OK) == 0;
  if (!directory.writable) directory.problem = "the cache folder " + path + " cannot be written";
  return directory;
}

}  // namespace trilith::jit
