// TRILITH_ASCENDC_DIR: the texts of kernels on the model lie in a folder, and what is edited there runs.
#include "runtime/support.hpp"

#include <pl/pl.hpp>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

using support::contains;

namespace {

namespace fs = std::filesystem;

auto three_times = pl::jit.incore(
    [](pl::Tensor<float, 8> x, pl::Out<pl::Tensor<float, 8>> y) { y = pl::store(pl::load(x) * 3, y); });

/// The variable, while this lives.
struct Texts {
  explicit Texts(const std::string& folder) { setenv("TRILITH_ASCENDC_DIR", folder.c_str(), 1); }
  ~Texts() { unsetenv("TRILITH_ASCENDC_DIR"); }
};

/// What the kernel makes of 5, in a context of its own.
float of_five() {
  pl::RunConfig config = support::cached();
  config.platform = "a2a3model";
  pl::Context context(config);
  const pl::ContextScope scope(context);
  const pl::Array<float> x({8}, 5.0F);
  pl::Array<float> y({8});
  three_times(x, y);
  return y(7);
}

}  // namespace

TEST_CASE("a text in the folder runs as it was edited, and without the folder as it was emitted") {
  const support::TemporaryFolder folder;
  {
    const Texts texts(folder.path());
    CHECK(of_five() == 15);
    std::size_t files = 0;
    for (const auto& entry : fs::directory_iterator(folder.path())) {
      ++files;
      std::ifstream file(entry.path());
      std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
      const std::size_t at = text.find("AscendC::Muls(");
      REQUIRE(at != std::string::npos);
      std::ofstream(entry.path()) << text.replace(at, 14, "AscendC::Adds(");
    }
    CHECK(files == 1);
    CHECK(of_five() == 8);
  }
  CHECK(of_five() == 15);
}

TEST_CASE("a folder of texts that cannot be written is told") {
  const support::TemporaryFolder folder;
  const std::string file = folder.path() + "/file";
  std::ofstream(file) << "no folder";
  const Texts texts(file);
  const std::string message = support::message_of<pl::ConfigError>([] { (void)of_five(); });
  CHECK(contains(message, "TRILITH_ASCENDC_DIR=" + file + ": "));
  CHECK(contains(message, "give a folder that can be written, or unset the variable"));
}
