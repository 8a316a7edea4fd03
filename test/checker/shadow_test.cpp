// What the checker remembers of a part of a window is what a list for every byte would, for contiguous regions, blocks of
// rows of any distance, and all kinds of access in any mixture.
#include "runtime/windows/shadow.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <random>

using namespace pl::detail;
using Kind = WindowAccess::Kind;

namespace {

/// Of one byte.
struct Known {
  AccessRef write;
  std::vector<AccessRef> adds, reads;
};

struct Oracle {
  explicit Oracle(std::size_t bytes) : known(bytes) {}

  /// The earlier accesses that `access` may not meet.
  std::vector<AccessRef> add(const ByteBox& box, const AccessRef& access, const VectorClock& clock) {
    std::vector<AccessRef> conflicts;
    const auto look = [&](const AccessRef& earlier) {
      if (earlier && !earlier->before(*access, clock)) conflicts.push_back(earlier);
    };
    const auto replace = [&](std::vector<AccessRef>& list) {
      std::erase_if(list, [&](const AccessRef& earlier) { return earlier->lane == access->lane; });
      list.push_back(access);
    };
    for (std::int64_t row = 0; row < box.rows; ++row)
      for (std::int64_t i = 0; i < box.width; ++i) {
        Known& byte = known[static_cast<std::size_t>(box.begin + row * box.pitch + i)];
        look(byte.write);
        if (access->kind != Kind::Add)
          for (const AccessRef& earlier : byte.adds) look(earlier);
        if (access->kind != Kind::Read)
          for (const AccessRef& earlier : byte.reads) look(earlier);
        if (access->kind == Kind::Write) byte = {access, {}, {}};
        if (access->kind == Kind::Add) replace(byte.adds);
        if (access->kind == Kind::Read) replace(byte.reads);
      }
    return conflicts;
  }

  [[nodiscard]] static bool has(const ByteBox& box, std::int64_t byte) {
    const std::int64_t behind = byte - box.begin;
    if (box.rows == 1) return behind >= 0 && behind < box.width;
    return behind >= 0 && behind / box.pitch < box.rows && behind % box.pitch < box.width;
  }

  std::vector<Known> known;
};

}  // namespace

TEST_CASE("the shadow of a part finds what a list for every byte finds") {
  constexpr std::int64_t bytes = 384;
  constexpr int lanes = 4;
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    std::mt19937_64 random(seed);
    const auto draw = [&](std::int64_t least, std::int64_t most) {
      return std::uniform_int_distribution<std::int64_t>(least, most)(random);
    };
    const std::int64_t pitches[] = {16, 16, 16, draw(3, 40)};
    Shadow shadow(bytes);
    Oracle oracle(bytes);
    VectorClock clocks[lanes];
    int found = 0, silent = 0;
    for (int step = 0; step < 80; ++step) {
      const auto lane = static_cast<int>(draw(0, lanes - 1));
      if (draw(0, 2) == 0) clocks[lane].join(clocks[draw(0, lanes - 1)]);
      clocks[lane].tick(lane);
      WindowAccess access;
      access.kind = static_cast<Kind>(draw(0, 2));
      access.lane = lane;
      access.now = clocks[lane].at(lane);
      ByteBox box;
      if (draw(0, 2) == 0) {
        box.begin = draw(0, bytes - 1);
        box.width = draw(1, bytes - box.begin);
      } else {
        box.pitch = pitches[draw(0, 3)];
        box.width = draw(1, box.pitch - 1);
        box.rows = draw(1, (bytes - box.width) / box.pitch);
        box.begin = draw(0, bytes - (box.rows - 1) * box.pitch - box.width);
      }
      const auto shared = std::make_shared<const WindowAccess>(access);
      const auto expected = oracle.add(box, shared, clocks[lane]);
      const auto [result, byte] = shadow.add(box, shared, clocks[lane]);
      CAPTURE(seed);
      CAPTURE(step);
      REQUIRE((result != nullptr) == !expected.empty());
      if (result) {
        CHECK(std::find(expected.begin(), expected.end(), result) != expected.end());
        CHECK(oracle.has(box, byte));
      }
      ++(result ? found : silent);
      const std::int64_t at = draw(0, bytes - 4);
      bool written = false;
      for (std::int64_t i = at; i < at + 4; ++i) {
        const Known& byte = oracle.known[static_cast<std::size_t>(i)];
        written |= byte.write != nullptr || !byte.adds.empty();
      }
      CHECK((shadow.last_write(at, at + 4) != nullptr) == written);
    }
    CHECK(found > 0);
    CHECK(silent > 0);
  }
}
