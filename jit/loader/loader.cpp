// jit/loader/loader.cpp -- one ORC session a loader, one JITDylib an object.
#include "jit/loader/loader.hpp"

#include "jit/loader/perf_map.hpp"

#include "llvm/ExecutionEngine/JITLink/JITLink.h"
#include "llvm/ExecutionEngine/JITLink/JITLinkMemoryManager.h"
#include "llvm/ExecutionEngine/Orc/Core.h"
#include "llvm/ExecutionEngine/Orc/DebugObjectManagerPlugin.h"
#include "llvm/ExecutionEngine/Orc/EPCDebugObjectRegistrar.h"
#include "llvm/ExecutionEngine/Orc/ExecutorProcessControl.h"
#include "llvm/ExecutionEngine/Orc/ObjectLinkingLayer.h"
#include "llvm/ExecutionEngine/Orc/TargetProcess/JITLoaderGDB.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Process.h"

#include <cstring>
#include <mutex>
#include <vector>

namespace trilith::jit {
namespace {

namespace jitlink = llvm::jitlink;
namespace orc = llvm::orc;

constexpr const char* refused_text = "executable memory refused by the system";

/// One lock for every session: loads are rare and take a third of a millisecond, and fork() must find none
/// under way. Leaked, so that code may be released by destructors of static objects.
std::mutex& load_lock() {
  static auto* const lock = new std::mutex;
  return *lock;
}

/// JITLink's own manager, but a refusal to make pages executable gets a name.
class MemoryManager final : public jitlink::JITLinkMemoryManager {
 public:
  MemoryManager(std::unique_ptr<jitlink::InProcessMemoryManager> inner, bool deny)
      : inner_(std::move(inner)), deny_(deny) {}

  void allocate(const jitlink::JITLinkDylib* dylib, jitlink::LinkGraph& graph,
                OnAllocatedFunction on_allocated) override {
    inner_->allocate(dylib, graph,
                     [this, on_allocated = std::move(on_allocated)](AllocResult result) mutable {
                       if (!result) return on_allocated(result.takeError());
                       on_allocated(std::make_unique<Allocation>(std::move(*result), deny_));
                     });
  }
  void deallocate(std::vector<FinalizedAlloc> allocations, OnDeallocatedFunction on_deallocated) override {
    inner_->deallocate(std::move(allocations), std::move(on_deallocated));
  }
  using JITLinkMemoryManager::deallocate;

 private:
  class Allocation final : public InFlightAlloc {
   public:
    Allocation(std::unique_ptr<InFlightAlloc> inner, bool deny) : inner_(std::move(inner)), deny_(deny) {}
    void abandon(OnAbandonedFunction on_abandoned) override { inner_->abandon(std::move(on_abandoned)); }
    void finalize(OnFinalizedFunction on_finalized) override {
      const auto refusal = [](const std::string& detail) {
        return llvm::make_error<llvm::StringError>(refused_text + (": " + detail),
                                                   llvm::inconvertibleErrorCode());
      };
      if (deny_) {
        inner_->abandon([&](llvm::Error error) {
          llvm::consumeError(std::move(error));
          on_finalized(refusal("injected"));
        });
        return;
      }
      inner_->finalize([&](llvm::Expected<FinalizedAlloc> result) {
        if (result) return on_finalized(std::move(result));
        on_finalized(refusal(llvm::toString(result.takeError())));
      });
    }

   private:
    std::unique_ptr<InFlightAlloc> inner_;
    bool deny_;
  };

  std::unique_ptr<jitlink::InProcessMemoryManager> inner_;
  bool deny_;
};

/// What was placed where, noted while the object is linked.
struct Placement {
  std::size_t bytes = 0;
  std::vector<CodeRange> functions;
};

class NotePlacement final : public orc::ObjectLinkingLayer::Plugin {
 public:
  explicit NotePlacement(Placement& placement) : placement_(placement) {}
  void modifyPassConfig(orc::MaterializationResponsibility&, jitlink::LinkGraph&,
                        jitlink::PassConfiguration& passes) override {
    passes.PostAllocationPasses.push_back([this](jitlink::LinkGraph& graph) {
      for (const jitlink::Block* block : graph.blocks()) placement_.bytes += block->getSize();
      for (const jitlink::Symbol* symbol : graph.defined_symbols()) {
        if (symbol->isCallable() && symbol->hasName() && symbol->getSize() != 0)
          placement_.functions.push_back(
              {symbol->getName().str(), symbol->getAddress().getValue(), symbol->getSize()});
      }
      return llvm::Error::success();
    });
  }
  llvm::Error notifyFailed(orc::MaterializationResponsibility&) override { return llvm::Error::success(); }
  llvm::Error notifyRemovingResources(orc::JITDylib&, orc::ResourceKey) override {
    return llvm::Error::success();
  }
  void notifyTransferringResources(orc::JITDylib&, orc::ResourceKey, orc::ResourceKey) override {}

 private:
  Placement& placement_;
};

}  // namespace

namespace detail {

class LoaderSession {
 public:
  explicit LoaderSession(const LoaderOptions& options) : options_(options) {
    auto control = orc::SelfExecutorProcessControl::Create(
        nullptr, std::make_unique<orc::InPlaceTaskDispatcher>(),
        std::make_unique<MemoryManager>(
            std::make_unique<jitlink::InProcessMemoryManager>(llvm::sys::Process::getPageSizeEstimate()),
            options.deny_executable));
    if (!control) {
      start_failure_ = llvm::toString(control.takeError());
      return;
    }
    session_ = std::make_unique<orc::ExecutionSession>(std::move(*control));
    session_->setErrorReporter(
        [this](llvm::Error error) { reported_ += llvm::toString(std::move(error)) + "; "; });
    layer_ = std::make_unique<orc::ObjectLinkingLayer>(*session_);
    layer_->addPlugin(std::make_shared<NotePlacement>(placement_));
    if (options.debug_registration)
      // By address: by name ORC would look among exported symbols, where another LLVM's may be and ours are
      // not.
      layer_->addPlugin(std::make_unique<orc::DebugObjectManagerPlugin>(
          *session_,
          std::make_unique<orc::EPCDebugObjectRegistrar>(
              *session_, orc::ExecutorAddr::fromPtr(&llvm_orc_registerJITLoaderGDBAllocAction)),
          /*RequireDebugSections=*/false, /*AutoRegisterCode=*/true));
    allowed_ = &session_->createBareJITDylib("allowed");
    orc::SymbolMap symbols;
    const auto allow = [&](const char* name, void* address) {
      symbols[session_->intern(name)] = {orc::ExecutorAddr::fromPtr(address), llvm::JITSymbolFlags::Exported};
    };
    allow("memcpy", reinterpret_cast<void*>(&std::memcpy));
    allow("memmove", reinterpret_cast<void*>(&std::memmove));
    allow("memset", reinterpret_cast<void*>(&std::memset));
    allow("memcmp", reinterpret_cast<void*>(&std::memcmp));
    llvm::consumeError(allowed_->define(orc::absoluteSymbols(std::move(symbols))));
  }

  ~LoaderSession() {
    const std::lock_guard lock(load_lock());
    if (session_ == nullptr) return;
    layer_.reset();
    llvm::consumeError(session_->endSession());
  }
  LoaderSession(const LoaderSession&) = delete;
  LoaderSession& operator=(const LoaderSession&) = delete;

  /// Caller holds load_lock(). Null and `failure` filled when it does not load.
  orc::JITDylib* load(std::span<const char> object, const std::string& symbol,
                      const std::string& display_name, LoadFailure& failure, void*& address,
                      Placement& placement) {
    if (session_ == nullptr) {
      failure.reason = start_failure_;
      return nullptr;
    }
    reported_.clear();
    placement_ = {};
    orc::JITDylib& dylib = session_->createBareJITDylib("kernel." + std::to_string(next_number_++));
    dylib.addToLinkOrder(*allowed_);
    llvm::Error added = layer_->add(
        dylib,
        llvm::MemoryBuffer::getMemBuffer(llvm::StringRef(object.data(), object.size()), display_name, false));
    if (added) {
      failure.reason = llvm::toString(std::move(added));
    } else if (auto found = session_->lookup({{&dylib, orc::JITDylibLookupFlags::MatchAllSymbols}},
                                             session_->intern(symbol))) {
      address = found->getAddress().toPtr<void*>();
      placement = std::move(placement_);
      return &dylib;
    } else {
      failure.reason = llvm::toString(found.takeError());
      if (!reported_.empty()) failure.reason = reported_ + failure.reason;
      // ORC's text around the refusal names the object: the refusal is the machine's and always reads the
      // same.
      if (const std::size_t at = failure.reason.find(refused_text); at != std::string::npos) {
        failure.executable_memory_refused = true;
        failure.reason = failure.reason.substr(at, failure.reason.find(';', at) - at);
      }
    }
    remove(dylib);
    return nullptr;
  }

  void remove(orc::JITDylib& dylib) {
    llvm::consumeError(session_->removeJITDylib(dylib));
    session_->getSymbolStringPool()->clearDeadEntries();
  }

  [[nodiscard]] const LoaderOptions& options() const { return options_; }

 private:
  LoaderOptions options_;
  std::string start_failure_;
  std::string reported_;
  Placement placement_;
  std::uint64_t next_number_ = 0;
  // The layer refers to the session: it is destroyed first, and the session is ended before it goes.
  std::unique_ptr<orc::ExecutionSession> session_;
  std::unique_ptr<orc::ObjectLinkingLayer> layer_;
  orc::JITDylib* allowed_ = nullptr;
};

/// Keeps the session alive: code may outlive the loader that loaded it.
struct LoadedObject {
  std::shared_ptr<LoaderSession> session;
  orc::JITDylib* dylib = nullptr;

  LoadedObject() = default;
  LoadedObject(const LoadedObject&) = delete;
  LoadedObject& operator=(const LoadedObject&) = delete;
  ~LoadedObject() {
    const std::lock_guard lock(load_lock());
    if (dylib != nullptr) session->remove(*dylib);
  }
};

}  // namespace detail

Loader::Loader(LoaderOptions options) : session_(std::make_shared<detail::LoaderSession>(options)) {}

LoadedCode Loader::load(std::span<const char> object, const std::string& symbol,
                        const std::string& display_name, LoadFailure& failure) {
  auto loaded = std::make_shared<detail::LoadedObject>();
  LoadedCode code;
  {
    const std::lock_guard lock(load_lock());
    Placement placement;
    loaded->session = session_;
    loaded->dylib = session_->load(object, symbol, display_name, failure, code.address_, placement);
    if (loaded->dylib != nullptr) {
      code.size_ = placement.bytes;
      if (session_->options().perf_map) {
        for (CodeRange& function : placement.functions)
          function.name = function.name == symbol ? display_name : display_name + ":" + function.name;
        perf_map_add(placement.functions);
      }
    }
  }
  if (loaded->dylib != nullptr) code.object_ = std::move(loaded);
  return code;
}

void block_loads() { load_lock().lock(); }
void release_loads() { load_lock().unlock(); }

}  // namespace trilith::jit
