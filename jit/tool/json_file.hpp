// jit/tool/json_file.hpp -- JSON that a program has written, with errors that say where it is not whole.
#pragma once

#include <nlohmann/json.hpp>

#include <string>

namespace trilith::tool {

/// Throws pl::UserError. `how_to_get_one` ends the messages about files that are not what they should be.
[[nodiscard]] nlohmann::json read_json(const std::string& path, const std::string& how_to_get_one);

}  // namespace trilith::tool
