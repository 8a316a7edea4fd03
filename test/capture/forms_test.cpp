// Every form of kernel and of C++ inside a kernel, and the IR it becomes.
#include "codegen/json.hpp"
#include "codegen/specialise.hpp"
#include "test/capture/support.hpp"

#include <doctest/doctest.h>

using namespace capture_test;

namespace {

const Captured& forms() {
  const Captured& all = captured("forms.cpp");
  INFO(all.report.text);
  REQUIRE_FALSE(all.report.failed);
  return all;
}

std::string body(const std::string& name) { return forms().body(name); }

}  // namespace

TEST_CASE("every captured kernel keeps the rules of the IR and survives its JSON text") {
  for (const auto& captured : forms().kernels) {
    INFO(captured.kernel.name);
    CHECK_NOTHROW(trilith::codegen::verify(captured.kernel));
    const std::string json = trilith::codegen::to_json(captured.kernel);
    CHECK(trilith::codegen::to_json(trilith::codegen::kernel_from_json(json)) == json);
  }
}

TEST_CASE("captured: a kernel in a header") {
  CHECK(body("kernel_in_header") ==
        R"(kernel kernel_in_header(x: in tensor<float>[...], y: out tensor<float>[...])
  store y = load x * 2
)");
}

TEST_CASE("captured: named operations, load and store with offsets, a returned Out") {
  CHECK(body("scale") ==
        R"(kernel scale(x: in tensor<float>[8, 4], y: out tensor<float>[8, 4], rank: scalar<int32>)
  tile = load x[0, 0 : 8, 4]
  factor = cast<float>(rank)
  scaled = tile * factor
  store y[0, 0] = scaled + tile
  return y
)");
}

TEST_CASE("captured: operators, literals beside tiles, compound assignment") {
  CHECK(body("operators") ==
        R"(kernel operators(x: in tensor<float>[...], y: out tensor<float>[...], s: scalar<float>)
  t = neg(load x) * s + 0.1 - 2
  t = t / 3.0f
  m = t > 0.0f && logical_not(t == 1.0f)
  store y = where(m, t, exp(t - row_max(t)))
)");
}

TEST_CASE("captured: counted for loops become For, their int counter the int64 one") {
  CHECK(body("counted") == R"(kernel counted(x: in tensor<float>[N, 4], y: out tensor<float>[N, 4])
  for i in 0 .. dim(x, 0) - 1 + 1 step 2
    store y[i, 0] = load x[i, 0 : 1, 4]
  for j in 3 .. 0 step -1
    print j
)");
}

TEST_CASE("captured: every kind of range, and a loop variable the body changes") {
  CHECK(body("ranges") ==
        R"(kernel ranges(x: in tensor<float>[8, 4], y: out tensor<float>[8, 4], n: scalar<int32>)
  sum = full<float>([1, 4], 0.0f)
  for i in 0 .. cast<int64>(n)
    sum = sum + load x[i, 0 : 1, 4]
  for i.2 in 1 .. 3 unroll
    sum = sum + load x[i.2, 0 : 1, 4]
  for i.3 in 0 .. cast<int64>(n) pipeline(3)
    sum = sum + load x[cast<int64>(cast<int32>(i.3)), 0 : 1, 4]
  for i.4 in 0 .. 8 step 2 parallel
    i.5 = i.4
    i.5 = i.5 + 1
    store y[i.5, 0] = sum
)");
}

TEST_CASE("captured: if, while, do, switch with fall through, break, continue, early return, ?:") {
  CHECK(body("control") ==
        R"(kernel control(x: in tensor<float>[8, 4], y: out tensor<float>[8, 4], n: scalar<int32>)
  t = load x
  k = n
  if k < 0
    return
  while k > 0 ? k != 7 : false
    if k == 3
      k = k - 1
      continue
    t = t * 2.0f
    k = k - 2
    if k == 5
      break
  first = true
  while first ? true : k < 4
    first = false
    before = k
    k = before + 1
  chosen = cast<int64>(k)
  entered = false
  block 1
    if entered || (chosen == 1 || chosen == 2)
      entered = true
      t = t + 1.0f
      leave block 1
    if entered || chosen == 9
      entered = true
      t = t + 2.0f
    if entered || logical_not(chosen == 1 || chosen == 2 || chosen == 9)
      entered = true
      t = t + 3.0f
  f = k > 2 ? 1.5f : 2.5f
  if k > 3
    chosen.2 = t
  else
    chosen.2 = t * f
  store y = chosen.2
)");
}

TEST_CASE("captured: lambdas, functions and pl::jit.inline_ helpers become part of the kernel") {
  CHECK(body("helpers") ==
        R"(kernel helpers(x: in tensor<float>[8, 4], y: out tensor<float>[8, 4], n: scalar<int32>)
  t = load x
  a = t + t
  a.2 = a
  b = a
  b.2 = a.2 + b
  block 1
    if n < 1
      clamp_to_result = 1
      leave block 1
    if n > 5
      clamp_to_result = 5
      leave block 1
    clamp_to_result = n
    leave block 1
  c = clamp_to_result + 3
  store y = b.2 * cast<float>(c)
)");
}

TEST_CASE("captured: constexpr locals, functions, array elements and macros hold their values") {
  CHECK(body("constants") == R"(kernel constants(x: in tensor<float>[8, 4], y: out tensor<float>[8, 4])
  sum = 40
  for i in 0 .. 3
    position = i
    check 0 <= position < 3
    sum = sum + (position == 0 ? 10 : position == 1 ? 20 : 30)
  store y = load x * 0.5f + cast<float>(sum)
)");
}

TEST_CASE("captured: x[r] and slice are views, also as local variables") {
  CHECK(body("views") ==
        R"(kernel views(x: in tensor<float>[N, 8, 4], y: out tensor<float>[N, 8, 4], r: scalar<int32>)
  row = x[cast<int64>(r)]
  part = row.slice[0, 0 : 4, 4]
  t = load part + load x[0][0, 0 : 4, 4]
  target = y[cast<int64>(r)]
  store target[4, 0] = t
)");
}

TEST_CASE("captured: dtype-erased tensors") {
  CHECK(body("erased") == R"(kernel erased(x: in tensor<any>[...], y: out tensor<any>[...])
  store y = load x + 1
)");
}

TEST_CASE("captured: pl::Const parameters and run-time extents") {
  CHECK(body("specialised") ==
        R"(kernel specialised(x: in tensor<float>[...], y: out tensor<float>[...], rows: const scalar<int32>)
  store y[0, 0] = load x[0, 0 : cast<int64>(rows), dim(x, 1)]
)");
}

TEST_CASE("captured: C++ arithmetic on scalars, its conversions and ++") {
  CHECK(body("scalars") ==
        R"(kernel scalars(y: out tensor<int32>[1], a: scalar<int32>, f: scalar<float>, flag: scalar<bool>)
  b = a * 3 % 5
  b = b << 2
  b = b + cast<int32, trunc>(f * 2.0f)
  before = b
  b = before + 1
  c = before + (flag ? 1 : 0)
  d = cast<double>(c)
  if d > 1.5 ? true : logical_not(flag)
    b = neg(b)
  store y = full<int32>([1], b)
)");
}

TEST_CASE("captured: captured values, in the order of the closure") {
  CHECK(
      body("captures") ==
      R"(kernel captures(x: in tensor<float>[8, 4], y: out tensor<float>[8, 4]) captures (extra: scalar<float>, factor: scalar<float>, flag: scalar<bool>, mode: scalar<int32>, count: scalar<int32>)
  t = load x * factor + extra
  if flag ? mode == 1 : false
    for i in 0 .. cast<int64>(count)
      t = t + 1.0f
  store y = t
)");
}

TEST_CASE("captured: a kernel in a macro, a macro in a kernel, a comment in an expression") {
  CHECK(body("from_macro") == R"(kernel from_macro(x: in tensor<float>[8, 4], y: out tensor<float>[8, 4])
  t = load x
  store y = t + t
)");
}

TEST_CASE("a generic lambda gives one record for each list of parameter types it is called with") {
  const auto found = forms().named("generic");
  REQUIRE(found.size() == 2);
  CHECK(found[0]->generic);
  CHECK(found[0]->parameter_type_names != found[1]->parameter_type_names);
  CHECK(found[0]->parameter_type_names.size() == 2);
  CHECK(found[0]->kernel.variables[0].type.dtype == trilith::codegen::DType::Float32);
  CHECK(found[1]->kernel.variables[0].type.dtype == trilith::codegen::DType::Int32);
}

TEST_CASE("each instantiation of a template is a kernel of its own: sizeof... and if constexpr are settled") {
  const auto found = forms().named("from_template");
  REQUIRE(found.size() == 2);
  CHECK(trilith::codegen::to_text(found[0]->kernel).find("store y = load x ") != std::string::npos);
  CHECK(trilith::codegen::to_text(found[1]->kernel).find("store y = load x * 3 ") != std::string::npos);
  CHECK(found[0]->gcc_type_names != found[1]->gcc_type_names);
  CHECK(found[0]->clang_type_names != found[1]->clang_type_names);
}

TEST_CASE("a macro of the command line is the kernel's, too") {
  const Captured& other = captured("forms.cpp", {"-DTILE=8"});
  REQUIRE_FALSE(other.report.failed);
  CHECK(other.text("constants").find("sum = 32 ") != std::string::npos);
  CHECK(forms().text("constants").find("sum = 40 ") != std::string::npos);
}

TEST_CASE("everything that was read is a dependency") {
  const auto& files = forms().report.dependencies;
  const auto read_file = [&](const std::string& end) {
    for (const std::string& file : files)
      if (file.ends_with(end)) return true;
    return false;
  };
  CHECK(read_file("/forms.cpp"));
  CHECK(read_file("/helpers.hpp"));
  CHECK(read_file("/pl/pl.hpp"));
  const std::string depfile = trilith::capture::depfile_text("out dir/x.hpp", forms().report);
  CHECK(depfile.starts_with("out\\ dir/x.hpp:"));
  CHECK(depfile.find("/helpers.hpp") != std::string::npos);
}
