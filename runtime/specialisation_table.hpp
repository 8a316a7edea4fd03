// runtime/specialisation_table.hpp -- the specialisations of one kernel; found without a lock, kept until it
// is dropped.
//
// Open addressing over pointers to immutable entries. A reader takes the current slots with one acquire load
// and never writes. A writer, under its lock, fills a free slot, or publishes larger slots; the old ones stay
// until the table goes, since a reader may still look at them (all of them together are smaller than the
// newest).
#pragma once

#include "pl/abi.hpp"
#include "runtime/backend.hpp"
#include "runtime/call_plan.hpp"
#include "runtime/thread_annotations.hpp"

#include <atomic>
#include <memory>
#include <string>
#include <vector>

namespace pl::detail {

class ContextState;

struct Specialisation {
  std::vector<std::uint64_t> words;  ///< the key
  std::uint64_t hash = 0;
  Executable code;
  int returned_parameter = -1;
  std::string signature;                ///< for people
  std::weak_ptr<ContextState> context;  ///< its end releases the code
  /// Beyond the budget: the key is a group's. Positions in it of the extents that are constants all the same; where
  /// there is no code, of those that must be, and other entries hold it.
  std::vector<std::uint16_t> constant;
  bool is_group = false;

  [[nodiscard]] bool matches(const Key& key) const {
    if (words.size() != static_cast<std::size_t>(key.size)) return false;
    // A loop that ends at the first difference, neither memcmp nor vectors: keys are a few words.
    for (int i = 0; i < key.size; ++i)
      if (words[static_cast<std::size_t>(i)] != key.words[i]) return false;
    return true;
  }
};

class SpecialisationTable {
 public:
  SpecialisationTable() {
    const Lock lock(mutex_);
    grow(8);
  }

  /// The first one that was made, null before: most kernels have no other, and to compare costs less than to hash.
  [[nodiscard]] const Specialisation* first() const { return first_.load(std::memory_order_acquire); }

  [[nodiscard]] const Specialisation* find(const Key& key, std::uint64_t hash) const {
    const Slots* slots = current_.load(std::memory_order_acquire);
    for (std::size_t i = hash & slots->mask;; i = (i + 1) & slots->mask) {
      const Specialisation* entry = slots->entries[i].load(std::memory_order_acquire);
      if (entry == nullptr) return nullptr;
      if (entry->hash == hash && entry->matches(key)) return entry;
    }
  }

  /// Gives the entry that is in the table: `fresh`, or the one that another thread put there first.
  const Specialisation* insert(std::unique_ptr<Specialisation> fresh, const Key& key) {
    const Lock lock(mutex_);
    if (const Specialisation* present = find(key, fresh->hash)) return present;
    // Their keys stay, since readers compare with them; nobody matches a context that is gone.
    for (const auto& entry : entries_)
      if (entry->code.owner && entry->context.expired()) entry->code = {};
    entries_.push_back(std::move(fresh));
    if (entries_.size() == 1) first_.store(entries_.back().get(), std::memory_order_release);
    const Slots* slots = current_.load(std::memory_order_relaxed);
    if (2 * entries_.size() > slots->mask)
      grow(2 * (slots->mask + 1));
    else
      put(*all_slots_.back(), entries_.back().get());
    return entries_.back().get();
  }

  /// How many specialisations belong to one context: the first word of their keys.
  [[nodiscard]] std::size_t count(std::uint64_t context) const {
    const Lock lock(mutex_);
    std::size_t count = 0;
    for (const auto& entry : entries_) count += entry->words[0] == context ? 1 : 0;
    return count;
  }

 private:
  struct Slots {
    explicit Slots(std::size_t count) : mask(count - 1), entries(count) {}
    std::size_t mask;
    std::vector<std::atomic<const Specialisation*>> entries;
  };
  static void put(Slots& slots, const Specialisation* entry) {
    std::size_t i = entry->hash & slots.mask;
    while (slots.entries[i].load(std::memory_order_relaxed) != nullptr) i = (i + 1) & slots.mask;
    slots.entries[i].store(entry, std::memory_order_release);
  }
  void grow(std::size_t count) TRILITH_REQUIRES(mutex_) {
    auto slots = std::make_unique<Slots>(count);
    for (const auto& entry : entries_) put(*slots, entry.get());
    current_.store(slots.get(), std::memory_order_release);
    all_slots_.push_back(std::move(slots));
  }

  mutable Mutex mutex_;
  std::vector<std::unique_ptr<Specialisation>> entries_ TRILITH_GUARDED_BY(mutex_);
  std::vector<std::unique_ptr<Slots>> all_slots_ TRILITH_GUARDED_BY(mutex_);
  std::atomic<const Slots*> current_{nullptr};
  std::atomic<const Specialisation*> first_{nullptr};
};

}  // namespace pl::detail
