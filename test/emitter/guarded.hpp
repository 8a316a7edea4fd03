// Memory between two pages that nobody may touch: a kernel that reads or writes beside a tensor dies at once.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstring>
#include <stdexcept>
#include <utility>

namespace emitter_test {

class Guarded {
 public:
  /// `at_end`: the last byte touches the page behind; else the first byte touches the page in front.
  Guarded(std::size_t bytes, bool at_end) : bytes_(bytes) {
    const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    const std::size_t inner = (bytes + page - 1) / page * page;
    mapped_ = inner + 2 * page;
    base_ = static_cast<std::byte*>(mmap(nullptr, mapped_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    if (base_ == MAP_FAILED) throw std::runtime_error("mmap");
    if (inner > 0 && mprotect(base_ + page, inner, PROT_READ | PROT_WRITE) != 0)
      throw std::runtime_error("mprotect");
    data_ = base_ + page + (at_end ? inner - bytes : 0);
  }
  Guarded(Guarded&& other) noexcept
      : bytes_(other.bytes_),
        mapped_(other.mapped_),
        base_(std::exchange(other.base_, nullptr)),
        data_(other.data_) {}
  Guarded& operator=(Guarded&&) = delete;
  ~Guarded() {
    if (base_ != nullptr) munmap(base_, mapped_);
  }
  [[nodiscard]] std::byte* data() const { return data_; }
  [[nodiscard]] std::size_t size() const { return bytes_; }

 private:
  std::size_t bytes_, mapped_;
  std::byte *base_, *data_;
};

}  // namespace emitter_test
