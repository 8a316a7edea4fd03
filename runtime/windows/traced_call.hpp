// runtime/windows/traced_call.hpp -- the span of a request to a window.
#pragma once

#include "runtime/run_trace.hpp"
#include "runtime/windows/remote_call.hpp"

namespace pl::detail {

/// Lives as long as the request is worked on. Transfers that are over at once are not shown, and waits show themselves.
class TracedCall {
 public:
  TracedCall(TracedThread& thread, const RemoteCall& call);
  ~TracedCall();
  TracedCall(const TracedCall&) = delete;
  TracedCall& operator=(const TracedCall&) = delete;

 private:
  TracedThread& thread_;
  const RemoteCall& call_;
  const Clock::time_point begin_ = Clock::now();
};

}  // namespace pl::detail
