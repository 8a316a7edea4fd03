// Tiles that are read or written where their tensor lies, without a buffer: operands of products and of remote stores that
// are nothing but a load, products and remote loads that are only stored.
#include "codegen/error.hpp"
#include "codegen/remote.hpp"
#include "codegen/xsimd/context.hpp"

#include <algorithm>

namespace trilith::codegen::xsimd {
namespace {

struct Candidates {
  explicit Candidates(std::size_t variables) : product_reads(variables), sent(variables), loaded(variables) {}
  // By VariableId.
  std::vector<int> product_reads;  ///< as a matrix of a product
  std::vector<bool> sent;          ///< by a remote store with nothing that changes memory in front of it
  std::vector<const Statement*> loaded;  ///< where a load gives its value
};

/// The remote stores of tiles that are loaded in the same list, with only assignments of tiles and scalars in between.
void collect_sent(std::span<const Statement> list, Candidates& found) {
  std::vector<VariableId> fresh;
  for (const Statement& statement : list) {
    const Expr& value = statement.value;
    if (statement.kind == StatementKind::Evaluate && value.op == Op::RemoteStore) {
      const Expr& tile = value.operands[static_cast<std::size_t>(remote_operands(value).tile)];
      if (std::ranges::find(fresh, tile.variable) != fresh.end()) found.sent[tile.variable] = true;
    }
    if (statement.kind != StatementKind::Assign || (is_remote(value.op) && !is_rank_scalar(value.op)))
      fresh.clear();
    else if (value.op == Op::Load)
      fresh.push_back(statement.variable);
  }
}

void collect(const Kernel& kernel, std::span<const Statement> list, Candidates& found) {
  collect_sent(list, found);
  for (const Statement& statement : list) {
    for (const auto* body : {&statement.body, &statement.else_body, &statement.step_body})
      collect(kernel, *body, found);
    if (statement.kind != StatementKind::Assign) continue;
    const Expr& value = statement.value;
    if (value.op == Op::Load) found.loaded[statement.variable] = &statement;
    if (operation(value.op).group != Group::Linear) continue;
    const std::size_t first = value.op == Op::MatmulAcc ? 1 : 0;
    for (const std::size_t i : {first, first + 1})
      if (value.operands[i].op == Op::Variable) ++found.product_reads[value.operands[i].variable];
  }
}

/// " + row * 64 + column": the first element of a region.
std::string offset_of(Context& context, const fuse::Region& region) {
  TensorInfo& tensor = context.tensors.at(region.tensor);
  std::string offset;
  for (std::size_t axis = 0; axis < tensor.strides.size(); ++axis) {
    const Expr& at = region.offsets->operands[axis];
    if (!tensor.run_time_strides[axis].empty()) tensor.uses_stride[axis] = true;
    if (at.is_constant() && at.value.as_int64() == 0) continue;
    const Product& stride = tensor.strides[axis];
    offset += " + " + (at.is_constant() ? (Product{at.value.as_int64(), {}} * stride).text()
                                        : context.index(at) + (stride.is(1) ? "" : " * " + stride.text()));
  }
  return offset;
}

bool starts_at_zero(const Expr& offsets) {
  return std::ranges::all_of(offsets.operands,
                             [](const Expr& at) { return at.is_constant() && at.value.as_int64() == 0; });
}

/// Its elements lie side by side.
bool is_dense(const Context& context, const fuse::Region& region) {
  const std::vector<Product>& strides = context.tensors.at(region.tensor).strides;
  Product dense;
  for (std::size_t axis = strides.size(); axis-- > 0;) {
    if (region.shape[axis].is(1)) continue;
    if (strides[axis] != dense) return false;
    dense = dense * context.product(region.shape[axis]);
  }
  return true;
}

std::vector<Product> strides_of(const TensorInfo& tensor, std::size_t rank) {
  return {tensor.strides.end() - static_cast<std::ptrdiff_t>(rank), tensor.strides.end()};
}

}  // namespace

void Context::find_views() {
  Candidates found(kernel.variables.size());
  collect(kernel, kernel.body, found);
  for (VariableId id = 0; id < static_cast<VariableId>(kernel.variables.size()); ++id) {
    const Statement* load = found.loaded[id];
    if (load == nullptr || uses.writes[id] != 1 || uses.reads[id] == 0) continue;
    const VariableId source = load->value.operands[0].variable;
    // What is only read has no memory in common with what the kernel writes; peers write a window at any time.
    const bool is_operand = uses.reads[id] == found.product_reads[id] &&
                            tensors.at(source).access == Access::In && !is_window(kernel, source);
    const bool is_sent =
        uses.reads[id] == 1 && found.sent[id] && is_dense(*this, fuse::region_of(kernel, *load));
    if (!is_operand && !is_sent) continue;
    const Type& type = kernel.variables[id].type;
    View view{tensors.at(source).name, strides_of(tensors.at(source), type.shape.size())};
    if (!starts_at_zero(load->value.operands[1])) view.pointer = names.fresh(variables[id] + "_at");
    views.emplace(id, std::move(view));
    uses.reads[id] = 0;  // no loop nest and no buffer need its value
  }
}

void Context::set_view(const Statement& statement) {
  if (!fuse::is_tile_assign(kernel, statement)) return;
  const auto found = views.find(statement.variable);
  if (found == views.end()) return;
  const fuse::Region region = fuse::region_of(kernel, statement);
  const std::string offset = offset_of(*this, region);
  if (offset.empty()) return;
  const View& view = found->second;
  declarations.push_back("const " + type_name(kernel.variables[statement.variable].type.dtype) + "* " +
                         view.pointer + " = nullptr;");
  out.line(view.pointer + " = " + tensors.at(region.tensor).name + offset + ";");
}

bool Context::is_only_stored(std::span<const Statement> list) const {
  if (list.size() < 2 || list[0].kind != StatementKind::Assign || !fuse::is_store(list[1])) return false;
  const Expr& tile = list[1].value.operands[0];
  const VariableId id = list[0].variable;
  return tile.op == Op::Variable && tile.variable == id && uses.writes[id] == 1 && uses.reads[id] == 1 &&
         list[1].value.attributes.atomic == Atomic::None;
}

std::size_t Context::remote_load_and_store(std::span<const Statement> list) {
  if (!is_only_stored(list) || list[0].value.op != Op::RemoteLoad) return 0;
  const fuse::Region region = fuse::region_of(kernel, list[1]);
  if (!is_dense(*this, region)) return 0;
  comment(list[1]);
  const TensorInfo& tensor = tensors.at(region.tensor);
  std::string place = tensor.name + offset_of(*this, region);
  // What is wrong with the load is told first, as where each runs by itself: without a place it only looks for that.
  if (const std::string outside = leaves_tensor(list[1]); !outside.empty())
    place = outside + " ? nullptr : " + place;
  views.emplace(list[0].variable, View{place, strides_of(tensor, list[0].value.type.shape.size())});
  remote(list[0]);
  check(list[1]);
  return 2;
}

std::size_t Context::product_and_store(std::span<const Statement> list) {
  if (!is_only_stored(list) || operation(list[0].value.op).group != Group::Linear) return 0;
  const Expr& product = list[0].value;
  const VariableId id = list[0].variable;
  const fuse::Region region = fuse::region_of(kernel, list[1]);
  const TensorInfo& tensor = tensors.at(region.tensor);
  const std::vector<Dim>& shape = product.type.shape;
  const std::vector<Product> strides = strides_of(tensor, shape.size());
  if (!strides.back().is(1)) return 0;
  // A single column is contiguous, too.
  if (shape.size() >= 2 && shape.back().is(1) && !strides[shape.size() - 2].is(1)) return 0;
  comment(list[1]);
  views.emplace(id, View{tensor.name + offset_of(*this, region), strides});
  tile_call(list[0], &list[1]);
  return 2;
}

}  // namespace trilith::codegen::xsimd
