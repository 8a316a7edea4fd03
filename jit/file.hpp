// jit/file.hpp -- whole files in and out; nothing is ever seen half written.
#pragma once

#include <string>
#include <string_view>

namespace trilith::jit {

/// False when the file cannot be read. Symbolic links at the last component are refused when asked.
[[nodiscard]] bool read_file(const std::string& path, std::string& text, bool follow_link = true);

/// Writes a temporary file with a name unique to process, thread and time in the same folder, then renames
/// it. False (errno set) when that fails; nothing is left behind then. `mode` is set whatever the umask.
[[nodiscard]] bool publish_file(const std::string& path, std::string_view text, unsigned mode = 0600);

/// The same for everybody to read, with the folders on its way. "" or why it cannot be written.
[[nodiscard]] std::string publish_with_folders(const std::string& path, std::string_view text);

}  // namespace trilith::jit
