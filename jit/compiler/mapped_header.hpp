// jit/compiler/mapped_header.hpp -- a precompiled header from the cache, mapped once for the life of the
// engine.
//
// Clang would map the file for every kernel and fault in a few thousand pages each time. Here they are
// faulted in at once, while another thread loads the compiler, and the checksum is computed beside the first
// compile.
#pragma once

#include <future>
#include <memory>
#include <string>
#include <string_view>

namespace trilith::jit {

class MappedHeader {
 public:
  /// Null when the file is absent or its size is not what its summary says.
  [[nodiscard]] static std::unique_ptr<MappedHeader> open(const std::string& path);
  ~MappedHeader();
  MappedHeader(const MappedHeader&) = delete;
  MappedHeader& operator=(const MappedHeader&) = delete;

  [[nodiscard]] std::string_view bytes() const { return {bytes_, size_}; }
  /// Whether every byte is as it was written. Waits for the checksum; nothing compiled with it may be trusted
  /// before.
  [[nodiscard]] bool whole() const { return whole_.get(); }

  /// What is written beside a header: its size and checksum.
  [[nodiscard]] static std::string summary(std::string_view bytes);
  /// Cheap: compares sizes only.
  [[nodiscard]] static bool present(const std::string& path);

 private:
  MappedHeader(const char* bytes, std::size_t size, std::string summary);

  const char* bytes_;
  std::size_t size_;
  std::shared_future<bool> whole_;
};

}  // namespace trilith::jit
