#include "runtime/mpi/window_pool.hpp"

#include <algorithm>
#include <cstring>

namespace pl::detail {
namespace {

// Most programs need one piece: its pages are physical only once they are touched.
constexpr std::int64_t first_piece = std::int64_t{16} << 20;

}  // namespace

char* WindowPool::allocate(std::int64_t bytes) {
  for (Piece& piece : pieces_) {
    std::int64_t at = 0;
    for (const auto& [begin, length] : piece.used) {
      if (begin - at >= bytes) break;
      at = begin + length;
    }
    if (piece.bytes - at < bytes) continue;
    piece.used.emplace(at, bytes);
    return piece.base + at;
  }
  return nullptr;
}

void WindowPool::free(char* memory) {
  const std::optional<Place> place = place_of(memory);
  if (!place) return;
  auto& used = pieces_[static_cast<std::size_t>(place->window)].used;
  const auto found = used.find(place->displacement);
  if (found == used.end()) return;
  // Not given back to the system: MPI may have registered the pages.
  std::memset(memory, 0, static_cast<std::size_t>(found->second));
  used.erase(found);
}

std::int64_t WindowPool::next_piece(std::int64_t bytes) const {
  const std::int64_t usual = pieces_.empty() ? first_piece : 2 * pieces_.back().bytes;
  constexpr std::int64_t page = 4096;
  return std::max(usual, (bytes + page - 1) / page * page);
}

void WindowPool::add_piece(char* base, std::int64_t bytes) { pieces_.push_back({base, bytes, {}}); }

std::optional<WindowPool::Place> WindowPool::place_of(const char* address) const {
  for (std::size_t i = 0; i < pieces_.size(); ++i)
    if (address >= pieces_[i].base && address < pieces_[i].base + pieces_[i].bytes)
      return Place{static_cast<int>(i), address - pieces_[i].base};
  return std::nullopt;
}

char* WindowPool::address_of(const Place& place) const {
  return pieces_[static_cast<std::size_t>(place.window)].base + place.displacement;
}

}  // namespace pl::detail
