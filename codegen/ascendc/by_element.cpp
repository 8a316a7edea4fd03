// What the vector unit lacks, on the scalar pipe: one element after the other, which is slow.
#include "codegen/ascendc/vector.hpp"

namespace trilith::codegen::ascendc {

void Vector::by_element(const Tile& to, const std::vector<Operand>& operands, const ElementFormula& formula) {
  // Rows of several are walked one by one: what lies between them is nobody's.
  const bool matrix = to.rows && to.columns && !block_.rows.is(1);
  const std::string r = matrix ? c.names.fresh("r") : "", i = is_one(to) ? "" : c.names.fresh("i");
  const auto at = [&](const Tile& tile) {
    if (matrix && tile.rows) return tile.columns ? r + " * " + std::to_string(block_.pitch) + " + " + i : r;
    return (to.columns ? tile.columns : tile.rows) ? i : std::string("0");
  };
  std::vector<Touch> touches{writes(to)};
  std::vector<std::string> elements;
  for (const Operand& operand : operands) {
    if (operand.is_scalar()) {
      elements.push_back(operand.scalar);
      continue;
    }
    touches.push_back(reads(operand.tile));
    elements.push_back(text(operand.tile) + ".GetValue(" + at(operand.tile) + ")");
  }
  std::string line;
  if (matrix) line = "for (int32_t " + r + " = 0; " + r + " < " + block_.rows.text() + "; ++" + r + ")\n  ";
  if (!is_one(to))
    line += "for (int32_t " + i + " = 0; " + i + " < " + (matrix ? block_.columns.text() : count(to).text()) +
            "; ++" + i + (matrix ? ")\n    " : ")\n  ");
  c.line(Pipe::Scalar, line + text(to) + ".SetValue(" + at(to) + ", " + formula(elements) + ");",
         std::move(touches));
  const std::int64_t size = matrix ? block_.max_rows * block_.max_columns : capacity(to.rows, to.columns);
  c.takes({{Work::Unit::Scalar, size * static_cast<std::int64_t>(operands.size() + 1)}});
}

}  // namespace trilith::codegen::ascendc
