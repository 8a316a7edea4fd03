// jit/compiler/memory_files.hpp -- the source text and the precompiled header as files that are in memory,
// over the real file system.
//
// Not LLVM's InMemoryFileSystem: that one hashes the whole content of each file it is given, which for the
// precompiled header costs as much as reading what a kernel needs of it.
#pragma once

#include "llvm/ADT/IntrusiveRefCntPtr.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/VirtualFileSystem.h"

namespace trilith::jit::compiler {

class MemoryFiles final : public llvm::vfs::ProxyFileSystem {
 public:
  MemoryFiles() : ProxyFileSystem(llvm::vfs::getRealFileSystem()) {}

  /// `content` must outlive the file system.
  void add(llvm::StringRef path, llvm::StringRef content);

  llvm::ErrorOr<llvm::vfs::Status> status(const llvm::Twine& path) override;
  llvm::ErrorOr<std::unique_ptr<llvm::vfs::File>> openFileForRead(const llvm::Twine& path) override;
  bool exists(const llvm::Twine& path) override { return static_cast<bool>(status(path)); }

 private:
  struct Entry {
    llvm::StringRef content;
    llvm::vfs::Status status;
  };
  llvm::StringMap<Entry> files_;
};

}  // namespace trilith::jit::compiler
