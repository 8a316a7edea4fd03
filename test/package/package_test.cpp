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

#include <sys/wait.h>
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

/// Builds the launcher of a package and runs it: its exit code, and what it has printed.
struct Launcher {
  explicit Launcher(const Folder& folder_) : folder(folder_), path((folder_.path / "launcher").string()) {
    const std::string build = std::string("c++ -std=c++17 -Wall -Werror -I") + folder.path.string() + " -I" +
                              TRILITH_ACL_HEADERS + " " + (folder.path / "host/main.cpp").string() + " " +
                              TRILITH_ACL_LIBRARY + " -Wl,-rpath," +
                              fs::path(TRILITH_ACL_LIBRARY).parent_path().string() + " -pthread -o " + path;
    REQUIRE(std::system(build.c_str()) == 0);
  }
  int run() {
    const int status = std::system((path + " " + folder.path.string() + " > " + path + ".out 2>&1").c_str());
    printed = folder.text("launcher.out");
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }
  const Folder& folder;
  const std::string path;
  std::string printed;
};

TEST_CASE("the launcher of a package computes on the model what the simulator computes") {
  pl::Array<float> x({2, 8, 8}), y({2, 8, 8});
  fill(x);
  const Folder folder;
  program.compile(x, y, config("a2a3")).save_with_data(folder.path.string(), x, y);
  // The simulator's results are in the arguments, too.
  CHECK(y.data()[127] == 4 * x.data()[127]);
  Launcher launcher(folder);
  const int code = launcher.run();
  CHECK_MESSAGE(code == 0, launcher.printed);
  CHECK(launcher.printed.find("argument_2: OK") != std::string::npos);
  CHECK(folder.text("data/argument_2.out.bin") == folder.text("data/argument_2.expected.bin"));

  // A wrong result is told with its place.
  std::fstream expected(folder.path / "data/argument_2.expected.bin",
                        std::ios::in | std::ios::out | std::ios::binary);
  expected.seekp(5 * 4);
  const float wrong = 1e9F;
  expected.write(reinterpret_cast<const char*>(&wrong), 4);
  expected.close();
  CHECK(launcher.run() != 0);
  CHECK(launcher.printed.find("element 5 is") != std::string::npos);
}

namespace {

/// Rows go round by hand, then all are summed; two launches on the same windows.
auto shift = pl::jit.incore([](pl::Tensor<float, 8, 8> x, pl::Out<pl::Tensor<float, 8, 8>> y,
                               pld::DistributedTensor<float, 8, 8> box,
                               pld::DistributedTensor<std::int32_t, 2> cells) {
  const int n = pld::nranks(box), next = (pld::rank(box) + 1) % n;
  pld::remote_store(pl::load(x), box, {.peer = next});
  pld::notify(cells, {.peer = next, .offsets = {1}});
  pld::wait(cells, {.offsets = {1}});
  y = pl::store(pl::load(box), y);
});
auto total =
    pl::jit.incore([](pl::InOut<pl::Tensor<float, 8, 8>> y, pld::DistributedTensor<float, 8, 8> box) {
      pld::barrier(box);
      pld::allreduce(box);
      y = pl::store(pl::load(y) + pl::load(box), y);
    });
auto windows_on_device = pl::jit([](auto x, auto y, auto box, auto cells) {
  shift(x, y, box, cells);
  total(y, box);
});
auto windows_program =
    pl::jit.host([](pl::Tensor<float, NR, 8, 8> x, pl::Out<pl::Tensor<float, NR, 8, 8>> y) {
      auto box = pld::window<float>(pld::alloc_window_buffer<float>({8, 8}), {8, 8});
      auto cells = pld::window<std::int32_t>(pld::alloc_window_buffer<std::int32_t>({2}), {2});
      for (auto r : pl::range(pld::world_size())) windows_on_device(x[r], y[r], box, cells, pld::device = r);
    });

/// Rows of counted items change places.
auto exchange = pl::jit.incore(
    [](pl::Tensor<float, 2, 4, 8> x, pl::Tensor<std::int32_t, 2> counts,
       pl::Out<pl::Tensor<float, 2, 4, 8>> y, pl::Out<pl::Tensor<std::int32_t, 2>> got,
       pld::DistributedTensor<float, 2, 4, 8> box, pld::DistributedTensor<std::int32_t, 2> cells) {
      box = pl::store(pl::load(x), box);
      cells = pl::store(pl::load(counts), cells);
      pld::all_to_all_v(box, cells);
      y = pl::store(pl::load(box), y);
      got = pl::store(pl::load(cells), got);
    });
auto exchange_on_device = pl::jit([](auto x, auto counts, auto y, auto got, auto box, auto cells) {
  exchange(x, counts, y, got, box, cells);
});
auto exchange_program =
    pl::jit.host([](pl::Tensor<float, NR, 2, 4, 8> x, pl::Tensor<std::int32_t, NR, 2> counts,
                    pl::Out<pl::Tensor<float, NR, 2, 4, 8>> y, pl::Out<pl::Tensor<std::int32_t, NR, 2>> got) {
      auto box = pld::window<float>(pld::alloc_window_buffer<float>({2, 4, 8}), {2, 4, 8});
      auto cells = pld::window<std::int32_t>(pld::alloc_window_buffer<std::int32_t>({2}), {2});
      for (auto r : pl::range(pld::world_size()))
        exchange_on_device(x[r], counts[r], y[r], got[r], box, cells, pld::device = r);
    });

auto element = pl::jit.incore(
    [](pl::Tensor<float, 8> x, pl::Tensor<std::int32_t, 1> at, pl::Out<pl::Tensor<float, 1>> y) {
      const auto index = pl::read(pl::load(at), {0});
      y = pl::store(pl::load(x, {index}, {1}), y);
    });
auto element_on_device = pl::jit([](auto x, auto at, auto y) { element(x, at, y); });
auto element_program = pl::jit.host(
    [](pl::Tensor<float, NR, 8> x, pl::Tensor<std::int32_t, NR, 1> at, pl::Out<pl::Tensor<float, NR, 1>> y) {
      for (auto r : pl::range(pld::world_size())) element_on_device(x[r], at[r], y[r], pld::device = r);
    });

}  // namespace

TEST_CASE("a launcher gives each device its part of the windows, and kernels that wait for each other run") {
  pl::Array<float> x({2, 8, 8}), y({2, 8, 8});
  fill(x);
  const Folder folder;
  windows_program.compile(x, y, config("a2a3")).save_with_data(folder.path.string(), x, y);
  const auto manifest = nlohmann::json::parse(folder.text("manifest.json"));
  CHECK(manifest["windows"].size() == 2);
  CHECK(manifest["windows"][0]["ranks"] == nlohmann::json{0, 1});
  CHECK(folder.text("host/main.cpp").find("rank0.device.reach(rank1.device)") != std::string::npos);
  CHECK(folder.text("README.md").find("## Windows") != std::string::npos);
  Launcher launcher(folder);
  const int code = launcher.run();
  CHECK_MESSAGE(code == 0, launcher.printed);
  CHECK(folder.text("data/argument_2.out.bin") == folder.text("data/argument_2.expected.bin"));
}

TEST_CASE("a launcher's devices exchange rows of as many items as each says") {
  pl::Array<float> x({2, 2, 4, 8}), y({2, 2, 4, 8});
  pl::Array<std::int32_t> counts({2, 2}), got({2, 2});
  fill(x);
  for (int i = 0; i < 4; ++i) counts.data()[i] = (3 * i + 1) % 5;
  const Folder folder;
  exchange_program.compile(x, counts, y, got, config("a2a3"))
      .save_with_data(folder.path.string(), x, counts, y, got);
  Launcher launcher(folder);
  const int code = launcher.run();
  CHECK_MESSAGE(code == 0, launcher.printed);
  for (const char* argument : {"argument_3", "argument_4"})
    CHECK(folder.text(std::string("data/") + argument + ".out.bin") ==
          folder.text(std::string("data/") + argument + ".expected.bin"));
}

TEST_CASE("a check that fails on a device is told with its line, and the launcher ends") {
  pl::Array<float> x({2, 8}), y({2, 1});
  pl::Array<std::int32_t> at({2, 1});
  at(0, 0) = 3;
  at(1, 0) = 7;
  const Folder folder;
  const auto compiled = element_program.compile(x, at, y, config("a2a3"));
  compiled.save_with_data(folder.path.string(), x, at, y);
  Launcher launcher(folder);
  CHECK(launcher.run() == 0);

  std::fstream index(folder.path / "data/argument_2.in.bin", std::ios::in | std::ios::out | std::ios::binary);
  index.seekp(4);
  const std::int32_t outside = 8;
  index.write(reinterpret_cast<const char*>(&outside), 4);
  index.close();
  CHECK(launcher.run() == 3);
  CHECK(launcher.printed.find("package_test.cpp:") != std::string::npos);
  CHECK(launcher.printed.find(
            "load: offset 8 with extent 1 on axis 0 is not inside the tensor, whose extent is 8") !=
        std::string::npos);
  CHECK(launcher.printed.find("kernel element, block 0") != std::string::npos);
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
