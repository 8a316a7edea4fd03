#include "codegen/ascendc/context.hpp"

#include "codegen/error.hpp"
#include "codegen/printer.hpp"

#include <algorithm>

namespace trilith::codegen::ascendc {

void Address::add(const Amount& stride, const std::string& variable) {
  if (stride.is(0)) return;
  if (variable == "1" && stride.is_constant()) {
    constant += stride.factor;
    return;
  }
  if (variable == "1") {
    terms.push_back(stride.text());
    return;
  }
  const bool simple = variable.find(' ') == std::string::npos;
  if (stride.is(1))
    terms.push_back(variable);
  else
    terms.push_back((simple ? variable : "(" + variable + ")") + " * " + stride.text());
}

void Address::add(const Address& other) {
  constant += other.constant;
  terms.insert(terms.end(), other.terms.begin(), other.terms.end());
}

Extent Extent::times(const Extent& other) const {
  if (is_constant() && other.is_constant()) return most * other.most;
  if (is(1) || other.is(0)) return other;
  if (is(0)) return 0;
  return {most * other.most, other.is(1) ? name : text() + " * " + other.text()};
}

Extent product_of(std::span<const Extent> extents) {
  Extent product = 1;
  for (const Extent& extent : extents) product = product.times(extent);
  return product;
}

std::vector<Amount> dense_strides(std::span<const Extent> extents) {
  std::vector<Amount> strides(extents.size());
  for (std::size_t axis = 0; axis < extents.size(); ++axis)
    strides[axis] = product_of(extents.subspan(axis + 1)).amount();
  return strides;
}

bool View::is_dense() const {
  const std::vector<Amount> dense = dense_strides(extents);
  for (std::size_t axis = 0; axis < extents.size(); ++axis)
    if (!extents[axis].is(1) && strides[axis] != dense[axis]) return false;
  return true;
}

std::string Address::text() const {
  std::string text;
  for (const std::string& term : terms) text += (text.empty() ? "" : " + ") + term;
  if (constant != 0 || text.empty()) text += (text.empty() ? "" : " + ") + std::to_string(constant);
  return text;
}

DType held_as(DType dtype) {
  switch (dtype) {
    case DType::Bool: return DType::Float16;
    case DType::Int8:
    case DType::UInt8:
    case DType::Int16:
    case DType::UInt16:
    case DType::UInt32: return DType::Int32;
    case DType::BFloat16: return DType::Float32;
    case DType::UInt64: return DType::Int64;
    default: return dtype;
  }
}

std::string type_name(DType dtype) {
  constexpr const char* names[dtype_count] = {"bool",       "int8_t",   "int16_t",  "int32_t",  "int64_t",
                                              "uint8_t",    "uint16_t", "uint32_t", "uint64_t", "half",
                                              "bfloat16_t", "float",    "double"};
  return names[static_cast<int>(dtype)];
}

DType scalar_type(DType dtype) { return is_narrow_float(dtype) ? DType::Float32 : dtype; }

namespace {

/// Rows are padded so that tiles of every element size in the kernel begin them at a block of 32 bytes.
std::int64_t granule_of(const Kernel& kernel) {
  std::int64_t smallest = 4;
  for (const Variable& variable : kernel.variables)
    if (variable.type.is_tensor() || variable.type.is_tile()) {
      smallest = std::min(smallest, bytes_of(variable.type.dtype));
      if (variable.type.dtype == DType::Float16) smallest = std::min<std::int64_t>(smallest, 2);
    }
  return 32 / smallest;
}

/// All windows are one memory to the synchroniser: a peer may be this rank, and two views may be of one window.
ObjectId first_window(const std::vector<Object>& objects) {
  for (const Object& object : objects)
    if (object.memory >= 0) return object.memory;
  return static_cast<ObjectId>(objects.size()) - 1;
}

}  // namespace

Context::Context(const WithPeers& with, const Signature& signature_, const Tiling& tiling_)
    : kernel(with.kernel),
      signature(signature_),
      tiling(tiling_),
      uses(fuse::count_uses(with.kernel)),
      peer_parts(with.parts) {
  for (const char* taken : {"pipe", "workspace", "windows", "half", "tiles", "AscendC", "GM_ADDR", "Window",
                            "PartOf", "Notify", "Meeting", "meeting"})
    (void)names.fresh(taken);
  declared.assign(kernel.variables.size(), false);
  for (const Variable& variable : kernel.variables) variables.push_back(names.fresh(variable.name));
  granule = granule_of(kernel);
  int index = 0;
  for (std::size_t i = 0; i < kernel.parameters.size(); ++i) {
    const VariableId id = kernel.parameters[i].variable;
    const Variable& variable = kernel.variables[id];
    if (!variable.type.is_tensor()) continue;
    location = variable.location;
    TensorInfo info;
    info.index = index++;
    info.parameter = static_cast<int>(i);
    info.dtype = variable.type.dtype;
    info.access = kernel.parameters[i].access;
    info.argument = variables[id];
    info.extents = constant_extents(variable.type.shape);
    info.strides.resize(info.extents.size());
    info.passes_stride.assign(info.extents.size(), false);
    const Layout layout = i < signature.arguments.size() ? signature.arguments[i].layout : Layout::Dense;
    std::int64_t dense = 1;
    for (std::size_t axis = info.extents.size(); axis-- > 0;) {
      const bool fixed =
          layout == Layout::Dense || (layout == Layout::InnerDense && axis + 1 == info.extents.size());
      info.strides[axis] =
          fixed ? Amount{dense} : Amount{1, names.fresh(variables[id] + "_stride" + std::to_string(axis))};
      dense *= info.extents[axis];
    }
    if (dense >= std::int64_t{1} << 31) index_type = "int64_t";
    const bool known = std::ranges::all_of(info.strides, &Amount::is_constant);
    info.object = add_object({.kind = Object::Kind::Global,
                              .name = names.fresh(variables[id] + "_gm"),
                              .dtype = info.dtype,
                              .bytes = known ? dense * bytes_of(info.dtype) : 0});
    if (kernel.parameters[i].window) program.objects[info.object].memory = first_window(program.objects);
    tensors.emplace(id, std::move(info));
  }
}

ObjectId Context::add_object(Object object) {
  object.location = location;
  program.objects.push_back(std::move(object));
  return static_cast<ObjectId>(program.objects.size()) - 1;
}

std::string Context::name(ObjectId object) { return "\x01" + std::to_string(object) + "\x01"; }

std::string Context::tile_name(VariableId variable) {
  return named.insert(variable).second ? variables[variable] : names.fresh(variables[variable]);
}

void Context::line(Pipe pipe, std::string text, std::vector<Touch> touches, bool in_place) {
  program.nodes.push_back({.kind = Node::Kind::Code,
                           .text = std::move(text),
                           .pipe = pipe,
                           .touches = std::move(touches),
                           .in_place = in_place,
                           .location = location});
}

void Context::note(const std::string& text) {
  program.nodes.push_back({.kind = Node::Kind::Comment, .text = "// " + text, .location = location});
}

void Context::comment(const Statement& statement) {
  location = statement.location;
  std::string text;
  if (statement.kind == StatementKind::Assign) text = kernel.variables[statement.variable].name + " = ";
  text += to_text(kernel, statement.value);
  for (char& character : text)
    if (character == '\n') character = ' ';
  // A backslash at the end would make the next line part of the comment.
  while (!text.empty() && (text.back() == '\\' || text.back() == ' ')) text.pop_back();
  note(place_text(statement.location) + ": " + text);
}

void Context::open(const std::string& text, bool loop) {
  program.nodes.push_back({.kind = loop ? Node::Kind::Open : Node::Kind::Branch,
                           .text = text,
                           .location = location,
                           .turns = loop ? unknown_turns : 1});
}

void Context::otherwise() {
  program.nodes.push_back({.kind = Node::Kind::Else, .text = "} else {", .location = location});
}

void Context::close() {
  program.nodes.push_back({.kind = Node::Kind::Close, .text = "}", .location = location});
}

int Context::queue(bool in, int number, std::int64_t bytes, int buffers) {
  int seen = -1;
  int at = -1;
  for (int i = 0; i < static_cast<int>(program.queues.size()); ++i)
    if (program.queues[i].in == in && ++seen == number) at = i;
  if (at < 0) {
    at = static_cast<int>(program.queues.size());
    program.queues.push_back({in, names.fresh((in ? "in" : "out") + std::to_string(number)), 1, 0});
  }
  Queue& queue = program.queues[at];
  queue.bytes = std::max(queue.bytes, bytes);
  queue.buffers = std::max(queue.buffers, buffers);
  doubled = doubled || buffers > 1;
  return at;
}

pl::Location Context::place(const SourceLocation& at) const {
  return {at.file < kernel.files.size() ? kernel.files[at.file] : "", at.line, at.column};
}

std::string Context::place_text(const SourceLocation& at) const {
  if (at.line == 0 || at.file >= kernel.files.size()) return "?";
  const std::string& file = kernel.files[at.file];
  const auto slash = file.find_last_of('/');
  return (slash == std::string::npos ? file : file.substr(slash + 1)) + ":" + std::to_string(at.line);
}

void Context::refuse(std::string_view operation, DType dtype, const std::string& reason,
                     const SourceLocation& at) const {
  throw pl::UserError("AscendC: " + std::string(operation) + " of " + std::string(name_of(dtype)) +
                          " cannot be emitted: " + reason,
                      place(at));
}

Extent Context::extent(const Dim& dim, const SourceLocation& at) const {
  if (dim.is_constant()) return dim.extent;
  Expr number;
  number.op = Op::Variable;
  number.variable = dim.variable;
  number.type = Type::scalar(DType::Int64);
  const std::int64_t most = range_of(number, true).last;
  if (most == Range::none)
    throw pl::UserError("AscendC: the extent " + kernel.variables[dim.variable].name +
                            " is computed when the kernel runs and nothing says how large it can be, so "
                            "there is no room to plan "
                            "for its tile; load a tile of a constant shape with {.valid = {...}}, or bound "
                            "the number with std::min",
                        place(at));
  if (most <= 0) return 0;
  return {most, variables[dim.variable]};
}

std::vector<Extent> Context::extents(const std::vector<Dim>& shape, const SourceLocation& at) const {
  std::vector<Extent> result;
  for (const Dim& dim : shape) result.push_back(extent(dim, at));
  return result;
}

std::vector<std::int64_t> Context::constant_extents(const std::vector<Dim>& shape) const {
  std::vector<std::int64_t> result;
  for (const Dim& dim : shape) {
    if (!dim.is_constant())
      throw pl::UserError(
          "AscendC: the extent " + kernel.variables[dim.variable].name +
              " of a tensor is a number of the run; this target needs the extents of tensors: "
              "specialise it",
          place(location));
    result.push_back(dim.extent);
  }
  return result;
}

/// `stored`: in device memory, with the elements of its dtype.
Home Context::new_home(const std::string& hint, DType dtype, const std::vector<Extent>& shape, bool stored) {
  Home home;
  home.dtype = stored ? dtype : held_as(dtype);
  home.extents = shape;
  home.in_workspace = stored || tiling.spilled.contains(hint);
  home.strides.resize(home.extents.size());
  std::int64_t dense = 1;
  for (std::size_t axis = home.extents.size(); axis-- > 0;) {
    home.strides[axis] = dense;
    dense *= home.extents[axis].most;
    if (axis + 1 == home.extents.size() && !home.in_workspace && dense > 1) dense = pitch(dense);
  }
  Object object{.kind = home.in_workspace ? Object::Kind::Global : Object::Kind::Calc,
                .name = hint,
                .dtype = home.dtype,
                .bytes = round_up(std::max<std::int64_t>(dense, 1) * bytes_of(home.dtype), 256)};
  if (home.in_workspace) {
    object.workspace = workspace_bytes;
    workspace_bytes += round_up(object.bytes, 512);
    uses_workspace = true;
  }
  home.object = add_object(std::move(object));
  if (!home.in_workspace) program.homes.push_back(home.object);
  return home;
}

Home& Context::home_of(VariableId variable) {
  const auto found = homes.find(variable);
  if (found != homes.end()) return found->second;
  const Type& type = kernel.variables[variable].type;
  return homes
      .emplace(variable, new_home(variables[variable] + "_kept", type.dtype, extents(type.shape, location),
                                  of_calls.contains(variable)))
      .first->second;
}

}  // namespace trilith::codegen::ascendc
