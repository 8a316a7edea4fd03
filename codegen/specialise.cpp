#include "codegen/specialise.hpp"

#include "codegen/passes/bind_signature.hpp"
#include "codegen/passes/constant_extents.hpp"
#include "codegen/passes/merge_copies.hpp"
#include "codegen/passes/number_variables.hpp"
#include "codegen/passes/remove_dead_code.hpp"
#include "codegen/passes/resolve.hpp"
#include "codegen/passes/simplify_control_flow.hpp"

namespace trilith::codegen {

namespace {

Kernel specialised(const passes::Bound& bound, const Signature& signature) {
  Kernel kernel = passes::resolve(bound);
  passes::simplify_control_flow(kernel);
  passes::remove_dead_code(kernel, signature.checked);
  passes::merge_copies(kernel);
  passes::number_variables(kernel);
  verify(kernel);
  return kernel;
}

}  // namespace

Kernel specialise(const Kernel& captured, const Signature& signature) {
  return specialised(passes::bind_signature(captured, signature), signature);
}

Kernel specialise_to_constant_extents(const Kernel& captured, const Signature& signature) {
  passes::Bound bound = passes::bind_signature(captured, signature);
  bound.constant_extents = true;
  return specialised(bound, signature);
}

}  // namespace trilith::codegen
