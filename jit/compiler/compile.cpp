// jit/compiler/compile.cpp -- CompilerInstance, an action, and the back end as a phase of its own.
#include "jit/compiler/compile.hpp"

#include "jit/compiler/memory_files.hpp"

#include "jit/compiler/flags.hpp"

#include "clang/Basic/DiagnosticOptions.h"
#include "clang/CodeGen/BackendUtil.h"
#include "clang/CodeGen/CodeGenAction.h"
#include "clang/Frontend/CompilerInstance.h"
#include "clang/Frontend/CompilerInvocation.h"
#include "clang/Frontend/FrontendActions.h"
#include "clang/Frontend/TextDiagnosticPrinter.h"
#include "clang/Frontend/Utils.h"
#include "clang/Serialization/ASTWriter.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Transforms/IPO/AlwaysInliner.h"
#include "llvm/Transforms/Utils/Cloning.h"

#include <chrono>
#include <cstring>
#include <vector>

namespace trilith::jit::compiler {
namespace {

llvm::StringRef view(const trilith_text& text) { return {text.data, static_cast<std::size_t>(text.size)}; }

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

void initialise_target() {
  static const bool done = [] {
    llvm::InitializeNativeTarget();
    llvm::InitializeNativeTargetAsmPrinter();
    llvm::InitializeNativeTargetAsmParser();
    return true;
  }();
  (void)done;
}

/// Prints every diagnostic and keeps the first error apart: the engine's message quotes it.
class KeepFirstError : public clang::TextDiagnosticPrinter {
 public:
  KeepFirstError(llvm::raw_ostream& stream, clang::DiagnosticOptions* options, std::string& first_error)
      : TextDiagnosticPrinter(stream, options), first_error_(first_error) {}

  void HandleDiagnostic(clang::DiagnosticsEngine::Level level, const clang::Diagnostic& info) override {
    TextDiagnosticPrinter::HandleDiagnostic(level, info);
    if (level < clang::DiagnosticsEngine::Error || !first_error_.empty()) return;
    llvm::SmallString<256> message;
    info.FormatDiagnostic(message);
    if (info.hasSourceManager() && info.getLocation().isValid()) {
      const clang::PresumedLoc place = info.getSourceManager().getPresumedLoc(info.getLocation());
      if (place.isValid())
        first_error_ = std::string(place.getFilename()) + ":" + std::to_string(place.getLine()) + ":" +
                       std::to_string(place.getColumn()) + ": ";
    }
    first_error_ += message.str();
  }

 private:
  std::string& first_error_;
};

/// Writes the precompiled header into memory: where it is published, and that it is published whole, is the
/// engine's business.
class HeaderInMemory : public clang::GeneratePCHAction {
 public:
  explicit HeaderInMemory(std::string& bytes) : bytes_(bytes) {}

 protected:
  std::unique_ptr<clang::ASTConsumer> CreateASTConsumer(clang::CompilerInstance& instance,
                                                        llvm::StringRef) override {
    std::string sysroot;
    if (!ComputeASTConsumerArguments(instance, sysroot)) return nullptr;
    const clang::FrontendOptions& options = instance.getFrontendOpts();
    auto buffer = std::make_shared<clang::PCHBuffer>();
    buffer_ = buffer;
    return std::make_unique<clang::PCHGenerator>(
        instance.getPreprocessor(), instance.getModuleCache(), std::string(), sysroot, buffer,
        options.ModuleFileExtensions, /*AllowASTWithErrors=*/false, options.IncludeTimestamps,
        /*BuildingImplicitModule=*/false, /*ShouldCacheASTInMemory=*/false);
  }
  bool shouldEraseOutputFiles() override { return true; }
  void EndSourceFileAction() override {
    if (buffer_ != nullptr && buffer_->IsComplete) bytes_.assign(buffer_->Data.begin(), buffer_->Data.end());
  }

 private:
  std::string& bytes_;
  std::shared_ptr<clang::PCHBuffer> buffer_;
};

llvm::IntrusiveRefCntPtr<llvm::vfs::FileSystem> files_of(const trilith_compiler_request& request) {
  auto files = llvm::makeIntrusiveRefCnt<MemoryFiles>();
  files->add(view(request.file_name), view(request.source));
  // Clang goes back to the precompiled header's own text for some of its functions: those that are not
  // inlined, such as device::fault.
  if (request.header_path != nullptr) files->add(device_header_name, device_header_source);
  if (request.header.size != 0) files->add(request.header_path, view(request.header));
  return files;
}

/// Inlines the intrinsics at once: each is a small function with a target attribute of its own, for which the
/// optimiser's early passes would each make a subtarget, and they would be optimised only to be inlined.
void inline_intrinsics(llvm::Module& module) {
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager calls;
  llvm::ModuleAnalysisManager modules;
  llvm::PassBuilder builder;
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(calls);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, calls, modules);
  llvm::ModulePassManager passes;
  passes.addPass(llvm::AlwaysInlinerPass(/*InsertLifetime=*/true));
  passes.run(module, modules);
}

std::string emit(clang::CompilerInstance& instance, llvm::Module& module, clang::BackendAction action) {
  llvm::SmallString<0> bytes;
  clang::EmitBackendOutput(
      instance.getDiagnostics(), instance.getHeaderSearchOpts(), instance.getCodeGenOpts(),
      instance.getTargetOpts(), instance.getLangOpts(), instance.getTarget().getDataLayoutString(), &module,
      action, &instance.getVirtualFileSystem(), std::make_unique<llvm::raw_svector_ostream>(bytes));
  return std::string(bytes.str());
}

void inject(std::uint32_t failure) {
  if (failure == 1) llvm::report_fatal_error("injected fatal error", false);
  if (failure == 2) {
    volatile int* nowhere = nullptr;
    *nowhere = 1;
  }
}

}  // namespace

void compile(const trilith_compiler_request& request, Output& output) {
  initialise_target();
  const auto start = std::chrono::steady_clock::now();

  llvm::raw_string_ostream messages(output.messages);
  llvm::IntrusiveRefCntPtr<clang::DiagnosticOptions> options = new clang::DiagnosticOptions;
  auto* printer = new KeepFirstError(messages, options.get(), output.first_error);
  llvm::IntrusiveRefCntPtr<clang::DiagnosticsEngine> early =
      new clang::DiagnosticsEngine(new clang::DiagnosticIDs, options, printer, /*ShouldOwnClient=*/false);
  const std::unique_ptr<KeepFirstError> printer_owner(printer);

  const std::string file_name = view(request.file_name).str();
  std::vector<const char*> arguments;
  for (const char* const* argument = request.arguments; *argument != nullptr; ++argument)
    arguments.push_back(*argument);
  if (request.header.size != 0) {
    arguments.push_back("-include-pch");
    arguments.push_back(request.header_path);
  }
  arguments.push_back("-main-file-name");
  arguments.push_back(file_name.c_str());
  arguments.push_back(request.action == trilith_compile_header ? "-emit-pch" : "-emit-llvm-only");
  arguments.push_back(file_name.c_str());

  clang::CompilerInstance instance;
  output.status = trilith_compiler_rejected;
  if (!clang::CompilerInvocation::CreateFromArgs(instance.getInvocation(), arguments, *early)) return;
  instance.setDiagnostics(early.get());
  // Without this Clang counts the errors on the host's stderr.
  instance.setVerboseOutputStream(std::make_unique<llvm::raw_null_ostream>());
  instance.createFileManager(files_of(request));
  std::shared_ptr<clang::DependencyCollector> dependencies;
  if (request.want_dependencies != 0) {
    struct Everything : clang::DependencyCollector {
      bool needSystemDependencies() override { return true; }
    };
    dependencies = std::make_shared<Everything>();
    instance.addDependencyCollector(dependencies);
  }
  inject(request.injected_failure);

  if (request.action == trilith_scan_header) {
    clang::PreprocessOnlyAction action;
    if (instance.ExecuteAction(action)) output.status = trilith_compiler_ok;
  } else if (request.action == trilith_compile_header) {
    HeaderInMemory action(output.bytes);
    const bool done = instance.ExecuteAction(action);
    output.frontend_seconds = seconds_since(start);
    if (done && !output.bytes.empty()) output.status = trilith_compiler_ok;
  } else {
    llvm::LLVMContext context;
    // "LLVM only" would optimise as well, and the back end here would do it again.
    instance.getCodeGenOpts().DisableLLVMPasses = true;
    clang::EmitLLVMOnlyAction action(&context);
    const bool done = instance.ExecuteAction(action);
    output.frontend_seconds = seconds_since(start);
    const std::unique_ptr<llvm::Module> module = done ? action.takeModule() : nullptr;
    if (module != nullptr) {
      instance.getCodeGenOpts().DisableLLVMPasses = false;
      const auto backend_start = std::chrono::steady_clock::now();
      inline_intrinsics(*module);
      if (request.want_listings != 0) {
        output.ir = emit(instance, *llvm::CloneModule(*module), clang::Backend_EmitLL);
        output.assembly = emit(instance, *llvm::CloneModule(*module), clang::Backend_EmitAssembly);
      }
      output.bytes = emit(instance, *module, clang::Backend_EmitObj);
      output.backend_seconds = seconds_since(backend_start);
      if (!instance.getDiagnostics().hasErrorOccurred()) output.status = trilith_compiler_ok;
    }
  }
  if (dependencies != nullptr) {
    for (const std::string& file : dependencies->getDependencies()) output.dependencies += file + "\n";
  }
  messages.flush();
}

}  // namespace trilith::jit::compiler
