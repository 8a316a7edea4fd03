#include "runtime/edited_text.hpp"

#include "jit/file.hpp"
#include "jit/key.hpp"
#include "pl/error.hpp"

#include <cstdlib>

namespace pl::detail {

std::string folder_of_texts() {
  const char* const folder = std::getenv("TRILITH_ASCENDC_DIR");
  return folder != nullptr ? folder : "";
}

std::string edited_text(const std::string& folder, const trilith::codegen::ascendc::Emitted& emitted) {
  namespace jit = trilith::jit;
  const std::string path =
      folder + "/" + emitted.symbol + "_" + jit::content_hash(emitted.text).substr(0, 16) + ".cpp";
  std::string text;
  if (jit::read_file(path, text)) return text;
  if (const std::string reason = jit::publish_with_folders(path, emitted.text); !reason.empty())
    throw ConfigError("TRILITH_ASCENDC_DIR=" + folder + ": " + reason +
                      "; give a folder that can be written, or unset the variable");
  return emitted.text;
}

}  // namespace pl::detail
