// What a checked run is told of the parts of windows that a kernel loads and stores itself: a request to the host each,
// once their regions are known to fit. Operations on windows say it of themselves.
#include "codegen/remote.hpp"
#include "codegen/xsimd/request.hpp"

namespace trilith::codegen::xsimd {
namespace {

/// Where the elements of each tile are read, or all were made one number.
void find_element_places(std::span<const Statement> list, std::vector<SourceLocation>& places) {
  for (const Statement& statement : list) {
    for (const auto* body : {&statement.body, &statement.else_body, &statement.step_body})
      find_element_places(*body, places);
    if (statement.kind != StatementKind::Assign) continue;
    const Expr& value = statement.value;
    if (value.op == Op::Read) places[value.operands[0].variable] = value.location;
    if (value.op == Op::Full) places[statement.variable] = value.location;
  }
}

std::string joined(const std::vector<std::string>& items) {
  std::string text;
  for (const std::string& item : items) text += (text.empty() ? "" : ", ") + item;
  return text;
}

/// `mode`: an enumerator of abi::AccessMode. `line`, `rounds`: names of those of a single element that a loop moves on;
/// empty: the access is made once, at `offsets`.
void send(Context& context, VariableId tensor, const std::string& mode,
          const std::vector<std::string>& offsets, const std::vector<std::string>& shape,
          const SourceLocation& at, const std::string& line = {}, const std::string& rounds = {}) {
  Request request(context);
  const bool once = line.empty();
  const std::string offset_list = once ? request.array("offsets", joined(offsets)) : line + ".first";
  const std::string shape_list = request.array("shape", joined(shape));
  const std::string rank = std::to_string(shape.size());
  request.open("remote_access");
  request.field("window", std::to_string(context.tensors.at(tensor).index));
  request.field("other", "-1");
  request.field("mode", "pl::abi::" + mode);
  request.field("rank", rank);
  if (!once) request.field("other_rank", rank);
  request.field("offsets", offset_list);
  if (!once) request.field("other_offsets", line + ".steps");
  request.field("shape", shape_list);
  if (!once) request.field("value", rounds);
  request.place(at);
  request.send();
}

}  // namespace

std::string Context::access_mode(const Statement& statement) {
  if (element_places.empty()) {
    element_places.resize(kernel.variables.size());
    find_element_places(kernel.body, element_places);
  }
  const Expr& value = statement.value;
  const bool store = value.op == Op::Store;
  if (store && value.attributes.atomic == Atomic::Add) return "access_add";
  // pl::read and pl::write of a tensor are captured as a load and a store with a tile of the very same place.
  const VariableId tile = store ? value.operands[0].variable : statement.variable;
  const bool element = value.location.line != 0 && element_places[tile] == value.location;
  if (store) return element ? "access_write" : "access_store";
  return element ? "access_read" : "access_load";
}

void Context::report_access(const Statement& statement) {
  if (!signature.checked || told_ahead.contains(&statement)) return;
  const fuse::Region region = fuse::region_of(kernel, statement);
  if (!is_window(kernel, region.tensor)) return;
  std::vector<std::string> offsets, shape;
  for (const Expr& offset : region.offsets->operands) offsets.push_back(index(offset));
  for (const Dim& extent : region.shape) shape.push_back(dim(extent));
  send(*this, region.tensor, access_mode(statement), offsets, shape, statement.value.location);
}

void Context::report_accesses(const Statement& statement, const std::string& line,
                              const std::string& rounds) {
  const fuse::Region region = fuse::region_of(kernel, statement);
  const std::vector<std::string> shape(region.shape.size(), "1");
  send(*this, region.tensor, access_mode(statement), {}, shape, statement.value.location, line, rounds);
}

/// Each row whose number is one; the gather itself finds the others.
void Context::report_rows(const Statement& statement) {
  const Expr& value = statement.value;
  if (!signature.checked || (value.op != Op::LoadRow && value.op != Op::PagedGather)) return;
  const VariableId tensor = value.operands[0].variable;
  if (!is_window(kernel, tensor)) return;
  std::vector<std::string> offsets, shape;
  for (const Expr& offset : value.operands[1].operands) offsets.push_back(index(offset));
  for (const Expr& extent : value.operands[2].operands) shape.push_back(index(extent));
  const auto axis = static_cast<std::size_t>(value.attributes.axis);
  const std::string row = names.fresh("row"), number = names.fresh("number");
  const Expr& rows = value.operands[3];
  out.open("for (std::int64_t " + row + " = 0; " + row + " < " + count(rows.type.shape).text() + "; ++" +
           row + ") {");
  out.line("const auto " + number + " = static_cast<std::int64_t>(" + buffer_of(rows.variable).pointer() +
           "[" + row + "]);");
  out.line("if (device::outside(" + number + ", 1, " + shape[axis] + ")) continue;");
  offsets[axis] = offsets[axis] == "0" ? number : offsets[axis] + " + " + number;
  shape[axis] = "1";
  send(*this, tensor, value.op == Op::LoadRow ? "access_gather_row" : "access_paged_gather", offsets, shape,
       value.location);
  out.close();
}

}  // namespace trilith::codegen::xsimd
