// A program that reports, for every kernel it makes, which record is found and what its closure holds.
// It brings its own pl::Jit, so that it can be built by any compiler without the library.
#include <pl/capture_record.hpp>
#include <pl/scalar.hpp>

#include <cstdio>
#include <string>

namespace pl {

/// What a kernel must be: its name, and the values its captures hold in the order of the closure.
struct Expected {
  std::string name;
  std::string values;
};
inline Expected expected;

class Jit {
 public:
  template <class F>
  int incore(F lambda, std::source_location where = std::source_location::current(),
             const detail::CaptureUnit* unit = detail::current_capture_unit()) const {
    const detail::CaptureRecord* record = detail::try_find_capture(unit, where, typeid(F));
    std::string hex;
    for (std::size_t i = 0; i < sizeof(F); ++i) {
      char digits[3];
      std::snprintf(digits, sizeof digits, "%02x", reinterpret_cast<const unsigned char*>(&lambda)[i]);
      hex += digits;
    }
    const std::string index = record == nullptr ? "none" : std::to_string(record - unit->records);
    std::printf("%s %s %zu %s %s\n", expected.name.c_str(), index.c_str(),
                sizeof(F), hex.c_str(), expected.values.c_str());
    return 0;
  }
};
inline constexpr Jit jit;

inline bool expect(const char* name, const std::string& values = "") {
  expected = {name, values};
  return true;
}

}  // namespace pl

using pl::expect;

static bool e1 = expect("first");
auto first = pl::jit.incore([](pl::Scalar<int>) {});
static bool e2 = expect("second");
static auto second = pl::jit.incore([](pl::Scalar<float>) {});
namespace inner {
static bool e3 = expect("third");
auto third = pl::jit.incore([](pl::Scalar<int>) {});
namespace {
bool e4 = expect("fourth");
auto fourth = pl::jit.incore([](pl::Scalar<int>) {});
}  // namespace
}  // namespace inner
static bool e5 = expect("left");
// clang-format off
auto left = pl::jit.incore([](pl::Scalar<int>) {}); static bool e6 = expect("right"); auto right = pl::jit.incore([](pl::Scalar<int>) {});
// clang-format on

#define TWO(a, b)                              \
  expect(#a);                                  \
  auto a = pl::jit.incore([](pl::Scalar<int>) {}); \
  expect(#b);                                  \
  auto b = pl::jit.incore([](pl::Scalar<int> x) { (void)(x + 1); });

#define BODY(name, body) auto name = pl::jit.incore([](pl::Scalar<int> x) { body })

template <class T, int count>
void in_template(T value) {
  auto unrelated = [](int) {};
  unrelated(1);
  const T twice = value + value;
  expect(sizeof(T) == 4 ? "of_template" : "of_template", std::to_string(value) + " " + std::to_string(twice));
  auto of_template = pl::jit.incore([value, twice](pl::Scalar<int>) { (void)(value + twice + count); });
  TWO(template_one, template_two)
}

inline void in_inline_function() {
  TWO(inline_one,
      inline_two)
}

struct Widget {
  int size = 7;
  void method() {
    expect("of_method", std::to_string(size));
    auto of_method = pl::jit.incore([size = size](pl::Scalar<int>) { (void)(size + 1); });
  }
};

enum class Color : int { Red, Green = 5 };
enum Plain { zero, one, two };

int main() {
  int i = -3;
  float f = 1.5f;
  double d = 0.1;
  bool b = true;
  const std::int64_t wide = 1ll << 40;
  constexpr int constant = 9;
  const int folded = 11;
  Color color = Color::Green;
  Plain plain = two;

  expect("none_captured");
  auto none_captured = pl::jit.incore([](pl::Scalar<int>) { (void)(constant + 1); });
  expect("explicit_all", "1 -3 1.5 0.10000000000000001 1099511627776 5 2");
  auto explicit_all = pl::jit.incore([b, i, f, d, wide, color, plain](pl::Scalar<int>) {
    (void)(i + f + d + wide + b + static_cast<int>(color) + plain);
  });
  expect("implicit", "1.5 -3 1 0.10000000000000001");
  auto implicit = pl::jit.incore([=](pl::Scalar<int> x) {
    if (f > 1) (void)(i + constant + folded);
    for (int k = 0; k < i; ++k) (void)(b ? d : f);
  });
  expect("mixed", "0.10000000000000001 1 -3");
  auto mixed = pl::jit.incore([=, d = d](pl::Scalar<int>) { (void)(b + i + d); });
  expect("initialised", "-6 7.5");
  auto initialised = pl::jit.incore([twice = i * 2, scaled = f * 5](pl::Scalar<int>) { (void)(twice + scaled); });
  expect("of_const", "11 9");
  auto of_const = pl::jit.incore([folded, constant](pl::Scalar<int>) { (void)(folded + constant); });
  TWO(main_one, main_two)
  expect("of_macro");
  BODY(of_macro, (void)(x * 2););
  expect("over_lines");
  auto over_lines = pl::jit
                        .incore(
                            [](pl::Scalar<int>) {});
  auto host = [i] {
    expect("in_lambda", std::to_string(i));
    auto in_lambda = pl::jit.incore([i](pl::Scalar<int>) { (void)(i + 1); });
  };
  host();
  in_template<int, 1>(4);
  in_template<double, 2>(0.5);
  in_inline_function();
  Widget().method();
}
