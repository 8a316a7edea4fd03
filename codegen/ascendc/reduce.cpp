// Reductions. Rows of several: columns are folded onto the first 64 (of 4 bytes) with the rows as repeats, and one
// WholeReduce per row ends it. One row: ReduceSum and the like over all of it. Products and integers, for which there is
// neither, are folded by halves down to one block of 32 bytes, whose elements the scalar pipe then takes one by one.
// 64-bit integers are the scalar pipe's from the first to the last. Padding is never read: masks and counts end where the
// columns do.
#include "codegen/ascendc/vector.hpp"
#include "codegen/error.hpp"

#include <algorithm>

namespace trilith::codegen::ascendc {
namespace {

using Fold = Vector::Fold;

const char* pairwise(Fold fold) {
  switch (fold) {
    case Fold::Sum: return "Add";
    case Fold::Prod: return "Mul";
    case Fold::Max: return "Max";
    case Fold::Min: return "Min";
    default: break;
  }
  throw pl::InternalError("AscendC emitter: a fold that the vector unit has not");
}

std::string combine(Fold fold, DType dtype, const std::string& a, const std::string& b) {
  const auto as_unsigned = [&](const std::string& value) {
    return (dtype == DType::Int64 ? "static_cast<uint64_t>(" : "static_cast<uint32_t>(") + value + ")";
  };
  const auto sum = [&](const std::string& sign) {
    if (is_floating(dtype)) return a + sign + b;
    return "static_cast<" + type_name(dtype) + ">(" + as_unsigned(a) + sign + as_unsigned(b) + ")";
  };
  switch (fold) {
    case Fold::Sum: return sum(" + ");
    case Fold::Prod: return sum(" * ");
    case Fold::Max: return b + " > " + a + " ? " + b + " : " + a;
    case Fold::Min: return b + " < " + a + " ? " + b + " : " + a;
    case Fold::MaxUnsigned: return as_unsigned(b) + " > " + as_unsigned(a) + " ? " + b + " : " + a;
    case Fold::MinUnsigned: return as_unsigned(b) + " < " + as_unsigned(a) + " ? " + b + " : " + a;
  }
  return "";
}

bool has_instruction(Fold fold, DType dtype) {
  return fold != Fold::Prod && (dtype == DType::Float32 || dtype == DType::Float16);
}

std::string suffix(Fold fold) { return fold == Fold::Sum ? "Sum" : fold == Fold::Max ? "Max" : "Min"; }

std::string number(std::int64_t value) { return std::to_string(value); }

}  // namespace

Tile Vector::reduce_columns(Fold fold, const Tile& a) {
  const Tile all = a.columns ? a : expand(a, a.rows, true);
  if (bytes_of(a.dtype) == 8)
    return total_rows(fold, all, {text(all), reads(all), block_.columns, block_.max_columns, block_.pitch});
  return all.rows && block_.max_rows > 1 ? fold_rows(fold, all) : fold_flat(fold, all);
}

Tile Vector::fold_flat(Fold fold, const Tile& a) {
  const Tile result = fresh(a.dtype, a.rows, false);
  const Amount count = this->count(a);
  const std::int64_t most = capacity(a.rows, a.columns);
  if (has_instruction(fold, a.dtype)) {
    const std::int64_t repeats = round_up(most, per_repeat(a.dtype)) / per_repeat(a.dtype);
    const Tile scratch =
        fresh_bytes(a.dtype, (fold == Fold::Sum ? repeats : 2 * repeats) * bytes_of(a.dtype));
    c.line(Pipe::Vector,
           "AscendC::Reduce" + suffix(fold) + "(" + text(result) + ", " + text(a) + ", " + text(scratch) +
               ", " + count.text() + ");",
           {writes(result), {scratch.object, true}, reads(a)});
    takes(a);
    return result;
  }
  const Tile folded = copy(a);
  const std::int64_t block = per_block(a.dtype);
  const std::string left = c.names.fresh("left"), half = c.names.fresh("half");
  if (most > block) {
    c.line(Pipe::None, "int32_t " + left + " = " + count.text() + ";");
    c.open("while (" + left + " > " + number(block) + ") {");
    c.turns(1);  // what its line takes is what all rounds take
    c.line(Pipe::None, "const int32_t " + half + " = (" + left + " + " + number(2 * block - 1) + ") / " +
                           number(2 * block) + " * " + number(block) + ";");
    c.line(Pipe::Vector,
           std::string("AscendC::") + pairwise(fold) + "(" + text(folded) + ", " + text(folded) + ", " +
               text(folded) + "[" + half + "], " + left + " - " + half + ");",
           {writes(folded), reads(folded)});
    takes(folded);
    c.line(Pipe::None, left + " = " + half + ";");
    c.close();
  }
  return total_rows(
      fold, a,
      {text(folded), reads(folded), most > block ? Amount{1, left} : count, std::min(most, block), 0});
}

/// Rows of which only the run knows how many columns there are, at least one.
Tile Vector::fold_ragged_rows(Fold fold, const Tile& a) {
  const std::int64_t block = per_block(a.dtype), pitch = block_.pitch / block, width = per_repeat(a.dtype);
  const std::int64_t most = std::min(block_.max_columns, width), own = round_up(most, block) / block;
  const std::string rows = block_.rows.text(), columns = block_.columns.text(), from = text(a);
  const bool instruction = has_instruction(fold, a.dtype), wide = block_.max_columns > width;
  const auto whole_reduce = [&](const std::string& of, const Touch& touch, const std::string& mask,
                                std::int64_t between) {
    const Tile result = fresh(a.dtype, true, false);
    c.line(Pipe::Vector,
           "AscendC::WholeReduce" + suffix(fold) + "(" + text(result) + ", " + of + ", " + mask + ", " +
               rows + ", 1, 1, " + number(between) +
               (fold == Fold::Sum ? "" : ", AscendC::ReduceOrder::ORDER_ONLY_VALUE") + ");",
           {writes(result), touch});
    takes_rows(1);
    return result;
  };
  if (instruction && !wide) return whole_reduce(from, reads(a), columns, pitch);
  const Tile folded = fresh_bytes(a.dtype, block_.max_rows * own * 32);
  const std::string to = text(folded), left = c.names.fresh("left");
  const auto add = [&](const std::string& second, const std::string& mask, std::int64_t between) {
    c.line(Pipe::Vector,
           std::string("AscendC::") + pairwise(fold) + "(" + to + ", " + to + ", " + second + ", " + mask +
               ", " + rows + ", AscendC::BinaryRepeatParams{1, 1, 1, " + number(own) + ", " + number(own) +
               ", " + number(between) + "});",
           {{folded.object, true}, {folded.object, false}, reads(a)});
  };
  const std::string first =
      wide ? columns + " < " + number(width) + " ? " + columns + " : " + number(width) : columns;
  c.line(Pipe::None, "int32_t " + left + " = " + first + ";");
  c.line(Pipe::Vector,
         "AscendC::Muls(" + to + ", " + from + ", static_cast<" + type_name(a.dtype) + ">(1), " + left +
             ", " + rows + ", AscendC::UnaryRepeatParams{1, 1, " + number(own) + ", " + number(pitch) + "});",
         {{folded.object, true}, reads(a)});
  takes_rows(1);
  if (wide) {
    const std::string done = c.names.fresh("done");
    c.open("for (int32_t " + done + " = " + number(width) + "; " + done + " < " + columns + "; " + done +
           " += " + number(width) + ") {");
    c.turns(static_cast<double>(block_.max_columns / width));
    add(from + "[" + done + "]",
        columns + " - " + done + " < " + number(width) + " ? " + columns + " - " + done + " : " +
            number(width),
        pitch);
    takes_rows(1);
    c.close();
  }
  if (instruction) return whole_reduce(to, {folded.object, false}, left, own);
  const std::string half = c.names.fresh("half");
  c.open("while (" + left + " > " + number(block) + ") {");
  c.turns(1);
  c.line(Pipe::None, "const int32_t " + half + " = (" + left + " + " + number(2 * block - 1) + ") / " +
                         number(2 * block) + " * " + number(block) + ";");
  add(to + "[" + half + "]", left + " - " + half, own);
  takes_rows(3);
  c.line(Pipe::None, left + " = " + half + ";");
  c.close();
  return total_rows(fold, a, {to, {folded.object, false}, Amount{1, left}, block, own * block});
}

Tile Vector::fold_rows(Fold fold, const Tile& a) {
  if (block_.is_ragged()) return fold_ragged_rows(fold, a);
  const std::int64_t columns = block_.max_columns, block = per_block(a.dtype), pitch = block_.pitch / block;
  const std::int64_t width = per_repeat(a.dtype);
  const std::string rows = block_.rows.text();
  const auto whole_reduce = [&](const Tile& result, const std::string& from, Touch touch, std::int64_t mask,
                                std::int64_t between) {
    const std::string order = fold == Fold::Sum ? "" : ", AscendC::ReduceOrder::ORDER_ONLY_VALUE";
    c.line(Pipe::Vector,
           "AscendC::WholeReduce" + suffix(fold) + "(" + text(result) + ", " + from + ", " + number(mask) +
               ", " + rows + ", 1, 1, " + number(between) + order + ");",
           {writes(result), touch});
    takes_rows(1);
  };
  const bool instruction = has_instruction(fold, a.dtype);
  if (instruction && columns <= width) {
    const Tile result = fresh(a.dtype, true, false);
    whole_reduce(result, text(a), reads(a), columns, pitch);
    return result;
  }
  // Onto the first `kept` columns: the first line combines two stretches of the operand, or copies one.
  const std::int64_t kept = columns >= width ? width : columns;
  const std::int64_t kept_pitch = round_up(kept, block);
  const Tile folded = fresh_bytes(a.dtype, block_.max_rows * kept_pitch * bytes_of(a.dtype));
  const auto add = [&](const std::string& into, const std::string& first, const std::string& second,
                       std::int64_t mask, std::int64_t first_between, std::int64_t second_between) {
    return std::string("AscendC::") + pairwise(fold) + "(" + into + ", " + first + ", " + second + ", " +
           number(mask) + ", " + rows + ", AscendC::BinaryRepeatParams{1, 1, 1, " +
           number(kept_pitch / block) + ", " + number(first_between) + ", " + number(second_between) + "});";
  };
  const std::string to = text(folded), from = text(a);
  const std::int64_t own = kept_pitch / block;
  std::int64_t done = kept;
  if (columns >= 2 * width) {
    c.line(Pipe::Vector, add(to, from, from + "[" + number(width) + "]", width, pitch, pitch),
           {{folded.object, true}, reads(a)});
    done = 2 * width;
  } else {
    c.line(Pipe::Vector,
           "AscendC::Muls(" + to + ", " + from + ", static_cast<" + type_name(a.dtype) + ">(1), " +
               number(kept) + ", " + rows + ", AscendC::UnaryRepeatParams{1, 1, " + number(own) + ", " +
               number(pitch) + "});",
           {{folded.object, true}, reads(a)});
  }
  takes_rows(1);
  for (; done < columns; done += width) {
    c.line(Pipe::Vector,
           add(to, to, from + "[" + number(done) + "]", std::min(width, columns - done), own, pitch),
           {{folded.object, true}, {folded.object, false}, reads(a)});
    takes_rows(1);
  }
  if (instruction) {
    const Tile result = fresh(a.dtype, true, false);
    whole_reduce(result, to, {folded.object, false}, kept, own);
    return result;
  }
  std::int64_t left = kept;
  while (left > block) {
    const std::int64_t half = round_up((left + 1) / 2, block);
    c.line(Pipe::Vector, add(to, to, to + "[" + number(half) + "]", left - half, own, own),
           {{folded.object, true}, {folded.object, false}});
    takes_rows(1);
    left = half;
  }
  return total_rows(fold, a, {to, {folded.object, false}, {left}, left, kept_pitch});
}

Tile Vector::total_rows(Fold fold, const Tile& a, const Rows& from) {
  const Tile result = fresh(a.dtype, a.rows, false);
  const bool many = a.rows && block_.max_rows > 1;
  const std::string total = c.names.fresh("total"), item = c.names.fresh("item"), type = type_name(a.dtype);
  const std::string r = many ? c.names.fresh("r") : "", i = c.names.fresh("i");
  const std::string row = many ? r + " * " + number(from.pitch) : "", indent = many ? "  " : "";
  std::string line;
  if (many) line = "for (int32_t " + r + " = 0; " + r + " < " + block_.rows.text() + "; ++" + r + ") {\n";
  line += indent + type + " " + total + " = " + from.text + ".GetValue(" + (many ? row : "0") + ");\n";
  line += indent + "for (int32_t " + i + " = 1; " + i + " < " + from.count.text() + "; ++" + i + ") {\n";
  line += indent + "  const " + type + " " + item + " = " + from.text + ".GetValue(" +
          (many ? row + " + " : "") + i + ");\n";
  line += indent + "  " + total + " = " + combine(fold, a.dtype, total, item) + ";\n" + indent + "}\n";
  line += indent + text(result) + ".SetValue(" + (many ? r : "0") + ", " + total + ");" + (many ? "\n}" : "");
  c.line(Pipe::Scalar, line, {writes(result), from.touch});
  c.takes({{Work::Unit::Scalar, (many ? block_.max_rows : 1) * (from.most + 1)}});
  return result;
}

void Vector::accumulate(Fold fold, const Tile& into, const Tile& a) {
  if (bytes_of(into.dtype) == 8)
    return by_element(into, {{.tile = into}, {.tile = a}}, [&](const std::vector<std::string>& elements) {
      return combine(fold, into.dtype, elements[0], elements[1]);
    });
  c.line(Pipe::Vector,
         std::string("AscendC::") + pairwise(fold) + "(" + text(into) + ", " + text(into) + ", " + text(a) +
             ", " + count(into).text() + ");",
         {writes(into), reads(into), reads(a)});
  takes(into);
}

void Vector::accumulate_times(const Tile& into, const Tile& a, const std::string& scalar) {
  c.line(Pipe::Vector,
         "AscendC::Axpy(" + text(into) + ", " + text(a) + ", " + scalar + ", " + count(into).text() + ");",
         {writes(into), reads(into), reads(a)});
  takes(into);
}

std::string Vector::largest(const Tile& a) {
  const Tile by_row = a.columns ? reduce_columns(Fold::Max, a) : a;
  return read(by_row.rows && block_.max_rows > 1 ? fold_flat(Fold::Max, by_row) : by_row);
}

void Vector::accumulate_rows(Fold fold, const Tile& into, const Tile& a) {
  if (!a.rows || block_.max_rows == 1) return accumulate(fold, into, a);
  const std::string r = c.names.fresh("r");
  c.open("for (int32_t " + r + " = 0; " + r + " < " + block_.rows.text() + "; ++" + r + ") {");
  c.turns(static_cast<double>(block_.max_rows));
  if (bytes_of(into.dtype) == 8) {
    Tile row = a;
    row.rows = false;
    row.at.add(Amount{block_.pitch}, r);
    accumulate(fold, into, row);
    return c.close();
  }
  c.line(Pipe::Vector,
         std::string("AscendC::") + pairwise(fold) + "(" + text(into) + ", " + text(into) + ", " + text(a) +
             "[" + r + " * " + number(block_.pitch) + "], " + count(into).text() + ");",
         {writes(into), reads(into), reads(a)});
  takes(into);
  c.close();
}

}  // namespace trilith::codegen::ascendc
