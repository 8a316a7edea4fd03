// Writer and reader stand side by side, one pair of functions a structure, members in one order. Members with
// their default value are left out, so equal kernels give equal text.
#include "codegen/json.hpp"

#include "codegen/error.hpp"
#include "codegen/remote.hpp"

#include <nlohmann/json.hpp>

#include <array>
#include <charconv>
#include <utility>

namespace trilith::codegen {
namespace {

using Json = nlohmann::ordered_json;

/// The reader recurses as deep as statements and expressions nest: without a limit, text of brackets alone
/// would overflow the stack of the thread that dispatches.
constexpr int deepest_nesting = 1000;

constexpr std::array type_kind_names{"void", "scalar", "tile", "tensor", "list"};
constexpr std::array cast_mode_names{"rint", "round", "floor", "ceil", "trunc", "odd"};
constexpr std::array memory_names{"vec", "mat", "left", "right", "acc", "bias"};
constexpr std::array atomic_names{"none", "add"};
constexpr std::array notify_names{"set", "atomic_add"};
constexpr std::array compare_names{"eq", "ge"};
constexpr std::array reduce_names{"sum", "max", "min", "prod"};
constexpr std::array algorithm_names{"auto", "mesh", "ring"};
constexpr std::array fill_names{"zero", "max", "min"};
constexpr std::array variable_kind_names{"local", "parameter", "capture", "extent"};
constexpr std::array statement_kind_names{"assign", "evaluate", "if",    "for",     "while",
                                          "block",  "leave",    "break", "continue"};
constexpr std::array loop_kind_names{"sequential", "parallel", "unroll", "pipeline"};
constexpr std::array access_names{"in", "out", "inout"};

template <class Enum, std::size_t N>
const char* name_in(const std::array<const char*, N>& names, Enum value) {
  return names[static_cast<std::size_t>(value)];
}

// ---------------------------------------------------------------------------------------------- writing

Json write(const SourceLocation& location) { return {location.file, location.line, location.column}; }

Json write(const Dim& dim) {
  if (dim.is_constant()) return dim.extent;
  return {{"variable", dim.variable}};
}

Json write(const Type& type) {
  Json json;
  json["kind"] = name_in(type_kind_names, type.kind);
  if (type.kind == TypeKind::Void) return json;
  json["dtype"] = name_of(type.dtype);
  if (type.any_dtype) json["any_dtype"] = true;
  if (type.any_shape) json["any_shape"] = true;
  if (!type.shape.empty())
    for (const Dim& dim : type.shape) json["shape"].push_back(write(dim));
  return json;
}

std::string hexadecimal(std::uint64_t bits) {
  char text[17];
  const auto end = std::to_chars(text, text + sizeof text, bits, 16).ptr;
  return "0x" + std::string(text, end);
}

Json write(const Expr& expression) {
  Json json;
  json["op"] = operation(expression.op).name;
  json["type"] = write(expression.type);
  json["at"] = write(expression.location);
  if (expression.op == Op::Constant) {
    json["dtype"] = name_of(expression.value.dtype);
    json["bits"] = hexadecimal(expression.value.bits);
  }
  if (expression.op == Op::Variable) json["variable"] = expression.variable;
  if (expression.literal) json["literal"] = true;
  if (expression.attributes.mode != CastMode::Rint)
    json["mode"] = name_in(cast_mode_names, expression.attributes.mode);
  if (expression.attributes.clamp) json["clamp"] = true;
  if (expression.attributes.trans_a) json["trans_a"] = true;
  if (expression.attributes.trans_b) json["trans_b"] = true;
  if (expression.attributes.flag) json["flag"] = true;
  if (expression.attributes.axis != 0) json["axis"] = expression.attributes.axis;
  if (expression.attributes.axis2 != 0) json["axis2"] = expression.attributes.axis2;
  if (expression.attributes.upper) json["upper"] = true;
  if (expression.attributes.memory != MemorySpace::Vec)
    json["memory"] = name_in(memory_names, expression.attributes.memory);
  if (expression.attributes.atomic != Atomic::None)
    json["atomic"] = name_in(atomic_names, expression.attributes.atomic);
  if (expression.attributes.notify != NotifyOp::AtomicAdd)
    json["notify"] = name_in(notify_names, expression.attributes.notify);
  if (expression.attributes.compare != WaitCmp::Ge)
    json["compare"] = name_in(compare_names, expression.attributes.compare);
  if (expression.attributes.reduce != ReduceOp::Sum)
    json["reduce"] = name_in(reduce_names, expression.attributes.reduce);
  if (expression.attributes.algorithm != Algorithm::Auto)
    json["algorithm"] = name_in(algorithm_names, expression.attributes.algorithm);
  if (expression.attributes.fill != Fill::Zero)
    json["fill"] = name_in(fill_names, expression.attributes.fill);
  if (expression.attributes.chunk != 0) json["chunk"] = expression.attributes.chunk;
  if (expression.attributes.pipeline != 2) json["pipeline"] = expression.attributes.pipeline;
  if (expression.attributes.indexed != 0) json["indexed"] = expression.attributes.indexed;
  for (const Expr& operand : expression.operands) json["operands"].push_back(write(operand));
  return json;
}

Json write(const std::vector<Statement>& statements);

Json write(const Statement& statement) {
  Json json;
  json["kind"] = name_in(statement_kind_names, statement.kind);
  json["at"] = write(statement.location);
  switch (statement.kind) {
    case StatementKind::Assign:
      json["variable"] = statement.variable;
      json["value"] = write(statement.value);
      break;
    case StatementKind::Evaluate: json["value"] = write(statement.value); break;
    case StatementKind::If:
      json["value"] = write(statement.value);
      json["body"] = write(statement.body);
      if (!statement.else_body.empty()) json["else"] = write(statement.else_body);
      break;
    case StatementKind::For:
      json["variable"] = statement.variable;
      json["begin"] = write(statement.begin);
      json["end"] = write(statement.end);
      json["step"] = write(statement.step);
      if (statement.loop != LoopKind::Sequential) json["loop"] = name_in(loop_kind_names, statement.loop);
      if (statement.stages != 1) json["stages"] = statement.stages;
      json["body"] = write(statement.body);
      break;
    case StatementKind::While:
      json["value"] = write(statement.value);
      json["body"] = write(statement.body);
      if (!statement.step_body.empty()) json["step_body"] = write(statement.step_body);
      break;
    case StatementKind::Block:
      json["block"] = statement.block;
      json["body"] = write(statement.body);
      break;
    case StatementKind::Leave: json["block"] = statement.block; break;
    case StatementKind::Break:
    case StatementKind::Continue: break;
  }
  return json;
}

Json write(const std::vector<Statement>& statements) {
  Json json = Json::array();
  for (const Statement& statement : statements) json.push_back(write(statement));
  return json;
}

Json write(const Variable& variable) {
  Json json;
  json["name"] = variable.name;
  json["type"] = write(variable.type);
  json["kind"] = name_in(variable_kind_names, variable.kind);
  json["at"] = write(variable.location);
  if (variable.multiple != 1) json["multiple"] = variable.multiple;
  if (variable.specialised) json["specialised"] = true;
  return json;
}

Json write(const Parameter& parameter) {
  Json json;
  json["variable"] = parameter.variable;
  json["access"] = name_in(access_names, parameter.access);
  if (parameter.specialised) json["specialised"] = true;
  if (parameter.window) json["window"] = true;
  return json;
}

// ---------------------------------------------------------------------------------------------- reading

[[noreturn]] void refuse(const std::string& where, const std::string& what) {
  throw pl::CaptureError("this text is no Trilith kernel: " + what + (where.empty() ? "" : " at " + where) +
                         "; build the program again so that trilith-capture writes it anew");
}

/// One JSON object whose members are taken in any order; a member nobody took is refused, since skipping what
/// one does not know could change the kernel's meaning.
class Object {
 public:
  Object(const Json& json, std::string where) : json_(json), where_(std::move(where)) {
    if (!json.is_object()) refuse(where_, "expected an object");
  }

  const Json* find(const char* name) {
    const auto member = json_.find(name);
    if (member == json_.end()) return nullptr;
    ++taken_;
    return &*member;
  }
  const Json& get(const char* name) {
    const Json* member = find(name);
    if (member == nullptr) refuse(where_, std::string("member '") + name + "' is missing");
    return *member;
  }
  std::string path(const char* name) const { return where_.empty() ? name : where_ + "." + name; }

  std::string text(const char* name) {
    const Json& member = get(name);
    if (!member.is_string()) refuse(path(name), "expected a string");
    return member.get<std::string>();
  }
  bool flag(const char* name) {
    const Json* member = find(name);
    if (member == nullptr) return false;
    if (!member->is_boolean()) refuse(path(name), "expected true or false");
    return member->get<bool>();
  }
  template <class Enum, std::size_t N>
  Enum choice(const char* name, const std::array<const char*, N>& names) {
    const std::string value = text(name);
    for (std::size_t i = 0; i < N; ++i)
      if (value == names[i]) return static_cast<Enum>(i);
    refuse(path(name), "unknown word '" + value + "'");
  }
  template <class Enum, std::size_t N>
  Enum choice_or(const char* name, const std::array<const char*, N>& names, Enum otherwise) {
    return json_.contains(name) ? choice<Enum>(name, names) : otherwise;
  }
  DType dtype(const char* name) {
    const std::string value = text(name);
    if (const auto found = dtype_from_name(value)) return *found;
    refuse(path(name), "unknown dtype '" + value + "'");
  }
  void finish() const {
    if (taken_ == json_.size()) return;
    refuse(where_, "a member of this object is not known to this version");
  }

 private:
  const Json& json_;
  std::string where_;
  std::size_t taken_ = 0;
};

template <class Integer>
Integer read_integer(const Json& json, const std::string& where, Integer lowest, Integer highest) {
  const bool fits = json.is_number_unsigned() ? std::cmp_less_equal(json.get<std::uint64_t>(), highest) &&
                                                    std::cmp_greater_equal(json.get<std::uint64_t>(), lowest)
                                              : json.is_number_integer() &&
                                                    std::cmp_less_equal(json.get<std::int64_t>(), highest) &&
                                                    std::cmp_greater_equal(json.get<std::int64_t>(), lowest);
  if (!fits)
    refuse(where, "expected an integer from " + std::to_string(lowest) + " to " + std::to_string(highest));
  return json.get<Integer>();
}

const Json& array_of(const Json& json, const std::string& where) {
  if (!json.is_array()) refuse(where, "expected a list");
  return json;
}

class Reader {
 public:
  Kernel read(const Json& json) {
    Object object(json, "");
    object.get("trilith_ir");  // checked by the caller
    kernel_.name = object.text("name");
    const Json& at = object.get("at");
    for (const Json& file : array_of(object.get("files"), "files")) {
      if (!file.is_string()) refuse("files", "expected strings");
      kernel_.files.push_back(file.get<std::string>());
    }
    kernel_.location = location(at, "at");
    const Json& variables = array_of(object.get("variables"), "variables");
    variable_count_ = static_cast<VariableId>(variables.size());
    each(variables, "variables", [&](const Json& item, const std::string& where) {
      kernel_.variables.push_back(variable(item, where));
    });
    each(object.get("parameters"), "parameters", [&](const Json& item, const std::string& where) {
      kernel_.parameters.push_back(parameter(item, where));
    });
    each(object.get("captures"), "captures", [&](const Json& item, const std::string& where) {
      kernel_.captures.push_back(capture(item, where));
    });
    kernel_.closure_size =
        read_integer<std::uint32_t>(object.get("closure_size"), "closure_size", 0, 0xffffffffu);
    kernel_.returned_parameter =
        read_integer<std::int32_t>(object.get("returned_parameter"), "returned_parameter", -1,
                                   static_cast<std::int32_t>(kernel_.parameters.size()) - 1);
    kernel_.specialised = object.flag("specialised");
    kernel_.fast_math = object.flag("fast_math");
    kernel_.body = statements(object.get("body"), "body");
    object.finish();
    return std::move(kernel_);
  }

 private:
  template <class Function>
  static void each(const Json& list, const std::string& where, const Function& function) {
    std::size_t index = 0;
    for (const Json& item : array_of(list, where))
      function(item, where + "[" + std::to_string(index++) + "]");
  }

  VariableId variable_id(const Json& json, const std::string& where) const {
    return read_integer<VariableId>(json, where, 0, variable_count_ - 1);
  }

  SourceLocation location(const Json& json, const std::string& where) const {
    if (!json.is_array() || json.size() != 3) refuse(where, "expected [file, line, column]");
    SourceLocation result;
    result.file = read_integer<std::uint32_t>(json[0], where, 0, 0xffffffffu);
    result.line = read_integer<std::uint32_t>(json[1], where, 0, 0xffffffffu);
    result.column = read_integer<std::uint32_t>(json[2], where, 0, 0xffffffffu);
    if (result.line != 0 && result.file >= kernel_.files.size())
      refuse(where, "file number " + std::to_string(result.file) + " is out of range");
    return result;
  }

  Type type(const Json& json, const std::string& where) const {
    Object object(json, where);
    Type result;
    result.kind = object.choice<TypeKind>("kind", type_kind_names);
    if (result.kind != TypeKind::Void) {
      result.dtype = object.dtype("dtype");
      result.any_dtype = object.flag("any_dtype");
      result.any_shape = object.flag("any_shape");
      if (const Json* shape = object.find("shape"))
        each(*shape, object.path("shape"), [&](const Json& item, const std::string& place) {
          Dim dim;
          if (item.is_object()) {
            Object named(item, place);
            dim.variable = variable_id(named.get("variable"), named.path("variable"));
            named.finish();
          } else {
            dim.extent = read_integer<std::int64_t>(item, place, 0, INT64_MAX);
          }
          result.shape.push_back(dim);
        });
      if (result.shape.size() > max_rank)
        refuse(where,
               "rank " + std::to_string(result.shape.size()) + " is above " + std::to_string(max_rank));
    }
    object.finish();
    return result;
  }

  static std::uint64_t bits(Object& object) {
    const std::string text = object.text("bits");
    std::uint64_t value = 0;
    const char* end = text.data() + text.size();
    if (text.size() < 3 || text.compare(0, 2, "0x") != 0) refuse(object.path("bits"), "expected 0x…");
    const auto parsed = std::from_chars(text.data() + 2, end, value, 16);
    if (parsed.ec != std::errc{} || parsed.ptr != end) refuse(object.path("bits"), "expected 0x…");
    return value;
  }

  /// 0 where the member is left out.
  static std::int32_t small_integer(Object& object, const char* name, std::int32_t otherwise = 0) {
    const Json* member = object.find(name);
    if (member == nullptr) return otherwise;
    return read_integer<std::int32_t>(*member, object.path(name), INT32_MIN, INT32_MAX);
  }

  Expr expression(const Json& json, const std::string& where) {
    const Nesting nesting(*this, where);
    Object object(json, where);
    Expr result;
    const std::string name = object.text("op");
    const auto op = operation_from_name(name);
    if (!op) refuse(where, "unknown operation '" + name + "'");
    result.op = *op;
    result.type = type(object.get("type"), object.path("type"));
    result.location = location(object.get("at"), object.path("at"));
    if (*op == Op::Constant) {
      result.value.dtype = object.dtype("dtype");
      result.value.bits = bits(object);
    }
    if (*op == Op::Variable) result.variable = variable_id(object.get("variable"), object.path("variable"));
    result.literal = object.flag("literal");
    result.attributes.mode = object.choice_or("mode", cast_mode_names, CastMode::Rint);
    result.attributes.clamp = object.flag("clamp");
    result.attributes.trans_a = object.flag("trans_a");
    result.attributes.trans_b = object.flag("trans_b");
    result.attributes.flag = object.flag("flag");
    result.attributes.axis = small_integer(object, "axis");
    result.attributes.axis2 = small_integer(object, "axis2");
    result.attributes.upper = object.flag("upper");
    result.attributes.memory = object.choice_or("memory", memory_names, MemorySpace::Vec);
    result.attributes.atomic = object.choice_or("atomic", atomic_names, Atomic::None);
    result.attributes.notify = object.choice_or("notify", notify_names, NotifyOp::AtomicAdd);
    result.attributes.compare = object.choice_or("compare", compare_names, WaitCmp::Ge);
    result.attributes.reduce = object.choice_or("reduce", reduce_names, ReduceOp::Sum);
    result.attributes.algorithm = object.choice_or("algorithm", algorithm_names, Algorithm::Auto);
    result.attributes.fill = object.choice_or("fill", fill_names, Fill::Zero);
    result.attributes.chunk = small_integer(object, "chunk");
    result.attributes.pipeline = small_integer(object, "pipeline", 2);
    result.attributes.indexed = static_cast<std::uint32_t>(small_integer(object, "indexed"));
    if (const Json* operands = object.find("operands"))
      each(*operands, where, [&](const Json& item, const std::string& place) {
        result.operands.push_back(expression(item, place));
      });
    const int arity = operation(*op).arity;
    const bool has_valid_extents = *op == Op::Load && result.operands.size() == 4;
    const bool has_signal =
        is_collective(*op) && result.operands.size() == static_cast<std::size_t>(arity) + signal_operands;
    if (arity >= 0 && result.operands.size() != static_cast<std::size_t>(arity) && !has_valid_extents &&
        !has_signal)
      refuse(where, name + " takes " + std::to_string(arity) + " operands, not " +
                        std::to_string(result.operands.size()));
    object.finish();
    return result;
  }

  std::vector<Statement> statements(const Json& json, const std::string& where) {
    std::vector<Statement> result;
    each(json, where,
         [&](const Json& item, const std::string& place) { result.push_back(statement(item, place)); });
    return result;
  }

  Statement statement(const Json& json, const std::string& where) {
    const Nesting nesting(*this, where);
    Object object(json, where);
    Statement result;
    result.kind = object.choice<StatementKind>("kind", statement_kind_names);
    result.location = location(object.get("at"), object.path("at"));
    const auto read_value = [&](const char* name) { return expression(object.get(name), object.path(name)); };
    const auto read_body = [&](const char* name) { return statements(object.get(name), object.path(name)); };
    const auto read_variable = [&] {
      result.variable = variable_id(object.get("variable"), object.path("variable"));
    };
    const auto read_block = [&](std::int32_t lowest) {
      result.block = read_integer<std::int32_t>(object.get("block"), object.path("block"), lowest, INT32_MAX);
    };
    switch (result.kind) {
      case StatementKind::Assign:
        read_variable();
        result.value = read_value("value");
        break;
      case StatementKind::Evaluate: result.value = read_value("value"); break;
      case StatementKind::If:
        result.value = read_value("value");
        result.body = read_body("body");
        if (const Json* otherwise = object.find("else"))
          result.else_body = statements(*otherwise, object.path("else"));
        break;
      case StatementKind::For:
        read_variable();
        result.begin = read_value("begin");
        result.end = read_value("end");
        result.step = read_value("step");
        result.loop = object.choice_or("loop", loop_kind_names, LoopKind::Sequential);
        if (const Json* stages = object.find("stages"))
          result.stages = read_integer<std::int32_t>(*stages, object.path("stages"), 1, INT32_MAX);
        result.body = read_body("body");
        break;
      case StatementKind::While:
        result.value = read_value("value");
        result.body = read_body("body");
        if (const Json* step = object.find("step_body"))
          result.step_body = statements(*step, object.path("step_body"));
        break;
      case StatementKind::Block:
        read_block(1);
        result.body = read_body("body");
        break;
      case StatementKind::Leave: read_block(0); break;
      case StatementKind::Break:
      case StatementKind::Continue: break;
    }
    object.finish();
    return result;
  }

  Variable variable(const Json& json, const std::string& where) const {
    Object object(json, where);
    Variable result;
    result.name = object.text("name");
    result.type = type(object.get("type"), object.path("type"));
    result.kind = object.choice<VariableKind>("kind", variable_kind_names);
    result.location = location(object.get("at"), object.path("at"));
    if (const std::int32_t multiple = small_integer(object, "multiple"); multiple != 0)
      result.multiple = multiple;
    result.specialised = object.flag("specialised");
    object.finish();
    return result;
  }

  Parameter parameter(const Json& json, const std::string& where) const {
    Object object(json, where);
    Parameter result;
    result.variable = variable_id(object.get("variable"), object.path("variable"));
    result.access = object.choice<Access>("access", access_names);
    result.specialised = object.flag("specialised");
    result.window = object.flag("window");
    object.finish();
    return result;
  }

  ClosureField capture(const Json& json, const std::string& where) const {
    Object object(json, where);
    ClosureField result;
    result.variable = variable_id(object.get("variable"), object.path("variable"));
    result.offset = read_integer<std::uint32_t>(object.get("offset"), object.path("offset"), 0, 0xffffffffu);
    object.finish();
    return result;
  }

  /// Counts how deep the reader has recursed.
  class Nesting {
   public:
    Nesting(Reader& reader, const std::string& where) : reader_(reader) {
      if (++reader_.depth_ > deepest_nesting)
        refuse(where.substr(0, 80) + "…",
               "nested deeper than " + std::to_string(deepest_nesting) + " levels");
    }
    ~Nesting() { --reader_.depth_; }
    Nesting(const Nesting&) = delete;
    Nesting& operator=(const Nesting&) = delete;

   private:
    Reader& reader_;
  };

  Kernel kernel_;
  VariableId variable_count_ = 0;
  int depth_ = 0;
};

void check_version(const Json& json) {
  const auto version = json.is_object() ? json.find("trilith_ir") : json.end();
  if (version == json.end()) refuse("", "member 'trilith_ir', the format version, is missing");
  if (!version->is_number_integer()) refuse("trilith_ir", "expected an integer");
  const auto written = read_integer<std::int64_t>(*version, "trilith_ir", 1, INT64_MAX);
  if (written > ir_version)
    throw pl::CaptureError("this kernel was captured in IR format version " + std::to_string(written) +
                           ", and this Trilith reads versions up to " + std::to_string(ir_version) +
                           "; capture with the trilith-capture of the library in use, or update the library");
}

}  // namespace

std::string to_json(const Kernel& kernel) {
  Json json;
  json["trilith_ir"] = ir_version;
  json["name"] = kernel.name;
  json["at"] = write(kernel.location);
  json["files"] = kernel.files;
  const auto write_list = [&](const char* name, const auto& items, const auto& write_item) {
    Json& list = json[name] = Json::array();
    for (const auto& item : items) list.push_back(write_item(item));
  };
  write_list("variables", kernel.variables, [](const Variable& item) { return write(item); });
  write_list("parameters", kernel.parameters, [](const Parameter& item) { return write(item); });
  write_list("captures", kernel.captures, [](const ClosureField& item) {
    Json field;
    field["variable"] = item.variable;
    field["offset"] = item.offset;
    return field;
  });
  json["closure_size"] = kernel.closure_size;
  json["returned_parameter"] = kernel.returned_parameter;
  if (kernel.specialised) json["specialised"] = true;
  if (kernel.fast_math) json["fast_math"] = true;
  json["body"] = write(kernel.body);
  // File names may hold any bytes; `replace` keeps the text valid where they are not UTF-8.
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Kernel kernel_from_json(std::string_view text) {
  Json json = Json::parse(text, nullptr, false);
  if (json.is_discarded()) refuse("", "it is not valid JSON");
  check_version(json);
  return Reader().read(json);
}

}  // namespace trilith::codegen
