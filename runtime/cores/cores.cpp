// runtime/cores/cores.cpp -- the pool of threads that simulated cores run on: oneTBB, and nothing else.
//
// A library of its own, opened when two tasks can first run at the same time: a program that only calls
// kernels, or whose tasks follow one another, never loads it.
#include <oneapi/tbb/task_arena.h>

/// Runs `run(argument)` on a worker, soon. Does not wait. `run` throws nothing.
extern "C" __attribute__((visibility("default"))) void trilith_cores_enqueue(void (*run)(void*),
                                                                             void* argument) {
  // Never destroyed: workers may still be on their way out while the process ends. As many workers as oneTBB
  // gives a process: one less than the machine has threads, since a device's own thread works too.
  static auto* const arena = new oneapi::tbb::task_arena;
  arena->enqueue([run, argument] { run(argument); });
}
