#include "runtime/model/memory.hpp"

#include <algorithm>
#include <array>
#include <cstring>

namespace trilith::model {

using AscendC::TPosition;

const SpaceFacts& facts(Space space) {
  constexpr std::uint64_t kib = 1024;
  // The top 8 KiB of UB are used by Select, Power and others, 256 bytes below by mixed kernels.
  static constexpr std::array<SpaceFacts, space_count> table{{
      {"GM", 0, 0, 1, false},
      {"UB", 192 * kib, 184 * kib - 256, 32, false},
      {"L1", 512 * kib, 512 * kib - 256, 32, true},
      {"L0A", 64 * kib, 64 * kib, 512, true},
      {"L0B", 64 * kib, 64 * kib, 512, true},
      {"L0C", 128 * kib, 128 * kib, 64, true},
      {"the bias table", kib, kib, 64, true},
      {"the fixpipe buffer", 2 * kib, 2 * kib, 64, true},
  }};
  return table[static_cast<std::size_t>(space)];
}

Space space_of(std::uint8_t position) {
  switch (static_cast<TPosition>(position)) {
    case TPosition::VECIN:
    case TPosition::VECOUT:
    case TPosition::VECCALC: return Space::Ub;
    case TPosition::A1:
    case TPosition::B1:
    case TPosition::C1:
    case TPosition::TSCM: return Space::L1;
    case TPosition::A2: return Space::L0a;
    case TPosition::B2: return Space::L0b;
    case TPosition::CO1: return Space::L0c;
    case TPosition::C2: return Space::BiasTable;
    case TPosition::C2PIPE2GM: return Space::FixpipeBuffer;
    case TPosition::GM:
    case TPosition::CO2: break;
  }
  return Space::Gm;
}

const char* position_name(std::uint8_t position) {
  static constexpr std::array<const char*, 14> names{"GM",     "A1",      "A2",   "B1",       "B2",
                                                     "C1",     "C2",      "CO1",  "CO2",      "VECIN",
                                                     "VECOUT", "VECCALC", "TSCM", "C2PIPE2GM"};
  return position < names.size() ? names[position] : "?";
}

Memory::Memory(Space space)
    : space_(space), data_(facts(space).size, std::byte{0xff}), valid_(facts(space).size, std::uint8_t{0}) {}

void Memory::poison(Range range) {
  std::memset(data(range.begin), 0xff, range.end - range.begin);
  std::memset(valid(range.begin), 0, range.end - range.begin);
}

void Memory::mark_valid(Range range) { std::memset(valid(range.begin), 0xff, range.end - range.begin); }

bool Memory::all_valid(Range range) const {
  return std::all_of(valid_.data() + range.begin, valid_.data() + range.end,
                     [](std::uint8_t bits) { return bits == 0xff; });
}

bool Memory::any_valid(Range range) const {
  return std::any_of(valid_.data() + range.begin, valid_.data() + range.end,
                     [](std::uint8_t bits) { return bits != 0; });
}

}  // namespace trilith::model
