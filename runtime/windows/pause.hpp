// runtime/windows/pause.hpp -- what a thread does between two looks at what another one is about to change.
#pragma once

namespace pl::detail {

inline void pause_processor() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

}  // namespace pl::detail
