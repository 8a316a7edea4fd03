#include "codegen/random_program.hpp"
#include "codegen/json.hpp"
#include "codegen/printer.hpp"
#include "values.hpp"

#include <set>

using namespace trilith::codegen;

namespace {

constexpr std::uint64_t seeds = 300;

/// Counts what a kernel is made of.
struct Census {
  std::set<Op> operations;
  std::set<StatementKind> statements;
  std::set<LoopKind> loops;

  void count(const Expr& expr) {
    operations.insert(expr.op);
    for (const Expr& operand : expr.operands) count(operand);
  }
  void count(const std::vector<Statement>& body) {
    for (const Statement& statement : body) {
      statements.insert(statement.kind);
      if (statement.kind == StatementKind::For) loops.insert(statement.loop);
      for (const Expr* expr : {&statement.value, &statement.begin, &statement.end, &statement.step})
        count(*expr);
      for (const auto* inner : {&statement.body, &statement.else_body, &statement.step_body}) count(*inner);
    }
  }
};

RandomArguments interpreted(const RandomProgram& program) {
  RandomArguments arguments = random_arguments(program);
  interpret(program.kernel, arguments.arguments, arguments.captures);
  return arguments;
}

}  // namespace

TEST_CASE("random programs run, twice with the same bytes, and survive JSON") {
  for (std::uint64_t seed = 0; seed < seeds; ++seed) {
    const RandomProgram program = random_program(seed);
    CAPTURE(to_text(program.kernel));
    const std::string text = to_json(program.kernel);
    const Kernel back = kernel_from_json(text);
    CHECK(back == program.kernel);
    CHECK(to_json(back) == text);
    CHECK(random_kernel(seed) == program.kernel);
    std::string error;
    try {
      CHECK(difference(program, interpreted(program), interpreted(program)) == "");
    } catch (const std::exception& failure) {
      error = failure.what();
    }
    CHECK(error == "");
  }
}

TEST_CASE("results are the same bits in every build: compilers, optimisation levels, sanitizers") {
  RandomOptions exact;
  exact.approximate = false;  // the C library's functions may change; the exact operations may not
  exact.tile_calls = false;   // so that a new one changes no program here
  std::uint64_t hash = 0xcbf29ce484222325u;
  const auto add = [&](std::uint64_t bits) { hash = (hash ^ bits) * 0x100000001b3u; };
  for (std::uint64_t seed = 1000; seed < 1100; ++seed) {
    const RandomProgram program = random_program(seed, exact);
    for (const Value& memory : interpreted(program).memory)
      for (std::int64_t i = 0; i < memory.size(); ++i) {
        const auto floating = [&](auto x) { add(x != x ? 1 : std::bit_cast<std::uint64_t>(double{x})); };
        switch (memory.dtype) {
          case DType::Float32: floating(memory.get<float>(i)); break;
          case DType::Float64: floating(memory.get<double>(i)); break;
          case DType::Int32: add(static_cast<std::uint64_t>(memory.get<std::int32_t>(i))); break;
          case DType::Int64: add(static_cast<std::uint64_t>(memory.get<std::int64_t>(i))); break;
          default: add(std::to_integer<std::uint64_t>(memory.bytes[static_cast<std::size_t>(i)]));
        }
      }
  }
  // A change of the table or the generator changes this number: take the new one where two builds agree on
  // it.
  CHECK(hash == 13259679917940130515u);
}

TEST_CASE("random programs use every operation, statement and kind of loop") {
  Census census;
  for (std::uint64_t seed = 0; seed < 16 * seeds; ++seed) census.count(random_kernel(seed).body);
  for (const Operation& row : operations()) {
    if (row.op == Op::Dim || row.op == Op::Rank || row.op == Op::Print || row.op == Op::Check) continue;
    if (row.group == Group::Remote) continue;  // there are no other ranks in them
    CAPTURE(row.name);
    CHECK(census.operations.count(row.op) == 1);
  }
  CHECK(census.statements.size() == 9);
  CHECK(census.loops.size() == 4);
}

TEST_CASE("the options leave out what they name") {
  RandomOptions plain;
  plain.control_flow = plain.dynamic_extents = plain.approximate = plain.strided = plain.any_dtype = false;
  Census census;
  for (std::uint64_t seed = 0; seed < seeds; ++seed) {
    const RandomProgram program = random_program(seed, plain);
    census.count(program.kernel.body);
    for (const Variable& variable : program.kernel.variables) {
      CHECK(variable.kind != VariableKind::Extent);
      CHECK_FALSE(variable.type.any_dtype);
    }
    for (const RandomParameter& parameter : program.parameters) CHECK(parameter.layout == Layout::Dense);
  }
  CHECK(census.statements == std::set{StatementKind::Assign, StatementKind::Evaluate});
  CHECK(census.operations.count(Op::Exp) == 0);
}

TEST_CASE("arguments hold the special values and respect the layouts") {
  bool has_nan = false, has_infinity = false, has_negative_zero = false, has_denormal = false,
       has_lowest = false;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    const RandomArguments arguments = random_arguments(random_program(seed));
    for (const Value& memory : arguments.memory)
      for (std::int64_t i = 0; i < memory.size(); ++i) {
        if (memory.dtype == DType::Int32)
          has_lowest = has_lowest || memory.get<std::int32_t>(i) == test::lowest32;
        if (memory.dtype != DType::Float32) continue;
        const float x = memory.get<float>(i);
        has_nan = has_nan || std::isnan(x);
        has_infinity = has_infinity || std::isinf(x);
        has_negative_zero = has_negative_zero || (x == 0 && std::signbit(x));
        has_denormal = has_denormal || std::fpclassify(x) == FP_SUBNORMAL;
      }
  }
  CHECK(has_nan);
  CHECK(has_infinity);
  CHECK(has_negative_zero);
  CHECK(has_denormal);
  CHECK(has_lowest);
}

TEST_CASE("difference sees one changed bit, inside a tensor and beside it") {
  const RandomProgram program = random_program(7);
  const RandomArguments expected = interpreted(program);
  std::size_t last = program.parameters.size() - 1;  // the last store's output
  REQUIRE(program.parameters[last].is_tensor);
  RandomArguments given = interpreted(program);
  given.memory[last].bytes[0] ^= std::byte{1};
  CHECK_CONTAINS(difference(program, expected, given), "memory outside the tensor, element -5");
}
