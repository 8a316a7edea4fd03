// runtime/mpi/message.hpp -- what the processes of a program tell each other.
#pragma once

#include "runtime/byte_stream.hpp"

#include <cstdint>

namespace pl::detail {

enum class MessageKind : std::uint8_t {
  // To the coordinator, which is on rank 0.
  Arrive,   ///< at a meeting
  Failed,   ///< the first failure of this process in a run
  State,    ///< the answer to Query
  Leaving,  ///< the program ends here
  // From the coordinator.
  Release,  ///< all have arrived
  Refuse,   ///< the meeting cannot be
  Abandon,  ///< the meeting will not be: the run has failed
  Fail,     ///< the run's first failure
  Query,    ///< can you still go on?
  Goodbye,  ///< all are leaving
  // Between any two.
  Add,        ///< elements to a region of the receiver's
  Added,      ///< done
  ClockAsk,   ///< what time is it?
  ClockTold,  ///< that time
  Trace,      ///< what the sender has seen of a run, to the one that writes it down
};

/// Where all processes of a program meet. The first two lie outside of runs.
enum class Meeting : std::uint8_t { Compile, Begin, Window, Renew, Callback, CallbackEnd, End };

}  // namespace pl::detail
