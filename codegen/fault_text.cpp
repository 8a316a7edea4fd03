#include "codegen/fault_text.hpp"

#include "codegen/message.hpp"

#include <cstdlib>
#include <string_view>
#include <utility>

namespace trilith::codegen {

std::string filled(std::string sentence, const std::string& given, const std::string& expected,
                   const std::string& length) {
  const std::pair<std::string_view, const std::string&> words[] = {
      {message::given_word, given}, {message::expected_word, expected}, {message::length_word, length}};
  for (const auto& [word, number] : words)
    for (std::size_t at = sentence.find(word); at != std::string::npos;
         at = sentence.find(word, at + number.size()))
      sentence.replace(at, word.size(), number);
  return sentence;
}

std::string fault_text(std::int32_t code, const std::string& what, const std::string& given,
                       const std::string& expected, const std::string& length) {
  if (what.find(message::given_word) != std::string::npos ||
      what.find(message::expected_word) != std::string::npos)
    return filled(what, given, expected, length);
  // "load 0": operation and axis. Checks with more to say than that bring their own sentence.
  const bool sentence = what.find(": ") != std::string::npos || what.starts_with("extent of ");
  const std::size_t space = what.rfind(' ');
  const std::string operation = what.substr(0, space);
  const std::size_t axis = space == std::string::npos ? 0 : std::strtoul(what.c_str() + space, nullptr, 10);
  switch (code) {
    case fault_range:
      if (sentence)
        return what + ": " + given + " does not lie inside the tensor (bound " + expected +
               "); keep offset and shape within the extents";
      if (length.starts_with('-')) return message::negative_extent(length);
      return message::region(operation, axis, given, length, expected);
    case fault_shape:
      if (sentence)
        return what + ": extent " + given + " where " + expected + " is needed; the two must agree";
      if (given.starts_with('-')) return message::negative_extent(given);
      return message::broadcast(operation, "", axis, given, expected);
    case fault_out_of_memory: return what + ": no scratch memory of " + given + " bytes; use smaller tiles";
    case fault_step: return message::zero_step;
    case fault_index:
      if (what == "x[i]") return message::leading_index(given, expected);
      return what != "index" ? message::index_outside(what, given, expected)
                             : message::position(given, expected);
    case fault_peer: return message::peer_outside(what, given, expected, length);
    default: return {};
  }
}

}  // namespace trilith::codegen
