// jit/capture/frontend.cpp -- runs clang over one source and walks the kernels it finds.
#include "jit/capture/frontend.hpp"

#include "jit/capture/find_kernels.hpp"
#include "jit/capture/flags.hpp"

#include <clang/Basic/DiagnosticSema.h>
#include <clang/Frontend/CompilerInstance.h>
#include <clang/Frontend/FrontendAction.h>
#include <clang/Frontend/TextDiagnosticPrinter.h>
#include <clang/Frontend/Utils.h>
#include <clang/Lex/Preprocessor.h>
#include <llvm/Support/raw_ostream.h>

#include <algorithm>

namespace trilith::capture {
namespace {

/// Keeps every diagnostic as data and as text with caret.
class Collector : public clang::DiagnosticConsumer {
 public:
  Collector(Report& report, clang::DiagnosticOptions* options)
      : report_(report), stream_(report.text), printer_(stream_, options) {}
  void BeginSourceFile(const clang::LangOptions& language, const clang::Preprocessor* preprocessor) override {
    printer_.BeginSourceFile(language, preprocessor);
  }
  void EndSourceFile() override { printer_.EndSourceFile(); }
  void HandleDiagnostic(clang::DiagnosticsEngine::Level level, const clang::Diagnostic& info) override {
    DiagnosticConsumer::HandleDiagnostic(level, info);
    if (level < clang::DiagnosticsEngine::Error && level != clang::DiagnosticsEngine::Note) return;
    printer_.HandleDiagnostic(level, info);
    stream_.flush();
    Diagnostic entry;
    entry.severity =
        level == clang::DiagnosticsEngine::Note ? Diagnostic::Severity::Note : Diagnostic::Severity::Error;
    llvm::SmallString<256> message;
    info.FormatDiagnostic(message);
    entry.message = message.str().str();
    if (info.hasSourceManager() && info.getLocation().isValid()) {
      const clang::SourceManager& sources = info.getSourceManager();
      const clang::PresumedLoc place = sources.getPresumedLoc(sources.getExpansionLoc(info.getLocation()));
      if (place.isValid()) entry.location = {place.getFilename(), place.getLine(), place.getColumn()};
    }
    report_.failed = report_.failed || level >= clang::DiagnosticsEngine::Error;
    report_.diagnostics.push_back(entry);
    if (info.getID() == clang::diag::err_typecheck_bool_condition &&
        entry.message.find("Tile<") != std::string::npos)
      add_mend(std::move(entry),
               "a condition is a scalar: reduce the tile, as pl::read(pl::row_max(...), {0, 0}) does, "
               "or choose element by element with pl::where(condition, a, b)");
  }

 private:
  /// How to mend what clang says in its own words.
  void add_mend(Diagnostic entry, const std::string& mend) {
    entry.severity = Diagnostic::Severity::Note;
    entry.message = "to mend it: " + mend;
    stream_ << entry.location.file << ":" << entry.location.line << ":" << entry.location.column
            << ": note: " << entry.message << "\n";
    stream_.flush();
    report_.diagnostics.push_back(std::move(entry));
  }
  Report& report_;
  llvm::raw_string_ostream stream_;
  clang::TextDiagnosticPrinter printer_;
};

void walk_site(const Site& site, const LambdaNumbers& numbers, clang::ASTContext& context,
               std::vector<CapturedKernel>& kernels) {
  if (site.closure == nullptr && site.is_at_body)
    refuse(context, site.call->getArg(1)->getSourceRange(), "pl::at of something that is no lambda",
           "write the body in place: pl::at(pl::Level::core_group, [&] { ... })");
  if (site.closure == nullptr)
    refuse(context, site.call->getArg(0)->getSourceRange(),
           "pl::jit.incore of a '" +
               site.call->getArg(0)->getType().getUnqualifiedType().getAsString(context.getPrintingPolicy()) +
               "'",
           "give it a lambda: pl::jit.incore([](pl::Tensor<float> x, ...) { ... })");
  if (site.is_at_body) {
    const clang::CXXMethodDecl* body = site.closure->getLambdaCallOperator();
    if (body == nullptr || body->getNumParams() != 0 ||
        site.closure->getDependentLambdaCallOperator() != nullptr)
      refuse(context, site.closure->getLocation(), "the body of pl::at has parameters",
             "write pl::at(pl::Level::core_group, [&] { ... }): what it names are its arguments");
  }
  check_closure_layout(site, numbers.written(site.closure), context);
  std::vector<const clang::CXXMethodDecl*> operators;
  if (const clang::FunctionTemplateDecl* generic = site.closure->getDependentLambdaCallOperator()) {
    for (const clang::FunctionDecl* instance : generic->specializations())
      if (instance->hasBody() && !instance->isInvalidDecl())
        operators.push_back(llvm::cast<clang::CXXMethodDecl>(instance));
  } else {
    operators.push_back(site.closure->getLambdaCallOperator());
  }
  for (const clang::CXXMethodDecl* call_operator : operators) {
    CapturedKernel captured;
    Walker walker(context, site, call_operator);
    captured.kernel = walker.walk();
    captured.named = walker.named_captures();
    captured.is_at_body = site.is_at_body;
    identify(captured, site, call_operator, numbers, context);
    kernels.push_back(std::move(captured));
  }
}

class Consumer : public clang::ASTConsumer {
 public:
  explicit Consumer(std::vector<CapturedKernel>& kernels) : kernels_(kernels) {}
  void HandleTranslationUnit(clang::ASTContext& context) override {
    // A tree with errors in it has holes; clang has said what is wrong.
    if (context.getDiagnostics().hasUncompilableErrorOccurred()) return;
    const Found found = find_kernels(context);
    for (const Site& site : found.sites) {
      try {
        walk_site(site, found.numbers, context, kernels_);
      } catch (const Refused&) {
        // Reported; the next kernel is looked at all the same.
      }
    }
  }

 private:
  std::vector<CapturedKernel>& kernels_;
};

class Action : public clang::ASTFrontendAction {
 public:
  Action(std::vector<CapturedKernel>& kernels, Report& report) : kernels_(kernels), report_(report) {}

 protected:
  std::unique_ptr<clang::ASTConsumer> CreateASTConsumer(clang::CompilerInstance&, llvm::StringRef) override {
    return std::make_unique<Consumer>(kernels_);
  }
  void EndSourceFileAction() override {
    const clang::SourceManager& sources = getCompilerInstance().getSourceManager();
    for (auto file = sources.fileinfo_begin(); file != sources.fileinfo_end(); ++file)
      report_.dependencies.push_back(file->first.getName().str());
    std::sort(report_.dependencies.begin(), report_.dependencies.end());
  }

 private:
  std::vector<CapturedKernel>& kernels_;
  Report& report_;
};

}  // namespace

std::vector<CapturedKernel> capture(const std::string& source, const std::vector<std::string>& flags,
                                    Report& report) {
  std::vector<CapturedKernel> kernels;
  const std::vector<std::string> arguments = clang_arguments(source, flags);
  std::vector<const char*> spelled;
  for (const std::string& argument : arguments) spelled.push_back(argument.c_str());

  llvm::IntrusiveRefCntPtr<clang::DiagnosticOptions> options(new clang::DiagnosticOptions);
  Collector collector(report, options.get());
  const auto diagnostics = clang::CompilerInstance::createDiagnostics(options.get(), &collector, false);
  clang::CreateInvocationOptions invocation_options;
  invocation_options.Diags = diagnostics;
  std::shared_ptr<clang::CompilerInvocation> invocation =
      clang::createInvocation(spelled, std::move(invocation_options));
  if (invocation == nullptr) {
    if (!report.failed) report.text += "trilith-capture: the compile flags cannot be understood\n";
    report.failed = true;
    return {};
  }
  // Only keeps clang from adding "1 error generated."; the Collector has its own options.
  invocation->getDiagnosticOpts().ShowCarets = 0;
  clang::CompilerInstance compiler;
  compiler.setInvocation(std::move(invocation));
  compiler.setDiagnostics(diagnostics.get());
  Action action(kernels, report);
  if (!compiler.ExecuteAction(action) || compiler.getDiagnostics().hasErrorOccurred()) report.failed = true;
  if (report.failed) kernels.clear();
  return kernels;
}

}  // namespace trilith::capture
