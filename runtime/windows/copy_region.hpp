// runtime/windows/copy_region.hpp -- copies a box of elements from one strided view to another, or adds it.
#pragma once

#include "codegen/dtype.hpp"
#include "pl/error.hpp"

#include <cstdint>
#include <span>

namespace pl::detail {

/// `bytes`: of an element. Strides count elements.
void copy_region(char* to, std::span<const std::int64_t> to_strides, const char* from,
                 std::span<const std::int64_t> from_strides, std::span<const std::int64_t> shape,
                 std::int64_t bytes);

/// Adds, each element atomically. Throws DtypeError at `where` for bools.
void add_region(char* to, std::span<const std::int64_t> to_strides, const char* from,
                std::span<const std::int64_t> from_strides, std::span<const std::int64_t> shape,
                trilith::codegen::DType dtype, const Location& where);
/// The same from dense elements.
void add_region(char* to, std::span<const std::int64_t> to_strides, const char* dense,
                std::span<const std::int64_t> shape, trilith::codegen::DType dtype, const Location& where);

}  // namespace pl::detail
