// jit/capture/walker.cpp -- one kernel from its lambda: parameters, captures, variables, locations.
#include "jit/capture/walker.hpp"

#include <clang/AST/RecordLayout.h>
#include <clang/Basic/SourceManager.h>

namespace trilith::capture {

using codegen::VariableKind;

void refuse(clang::ASTContext& context, clang::SourceRange range, const std::string& what,
            const std::string& mend) {
  clang::DiagnosticsEngine& diagnostics = context.getDiagnostics();
  const unsigned error = diagnostics.getCustomDiagID(clang::DiagnosticsEngine::Error, "%0");
  const unsigned note = diagnostics.getCustomDiagID(clang::DiagnosticsEngine::Note, "to mend it: %0");
  diagnostics.Report(range.getBegin(), error) << what << clang::CharSourceRange::getTokenRange(range);
  if (!mend.empty()) diagnostics.Report(range.getBegin(), note) << mend;
  throw Refused{};
}

void refuse(clang::ASTContext& context, clang::SourceLocation location, const std::string& what,
            const std::string& mend) {
  refuse(context, clang::SourceRange(location, location), what, mend);
}

void Walker::refuse(const clang::Stmt* where, const std::string& what, const std::string& mend) const {
  refuse_at(where->getSourceRange(), what, mend);
}

void Walker::refuse(clang::SourceLocation where, const std::string& what, const std::string& mend) const {
  refuse_at({where, where}, what, mend);
}

void Walker::refuse_at(clang::SourceRange range, const std::string& what, const std::string& mend) const {
  const clang::SourceManager& sources = context_.getSourceManager();
  const auto is_the_users = [&](clang::SourceLocation place) {
    return place.isValid() && !sources.isInSystemHeader(sources.getExpansionLoc(place));
  };
  if (is_the_users(range.getBegin())) capture::refuse(context_, range, what, mend);
  for (auto frame = frames_.rbegin(); frame != frames_.rend(); ++frame) {
    if (!is_the_users(frame->called_at)) continue;
    const clang::PresumedLoc inner = sources.getPresumedLoc(sources.getExpansionLoc(range.getBegin()));
    std::string called = what;
    if (inner.isValid())
      called += " (at " + std::string(inner.getFilename()) + ":" + std::to_string(inner.getLine()) +
                ", in '" + frame->function->getQualifiedNameAsString() + "', which is called here)";
    capture::refuse(context_, {frame->called_at, frame->called_at}, called, mend);
  }
  capture::refuse(context_, range, what, mend);
}

Walker::Walker(clang::ASTContext& context, const Site& site, const clang::CXXMethodDecl* call_operator)
    : context_(context), site_(site), call_operator_(call_operator) {}

codegen::Kernel Walker::walk() {
  kernel_.name = site_.name;
  kernel_.location = location(site_.call->getBeginLoc());
  if (call_operator_->isVariadic())
    refuse(call_operator_->getLocation(), "a kernel with C variadic arguments", "give it named parameters");
  if (!call_operator_->isConst() && !call_operator_->isStatic())
    refuse(call_operator_->getLocation(),
           "a 'mutable' kernel lambda: what it would keep between calls is lost",
           "remove 'mutable'; copy the captured value into a local variable");
  current_ = &kernel_.body;
  bind_parameters();
  if (site_.is_at_body)
    bind_named_captures();
  else
    bind_captures();
  Frame frame;
  frame.function = call_operator_;
  frame.type = call_operator_->getReturnType();
  frames_.push_back(std::move(frame));
  statements_into(kernel_.body, call_operator_->getBody());
  return std::move(kernel_);
}

void Walker::bind_parameters() {
  for (const clang::ParmVarDecl* parameter : call_operator_->parameters()) {
    const clang::SourceLocation where = parameter->getLocation();
    const std::string given = parameter->getType().getAsString(context_.getPrintingPolicy());
    if (parameter->getType()->isReferenceType() || parameter->getType()->isPointerType())
      refuse(where,
             "the kernel parameter '" + parameter->getNameAsString() + "' of type '" + given +
                 "': arguments are passed by value",
             "write pl::Tensor<...>, pl::Out<pl::Tensor<...>>, pl::Scalar<...> or pl::Const<...>, by value");
    const Meaning meaning = meaning_of(parameter->getType(), context_);
    if (meaning.kind != Kind::Scalar && (meaning.kind != Kind::Tensor || meaning.tensor == nullptr))
      refuse(
          where, "the kernel parameter '" + parameter->getNameAsString() + "' of type '" + given + "'",
          "a kernel takes pl::Tensor, pl::Out, pl::InOut, pld::DistributedTensor, pl::Scalar and pl::Const");
    std::string name = parameter->getNameAsString();
    if (name.empty()) name = "unnamed" + std::to_string(kernel_.parameters.size());
    const codegen::VariableId id =
        add_variable(name, type_of(meaning, where), VariableKind::Parameter, where);
    kernel_.parameters.push_back({id, meaning.access, meaning.specialised, meaning.window});
    bindings_[parameter] = {variable(id, where), nullptr};
    if (meaning.kind == Kind::Scalar && may_modify(call_operator_->getBody(), parameter)) {
      const codegen::VariableId copy =
          add_variable(name, type_of(meaning, where), VariableKind::Local, where);
      emit_assign(copy, variable(id, where), where);
      bindings_[parameter] = {variable(copy, where), nullptr};
    }
  }
}

void Walker::bind_captures() {
  const clang::CXXRecordDecl* closure = site_.closure;
  kernel_.closure_size =
      static_cast<std::uint32_t>(context_.getASTRecordLayout(closure).getSize().getQuantity());
  auto field = closure->field_begin();
  for (const clang::LambdaCapture& capture : closure->captures()) {
    const clang::ValueDecl* captured = capture.getCapturedVar();
    const clang::SourceLocation where = capture.getLocation();
    bind_captured_field(captured, *field, 0, where.isValid() ? where : captured->getLocation());
    ++field;
  }
}

void Walker::bind_captured_field(const clang::ValueDecl* captured, const clang::FieldDecl* field,
                                 std::uint64_t base, clang::SourceLocation where) {
  const std::uint64_t offset = base + context_.getFieldOffset(field) / 8;
  const Meaning meaning = meaning_of(field->getType(), context_);
  if (meaning.kind == Kind::Scalar) {
    const codegen::VariableId id = add_variable(captured->getNameAsString(), type_of(meaning, where),
                                                VariableKind::Capture, captured->getLocation());
    kernel_.captures.push_back({id, static_cast<std::uint32_t>(offset)});
    bindings_[captured] = {variable(id, where), nullptr};
    return;
  }
  if (meaning.kind == Kind::Kernel) return;  // called by its type; it keeps nothing that is read
  // A helper or lambda: its own captures lie inside the field. pl::jit.inline_ keeps the lambda as first
  // member.
  auto value = std::make_shared<ClosureValue>();
  value->record = meaning.closure;
  std::uint64_t inner_base = offset;
  if (meaning.kind == Kind::Helper) {
    const clang::CXXRecordDecl* wrapper = field->getType()->getAsCXXRecordDecl();
    for (const clang::FieldDecl* member : wrapper->fields())
      if (member->getType()->getAsCXXRecordDecl() == meaning.closure)
        inner_base = offset + context_.getFieldOffset(member) / 8;
  }
  auto inner_field = meaning.closure->field_begin();
  for (const clang::LambdaCapture& capture : meaning.closure->captures()) {
    const clang::ValueDecl* inner = capture.getCapturedVar();
    // Bound under the inner name only while that lambda's body is walked.
    const auto outer = bindings_.find(inner);
    std::optional<Binding> kept;
    if (outer != bindings_.end()) kept = outer->second;
    bind_captured_field(inner, *inner_field, inner_base, where);
    if (bindings_.contains(inner)) value->copies[inner] = bindings_[inner];
    if (kept)
      bindings_[inner] = *kept;
    else
      bindings_.erase(inner);
    ++inner_field;
  }
  bindings_[captured] = {{}, value};
}

codegen::SourceLocation Walker::location(clang::SourceLocation where) {
  if (composed_) return *composed_;
  const clang::SourceManager& sources = context_.getSourceManager();
  const clang::PresumedLoc place = sources.getPresumedLoc(sources.getFileLoc(where));
  if (place.isInvalid()) return {};
  const auto [entry, added] =
      files_.emplace(place.getFilename(), static_cast<std::uint32_t>(kernel_.files.size()));
  if (added) kernel_.files.emplace_back(place.getFilename());
  return {entry->second, place.getLine(), place.getColumn()};
}

codegen::VariableId Walker::add_variable(std::string name, codegen::Type type, VariableKind kind,
                                         clang::SourceLocation where) {
  kernel_.variables.push_back({std::move(name), std::move(type), kind, location(where)});
  return static_cast<codegen::VariableId>(kernel_.variables.size() - 1);
}

codegen::VariableId Walker::extent_variable(const std::string& name, clang::SourceLocation where) {
  const auto found = extents_.find(name);
  if (found != extents_.end()) return found->second;
  return extents_[name] =
             add_variable(name, codegen::Type::scalar(DType::Int64), VariableKind::Extent, where);
}

codegen::Expr Walker::variable(codegen::VariableId id, clang::SourceLocation where) {
  Expr result;
  result.op = Op::Variable;
  result.type = kernel_.variables[static_cast<std::size_t>(id)].type;
  result.variable = id;
  result.location = location(where);
  return result;
}

void Walker::emit_assign(codegen::VariableId target, Expr value, clang::SourceLocation where) {
  if (value.op == Op::Variable && value.variable == target) return;
  Statement assign;
  assign.kind = codegen::StatementKind::Assign;
  assign.location = location(where);
  assign.variable = target;
  assign.value = std::move(value);
  emit(std::move(assign));
}

}  // namespace trilith::capture
