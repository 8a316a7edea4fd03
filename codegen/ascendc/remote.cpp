// Operations on windows. What moves data is a load or a store by now (peers.hpp); here are the addresses of peers' parts,
// signals and waits. A signal is a copy of 4 bytes behind a barrier of all pipes; a wait is a loop of the scalar pipe in
// front of one.
#include "codegen/remote.hpp"
#include "codegen/ascendc/collective.hpp"
#include "codegen/ascendc/remote_functions.hpp"
#include "codegen/error.hpp"
#include "codegen/printer.hpp"

#include <algorithm>

namespace trilith::codegen::ascendc {
namespace {

bool returns(std::span<const Statement> list) {
  return std::ranges::any_of(list, [](const Statement& statement) {
    return (statement.kind == StatementKind::Leave && statement.block == 0) || returns(statement.body) ||
           returns(statement.else_body) || returns(statement.step_body);
  });
}

std::string name_of(Op op) { return "pld::" + std::string(name_in_pld(op)); }

}  // namespace

/// Number of the window's record in the context.
int Context::window_of(VariableId window, bool signals) {
  const TensorInfo& tensor = tensors.at(window);
  function("Window", window_functions);
  if (!std::ranges::all_of(tensor.strides, &Amount::is_constant))
    throw pl::UserError(
        "AscendC: " + kernel.variables[window].name +
            " is a window whose strides only the run knows; give the kernel the window or whole "
            "rows of it",
        place(location));
  auto found = std::ranges::find(windows, tensor.index, &WindowArgument::tensor);
  if (found == windows.end()) found = windows.insert(found, {tensor.index, false});
  found->signals = found->signals || signals;
  return static_cast<int>(found - windows.begin());
}

void Context::check_peer(const std::string& peer, int window, const std::string& what,
                         const SourceLocation& at) {
  if (peer == "0") return;
  const std::string ranks = "static_cast<int64_t>(WindowAt(windows, " + std::to_string(window) + ").ranks)";
  fault_if(peer + " < 0 || " + peer + " >= " + ranks, fault_peer, at, what, peer, ranks, ranks + " - 1");
}

/// `length` elements at `offset` of an axis of `extent`.
void Context::check_offset(const Expr& offset, std::int64_t length, std::int64_t extent,
                           const std::string& what, std::size_t axis, const SourceLocation& where) {
  if (offset.is_constant() && offset.value.as_int64() >= 0 && offset.value.as_int64() <= extent - length)
    return;
  const std::string at = index(offset);
  fault_if(at + " < 0 || " + at + " > " + std::to_string(extent - length), fault_range, where,
           what + " " + std::to_string(axis), at, std::to_string(extent), std::to_string(length));
}

/// The number of the cell that a notify or a wait names, in elements of the window.
Address Context::cell_of(const Expr& call) {
  const RemoteOperands roles = remote_operands(call);
  const TensorInfo& tensor = tensors.at(call.operands[static_cast<std::size_t>(roles.window)].variable);
  const std::vector<Expr>& offsets = call.operands[static_cast<std::size_t>(roles.offsets)].operands;
  return address_in(tensor, offsets, std::vector<std::int64_t>(offsets.size(), 1), call);
}

/// Where a region of `shape` elements begins in a window of constant strides; checks that it lies inside.
Address Context::address_in(const TensorInfo& tensor, const std::vector<Expr>& offsets,
                            const std::vector<std::int64_t>& shape, const Expr& call) {
  Address result;
  for (std::size_t axis = 0; axis < offsets.size(); ++axis) {
    check_offset(offsets[axis], shape[axis], tensor.extents[axis], name_of(call.op), axis, call.location);
    const std::int64_t stride = tensor.strides[axis].factor;
    if (offsets[axis].is_constant())
      result.constant += offsets[axis].value.as_int64() * stride;
    else
      result.add(Amount{stride}, index(offsets[axis]));
  }
  return result;
}

void Context::remote(const Statement& statement) {
  location = statement.location;
  const Expr& value = statement.value;
  const bool is_part = value.op == Op::RemoteLoad;
  note(place_text(location) + ": " +
       (statement.kind == StatementKind::Assign && !is_part
            ? kernel.variables[statement.variable].name + " = "
            : std::string()) +
       to_text(kernel, is_part ? peer_parts.at(statement.variable) : value));
  if (is_rank_scalar(value.op)) {
    const int window = window_of(value.operands[0].variable, false);
    declare(statement.variable);
    line(Pipe::None, variables[statement.variable] + " = static_cast<int32_t>(WindowAt(windows, " +
                         std::to_string(window) + (value.op == Op::CommRank ? ").rank);" : ").ranks);"));
    return;
  }
  reaches_peers = true;
  switch (value.op) {
    case Op::RemoteLoad: return peer_part(statement);
    case Op::Notify: return notify(statement);
    case Op::Wait:
    case Op::DeferWait: return wait(statement);
    case Op::Fence: {
      line(Pipe::None, "AscendC::PipeBarrier<PIPE_ALL>();");
      program.nodes.back().call = static_cast<int>(calls.size());
      calls.push_back({.op = Op::Fence});
      return;
    }
    default: return lower_collective(*this, statement);
  }
}

void Context::peer_part(const Statement& statement) {
  const VariableId window = statement.value.operands[0].variable;
  const int number = window_of(window, false);
  const std::string peer = index(statement.value.operands[1]);
  check_peer(peer, number, name_of(peer_parts.at(statement.variable).op), statement.location);
  const TensorInfo& own = tensors.at(window);
  if (!tensors.contains(statement.variable)) {
    TensorInfo part = own;
    Object object = program.objects[own.object];
    object.name = names.fresh(variables[statement.variable] + "_gm");
    part.object = add_object(object);
    part.access = codegen::Access::InOut;
    tensors.emplace(statement.variable, std::move(part));
  }
  const ObjectId part = tensors.at(statement.variable).object;
  used_tensors.insert(part);  // also where nobody uses what is loaded from it
  const std::string type = type_name(stored_as(own.dtype));
  line(Pipe::None, name(part) + ".SetGlobalBuffer(PartOf<" + type + ">(windows, " + std::to_string(number) +
                       ", " + peer + "), " +
                       std::to_string(program.objects[part].bytes / bytes_of(own.dtype)) + ");");
}

void Context::notify(const Statement& statement) {
  const Expr& call = statement.value;
  const RemoteOperands roles = remote_operands(call);
  const VariableId window = call.operands[static_cast<std::size_t>(roles.window)].variable;
  const int number = window_of(window, true);
  const Expr &to = call.operands[static_cast<std::size_t>(roles.peer)],
             &value = call.operands[static_cast<std::size_t>(roles.value)];
  const std::string peer = index(to);
  check_peer(peer, number, name_of(call.op), statement.location);
  const Address cell = cell_of(call);
  function("Notify", notify_function);
  const ObjectId word = scratch(32);
  signal("Notify<" + std::string(call.attributes.notify == NotifyOp::AtomicAdd ? "true" : "false") +
             ">(PartOf<int32_t>(windows, " + std::to_string(number) + ", " + peer + ")" +
             (cell.is_zero() ? "" : " + " + cell.text()) + ", " +
             (value.is_constant() ? index(value) : "static_cast<int32_t>(" + index(value) + ")") + ", " +
             name(word) + ".ReinterpretCast<int32_t>());",
         {{tensors.at(window).object, true}, {word, true}}, {.op = call.op});
}

void Context::wait(const Statement& statement) {
  const Expr& call = statement.value;
  const RemoteOperands roles = remote_operands(call);
  const VariableId window = call.operands[static_cast<std::size_t>(roles.window)].variable;
  (void)window_of(window, true);
  const bool deferred_wait = call.op == Op::DeferWait;
  if (deferred_wait && (depth > 0 || returns(kernel.body)))
    refuse(name_of(call.op), DType::Int32,
           "it stands in control flow, and this target looks at the cell at the end of the kernel; write it "
           "outside "
           "of loops and branches, in a kernel without return",
           statement.location);
  const Expr& value = call.operands[static_cast<std::size_t>(roles.value)];
  Address cell = cell_of(call);
  std::string expected = index(value);
  if (deferred_wait) {
    // As they are here, not at the end.
    const auto keep = [&](const std::string& text) {
      const std::string name = names.fresh("deferred");
      declarations.push_back("int64_t " + name + " = 0;");
      line(Pipe::None, name + " = " + text + ";");
      return name;
    };
    if (!cell.is_constant()) cell = {0, {keep(cell.text())}};
    if (!value.is_constant()) expected = keep(expected);
  }
  TensorInfo& tensor = tensors.at(window);
  used_tensors.insert(tensor.object);
  const std::string cells = name(tensor.object);
  const bool equal = call.op == Op::Wait && call.attributes.compare == WaitCmp::Eq;
  calls.push_back({.op = call.op});
  Node node{.kind = Node::Kind::Call,
            .text =
                "do {\n"
                "  AscendC::DataCacheCleanAndInvalid<int32_t, AscendC::CacheLine::SINGLE_CACHE_LINE,\n"
                "                                    AscendC::DcciDst::CACHELINE_OUT>(" +
                cell.of(cells) + ");\n} while (" + cells + ".GetValue(" + cell.text() + ")" +
                (equal ? " != " : " < ") + expected + ");\nAscendC::PipeBarrier<PIPE_ALL>();",
            .touches = {{tensor.object, false}},
            .call = static_cast<int>(calls.size()) - 1,
            .location = statement.location};
  (deferred_wait ? deferred : program.nodes).push_back(std::move(node));
}

/// A load from a window and a store to another one, or to a peer's part of the same, may meet in one memory: they are
/// then no parts of one loop nest, whose rounds would see what earlier ones have stored.
std::size_t Context::length_without_meeting(std::span<const Statement> run) const {
  if (peer_parts.empty()) return run.size();
  std::vector<VariableId> loaded, stored;
  const auto meets = [](const std::vector<VariableId>& list, VariableId tensor) {
    return std::ranges::any_of(list, [&](VariableId other) { return other != tensor; });
  };
  for (std::size_t i = 0; i < run.size(); ++i) {
    const bool store = fuse::is_store(run[i]);
    if (!store && run[i].value.op != Op::Load) continue;
    const VariableId tensor = fuse::region_of(kernel, run[i]).tensor;
    if (program.objects[tensors.at(tensor).object].memory < 0) continue;
    if (meets(stored, tensor) || (store && meets(loaded, tensor))) return i;
    (store ? stored : loaded).push_back(tensor);
  }
  return run.size();
}

}  // namespace trilith::codegen::ascendc
