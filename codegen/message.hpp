// codegen/message.hpp -- sentences that several layers say: the capture, the specialiser, a reference operation and a
// fault of compiled code tell the same mistake in the same words.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace trilith::codegen::message {

/// A position outside an array of `size` elements.
[[nodiscard]] inline std::string position(const std::string& given, const std::string& size) {
  return "index " + given + " of an array of " + size + " elements; positions count from 0 to the size - 1";
}
[[nodiscard]] inline std::string position(std::int64_t given, std::int64_t size) {
  return position(std::to_string(given), std::to_string(size));
}

/// An index of `what` ("gather") outside [0, bound).
[[nodiscard]] inline std::string index_outside(std::string_view what, const std::string& given,
                                               const std::string& bound) {
  return std::string(what) + ": index " + given + " is not inside [0, " + bound +
         "); clamp or mask the indices before";
}
[[nodiscard]] inline std::string index_outside(std::string_view what, std::int64_t given,
                                               std::int64_t bound) {
  return index_outside(what, std::to_string(given), std::to_string(bound));
}

/// A region of `operation` that is not inside its tensor: `length` elements at `offset` of an axis of `extent`.
[[nodiscard]] inline std::string region(std::string_view operation, std::size_t axis,
                                        const std::string& offset, const std::string& length,
                                        const std::string& extent) {
  return std::string(operation) + ": offset " + offset + " with extent " + length + " on axis " +
         std::to_string(axis) + " is not inside the tensor, whose extent is " + extent +
         "; make the region smaller or move it inside";
}
[[nodiscard]] inline std::string region(std::string_view operation, std::size_t axis, std::int64_t offset,
                                        std::int64_t length, std::int64_t extent) {
  return region(operation, axis, std::to_string(offset), std::to_string(length), std::to_string(extent));
}

/// A rank that a window of `ranks` ranks has not; `operation`: "pld::notify", or with what it is "pld::gather root".
[[nodiscard]] inline std::string peer_outside(std::string_view operation, const std::string& peer,
                                              const std::string& ranks, const std::string& last) {
  const std::size_t space = operation.find(' ');
  const bool named = space != std::string_view::npos;
  return std::string(operation.substr(0, space)) + ": " +
         std::string(named ? operation.substr(space + 1) : "peer") + " " + peer + " of a window that " +
         ranks + (ranks == "1" ? " rank shares; " : " ranks share; ") + (named ? "ranks" : "peers") +
         " are 0 to " + last;
}

/// A tensor, as "float[8, 4]", where the annotation says another shape or dtype.
[[nodiscard]] inline std::string annotated_shape(const std::string& given, const std::string& annotation) {
  return "a tensor " + given + " was given where the annotation says " + annotation +
         "; pass a tensor of that shape or change the annotation";
}
[[nodiscard]] inline std::string annotated_dtype(const std::string& given, std::string_view dtype) {
  return "a tensor " + given + " was given where the annotation says dtype " + std::string(dtype) +
         "; pass a tensor of that dtype or change the annotation";
}

/// `x[i]` outside the leading axis.
[[nodiscard]] inline std::string leading_index(const std::string& given, const std::string& extent) {
  return "x[i]: index " + given + " is outside axis 0, whose extent is " + extent +
         "; positions count from 0";
}
[[nodiscard]] inline std::string leading_index(std::int64_t given, std::int64_t extent) {
  return leading_index(std::to_string(given), std::to_string(extent));
}

/// `x[i]` of a tensor that has no axis.
inline constexpr const char* no_leading_axis = "x[i]: the tensor has rank 0 and no axis to index";

/// Offsets or a shape of another rank than the tensor of `rank` axes.
[[nodiscard]] inline std::string region_rank(std::string_view operation, std::size_t rank,
                                             std::size_t offsets, std::size_t shape) {
  return std::string(operation) + ": the tensor has rank " + std::to_string(rank) + ", but " +
         std::to_string(offsets) + " offsets and a shape of rank " + std::to_string(shape) +
         " are given; give one of each for every axis";
}

[[nodiscard]] inline std::string negative_extent(const std::string& extent) {
  return "a shape has the negative extent " + extent + "; extents are 0 or more";
}
[[nodiscard]] inline std::string negative_extent(std::int64_t extent) {
  return negative_extent(std::to_string(extent));
}

/// An operation that needs all of a tile, and one that is valid only in part: `valid` of `extent`.
[[nodiscard]] inline std::string partly_valid(std::string_view operation, std::size_t axis,
                                              const std::string& valid, const std::string& extent) {
  return std::string(operation) + ": the tile is valid up to " + valid + " of " + extent + " along axis " +
         std::to_string(axis) +
         ", and all of it is needed there; fill the rest with pl::fillpad(tile, pl::Pad::zero)";
}

/// A valid shape of another rank than the tile.
[[nodiscard]] inline std::string valid_rank(std::string_view operation, std::size_t rank, std::size_t given) {
  return std::string(operation) + ": " + std::to_string(given) + " valid extents for a tile of rank " +
         std::to_string(rank) + "; give one for each axis";
}

/// Two extents that differ, a region outside of its axis, a negative extent. `what` says of what.
[[nodiscard]] inline std::string must_be_equal(const std::string& what, const std::string& a,
                                               const std::string& b) {
  return what + " are " + a + " and " + b + " and must be equal";
}
[[nodiscard]] inline std::string not_inside(const std::string& what, const std::string& offset,
                                            const std::string& size, const std::string& extent) {
  return what + ": offset " + offset + " with extent " + size + " is not inside the extent " + extent +
         "; make the region smaller or move it inside";
}
[[nodiscard]] inline std::string negative(const std::string& what, const std::string& given) {
  return what + " is " + given + " and must be 0 or more";
}

/// More elements than there are.
[[nodiscard]] inline std::string topk_count(const std::string& k, std::size_t axis,
                                            const std::string& extent) {
  return "k is " + k + " and axis " + std::to_string(axis) + " of the tile has " + extent +
         " elements; give a k from 0 to " + extent + ", or more elements with pl::pad";
}

/// The words that stand for the numbers of a fault in a sentence that is written before they are known.
inline constexpr const char *given_word = "{given}", *expected_word = "{expected}", *length_word = "{length}";

/// A loop that would never end.
inline constexpr const char* zero_step =
    "the step of this loop is 0, so that it would never end; give it another step";

/// Two extents of the operands of `operation` that do not broadcast; `shapes` as " [4, 8] and [4, 3]", or nothing.
[[nodiscard]] inline std::string broadcast(std::string_view operation, const std::string& shapes,
                                           std::size_t axis, const std::string& a, const std::string& b) {
  return std::string(operation) + ": shapes" + shapes + " do not broadcast: axis " + std::to_string(axis) +
         " has " + a + " and " + b + "; extents must be equal or 1";
}
[[nodiscard]] inline std::string broadcast(std::string_view operation, const std::string& shapes,
                                           std::size_t axis, std::int64_t a, std::int64_t b) {
  return broadcast(operation, shapes, axis, std::to_string(a), std::to_string(b));
}

}  // namespace trilith::codegen::message
