// runtime/specialisation_budget.hpp -- beyond RunConfig.specialisation_budget: one code with run-time extents for many
// shapes.
//
// The shapes of a call fall into groups. Two calls are of one group when their keys differ in extents alone, the same
// extents are 1 (those broadcast, and a run-time extent never does), and the same ones are equal to each other. Where
// nothing in the kernel needs constants, one code serves a group, and it accepts and computes exactly what the codes
// with constants would.
#pragma once

#include "codegen/specialise.hpp"
#include "runtime/call_plan.hpp"
#include "runtime/specialisation_table.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace pl::detail {

/// The group's key: `exact` with each extent, but 1 and those at the positions `constant`, replaced by a number that
/// equal extents share. Allocates nothing.
void make_group_key(const CallPlan& plan, std::span<const ParameterInfo> parameters,
                    const Argument* arguments, const Key& exact, std::span<const std::uint16_t> constant,
                    Key& group);

/// What the kernel allows in the group of one call.
struct RunTimeExtents {
  std::vector<std::uint16_t> constant;  ///< positions in the key of the extents that must be constants
  bool any = false;                     ///< some extent is a run-time value
  trilith::codegen::Signature signature;
  std::string reason;  ///< why some are constants: "softmax.cpp:12:5: …"; empty where none is
};

/// Tries it: with all extents at run time, then with as many as go. `exact` is the signature of `key`. Throws what
/// specialising for `exact` throws.
[[nodiscard]] RunTimeExtents find_run_time_extents(const CallPlan& plan,
                                                   std::span<const ParameterInfo> parameters,
                                                   const Argument* arguments, const Key& key,
                                                   const trilith::codegen::Signature& exact);

/// The `pl::Const` parameters and captures whose values are constants of the code, with their places; empty without.
[[nodiscard]] std::string constants_of(const CallPlan& plan, const trilith::codegen::Signature& signature);

}  // namespace pl::detail
