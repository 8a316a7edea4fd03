// test/docs/error_sites.hpp -- the messages in the sources: where one is thrown or refused, and its fixed words.
#pragma once

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

namespace docs_test {

namespace fs = std::filesystem;

struct ErrorSite {
  std::string file;
  int line = 0;
  std::vector<std::string> pieces;  ///< runs of fixed words, without what is put between them
};

inline std::string read(const fs::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

inline std::vector<fs::path> sources_in(const std::vector<std::string>& folders) {
  std::vector<fs::path> result;
  for (const std::string& folder : folders)
    for (const auto& entry : fs::recursive_directory_iterator(fs::path(TRILITH_SOURCE_DIR) / folder)) {
      const auto extension = entry.path().extension();
      if (extension == ".cpp" || extension == ".hpp") result.push_back(entry.path());
    }
  return result;
}

/// One token of C++ as far as this needs it: a string literal's text, or anything else as it stands.
struct Token {
  bool is_string = false;
  std::string text;
  int line = 1;
};

inline std::vector<Token> tokens_of(const std::string& source) {
  std::vector<Token> result;
  int line = 1;
  for (std::size_t i = 0; i < source.size();) {
    const char c = source[i];
    if (c == '\n') {
      ++line;
      ++i;
    } else if (c == ' ') {
      ++i;
    } else if (source.compare(i, 2, "//") == 0) {
      while (i < source.size() && source[i] != '\n') ++i;
    } else if (c == '"' || c == '\'') {
      Token token{c == '"', "", line};
      for (++i; i < source.size() && source[i] != c && source[i] != '\n'; ++i) {
        if (source[i] == '\\') ++i;
        token.text += source[i];
      }
      ++i;
      // Adjacent literals are one.
      if (token.is_string && !result.empty() && result.back().is_string)
        result.back().text += token.text;
      else
        result.push_back(token);
    } else if (std::isalnum(static_cast<unsigned char>(c)) || c == '_') {
      Token token{false, "", line};
      while (i < source.size() && (std::isalnum(static_cast<unsigned char>(source[i])) || source[i] == '_'))
        token.text += source[i++];
      result.push_back(token);
    } else {
      result.push_back({false, std::string(1, c), line});
      ++i;
    }
  }
  return result;
}

/// Text in pieces that are cut where a message is cut into its two columns.
inline std::vector<std::string> pieces_of(const std::string& text) {
  std::vector<std::string> result;
  for (std::size_t start = 0; start <= text.size();) {
    const std::size_t end = std::min(text.find("; ", start), text.size());
    std::string piece = text.substr(start, end - start);
    while (!piece.empty() && piece.front() == ' ') piece.erase(0, 1);
    while (!piece.empty() && (piece.back() == ' ' || piece.back() == '\n')) piece.pop_back();
    if (!piece.empty()) result.push_back(piece);
    start = end + 2;
  }
  return result;
}

inline const std::string* longest(const std::vector<std::string>& pieces) {
  const std::string* found = nullptr;
  for (const std::string& piece : pieces)
    if (found == nullptr || piece.size() > found->size()) found = &piece;
  return found;
}

/// Every place that tells a user of a mistake.
inline std::vector<ErrorSite> error_sites() {
  std::vector<ErrorSite> result;
  for (const fs::path& path : sources_in({"codegen", "runtime", "jit"})) {
    const std::string name = fs::relative(path, TRILITH_SOURCE_DIR).string();
    const std::vector<Token> tokens = tokens_of(read(path));
    const bool shared_words = path.filename() == "message.hpp";
    for (std::size_t i = 0; i + 1 < tokens.size(); ++i) {
      const std::string& word = tokens[i].text;
      if (tokens[i].is_string) continue;
      // `throw ShapeError(` or `throw pl::ShapeError(`
      const std::size_t before =
          i >= 4 && tokens[i - 1].text == ":" && tokens[i - 3].text == "pl" ? i - 4 : i - 1;
      const bool thrown =
          i > 0 && word.ends_with("Error") && word != "InternalError" && tokens[before].text == "throw";
      const bool refused = word == "refuse" || word == "shape_error" || word == "dtype_error" ||
                           word == "throw_bad_dims" ||
                           (word == "static_assert" && name.starts_with("runtime/pl/"));
      const bool said = shared_words && word == "return";
      if (!thrown && !refused && !said) continue;
      ErrorSite site{name, tokens[i].line, {}};
      int depth = 0;
      for (std::size_t j = i + 1; j < tokens.size(); ++j) {
        const Token& token = tokens[j];
        if (token.is_string) {
          for (std::string& piece : pieces_of(token.text)) site.pieces.push_back(std::move(piece));
        } else if (token.text == "(" || token.text == "{") {
          ++depth;
        } else if (token.text == ")" || token.text == "}") {
          if (--depth == 0 && !said) break;
        } else if (token.text == ";" && depth <= 0) {
          break;
        }
      }
      if (!site.pieces.empty()) result.push_back(std::move(site));
    }
  }
  return result;
}

/// All string literals and comments `// refused: …`, `// asserted: …` of these folders, one behind the other.
inline std::string words_in(const std::vector<std::string>& folders) {
  std::string result;
  for (const fs::path& path : sources_in(folders)) {
    const std::string source = read(path);
    for (const Token& token : tokens_of(source))
      if (token.is_string) result += token.text + "\n";
    for (const std::string mark : {"// refused: ", "// asserted: "})
      for (std::size_t at = source.find(mark); at != std::string::npos; at = source.find(mark, at + 1))
        result += source.substr(at + mark.size(), source.find('\n', at) - at - mark.size()) + "\n";
  }
  return result;
}

}  // namespace docs_test
