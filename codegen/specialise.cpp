#include "codegen/specialise.hpp"

#include "codegen/passes/bind_signature.hpp"
#include "codegen/passes/merge_copies.hpp"
#include "codegen/passes/number_variables.hpp"
#include "codegen/passes/remove_dead_code.hpp"
#include "codegen/passes/resolve.hpp"
#include "codegen/passes/simplify_control_flow.hpp"

namespace trilith::codegen {

Kernel specialise(const Kernel& captured, const Signature& signature) {
  Kernel kernel = passes::resolve(passes::bind_signature(captured, signature));
  passes::simplify_control_flow(kernel);
  passes::remove_dead_code(kernel, signature.checked);
  passes::merge_copies(kernel);
  passes::number_variables(kernel);
  verify(kernel);
  return kernel;
}

}  // namespace trilith::codegen
