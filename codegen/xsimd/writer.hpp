// codegen/xsimd/writer.hpp -- indented text, and names that clash with nothing.
#pragma once

#include <set>
#include <string>
#include <string_view>

namespace trilith::codegen::xsimd {

class Writer {
 public:
  void line(std::string_view text) {
    if (!text.empty() && text.front() != '#') text_.append(static_cast<std::size_t>(depth_) * 2, ' ');
    text_.append(text).push_back('\n');
  }
  void open(std::string_view text) {
    line(text);
    ++depth_;
  }
  void close(std::string_view text = "}") {
    --depth_;
    line(text);
  }
  void indent(int by) { depth_ += by; }
  /// Lines that were written elsewhere.
  void append(std::string_view text) {
    while (!text.empty()) {
      const auto end = text.find('\n');
      line(text.substr(0, end));
      text.remove_prefix(end + 1);
    }
  }
  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  std::string text_;
  int depth_ = 0;
};

/// Gives every name once. A hint that is no C++ identifier, is a keyword or is taken gets a suffix.
class Names {
 public:
  Names();
  [[nodiscard]] std::string fresh(std::string_view hint);

 private:
  std::set<std::string, std::less<>> taken_;
};

}  // namespace trilith::codegen::xsimd
