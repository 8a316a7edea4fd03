// What is on its way to main: weak, so that the real definitions take over as they land. This file goes then.
#include "codegen/specialise.hpp"
#include "codegen/xsimd/emit.hpp"
#include "pl/error.hpp"

namespace trilith::codegen {
[[gnu::weak]] std::vector<bool> captures_to_specialise(const Kernel&) {
  throw pl::InternalError("specialising is not built yet; run with TRILITH_EAGER=1");
}
[[gnu::weak]] Kernel specialise(const Kernel&, const Signature&) {
  throw pl::InternalError("specialising is not built yet; run with TRILITH_EAGER=1");
}
namespace xsimd {
[[gnu::weak]] Emitted emit(const Kernel&, const Signature&) {
  throw pl::InternalError("emitting is not built yet; run with TRILITH_EAGER=1");
}
}  // namespace xsimd
}  // namespace trilith::codegen
