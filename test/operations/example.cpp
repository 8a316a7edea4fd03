#include "operations/example.hpp"

#include "codegen/builder.hpp"
#include "codegen/error.hpp"
#include "codegen/reference.hpp"

#include <algorithm>
#include <cmath>

namespace operations_test {
namespace {

/// Small numbers that differ, inside the domain of every function of floats.
Value filled(DType dtype, const Shape& shape, std::int64_t start = 1, std::int64_t modulus = 0) {
  Value result(dtype, shape);
  for (std::int64_t i = 0; i < result.size(); ++i) {
    const std::int64_t number = modulus > 0 ? (start + 2 * i) % modulus : start + i;
    const Constant element = is_floating(dtype) && modulus == 0
                                 ? Constant::rounded(dtype, 0.25 + 0.125 * static_cast<double>(number))
                                 : Constant::of(dtype, dtype == DType::Bool ? number % 2 : number);
    std::memcpy(result.bytes.data() + static_cast<std::size_t>(i) * size_of(dtype), &element.bits,
                size_of(dtype));
  }
  return result;
}

Operand tile(DType dtype, Shape shape, std::int64_t start = 1) {
  return {Operand::Tile, filled(dtype, shape, start), {}};
}
Operand indices(Shape shape, std::int64_t bound) {
  return {Operand::Tile, filled(DType::Int32, shape, 1, bound), {}};
}
Operand tensor(DType dtype, Shape shape) { return {Operand::Tensor, filled(dtype, shape), {}}; }
Operand scalar(DType dtype, std::int64_t start = 3) {
  Value value = filled(dtype, {}, start);
  value.is_scalar = true;
  return {Operand::Scalar, std::move(value), {}};
}
Operand number(std::int64_t value) { return {Operand::Number, Value::scalar(value), {}}; }
Operand list(Shape items) { return {Operand::List, {}, std::move(items)}; }

Attributes along(std::int32_t axis) {
  Attributes attributes;
  attributes.axis = axis;
  return attributes;
}

Example index_example(Op op, DType dtype) {
  const Shape matrix = {3, 5};
  switch (op) {
    case Op::RowArgmax:
    case Op::RowArgmin:
    case Op::ColArgmax:
    case Op::ColArgmin: return {op, dtype, {tile(dtype, matrix)}, {}};
    case Op::Cumsum:
    case Op::SortIndices: return {op, dtype, {tile(dtype, matrix)}, along(-1)};
    case Op::Gather: return {op, dtype, {tile(dtype, matrix), indices({3, 2}, 5)}, along(-1)};
    case Op::GatherRow: return {op, dtype, {tile(dtype, matrix), indices({4}, 3)}, {}};
    case Op::LoadRow: return {op, dtype, {tensor(dtype, matrix), list({}), list({}), indices({4}, 3)}, {}};
    case Op::PagedGather:
      return {op,
              dtype,
              {tensor(dtype, {4, 2, 3}), list({}), list({}), indices({2, 2}, 4), indices({2}, 4), number(3),
               number(1)},
              {}};
    case Op::Scatter:
    case Op::ScatterAdd:
      return {op, dtype, {tile(dtype, matrix), indices({3, 2}, 5), tile(dtype, {3, 2}, 7)}, along(-1)};
    case Op::TopkIndices: {
      Attributes attributes = along(-1);
      attributes.flag = true;
      return {op, dtype, {tile(dtype, matrix), number(2)}, attributes};
    }
    case Op::Write: return {op, dtype, {tile(dtype, matrix), list({1, 2}), scalar(dtype)}, {}};
    default: break;
  }
  throw pl::InternalError("no example of " + std::string(operation(op).name));
}

Example linear_example(Op op, DType dtype) {
  const DType sums = dtype == DType::Float64 ? dtype : dtype == DType::Int8 ? DType::Int32 : DType::Float32;
  const Operand a = tile(dtype, {3, 4}), b = tile(dtype, {4, 5}, 2);
  switch (op) {
    case Op::Matmul: return {op, dtype, {a, b}, {}};
    case Op::MatmulAcc: return {op, dtype, {tile(sums, {3, 5}), a, b}, {}};
    case Op::MatmulBias: return {op, dtype, {a, b, tile(sums, {5})}, {}};
    case Op::BatchMatmul: return {op, dtype, {tile(dtype, {2, 3, 4}), b}, {}};
    case Op::Gemv: return {op, dtype, {a, tile(dtype, {4})}, {}};
    case Op::Dot: return {op, dtype, {tile(dtype, {7}), tile(dtype, {7}, 2)}, {}};
    default: break;
  }
  throw pl::InternalError("no example of " + std::string(operation(op).name));
}

Example layout_example(Op op, DType dtype) {
  const Operand x = tile(dtype, {3, 5});
  switch (op) {
    case Op::Transpose: {
      Attributes attributes = along(0);
      attributes.axis2 = 1;
      return {op, dtype, {x}, attributes};
    }
    case Op::TileSlice: return {op, dtype, {x, list({1, 2}), list({2, 3})}, {}};
    case Op::Assemble: return {op, dtype, {x, tile(dtype, {2, 2}, 5), list({1, 2})}, {}};
    case Op::Concat: return {op, dtype, {x, tile(dtype, {3, 2}, 4)}, along(-1)};
    case Op::Reshape: return {op, dtype, {x, list({5, 3})}, {}};
    case Op::Reinterpret: return {op, dtype, {x}, {}};
    case Op::Pad: return {op, dtype, {x, list({1, 0}), list({0, 2}), scalar(dtype)}, {}};
    case Op::Expand: return {op, dtype, {tile(dtype, {1, 5}), list({4, 5})}, {}};
    case Op::Arange: return {op, dtype, {list({2, 5}), scalar(dtype), scalar(dtype, 1)}, {}};
    case Op::Tri: return {op, dtype, {list({3, 5}), number(1)}, {}};
    case Op::Random: return {op, dtype, {list({3, 5}), scalar(DType::Int64, 7), scalar(DType::Int64)}, {}};
    default: break;
  }
  throw pl::InternalError("no example of " + std::string(operation(op).name));
}

/// The dtype that a cast or a reinterpretation of `from` asks for.
DType other_dtype(Op op, DType from) {
  if (op == Op::Cast) return from == DType::Int32 ? DType::Float32 : DType::Int32;
  constexpr DType partners[dtype_count] = {
      DType::Bool,  DType::UInt8, DType::UInt16, DType::Float32, DType::Float64, DType::Int8, DType::Int16,
      DType::Int32, DType::Int64, DType::UInt16, DType::Int16,   DType::UInt32,  DType::Int64};
  return partners[static_cast<int>(from)];
}

std::optional<DType> wanted_dtype(const Example& example) {
  switch (example.op) {
    case Op::Cast:
    case Op::Reinterpret: return other_dtype(example.op, example.dtype);
    case Op::Arange:
    case Op::Tri:
    case Op::Random: return example.dtype;
    default: return {};
  }
}

/// What the kernel writes the result of a statement without a value, or of a scalar, with.
bool gives_scalar(Op op) { return operation(op).group == Group::Identity || op == Op::Read; }

}  // namespace

bool has_cells(const Operation& row) {
  // What needs other ranks has no reference of one; test/emitter/remote_test.cpp and the programs test it.
  return row.group != Group::Structure && row.group != Group::Remote && row.op != Op::Check;
}

std::vector<DType> dtypes_of(const Operation& row) {
  std::vector<DType> result;
  // What takes no operand has no dtype either; one stands for it.
  if (row.group == Group::Identity || row.group == Group::Synchronise) return {DType::Int32};
  for (int i = 0; i < dtype_count; ++i)
    if (accepts(row.dtypes, static_cast<DType>(i))) result.push_back(static_cast<DType>(i));
  return result;
}

DType printed_dtype(const Operation& row) {
  const std::vector<DType> taken = dtypes_of(row);
  for (const DType dtype : {DType::Float32, DType::Int32})
    if (std::find(taken.begin(), taken.end(), dtype) != taken.end()) return dtype;
  return taken.front();
}

Example example_of(Op op, DType dtype) {
  const Operation& row = operation(op);
  const Shape matrix = {3, 5};
  switch (row.group) {
    case Group::Create: return {op, dtype, {list(matrix), scalar(dtype)}, {}};
    case Group::Move:
      if (op == Op::Load) return {op, dtype, {tensor(dtype, matrix), list({1, 2}), list({2, 3})}, {}};
      if (op == Op::Store) return {op, dtype, {tile(dtype, matrix), list({0, 0})}, {}};
      if (op == Op::SetValid || op == Op::Fillpad)
        return {op, dtype, {tile(dtype, matrix), list({2, 3})}, {}};
      return {op, dtype, {tile(dtype, matrix), list({1, 2})}, {}};
    case Group::Elementwise:
    case Group::Compare:
    case Group::Logic:
    case Group::Bits: {
      Example example{op, dtype, {}, {}};
      for (int i = 0; i < row.arity; ++i)
        example.operands.push_back(
            tile(op == Op::Where && i == 0 ? DType::Bool : dtype, i == 1 ? Shape{1, 5} : matrix, 1 + i));
      return example;
    }
    case Group::Cast:
    case Group::RowReduce:
    case Group::ColReduce:
    case Group::Debug:
    case Group::Synchronise: return {op, dtype, {tile(dtype, matrix)}, {}};
    case Group::Reduce: return {op, dtype, {tile(dtype, {2, 3, 4})}, along(1)};
    case Group::Identity: return {op, dtype, {}, {}};
    case Group::Generate:
    case Group::Layout: return layout_example(op, dtype);
    case Group::Index: return index_example(op, dtype);
    case Group::Linear: return linear_example(op, dtype);
    case Group::Structure: break;
  }
  throw pl::InternalError("no example of " + std::string(row.name));
}

Value reference_result(const Example& example) {
  const Operation& row = operation(example.op);
  const auto view = [](const Value& value) {
    TensorView result{value.dtype, const_cast<std::byte*>(value.bytes.data()), value.shape, value.shape};
    std::int64_t stride = 1;
    for (std::size_t axis = value.shape.size(); axis-- > 0; stride *= value.shape[axis])
      result.strides[axis] = stride;
    return result;
  };
  const auto one = [](const Value& element) { return reference::full({1}, element); };
  if (is_tile_call(row.group)) {
    std::vector<reference::CallOperand> operands;
    for (const Operand& operand : example.operands) {
      if (operand.kind == Operand::List)
        operands.emplace_back(operand.list);
      else if (operand.kind == Operand::Tensor)
        operands.emplace_back(view(operand.value));
      else
        operands.emplace_back(operand.value);
    }
    return reference::tile_call(example.op, operands, example.attributes, wanted_dtype(example), {});
  }
  switch (row.group) {
    case Group::Create: return reference::full(example.operands[0].list, example.operands[1].value);
    case Group::Identity: return one(Value::scalar(std::int32_t{example.op == Op::BlockNum ? 1 : 0}));
    case Group::Synchronise: return example.operands[0].value;
    case Group::Debug: (void)reference::to_text(example.operands[0].value); return example.operands[0].value;
    case Group::Move: {
      if (example.op == Op::Read)
        return one(reference::read(example.operands[0].value, example.operands[1].list, {}));
      if (example.op == Op::Load)
        return reference::load(view(example.operands[0].value), example.operands[1].list,
                               example.operands[2].list, {});
      if (example.op == Op::SetValid || example.op == Op::Fillpad) {
        const Value part = reference::set_valid(example.operands[0].value, example.operands[1].list, {});
        return example.op == Op::SetValid ? part : reference::fillpad(part, Fill::Max, {});
      }
      Value written(example.dtype, example.operands[0].value.shape);
      reference::store(example.operands[0].value, example.operands[1].list, view(written), {});
      return written;
    }
    default: break;
  }
  std::vector<Value> operands;
  for (const Operand& operand : example.operands) operands.push_back(operand.value);
  return reference::apply(example.op, operands, example.attributes,
                          wanted_dtype(example).value_or(example.dtype), {});
}

Kernel kernel_of(const Example& example) {
  using namespace build;
  KernelBuilder k("kernel");
  const auto items = [](const Shape& list) { return Items(list.begin(), list.end()); };
  std::vector<Expr> operands;
  int count = 0;
  for (const Operand& operand : example.operands) {
    const std::string name = "x" + std::to_string(count);
    switch (operand.kind) {
      case Operand::Tile: operands.push_back(load(k.tensor(name, Access::In, operand.value.dtype))); break;
      case Operand::Tensor: operands.push_back(k.tensor(name, Access::In, operand.value.dtype)); break;
      case Operand::Scalar: operands.push_back(k.scalar(name, operand.value.dtype)); break;
      case Operand::Number: operands.push_back(integer(operand.value.get<std::int64_t>())); break;
      case Operand::List: operands.push_back(build::list(items(operand.list))); break;
    }
    count += operand.kind <= Operand::Scalar ? 1 : 0;
  }
  const Value result = reference_result(example);
  const Expr y = k.tensor("y", Access::Out, result.dtype);
  const Items origin(result.shape.size(), Item(0));
  const Operation& row = operation(example.op);
  Expr value;
  if (gives_scalar(example.op)) {
    const Expr element =
        k.let("element",
              row.op == Op::Read ? read(operands[0], items(example.operands[1].list)) : call(row.op, {}));
    value = full(result.dtype, {1}, element);
  } else if (row.op == Op::Write) {
    value = k.let("t", operands[0]);
    operands[0] = value;
    k.assign(value, tile_call(row.op, operands, example.attributes));
  } else if (row.op == Op::SetValid || row.op == Op::Fillpad) {
    value = set_valid(operands[0], items(example.operands[1].list));
    if (row.op == Op::Fillpad) value = fillpad(value, Fill::Max);
  } else if (row.op == Op::Load) {
    value = load(operands[0], items(example.operands[1].list), items(example.operands[2].list));
  } else if (row.group == Group::Create) {
    value = full(example.dtype, items(example.operands[0].list), operands[1]);
  } else if (row.op == Op::Cast) {
    value = cast(result.dtype, operands[0]);
  } else if (is_tile_call(row.group)) {
    value = tile_call(row.op, operands, example.attributes, result.dtype);
  } else if (row.op == Op::Store || row.group == Group::Synchronise || row.group == Group::Debug) {
    value = operands[0];
    if (row.group == Group::Synchronise) k.synchronise(row.op);
    if (row.group == Group::Debug) k.print(value);
  } else {
    value = call(row.op, operands);
    value.attributes = example.attributes;
  }
  k.store(value, origin, y);
  return k.take();
}

std::vector<Argument> arguments_of(Example& example, Value& result) {
  std::vector<Argument> arguments;
  const auto add = [&](Value& value) {
    TensorView view{value.dtype, value.bytes.data(), value.shape, value.shape};
    std::int64_t stride = 1;
    for (std::size_t axis = value.shape.size(); axis-- > 0; stride *= value.shape[axis])
      view.strides[axis] = stride;
    arguments.emplace_back(view);
  };
  for (Operand& operand : example.operands) {
    if (operand.kind == Operand::Scalar)
      arguments.emplace_back(operand.value);
    else if (operand.kind <= Operand::Tensor)
      add(operand.value);
  }
  add(result);
  return arguments;
}

Signature signature_of(const std::vector<Argument>& arguments) {
  Signature signature;
  for (const Argument& argument : arguments) {
    ArgumentSignature one;
    if (const auto* view = std::get_if<TensorView>(&argument)) {
      one.is_tensor = true;
      one.dtype = view->dtype;
      one.extents = view->extents;
    } else {
      one.dtype = std::get<Value>(argument).dtype;
    }
    signature.arguments.push_back(one);
  }
  return signature;
}

std::string difference(const Operation& row, const Value& expected, const Value& given) {
  if (expected.dtype != given.dtype || expected.shape != given.shape) return "another dtype or shape";
  const std::size_t size = size_of(expected.dtype);
  for (std::int64_t i = 0; i < expected.size(); ++i) {
    const auto at = static_cast<std::size_t>(i) * size;
    if (std::memcmp(&expected.bytes[at], &given.bytes[at], size) == 0) continue;
    Constant a{expected.dtype, 0}, b{expected.dtype, 0};
    std::memcpy(&a.bits, &expected.bytes[at], size);
    std::memcpy(&b.bits, &given.bytes[at], size);
    const double x = a.as_double(), y = b.as_double();
    if (std::isnan(x) && std::isnan(y)) continue;
    if (row.exactness != Exactness::Exact && std::abs(x - y) <= 1e-5 * std::abs(x)) continue;
    return "element " + std::to_string(i) + ": " + std::to_string(y) + ", expected " + std::to_string(x);
  }
  return "";
}

}  // namespace operations_test
