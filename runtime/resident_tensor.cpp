#include "runtime/resident_tensor.hpp"

#include "pl/detail/location.hpp"
#include "pl/worker.hpp"
#include "runtime/kept_for_runs.hpp"
#include "runtime/measure.hpp"
#include "runtime/shared_memory.hpp"

#include <atomic>
#include <cerrno>
#include <cstring>
#include <map>
#include <utility>

namespace pl::detail {
namespace {

/// All resident memory of the process by its end. Never destroyed: tensors may live as long as static objects.
struct Registry {
  Mutex mutex;
  std::map<const char*, std::pair<const char*, const Resident*>> by_end TRILITH_GUARDED_BY(mutex);
  std::atomic<int> count{0};
};
Registry& registry() {
  static Registry& registry = *new Registry;
  return registry;
}

std::size_t bytes_of(DType dtype, const std::vector<std::int64_t>& extents, const Location& where) {
  std::int64_t bytes = static_cast<std::int64_t>(trilith::codegen::size_of(dtype));
  for (const std::int64_t extent : extents)
    if (__builtin_mul_overflow(bytes, extent, &bytes))
      throw Error("a resident tensor of more bytes than there are addresses; use a smaller one", where);
  return static_cast<std::size_t>(bytes);
}

}  // namespace

Resident::Resident(const WorkerState* owner_, DType dtype, const Index& dims, bool stacked_, std::string name,
                   const std::source_location& where)
    : owner(owner_),
      stacked(stacked_),
      dtype_(dtype),
      extents_(dims.values()),
      strides_(dense_strides(extents_, where)),
      name_(std::move(name)),
      where_(location_of(where)),
      bytes_(bytes_of(dtype, extents_, where_)) {
  void* const memory = map_shared(bytes_);
  if (memory == nullptr)
    throw Error("no memory for a resident tensor of " + std::to_string(bytes_) +
                    " bytes: " + std::strerror(errno) + "; use a smaller one, or free another",
                where_);
  {
    const Lock lock(mutex_);
    memory_ = memory;
  }
  Registry& all = registry();
  const Lock lock(all.mutex);
  all.by_end[static_cast<char*>(memory) + bytes_ + 1] = {static_cast<char*>(memory), this};
  all.count.fetch_add(1, std::memory_order_relaxed);
}

Resident::~Resident() { release(""); }

void Resident::release(const std::string& how) {
  void* memory = nullptr;
  {
    const Lock lock(mutex_);
    if (memory_ == nullptr) return;
    memory = std::exchange(memory_, nullptr);
    gone_ = how;
  }
  {
    Registry& all = registry();
    const Lock lock(all.mutex);
    all.by_end.erase(static_cast<char*>(memory) + bytes_ + 1);
    all.count.fetch_sub(1, std::memory_order_relaxed);
  }
  (void)unmap_shared(memory);
}

ViewRef Resident::view(const Location& where) const {
  const Lock lock(mutex_);
  if (memory_ == nullptr)
    throw PlanError(title() + " " + gone_ + " and was used again; allocate another", where);
  return {dtype_,          false,  static_cast<int>(extents_.size()), memory_, extents_.data(),
          strides_.data(), nullptr};
}

std::string Resident::title() const {
  const ViewRef view{dtype_,          false,  static_cast<int>(extents_.size()), nullptr, extents_.data(),
                     strides_.data(), nullptr};
  return "the resident tensor " + (name_.empty() ? "" : "\"" + name_ + "\" ") + "(" + describe(view) +
         ", allocated at " + where_.str() + ")";
}

ViewRef view_of(const Resident& resident, const std::source_location& where) {
  return resident.view(location_of(where));
}

void require_own_residents(const WorkerState* worker, const ProgramArguments& with,
                           const std::source_location& where) {
  Registry& all = registry();
  if (all.count.load(std::memory_order_relaxed) == 0) return;
  const Lock lock(all.mutex);
  for (std::size_t i = 0; i < with.parameters.size(); ++i) {
    if (!with.parameters[i].tensor) continue;
    const Measured measured = measure(with.arguments[i].view);
    const auto found = all.by_end.upper_bound(measured.begin);
    if (found == all.by_end.end() || measured.begin < found->second.first) continue;
    const Resident& resident = *found->second.second;
    if (resident.owner == worker) continue;
    throw PlanError(
        "argument " + std::to_string(i + 1) + " is " + resident.title() +
            (worker == nullptr ? ", and the program was called without its worker; call the worker itself"
                               : " of another worker; use it with the worker that allocated it, or copy "
                                 "it with copy_from and copy_to"),
        location_of(where));
  }
}

}  // namespace pl::detail
