// bench/bench_jit_empty.cpp -- the empty program: what starting any process costs.
int main() {}
