// Emitted text as callable code, through the engine that the runtime uses.
#pragma once

#include "codegen/xsimd/emit.hpp"
#include "jit/engine.hpp"
#include "runtime/pl/abi.hpp"

#include <map>
#include <memory>
#include <string>

namespace emitter_test {

inline pl::abi::Entry compile(const std::string& text, const std::string& symbol) {
  using namespace trilith::jit;
  static Engine engine([] {
    EngineConfig config;
    config.disk_cache = false;
    return config;
  }());
  static std::map<std::string, std::shared_ptr<const Code>> kept;
  std::shared_ptr<const Code>& code = kept[text];
  if (!code) {
    const KeyPart part{"text", text};
    code = engine.get({&part, 1}, [&] { return Source{text, symbol, "test", {}, {}}; });
  }
  return code->entry();
}
inline pl::abi::Entry compile(const trilith::codegen::xsimd::Emitted& emitted) {
  return compile(emitted.text, emitted.symbol);
}

}  // namespace emitter_test
