// Compiled kernels give the reference's numbers: every operation, every dtype, awkward shapes.
#include "emitter/compare.hpp"
#include "emitter/kernels.hpp"

using namespace emitter_test;

namespace {

constexpr const auto& dtypes = all_dtypes;

double tolerance_of(Op op, DType dtype) {
  if (!is_floating(dtype) || operation(op).exactness == Exactness::Exact) return 0;
  // Computed in float: one step where that rounds the other way.
  if (dtype == DType::Float16) return 0x1p-10;
  if (dtype == DType::BFloat16) return 0x1p-7;
  const bool single = dtype == DType::Float32;
  switch (operation(op).exactness) {
    case Exactness::Exact: return 0;
    case Exactness::Ulp4: return single ? 1e-6 : 2e-15;
    case Exactness::Sum: return single ? 1e-5 : 1e-12;
  }
  return 0;
}

/// Operations that the device header has; the rest of the table is refused elsewhere.
bool is_elementwise(Group group) {
  return group == Group::Elementwise || group == Group::Compare || group == Group::Logic ||
         group == Group::Bits;
}

}  // namespace

TEST_CASE("every elementwise operation agrees with the reference for every dtype") {
  for (const Operation& row : operations()) {
    if (!is_elementwise(row.group)) continue;
    for (const DType dtype : dtypes) {
      if (!accepts(row.dtypes, dtype)) continue;
      CAPTURE(row.name);
      CAPTURE(name_of(dtype));
      const DType result = row.group == Group::Compare ? DType::Bool : dtype;
      const Kernel kernel = elementwise(row.op, dtype, row.arity, result);
      std::vector<ArgumentSpec> arguments;
      for (int i = 0; i < row.arity; ++i)
        arguments.emplace_back(TensorSpec{{3, 37}, row.op == Op::Where && i == 0 ? DType::Bool : dtype});
      arguments.emplace_back(TensorSpec{{3, 37}, result});
      Options options;
      options.tolerance = tolerance_of(row.op, dtype);
      compare(kernel, arguments, options);
      options.at_end = false;
      options.misalignment = 1;
      compare(kernel, arguments, options);
    }
  }
}

TEST_CASE("every cast agrees with the reference in every mode") {
  constexpr CastMode modes[] = {CastMode::Rint, CastMode::Round, CastMode::Floor,
                                CastMode::Ceil, CastMode::Trunc, CastMode::Odd};
  for (const DType from : dtypes)
    for (const DType to : dtypes) {
      CAPTURE(name_of(from));
      CAPTURE(name_of(to));
      // Only from a float to an integer does the mode say anything.
      const bool rounds = is_floating(from) && is_integer(to);
      KernelBuilder k("convert");
      const Expr x = k.tensor("x", Access::In, from);
      std::vector<ArgumentSpec> arguments{TensorSpec{{3, 67}, from}};
      for (const CastMode mode : modes) {
        if (mode != CastMode::Rint && !rounds) break;
        const Expr y = k.tensor("y" + std::to_string(arguments.size()), Access::Out, to);
        k.store(cast(to, load(x), mode), {0, 0}, y);
        arguments.emplace_back(TensorSpec{{3, 67}, to});
      }
      compare(k.take(), arguments);
    }
}

TEST_CASE("every reduction agrees with the reference for every dtype and awkward extents") {
  for (const Operation& row : operations()) {
    if (row.group != Group::RowReduce && row.group != Group::ColReduce) continue;
    for (const DType dtype : dtypes) {
      if (!accepts(row.dtypes, dtype)) continue;
      const bool common = dtype == DType::Float32 || dtype == DType::Float64 || dtype == DType::Int32 ||
                          dtype == DType::Int64;
      for (const std::int64_t extent : {0, 1, 15, 16, 17, 67, 131}) {
        if (!common && extent != 0 && extent != 67 && extent != 131) continue;  // compiling takes its time
        CAPTURE(row.name);
        CAPTURE(name_of(dtype));
        CAPTURE(extent);
        const bool columns = row.group == Group::ColReduce;
        Options options;
        options.special_values = row.exactness == Exactness::Exact;
        options.tolerance = tolerance_of(row.op, dtype);
        const std::vector<std::int64_t> shape =
            columns ? std::vector<std::int64_t>{5, extent} : std::vector<std::int64_t>{5, extent};
        const std::vector<std::int64_t> result =
            columns ? std::vector<std::int64_t>{1, extent} : std::vector<std::int64_t>{5, 1};
        compare(reduction(row.op, dtype), {TensorSpec{shape, dtype}, TensorSpec{result, dtype}}, options);
        if (columns)
          compare(reduction(row.op, dtype), {TensorSpec{{extent, 5}, dtype}, TensorSpec{{1, 5}, dtype}},
                  options);
      }
    }
  }
}

TEST_CASE("softmax and layernorm of any shape, constant or run-time, stay inside their memory") {
  for (const bool run_time : {false, true})
    for (const std::int64_t columns : {1, 3, 15, 16, 17, 64, 67, 200}) {
      CAPTURE(run_time);
      CAPTURE(columns);
      Options options;
      options.special_values = false;
      options.tolerance = 1e-5;
      const TensorSpec shape{{5, columns}, DType::Float32, Layout::Dense, {}, run_time};
      const TensorSpec row{{1, columns}, DType::Float32, Layout::Dense, {}, run_time};
      compare_everywhere(softmax(), {shape, shape}, options);
      compare_everywhere(column_softmax(), {shape, shape}, options);
      compare_everywhere(layernorm(), {shape, row, row, shape}, options);
    }
}

TEST_CASE("scale_by_rank is exact for shapes around the vector width and at every alignment") {
  for (const bool run_time : {false, true})
    for (const std::int64_t rows : {1, 3})
      for (const std::int64_t columns : {0, 1, 2, 7, 8, 9, 15, 16, 17, 31, 33, 61}) {
        CAPTURE(rows);
        CAPTURE(columns);
        const TensorSpec shape{{rows, columns}, DType::Float32, Layout::Dense, {}, run_time};
        compare_everywhere(scale_by_rank(), {shape, shape, Value::scalar(std::int32_t{3})});
      }
}
