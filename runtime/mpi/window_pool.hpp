// runtime/mpi/window_pool.hpp -- the symmetric memory of windows: a place in it is the same in every process.
//
// A few large pieces, each an MPI window of all processes. Windows come and go in the same order everywhere, so each
// process finds the same places for them by itself. Not synchronised.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

namespace pl::detail {

class WindowPool {
 public:
  struct Place {
    int window;  ///< number of the MPI window
    std::int64_t displacement;
  };
  /// Zeroed memory; null: a further piece of at least as many bytes is needed.
  [[nodiscard]] char* allocate(std::int64_t bytes);
  /// Zeroes it for the next one.
  void free(char* memory);
  /// Bytes of the next piece.
  [[nodiscard]] std::int64_t next_piece(std::int64_t bytes) const;
  void add_piece(char* base, std::int64_t bytes);
  [[nodiscard]] std::optional<Place> place_of(const char* address) const;
  [[nodiscard]] char* address_of(const Place& place) const;

 private:
  struct Piece {
    char* base;
    std::int64_t bytes;
    std::map<std::int64_t, std::int64_t> used;  ///< displacement and bytes
  };
  std::vector<Piece> pieces_;
};

}  // namespace pl::detail
