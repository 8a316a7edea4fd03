// samples/language/02_softmax.cpp -- row softmax of any shape: reductions and broadcasting.
//
//   ./samples/run language/02_softmax [ROWS COLUMNS]
#include <pl/pl.hpp>

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <iostream>

// (1) `row_max` and `row_sum` reduce the last axis to 1; that 1 is then broadcast against the whole row, as NumPy does.
//     The maximum is subtracted so that exp cannot overflow.
auto softmax = pl::jit.incore([](pl::Tensor<float> x, pl::Out<pl::Tensor<float>> y) {
  auto tile = pl::load(x);
  auto shifted = pl::exp(tile - pl::row_max(tile));
  y = pl::store(shifted / pl::row_sum(shifted), y);
});

// (2) The same in plain C++ and double precision, to check against.
bool right(const pl::Array<float>& x, const pl::Array<float>& y) {
  for (std::int64_t row = 0; row < x.dim(0); ++row) {
    double maximum = -INFINITY, sum = 0;
    for (std::int64_t i = 0; i < x.dim(1); ++i) maximum = std::max<double>(maximum, x(row, i));
    for (std::int64_t i = 0; i < x.dim(1); ++i) sum += std::exp(x(row, i) - maximum);
    for (std::int64_t i = 0; i < x.dim(1); ++i) {
      const double expected = std::exp(x(row, i) - maximum) / sum;
      if (std::abs(y(row, i) - expected) <= 1e-6 + 1e-5 * expected) continue;
      std::cout << "wrong at row " << row << ", column " << i << ": got " << y(row, i) << ", expected "
                << expected << '\n';
      return false;
    }
  }
  return true;
}

// (3) Every shape is a specialisation of its own, made from the one lambda above.
bool run(std::int64_t rows, std::int64_t columns) {
  pl::Array<float> x({rows, columns});
  pl::Array<float> y({rows, columns});
  for (std::size_t i = 0; i < x.size(); ++i) x.data()[i] = std::sin(static_cast<float>(i)) * 20.0f;
  softmax(x, y);
  const bool passed = right(x, y);
  std::cout << rows << "x" << columns << (passed ? ": OK\n" : ": wrong\n");
  return passed;
}

int main(int argc, char** argv) try {
  if (argc == 3) return run(std::atoll(argv[1]), std::atoll(argv[2])) ? 0 : 1;
  // (4) Widths around a vector register's, one element, and no row at all.
  for (const auto& [rows, columns] : {std::pair{4, 64}, {64, 64}, {5, 67}, {64, 1000}, {3, 1}, {0, 16}})
    if (!run(rows, columns)) return 1;
} catch (const pl::Error& error) {
  std::cerr << error.what() << '\n';
  return 1;
}
