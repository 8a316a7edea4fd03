#include "runtime/captured_kernel.hpp"

#include "codegen/json.hpp"
#include "codegen/specialise.hpp"
#include "pl/capture_record.hpp"
#include "runtime/fork_safe.hpp"

#include <map>

namespace pl::detail {
namespace {

// Leaked, since kernels in static objects may be called while the process ends. Keyed by content: a library
// that was unloaded and loaded again may put another record at an old address.
struct Captured {
  ForkSafeMutex mutex;
  std::map<std::string, std::shared_ptr<const CapturedKernel>> by_hash TRILITH_GUARDED_BY(mutex);
};
Captured& captured() {
  static Captured* all = new Captured;
  return *all;
}

}  // namespace

Location CapturedKernel::location() const {
  const auto& at = ir.location;
  return {at.file < ir.files.size() ? ir.files[at.file] : "", at.line, at.column};
}

std::shared_ptr<const CapturedKernel> captured_kernel(const KernelIdentity& identity) {
  const CaptureRecord& record =
      find_capture(identity.unit, identity.where, *identity.closure, identity.arguments);
  Captured& all = captured();
  {
    const Lock lock(all.mutex);
    if (const auto found = all.by_hash.find(record.hash); found != all.by_hash.end()) return found->second;
  }
  auto kernel = std::make_shared<CapturedKernel>();
  kernel->ir = trilith::codegen::kernel_from_json({record.json, record.json_size});
  kernel->hash = record.hash;
  kernel->specialise_capture = trilith::codegen::captures_to_specialise(kernel->ir);
  const Lock lock(all.mutex);
  return all.by_hash.emplace(record.hash, std::move(kernel)).first->second;
}

}  // namespace pl::detail
