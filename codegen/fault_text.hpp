// codegen/fault_text.hpp -- what a failed run-time check is told as.
#pragma once

#include <cstdint>
#include <string>

namespace trilith::codegen {

/// As runtime/pl/abi.hpp numbers them; peer: a rank that a window has not.
enum FaultCode : std::int32_t {
  fault_range = 1,
  fault_shape = 2,
  fault_out_of_memory = 3,
  fault_index = 4,
  fault_step = 5,
  fault_peer = 7
};

/// The sentence for a fault of the check `what`: "load 0", "x[i]", or a sentence
/// of its own. The numbers may be words that stand for them (message.hpp). Empty: there is no such fault.
[[nodiscard]] std::string fault_text(std::int32_t code, const std::string& what, const std::string& given,
                                     const std::string& expected, const std::string& length);

/// A sentence with the words replaced by the numbers.
[[nodiscard]] std::string filled(std::string sentence, const std::string& given, const std::string& expected,
                                 const std::string& length);

}  // namespace trilith::codegen
