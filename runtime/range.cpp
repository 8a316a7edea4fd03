#include "pl/range.hpp"

#include "codegen/message.hpp"
#include "pl/detail/location.hpp"
#include "pl/error.hpp"

namespace pl::detail {

void throw_bad_step(const std::source_location& where) {
  throw UserError(trilith::codegen::message::zero_step, location_of(where));
}

}  // namespace pl::detail
