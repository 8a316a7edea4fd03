// Emitted text as callable code, through the engine that the runtime uses.
#pragma once

#include "codegen/xsimd/emit.hpp"
#include "jit/engine.hpp"
#include "runtime/pl/abi.hpp"

#include <map>
#include <memory>
#include <string>

namespace emitter_test {

inline pl::abi::Entry compile(const trilith::codegen::xsimd::Emitted& emitted) {
  using namespace trilith::jit;
  static Engine engine([] {
    EngineConfig config;
    config.disk_cache = false;
    return config;
  }());
  static std::map<std::string, std::shared_ptr<const Code>> kept;
  std::shared_ptr<const Code>& code = kept[emitted.text];
  if (!code) {
    const KeyPart part{"text", emitted.text};
    code = engine.get({&part, 1}, [&] { return Source{emitted.text, emitted.symbol, "test", {}, {}}; });
  }
  return code->entry();
}

}  // namespace emitter_test
