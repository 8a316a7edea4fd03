// Kernels that are refused. A comment `// refused: TEXT` says what the error on that line must contain.
#include <pl/pl.hpp>
#include <pl/pld.hpp>

#include <array>
#include <cstdio>
#include <iostream>
#include <string>
#include <vector>

using Matrix = pl::Tensor<float, 8, 4>;
using Output = pl::Out<Matrix>;

int global = 3;
int globals[2] = {1, 2};
int unseen(int x);
int recurse(int x) { return x < 1 ? 0 : recurse(x - 1); }
int (*pointer_to_function)(int) = &unseen;
struct Pair {
  int a, b;
};
auto other = pl::jit.incore([](Matrix x, Output y) { y = pl::store(pl::load(x), y); });
auto device = pl::jit([](Matrix x, Output y) { other(x, y); });
auto capturing(float by) {
  return pl::jit.incore([by](Matrix x, Output y) { y = pl::store(pl::load(x) * by, y); });
}
struct Shape {
  virtual ~Shape() = default;
  virtual int area() const { return 1; }
};
const Shape shape;
union Either {
  int i;
  float f;
};
int even(int n);
int odd(int n) { return n == 0 ? 0 : even(n - 1); }
int even(int n) { return n == 0 ? 1 : odd(n - 1); }

// Captures.
void captures() {
  int n = 3;
  int* p = &n;
  std::string text = "x";
  const char* literal = "x";
  int list[3] = {1, 2, 3};
  constexpr float table[2] = {1, 2};
  Pair pair{1, 2};
  auto a = pl::jit.incore([&n](Matrix x, Output y) { y = pl::store(pl::load(x) * n, y); });  // refused: captures 'n' by reference
  auto b = pl::jit.incore([&](Matrix x, Output y) { y = pl::store(pl::load(x) * n, y); });  // refused: captures 'n' by reference
  auto c = pl::jit.incore([p](Matrix x, Output y) { (void)p; y = pl::store(pl::load(x), y); });  // refused: the kernel captures 'p' of type 'int *'
  auto d = pl::jit.incore([text](Matrix x, Output y) { y = pl::store(pl::load(x), y); });  // refused: captures 'text'
  auto e = pl::jit.incore([literal](Matrix x, Output y) { y = pl::store(pl::load(x), y); });  // refused: captures 'literal'
  auto f = pl::jit.incore([list](Matrix x, Output y) { y = pl::store(pl::load(x), y); });  // refused: captures 'list'
  auto t = pl::jit.incore([=](Matrix x, Output y) { y = pl::store(pl::load(x) * table[1], y); });  // refused: captures the array 'table'
  auto g = pl::jit.incore([pair](Matrix x, Output y) { y = pl::store(pl::load(x), y); });  // refused: captures 'pair'
  auto h = pl::jit.incore([k = device](Matrix x, Output y) { y = pl::store(pl::load(x), y); });  // refused: captures 'k' of type 'DeviceEntry
}
struct Model {
  int size = 4;
  void run() {
    auto a = pl::jit.incore([this](Matrix x, Output y) { y = pl::store(pl::load(x) * size, y); });  // refused: the kernel captures 'this'
    auto b = pl::jit.incore([=](Matrix x, Output y) { y = pl::store(pl::load(x) * size, y); });  // refused: the kernel captures 'this'
  }
};

// Bodies of pl::at.
void bodies(Matrix x, Output y) {
  int n = 3;
  std::vector<int> list;
  pl::Array<float> array({8, 4});
  pl::at(pl::Level::core_group, [&] { n = 4; y = pl::store(pl::load(x), y); });  // refused: an assignment to the captured value 'n'
  pl::at(pl::Level::core_group, [&] { ++n; y = pl::store(pl::load(x), y); });  // refused: an assignment to the captured value 'n'
  pl::at(pl::Level::core_group, [&] { y = pl::store(pl::load(x) * static_cast<int>(list.size()), y); });  // refused: the body of pl::at names 'list' of type
  pl::at(pl::Level::core_group, [&] { y = pl::store(pl::load(array.view()), y); });  // refused: names 'array' of type
  pl::at(pl::Level::core_group, [&, k = [n] { return n; }] { y = pl::store(pl::load(x) * k(), y); });  // refused: names the lambda 'k', which captures values
}

// Captures that g++ and clang lay out differently.
void layouts() {
  int n = 3;
  double wide = 2;
  auto a = pl::jit.incore([=](Matrix x, Output y) {
    if constexpr (false) (void)wide;  // refused: compilers may lay out the captures
    y = pl::store(pl::load(x) * n, y);
  });
  auto b = pl::jit.incore([=](Matrix x, Output y) {
    y = pl::store(pl::load(x) * n * static_cast<int>(sizeof(wide)), y);  // refused: compilers may lay out the captures
  });
  auto c = pl::jit.incore([=](Matrix x, Output y) {
    decltype(wide) z = n;  // refused: compilers may lay out the captures
    y = pl::store(pl::load(x) * pl::cast<float>(z), y);
  });
}
template <class T>
void template_layouts() {
  int n = 3;
  constexpr int size = 8;
  double wide = 2;
  auto a = pl::jit.incore([=](pl::Tensor<T> x, pl::Out<pl::Tensor<T>> y) {
    if constexpr (sizeof(T) == 100) (void)wide;  // refused: compilers may lay out the captures
    y = pl::store(pl::load(x) * n, y);
  });
  auto b = pl::jit.incore([=](pl::Tensor<T> x, pl::Out<pl::Tensor<T>> y) {
    y = pl::store(pl::load(x) * T(size) * n, y);  // refused: compilers may lay out the captures
  });
}
template void template_layouts<float>();

// Statements.
auto jump = pl::jit.incore([](Matrix x, Output y) {
  goto end;  // refused: goto
end:
  y = pl::store(pl::load(x), y);
});
auto attempt = pl::jit.incore([](Matrix x, Output y) {
  try {  // refused: try in a kernel
    y = pl::store(pl::load(x), y);
  } catch (...) {
  }
});
auto local_thread = pl::jit.incore([](Matrix x, Output y) {
  thread_local int calls = 0;  // refused: thread_local variable 'calls'
  y = pl::store(pl::load(x) * ++calls, y);
});
auto local_static = pl::jit.incore([](Matrix x, Output y) {
  static int calls = 0;  // refused: static variable 'calls'
  y = pl::store(pl::load(x) * ++calls, y);
});
auto assembly = pl::jit.incore([](Matrix x, Output y) {
  asm("nop");  // refused: inline assembly
  y = pl::store(pl::load(x), y);
});
auto array = pl::jit.incore([](Matrix x, Output y) {
  int values[2] = {1, 2};
  y = pl::store(pl::load(x) * values[2], y);  // refused: index 2 of an array of 2 elements
});
auto large_array = pl::jit.incore([](Matrix x, Output y) {
  int values[1000] = {1, 2};  // refused: the array 'values' of type 'int[1000]'
  y = pl::store(pl::load(x) * values[0], y);
});
auto array_of_any_size = pl::jit.incore([](Matrix x, Output y, pl::Scalar<int> n) {
  int values[n.value()];  // refused: the array 'values'
  y = pl::store(pl::load(x), y);
});
auto over_vector = pl::jit.incore([](Matrix x, Output y) {
  for (int i : std::vector<int>{1, 2, 3}) y = pl::store(pl::load(x) * i, y);  // refused: range-for over something that is no pl::range
});
auto volatile_local = pl::jit.incore([](Matrix x, Output y) {
  volatile float f = 2;  // refused: the volatile variable 'f'
  y = pl::store(pl::load(x) * f, y);
});
auto union_local = pl::jit.incore([](Matrix x, Output y) {
  Either e{3};  // refused: 'Either' is no type of the kernel language
  y = pl::store(pl::load(x), y);
});
auto struct_element = pl::jit.incore([](Matrix x, Output y, pl::Scalar<int> n) {
  Pair pairs[2] = {{1, 2}, {3, 4}};
  pairs[n] = Pair{5, 6};  // refused: a struct assigned to an element whose index is known only when the kernel runs
  y = pl::store(pl::load(x) * pl::cast<float>(pl::Scalar<int>(pairs[n].a)), y);
});
auto one_of_two_lambdas = pl::jit.incore([](Matrix x, Output y, pl::Scalar<int> n) {
  auto pick = [&](int k) {
    auto one = [](int v) { return v; };
    if (k > 1) return one;
    return one;
  };
  y = pl::store(pl::load(x) * pick(n)(2), y);  // refused: a lambda that is stored without a value
});
auto zero_step = pl::jit.incore([](Matrix x, Output y) {
  for (auto i : pl::range(0, 8, 0)) y = pl::store(pl::load(x) * pl::cast<float>(pl::Scalar(i)), y);  // refused: the step of this loop is 0
});

// Expressions.
auto thrown = pl::jit.incore([](Matrix x, Output y) {
  if (x.dim(0) > 9) throw 1;  // refused: throw in a kernel
  y = pl::store(pl::load(x), y);
});
auto allocated = pl::jit.incore([](Matrix x, Output y) {
  delete new int(3);  // refused: new and delete
  y = pl::store(pl::load(x), y);
});
auto from_global = pl::jit.incore([](Matrix x, Output y) {
  y = pl::store(pl::load(x) * global, y);  // refused: 'global' is a global or static variable
});
auto from_globals = pl::jit.incore([](Matrix x, Output y) {
  y = pl::store(pl::load(x) * globals[1], y);  // refused: 'globals' is a global or static variable
});
auto element_behind_pointer = pl::jit.incore([](Matrix x, Output y) {
  y = pl::store(pl::load(x) * x.data()[0], y);  // refused: an element behind a pointer in a kernel
});
auto to_stream = pl::jit.incore([](Matrix x, Output y) {
  std::cout << "hello";  // refused: an argument of type 'basic_ostream<char
  y = pl::store(pl::load(x), y);
});
float scaled(const char*, float value) { return 2 * value; }
auto string_argument = pl::jit.incore([](Matrix x, Output y) {
  y = pl::store(pl::load(x) * scaled("scale", 3.0f), y);  // refused: an argument of type 'const char *' in a kernel
});
auto unknown_call = pl::jit.incore([](Matrix x, Output y) {
  y = pl::store(pl::load(x) * unseen(3), y);  // refused: a call of 'unseen', whose body is not visible here
});
auto library_call = pl::jit.incore([](Matrix x, Output y) {
  std::printf("hello\n");  // refused: a call of 'printf'
  y = pl::store(pl::load(x), y);
});
auto through_pointer = pl::jit.incore([](Matrix x, Output y) {
  y = pl::store(pl::load(x) * pointer_to_function(3), y);  // refused: a call through a pointer
});
auto recursive = pl::jit.incore([](Matrix x, Output y, pl::Scalar<int> n) {
  y = pl::store(pl::load(x) * pl::cast<float>(recurse(n)), y);
});
auto nested = pl::jit.incore([](Matrix x, Output y) {
  device(x, y);  // refused: a call of a 'DeviceEntry
});
auto global_capturing = capturing(2);
auto nested_capturing = pl::jit.incore([](Matrix x, Output y) {
  global_capturing(x, y);  // refused: a call of a kernel that captures values, inside another kernel
});
void capture_capturing() {
  auto inner = capturing(2);
  auto a = pl::jit.incore([inner](Matrix x, Output y) { inner(x, y); });  // refused: captures 'inner' of type 'InCore
}
auto virtual_call = pl::jit.incore([](Matrix x, Output y) {
  y = pl::store(pl::load(x) * shape.area(), y);  // refused: a call of the virtual function 'Shape::area'
});
auto mutual_recursion = pl::jit.incore([](Matrix x, Output y, pl::Scalar<int> n) {
  y = pl::store(pl::load(x) * pl::cast<float>(pl::Scalar<int>(even(n))), y);
});
auto vector = pl::jit.incore([](Matrix x, Output y) {
  std::vector<int> values{1};  // refused: is no type of the kernel language
  y = pl::store(pl::load(x), y);
});
auto raw_memory = pl::jit.incore([](Matrix x, Output y) {
  float first = *x.data();  // refused: a pointer in a kernel
  y = pl::store(pl::load(x) * first, y);
});
auto address = pl::jit.incore([](Matrix x, Output y) {
  int i = 0;
  int* p = &i;  // refused: the pointer 'p'
  y = pl::store(pl::load(x) * *p, y);
});
auto wrong_rank = pl::jit.incore([](Matrix x, Output y) {
  y = pl::store(pl::load(x, {0}, {8}), {0, 0}, y);  // refused: load: the tensor has rank 2, but 1 offsets and a shape of rank 1 are given; give one of each for every axis
});
auto wrong_slice = pl::jit.incore([](Matrix x, Output y) {
  y = pl::store(pl::load(x.slice({0, 0}, {8})), {0, 0}, y);  // refused: slice: the tensor has rank 2, but 2 offsets and a shape of rank 1 are given; give one of each for every axis
});
auto wrong_axis = pl::jit.incore([](Matrix x, Output y) {
  y = pl::store(pl::load(x, {0, 0}, {8, x.dim(2)}), {0, 0}, y);  // refused: axis 2 of a tensor of rank 2
});
auto run_time_axis = pl::jit.incore([](Matrix x, pl::Out<pl::Tensor<float>> y, pl::Scalar<int> n) {
  y = pl::store(pl::transpose(pl::load(x), n, 1), y);  // refused: an axis that is no constant
});
auto run_time_option = pl::jit.incore([](Matrix x, pl::Out<pl::Tensor<float>> y, pl::Scalar<int> n) {
  y = pl::store(pl::sum(pl::load(x), {.axis = n}), y);  // refused: options that are no constants
});
auto other_dtype = pl::jit.incore([](Matrix x, Output y, pl::Scalar<float> s) {
  int n = 3;
  n += x.dim(0) > 3 ? 1 : 0;
  y = pl::store(pl::load(x) * n, y);  // refused: a run-time int32 beside a tile of float
});
auto unsigned_beside_int = pl::jit.incore([](pl::Tensor<int> x, pl::Out<pl::Tensor<int>> y, pl::Scalar<int> n) {
  unsigned count = n;
  y = pl::store(pl::load(x) * count, y);  // refused: a run-time uint32 beside a tile of int32
});
auto long_double = pl::jit.incore([](Matrix x, Output y) {
  long double wide = 1;  // refused: the type 'long double' is no type of the kernel language
  y = pl::store(pl::load(x) * static_cast<float>(wide), y);
});

// Options of operations.
auto transposed_at_run_time = pl::jit.incore([](Matrix x, Output y, pl::Scalar<bool> flip) {
  y = pl::store(pl::matmul(pl::load(x), pl::load(x), {.trans_b = flip.value()}), y);  // refused: options that are no constants
});
auto axis_of_cumsum = pl::jit.incore([](Matrix x, Output y, pl::Scalar<int> n) {
  y = pl::store(pl::cumsum(pl::load(x), {.axis = n}), y);  // refused: options that are no constants
});
auto written_dtype = pl::jit.incore([](Matrix x, Output y, pl::Scalar<int> n) {
  auto tile = pl::load(x);
  pl::write(tile, {0, 0}, n);  // refused: a int32 written to elements of float
  y = pl::store(tile, y);
});
auto few_offsets = pl::jit.incore([](Matrix x, Output y) {
  y = pl::store(pl::load(x) * pl::read(x, {0}), y);  // refused: 1 entries for a tensor of rank 2
});
auto named_options = pl::jit.incore([](pl::Tensor<float, 9, 2, 4> pages, pl::Tensor<int, 3, 5> table, pl::Out<pl::Tensor<float>> y) {
  pl::PagedOptions options{.start = 1};  // refused: 'pl::PagedOptions' is no type of the kernel language
  y = pl::store(pl::paged_gather(pages, pl::load(table), 3, 3, options), y);
});
pl::PagedOptions paged_options() { return {.start = 1}; }
auto returned_options = pl::jit.incore([](pl::Tensor<float, 9, 2, 4> pages, pl::Tensor<int, 3, 5> table, pl::Out<pl::Tensor<float>> y) {
  y = pl::store(pl::paged_gather(pages, pl::load(table), 3, 3, paged_options()), y);  // refused: options that are not written in the call
});

// Signatures.
auto by_reference = pl::jit.incore([](const Matrix& x, Output y) {  // refused: arguments are passed by value
  y = pl::store(pl::load(x), y);
});
auto returns_plain = pl::jit.incore([](Matrix x, Output y) {
  y = pl::store(pl::load(x), y);
  return x;  // refused: returns a plain pl::Tensor
});

// References.
auto element_reference = pl::jit.incore([](Matrix x, Output y, pl::Scalar<int> n) {
  int values[2] = {1, 2};
  int& one = values[n];  // refused: a reference to an element whose index is known only when the kernel runs
  y = pl::store(pl::load(x) * pl::cast<float>(pl::Scalar<int>(one)), y);
});
void set(int& target, int value) { target = value; }
auto element_argument = pl::jit.incore([](Matrix x, Output y, pl::Scalar<int> n) {
  int values[2] = {1, 2};
  set(values[n], 3);  // refused: a reference to an element whose index is known only when the kernel runs
  y = pl::store(pl::load(x) * pl::cast<float>(pl::Scalar<int>(values[0])), y);
});
int& either_of(int& a, int& b, int n) {
  if (n > 1) return a;  // refused: a helper that returns a reference to what is known only when the kernel runs
  return b;
}
auto returned_reference = pl::jit.incore([](Matrix x, Output y, pl::Scalar<int> n) {
  int a = 1, b = 2;
  either_of(a, b, n) = 5;
  y = pl::store(pl::load(x) * pl::cast<float>(pl::Scalar<int>(a)), y);
});

// What C++ takes and the language does not.
struct Callable {
  int get() const;
};
struct Unseen {
  Unseen operator+(const Unseen&) const;
};
auto negative_extent = pl::jit.incore([](pl::Tensor<float, 8, -2> x, Output y) {  // refused: an extent of -2 in a tensor type
  y = pl::store(pl::zeros<float>({8, 4}), y);
});
auto no_stage = pl::jit.incore([](Matrix x, Output y) {
  for (auto i : pl::pipeline(8, {.stage = 0})) y = pl::store(pl::load(x) * static_cast<float>(i), y);  // refused: a pipeline of 0 stages
});
auto elvis = pl::jit.incore([](Matrix x, Output y, int n) {
  const int chosen = n ?: 2;  // refused: 'a ?: b' is not standard C++
  y = pl::store(pl::load(x) * static_cast<float>(chosen), y);
});
auto any_mode = pl::jit.incore([](Matrix x, pl::Out<pl::Tensor<int, 8, 4>> y) {
  y = pl::store(pl::cast<int>(pl::load(x), {.mode = static_cast<pl::CastMode>(77)}), y);  // refused: an unknown cast mode
});
auto unseen_operator = pl::jit.incore([](Matrix x, Output y) {
  Unseen a, b;
  (void)(a + b);  // refused: the operator '+' of 'Unseen'
  y = pl::store(pl::load(x), y);
});
auto full_of_int = pl::jit.incore([](Matrix x, Output y, int n) {
  y = pl::store(pl::full<float>({8, 4}, n), y);  // refused: pl::full of a int32 in a tile of float
});
auto compared_pointers = pl::jit.incore([](Matrix x, Output y) {
  const bool there = pointer_to_function == unseen;  // refused: the operator '==' on these operands
  y = pl::store(pl::load(x) * (there ? 1.0f : 2.0f), y);
});
// Windows.
using Signal = pld::DistributedTensor<std::int32_t, 4>;
const pld::WaitOptions kept_options{.expected = 2};
auto kept = pl::jit.incore([](Signal s) {
  pld::wait(s, kept_options);  // refused: options that are not written in the call
});
auto chosen_mode = pl::jit.incore([](Signal s, pl::Scalar<int> n) {
  pld::notify(s, {.peer = 0, .op = n > 1 ? pld::NotifyOp::Set : pld::NotifyOp::AtomicAdd});  // refused: .op is no constant
});
auto wrong_cell_rank = pl::jit.incore([](Signal s) {
  pld::wait(s, {.offsets = {0, 1}});  // refused: 2 entries for a window of rank 1
});
auto row_of_pieces = pl::jit.incore([](pld::DistributedTensor<float, 4, 8> pieces, pl::Out<pl::Tensor<float, 8>> y) {
  const int me = pld::rank(pieces);
  y = pl::store(pld::remote_load(pieces, {.peer = 0, .offsets = {me}, .shape = {8}}), y);  // refused: 1 entries for a window of rank 2
});
auto negative_chunk = pl::jit.incore([](Signal s, pl::Tensor<std::int32_t, 4> x) {
  pld::put(s, {.peer = 0, .src = x, .chunk = -1});  // refused: .chunk is -1
});
auto no_buffers = pl::jit.incore([](Signal s, pl::Out<pl::Tensor<std::int32_t, 4>> y) {
  pld::get(y, s, {.peer = 0, .pipeline = 0});  // refused: .pipeline is 0
});
auto host_side = pl::jit.incore([](Signal s) {
  (void)pld::alloc_window_buffer(8);  // refused: 'pld::alloc_window_buffer' cannot stand in an in-core kernel
  pld::wait(s);
});
void context_at(Signal s) {
  pld::CommCtx ctx(s.view());
  pl::at(pl::Level::core_group, [&] { (void)pld::rank(ctx); });  // refused: the body of pl::at names 'ctx', which stands for a window
}

// Options of a load.
auto run_time_clamp = pl::jit.incore([](Matrix x, Output y, pl::Scalar<bool> cut) {
  y = pl::store(pl::load(x, {0, 0}, {8, 4}, {.clamp = cut.value()}), y);  // refused: `clamp` that is no constant
});
auto valid_of_wrong_rank = pl::jit.incore([](Matrix x, Output y) {
  y = pl::store(pl::load(x, {0, 0}, {8, 4}, {.valid = {3}}), y);  // refused: 1 entries for a tensor of rank 2
});

// Statements, once more.
auto without_braces = pl::jit.incore([](Matrix x, Output y, int n) {
  auto t = pl::load(x);
  switch (n)  // refused: a switch without braces
  case 1: t = t * 2.0f;
  y = pl::store(t, y);
});
auto before_the_case = pl::jit.incore([](Matrix x, Output y, int n) {
  auto t = pl::load(x);
  switch (n) {
    int k;  // refused: a declaration in front of the first case
    case 1: k = 2; t = t * static_cast<float>(k);
  }
  y = pl::store(t, y);
});
auto inner_label = pl::jit.incore([](Matrix x, Output y, int n) {
  auto t = pl::load(x);
  switch (n) {
    case 1:
      if (n > 0) {  // refused: a case label inside another statement
        case 2: t = t * 2.0f;
      }
  }
  y = pl::store(t, y);
});
auto returns_either = pl::jit.incore([](Matrix x, Output y, Output z, int n) {
  y = pl::store(pl::load(x), y);
  if (n > 1) return z;
  return y;  // refused: a kernel that returns different parameters
});
auto returns_view = pl::jit.incore([](Matrix x, pl::Out<pl::Tensor<float>> y) {
  y = pl::store(pl::load(x), y);
  return y.slice({0, 0}, {8, 4});  // refused: a kernel that returns a view
});
auto no_value = pl::jit.incore([](Matrix x, Output y) {
  pl::Tensor<float> view;  // refused: the tensor 'view' without a value
  y = pl::store(pl::load(x), y);
});
auto empty_tile = pl::jit.incore([](Matrix x, Output y) {
  y = pl::store(pl::load(x) + pl::Tile<float>(), y);  // refused: a 'pl::Tile<float>' without a value
});
auto made_inside = pl::jit.incore([](Matrix x, Output y) {
  pl::jit.incore([](Matrix a, Output b) { b = pl::store(pl::load(a), b); });  // refused: pl::jit.incore inside a kernel
  y = pl::store(pl::load(x), y);
});
auto kernel_argument = pl::jit.incore([](Matrix x, Output y) {
  auto call = [&](const auto& kernel) { kernel(x, y); };
  call(other);  // refused: a kernel as an argument inside a kernel
});
auto kernel_value = pl::jit.incore([](Matrix x, Output y) {
  auto copy = other;  // refused: is no type of the kernel language
  copy(x, y);
});
int variadic(int n, ...) { return n; }
auto variadic_call = pl::jit.incore([](Matrix x, Output y) {
  y = pl::store(pl::load(x) * static_cast<float>(variadic(1, 2)), y);  // refused: a call of 'variadic', which has C variadic arguments
});
auto chosen_lambda = pl::jit.incore([](Matrix x, Output y, int n) {
  auto twice = [](int v) { return 2 * v; };
  decltype(twice) all[2] = {twice, twice};
  y = pl::store(pl::load(x) * static_cast<float>(all[n](3)), y);  // refused: a lambda that comes out of an expression
});
auto tile_element = pl::jit.incore([](pl::Tensor<float> x, pl::Out<pl::Tensor<float>> y) {
  y = pl::store(pl::load(x, {}, {}), y);  // refused: empty offsets or shape for a tensor of any rank
});
auto run_time_stage = pl::jit.incore([](Matrix x, Output y, pl::Scalar<int> n) {
  for (auto i : pl::pipeline(8, {.stage = n})) y = pl::store(pl::load(x) * static_cast<float>(i), y);  // refused: pipeline options that are no constant
});
auto run_time_mode = pl::jit.incore([](Matrix x, pl::Out<pl::Tensor<int, 8, 4>> y, pl::Scalar<int> n) {
  y = pl::store(pl::cast<int>(pl::load(x), {.mode = static_cast<pl::CastMode>(n.value())}), y);  // refused: a cast mode that is no constant
});
auto mixed_scalars = pl::jit.incore([](Matrix x, Output y, pl::Scalar<int> n, pl::Scalar<std::uint64_t> wide) {
  y = pl::store(pl::load(x) * pl::cast<float>(n + wide.value()), y);  // refused: beside a scalar of
});
auto run_time_list = pl::jit.incore([](Matrix x, Output y, pl::Scalar<int> n) {
  const pl::Index here{0, 0}, there{1, 0};
  y = pl::store(pl::load(x, n > 1 ? here : there, {1, 4}), {0, 0}, y);  // refused: offsets or a shape that are no list
});
auto vector_offsets = pl::jit.incore([](Matrix x, Output y) {
  y = pl::store(pl::load(x, pl::Index(std::vector<std::int64_t>(2)), {1, 4}), {0, 0}, y);  // refused: offsets or a shape that are no list
});
auto mutable_inside = pl::jit.incore([](Matrix x, Output y) {
  int n = 2;
  auto next = [n]() mutable { return ++n; };  // refused: a 'mutable' lambda with captured copies
  y = pl::store(pl::load(x) * static_cast<float>(next()), y);
});
struct Deep {
  template <int N>
  static int down(int v) {
    if constexpr (N == 0)
      return v;
    else
      return down<N - 1>(v) + 1;  // refused: helpers that call each other more than 64 deep
  }
};
auto deep_helpers = pl::jit.incore([](Matrix x, Output y, int n) {
  y = pl::store(pl::load(x) * static_cast<float>(Deep::down<80>(n)), y);
});
auto many_elements = pl::jit.incore([](Matrix x, Output y, int n) {
  int grid[200][20] = {};
  grid[n][n] = 3;  // refused: an assignment that chooses from 4000 elements when it runs
  y = pl::store(pl::load(x) * static_cast<float>(grid[0][0]), y);
});
auto swapped = pl::jit.incore([](Matrix x, Output y) {
  float values[2] = {1, 2};
  float* first = values;  // refused: the pointer 'first'
  y = pl::store(pl::load(x), y);
});
auto vector_member = pl::jit.incore([](Matrix x, Output y) {
  y = pl::store(pl::load(x) * static_cast<float>(shape.area() + x.view().rank), y);  // refused: virtual function
});
auto host_only = pl::jit.incore([](Matrix x, Output y) {
  auto t = pl::create_tensor<float>({4});  // refused: 'pl::create_tensor' cannot stand in an in-core kernel
  y = pl::store(pl::load(x), y);
});
auto stride_member = pl::jit.incore([](Matrix x, Output y) {
  y = pl::store(pl::load(x) * static_cast<float>(x.stride(0)), y);  // refused: the member function 'stride' in a kernel
});
auto assigned_parameter = pl::jit.incore([](Matrix x, Output y, int n) {
  pl::load(x) = pl::load(x) * static_cast<float>(n);  // refused: an assignment to something that is no local variable
  y = pl::store(pl::load(x), y);
});
auto two_pointers = pl::jit.incore([](Matrix x, Output y) {
  if consteval {  // refused: if consteval in a kernel
    y = pl::store(pl::load(x), y);
  }
  y = pl::store(pl::load(x), y);
});
void not_a_lambda() {
  struct Functor {
    void operator()(Matrix x, Output y) const { y = pl::store(pl::load(x), y); }
  };
  auto k = pl::jit.incore(Functor{});  // refused: pl::jit.incore of a 'Functor'
}
void at_of_no_lambda(Matrix x, Output y) {
  struct Body {
    void operator()() const {}
  };
  pl::at(pl::Level::core_group, Body{});  // refused: pl::at of something that is no lambda
}
auto outer_counter(int start) {
  auto helper = pl::jit.inline_([start](int v) { return v + start; });
  return pl::jit.incore([&helper](Matrix x, Output y) { y = pl::store(pl::load(x), y); });  // refused: captures 'helper' by reference
}
auto array_of_lambdas = pl::jit.incore([](Matrix x, Output y, int n) {
  auto twice = [](int v) { return 2 * v; };
  std::array all{twice, twice};
  auto one = all[n];  // refused: a lambda chosen from an array when the kernel runs
  y = pl::store(pl::load(x) * static_cast<float>(one(3)), y);
});
auto zero_elements = pl::jit.incore([](Matrix x, Output y, int n) {
  std::array<int, 0> none{};
  y = pl::store(pl::load(x) * static_cast<float>(none[n]), y);  // refused: an element of an array of 0 elements
});
auto full_of_tile = pl::jit.incore([](Matrix x, Output y) {
  auto t = pl::load(x);
  y = pl::store(pl::full<float>({8, 4}, t), y);  // refused: pl::full of something that is no scalar
});
auto capturing_helper(float by) {
  return pl::jit.inline_([by](auto t) { return t * by; });
}
auto global_helper = capturing_helper(2);
auto uses_global_helper = pl::jit.incore([](Matrix x, Output y) {
  y = pl::store(global_helper(pl::load(x)), y);  // refused: the helper 'global_helper', which captures values, named from outside
});
auto statement_expression = pl::jit.incore([](Matrix x, Output y) {
  const int three = ({ int k = 2; k + 1; });  // refused: this C++ expression (clang: StmtExpr) is not part of the kernel language
  y = pl::store(pl::load(x) * static_cast<float>(three), y);
});
auto function_value = pl::jit.incore([](Matrix x, Output y) {
  (void)unseen;  // refused: 'unseen' is not part of the kernel language
  y = pl::store(pl::load(x), y);
});
auto unseen_member = pl::jit.incore([](Matrix x, Output y) {
  Callable made;
  y = pl::store(pl::load(x) * static_cast<float>(made.get()), y);  // refused: a call of the member function 'Callable::get' in a kernel
});
auto compound_expression = pl::jit.incore([](Matrix x, Output y) {
  const int two = ({ Pair pair{1, 2}; pair; }).b;  // refused: is not part of the kernel language
  y = pl::store(pl::load(x) * static_cast<float>(two), y);
});
constexpr auto any_n = pl::dynamic("N"), constant_n = pl::specialised("N");
auto two_kinds = pl::jit.incore([](pl::Tensor<float, any_n> x, pl::Out<pl::Tensor<float, constant_n>> y) {  // refused: two kinds of extent with the name "N"
  y = pl::store(pl::load(x), y);
});
// What is written by hand is no part of a captured kernel.
auto by_hand = pl::jit.incore_source("by_hand.cpp", "by_hand", pl::signature<Matrix, Output>);
auto calls_by_hand = pl::jit.incore([](Matrix x, Output y) {
  by_hand(x, y);  // refused: a kernel written by hand as a part of another one
});
