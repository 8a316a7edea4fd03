// runtime/model/fault.hpp -- what the model says of a kernel that breaks a rule of the AscendC interface, and to whom.
#pragma once

#include <cstdint>
#include <sstream>
#include <string>

namespace trilith::model {

/// One broken rule; the first of a launch is reported and ends it.
struct Fault {
  std::string kernel;
  std::string core;             ///< "vector core 3"
  std::uint32_t text_line = 0;  ///< of the kernel's text
  std::string file;             ///< the user's place of that line, where the launch gave it
  std::uint32_t line = 0, column = 0;
  std::string message;
};

/// Who launches kernels: takes their faults. Called on threads of the launch, one at a time.
class FaultSink {
 public:
  virtual ~FaultSink() = default;
  virtual void fault(const Fault& fault) = 0;
  /// True: whoever waits for another rank gives up, without a fault. Asked while a kernel spins on GM.
  virtual bool stopped() { return false; }
};

/// Unwinds the run time after a fault, up to the border to the kernel.
struct Stop {};

/// The parts of a message, one after the other.
template <class... Parts>
[[nodiscard]] std::string text(const Parts&... parts) {
  std::ostringstream stream;
  (stream << ... << parts);
  return stream.str();
}

}  // namespace trilith::model
