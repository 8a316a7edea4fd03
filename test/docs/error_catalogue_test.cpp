// runtime/errors.md holds every message of the sources, none that is gone, and each is provoked by a test.
#include "docs/error_sites.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <sstream>

using namespace docs_test;

namespace {

/// The page's text with bars as they are meant.
std::string catalogue() {
  std::string text = read(fs::path(TRILITH_SOURCE_DIR) / "runtime/errors.md");
  for (std::size_t at; (at = text.find("\\|")) != std::string::npos;) text.erase(at, 1);
  // Lines of a paragraph are one.
  for (std::size_t at = text.find('\n'); at != std::string::npos; at = text.find('\n', at + 1))
    text[at] = ' ';
  return text;
}

struct Row {
  int line;
  std::string message;
};

/// The rows of the tables of messages.
std::vector<Row> rows() {
  std::vector<Row> result;
  std::istringstream lines(read(fs::path(TRILITH_SOURCE_DIR) / "runtime/errors.md"));
  int number = 0;
  bool is_messages = false;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    if (line.starts_with("| message | ")) {
      is_messages = true;
    } else if (!line.starts_with("|")) {
      is_messages = false;
    } else if (is_messages && !line.starts_with("|---")) {
      std::size_t end = 1;
      while ((end = line.find('|', end)) != std::string::npos && line[end - 1] == '\\') ++end;
      std::string message = line.substr(2, end - 3);
      message.erase(0, message.find_first_not_of("` "));
      message.erase(message.find_last_not_of("` ") + 1);
      result.push_back({number, message});
    }
  }
  return result;
}

/// The fixed words of a row.
std::vector<std::string> fixed_words(const std::string& message) {
  std::vector<std::string> result;
  const std::string gap = "…";
  for (std::size_t start = 0; start <= message.size();) {
    const std::size_t end = std::min(message.find(gap, start), message.size());
    if (message.compare(start, 2, ": ") == 0) start += 2;  // behind the name of an operation
    for (std::string& piece : pieces_of(message.substr(start, end - start)))
      result.push_back(std::move(piece));
    start = end + gap.size();
  }
  return result;
}

}  // namespace

TEST_CASE("every message of the sources is in the catalogue") {
  const std::string page = catalogue();
  const std::vector<ErrorSite> sites = error_sites();
  CHECK(sites.size() > 300);
  for (const ErrorSite& site : sites) {
    const std::string& words = *longest(site.pieces);
    if (words.size() < 8) continue;  // "floating", handed on to a sentence elsewhere
    CAPTURE(site.file);
    CAPTURE(site.line);
    CAPTURE(words);
    std::string row;
    for (const std::string& piece : site.pieces) row += (row.empty() ? "| `" : " … ") + piece;
    row += "` | what to do |";  // to be pasted into the page, and mended
    CAPTURE(row);
    CHECK(page.find(words) != std::string::npos);
  }
}

TEST_CASE("the catalogue has no message that the sources do not say") {
  const std::string said = words_in({"codegen", "runtime", "jit"});
  CHECK(rows().size() > 200);
  for (const Row& row : rows()) {
    const std::vector<std::string> pieces = fixed_words(row.message);
    REQUIRE(!pieces.empty());
    CAPTURE(row.line);
    CAPTURE(row.message);
    CHECK(said.find(*longest(pieces)) != std::string::npos);
  }
}

TEST_CASE("every message of the catalogue is provoked by a test") {
  const std::string tested = words_in({"test", "samples"});
  const std::vector<Row> all = rows();
  // Words that no other message has, or the whole of the longest stretch that it shares with some.
  const auto provoked = [&](const Row& row) {
    const std::vector<std::string> pieces = fixed_words(row.message);
    for (const std::string& piece : pieces)
      for (std::size_t i = 0;
           piece.size() >= 5 && i + std::min<std::size_t>(piece.size(), 10) <= piece.size(); ++i) {
        const std::string words = piece.substr(i, 10);
        if (tested.find(words) == std::string::npos) continue;
        const bool shared = std::any_of(all.begin(), all.end(), [&](const Row& other) {
          return other.message != row.message && other.message.find(words) != std::string::npos;
        });
        if (!shared) return true;
      }
    return !pieces.empty() && tested.find(*longest(pieces)) != std::string::npos;
  };
  for (const Row& row : all) {
    CAPTURE(row.line);
    CAPTURE(row.message);
    CHECK(provoked(row));
  }
}

namespace {

struct Construct {
  std::string what, file, name;
};

/// The rows of test/captured/README.md: what works with its case, and what is refused with its words.
std::vector<Construct> constructs(const std::string& head) {
  std::vector<Construct> result;
  std::istringstream lines(read(fs::path(TRILITH_SOURCE_DIR) / "test/captured/README.md"));
  bool inside = false;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("| " + head + " |")) {
      inside = true;
    } else if (!line.starts_with("|")) {
      inside = false;
    } else if (inside && !line.starts_with("|---")) {
      std::size_t cut = line.find(" | ");
      const std::string second = line.substr(cut + 3, line.size() - cut - 5);
      const std::size_t colon = second.find("_test: ");
      result.push_back({line.substr(2, cut - 2),
                        colon == std::string::npos ? "" : second.substr(0, colon + 5),
                        colon == std::string::npos ? second : second.substr(colon + 7)});
    }
  }
  return result;
}

}  // namespace

TEST_CASE("every construct of C++ that works in a kernel names a case that exists") {
  const std::vector<Construct> works = constructs("works");
  CHECK(works.size() > 30);
  for (const Construct& construct : works) {
    CAPTURE(construct.what);
    CAPTURE(construct.name);
    REQUIRE(!construct.file.empty());
    const fs::path path = fs::path(TRILITH_SOURCE_DIR) / "test/captured" / (construct.file + ".cpp");
    bool found = false;
    for (const Token& token : tokens_of(read(path)))
      found = found || (token.is_string && token.text == construct.name);
    CHECK(found);
  }
}

TEST_CASE("every construct of C++ that is refused has a line that meets the refusal") {
  const std::vector<Construct> refused = constructs("refused");
  CHECK(refused.size() > 30);
  const std::string source = read(fs::path(TRILITH_SOURCE_DIR) / "test/capture/sources/refused.cpp");
  for (const Construct& construct : refused) {
    CAPTURE(construct.what);
    CAPTURE(construct.name);
    std::size_t at = source.find(construct.name);
    bool expected = false;
    for (; at != std::string::npos && !expected; at = source.find(construct.name, at + 1)) {
      const std::size_t line = source.rfind('\n', at);
      expected = source.substr(line, at - line).find("// refused: ") != std::string::npos;
    }
    CHECK(expected);
  }
}
