// runtime/model/functions.hpp -- the table that the model's headers call, and the requests behind it, each done by one
// file.
#pragma once

#include <span>
#include <string_view>

#include "codegen/ascendc/model/model_abi.h"
#include "runtime/model/core.hpp"

namespace trilith::model {

/// The core whose kernel runs on this thread.
[[nodiscard]] Core*& current_core();

[[nodiscard]] const AscendC::model::Functions& functions();

void copy(Core& core, const AscendC::model::CopyRequest& request);
void vector(Core& core, const AscendC::model::VectorRequest& request);
void load(Core& core, const AscendC::model::LoadRequest& request);
void mmad(Core& core, const AscendC::model::MmadRequest& request);
void fixpipe(Core& core, const AscendC::model::FixpipeRequest& request);

[[nodiscard]] std::uint64_t get_scalar(Core& core, const AscendC::model::Span& tensor, std::int64_t index,
                                       std::uint32_t line);
void set_scalar(Core& core, const AscendC::model::Span& tensor, std::int64_t index, std::uint64_t value,
                std::uint32_t line);
[[nodiscard]] std::uint64_t get_uncached(Core& core, const AscendC::model::Span& tensor, std::uint32_t line);
void set_uncached(Core& core, const AscendC::model::Span& tensor, std::uint64_t value, std::uint32_t line);
void clean_cache(Core& core, const AscendC::model::Span& tensor, bool whole, std::uint32_t line);

void print(Core& core, std::string_view format, std::span<const AscendC::model::PrintArgument> arguments,
           std::uint32_t line);
/// Tells the sink what the core has printed since.
void tell_printed(Core& core);

[[nodiscard]] std::uint64_t size_of(AscendC::model::Dtype dtype);
[[nodiscard]] const char* name_of(AscendC::model::Dtype dtype);

/// Stores `count` elements to GM as the core's atomic mode says.
void store_global(const Operation& operation, std::uint64_t address, const std::byte* data,
                  std::uint64_t bytes, AscendC::model::Dtype dtype);
/// What stores of this mode commute with; 0: with nothing.
[[nodiscard]] std::uint8_t atomic_kind(const Operation& operation, AscendC::model::Dtype dtype);

}  // namespace trilith::model
