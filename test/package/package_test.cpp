// What a package holds, and that its launcher carries out the plan: it is built here and run on the model of AscendC.
#include "pl/pl.hpp"
#include "pl/pld.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include <unistd.h>

namespace {

namespace fs = std::filesystem;

constexpr auto NR = pl::dynamic("NR");

auto scale_by_rank = pl::jit.incore(
    [](pl::Tensor<float, 8, 8> x, pl::Out<pl::Tensor<float, 8, 8>> y, pl::Scalar<std::int32_t> rank) {
      auto tile = pl::load(x);
      y = pl::store(tile * pl::cast<float>(rank) + tile, y);
    });
auto twice = pl::jit.incore([](pl::Tensor<float> x, pl::Out<pl::Tensor<float>> y) {
  auto tile = pl::load(x);
  y = pl::store(tile + tile, y);
});
/// Two kernels one behind the other, with memory of the device between them.
auto on_device = pl::jit([](auto x, auto y, auto rank) {
  auto between = pl::create_tensor<float>({8, 8});
  scale_by_rank(x, between, rank);
  twice(between, y);
});
auto program = pl::jit.host([](pl::Tensor<float, NR, 8, 8> x, pl::Out<pl::Tensor<float, NR, 8, 8>> y) {
  for (auto r : pl::range(pld::world_size())) on_device(x[r], y[r], r, pld::device = r);
});

pl::RunConfig config(const std::string& platform) {
  return {.platform = platform, .distributed = {.device_ids = {4, 2}}};
}

struct Folder {
  Folder() : path(fs::temp_directory_path() / ("trilith_package_" + std::to_string(::getpid()))) {
    fs::remove_all(path);
  }
  ~Folder() { fs::remove_all(path); }
  const fs::path path;
  [[nodiscard]] std::string text(const std::string& name) const {
    std::ifstream file(path / name, std::ios::binary);
    REQUIRE_MESSAGE(file, name);
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  }
};

void fill(pl::Array<float>& x) {
  for (std::int64_t i = 0; i < 128; ++i) x.data()[i] = static_cast<float>(i) / 4 - 7;
}

template <class Call>
std::string message_of(Call&& call) {
  try {
    call();
  } catch (const pl::Error& error) {
    return error.what();
  }
  return "no error";
}

}  // namespace

TEST_CASE(
    "a package has the kernels' texts, a launcher, a manifest of buffers and launches, and says how to build "
    "it") {
  pl::Array<float> x({2, 8, 8}), y({2, 8, 8});
  const auto compiled = program.compile(x, y, config("a2a3"));
  const Folder folder;
  compiled.save(folder.path.string());
  for (const char* name :
       {"README.md", "CMakeLists.txt", "manifest.json", "host/main.cpp", "host/acl_runtime.hpp"})
    CHECK(!folder.text(name).empty());
  const auto manifest = nlohmann::json::parse(folder.text("manifest.json"));
  CHECK(manifest["devices"] == nlohmann::json{4, 2});
  CHECK(manifest["kernels"].size() == 2);
  CHECK(manifest["launches"].size() == 4);
  for (const auto& kernel : manifest["kernels"]) {
    const std::string text = folder.text(kernel["file"].get<std::string>());
    CHECK(text.find("__aicore__ void " + kernel["symbol"].get<std::string>() + "(") != std::string::npos);
    CHECK(!kernel["memory"].empty());
  }
  // A part of each tensor and the memory between the kernels, on each device.
  CHECK(manifest["buffers"].size() == 6);
  CHECK(manifest["buffers"][0]["bytes"] == 256);
  CHECK(folder.text("README.md").find("nothing of it\nruns on the AICPU") != std::string::npos);
}

TEST_CASE("a package is equal to the byte when it is written again") {
  pl::Array<float> x({2, 8, 8}), y({2, 8, 8});
  const Folder folder;
  program.compile(x, y, config("a2a3")).save((folder.path / "a").string());
  program.compile(x, y, config("a2a3")).save((folder.path / "b").string());
  for (const auto& entry : fs::recursive_directory_iterator(folder.path / "a")) {
    if (!entry.is_regular_file()) continue;
    const std::string name = fs::relative(entry.path(), folder.path / "a").string();
    CHECK_MESSAGE(folder.text("a/" + name) == folder.text("b/" + name), name);
  }
}

TEST_CASE("the launcher of a package computes on the model what the simulator computes") {
  pl::Array<float> x({2, 8, 8}), y({2, 8, 8});
  fill(x);
  const Folder folder;
  program.compile(x, y, config("a2a3")).save_with_data(folder.path.string(), x, y);
  // The simulator's results are in the arguments, too.
  CHECK(y.data()[127] == 4 * x.data()[127]);
  const std::string launcher = (folder.path / "launcher").string();
  const std::string build = std::string("c++ -std=c++17 -Wall -Werror -I") + folder.path.string() + " -I" +
                            TRILITH_ACL_HEADERS + " " + (folder.path / "host/main.cpp").string() + " " +
                            TRILITH_ACL_LIBRARY + " -Wl,-rpath," +
                            fs::path(TRILITH_ACL_LIBRARY).parent_path().string() + " -o " + launcher;
  REQUIRE(std::system(build.c_str()) == 0);
  const std::string run = launcher + " " + folder.path.string() + " > " + launcher + ".out 2>&1";
  const int code = std::system(run.c_str());
  const std::string printed = folder.text("launcher.out");
  CHECK_MESSAGE(code == 0, printed);
  CHECK(printed.find("argument_2: OK") != std::string::npos);
  CHECK(folder.text("data/argument_2.out.bin") == folder.text("data/argument_2.expected.bin"));

  // A wrong result is told with its place.
  std::fstream expected(folder.path / "data/argument_2.expected.bin",
                        std::ios::in | std::ios::out | std::ios::binary);
  expected.seekp(5 * 4);
  const float wrong = 1e9F;
  expected.write(reinterpret_cast<const char*>(&wrong), 4);
  expected.close();
  CHECK(std::system(run.c_str()) != 0);
  CHECK(folder.text("launcher.out").find("element 5 is") != std::string::npos);
}

TEST_CASE(
    "a program that is called on platform a2a3 says that it needs CANN and where its package was written") {
  pl::Array<float> x({2, 8, 8}), y({2, 8, 8});
  const Folder folder;
  pl::RunConfig hardware = config("a2a3");
  hardware.dump_dir = folder.path.string();
  const auto compiled = program.compile(x, y, hardware);
  const std::string message = message_of([&] { compiled(x, y); });
  CHECK(message.find("platform \"a2a3\" needs CANN and Ascend devices") != std::string::npos);
  CHECK(message.find(folder.path.string() + "/trilith_package") != std::string::npos);
  CHECK(!folder.text("trilith_package/manifest.json").empty());
}

TEST_CASE("a kernel that is called alone on platform a2a3 says how its package is written") {
  const pl::Context context(config("a2a3"));
  const pl::ContextScope scope(context);
  pl::Array<float> x({8, 8}), y({8, 8});
  CHECK(message_of([&] {
          twice(x, y);
        }).find("write the program's package with compile(…).save(\"folder\")") != std::string::npos);
}

TEST_CASE("only programs for the hardware or its model are saved") {
  pl::Array<float> x({2, 8, 8}), y({2, 8, 8});
  const auto compiled = program.compile(x, y, config("a2a3sim"));
  CHECK(message_of([&] {
          compiled.save("nowhere");
        }).find("the program was compiled for platform \"a2a3sim\"; expected \"a2a3\"") != std::string::npos);
  const auto hardware = program.compile(x, y, config("a2a3"));
  CHECK(message_of([&] {
          hardware.save("/proc/no/folder");
        }).find("the package cannot be written: /proc/no/folder") != std::string::npos);
}

namespace {

auto reader = pl::jit([](auto x, auto y) {
  twice(x, y);
  if (pl::read(y, {0}) > 0.0F) twice(x, y);
});
auto reading_program = pl::jit.host([](pl::Tensor<float> x, pl::Out<pl::Tensor<float>> y) {
  for (auto r : pl::range(pld::world_size())) reader(x[r], y[r], pld::device = r);
});
auto forward = pl::jit([](auto x, auto y) { twice(x, y); });
auto exchanging_program = pl::jit.host([](pl::Tensor<float> x, pl::InOut<pl::Tensor<float>> y) {
  forward(x[0], y[0], pld::device = 0);
  forward(y[0], y[1], pld::device = 1);
});

}  // namespace

TEST_CASE("a plan that a launcher cannot carry out is refused with the reason") {
  pl::Array<float> x({2, 8}), y({2, 8});
  const auto refusal = [&](const auto& refused) {
    return message_of([&] { refused.compile(x, y, config("a2a3")).save("nowhere"); });
  };
  CHECK(refusal(reading_program).find("its plan ends at the read at ") != std::string::npos);
  CHECK(refusal(exchanging_program).find("rank 1 uses what rank 0 writes to argument_2") !=
        std::string::npos);
}
