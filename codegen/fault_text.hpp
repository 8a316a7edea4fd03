// codegen/fault_text.hpp -- what a failed run-time check is told as.
#pragma once

#include <cstdint>
#include <string>

namespace trilith::codegen {

/// The sentence for a fault (codes as runtime/pl/abi.hpp has them) of the check `what`: "load 0", "x[i]", or a sentence
/// of its own. The numbers may be words that stand for them (message.hpp). Empty: there is no such fault.
[[nodiscard]] std::string fault_text(std::int32_t code, const std::string& what, const std::string& given,
                                     const std::string& expected, const std::string& length);

/// A sentence with the words replaced by the numbers.
[[nodiscard]] std::string filled(std::string sentence, const std::string& given, const std::string& expected,
                                 const std::string& length);

}  // namespace trilith::codegen
