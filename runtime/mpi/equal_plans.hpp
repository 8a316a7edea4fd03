// runtime/mpi/equal_plans.hpp -- every process of a program must have compiled the same one.
#pragma once

#include "pl/error.hpp"

#include <string>

namespace pl::detail {

/// Throws PlanError in every process where the plans differ; it names the ranks and the first difference.
/// `program`: "the program defined at …".
void require_equal_plans(std::size_t ranks, const std::string& program, const std::string& plan,
                         const Location& where);

}  // namespace pl::detail
