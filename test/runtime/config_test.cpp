// Configurations: defaults, environment, refusals by name.
#include "support.hpp"

#include <cstdlib>

using support::contains;
using support::message_of;

namespace {

/// Sets an environment variable for a block.
class Variable {
 public:
  Variable(const char* name, const char* value) : name_(name) { setenv(name, value, 1); }
  ~Variable() { unsetenv(name_); }

 private:
  const char* name_;
};

std::string refusal(const pl::RunConfig& config) {
  return message_of<pl::ConfigError>([&] { const pl::Context context(config); });
}

}  // namespace

TEST_CASE("every field may come from the environment") {
  const Variable ids("TRILITH_DEVICE_IDS", "4,7,2"), limit("TRILITH_CACHE_LIMIT", "16M"),
      eager("TRILITH_EAGER", "1"), level("TRILITH_LOG_LEVEL", "error"),
      directory("TRILITH_CACHE_DIR", "somewhere"), fast("TRILITH_FAST_MATH", "yes");
  const pl::Context context;
  CHECK(context.config().distributed.device_ids == std::vector<int>{4, 7, 2});
  CHECK(context.config().cache_limit == 16u << 20);
  CHECK(context.config().eager);
  CHECK(context.config().fast_math);
  CHECK(context.config().log_level == pl::LogLevel::Error);
  CHECK(context.config().cache_dir == "somewhere");
}

TEST_CASE("what the program sets itself goes before the environment") {
  const Variable ids("TRILITH_DEVICE_IDS", "4,7,2");
  const pl::Context context({.distributed = {.device_ids = {1}}});
  CHECK(context.config().distributed.device_ids == std::vector<int>{1});
}

TEST_CASE("a malformed variable is a ConfigError with variable, value and what was expected") {
  const std::pair<const char*, const char*> wrong[] = {
      {"TRILITH_EAGER", "perhaps"},
      {"TRILITH_DEVICE_IDS", "0,,1"},
      {"TRILITH_DEVICE_IDS", "0,x"},
      {"TRILITH_CORES", "4.5"},
      {"TRILITH_CACHE_LIMIT", "-1"},
      {"TRILITH_CACHE_LIMIT", "lots"},
      {"TRILITH_LOG_LEVEL", "shouting"},
      {"TRILITH_SCHEDULE_SEED", "1x"},
      {"TRILITH_MAX_COMPILE_THREADS", "99999999999"},
  };
  for (const auto& [name, value] : wrong) {
    const Variable variable(name, value);
    const std::string message = refusal({});
    CHECK_MESSAGE(contains(message, std::string(name) + "=\"" + value + "\""), message);
    CHECK_MESSAGE(contains(message, std::string(value) + "\": expected "), message);
  }
}

TEST_CASE("an unknown platform is refused with those there are") {
  for (const char* platform : {"cuda", "", "a2a3simulator"}) {
    const std::string message = refusal({.platform = platform});
    CHECK(contains(message, "RunConfig.platform = \"" + std::string(platform) + "\": expected"));
    for (const char* known : {"\"a2a3sim\"", "\"a2a3model\"", "\"a2a3\""}) CHECK(contains(message, known));
  }
  for (const char* platform : {"a2a3sim", "a2a3model", "a2a3"})
    CHECK(refusal({.platform = platform}).empty());
}

TEST_CASE("duplicate, negative and missing device numbers are refused") {
  CHECK(contains(refusal({.distributed = {.device_ids = {0, 1, 0}}}), "0 stands there twice"));
  CHECK(contains(refusal({.distributed = {.device_ids = {0, -3}}}), "not -3"));
  CHECK(contains(refusal({.distributed = {.device_ids = {}}}), "at least one"));
}

TEST_CASE("a number of threads for host callbacks that cannot be is refused") {
  CHECK(contains(refusal({.distributed = {.num_sub_workers = -1}}), "num_sub_workers"));
  CHECK(contains(refusal({.distributed = {.num_sub_workers = 1025}}), "0 to 1024"));
  CHECK(refusal({.distributed = {.num_sub_workers = 2}}).empty());
}

TEST_CASE("fields that are not built yet are refused by name") {
  CHECK(
      contains(refusal({.distributed = {.transport = "pigeons"}}), "\"threads\", \"processes\" or \"mpi\""));
  CHECK(contains(refusal({.distributed = {.results = "none"}}), "\"all\" or \"local\""));
  CHECK(contains(refusal({.threads = 0}), "RunConfig.threads = 0: expected 1 to 1024"));
  CHECK(contains(refusal({.tune = true}), "RunConfig.tune = true is not built yet; leave it at false"));
  CHECK(contains(refusal({.specialisation_budget = -1}), "specialisation_budget"));
  CHECK(refusal({}).empty());
}

TEST_CASE("a scope gives the thread another context and takes it back") {
  const pl::Context outer({.eager = true}), inner({.eager = true});
  auto kernel = pl::jit.incore(
      [](pl::Tensor<float> x, pl::Out<pl::Tensor<float>> y) { y = pl::store(pl::load(x), y); });
  pl::Array<float> x({2}), y({2});
  {
    const pl::ContextScope first(outer);
    kernel(x, y);
    {
      const pl::ContextScope second(inner);
      kernel(x, y);
      kernel(x, y);
    }
    kernel(x, y);
  }
  CHECK(outer.statistics().eager_calls == 2);
  CHECK(inner.statistics().eager_calls == 2);
}
