#include "runtime/kernel_work.hpp"

#include "pl/detail/location.hpp"
#include "runtime/pointer_map.hpp"

namespace pl::detail {

std::string KernelWork::title() const {
  return "task " + name() + (where.line() == 0 ? "" : ", called at " + location_of(where).str());
}

std::unique_ptr<TaskWork> KernelWork::moved(const PointerMap& to) const {
  auto copy = std::make_unique<KernelWork>(object, specialisation, where);
  copy->views = views;
  copy->scalars = scalars;
  for (RecordedView& view : copy->views) view.data = to(view.data);
  return copy;
}

void KernelWork::add_memory(std::vector<std::pair<const char*, const char*>>& ranges) const {
  for (const RecordedView& view : views) {
    const Measured range = measure(view.view());
    ranges.emplace_back(range.begin, range.end);
  }
}

}  // namespace pl::detail
