// A repeated call neither allocates nor locks: both are counted by replacing operator new and
// pthread_mutex_lock.
#include "hand_captured.hpp"
#include "support.hpp"

#include <dlfcn.h>
#include <pthread.h>

#include <cstdlib>
#include <new>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define TRILITH_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define TRILITH_SANITIZED 1
#endif
#endif

#ifndef TRILITH_SANITIZED

namespace {
thread_local int allocations = 0;
thread_local int locks = 0;
}  // namespace

// Not inlined: g++ would take the free in delete for a mismatch with new.
[[gnu::noinline]] void* operator new(std::size_t size) {
  ++allocations;
  if (void* memory = std::malloc(size == 0 ? 1 : size)) return memory;
  throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

extern "C" int pthread_mutex_lock(pthread_mutex_t* mutex) {
  using Lock = int (*)(pthread_mutex_t*);
  static const auto next = reinterpret_cast<Lock>(dlsym(RTLD_NEXT, "pthread_mutex_lock"));
  ++locks;
  return next(mutex);
}

namespace build = trilith::codegen::build;
using trilith::codegen::Access;
using trilith::codegen::DType;
using trilith::codegen::Op;

TEST_CASE("a repeated call, through the kernel or a handle, neither allocates nor locks") {
  using Any = pl::Tensor<float>;
  const support::Jit jit;
  build::KernelBuilder k("scale");
  auto a = k.tensor("x", Access::In, DType::Float32);
  auto b = k.tensor("y", Access::Out, DType::Float32);
  auto s = k.scalar("s", DType::Float32);
  auto t = k.let("t", build::load(a));
  k.store(build::call(Op::Mul, {t, s}), {}, b);
  k.returns(b);
  auto scale = support::hand_kernel(
      [](Any x, pl::Out<Any> y, pl::Scalar<float> f) { return pl::store(pl::load(x) * f, y); }, k.take());
  pl::Array<float> x({8, 8}, 1.0f), y({8, 8});
  const int before_first = allocations, locks_before_first = locks;
  auto handle = scale.compile(x, y, 1.0f);
  // The counters count.
  CHECK(allocations > before_first);
  CHECK(locks > locks_before_first);
  const int allocations_before = allocations, locks_before = locks;
  for (int i = 0; i < 100; ++i) {
    scale(x, y, 2.0f);
    handle(x, y, 3.0f);
  }
  const int allocated = allocations - allocations_before, locked = locks - locks_before;
  CHECK(allocated == 0);
  CHECK(locked == 0);
  CHECK(y(7, 7) == 3.0f);
}

#endif
