// test/jit/support.hpp -- a small header pack, kernels on it, temporary folders and helper processes.
//
// The pack here is a few lines, so that a precompiled header takes milliseconds; kernels_test.cpp uses the
// real one.
#pragma once

#include "jit/compiler/header_pack.hpp"
#include "jit/engine.hpp"
#include "jit/file.hpp"

#include <sys/wait.h>
#include <unistd.h>
#include <array>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace jit_test {

namespace fs = std::filesystem;
namespace jit = trilith::jit;

class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string name = (fs::temp_directory_path() / "trilith-jit-XXXXXX").string();
    path_ = mkdtemp(name.data());
  }
  ~TemporaryFolder() {
    std::error_code error;
    fs::remove_all(path_, error);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] std::string operator/(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

/// Writes a pack whose device header is `device`; abi.hpp is the real one over a <cstdint> of four types.
inline void write_small_pack(const std::string& folder, const std::string& device = "#pragma once\n") {
  const std::map<std::string, std::string> texts = {
      {"0-device/trilith/device.hpp", device},
      {"1-runtime/pl/abi.hpp",
       [] {
         std::string text;
         (void)jit::read_file(TRILITH_SOURCE_DIR "/runtime/pl/abi.hpp", text);
         return text;
       }()},
      {"2-std/cstdint",
       "#pragma once\nnamespace std { using int32_t = int; using uint32_t = unsigned; "
       "using int64_t = long; using uint64_t = unsigned long; }\n"}};
  jit::HeaderPack pack;
  pack.roots = {"0-device", "1-runtime", "2-std"};
  for (const auto& [path, text] : texts) {
    fs::create_directories(fs::path(folder + "/" + path).parent_path());
    (void)jit::publish_file(folder + "/" + path, text, 0644);
    pack.add_file(path, text);
  }
  (void)jit::publish_file(folder + "/manifest", jit::header_pack_manifest(pack), 0644);
}

/// One small pack for the whole test process, used through TRILITH_HEADER_PACK.
inline void use_small_pack() {
  static const TemporaryFolder folder;
  if (!fs::exists(folder / "manifest")) write_small_pack(folder.path());
  setenv("TRILITH_HEADER_PACK", folder.path().c_str(), 1);
}

/// `extern "C" k`: returns scalars[0] + `addend`.
inline jit::Source adder(int addend, const std::string& name = "adder") {
  return {
      "#include \"pl/abi.hpp\"\n#include \"trilith/device.hpp\"\n"
      "extern \"C\" std::int32_t k(const pl::abi::Args* args, const pl::abi::Services*) {\n"
      "  return static_cast<std::int32_t>(args->scalars[0]) + " +
          std::to_string(addend) + ";\n}\n",
      "k",
      name + " +" + std::to_string(addend),
      {"user.cpp", 12, 7},
      "metadata of " + std::to_string(addend)};
}

inline std::vector<jit::KeyPart> adder_key(int addend) {
  return {{"kernel", "adder " + std::to_string(addend)}};
}

inline int call(const jit::Code& code, std::uint64_t value) {
  const pl::abi::Args args{nullptr, &value, 0, 1};
  return code.entry()(&args, nullptr);
}

inline std::shared_ptr<const jit::Code> get_adder(jit::Engine& engine, int addend) {
  return engine.get(adder_key(addend), [&] { return adder(addend); });
}

struct Ended {
  int status = 0;  ///< exit code, or 128 + signal
  std::string output;
};

/// Through the shell; both of its outputs.
inline Ended run_command(const std::string& command) {
  std::FILE* pipe = popen((command + " 2>&1").c_str(), "r");
  Ended ended;
  std::array<char, 4096> buffer;
  while (const std::size_t got = std::fread(buffer.data(), 1, buffer.size(), pipe))
    ended.output.append(buffer.data(), got);
  const int status = pclose(pipe);
  ended.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return ended;
}

/// Runs the helper program (jit_helper.cpp), with `environment` in front.
inline Ended run_helper(const std::string& arguments, const std::string& environment = "") {
  return run_command("env " + environment + " " TRILITH_JIT_HELPER " " + arguments);
}

inline std::vector<std::string> files_with(const std::string& folder, const std::string& suffix) {
  std::vector<std::string> files;
  if (!fs::exists(folder)) return files;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (entry.path().string().ends_with(suffix)) files.push_back(entry.path().string());
  }
  return files;
}

}  // namespace jit_test
