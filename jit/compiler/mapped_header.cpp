// jit/compiler/mapped_header.cpp
#include "jit/compiler/mapped_header.hpp"

#include "jit/file.hpp"
#include "jit/fork_gate.hpp"

#include "llvm/Support/xxhash.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace trilith::jit {

std::string MappedHeader::summary(std::string_view bytes) {
  // Against damage, not against forgery: a tenth of the time of what keys are made with, and every process pays it.
  return std::to_string(bytes.size()) + " " +
         std::to_string(llvm::xxh3_64bits({bytes.data(), bytes.size()})) + "\n";
}

bool MappedHeader::present(const std::string& path) {
  std::string text;
  struct stat status = {};
  return read_file(path + ".sum", text, false) && lstat(path.c_str(), &status) == 0 &&
         S_ISREG(status.st_mode) && text.starts_with(std::to_string(status.st_size) + " ");
}

std::unique_ptr<MappedHeader> MappedHeader::open(const std::string& path) {
  std::string text;
  if (!present(path) || !read_file(path + ".sum", text, false)) return nullptr;
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
  if (descriptor < 0) return nullptr;
  struct stat status = {};
  void* bytes = MAP_FAILED;
  if (fstat(descriptor, &status) == 0 && status.st_size > 0)
    bytes = mmap(nullptr, static_cast<std::size_t>(status.st_size), PROT_READ, MAP_PRIVATE | MAP_POPULATE,
                 descriptor, 0);
  close(descriptor);
  if (bytes == MAP_FAILED) return nullptr;
  // For the eviction of old headers.
  utimensat(AT_FDCWD, path.c_str(), nullptr, 0);
  return std::unique_ptr<MappedHeader>(new MappedHeader(
      static_cast<const char*>(bytes), static_cast<std::size_t>(status.st_size), std::move(text)));
}

MappedHeader::MappedHeader(const char* bytes, std::size_t size, std::string expected)
    : bytes_(bytes), size_(size), whole_(run_beside([bytes, size, expected = std::move(expected)] {
        return summary({bytes, size}) == expected;
      })) {}

MappedHeader::~MappedHeader() {
  whole_.wait();
  munmap(const_cast<char*>(bytes_), size_);
}

}  // namespace trilith::jit
