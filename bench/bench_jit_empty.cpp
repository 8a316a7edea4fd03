// bench/bench_jit_empty.cpp -- the empty program: what starting any process costs, or, with libraries as arguments,
// starting one and opening them.
#include <dlfcn.h>

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i)
    if (dlopen(argv[i], RTLD_NOW | RTLD_LOCAL) == nullptr) return 1;
  return 0;
}
