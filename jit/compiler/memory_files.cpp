// jit/compiler/memory_files.cpp
#include "jit/compiler/memory_files.hpp"

#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"

namespace trilith::jit::compiler {
namespace {

class MemoryFile final : public llvm::vfs::File {
 public:
  MemoryFile(llvm::StringRef content, llvm::vfs::Status status)
      : content_(content), status_(std::move(status)) {}

  llvm::ErrorOr<llvm::vfs::Status> status() override { return status_; }
  llvm::ErrorOr<std::unique_ptr<llvm::MemoryBuffer>> getBuffer(const llvm::Twine& name, std::int64_t, bool,
                                                               bool) override {
    return llvm::MemoryBuffer::getMemBuffer(content_, name.str(), /*RequiresNullTerminator=*/false);
  }
  std::error_code close() override { return {}; }

 private:
  llvm::StringRef content_;
  llvm::vfs::Status status_;
};

}  // namespace

void MemoryFiles::add(llvm::StringRef path, llvm::StringRef content) {
  namespace fs = llvm::sys::fs;
  const auto insert = [&](llvm::StringRef name, llvm::StringRef bytes, fs::file_type type) {
    const llvm::vfs::Status status(name, llvm::vfs::getNextVirtualUniqueID(), llvm::sys::TimePoint<>(), 0, 0,
                                   bytes.size(), type, fs::perms::all_read);
    files_.insert({name, Entry{bytes, status}});
  };
  insert(path, content, fs::file_type::regular_file);
  // Clang looks for a file's folder before it opens the file.
  insert(llvm::sys::path::parent_path(path), {}, fs::file_type::directory_file);
}

llvm::ErrorOr<llvm::vfs::Status> MemoryFiles::status(const llvm::Twine& path) {
  const auto at = files_.find(path.str());
  if (at == files_.end()) return ProxyFileSystem::status(path);
  return llvm::vfs::Status::copyWithNewName(at->second.status, path);
}

llvm::ErrorOr<std::unique_ptr<llvm::vfs::File>> MemoryFiles::openFileForRead(const llvm::Twine& path) {
  const auto at = files_.find(path.str());
  if (at == files_.end()) return ProxyFileSystem::openFileForRead(path);
  return std::make_unique<MemoryFile>(at->second.content, at->second.status);
}

}  // namespace trilith::jit::compiler
