// The symbolic typing rule against the reference's, over every operation, dtype and a table of shapes.
#include "codegen/passes/shape_rule.hpp"
#include "codegen/passes/literal.hpp"
#include "codegen/reference.hpp"

#include <doctest/doctest.h>

using namespace trilith::codegen;

namespace {

struct Given {
  bool is_scalar;
  Shape shape;
};

/// "float[8, 4]", "float" or the exception's message.
std::string by_reference(Op op, const std::vector<Given>& given, const std::vector<DType>& dtypes) {
  std::vector<reference::TypeOf> operands;
  for (std::size_t i = 0; i < given.size(); ++i)
    operands.push_back({dtypes[i], given[i].is_scalar, given[i].shape});
  try {
    const reference::TypeOf type = reference::result_type(op, operands, DType::Float64, {});
    std::string text = std::string(name_of(type.dtype)) + (type.is_scalar ? "" : "[");
    for (const std::int64_t extent : type.shape) text += std::to_string(extent) + ",";
    return text;
  } catch (const pl::UserError& error) {
    return error.what();
  }
}

std::string by_specialiser(Op op, const std::vector<Given>& given, const std::vector<DType>& dtypes) {
  std::vector<Expr> operands;
  for (std::size_t i = 0; i < given.size(); ++i) {
    Expr operand;
    operand.type = given[i].is_scalar ? Type::scalar(dtypes[i]) : Type::tile(dtypes[i], {});
    for (const std::int64_t extent : given[i].shape) operand.type.shape.push_back({extent});
    operands.push_back(std::move(operand));
  }
  try {
    const Type type = passes::result_type({}, op, operands, DType::Float64, {});
    std::string text = std::string(name_of(type.dtype)) + (type.is_scalar() ? "" : "[");
    for (const Dim& dim : type.shape) text += std::to_string(dim.extent) + ",";
    return text;
  } catch (const pl::UserError& error) {
    return error.what();
  }
}

}  // namespace

TEST_CASE("specialiser and reference give one type and one message for every operation") {
  const std::vector<Given> shapes = {{true, {}},         {false, {}},       {false, {4}},    {false, {1}},
                                     {false, {8, 4}},    {false, {8, 1}},   {false, {8, 3}}, {false, {0, 4}},
                                     {false, {2, 8, 4}}, {false, {2, 1, 4}}};
  const DType dtypes[] = {DType::Bool, DType::Int32, DType::Int64, DType::Float32, DType::Float64};
  int compared = 0;
  for (const Operation& row : operations()) {
    if (row.group == Group::Structure || row.group == Group::Create || row.group == Group::Move ||
        row.group == Group::Debug || row.group == Group::Reduce || row.group == Group::Remote ||
        row.arity == 0 || is_tile_call(row.group))
      continue;
    for (const Given& a : shapes)
      for (const Given& b : shapes)
        for (const DType x : dtypes)
          for (const DType y : dtypes) {
            const std::vector<Given> given = {a, b, a};
            const std::vector<DType> types = {x, y, y};
            const auto arity = static_cast<std::size_t>(row.arity);
            const std::vector<Given> operands(given.begin(),
                                              given.begin() + static_cast<std::ptrdiff_t>(arity));
            const std::vector<DType> of(types.begin(), types.begin() + static_cast<std::ptrdiff_t>(arity));
            const std::string expected = by_reference(row.op, operands, of);
            if (by_specialiser(row.op, operands, of) != expected)
              CHECK(by_specialiser(row.op, operands, of) == expected);
            ++compared;
          }
  }
  CHECK(compared > 100000);
}
