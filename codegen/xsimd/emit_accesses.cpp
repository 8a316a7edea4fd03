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

/// `mode`: an enumerator of abi::AccessMode.
void send(Context& context, VariableId tensor, const char* mode, const std::vector<std::string>& offsets,
          const std::vector<std::string>& shape, const SourceLocation& at) {
  Request request(context);
  const std::string offset_list = request.array("offsets", joined(offsets));
  const std::string shape_list = request.array("shape", joined(shape));
  request.open("remote_access");
  request.field("window", std::to_string(context.tensors.at(tensor).index));
  request.field("other", "-1");
  request.field("mode", std::string("pl::abi::") + mode);
  request.field("rank", std::to_string(offsets.size()));
  request.field("offsets", offset_list);
  request.field("shape", shape_list);
  request.place(at);
  request.send();
}

}  // namespace

void Context::report_access(const Statement& statement) {
  if (!signature.checked) return;
  const fuse::Region region = fuse::region_of(kernel, statement);
  if (!is_window(kernel, region.tensor)) return;
  if (element_places.empty()) {
    element_places.resize(kernel.variables.size());
    find_element_places(kernel.body, element_places);
  }
  const Expr& value = statement.value;
  const bool store = value.op == Op::Store;
  // pl::read and pl::write of a tensor are captured as a load and a store with a tile of the very same place.
  const VariableId tile = store ? value.operands[0].variable : statement.variable;
  const bool element = value.location.line != 0 && element_places[tile] == value.location;
  const char* mode = element ? "access_read" : "access_load";
  if (store) mode = element ? "access_write" : "access_store";
  if (store && value.attributes.atomic == Atomic::Add) mode = "access_add";
  std::vector<std::string> offsets, shape;
  for (const Expr& offset : region.offsets->operands) offsets.push_back(index(offset));
  for (const Dim& extent : region.shape) shape.push_back(dim(extent));
  send(*this, region.tensor, mode, offsets, shape, value.location);
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
