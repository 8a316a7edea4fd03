#include "runtime/measure.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <span>
#include <utility>
#include <vector>

namespace pl::detail {
namespace {

/// A summand of the distance between two elements: 0 … count - 1 times `stride` bytes.
struct Term {
  std::int64_t stride;
  std::int64_t count;
};

/// In place, by insertion: there are at most a few terms.
template <class Before>
void sort_terms(std::span<Term> terms, Before before) {
  for (std::size_t i = 1; i < terms.size(); ++i)
    for (std::size_t j = i; j > 0 && before(terms[j], terms[j - 1]); --j) std::swap(terms[j], terms[j - 1]);
}

/// Whether some choice of the terms' factors adds up to exactly `target`. Terms are sorted by falling stride,
/// so that few factors of each leave a rest that the others can reach.
class SumSearch {
 public:
  void add(std::int64_t stride, std::int64_t count, std::int64_t& target) {
    if (count <= 1 || stride == 0) return;
    if (stride < 0) {
      // -s * i for i in 0…n-1 is s * i shifted by -s * (n-1).
      target -= stride * (count - 1);
      stride = -stride;
    }
    terms_[static_cast<std::size_t>(size_++)] = {stride, count};
  }
  bool reaches(std::int64_t target) {
    sort_terms(std::span(terms_.data(), static_cast<std::size_t>(size_)),
               [](const Term& a, const Term& b) { return a.stride > b.stride; });
    reach_[static_cast<std::size_t>(size_)] = 0;
    for (int i = size_; i-- > 0;) {
      const auto at = static_cast<std::size_t>(i);
      reach_[at] = reach_[at + 1] + terms_[at].stride * (terms_[at].count - 1);
    }
    return search(0, target);
  }

 private:
  bool search(int index, std::int64_t target) {
    const auto at = static_cast<std::size_t>(index);
    if (target < 0 || target > reach_[at]) return false;
    if (index == size_) return target == 0;
    // Out of budget: say that they meet, which refuses a call but never lets a wrong number through.
    if (--budget_ < 0) return true;
    const Term& term = terms_[at];
    const std::int64_t most = std::min(term.count - 1, target / term.stride);
    const std::int64_t missing = target - reach_[at + 1];
    const std::int64_t least = missing <= 0 ? 0 : (missing + term.stride - 1) / term.stride;
    for (std::int64_t factor = most; factor >= least; --factor)
      if (search(index + 1, target - factor * term.stride)) return true;
    return false;
  }

  std::array<Term, 2 * max_rank + 2> terms_{};
  std::array<std::int64_t, 2 * max_rank + 3> reach_{};
  int size_ = 0;
  int budget_ = 4096;
};

}  // namespace

bool same_view(const ViewRef& a, const ViewRef& b) {
  if (a.data != b.data || a.dtype != b.dtype || a.rank != b.rank) return false;
  for (int axis = 0; axis < a.rank; ++axis)
    if (a.extents[axis] != b.extents[axis] || (a.extents[axis] != 1 && a.strides[axis] != b.strides[axis]))
      return false;
  return true;
}

bool overlap(const ViewRef& a, const ViewRef& b) {
  const Measured first = measure(a), second = measure(b);
  if (first.begin == first.end || second.begin == second.end) return false;
  if (first.end <= second.begin || second.end <= first.begin) return false;
  const auto size_a = static_cast<std::int64_t>(trilith::codegen::size_of(a.dtype));
  const auto size_b = static_cast<std::int64_t>(trilith::codegen::size_of(b.dtype));
  // a.data + Σ i·sa + byte == b.data + Σ j·sb + byte': bring everything to one side.
  std::int64_t target = static_cast<const char*>(b.data) - static_cast<const char*>(a.data);
  SumSearch search;
  for (int axis = 0; axis < a.rank; ++axis) search.add(a.strides[axis] * size_a, a.extents[axis], target);
  for (int axis = 0; axis < b.rank; ++axis) search.add(-b.strides[axis] * size_b, b.extents[axis], target);
  search.add(1, size_a, target);
  search.add(-1, size_b, target);
  return search.reaches(target);
}

namespace {

/// Every offset of the axes, sorted, twice the same? Only for views whose axes interleave, which are rare and small.
bool repeats_an_offset(std::span<const Term> axes) {
  std::vector<std::int64_t> offsets{0};
  for (const Term& axis : axes) {
    const std::size_t before = offsets.size();
    offsets.reserve(before * static_cast<std::size_t>(axis.count));
    for (std::int64_t i = 1; i < axis.count; ++i)
      for (std::size_t k = 0; k < before; ++k) offsets.push_back(offsets[k] + i * axis.stride);
  }
  std::ranges::sort(offsets);
  return std::ranges::adjacent_find(offsets) != offsets.end();
}

}  // namespace

bool overlaps_itself(const ViewRef& view) {
  // Larger interleaved views count as overlapping: no real program has them, and looking would cost more than a copy.
  constexpr std::int64_t searched_elements = 1 << 16;
  std::array<Term, max_rank> axes{};
  int count = 0;
  for (int axis = 0; axis < view.rank; ++axis) {
    if (view.extents[axis] == 0) return false;
    if (view.extents[axis] > 1)
      axes[static_cast<std::size_t>(count++)] = {std::abs(view.strides[axis]), view.extents[axis]};
  }
  sort_terms(std::span(axes.data(), static_cast<std::size_t>(count)),
             [](const Term& a, const Term& b) { return a.stride < b.stride; });
  std::int64_t reach = 0, elements = 1;
  bool apart = true;
  for (int i = 0; i < count; ++i) {
    const Term& term = axes[static_cast<std::size_t>(i)];
    apart &= term.stride > reach;
    reach += term.stride * (term.count - 1);
    elements = term.count > searched_elements / elements ? searched_elements + 1 : elements * term.count;
    if (elements > searched_elements && !apart) return true;
  }
  return !apart && repeats_an_offset(std::span(axes.data(), static_cast<std::size_t>(count)));
}

}  // namespace pl::detail
