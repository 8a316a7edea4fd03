#include "runtime/model/launch.hpp"

#include "runtime/model/functions.hpp"
#include "runtime/model/run.hpp"

namespace trilith::model {

Model::Model(FaultSink& sink)
    : table_{AscendC::model::abi_version, sizeof(AscendC::model::Table), &sink, &functions(),
             [](void* context, const AscendC::model::Launch* launch) -> std::int32_t {
               Run run(*launch, *static_cast<FaultSink*>(context));
               return run.execute() ? 0 : 1;
             }} {}

}  // namespace trilith::model
