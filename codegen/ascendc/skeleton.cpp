// What the cube core walks: the products of a kernel, the control flow around them, and the scalars that these need.
#include "codegen/ascendc/program.hpp"

#include <algorithm>
#include <cctype>
#include <set>
#include <string>
#include <string_view>

namespace trilith::codegen::ascendc {
namespace {

bool is_word(char character) {
  return std::isalnum(static_cast<unsigned char>(character)) != 0 || character == '_';
}

/// Names in a line, and the one that it gives a value (the last before " = ").
void add_words(std::string_view text, std::set<std::string>& words) {
  for (std::size_t at = 0; at < text.size();) {
    std::size_t end = at;
    while (end < text.size() && is_word(text[end])) ++end;
    if (end > at && std::isdigit(static_cast<unsigned char>(text[at])) == 0)
      words.emplace(text.substr(at, end - at));
    at = end + (end == at ? 1 : 0);
  }
}

std::string assigned(std::string_view text) {
  const auto sign = text.find(" = ");
  if (sign == std::string_view::npos || text.find('(') < sign) return {};
  std::size_t begin = sign;
  while (begin > 0 && is_word(text[begin - 1])) --begin;
  return std::string(text.substr(begin, sign - begin));
}

class Skeleton {
 public:
  explicit Skeleton(const Program& program) : program_(program), kept_(program.nodes.size(), false) {}

  const Node* hidden = nullptr;  ///< a needed line that only the vector core can run

  std::vector<Node> take() {
    while (step()) {
    }
    std::vector<Node> result;
    for (std::size_t i = 0; i < kept_.size(); ++i) {
      if (!kept_[i]) continue;
      Node node = program_.nodes[i];
      // The labels of the vector core's lines are in the same function.
      if (node.text.starts_with("goto "))
        node.text.insert(node.text.size() - 1, "_beside");
      else if (node.text.ends_with(":;"))
        node.text.insert(node.text.size() - 2, "_beside");
      result.push_back(std::move(node));
    }
    return result;
  }

 private:
  /// Keeps what is needed by what is kept; true while there is more.
  bool step() {
    bool changed = false;
    std::vector<std::size_t> open;  // brackets around a line
    const auto keep = [&](std::size_t i) {
      if (kept_[i]) return;
      kept_[i] = changed = true;
      add_words(program_.nodes[i].text, words_);
    };
    for (std::size_t i = 0; i < kept_.size(); ++i) {
      const Node& node = program_.nodes[i];
      switch (node.kind) {
        case Node::Kind::Open:
        case Node::Kind::Branch: open.push_back(i); continue;
        case Node::Kind::Else: open.push_back(i); continue;
        case Node::Kind::Close: {
          // The brackets of one level: "if", "else", "}".
          std::vector<std::size_t> level{i};
          while (true) {
            level.push_back(open.back());
            const bool more = program_.nodes[open.back()].kind == Node::Kind::Else;
            open.pop_back();
            if (!more) break;
          }
          bool some = false;
          for (const std::size_t part : level) some = some || kept_[part];
          for (const std::size_t part : level)
            if (some) keep(part);
          continue;
        }
        default: break;
      }
      const bool is_label = node.text.ends_with(":;");
      bool needed =
          node.kind == Node::Kind::Cube || (node.kind == Node::Kind::Code && (node.leaves || is_label));
      if (node.kind == Node::Kind::Code && !needed) {
        const std::string name = assigned(node.text);
        needed = !name.empty() && words_.contains(name);
        if (needed && node.pipe != Pipe::None && !reads_tensors(node)) hidden = &node;
      }
      if (!needed) continue;
      keep(i);
      if (node.kind == Node::Kind::Cube && i > 0 && program_.nodes[i - 1].kind == Node::Kind::Comment)
        keep_silently(i - 1);
      for (const std::size_t bracket : open) keep(bracket);
    }
    return changed;
  }

  /// Elements of tensors that the kernel does not write: each core can read them.
  bool reads_tensors(const Node& node) const {
    return node.pipe == Pipe::Scalar && std::ranges::all_of(node.touches, [&](const Touch& touch) {
             const Object& object = program_.objects[static_cast<std::size_t>(touch.object)];
             return !touch.writes && object.kind == Object::Kind::Global && object.workspace < 0;
           });
  }

  void keep_silently(std::size_t i) { kept_[i] = true; }

  const Program& program_;
  std::vector<bool> kept_;
  std::set<std::string> words_;
};

}  // namespace

std::vector<Node> skeleton(const Program& program, const Node*& hidden) {
  Skeleton skeleton(program);
  std::vector<Node> lines = skeleton.take();
  hidden = skeleton.hidden;
  return lines;
}

}  // namespace trilith::codegen::ascendc
