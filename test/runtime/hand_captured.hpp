// test/runtime/hand_captured.hpp -- a capture record written by hand: dispatch is tested without the capture
// tool.
#pragma once

#include "codegen/builder.hpp"
#include "codegen/json.hpp"
#include "pl/capture_record.hpp"
#include "pl/pl.hpp"

#include "support.hpp"

#include <functional>
#include <source_location>
#include <string>

namespace support {

/// The unit of a source with one kernel, whose `pl::jit.incore` stands at `where`. Kept until the process
/// ends, as the records of a real unit are.
inline const pl::detail::CaptureUnit* hand_captured(
    const trilith::codegen::Kernel& kernel,
    const std::source_location& where = std::source_location::current()) {
  struct Unit {
    std::string json, hash;
    pl::detail::CapturePlace places[2];
    pl::detail::CaptureRecord record;
    pl::detail::CaptureUnit unit;
  };
  static constexpr const char* any_type[] = {"*", nullptr};
  auto* made = new Unit;
  made->json = trilith::codegen::to_json(kernel);
  made->hash =
      "test-" + std::to_string(hash_round()) + "-" + std::to_string(std::hash<std::string>{}(made->json));
  made->places[0] = {where.line(), where.column()};
  made->places[1] = {0, 0};
  made->record = {where.file_name(), kernel.name.c_str(), made->places,      any_type,
                  nullptr,           made->json.data(),   made->json.size(), made->hash.c_str()};
  made->unit = {where.file_name(), &made->record, 1};
  return &made->unit;
}

/// A kernel object of a lambda and IR that say the same.
template <class F>
pl::InCore<F> hand_kernel(F lambda, const trilith::codegen::Kernel& kernel,
                          std::source_location where = std::source_location::current()) {
  return pl::jit.incore(std::move(lambda), where, hand_captured(kernel, where));
}

}  // namespace support
