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
  std::int32_t operation = -1;  ///< AscendC::model::SourceLine::operation
};

/// A core that looks at a cell of a window until it has a value.
struct Poll {
  std::uint64_t address = 0;
  std::int32_t seen = 0;
  bool compared = false;  ///< what follows is known
  bool at_least = false;  ///< else: equal
  std::int32_t expected = 0;
  TextPlace where;
  const AscendC::model::WindowCall* call = nullptr;  ///< what the launch says of it
};

/// A store to a cell of a window by which a kernel tells other ranks something.
struct Signal {
  std::uint64_t address = 0;
  std::int32_t value = 0;
  bool adds = false;
  TextPlace where;
  const AscendC::model::WindowCall* call = nullptr;
};

/// An access to elements of a window.
struct WindowUse {
  std::uint64_t begin = 0, end = 0;
  bool writes = false, adds = false;
  TextPlace where;
  const AscendC::model::WindowCall* call = nullptr;  ///< a collective that does it
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
  // What a kernel does to windows, in its order, before it is done; false: the core gives up, without a fault.
  /// Is `accesses` to be called?
  virtual bool follows() { return false; }
  virtual bool accesses(const WindowUse& use) {
    (void)use;
    return true;
  }
  /// A barrier of all pipes that stands in the lines of a call.
  virtual bool orders(const AscendC::model::WindowCall& call) {
    (void)call;
    return true;
  }
  /// A look at a cell has seen what was waited for.
  virtual bool waited(const Poll& poll) {
    (void)poll;
    return true;
  }
  enum class Answer : std::uint8_t { Store, Stored, Stop };
  /// Stored: the sink has changed the cell itself.
  virtual Answer signals(const Signal& signal) {
    (void)signal;
    return Answer::Store;
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
