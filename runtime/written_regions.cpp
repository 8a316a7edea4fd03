#include "runtime/written_regions.hpp"

#include "pl/error.hpp"
#include "runtime/measure.hpp"
#include "runtime/program.hpp"
#include "runtime/shared_memory.hpp"

#include <algorithm>

namespace pl::detail {

void WrittenRegions::add(const ViewRef& view, bool writes) {
  if (view.window != nullptr) return;
  const Measured range = measure(view);
  if (range.begin == range.end) return;
  const auto own = own_.upper_bound(range.begin);
  if (own != own_.end() && own->second <= range.begin) return;
  if (!shared_too_ && is_shared(range.begin, range.end)) return;
  std::vector<std::uint64_t> key{reinterpret_cast<std::uintptr_t>(view.data),
                                 static_cast<std::uint64_t>(view.dtype) << 1 | (writes ? 1U : 0U)};
  for (int axis = 0; axis < view.rank; ++axis) {
    key.push_back(static_cast<std::uint64_t>(view.extents[axis]));
    key.push_back(static_cast<std::uint64_t>(view.strides[axis]));
  }
  if (known_.insert(std::move(key)).second) (writes ? written_ : read_).emplace_back(view);
}

void WrittenRegions::leave_out(const void* data, std::size_t bytes) {
  const char* const begin = static_cast<const char*>(data);
  own_[begin + bytes] = begin;
}

void WrittenRegions::forget(const void* data) {
  const auto own = own_.upper_bound(static_cast<const char*>(data));
  if (own != own_.end() && own->second == data) own_.erase(own);
}

void WrittenRegions::clear() {
  known_.clear();
  written_.clear();
  read_.clear();
}

void note_written(const ViewRef& view) {
  if (ProgramRun* const run = thread_state().run)
    if (WrittenRegions* const regions = run->runner().regions()) regions->add(view, true);
}

void refuse_common_memory(const std::vector<RankRegions>& ranks) {
  struct Use {
    const char *begin, *end;
    int rank;
    bool writes;
    const RecordedView* view;
  };
  std::vector<Use> uses;
  const auto list = [&](int rank, bool writes, const std::vector<RecordedView>& views) {
    for (const RecordedView& view : views) {
      const Measured range = measure(view.view());
      uses.push_back({range.begin, range.end, rank, writes, &view});
    }
  };
  for (const RankRegions& rank : ranks) {
    list(rank.rank, true, rank.written);
    list(rank.rank, false, rank.read);
  }
  std::sort(uses.begin(), uses.end(), [](const Use& a, const Use& b) { return a.begin < b.begin; });
  // Only a write can clash: each meets the uses that begin inside it, and the writes that it begins inside.
  std::vector<const Use*> open_writes, open_reads;
  for (const Use& use : uses) {
    const auto check = [&](std::vector<const Use*>& open) {
      std::erase_if(open, [&](const Use* other) { return other->end <= use.begin; });
      for (const Use* other : open) {
        if (other->rank == use.rank || !overlap(other->view->view(), use.view->view())) continue;
        const Use& writer = use.writes ? use : *other;
        const Use& second = use.writes ? *other : use;
        throw PlanError("rank " + std::to_string(writer.rank) + " wrote " + describe(writer.view->view()) +
                        " in ordinary memory, and rank " + std::to_string(second.rank) +
                        (second.writes ? " wrote " : " read ") + describe(second.view->view()) +
                        " there in the same step of the program, and each rank has a copy of its own; let "
                        "ranks meet in a window, or put a pl::host_callback between the two dispatches");
      }
    };
    check(open_writes);
    if (use.writes) check(open_reads);
    (use.writes ? open_writes : open_reads).push_back(&use);
  }
}

}  // namespace pl::detail
