// runtime/edited_text.hpp -- AscendC texts in a folder of the user's, to be edited by hand (TRILITH_ASCENDC_DIR).
#pragma once

#include "codegen/ascendc/emit.hpp"

#include <string>

namespace pl::detail {

/// The folder, or "": texts are what is emitted.
[[nodiscard]] std::string folder_of_texts();

/// What the file of this kernel and specialisation holds; the emitted text, which is written there, where there is none
/// yet. The file is named after what was emitted: where that changes, an edit of the former text is not taken for it.
[[nodiscard]] std::string edited_text(const std::string& folder,
                                      const trilith::codegen::ascendc::Emitted& emitted);

}  // namespace pl::detail
