// runtime/config_fields.hpp -- the one list of RunConfig's fields: name, environment variable, member.
#pragma once

#include "pl/config.hpp"

namespace pl::detail {

/// Calls visit(name, variable, members…) once a field, with that member of each of `configs`.
template <class Visit, class... Configs>
void for_each_field(Visit&& visit, Configs&... configs) {
  visit("platform", "TRILITH_PLATFORM", configs.platform...);
  visit("distributed.device_ids", "TRILITH_DEVICE_IDS", configs.distributed.device_ids...);
  visit("distributed.num_sub_workers", "TRILITH_NUM_SUB_WORKERS", configs.distributed.num_sub_workers...);
  visit("distributed.transport", "TRILITH_TRANSPORT", configs.distributed.transport...);
  visit("distributed.results", "TRILITH_RESULTS", configs.distributed.results...);
  visit("cores", "TRILITH_CORES", configs.cores...);
  visit("threads", "TRILITH_THREADS", configs.threads...);
  visit("target_cpu", "TRILITH_TARGET_CPU", configs.target_cpu...);
  visit("cache_dir", "TRILITH_CACHE_DIR", configs.cache_dir...);
  visit("cache_limit", "TRILITH_CACHE_LIMIT", configs.cache_limit...);
  visit("shared_cache", "TRILITH_SHARED_CACHE", configs.shared_cache...);
  visit("dump_dir", "TRILITH_DUMP_DIR", configs.dump_dir...);
  visit("fast_math", "TRILITH_FAST_MATH", configs.fast_math...);
  visit("check", "TRILITH_CHECK", configs.check...);
  visit("schedule_seed", "TRILITH_SCHEDULE_SEED", configs.schedule_seed...);
  visit("trace", "TRILITH_TRACE", configs.trace...);
  visit("tune", "TRILITH_TUNE", configs.tune...);
  visit("compile", "TRILITH_COMPILE", configs.compile...);
  visit("max_compile_threads", "TRILITH_MAX_COMPILE_THREADS", configs.max_compile_threads...);
  visit("specialisation_budget", "TRILITH_SPECIALISATION_BUDGET", configs.specialisation_budget...);
  visit("log_level", "TRILITH_LOG_LEVEL", configs.log_level...);
  visit("eager", "TRILITH_EAGER", configs.eager...);
}

}  // namespace pl::detail
