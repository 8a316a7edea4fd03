#include "codegen/operation.hpp"

#include <doctest/doctest.h>

using namespace trilith::codegen;

TEST_CASE("every row of the operation table is found by its enumerator and by its name") {
  int index = 0;
  for (const Operation& row : operations()) {
    CHECK(static_cast<int>(row.op) == index++);
    CHECK(&operation(row.op) == &row);
    CHECK(operation_from_name(row.name) == row.op);
  }
  CHECK_FALSE(operation_from_name("no_such_operation").has_value());
}
