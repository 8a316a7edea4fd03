// runtime/pl/pld.hpp -- the distributed half of the language, namespace pld: ranks and dispatch to devices.
//
//   device_orch(x[r], y[r], r, pld::device = r);
//
// Thread-safety: values; not synchronised.
#pragma once

#include "pl/collective.hpp"
#include "pl/distributed_tensor.hpp"
#include "pl/rank.hpp"
#include "pl/remote.hpp"

#include <concepts>
#include <source_location>

namespace pld {

namespace detail {

/// The number of a device and the place where it was written: a constructor can take a default argument that
/// the assignment operator of `pld::device = r` cannot.
struct DeviceIndex {
  template <class A>
    requires(std::integral<A> || std::same_as<A, Rank>)
  constexpr DeviceIndex(const A& value,  // NOLINT(google-explicit-constructor)
                        std::source_location location = std::source_location::current())
      : index(static_cast<int>(value)), where(location) {}
  int index;
  std::source_location where;
};

}  // namespace detail

/// What `pld::device = r` gives: which rank's device a dispatch goes to.
struct DeviceArgument {
  int index;
  std::source_location where;
};

struct DeviceKeyword {
  constexpr DeviceArgument operator=(const detail::DeviceIndex& device) const {  // NOLINT: a keyword argument
    return {device.index, device.where};
  }
};

/// The keyword of a dispatch: `entry(args…, pld::device = r)`.
inline constexpr DeviceKeyword device{};

}  // namespace pld
