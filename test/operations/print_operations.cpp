// test/operations/print_operations.cpp -- prints what follows from the operation table.
//
//   print_operations --page      the operation reference (runtime/operations.md)
//   print_operations --cases     one test case an operation: its example as C++, for printed.hpp
#include "codegen/cpp_printer.hpp"
#include "operations/example.hpp"

#include <cstdio>
#include <cstring>

namespace {

using namespace operations_test;

void print_case(const Operation& row) {
  const DType dtype = printed_dtype(row);
  const Example example = example_of(row.op, dtype);
  std::string arguments;
  std::size_t count = 0;
  const auto append = [&](const char* what, DType of) {
    arguments += std::string(arguments.empty() ? "" : ", ") + "given." + what + "<" +
                 std::string(cpp_name_of(of)) + ">(" + std::to_string(count++) + ")";
  };
  for (const Operand& operand : example.operands)
    if (operand.kind <= Operand::Scalar)
      append(operand.kind == Operand::Scalar ? "scalar" : "tensor", operand.value.dtype);
  append("tensor", reference_result(example).dtype);
  const std::string name(row.name);
  std::printf(
      "namespace {\nnamespace case_%s {\n%s}\n}  // namespace\n\n"
      "TEST_CASE(\"%s by C++: captured, native and compiled give the reference's result\") {\n"
      "  operations_test::run_printed(\"%s\", [](const operations_test::Given& given) {\n"
      "    case_%s::kernel()(%s);\n  });\n}\n\n",
      name.c_str(), to_cpp(kernel_of(example)).c_str(), name.c_str(), name.c_str(), name.c_str(),
      arguments.c_str());
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 2 && std::strcmp(argv[1], "--page") == 0) {
    std::fputs(page().c_str(), stdout);
    return 0;
  }
  if (argc == 2 && std::strcmp(argv[1], "--cases") == 0) {
    std::printf("// Printed by print_operations --cases.\n#include \"operations/printed.hpp\"\n\n");
    for (const Operation& row : operations())
      if (has_cells(row)) print_case(row);
    return 0;
  }
  std::fprintf(stderr, "usage: print_operations --page | --cases\n");
  return 2;
}
