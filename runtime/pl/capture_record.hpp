// runtime/pl/capture_record.hpp -- how the runtime finds the captured IR of a lambda.
//
// `trilith_capture(<target> SOURCES file.cpp)` in CMake force-includes a generated header into file.cpp,
// which defines TRILITH_CAPTURE_UNIT. Thread-safety: everything here is constant.
#pragma once

#include "pl/capture_unit.hpp"

#include <source_location>
#include <span>
#include <typeinfo>

namespace pl::detail {

#ifdef TRILITH_CAPTURE_UNIT
namespace {
/// The kernels of this translation unit. Of internal linkage: every unit has its own.
[[maybe_unused]] const CaptureUnit* current_capture_unit() { return TRILITH_CAPTURE_UNIT; }
}  // namespace
#else
namespace {
/// No kernels were captured from this translation unit.
[[maybe_unused]] const CaptureUnit* current_capture_unit() { return nullptr; }
}  // namespace
#endif

/// The record of the kernel made at `location` from a closure of type `closure`: by file and line, then
/// column, then type name. `parameters`: of a generic lambda, the types its call operator is called with.
/// Throws CaptureError where there is none (not captured: the message says how), or where several remain.
[[nodiscard]] const CaptureRecord& find_capture(const CaptureUnit* unit, const std::source_location& location,
                                                const std::type_info& closure,
                                                std::span<const std::type_info* const> parameters = {});
/// The same without an exception: null where nothing, or no single record, fits.
[[nodiscard]] const CaptureRecord* try_find_capture(const CaptureUnit* unit,
                                                    const std::source_location& location,
                                                    const std::type_info& closure,
                                                    std::span<const std::type_info* const> parameters = {});
/// True when the kernel at `location` is a generic lambda: its parameter types choose the record.
[[nodiscard]] bool is_generic_capture(const CaptureUnit* unit, const std::source_location& location,
                                      const std::type_info& closure);

}  // namespace pl::detail
