// runtime/model/fault.hpp -- what the model says of a kernel that breaks a rule of the AscendC interface, and to whom.
#pragma once

#include <chrono>
#include <cstdint>
#include <sstream>
#include <string>
#include <thread>

#include "codegen/ascendc/model/model_abi.h"

namespace trilith::model {

/// One broken rule; the first of a launch is reported and ends it.
struct Fault {
  std::string kernel;
  std::string core;             ///< "vector core 3"
  std::uint32_t text_line = 0;  ///< of the kernel's text
  std::string file;             ///< the user's place of that line, where the launch gave it
  std::uint32_t line = 0, column = 0;
  std::string message;
  bool of_program = false;  ///< the program leaves it open which of two ranks comes first
};

/// A place of the kernel's text, and the user's.
struct TextPlace {
  std::uint32_t text_line = 0;
  const char* file = nullptr;
  std::uint32_t line = 0, column = 0;
};

/// A core that looks at a cell of a window until it has a value.
struct Poll {
  std::uint64_t address = 0;
  std::int32_t seen = 0;
  TextPlace where;
  const AscendC::model::SignalWait* wait = nullptr;  ///< what the launch says of it
};

/// Who launches kernels: takes their faults. Called on threads of the launch, one at a time.
class FaultSink {
 public:
  virtual ~FaultSink() = default;
  virtual void fault(const Fault& fault) = 0;
  /// What a core has printed, up to the end of a line that nothing follows in the same printf.
  virtual void print(const std::string& text) { (void)text; }
  /// True: whoever waits for another rank gives up, without a fault. Asked while a kernel spins on GM.
  virtual bool stopped() { return false; }
  /// Returns when the cell may have another value than the one seen; false: the core gives up, without a fault. On the
  /// thread that has called the launch, while nothing else of it can go on.
  virtual bool wait(const Poll& poll) {
    (void)poll;
    std::this_thread::sleep_for(std::chrono::microseconds(20));
    return !stopped();
  }
  /// A signal cell was written.
  virtual void signalled(std::uint64_t address, const TextPlace& where) {
    (void)address;
    (void)where;
  }
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
