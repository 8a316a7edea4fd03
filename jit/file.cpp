// jit/file.cpp
#include "jit/file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <random>
#include <system_error>

namespace trilith::jit {
namespace {

std::string temporary_name(const std::string& path) {
  static std::atomic<unsigned> counter{0};
  // The random part tells apart equal process numbers of containers that share a folder.
  static thread_local std::random_device random;
  return path + ".tmp." + std::to_string(getpid()) + "." + std::to_string(counter.fetch_add(1)) + "." +
         std::to_string(random());
}

bool write_all(int descriptor, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = write(descriptor, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

}  // namespace

bool read_file(const std::string& path, std::string& text, bool follow_link) {
  const int descriptor = open(path.c_str(), O_RDONLY | O_CLOEXEC | (follow_link ? 0 : O_NOFOLLOW));
  if (descriptor < 0) return false;
  struct stat status = {};
  bool good = fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode);
  if (good) {
    text.resize(static_cast<std::size_t>(status.st_size));
    std::size_t done = 0;
    while (done < text.size()) {
      const ssize_t got = read(descriptor, text.data() + done, text.size() - done);
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0) break;
      done += static_cast<std::size_t>(got);
    }
    good = done == text.size();
  }
  close(descriptor);
  return good;
}

bool publish_file(const std::string& path, std::string_view text, unsigned mode) {
  const std::string temporary = temporary_name(path);
  const int descriptor = open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (descriptor < 0) return false;
  bool good = write_all(descriptor, text) && fchmod(descriptor, static_cast<mode_t>(mode)) == 0;
  // close reports a full disk on file systems that write late.
  good = close(descriptor) == 0 && good;
  if (good && rename(temporary.c_str(), path.c_str()) == 0) return true;
  const int reason = errno;
  unlink(temporary.c_str());
  errno = reason;
  return false;
}

std::string publish_with_folders(const std::string& path, std::string_view text) {
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  std::error_code error;
  if (!folder.empty()) std::filesystem::create_directories(folder, error);
  if (error) return error.message();
  return publish_file(path, text, 0644) ? std::string() : std::string(std::strerror(errno));
}

}  // namespace trilith::jit
