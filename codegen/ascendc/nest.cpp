// A nest's rounds over rows and columns, and in them the values of one block, each computed when it is first needed.
#include "codegen/ascendc/nest.hpp"

#include "codegen/ascendc/lowering.hpp"
#include "codegen/ascendc/reduction.hpp"
#include "codegen/error.hpp"

#include <algorithm>

namespace trilith::codegen::ascendc {

using fuse::Root;
using fuse::RootKind;
using fuse::Stage;
using fuse::Value;
using fuse::ValueId;
using fuse::ValueKind;

namespace {

std::string rest_of(const Extent& extent, const std::string& at, std::int64_t step) {
  const std::string left = extent.text() + " - " + at, most = std::to_string(step);
  return left + " < " + most + " ? " + left + " : " + most;
}

}  // namespace

void Nest::emit() {
  c.location = nest_.roots.front().statement->location;
  collect();
  collapse();
  choose_block();
  const bool empty = std::ranges::any_of(loops_, [](const Loop& loop) { return loop.extent.is(0); });
  if (empty || (!nest_.column && row_extent_.is(0))) return;
  ++c.nests;
  if (c.has_jumps) c.open("{", false);
  // Chunks of a row may be none; a row in one block has something in it.
  const bool in_chunks = reduces_columns_ || (!nest_.column && block_.max_columns < inner_extent_.most);
  if (inner_extent_.is_constant() || in_chunks) {
    walk();
  } else {
    const Extent columns = inner_extent_;
    c.open("if (" + columns.text() + " > 0) {", false);
    if (columns.most > 1) block_.columns = counted("columns", columns);
    walk();
    const bool has_row_results = std::ranges::any_of(
        writes_, [](const Stream& stream) { return stream.object >= 0 && stream.inner.is(0); });
    if (!nest_.column && has_row_results) {
      // What is reduced over nothing, and what follows from it.
      c.otherwise();
      inner_extent_ = 0;
      choose_block();
      walk();
    }
    c.close();
  }
  if (c.has_jumps) c.close();
}

void Nest::walk() {
  spreads_ = !nest_.column && c.depth == 0 && (row_extent_.most > 1 || is_elementwise());
  c.spreads = spreads_;
  next_in_ = next_out_ = hoisted_in_ = 0;
  open_scope();
  for (Loop& loop : loops_) {
    loop.variable = c.names.fresh("i");
    c.open("for (" + c.index_type + " " + loop.variable + " = 0; " + loop.variable + " < " +
           loop.extent.text() + "; ++" + loop.variable + ") {");
    c.turns(static_cast<double>(loop.extent.most));
  }
  open_scope();
  if (nest_.column)
    column_rounds();
  else
    rounds();
  close_scope();
  for (std::size_t i = 0; i < loops_.size(); ++i) c.close();
  close_scope();
}

/// A number of rows or columns that only the run knows, as what counts of operations are.
Amount Nest::counted(const std::string& hint, const Extent& extent) {
  const Amount count{1, c.names.fresh(hint)};
  c.line(Pipe::None, "const int32_t " + count.name + " = static_cast<int32_t>(" + extent.text() + ");");
  return count;
}

void Nest::close_scope() {
  for (const ObjectId object : scopes_.back().in)
    c.program.nodes.push_back({.kind = Node::Kind::Free, .object = object, .location = c.location});
  scopes_.pop_back();
}

/// "for (…; row < extent; row += step) {" and the count of the last round, where it is another.
bool Nest::open_rounds(const std::string& hint, const Extent& extent, std::int64_t step,
                       std::string& variable, Amount& count) {
  if (step >= extent.most) {
    if (extent.is_constant()) return false;
    c.open("if (" + extent.text() + " > 0) {", false);
    if (extent.most > 1) count = counted(hint + "s", extent);
    return true;
  }
  variable = c.names.fresh(hint);
  const bool spread = c.tiling.cores > 1 && spreads_;
  spreads_ = false;
  std::string first = "0", next = std::to_string(step);
  if (spread) {
    c.rounds = (extent.most + step - 1) / step;
    first = "static_cast<" + c.index_type + ">(AscendC::GetBlockIdx()) * " + next;
    next = "static_cast<" + c.index_type + ">(AscendC::GetBlockNum()) * " + next;
  }
  c.open("for (" + c.index_type + " " + variable + " = " + first + "; " + variable + " < " + extent.text() +
         "; " + variable + " += " + next + ") {");
  c.turns(static_cast<double>(extent.most) / static_cast<double>(step));
  c.program.nodes.back().spreads = spread;
  if (step > 1 && (!extent.is_constant() || extent.most % step != 0)) {
    const std::string rest = rest_of(extent, variable, step);
    count = {1, c.names.fresh(hint + "s")};
    c.line(Pipe::None, "const int32_t " + count.name + " = " +
                           (extent.is_constant() ? rest : "static_cast<int32_t>(" + rest + ")") + ";");
  }
  return true;
}

void Nest::close_rounds(std::string& variable, Amount& count, std::int64_t step) {
  c.close();
  variable.clear();
  count = {step};
}

/// What is the same for all rounds is loaded in front of them.
void Nest::hoist() {
  if (block_.max_rows >= row_extent_.most || inner_extent_.is(0)) return;
  twice_ = c.depth > 0 || !loops_.empty();
  for (auto& [id, stream] : reads_)
    if (stream.global && stream.rows.is(0) &&
        (block_.max_columns == inner_extent_.most || stream.inner.is(0)))
      get(id);
  hoisted_in_ = next_in_;
}

void Nest::rounds() {
  hoist();
  const bool many = open_rounds("row", row_extent_, block_.max_rows, row_, block_.rows);
  twice_ = repeats_;
  next_in_ = hoisted_in_;
  open_scope();
  if (block_.max_columns < inner_extent_.most)
    chunks(nest_.stages);
  else
    block();
  close_scope();
  if (many) close_rounds(row_, block_.rows, block_.max_rows);
}

void Nest::block() {
  first_mine_ = static_cast<ObjectId>(c.program.objects.size());
  next_out_ = 0;
  roots(nest_.roots);
  flush();
}

/// A row that does not fit: every stage walks it in chunks, loading again what it needs.
void Nest::chunks(const std::vector<Stage>& stages) {
  for (const Stage& stage : stages) {
    first_mine_ = static_cast<ObjectId>(c.program.objects.size());
    next_out_ = 0;
    if (!inner_extent_.is(0))
      for (const ValueId id : stage.row_values) get(id);
    std::vector<ValueId> pass = stage.reductions;
    for (const Root& each : stage.roots) pass.push_back(each.value);
    roots(stage.row_roots, pass);
    flush();
    if (!stage.has_pass()) continue;
    std::map<ValueId, Tile> totals = start_totals(stage.reductions);
    if (inner_extent_.is(0)) {
      finish_totals(totals);
      continue;
    }
    const int row_in = next_in_;
    const bool many = open_rounds("column", inner_extent_, block_.max_columns, column_, block_.columns);
    open_scope();
    first_mine_ = static_cast<ObjectId>(c.program.objects.size());
    for (const ValueId id : stage.reductions) add_columns(id, totals.at(id));
    roots(stage.roots);
    flush();
    close_scope();
    next_in_ = row_in;
    if (many) close_rounds(column_, block_.columns, block_.max_columns);
    finish_totals(totals);
  }
}

std::size_t Nest::index_of(const Root& root) const {
  const auto found = std::ranges::find_if(nest_.roots, [&](const Root& other) {
    return other.kind == root.kind && other.value == root.value && other.statement == root.statement;
  });
  return static_cast<std::size_t>(found - nest_.roots.begin());
}

/// Elements that become one of a total.
Extent Nest::reduced_extent() const {
  return nest_.column && !reduces_columns_ ? row_extent_ : inner_extent_;
}

std::map<ValueId, Tile> Nest::start_totals(const std::vector<ValueId>& reductions) {
  std::map<ValueId, Tile> totals;
  for (const ValueId id : reductions) {
    const Expr& expr = *plan_.values[id].expr;
    if (const std::string reason = refusal(expr.op, expr.type.dtype); !reason.empty())
      c.refuse(operation(expr.op).name, expr.type.dtype, reason, plan_.values[id].statement->location);
    const Reduction reduction = reduction_of(*plan_.values[id].expr, reduced_extent());
    const bool columns = nest_.column && !reduces_columns_ && inner_extent_.most > 1;
    totals[id] = v.duplicate(reduction.accumulator, reduction.neutral, false, columns);
    name(totals[id], plan_.values[id].variable);
  }
  return totals;
}

/// One chunk's columns are folded and added to the total of the row.
void Nest::add_columns(ValueId id, const Tile& total) {
  const Value& value = plan_.values[id];
  const Reduction reduction = reduction_of(*value.expr, inner_extent_);
  const Held operand = get(value.operands[0].value);
  c.comment(*value.statement);
  const Tile all =
      prepare(v, reduction, tile_of(operand, plan_.values[value.operands[0].value].dtype, false, true));
  combine(v, reduction, total, v.reduce_columns(reduction.fold, all));
}

void Nest::finish_totals(const std::map<ValueId, Tile>& totals) {
  for (const auto& [id, total] : totals) {
    const Value& value = plan_.values[id];
    const Tile result = finish(v, reduction_of(*value.expr, reduced_extent()), total);
    scopes_.back().held[id] = {{result, {}}, {}};
  }
}

void Nest::column_rounds() {
  static const Stage nothing;
  const Stage& body = nest_.stages.empty() ? nothing : nest_.stages[0];
  if (reduces_columns_) {
    open_scope();
    chunks({body});
    column_end();
    close_scope();
    return;
  }
  const bool chunked = block_.max_columns < inner_extent_.most;
  const bool many_columns =
      chunked && open_rounds("column", inner_extent_, block_.max_columns, column_, block_.columns);
  open_scope();
  twice_ = c.depth > 0 || !loops_.empty() || many_columns;
  std::map<ValueId, Tile> totals = start_totals(body.reductions);
  if (!row_extent_.is(0) && !inner_extent_.is(0)) {
    const bool many = open_rounds("row", row_extent_, block_.max_rows, row_, block_.rows);
    twice_ = repeats_;
    open_scope();
    next_in_ = next_out_ = 0;
    first_mine_ = static_cast<ObjectId>(c.program.objects.size());
    std::vector<Root> all_roots = body.roots;
    all_roots.insert(all_roots.end(), body.row_roots.begin(), body.row_roots.end());
    roots(all_roots, body.reductions);
    for (const ValueId id : body.reductions) {
      const Value& value = plan_.values[id];
      const Reduction reduction = reduction_of(*value.expr, row_extent_);
      const Held operand = get(value.operands[0].value);
      c.comment(*value.statement);
      const Tile all = prepare(v, reduction,
                               tile_of(operand, plan_.values[value.operands[0].value].dtype,
                                       block_.max_rows > 1, inner_extent_.most > 1));
      combine_rows(v, reduction, totals.at(id), all);
    }
    flush();
    close_scope();
    if (many) close_rounds(row_, block_.rows, block_.max_rows);
  }
  finish_totals(totals);
  column_end();
  close_scope();
  if (many_columns) close_rounds(column_, block_.columns, block_.max_columns);
}

/// What follows from the columns' totals alone.
void Nest::column_end() {
  if (nest_.stages.size() < 2) return;
  next_in_ = next_out_ = 0;
  first_mine_ = static_cast<ObjectId>(c.program.objects.size());
  std::vector<Root> all_roots = nest_.stages[1].row_roots;
  all_roots.insert(all_roots.end(), nest_.stages[1].roots.begin(), nest_.stages[1].roots.end());
  roots(all_roots);
  flush();
}

Held Nest::get(ValueId id) {
  for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope)
    if (const auto found = scope->held.find(id); found != scope->held.end()) return found->second;
  const Value& value = plan_.values[id];
  if (value.expr != nullptr)
    if (const std::string reason = refusal(value.expr->op, value.dtype); !reason.empty() && is_leaf(value))
      c.refuse(operation(value.expr->op).name, value.dtype, reason, value.statement->location);
  Held held;
  if (const auto stream = reads_.find(id); stream != reads_.end()) {
    if (value.statement != nullptr && value.kind == ValueKind::Load) c.comment(*value.statement);
    held = load(id, stream->second);
  } else if (value.kind == ValueKind::Full) {
    held.operand.scalar = c.element(*value.operands[0].scalar, value.dtype);
  } else {
    held = compute(id);
  }
  if (!held.operand.is_scalar()) name(held.operand.tile, value.variable);
  scopes_.back().held[id] = held;
  return held;
}

Held Nest::compute(ValueId id) {
  const Value& value = plan_.values[id];
  if (value.kind == ValueKind::RowReduce) {
    if (const std::string reason = refusal(value.expr->op, value.dtype); !reason.empty())
      c.refuse(operation(value.expr->op).name, value.dtype, reason, value.statement->location);
    const Reduction reduction = reduction_of(*value.expr, inner_extent_);
    if (inner_extent_.is(0)) return {{{}, empty_result(reduction, value.dtype)}, {}};
    const ValueId from = value.operands[0].value;
    const Held operand = get(from);
    c.comment(*value.statement);
    const bool rows = !operand.operand.is_scalar() && operand.operand.tile.rows;
    const Tile all =
        prepare(v, reduction, tile_of(operand, plan_.values[from].dtype, rows, inner_extent_.most > 1));
    if (inner_extent_.most == 1) return {{finish(v, reduction, all), {}}, {}};
    return {{finish(v, reduction, v.reduce_columns(reduction.fold, all)), {}}, {}};
  }
  if (value.kind == ValueKind::ColReduce)
    throw pl::InternalError("AscendC emitter: a column reduction that is late");
  Call call{v, c, *value.expr, DType::Float32, {}};
  const Expr& decides = value.expr->operands[value.expr->op == Op::Where ? 1 : 0];
  call.dtype = decides.type.dtype;
  bool larger = false;
  for (const fuse::Operand& operand : value.operands) {
    if (operand.value >= 0)
      call.operands.push_back(get(operand.value));
    else
      call.operands.push_back({{{}, c.element(*operand.scalar, operand.scalar->type.dtype)}, {}});
    const Operand& last = call.operands.back().operand;
    larger = larger || (!last.is_scalar() && !v.is_one(last.tile));
  }
  // One element beside many is a scalar.
  if (larger)
    for (Held& held : call.operands)
      if (!held.operand.is_scalar() && v.is_one(held.operand.tile))
        held = {{{}, scalar_of(held.operand.tile)}, {}};
  c.comment(*value.statement);
  if (const std::string reason = refusal(value.expr->op, call.dtype); !reason.empty())
    c.refuse(operation(value.expr->op).name, call.dtype, reason, value.statement->location);
  return lower(call);
}

/// The element of a tile of one, read once in the level of the loops where it is read first.
std::string Nest::scalar_of(const Tile& tile) {
  for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope)
    if (const auto found = scope->elements.find(v.text(tile)); found != scope->elements.end())
      return found->second;
  return scopes_.back().elements[v.text(tile)] = v.read(tile);
}

Tile Nest::tile_of(const Held& held, DType dtype, bool rows, bool columns) {
  if (held.operand.is_scalar()) return v.duplicate(held_as(dtype), held.operand.scalar, rows, columns);
  const Tile& tile = held.operand.tile;
  return v.expand(tile, rows || tile.rows, columns || tile.columns);
}

void Nest::name(const Tile& tile, VariableId variable) {
  Object& object = c.program.objects[tile.object];
  if (object.name.empty() && variable != no_variable) object.name = c.tile_name(variable);
}

/// A tile that this block computed and nothing else holds.
bool Nest::is_mine(const Tile& tile) const {
  const Object& object = c.program.objects[tile.object];
  return tile.object >= first_mine_ && object.kind == Object::Kind::Calc && object.alias < 0 &&
         tile.at.is_zero() && object.dtype == tile.dtype;
}

bool Nest::lies_as_block(const Stream& stream, const Address& at, bool rows, bool columns, DType held) const {
  if (columns && !stream.inner.is(1)) return false;
  if (rows && !(columns ? stream.rows.is(block_.pitch) : stream.rows.is(1))) return false;
  const std::int64_t block = per_block(held);
  if (at.constant % block != 0) return false;
  for (const Amount& stride : stream.strides)
    if (stride.factor % block != 0) return false;
  if (row_.empty()) return true;
  return stream.rows.factor % block == 0 || (stream.rows.is(1) && block_.max_rows % block == 0);
}

/// Roots in order; `then` is what the same rounds compute behind them.
void Nest::roots(const std::vector<Root>& list, const std::vector<ValueId>& then) {
  for (auto at = list.begin(); at != list.end(); ++at) {
    later_ = then;
    for (auto next = at + 1; next != list.end(); ++next) later_.push_back(next->value);
    root(index_of(*at));
  }
}

/// A root overwrites `object`: what later roots read there as it was before is loaded, or copied, now.
void Nest::set_aside(ObjectId object) {
  std::vector<bool> seen(plan_.values.size());
  for (const ValueId id : later_) set_aside(object, id, seen);
}

void Nest::set_aside(ObjectId object, ValueId id, std::vector<bool>& seen) {
  if (seen[id]) return;
  seen[id] = true;
  if (from_memory(id)) {
    if (reads_.at(id).object == object) (void)get(id);
  } else {
    for (const fuse::Operand& operand : plan_.values[id].operands)
      if (operand.value >= 0) set_aside(object, operand.value, seen);
  }
  for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope) {
    const auto found = scope->held.find(id);
    if (found == scope->held.end()) continue;
    Held held = found->second;
    if (held.operand.is_scalar() || resolve(held.operand.tile.object) != object) return;
    held.operand.tile = v.copy(held.operand.tile);
    scopes_.back().held[id] = held;
    return;
  }
}

void Nest::root(std::size_t number) {
  const Root& root = nest_.roots[number];
  const Stream& stream = writes_[number];
  if (root.kind == RootKind::Reduce && stream.object < 0) return;
  const Value& value = plan_.values[root.value];
  const bool rows = block_.max_rows > 1 && !stream.rows.is(0),
             columns = inner_extent_.most != 1 && !stream.inner.is(0);
  if (columns && inner_extent_.is(0)) return;
  if (next_out_ >= c.tiling.queue_limit) {
    for (const Pending& pending : pending_) set_aside(pending.stream->object);
    flush();
  }
  if (!stream.global) set_aside(stream.object);
  const Held held = get(root.value);
  c.location = root.statement->location;
  if (root.kind == RootKind::Store) c.comment(*root.statement);
  Tile tile = tile_of(held, value.dtype, rows, columns);
  const Address at = address(stream);
  if (!stream.global) {
    const bool one = !rows && !columns;
    if (!lies_as_block(stream, at, rows, columns, tile.dtype) && !(one && at.is_zero()))
      throw Spill{stream.name};
    keep(tile, {stream.object, tile.dtype, rows, columns, at});
    return;
  }
  tile.rows = rows;
  tile.columns = columns;
  if (root.kind == RootKind::Store || stream.dtype == value.dtype) tile = to_storage(tile, value.dtype);
  if (!vector_stride(tile, stream).is(1)) tile = spread(tile);
  if (!is_mine(tile) || is_older_than_flush(tile.object)) tile = v.copy(tile);
  Object& object = c.program.objects[tile.object];
  object.kind = Object::Kind::Out;
  if (object.name.empty()) object.name = c.names.fresh(stream.name + "_tile");
  object.queue = c.queue(false, next_out_++, object.bytes, twice_ ? buffers_ : 1);
  declaration_of(tile.object)->kind = Node::Kind::Alloc;
  pending_.push_back({tile, &stream});
}

std::vector<Node>::reverse_iterator Nest::declaration_of(ObjectId object) {
  return std::ranges::find_if(c.program.nodes.rbegin(), c.program.nodes.rend(), [&](const Node& node) {
    return node.kind == Node::Kind::Declare && node.object == object;
  });
}

/// A buffer of a queue for it would be taken before those of the tensors that were flushed have been freed.
bool Nest::is_older_than_flush(ObjectId object) {
  const auto declared = declaration_of(object);
  return declared != c.program.nodes.rend() &&
         static_cast<std::size_t>(c.program.nodes.rend() - declared) <= flushed_;
}

/// A computed tile becomes a part of one that outlives the nest, or is copied where that is still read afterwards.
void Nest::keep(const Tile& tile, const Tile& home) {
  bool takes = is_mine(tile) && tile.dtype == home.dtype;
  if (takes) {
    bool written = false;
    for (const Node& node : c.program.nodes)
      for (const Touch& touch : node.touches) {
        if (touch.object == tile.object && touch.writes) written = true;
        if (written && resolve(touch.object) == home.object && touch.object != tile.object) takes = false;
      }
  }
  if (!takes) return v.copy_into(home, tile);
  Object& object = c.program.objects[tile.object];
  object.alias = home.object;
  object.part = home.at.is_zero() ? "" : "[" + home.at.text() + "]";
  object.part_offset = home.at.is_constant() ? home.at.constant * bytes_of(home.dtype) : -1;
}

ObjectId Nest::resolve(ObjectId object) const {
  while (c.program.objects[object].alias >= 0) object = c.program.objects[object].alias;
  return object;
}

void Nest::flush() {
  for (const Pending& pending : pending_) {
    c.location = pending.tile.object >= 0 ? c.program.objects[pending.tile.object].location : c.location;
    c.program.nodes.push_back(
        {.kind = Node::Kind::EnQue, .object = pending.tile.object, .location = c.location});
    c.program.nodes.push_back(
        {.kind = Node::Kind::DeQue, .object = pending.tile.object, .location = c.location});
    store(pending.tile, *pending.stream);
    free(pending.tile);
    for (Scope& scope : scopes_)
      std::erase_if(scope.held, [&](const auto& entry) {
        return !entry.second.operand.is_scalar() && entry.second.operand.tile.object == pending.tile.object;
      });
  }
  if (!pending_.empty()) flushed_ = c.program.nodes.size();
  pending_.clear();
  next_out_ = 0;
}

}  // namespace trilith::codegen::ascendc
