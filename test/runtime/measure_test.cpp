// Where views lie in memory, against an enumeration of their bytes.
#include "runtime/measure.hpp"

#include "support.hpp"

#include <random>
#include <set>

using namespace pl::detail;
using trilith::codegen::Layout;

namespace {

struct View {
  std::vector<std::int64_t> extents, strides;
  const char* base;
  pl::DType dtype = pl::DType::Float32;
  [[nodiscard]] ViewRef ref() const {
    return {dtype,          false,         static_cast<int>(extents.size()), const_cast<char*>(base),
            extents.data(), strides.data()};
  }
};

std::set<const char*> bytes_of(const View& view, bool& repeated) {
  std::set<const char*> bytes;
  const auto size = static_cast<std::int64_t>(trilith::codegen::size_of(view.dtype));
  std::vector<std::int64_t> index(view.extents.size(), 0);
  for (std::int64_t extent : view.extents)
    if (extent == 0) return bytes;
  for (;;) {
    std::int64_t offset = 0;
    for (std::size_t axis = 0; axis < index.size(); ++axis) offset += index[axis] * view.strides[axis];
    for (std::int64_t byte = 0; byte < size; ++byte)
      repeated |= !bytes.insert(view.base + offset * size + byte).second;
    std::size_t axis = index.size();
    while (axis-- > 0) {
      if (++index[axis] < view.extents[axis]) break;
      index[axis] = 0;
    }
    if (axis == static_cast<std::size_t>(-1)) return bytes;
  }
}

}  // namespace

TEST_CASE("overlap agrees with an enumeration of bytes") {
  std::mt19937 random(7);
  const auto pick = [&](int low, int high) { return std::uniform_int_distribution<int>(low, high)(random); };
  static char memory[4096];
  int meeting = 0, apart = 0;
  for (int round = 0; round < 3000; ++round) {
    View views[2];
    for (View& view : views) {
      const int rank = pick(0, 3);
      for (int axis = 0; axis < rank; ++axis) {
        view.extents.push_back(pick(0, 4));
        view.strides.push_back(pick(-9, 9));
      }
      view.base = memory + 2048 + pick(-60, 60);
      view.dtype = pick(0, 1) != 0 ? pl::DType::Float32 : pl::DType::Float64;
    }
    bool repeated[2] = {false, false};
    const auto a = bytes_of(views[0], repeated[0]), b = bytes_of(views[1], repeated[1]);
    bool common = false;
    for (const char* byte : a) common |= b.contains(byte);
    ++(common ? meeting : apart);
    REQUIRE(overlap(views[0].ref(), views[1].ref()) == common);
    for (int i = 0; i < 2; ++i) {
      const auto& bytes = i == 0 ? a : b;
      const Measured measured = measure(views[i].ref());
      if (bytes.empty()) {
        REQUIRE(measured.begin == measured.end);
        continue;
      }
      REQUIRE(measured.begin == *bytes.begin());
      REQUIRE(measured.end == *bytes.rbegin() + 1);
      REQUIRE(overlaps_itself(views[i].ref()) == repeated[i]);
    }
  }
  CHECK(meeting > 300);
  CHECK(apart > 300);
}

TEST_CASE("layouts: dense, inner-dense, strided; an axis of one element has any stride") {
  static char memory[64];
  CHECK(measure(View{{2, 3}, {3, 1}, memory}.ref()).layout == Layout::Dense);
  CHECK(measure(View{{2, 3}, {5, 1}, memory}.ref()).layout == Layout::InnerDense);
  CHECK(measure(View{{2, 3}, {1, 2}, memory}.ref()).layout == Layout::Strided);
  CHECK(measure(View{{1, 3}, {77, 1}, memory}.ref()).layout == Layout::Dense);
  CHECK(measure(View{{}, {}, memory}.ref()).layout == Layout::Dense);
  CHECK(measure(View{{0, 3}, {9, 9}, memory}.ref()).layout == Layout::Dense);
}
