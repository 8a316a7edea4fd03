// jit/capture/remote_calls.cpp -- functions of namespace pld: ranks, one-sided memory, signals, collectives. Each becomes
// a statement at its place, so that no access to memory is ever written on its other side.
#include "codegen/remote.hpp"

#include "jit/capture/walker.hpp"

#include <functional>

namespace trilith::capture {

using codegen::Op;
using codegen::Type;
using codegen::TypeKind;

bool is_in_pld(const clang::FunctionDecl* function) {
  const auto* space = llvm::dyn_cast<clang::NamespaceDecl>(function->getDeclContext()->getRedeclContext());
  return is_in_pl(function) && space->getName() == "pld";
}

/// What initialises a member of an options struct that is written in the call.
const clang::Expr* Walker::option_member(const clang::Expr* options, llvm::StringRef member) {
  const auto* list = llvm::dyn_cast<clang::InitListExpr>(bare(options));
  const auto* record = options->getType().getNonReferenceType()->getAsCXXRecordDecl();
  if (list == nullptr || record == nullptr)
    refuse(options, "options that are not written in the call",
           "write them there: {." + member.str() + " = …}");
  for (const clang::FieldDecl* candidate : record->fields())
    if (candidate->getName() == member && candidate->getFieldIndex() < list->getNumInits()) {
      const clang::Expr* given = list->getInit(candidate->getFieldIndex());
      if (const auto* defaulted = llvm::dyn_cast<clang::CXXDefaultInitExpr>(given))
        given = defaulted->getExpr();
      return given;
    }
  refuse(options, "options without ." + member.str(), "write {." + member.str() + " = …}");
}

std::int64_t Walker::constant_option(const clang::Expr* options, llvm::StringRef member) {
  const clang::Expr* given = option_member(options, member);
  clang::Expr::EvalResult result;
  if (!given->EvaluateAsInt(result, context_))
    refuse(given, "." + member.str() + " is no constant",
           "write an enumerator; choose between two calls with if");
  return result.Val.getInt().getExtValue();
}

/// The cells that `.signal` names; null: it was left out.
const clang::Expr* Walker::signal_cells(const clang::Expr* options) {
  const clang::Expr* given = bare(option_member(options, "signal"));
  const auto* list = llvm::dyn_cast<clang::InitListExpr>(given);
  const auto* made = llvm::dyn_cast<clang::CXXConstructExpr>(given);
  const bool empty =
      (list != nullptr && list->getNumInits() == 0) || (made != nullptr && made->getNumArgs() == 0);
  return empty ? nullptr : given;
}

namespace {

/// One operand: how it is evaluated.
using Part = std::function<codegen::Expr()>;

}  // namespace

codegen::Expr Walker::remote_call(const clang::CallExpr* call, const clang::FunctionDecl* function) {
  const clang::SourceLocation where = call->getExprLoc();
  const std::string name = function->getNameAsString();
  if (name == "get_comm_ctx") return expression(call->getArg(0));
  const std::optional<Op> op = codegen::remote_from_name(name);
  if (!op)
    refuse(
        call, "'pld::" + name + "' cannot stand in an in-core kernel",
        "windows are made and dispatched in a pl::jit.host orchestrator; a kernel asks pld::rank(window) and "
        "pld::nranks(window)");

  // Where the window, a tile or tensor beside it, and the options stand.
  const bool behind = *op == Op::RemoteStore || *op == Op::RemoteGet;
  const clang::Expr* first = call->getNumArgs() > 0 ? call->getArg(0) : nullptr;
  const clang::Expr* window = behind ? call->getArg(1) : first;
  const unsigned at = behind || *op == Op::AllToAllV ? 2 : 1;
  const clang::Expr* options = call->getNumArgs() > at ? call->getArg(at) : nullptr;

  Type window_type;
  const Part window_part = [&] {
    Expr value = expression(window);
    if (!value.type.is_tensor())
      refuse(window, "'pld::" + name + "' of something that is no window", "give a pld::DistributedTensor");
    window_type = value.type;
    return value;
  };
  const auto scalar = [&](const char* member) -> Part {
    return [=, this] { return convert(expression(option_member(options, member)), DType::Int64, where); };
  };
  const auto list = [&](const char* member) -> Part {
    return [=, this, &window_type] {
      const clang::Expr* given = option_member(options, member);
      Expr items = index_list(given);
      if (!items.operands.empty() && !window_type.any_shape &&
          items.operands.size() != window_type.shape.size())
        refuse(given,
               std::to_string(items.operands.size()) + " entries for a window of rank " +
                   std::to_string(window_type.shape.size()),
               "give one for each axis of the window, or none");
      return items;
    };
  };
  const Part empty = [&] {
    Expr items;
    items.op = Op::List;
    items.type.kind = TypeKind::List;
    items.location = location(where);
    return items;
  };

  std::vector<Part> parts;
  switch (*op) {
    case Op::Fence: break;
    case Op::CommRank:
    case Op::CommSize: parts = {window_part}; break;
    case Op::RemoteLoad: parts = {window_part, scalar("peer"), list("offsets"), list("shape")}; break;
    case Op::RemoteStore:
      parts = {[&] { return expression(first); }, window_part, scalar("peer"), list("offsets")};
      break;
    case Op::RemotePut:
      parts = {
          window_part,         scalar("peer"),      [&] { return expression(option_member(options, "src")); },
          list("dst_offsets"), list("src_offsets"), list("shape")};
      break;
    case Op::RemoteGet:
      parts = {[&] { return expression(first); },
               window_part,
               scalar("peer"),
               list("src_offsets"),
               list("dst_offsets"),
               list("shape")};
      break;
    case Op::Notify: parts = {window_part, scalar("peer"), list("offsets"), scalar("value")}; break;
    case Op::Wait:
    case Op::DeferWait: parts = {window_part, list("offsets"), scalar("expected")}; break;
    case Op::Broadcast:
    case Op::CommReduce:
    case Op::CommScatter:
    case Op::CommGather: parts = {window_part, empty, empty, scalar("root")}; break;
    case Op::SendRecv: parts = {window_part, empty, empty, scalar("from"), scalar("to")}; break;
    case Op::AllToAllV:
      parts = {window_part, empty, empty, [&] { return expression(call->getArg(1)); }, empty, empty};
      break;
    default: parts = {window_part, empty, empty}; break;
  }
  if (codegen::is_collective(*op))
    if (const clang::Expr* cells = signal_cells(options))
      parts.insert(parts.end(), {[=, this] { return expression(cells); }, empty, empty});
  Expr result = make(*op,
                     codegen::is_rank_scalar(*op) ? Type::scalar(DType::Int32)
                     : *op == Op::RemoteLoad      ? type_of(call->getType(), where)
                                                  : Type{},
                     evaluated(parts, where), where);
  codegen::Attributes& attributes = result.attributes;
  if (*op == Op::RemoteStore || *op == Op::RemotePut)
    attributes.atomic = static_cast<codegen::Atomic>(constant_option(options, "atomic"));
  if (*op == Op::RemotePut || *op == Op::RemoteGet) {
    attributes.chunk = static_cast<std::int32_t>(constant_option(options, "chunk"));
    attributes.pipeline = static_cast<std::int32_t>(constant_option(options, "pipeline"));
    if (attributes.chunk < 0)
      refuse(options, ".chunk is " + std::to_string(attributes.chunk),
             "give a number of elements, or 0 for as many as fit");
    if (attributes.pipeline < 1)
      refuse(options, ".pipeline is " + std::to_string(attributes.pipeline),
             "give a number of buffers, 1 or more");
  }
  if (*op == Op::Notify) attributes.notify = static_cast<codegen::NotifyOp>(constant_option(options, "op"));
  if (*op == Op::Wait) attributes.compare = static_cast<codegen::WaitCmp>(constant_option(options, "cmp"));
  if (codegen::is_reduction(*op))
    attributes.reduce = static_cast<codegen::ReduceOp>(constant_option(options, "op"));
  if (*op == Op::Allreduce)
    attributes.algorithm = static_cast<codegen::Algorithm>(constant_option(options, "algorithm"));
  if (codegen::is_remote_value(*op)) {
    const std::string hint = *op == Op::CommRank ? "rank" : *op == Op::CommSize ? "nranks" : "remote";
    return snapshot(std::move(result), hint, where);
  }
  Statement effect;
  effect.kind = codegen::StatementKind::Evaluate;
  effect.location = location(where);
  effect.value = std::move(result);
  emit(std::move(effect));
  return {};
}

/// The values from left to right; what an earlier one read is kept when a later one has effects.
std::vector<codegen::Expr> Walker::evaluated(const std::vector<std::function<Expr()>>& parts,
                                             clang::SourceLocation where) {
  std::vector<Expr> results;
  for (const std::function<Expr()>& part : parts) {
    Statements effects;
    Statements* const outer = current_;
    current_ = &effects;
    Expr value = part();
    current_ = outer;
    if (!effects.empty()) {
      for (Expr& earlier : results) earlier = snapshot(std::move(earlier), "operand", where);
      for (Statement& effect : effects) emit(std::move(effect));
    }
    results.push_back(std::move(value));
  }
  return results;
}

}  // namespace trilith::capture
