// samples/check_test.cpp -- the comparison of the lessons must find what is wrong: not a lesson, run by the tests only.
//
//   check_test [number | nan]       the last element is off by a little, or no number
#include "check.hpp"

#include <cstring>

int main(int argc, char** argv) {
  return samples::run([&] {
    pl::Array<float> y({2, 3}, 4.0f);
    const auto four = [](auto, auto) { return 4.0; };
    samples::check("right", y, four, 0);
    y(1, 1) = 4.0001f;
    samples::check("near", y, four, 1e-3);
    if (argc > 1) y(1, 2) = std::strcmp(argv[1], "nan") == 0 ? NAN : 4.1f;
    samples::check("all", y, four, 1e-3);
    if (argc > 1) return;
    throw pl::ShapeError("an error of a kernel");
  });
}
