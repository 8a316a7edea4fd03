// trilith/sort.hpp -- stable orders of lines, as positions: what sort, topk and their like are made of.
#pragma once

#include "vec.hpp"

namespace trilith::device {

namespace sort {

/// An element and where it stood.
template <class T>
struct Keyed {
  T key;
  std::int32_t position;
};

/// a comes before b: NaN behind every number, whatever the direction.
template <bool descending, class T>
TRILITH_INLINE bool before(T a, T b) {
  return (descending ? b < a : a < b) | ((a == a) & (b != b));
}

/// Puts `item` into the sorted items [0, count), behind its equals.
template <bool descending, class T>
TRILITH_INLINE void insert(Keyed<T>* items, std::int64_t count, Keyed<T> item) {
  for (; count > 0 && before<descending>(item.key, items[count - 1].key); --count)
    items[count] = items[count - 1];
  items[count] = item;
}

/// Merges the sorted runs [0, middle) and [middle, count) of `from`.
template <bool descending, class T>
inline void merge(Keyed<T>* to, const Keyed<T>* from, std::int64_t middle, std::int64_t count) {
  std::int64_t left = 0, right = middle;
  while (left < middle && right < count) {
    const bool take_right = before<descending>(from[right].key, from[left].key);
    *to++ = from[take_right ? right : left];
    right += take_right;
    left += !take_right;
  }
  for (; left < middle; ++left) *to++ = from[left];
  for (; right < count; ++right) *to++ = from[right];
}

/// Sorts `count` items; `other` is room for as many. Gives which of the two holds them.
template <bool descending, class T>
inline Keyed<T>* merge_sort(Keyed<T>* items, Keyed<T>* other, std::int64_t count) {
  constexpr std::int64_t run = 16;  // below this, inserting is faster than merging
  for (std::int64_t begin = 0; begin < count; begin += run) {
    const std::int64_t size = begin + run < count ? run : count - begin;
    for (std::int64_t i = 1; i < size; ++i) insert<descending>(items + begin, i, items[begin + i]);
  }
  for (std::int64_t width = run; width < count; width *= 2) {
    for (std::int64_t begin = 0; begin < count; begin += 2 * width) {
      const std::int64_t rest = count - begin;
      merge<descending>(other + begin, items + begin, width < rest ? width : rest,
                        2 * width < rest ? 2 * width : rest);
    }
    Keyed<T>* const sorted = other;
    other = items;
    items = sorted;
  }
  return items;
}

}  // namespace sort

/// Positions of each line's elements in sorted order. Seen as outer × extent × inner around the axis. `room`:
/// for 2 * extent Keyed<T>.
template <class T, bool descending>
inline void sort_indices(std::int32_t* out, const T* x, std::int64_t outer, std::int64_t extent,
                         std::int64_t inner, void* room) {
  static_assert(sizeof(sort::Keyed<T>) == (sizeof(T) == 8 ? 16 : 8), "the emitter counts on it");
  auto* const items = static_cast<sort::Keyed<T>*>(room);
  for (std::int64_t o = 0; o < outer; ++o)
    for (std::int64_t i = 0; i < inner; ++i) {
      const std::int64_t first = o * extent * inner + i;
      for (std::int64_t at = 0; at < extent; ++at)
        items[at] = {x[first + at * inner], static_cast<std::int32_t>(at)};
      const auto* const sorted = sort::merge_sort<descending>(items, items + extent, extent);
      for (std::int64_t at = 0; at < extent; ++at) out[first + at * inner] = sorted[at].position;
    }
}

/// The first `count` of those.
template <class T, bool largest>
inline void topk_indices(std::int32_t* out, const T* x, std::int64_t outer, std::int64_t extent,
                         std::int64_t inner, std::int64_t count, void* room) {
  // Few of many: a short sorted list into which new elements seldom go. Else the whole line is sorted.
  const bool few = count <= 128;
  auto* const items = static_cast<sort::Keyed<T>*>(room);
  for (std::int64_t o = 0; o < outer; ++o)
    for (std::int64_t i = 0; i < inner; ++i) {
      const T* const line = x + o * extent * inner + i;
      const sort::Keyed<T>* sorted = items;
      if (few) {
        std::int64_t held = 0;
        for (std::int64_t at = 0; at < extent && count > 0; ++at) {
          const sort::Keyed<T> item{line[at * inner], static_cast<std::int32_t>(at)};
          if (held < count)
            sort::insert<largest>(items, held++, item);
          else if (sort::before<largest>(item.key, items[count - 1].key))
            sort::insert<largest>(items, count - 1, item);
        }
      } else {
        for (std::int64_t at = 0; at < extent; ++at)
          items[at] = {line[at * inner], static_cast<std::int32_t>(at)};
        sorted = sort::merge_sort<largest>(items, items + extent, extent);
      }
      for (std::int64_t at = 0; at < count; ++at) out[(o * count + at) * inner + i] = sorted[at].position;
    }
}

}  // namespace trilith::device
