#include "codegen/specialise.hpp"

#include "codegen/passes/verify_rules.hpp"

namespace trilith::codegen {

void verify(const Kernel& kernel) {
  passes::verify_structure(kernel);
  if (kernel.specialised) passes::verify_specialised_form(kernel);
}

}  // namespace trilith::codegen
