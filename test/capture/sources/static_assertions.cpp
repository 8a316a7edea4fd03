// Mistakes that the headers refuse by a static assertion. A comment `// asserted: TEXT` says what the compiler must
// print for WRONG's first form; with MENDED the second one stands there, and nothing is wrong.
#include <pl/pl.hpp>
#include <pl/pld.hpp>

#ifdef MENDED
#define WRONG(wrong, right) right
#else
#define WRONG(wrong, right) wrong
#endif
#define COMMA ,

using T = pl::Tile<float>;
using I = pl::Tile<std::int32_t>;
using D = pl::Tile<double>;
using Tensor = pl::Tensor<float>;
using Output = pl::Out<Tensor>;

// Types.
using A1 = WRONG(pl::Scalar<T>, pl::Scalar<float>);
void a1(A1*) { (void)sizeof(A1); }                                       // asserted: pl::Scalar<T>: T is a bool, an integer or a float
using A2 = WRONG(pl::Const<T>, pl::Const<int>);
void a2(A2*) { (void)sizeof(A2); }                                       // asserted: pl::Const<T>: T is a bool, an integer or a float
constexpr auto name = pl::dynamic(WRONG("a name that is longer than thirty-one letters", "a name"));  // asserted: pl::dynamic: a name has 1 to 31 characters
using A3 = pl::Tensor<float COMMA WRONG(2.5f, 2)>;
void a3(A3*) { (void)sizeof(A3); }                                       // asserted: a dim of pl::Tensor is an integer, pl::dynamic("name"), pl::specialised("name") or pl::no_dims
using A4 = WRONG(pl::Tensor<float COMMA pl::no_dims COMMA 2>, pl::Tensor<float COMMA pl::no_dims>);
void a4(A4*) { (void)sizeof(A4); }                                       // asserted: pl::no_dims stands alone
using A5 = WRONG(pl::Tensor<float COMMA 1 COMMA 2 COMMA 3 COMMA 4 COMMA 5 COMMA 6 COMMA 7 COMMA 8 COMMA 9>, pl::Tensor<float COMMA 1>);
void a5(A5*) { (void)sizeof(A5); }                                       // asserted: a tensor has rank 0 to 8
auto a6(pl::Tensor<float, pl::no_dims> x, Tensor z) { return WRONG(x, z)[0]; }  // asserted: x[i]: a tensor of rank 0 has no leading dim

// Kernels.
auto b1 = pl::jit.incore([](Tensor x, Output y) { return WRONG(pl::load(x), y); });  // asserted: a kernel returns nothing or the pl::Out it wrote
auto b2 = pl::jit.incore([](WRONG(const char*, int) n, Output y) {});    // asserted: a parameter is a pl::Tensor, pl::Out, pl::InOut, pl::Scalar, pl::Const or a number
auto kernel = pl::jit.incore([](Tensor x, Output y) {});
auto b7 = pl::jit.incore([n = 1](Tensor x, Output y) WRONG(mutable,) { y = pl::store(pl::load(x), y); });  // asserted: a 'mutable' lambda: what it would keep between calls is lost
void b3(Tensor x, Output y) { pl::submit(kernel, x WRONG(, COMMA y)); }  // asserted: the kernel takes another number of arguments
void b4(Tensor x, Output y) { pl::submit(kernel, WRONG(pl::deps = {} COMMA x COMMA y, x COMMA y COMMA pl::deps = {})); }  // asserted: and pl::own_thread stand behind the arguments
auto entry = pl::jit([](auto x, auto y) {});
void b5(Tensor x, Output y) { entry(WRONG(pld::device = 0 COMMA x COMMA y, x COMMA y COMMA pld::device = 0)); }  // asserted: pld::device = r stands behind the arguments
void b6(pld::DistributedTensor<float, 4> w, Tensor x) { pl::host_callback([](auto) {}, WRONG(w, x)); }  // asserted: pl::host_callback takes tensors and scalars; bring a window's part to the host with a kernel
void b6() { pl::at(pl::Level::core_group, [&](WRONG(int,)) {}); }        // asserted: the body of pl::at is a lambda without parameters

// Operations.
auto c1(T a, D b) { return pl::add(a, WRONG(b, a)); }                    // asserted: the operands have different dtypes
auto c2(I a) { return a * WRONG(0.5, 2); }                               // asserted: a floating constant beside an integer tile or scalar
auto c3(T t, Tensor x, Output y) { return pl::store(t, WRONG(x, y)); }   // asserted: pl::store: a plain pl::Tensor is read-only
auto c4(T t, D d, Output y) { return pl::store(WRONG(d, t), y); }        // asserted: pl::store: the tile and the tensor have different dtypes
auto c5(T t) { return pl::where(WRONG(t, t > 0), t, t); }                // asserted: pl::where: the condition is a bool tile or scalar
auto c6(T t, I i) { return pl::gather(t, WRONG(t, i)); }                 // asserted: pl::gather: the indices are a tile of integers
auto c7(T t, I i) { return pl::gather_row(t, WRONG(t, i)); }             // asserted: pl::gather_row: the indices are a tile of integers
auto c8(Tensor x, T t, I i) { return pl::paged_gather(x, WRONG(t, i), i, 4); }  // asserted: pl::paged_gather: the block table is a tile of integers
auto c9(Tensor x, T t, I i) { return pl::paged_gather(x, i, WRONG(t, i), 4); }  // asserted: pl::paged_gather: the lengths are a tile of integers or one integer
auto d1(T t, I i) { return pl::scatter(t, WRONG(t, i), t); }             // asserted: pl::scatter: the indices are a tile of integers
auto d2(T t, I i) { return pl::scatter_add(t, WRONG(t, i), t); }         // asserted: pl::scatter_add: the indices are a tile of integers
auto d3(T t, pl::Tile<> e) { return pl::read(WRONG(e, t), {0}); }        // asserted: pl::read: a scalar's dtype must be known; convert
auto d4(Tensor x, pl::Tensor<> e) { return pl::read(WRONG(e, x), {0}); } // asserted: pl::read: a scalar's dtype must be known; declare
auto d5(T t) { return pl::reinterpret<WRONG(double, int)>(t); }          // asserted: pl::reinterpret: the dtypes have different sizes
auto d6(T t, D d) { return pl::matmul(t, WRONG(d, t)); }                 // asserted: the operands of a product have different dtypes
auto d7(T t, D d) { return pl::matmul_acc(WRONG(d, t), t, t); }          // asserted: the accumulator of a product has the dtype of its sums
auto d8(T t, D d) { return pl::matmul_bias(t, t, WRONG(d, t)); }         // asserted: the bias of a product has the dtype of its sums
