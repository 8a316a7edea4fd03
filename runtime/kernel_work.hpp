// runtime/kernel_work.hpp -- a kernel call that runs later, on a core: all it needs, owned.
#pragma once

#include "pl/detail/kernel_object.hpp"
#include "runtime/recorded_view.hpp"
#include "runtime/task_graph.hpp"

#include <memory>
#include <source_location>
#include <string>
#include <vector>

namespace pl::detail {

class KernelWork final : public TaskWork {
 public:
  KernelWork(KernelObject& object_, const Specialisation* specialisation_, std::source_location where_)
      : object(object_), keeper(object_.keeper()), specialisation(specialisation_), where(where_) {}

  void run(std::int64_t block, std::int64_t blocks) override { object.run(*this, block, blocks); }
  [[nodiscard]] std::string name() const override { return object.name(); }
  [[nodiscard]] std::string title() const override;
  [[nodiscard]] std::unique_ptr<TaskWork> moved(const PointerMap& to) const override;
  void note_regions(WrittenRegions& regions) const override { object.note_regions(*this, regions); }
  void add_memory(std::vector<std::pair<const char*, const char*>>& ranges) const override;

  KernelObject& object;
  std::shared_ptr<const void> keeper;    ///< the kernel may be a local variable of the orchestration
  const Specialisation* specialisation;  ///< null: natively
  std::source_location where;            ///< of the call; line 0: unknown
  void* result = nullptr;                ///< natively, where the submitting thread waits for what it returns
  std::vector<RecordedView> views;       ///< of the tensor parameters
  std::vector<std::uint64_t> scalars;    ///< of the other parameters, then of the captures
};

}  // namespace pl::detail
