// jit/compiler/abi.h -- the C border between Trilith and libtrilith-compiler.so.
//
// The compiler library is loaded only when something must be compiled. Nothing but this struct crosses the
// border: no C++ object, no exception, no LLVM type. Each struct carries its size, so that either side may be
// newer by appended fields.
#pragma once

#include <cstdint>

extern "C" {

struct trilith_text {
  const char* data;
  std::uint64_t size;
};

enum trilith_compiler_action : std::uint32_t {
  trilith_compile_object = 0,  ///< source text to a relocatable object in memory
  trilith_compile_header = 1,  ///< source text to a precompiled header in memory
  trilith_scan_header = 2,     ///< preprocess only: for `dependencies`
};

enum trilith_compiler_status : std::uint32_t {
  trilith_compiler_ok = 0,
  trilith_compiler_rejected = 1,  ///< Clang reported an error; see `messages`
  trilith_compiler_fatal = 2,     ///< LLVM called its fatal-error handler, or the compiler crashed
};

struct trilith_compiler_request {
  std::uint32_t size;
  trilith_compiler_action action;
  trilith_text source;
  trilith_text file_name;        ///< how diagnostics and debug info call the source
  const char* const* arguments;  ///< `clang -cc1` arguments, null-terminated, without action and input
  trilith_text header;            ///< bytes of the precompiled header to start from; empty: none
  const char* header_path;        ///< what it is called; no file of that name is opened
  std::uint32_t want_listings;   ///< 1: also `ir` and `assembly`
  std::uint32_t want_dependencies;  ///< 1: also `dependencies`
  /// Test hook: a fatal error (1) or a crash (2) is raised inside the compiler; 0 in ordinary use.
  std::uint32_t injected_failure;
};

struct trilith_compiler_result {
  std::uint32_t size;
  trilith_compiler_status status;
  trilith_text output;       ///< the object or the precompiled header
  trilith_text messages;     ///< every diagnostic, as Clang prints them
  trilith_text first_error;  ///< "file:line:column: message" of the first error
  trilith_text ir;           ///< LLVM IR after optimisation
  trilith_text assembly;
  trilith_text dependencies;  ///< files read, one a line
  double frontend_seconds;
  double backend_seconds;
  void* owner;  ///< what `release` frees
};

struct trilith_compiler {
  std::uint32_t abi_version;
  std::uint32_t size;
  const char* llvm_version;
  /// Any thread; calls run independently of each other. `result->size` is set by the caller.
  void (*run)(const trilith_compiler_request* request, trilith_compiler_result* result);
  void (*release)(trilith_compiler_result* result);
};

/// The one exported symbol of the library.
const trilith_compiler* trilith_compiler_entry();
}

inline constexpr std::uint32_t trilith_compiler_abi_version = 1;
