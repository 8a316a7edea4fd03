// jit/capture/frontend.hpp -- the capture front end: C++ source in, kernel IR out.
//
// Parses one translation unit with Clang, finds every `pl::jit.incore(lambda)` and walks the type-checked
// lambda into captured-stage IR. Used by the build-time tool `trilith-capture` and by `trilith capture`.
//
//   trilith::capture::Report report;
//   for (auto& kernel : trilith::capture::capture("user.cpp", {"-std=c++20", "-Iinclude"}, report))
//     std::cout << kernel.kernel.name << '\n';
//   std::cerr << report.text;
//
// No Clang or LLVM header is visible here. Not meant for the run-time path: loading Clang costs milliseconds.
// Thread-safety: calls are independent of each other.
#pragma once

#include "codegen/error.hpp"
#include "codegen/ir.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace trilith::capture {

/// A line and column that a compiler may give for the call of `incore`.
struct Place {
  std::uint32_t line = 0;
  std::uint32_t column = 0;
  bool operator==(const Place&) const = default;
};

/// What a pl::at body captures: where it lies in the closure, and for a tensor where its parts lie in it.
struct NamedCapture {
  enum class Kind : std::uint8_t { Tensor, Scalar, Task };
  Kind kind = Kind::Scalar;
  bool by_reference = false;
  std::uint32_t offset = 0;  ///< in the closure: of the object, or of the pointer to it
  std::uint32_t size = 0;    ///< of a scalar
  // Bytes from the start of the tensor object; -1: known from its type.
  std::int32_t data = 0, extents = 0, strides = 0, flags = 0, rank = -1, dtype = -1;
  std::int32_t window = -1;  ///< of a window
};

/// One kernel: one closure type, and for a generic lambda one instantiation of its call operator.
struct CapturedKernel {
  codegen::Kernel kernel;
  std::string file;                           ///< as std::source_location::file_name() gives it
  std::vector<Place> places;                  ///< every spelling of the place of the call
  std::vector<std::string> clang_type_names;  ///< typeid(closure).name() under clang, `*` as below
  std::vector<std::string> gcc_type_names;    ///< under g++: patterns, `*` stands for any text
  /// typeid names of the call operator's parameter types: what tells instantiations of one generic lambda
  /// apart. Empty unless `generic`.
  std::vector<std::string> parameter_type_names;
  bool generic = false;
  /// typeid names of the template arguments of each enclosing function, innermost first: what tells the pl::at
  /// bodies of a template's instantiations apart.
  std::vector<std::vector<std::string>> enclosing_type_names;
  std::vector<NamedCapture> named;  ///< of a pl::at body
  bool is_at_body = false;
};

struct Diagnostic {
  enum class Severity : std::uint8_t { Error, Note };
  Severity severity = Severity::Error;
  pl::Location location;
  std::string message;
};

/// What happened, for people (`text`: with source line and caret) and for programs.
struct Report {
  bool failed = false;  ///< at least one error: kernels of this source must not be used
  std::vector<Diagnostic> diagnostics;
  std::string text;
  std::vector<std::string> dependencies;  ///< every file that was read, the source first
};

/// `flags` are the compile flags of the target, in g++'s or clang's spelling, without the source.
/// Never throws for what is wrong with the source: see `report`.
[[nodiscard]] std::vector<CapturedKernel> capture(const std::string& source,
                                                  const std::vector<std::string>& flags, Report& report);

/// The header that is force-included in front of `source`: capture records and the unit that holds them.
[[nodiscard]] std::string header_text(const std::string& source, const std::vector<CapturedKernel>& kernels);

/// The dependency file (make syntax) that says `output` depends on everything that was read.
[[nodiscard]] std::string depfile_text(const std::string& output, const Report& report);

}  // namespace trilith::capture
