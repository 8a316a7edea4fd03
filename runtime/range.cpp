#include "pl/range.hpp"

#include "pl/error.hpp"

namespace pl::detail {

void throw_bad_step() { throw UserError("pl::range: the step is 0; expected a positive or negative step"); }

}  // namespace pl::detail
