// runtime/windows/copy_region.hpp -- copies a box of elements from one strided view to another.
#pragma once

#include <cstdint>
#include <span>

namespace pl::detail {

/// `bytes`: of an element. Strides count elements.
void copy_region(char* to, std::span<const std::int64_t> to_strides, const char* from,
                 std::span<const std::int64_t> from_strides, std::span<const std::int64_t> shape,
                 std::int64_t bytes);

}  // namespace pl::detail
