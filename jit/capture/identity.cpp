// jit/capture/identity.cpp -- how each compiler spells the place and the type of a kernel.
//
// std::source_location: clang 19 gives the start of the call (in a macro: the end of its expansion), clang 22
// the member name, g++ 12 the parenthesis (in a macro: the start of its expansion). typeid(closure).name():
// see gcc_pattern.
#include "jit/capture/identity.hpp"

#include <clang/AST/Mangle.h>
#include <clang/Basic/SourceManager.h>
#include <clang/Lex/Lexer.h>
#include <llvm/Support/raw_ostream.h>

#include <algorithm>

namespace trilith::capture {

void LambdaNumbers::add(const clang::CXXRecordDecl* closure, const clang::Decl* scope) {
  if (entries_.contains(closure)) return;
  const int number = next_[scope]++;
  entries_[closure] = {scope, number};
}

int LambdaNumbers::number(const clang::CXXRecordDecl* closure) const {
  const auto found = entries_.find(closure);
  return found == entries_.end() ? -1 : found->second.number;
}

const clang::Decl* LambdaNumbers::scope(const clang::CXXRecordDecl* closure) const {
  const auto found = entries_.find(closure);
  return found == entries_.end() ? nullptr : found->second.scope;
}

namespace {

void add_place(std::vector<Place>& places, clang::SourceLocation location,
               const clang::SourceManager& sources) {
  const clang::PresumedLoc place = sources.getPresumedLoc(location);
  if (place.isInvalid()) return;
  const Place entry{place.getLine(), place.getColumn()};
  if (std::find(places.begin(), places.end(), entry) == places.end()) places.push_back(entry);
}

/// typeid(type).name() under this clang.
std::string typeid_name(clang::QualType type, clang::ASTContext& context) {
  const std::unique_ptr<clang::MangleContext> mangle(context.createMangleContext());
  std::string name;
  llvm::raw_string_ostream stream(name);
  mangle->mangleCXXRTTIName(type.getCanonicalType().getUnqualifiedType(), stream);
  stream.flush();
  constexpr llvm::StringLiteral prefix = "_ZTS";
  return llvm::StringRef(name).starts_with(prefix) ? name.substr(prefix.size()) : name;
}

/// clang numbers closures without linkage ("3$_0") in the order in which it emits code, which nobody else can
/// know:
/// `*` stands for the number, and where that leaves two kernels the look-up says so instead of choosing.
std::string without_emission_order(const std::string& name) {
  std::string pattern;
  for (std::size_t i = 0; i < name.size();) {
    const std::size_t mark = name.find("$_", i);
    if (mark == std::string::npos) return pattern + name.substr(i);
    std::size_t begin = mark;
    while (begin > i && name[begin - 1] >= '0' && name[begin - 1] <= '9') --begin;
    pattern += name.substr(i, begin - i) + "*$_*";
    i = mark + 2;
    while (i < name.size() && name[i] >= '0' && name[i] <= '9') ++i;
  }
  return pattern;
}

/// What stands between "Z" and "E" in the name of something local to this function.
std::string encoding(const clang::FunctionDecl* function, clang::ASTContext& context) {
  const std::unique_ptr<clang::MangleContext> mangle(context.createMangleContext());
  if (!mangle->shouldMangleDeclName(function)) {
    const std::string name = function->getNameAsString();
    return std::to_string(name.size()) + name;
  }
  std::string name;
  llvm::raw_string_ostream stream(name);
  if (const auto* constructor = llvm::dyn_cast<clang::CXXConstructorDecl>(function))
    mangle->mangleName(clang::GlobalDecl(constructor, clang::Ctor_Base), stream);
  else if (const auto* destructor = llvm::dyn_cast<clang::CXXDestructorDecl>(function))
    mangle->mangleName(clang::GlobalDecl(destructor, clang::Dtor_Base), stream);
  else
    mangle->mangleName(clang::GlobalDecl(function), stream);
  stream.flush();
  return llvm::StringRef(name).starts_with("_Z") ? name.substr(2) : name;
}

/// "Ul*E_" of the first lambda of a scope, "Ul*E0_" of the second.
std::string unnamed(int number) { return "Ul*E" + (number == 0 ? "" : std::to_string(number - 1)) + "_"; }

std::string gcc_pattern(const clang::CXXRecordDecl* closure, const LambdaNumbers& numbers,
                        clang::ASTContext& context);

/// The closure types in template arguments, in the order in which they are spelled.
void add_closures(llvm::ArrayRef<clang::TemplateArgument> arguments,
                  std::vector<const clang::CXXRecordDecl*>& closures) {
  for (const clang::TemplateArgument& argument : arguments) {
    if (argument.getKind() == clang::TemplateArgument::Pack) add_closures(argument.pack_elements(), closures);
    if (argument.getKind() != clang::TemplateArgument::Type) continue;
    const clang::CXXRecordDecl* record = argument.getAsType().getNonReferenceType()->getAsCXXRecordDecl();
    if (record == nullptr) continue;
    if (record->isLambda())
      closures.push_back(record);
    else if (const auto* made = llvm::dyn_cast<clang::ClassTemplateSpecializationDecl>(record))
      add_closures(made->getTemplateArgs().asArray(), closures);
  }
}

/// The closure types that a declaration and the classes around it are instantiated with.
std::vector<const clang::CXXRecordDecl*> closures_around(const clang::Decl* decl) {
  std::vector<llvm::ArrayRef<clang::TemplateArgument>> lists;
  if (const auto* variable = llvm::dyn_cast<clang::VarTemplateSpecializationDecl>(decl))
    lists.push_back(variable->getTemplateArgs().asArray());
  if (const auto* function = llvm::dyn_cast<clang::FunctionDecl>(decl))
    if (const clang::TemplateArgumentList* arguments = function->getTemplateSpecializationArgs())
      lists.push_back(arguments->asArray());
  for (const clang::DeclContext* scope = decl->getDeclContext(); scope != nullptr; scope = scope->getParent())
    if (const auto* made = llvm::dyn_cast<clang::ClassTemplateSpecializationDecl>(scope))
      lists.push_back(made->getTemplateArgs().asArray());
  std::vector<const clang::CXXRecordDecl*> closures;
  for (auto list = lists.rbegin(); list != lists.rend(); ++list) add_closures(*list, closures);
  return closures;
}

/// clang says of a template argument whose parameter the name alone would not tell ("TpTni": a pack of int) what that
/// is; g++ does not.
std::string without_parameter_kinds(std::string text) {
  for (const llvm::StringRef mark : {"ITp", "ITn"})
    for (std::size_t at = text.find(mark.str()); at != std::string::npos;
         at = text.find(mark.str(), at + 1)) {
      const std::size_t end = text.find_first_of("JLX", at);
      if (end != std::string::npos) text.replace(at + 1, end - at - 1, "*");
    }
  return text;
}

/// clang's spelling with the closure types in it as g++ spells them; behind the last one `*`, since what the two
/// abbreviate there differs.
std::string with_gcc_closures(const std::string& spelled, const clang::Decl* decl,
                              const LambdaNumbers& numbers, clang::ASTContext& context) {
  std::string pattern;
  std::size_t at = 0;
  const std::string text = without_emission_order(spelled);
  for (const clang::CXXRecordDecl* closure : closures_around(decl)) {
    const std::string name =
        without_emission_order(typeid_name(clang::QualType(closure->getTypeForDecl(), 0), context));
    const std::size_t found = text.find(name, at);
    if (found == std::string::npos) continue;
    const std::string own = gcc_pattern(closure, numbers, context);
    pattern += (at == 0 ? text.substr(0, found) : "*") + (own.empty() ? "*" : own);
    at = found + name.size();
  }
  return without_parameter_kinds(at == 0 ? spelled : pattern + "*");
}

/// Of what a variable template or a class template's static member is an instance of; empty: of none.
std::string instance_of(const clang::VarDecl* variable, clang::ASTContext& context) {
  std::string name;
  if (llvm::isa<clang::VarTemplateSpecializationDecl>(variable)) {
    const std::unique_ptr<clang::MangleContext> mangle(context.createMangleContext());
    if (!mangle->shouldMangleDeclName(variable)) return {};
    llvm::raw_string_ostream stream(name);
    mangle->mangleName(clang::GlobalDecl(variable), stream);
    stream.flush();
    if (llvm::StringRef(name).starts_with("_Z")) name.erase(0, 2);
  } else if (const auto* made =
                 llvm::dyn_cast<clang::ClassTemplateSpecializationDecl>(variable->getDeclContext())) {
    name = typeid_name(clang::QualType(made->getTypeForDecl(), 0), context);
  }
  if (name.size() > 2 && name.front() == 'N' && name.back() == 'E') name = name.substr(1, name.size() - 2);
  return name;
}

/// g++ 12 counts all lambdas of a function, and those of the initialiser of a namespace-scope variable; `*`
/// stands for the parameter types and for what is spelled in more than one way.
std::string gcc_pattern(const clang::CXXRecordDecl* closure, const LambdaNumbers& numbers,
                        clang::ASTContext& context) {
  const int number = numbers.number(closure);
  const clang::Decl* scope = numbers.scope(closure);
  if (number < 0 || scope == nullptr) return {};
  if (const auto* variable = llvm::dyn_cast<clang::VarDecl>(scope)) {
    // g++ 12 counts these through the whole source and leaves the name of a static member out.
    if (const std::string instance = instance_of(variable, context); !instance.empty())
      return "N" + with_gcc_closures(instance, variable, numbers, context) + "*Ul*E*_E";
    const std::string name = variable->getNameAsString();
    // Of a variable template there is no M: match both.
    return "N*" + std::to_string(name.size()) + name + "*" + unnamed(number) + "E";
  }
  const auto* function = llvm::dyn_cast<clang::FunctionDecl>(scope);
  if (function == nullptr) return {};
  const auto* method = llvm::dyn_cast<clang::CXXMethodDecl>(function);
  if (method != nullptr && method->getParent()->isLambda()) {
    const std::string outer = gcc_pattern(method->getParent(), numbers, context);
    return outer.empty() ? std::string() : "Z*" + outer + "*E" + unnamed(number);
  }
  return "Z" + with_gcc_closures(encoding(function, context), function, numbers, context) + "E" +
         unnamed(number);
}

/// Of a type argument, and of each in a pack.
void add_type_names(const clang::TemplateArgument& argument, std::vector<std::string>& names,
                    clang::ASTContext& context) {
  if (argument.getKind() == clang::TemplateArgument::Type)
    names.push_back(typeid_name(argument.getAsType(), context));
  if (argument.getKind() == clang::TemplateArgument::Pack)
    for (const clang::TemplateArgument& part : argument.pack_elements()) add_type_names(part, names, context);
}

}  // namespace

void identify(CapturedKernel& kernel, const Site& site, const clang::CXXMethodDecl* call_operator,
              const LambdaNumbers& numbers, clang::ASTContext& context) {
  const clang::SourceManager& sources = context.getSourceManager();
  const clang::SourceLocation begin = site.call->getBeginLoc();
  kernel.file = sources.getPresumedLoc(sources.getExpansionLoc(begin)).getFilename();
  const auto* member = llvm::dyn_cast<clang::MemberExpr>(site.call->getCallee()->IgnoreParenImpCasts());
  const auto* free = llvm::dyn_cast<clang::DeclRefExpr>(site.call->getCallee()->IgnoreParenImpCasts());
  const clang::SourceLocation name = member != nullptr ? member->getMemberLoc()
                                     : free != nullptr ? free->getNameInfo().getLoc()
                                                       : begin;
  clang::SourceLocation parenthesis = site.call->getArg(0)->getBeginLoc();
  if (member != nullptr || free != nullptr) {
    if (name.isFileID())
      if (const auto token = clang::Lexer::findNextToken(name, sources, context.getLangOpts()))
        parenthesis = token->getLocation();
  }
  for (const clang::SourceLocation spelled : {begin, name, parenthesis, site.call->getEndLoc()}) {
    const clang::CharSourceRange expansion = sources.getExpansionRange(spelled);
    add_place(kernel.places, expansion.getBegin(), sources);
    if (spelled.isMacroID()) add_place(kernel.places, expansion.getEnd(), sources);
  }
  kernel.clang_type_names = {
      without_emission_order(typeid_name(clang::QualType(site.closure->getTypeForDecl(), 0), context))};
  const std::string pattern = gcc_pattern(site.closure, numbers, context);
  if (!pattern.empty()) kernel.gcc_type_names.push_back(pattern);
  kernel.generic = call_operator->getPrimaryTemplate() != nullptr;
  if (kernel.generic)
    for (const clang::ParmVarDecl* parameter : call_operator->parameters()) {
      // What is given for a parameter of a named type is converted: its type tells no instantiation from another.
      const clang::FunctionDecl* written = call_operator->getPrimaryTemplate()->getTemplatedDecl();
      const unsigned index = parameter->getFunctionScopeIndex();
      bool deduced = true;
      for (unsigned i = 0; i <= index && i < written->getNumParams(); ++i) {
        if (written->getParamDecl(i)->isParameterPack()) break;  // and all that follow
        if (i == index) deduced = written->getParamDecl(i)->getType()->isInstantiationDependentType();
      }
      kernel.parameter_type_names.push_back(deduced ? typeid_name(parameter->getType(), context) : "*");
    }
  if (site.is_at_body)
    for (const clang::DeclContext* scope = site.closure->getDeclContext(); scope != nullptr;
         scope = scope->getParent())
      if (const auto* function = llvm::dyn_cast<clang::FunctionDecl>(scope))
        if (const clang::TemplateArgumentList* arguments = function->getTemplateSpecializationArgs()) {
          std::vector<std::string> names;
          for (const clang::TemplateArgument& argument : arguments->asArray())
            add_type_names(argument, names, context);
          if (!names.empty()) kernel.enclosing_type_names.push_back(std::move(names));
        }
}

}  // namespace trilith::capture
