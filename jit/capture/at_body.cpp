// jit/capture/at_body.cpp -- the body of pl::at: the tensors, windows, scalars and task ids it names are its arguments.
//
// Tensors become parameters of the kernel, scalars captures at 8-byte slots that the runtime fills at each call.
#include "jit/capture/at_body.hpp"

#include <clang/AST/RecordLayout.h>

namespace trilith::capture {

using codegen::VariableKind;

namespace {

/// Where `base` lies in `record`; -1: it is no base of it.
std::int64_t offset_of_base(const clang::CXXRecordDecl* record, const clang::CXXRecordDecl* base,
                            clang::ASTContext& context) {
  if (record->getCanonicalDecl() == base->getCanonicalDecl()) return 0;
  for (const clang::CXXBaseSpecifier& parent : record->bases()) {
    const clang::CXXRecordDecl* type = parent.getType()->getAsCXXRecordDecl();
    if (type == nullptr || parent.isVirtual()) continue;
    const std::int64_t inner = offset_of_base(type, base, context);
    if (inner >= 0) return inner + context.getASTRecordLayout(record).getBaseClassOffset(type).getQuantity();
  }
  return -1;
}

std::int32_t offset_of_field(const clang::CXXRecordDecl* record, llvm::StringRef name, std::int64_t base,
                             clang::ASTContext& context) {
  for (const clang::FieldDecl* field : record->fields())
    if (field->getName() == name)
      return static_cast<std::int32_t>(base + static_cast<std::int64_t>(context.getFieldOffset(field) / 8));
  refuse(context, record->getLocation(), record->getNameAsString() + " has no member '" + name.str() + "'",
         "the capture tool and the headers are of different versions of Trilith");
}

}  // namespace

bool is_task_id(const clang::CXXRecordDecl* record) {
  // TaskId is their first base: it lies at their start.
  return is_pl_class(record, "TaskId") || is_pl_class(record, "submit") || is_pl_class(record, "spmd");
}

void Walker::bind_named_captures() {
  auto field = site_.closure->field_begin();
  for (const clang::LambdaCapture& capture : site_.closure->captures()) bind_named_capture(capture, *field++);
  kernel_.closure_size = static_cast<std::uint32_t>(8 * kernel_.captures.size());
}

void Walker::bind_named_capture(const clang::LambdaCapture& capture, const clang::FieldDecl* field) {
  const clang::SourceLocation where =
      capture.getLocation().isValid() ? capture.getLocation() : site_.closure->getLocation();
  if (!capture.capturesVariable())
    refuse(where, "the body of pl::at captures 'this' or the size of an array",
           "name tensors and scalars that are local variables or parameters");
  const clang::ValueDecl* captured = capture.getCapturedVar();
  const std::string name = captured->getNameAsString();
  const clang::QualType type = captured->getType().getNonReferenceType();
  const Meaning meaning = meaning_of(type, context_);
  NamedCapture entry;
  entry.by_reference = capture.getCaptureKind() == clang::LCK_ByRef;
  entry.offset = static_cast<std::uint32_t>(context_.getFieldOffset(field) / 8);
  switch (meaning.kind) {
    case Kind::Tensor: {
      if (meaning.tensor == nullptr)
        refuse(where, "the body of pl::at names '" + name + "', which stands for a window",
               "name the window itself, and ask for its ranks in the body");
      entry.kind = NamedCapture::Kind::Tensor;
      const clang::CXXRecordDecl* record = type->getAsCXXRecordDecl();
      const std::int64_t base = offset_of_base(record, meaning.tensor, context_);
      const codegen::Type tensor = type_of(meaning, where);
      const auto at = [&](llvm::StringRef member) {
        return offset_of_field(meaning.tensor, member, base, context_);
      };
      entry.data = at("data_");
      entry.extents = at("extents_");
      entry.strides = at("strides_");
      entry.flags = at("read_only_");
      if (tensor.any_shape) entry.rank = at("rank_");
      if (tensor.any_dtype) entry.dtype = at("dtype_");
      if (meaning.window) entry.window = offset_of_field(record, "part_", 0, context_);
      const codegen::VariableId id = add_variable(name, tensor, VariableKind::Parameter, where);
      kernel_.parameters.push_back({id, meaning.access, false, meaning.window});
      bindings_[captured] = {variable(id, where), nullptr};
      break;
    }
    case Kind::Scalar: {
      require_built(meaning.dtype, where);
      entry.kind = NamedCapture::Kind::Scalar;
      entry.size = static_cast<std::uint32_t>(codegen::size_of(meaning.dtype));
      const codegen::VariableId id =
          add_variable(name, type_of(meaning, where), VariableKind::Capture, where);
      kernel_.captures.push_back({id, static_cast<std::uint32_t>(8 * kernel_.captures.size())});
      bindings_[captured] = {variable(id, where), nullptr};
      break;
    }
    case Kind::Kernel: return;  // called by its type; it keeps nothing that is read
    case Kind::Closure:
    case Kind::Helper: {
      if (meaning.closure->captures_begin() != meaning.closure->captures_end())
        refuse(where, "the body of pl::at names the lambda '" + name + "', which captures values",
               "write the lambda inside the body, or give it the values as arguments");
      auto value = std::make_shared<ClosureValue>();
      value->record = meaning.closure;
      bindings_[captured] = {{}, value};
      return;
    }
    default:
      if (!is_task_id(type->getAsCXXRecordDecl()))
        refuse(where,
               "the body of pl::at names '" + name + "' of type '" +
                   type.getUnqualifiedType().getAsString(context_.getPrintingPolicy()) + "'",
               "it may name tensors (of a pl::Array: its view()), scalars and task ids");
      entry.kind = NamedCapture::Kind::Task;
      break;
  }
  named_.push_back(entry);
}

}  // namespace trilith::capture
