#include "runtime/model/global_memory.hpp"

#include <algorithm>

#include "runtime/model/fault.hpp"

namespace trilith::model {
namespace {

std::uint64_t address_of(const AscendC::model::Region& region) {
  return reinterpret_cast<std::uint64_t>(region.base);
}

}  // namespace

GlobalMemory::GlobalMemory(const AscendC::model::Launch& launch)
    : regions_(launch.regions, launch.regions + launch.region_count) {
  std::ranges::sort(regions_, {}, address_of);
}

const AscendC::model::Region* GlobalMemory::find(std::uint64_t address, std::uint64_t bytes) const {
  // Regions may overlap (two views of one tensor): the one that begins last and holds all, or else an earlier one.
  auto at = std::ranges::upper_bound(regions_, address, {}, address_of);
  const AscendC::model::Region* found = nullptr;
  while (at != regions_.begin()) {
    --at;
    if (address + bytes > address_of(*at) + static_cast<std::uint64_t>(at->bytes)) continue;
    if (at->writable) return &*at;
    if (found == nullptr) found = &*at;
  }
  return found;
}

bool GlobalMemory::is_signal(std::uint64_t address, std::uint64_t bytes) const {
  return bytes == sizeof(std::int32_t) &&
         std::ranges::any_of(regions_, [&](const AscendC::model::Region& region) {
           const std::uint64_t begin = address_of(region);
           return region.signals && begin <= address &&
                  address + bytes <= begin + static_cast<std::uint64_t>(region.bytes);
         });
}

std::string GlobalMemory::describe(std::uint64_t address) const {
  auto at = std::ranges::upper_bound(regions_, address, {}, address_of);
  if (at == regions_.begin()) return "before all tensors of the launch";
  --at;
  return text("byte ", address - address_of(*at), " from the start of tensor '", at->name, "', which has ",
              at->bytes);
}

}  // namespace trilith::model
