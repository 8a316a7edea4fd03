#include "runtime/backend.hpp"

#include "codegen/ascendc/emit.hpp"
#include "codegen/passes/constant_extents.hpp"
#include "pl/error.hpp"
#include "pl/log.hpp"
#include "runtime/byte_stream.hpp"
#include "runtime/call_plan.hpp"
#include "runtime/context_state.hpp"
#include "runtime/edited_text.hpp"
#include "runtime/external_kernel.hpp"
#include "runtime/fork_safe.hpp"
#include "runtime/platform.hpp"
#include "runtime/rank_channel.hpp"
#include "runtime/thread_annotations.hpp"

#include <array>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <optional>

namespace pl::detail {
namespace {

namespace codegen = trilith::codegen;
namespace jit = trilith::jit;

// Part of every key: raised when the emitter, the device header's meaning or the metadata changes.
constexpr const char* emitter_version = "12";

// The same for code of the model.
constexpr const char* model_version = "5";

// The same for what stands around the text of a hand-written kernel.
constexpr const char* external_version = "2";

/// The in-place pairs as an entry keeps them: "0>1 2>1".
std::string pairs_to_text(const std::vector<std::pair<int, int>>& pairs) {
  std::string text;
  for (const auto& [input, output] : pairs)
    text += (text.empty() ? "" : " ") + std::to_string(input) + ">" + std::to_string(output);
  return text;
}

std::vector<std::pair<int, int>> pairs_from_text(const std::string& text) {
  std::vector<std::pair<int, int>> pairs;
  const char* at = text.c_str();
  int input = 0, output = 0, length = 0;
  while (std::sscanf(at, "%d>%d%n", &input, &output, &length) == 2) {
    pairs.emplace_back(input, output);
    at += length;
  }
  return pairs;
}

jit::EngineConfig engine_config(const RunConfig& config) {
  jit::EngineConfig result;
  result.cache_dir = config.cache_dir;
  result.cache_limit = config.cache_limit;
  result.shared_cache = config.shared_cache;
  result.dump_dir = config.dump_dir;
  result.target_cpu = config.target_cpu;
  result.max_compile_threads = config.max_compile_threads;
  result.fast_math = config.fast_math;
  result.hooks = engine_hooks_for_tests();
  result.log = [threshold = config.log_level](jit::LogLevel level, const std::string& text) {
    const LogLevel ours = level == jit::LogLevel::warning ? LogLevel::Warning
                          : level == jit::LogLevel::info  ? LogLevel::Info
                                                          : LogLevel::Debug;
    if (ours >= threshold) log(ours, text);
  };
  return result;
}

/// The text that the hardware would get, as it stands in the user's folder, and behind it what calls it on the model.
jit::Source model_source(const CapturedKernel& kernel, const codegen::Signature& signature,
                         const std::string& description, const std::string& folder) {
  const codegen::Kernel specialised = codegen::specialise_to_constant_extents(kernel.ir, signature);
  const codegen::ascendc::Emitted emitted = codegen::ascendc::emit(specialised, signature);
  const std::string text = folder.empty() ? emitted.text : edited_text(folder, emitted);
  return {text + "\n" + codegen::ascendc::model_entry(emitted, specialised), emitted.symbol + "_entry",
          kernel.ir.name + " (" + description + ") on the model", kernel.location(),
          pairs_to_text(emitted.in_place)};
}

/// Stands for code that only a device can run.
std::int32_t needs_hardware(const abi::Args*, const abi::Services*) {
  throw ConfigError(
      "platform \"a2a3\" needs CANN and Ascend devices, which are not used from here: write the program's "
      "package with "
      "compile(…).save(\"folder\"), or choose the platform \"a2a3model\" or \"a2a3sim\"");
}

/// A key and a source as bytes, from the process of a rank to its host.
std::string pack(const std::vector<jit::KeyPart>& parts, const jit::Source& source) {
  Writer to(static_cast<std::uint64_t>(parts.size()));
  for (const jit::KeyPart& part : parts) to << part.name << part.value;
  to << source.text << source.symbol << source.name << source.location.file << source.location.line
     << source.location.column << source.metadata << source.user_file << source.user_includes;
  return std::move(to.bytes);
}

std::vector<jit::KeyPart> unpack(std::string_view bytes, jit::Source& source) {
  Reader from(bytes);
  std::vector<jit::KeyPart> parts(from.get<std::uint64_t>());
  for (jit::KeyPart& part : parts) from >> part.name >> part.value;
  from >> source.text >> source.symbol >> source.name >> source.location.file >> source.location.line >>
      source.location.column >> source.metadata >> source.user_file >> source.user_includes;
  return parts;
}

}  // namespace

jit::EngineHooks& engine_hooks_for_tests() {
  static auto* hooks = new jit::EngineHooks;
  return *hooks;
}

struct Backend::Impl {
  explicit Impl(const RunConfig& config) : engine(engine_config(config)) {}

  /// Keeps the last few codes: a kernel object that a function makes anew at each call would else load its
  /// code from disk each time.
  void remember(const std::shared_ptr<const jit::Code>& code) {
    const Lock lock(mutex);
    for (const auto& known : recent)
      if (known == code) return;
    recent[next] = code;
    next = (next + 1) % recent.size();
  }

  jit::Engine engine;
  std::atomic<bool> host_cannot{false};  ///< in the process of a rank: compile for it
  ForkSafeMutex mutex;
  std::array<std::shared_ptr<const jit::Code>, 64> recent TRILITH_GUARDED_BY(mutex);
  std::size_t next TRILITH_GUARDED_BY(mutex) = 0;
};

Backend::Backend(const RunConfig& config) : impl_(std::make_unique<Impl>(config)) {}
Backend::~Backend() = default;

Executable Backend::get(const CapturedKernel& kernel, const codegen::Signature& signature,
                        ContextState& context) {
  const std::string description = describe(kernel.ir, signature);
  const Platform platform = platform_of(context.config.platform);
  std::vector<jit::KeyPart> parts = {
      {"kernel", kernel.hash},
      {"signature", description},
      {"platform", context.config.platform},
      {"emitter", platform == Platform::Model ? model_version : emitter_version}};
  if (kernel.external != nullptr) {
    parts = kernel.external->key;
    parts.push_back({"ranks", ranks_of(signature)});
    parts.push_back({"platform", context.config.platform});
    parts.push_back({"external", external_version});
  }
  if (platform == Platform::Hardware) {
    Executable result{nullptr, needs_hardware, {}, Origin::Compiled};
    if (kernel.external == nullptr) {
      result.for_hardware = std::make_shared<const codegen::ascendc::Emitted>(
          codegen::ascendc::emit(codegen::specialise_to_constant_extents(kernel.ir, signature), signature));
      result.in_place = result.for_hardware->in_place;
    }
    return result;
  }
  std::optional<jit::Source> edited;
  if (const std::string folder = folder_of_texts();
      platform == Platform::Model && kernel.external == nullptr && !folder.empty()) {
    edited = model_source(kernel, signature, description, folder);
    parts.push_back({"text", edited->text});
  }
  bool produced = false;
  const auto produce = [&]() -> jit::Source {
    produced = true;
    if (!context.config.compile)
      throw ConfigError("no cache holds " + kernel.ir.name + " (" + description +
                            ") and RunConfig.compile is false; compile it beforehand or set compile",
                        kernel.location());
    if (kernel.external != nullptr) return external_source(*kernel.external, ranks_of(signature));
    if (edited) return *edited;
    if (platform == Platform::Model) return model_source(kernel, signature, description, {});
    using Clock = std::chrono::steady_clock;
    const auto start = Clock::now();
    const codegen::Kernel specialised = codegen::specialise(kernel.ir, signature);
    const auto middle = Clock::now();
    codegen::xsimd::Emitted emitted = codegen::xsimd::emit(specialised, signature);
    if (rank_channel() == nullptr)
      context.add_phase_seconds(std::chrono::duration<double>(middle - start).count(),
                                std::chrono::duration<double>(Clock::now() - middle).count());
    return {std::move(emitted.text), std::move(emitted.symbol), kernel.ir.name + " (" + description + ")",
            kernel.location(), pairs_to_text(emitted.in_place)};
  };
  try {
    std::shared_ptr<const jit::Code> code;
    if (RankChannel* const host = rank_channel()) {
      code = impl_->engine.find(parts);
      if (code == nullptr && !impl_->host_cannot.load() && host->compile(pack(parts, produce())))
        code = impl_->engine.find(parts);
      if (code == nullptr) {
        // What a user wrote may be at fault itself.
        if (kernel.external == nullptr) impl_->host_cannot.store(true);
        throw Unavailable{"the process of a rank compiles nothing"};
      }
    } else {
      code = impl_->engine.get(parts, produce);
    }
    impl_->remember(code);
    Executable result;
    result.entry = code->entry();
    result.in_place = pairs_from_text(code->metadata());
    result.origin = code->from_disk() ? Origin::Disk : produced ? Origin::Compiled : Origin::Memory;
    result.owner = std::move(code);
    return result;
  } catch (const jit::UnavailableError& error) {
    throw Unavailable{error.what()};
  } catch (const jit::RejectedError& error) {
    throw_rejected(*kernel.external, error);
  }
}

bool Backend::provide(std::string_view request) noexcept {
  try {
    // Kept in memory it would not reach the rank.
    if (impl_->engine.cache_folder().empty()) return false;
    jit::Source source;
    const std::vector<jit::KeyPart> parts = unpack(request, source);
    return impl_->engine.get(parts, [&] { return source; }) != nullptr;
  } catch (...) {
    return false;  // the rank says what that means for it
  }
}

void Backend::add_to(Statistics& statistics) const {
  const jit::Statistics engine = impl_->engine.statistics();
  statistics.memory_hits += engine.shared;
  statistics.disk_hits = engine.disk_hits;
  statistics.misses = engine.misses;
  statistics.compiles = engine.compiles;
  statistics.bytes_read = engine.bytes_read;
  statistics.bytes_written = engine.bytes_written;
  statistics.compile_seconds = engine.frontend_seconds + engine.backend_seconds;
  statistics.link_seconds = engine.load_seconds;
}

}  // namespace pl::detail
