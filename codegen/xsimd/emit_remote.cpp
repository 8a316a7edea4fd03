// Operations on windows: one request to the host each, at its place between the runs. Tiles stand in buffers there, and
// the call may change any memory, so no access moves across it.
#include "codegen/error.hpp"
#include "codegen/remote.hpp"
#include "codegen/xsimd/request.hpp"

#include <algorithm>
#include <string_view>

namespace trilith::codegen::xsimd {
namespace {

int mode_of(const Expr& call) {
  const Attributes& attributes = call.attributes;
  switch (call.op) {
    case Op::RemoteStore:
    case Op::RemotePut: return static_cast<int>(attributes.atomic);
    case Op::Notify: return static_cast<int>(attributes.notify);
    case Op::Wait: return static_cast<int>(attributes.compare);
    case Op::Allreduce:
    case Op::ReduceScatter:
    case Op::CommReduce:
      return static_cast<int>(attributes.reduce) + 4 * static_cast<int>(attributes.algorithm);
    default: return 0;
  }
}

class RemoteCall {
 public:
  RemoteCall(Context& context, const Statement& statement)
      : c_(context), statement_(statement), call_(statement.value), roles_(remote_operands(call_)) {}

  void emit() {
    Request request(c_);
    request_ = &request;
    const std::string offsets = list("offsets", roles_.offsets),
                      other_offsets = list("other_offsets", roles_.other_offsets), shape = this->shape(),
                      counts = cells("counts", roles_.counts), signal = cells("signal", roles_.signal);
    request.open(name_in_abi(call_.op));
    request.field("window", tensor(roles_.window));
    request.field("other", tensor(roles_.other));
    request.field("mode", std::to_string(mode_of(call_)));
    request.field("rank", rank(roles_.window));
    if (roles_.other >= 0) request.field("other_rank", rank(roles_.other));
    if (roles_.peer >= 0) request.field("peer", c_.index(operand(roles_.peer)));
    if (!offsets.empty()) request.field("offsets", offsets);
    if (!other_offsets.empty()) request.field("other_offsets", other_offsets);
    if (!shape.empty()) request.field("shape", shape);
    if (roles_.tile >= 0) request.field("data", memory_of(operand(roles_.tile).variable));
    if (call_.op == Op::RemoteLoad) request.field("data", memory_of(statement_.variable));
    if (roles_.value >= 0) request.field("value", c_.index(operand(roles_.value)));
    if (is_collective(call_.op)) request.field("value", std::to_string(call_.attributes.axis));
    request.place(statement_.location);
    if (roles_.to >= 0) request.field("to", c_.index(operand(roles_.to)));
    if (!counts.empty()) request.field("counts", "&" + counts);
    if (!signal.empty()) request.field("signal", "&" + signal);
    request.send();
    if (is_rank_scalar(call_.op))
      c_.out.line(c_.variables[statement_.variable] + " = static_cast<std::int32_t>(" + request.name() +
                  ".value);");
  }

 private:
  [[nodiscard]] const Expr& operand(int role) const { return call_.operands[static_cast<std::size_t>(role)]; }
  [[nodiscard]] const Type& parameter(int role) const {
    return c_.kernel.variables[operand(role).variable].type;
  }
  [[nodiscard]] std::string tensor(int role) const {
    return role < 0 ? "-1" : std::to_string(c_.tensors.at(operand(role).variable).index);
  }
  [[nodiscard]] std::string rank(int role) const {
    return role < 0 ? "0" : std::to_string(parameter(role).shape.size());
  }

  /// Of a tile. Requests only read those that are views of an input.
  [[nodiscard]] std::string memory_of(VariableId tile) const {
    const auto view = c_.views.find(tile);
    if (view == c_.views.end()) return c_.buffer_of(tile).pointer();
    return "const_cast<" + type_name(c_.kernel.variables[tile].type.dtype) + "*>(" + view->second.pointer +
           ")";
  }

  std::string list(const std::string& hint, int role) {
    if (role < 0) return {};
    std::string items;
    for (const Expr& item : operand(role).operands) items += (items.empty() ? "" : ", ") + c_.index(item);
    return request_->array(hint, items);
  }

  /// Declares the region of the cells and gives its name.
  std::string cells(const std::string& hint, const CellOperands& roles) {
    if (!roles.given()) return {};
    const std::string offsets = list(hint + "_offsets", roles.offsets),
                      shape = list(hint + "_shape", roles.shape);
    std::string name = c_.names.fresh(hint);
    c_.out.line("const pl::abi::Cells " + name + "{" + tensor(roles.window) + ", " + rank(roles.window) +
                ", " + offsets + ", " + shape + "};");
    return name;
  }

  /// The region's extents on the axes of the window: those of a tile with 1 on the axes that its view dropped.
  std::string shape() {
    if (roles_.shape >= 0) return list("shape", roles_.shape);
    if (roles_.tile < 0) return {};
    const std::vector<Dim>& tile = operand(roles_.tile).type.shape;
    std::string items;
    for (std::size_t axis = tile.size(); axis < parameter(roles_.window).shape.size(); ++axis)
      items += std::string(items.empty() ? "" : ", ") + "1";
    for (const Dim& dim : tile) items += (items.empty() ? "" : ", ") + c_.dim(dim);
    return request_->array("shape", items);
  }

  Context& c_;
  const Statement& statement_;
  const Expr& call_;
  RemoteOperands roles_;
  Request* request_ = nullptr;
};

}  // namespace

void Context::remote(const Statement& statement) {
  comment(statement);
  if (statement.value.op == Op::RemoteLoad && !views.contains(statement.variable))
    reserve(buffer_of(statement.variable), statement.location);
  if (is_rank_scalar(statement.value.op)) declare(statement.variable);
  RemoteCall(*this, statement).emit();
}

}  // namespace trilith::codegen::xsimd
