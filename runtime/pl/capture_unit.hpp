// runtime/pl/capture_unit.hpp -- the records a captured source carries; what the generated header fills in.
//
// Force-included in front of everything in a captured source, so it needs next to nothing.
#pragma once

#include <cstddef>
#include <cstdint>

namespace pl::detail {

/// A line and column that std::source_location may give for the call of `pl::jit.incore`.
struct CapturePlace {
  std::uint32_t line;
  std::uint32_t column;
};

/// What a pl::at body captures: where it lies in the closure, and for a tensor where its parts lie in it.
struct NamedCapture {
  std::uint8_t kind;          ///< 0: tensor, 1: scalar, 2: pl::TaskId
  std::uint8_t by_reference;  ///< the closure holds a pointer to it
  std::uint32_t offset, size;
  // Bytes from the start of the tensor object; -1: known from its type.
  std::int32_t data, extents, strides, flags, rank, dtype;
  std::int32_t window;  ///< whose part of which window; -1: it is none
};

/// One captured kernel: one closure type, and for a generic lambda one instantiation of its call operator.
/// All of static storage, constant-initialised.
struct CaptureRecord {
  const char* file;            ///< as std::source_location::file_name() gives it in this translation unit
  const char* name;            ///< of the variable the kernel initialises, for people
  const CapturePlace* places;  ///< every spelling of the place; ends with line 0
  /// Spellings of typeid(closure).name(), `*` standing for any text; ends with null.
  const char* const* type_names;
  /// Of a generic lambda: typeid names of the call operator's parameter types, ends with null. Else null.
  const char* const* parameter_types;
  const char* json;  ///< the kernel IR
  std::size_t json_size;
  const char* hash;  ///< hex SHA-256 of the JSON text
  /// Of a pl::at body in a template: typeid names of the enclosing functions' template arguments, innermost
  /// function first, an empty name behind each; ends with null. Else null.
  const char* const* enclosing_types = nullptr;
  const NamedCapture* named = nullptr;  ///< of a pl::at body: what it captures; tensors and scalars in order
  std::size_t named_count = 0;
};

struct CaptureUnit {
  const char* source;
  const CaptureRecord* records;
  std::size_t count;
};

}  // namespace pl::detail
