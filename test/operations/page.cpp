// The operation reference: the table, its words, and a cell for each backend.
#include "codegen/operation_words.hpp"
#include "operations/example.hpp"

#include <functional>
#include <iterator>
#include <map>

namespace operations_test {
namespace {

struct Section {
  const char* title;
  std::vector<Group> groups;
};

const std::vector<Section>& sections() {
  static const std::vector<Section> all = {
      {"Create", {Group::Create, Group::Generate}},
      {"Move", {Group::Move, Group::Layout}},
      {"Elementwise", {Group::Elementwise}},
      {"Compare and logic", {Group::Compare, Group::Logic}},
      {"Bits", {Group::Bits}},
      {"Cast", {Group::Cast}},
      {"Reduce", {Group::RowReduce, Group::ColReduce, Group::Reduce}},
      {"Linear algebra", {Group::Linear}},
      {"Index", {Group::Index}},
      {"Blocks, pipes, printing", {Group::Identity, Group::Synchronise, Group::Debug}},
  };
  return all;
}

struct Backend {
  const char* name;
  std::function<std::string(Op, DType)> attempt;
};

const std::vector<Backend>& backends() {
  static const std::vector<Backend> all = {{"reference", try_reference},
                                           {"interpreter", try_interpreter},
                                           {"eager", try_eager},
                                           {"xsimd", try_xsimd}};
  return all;
}

/// A bar in a cell of a Markdown table must be escaped.
std::string cell(std::string_view text) {
  std::string result;
  for (const char c : text) result += c == '|' ? std::string("\\|") : std::string(1, c);
  return result;
}
std::string code(std::string_view text) { return text.empty() ? "" : "`" + cell(text) + "`"; }

std::string exactness_text(const Operation& row) {
  switch (row.exactness) {
    case Exactness::Exact: return "exact";
    case Exactness::Ulp4: return "4 ulp";
    case Exactness::Sum: return "sum";
  }
  return "";
}

/// Refusals of the AscendC emitter, numbered in the order of the page.
class Reasons {
 public:
  int number_of(const std::string& reason) {
    for (std::size_t i = 0; i < all_.size(); ++i)
      if (all_[i] == reason) return static_cast<int>(i) + 1;
    all_.push_back(reason);
    return static_cast<int>(all_.size());
  }
  [[nodiscard]] std::string list() const {
    std::string text;
    for (std::size_t i = 0; i < all_.size(); ++i) text += std::to_string(i + 1) + ". " + all_[i] + "\n";
    return text;
  }

 private:
  std::vector<std::string> all_;
};

/// "x" where every dtype is one instruction; else the dtypes by how they are lowered.
std::string ascendc_text(const Operation& row, Reasons& reasons) {
  constexpr const char* letters[] = {"x", "c", "s"};
  std::map<std::string, std::string> by_way;  // "x", "c", "s", then "-" with the number of a reason
  for (const DType dtype : dtypes_of(row)) {
    const AscendcCell cell = ascendc_cell(row.op, dtype);
    const std::string way = cell.way == AscendcCell::Refused
                                ? "~" + std::to_string(reasons.number_of(cell.reason))
                                : letters[cell.way];
    by_way[way] += (by_way[way].empty() ? "" : " ") + std::string(name_of(dtype));
  }
  std::string text;
  for (const std::string& way : {std::string("x"), std::string("c"), std::string("s")})
    if (const auto found = by_way.find(way); found != by_way.end())
      text += (text.empty() ? "" : "; ") + way + (by_way.size() == 1 ? "" : ": " + found->second);
  for (const auto& [way, dtypes] : by_way)
    if (way.front() == '~')
      text += (text.empty() ? "" : "; ") + ("no: " + dtypes) + " (" + way.substr(1) + ")";
  return text;
}

struct Count {
  int rows = 0, cells = 0, filled = 0, combinations = 0;
};

std::string row_text(const Operation& row, Count& count, Reasons& reasons) {
  const OperationWords* said = words(row.op);
  std::string text =
      "| " + code(said != nullptr ? said->call : "") + " | " + code(said != nullptr ? said->written : "") +
      " | " + (row.arity < 0 ? "any" : std::to_string(row.arity)) + " | " + std::string(text_of(row.dtypes)) +
      " | " + cell(shape_rule(row.op)) + " | " + cell(meaning(row.op)) + " | " + exactness_text(row) + " |";
  ++count.rows;
  for (const Backend& backend : backends()) {
    bool all = true;
    for (const DType dtype : dtypes_of(row)) {
      all = all && backend.attempt(row.op, dtype).empty();
      ++count.combinations;
    }
    ++count.cells;
    count.filled += all ? 1 : 0;
    text += all ? " x |" : "   |";
  }
  return text + " " + ascendc_text(row, reasons) + " |\n";
}

}  // namespace

std::string page() {
  Count count;
  Reasons reasons;
  std::string tables;
  for (const Section& section : sections()) {
    tables +=
        "\n## " + std::string(section.title) +
        "\n\n| function | also | operands | dtypes | shape | meaning | exactness | reference | interpreter | "
        "eager | xsimd | ascendc |\n|---|---|---|---|---|---|---|---|---|---|---|---|\n";
    for (const Group group : section.groups)
      for (const Operation& row : operations())
        if (row.group == group && has_cells(row)) tables += row_text(row, count, reasons);
  }
  tables += "\n## What AscendC refuses\n\nThe numbers in the last column.\n\n" + reasons.list();
  tables +=
      "\n## Views and scalars\n\nNo operations of tiles: what every kernel may say beside them.\n\n"
      "| written | gives | meaning |\n|---|---|---|\n";
  const auto plain_rows = [&](bool remote) {
    for (const Operation& row : operations())
      if (const OperationWords* said = words(row.op);
          said != nullptr && !has_cells(row) && (row.group == Group::Remote) == remote)
        tables += "| " + code(said->written) + " | " + cell(shape_rule(row.op)) + " | " +
                  cell(meaning(row.op)) + " |\n";
  };
  plain_rows(false);
  tables +=
      "\n## Between ranks\n\nOn windows, `pld::DistributedTensor`, in kernels of a `pl::jit.host` program; w "
      "may be "
      "a part of one (`w[i]`, a slice).\n\n| written | gives | meaning |\n|---|---|---|\n";
  plain_rows(true);
  tables +=
      "\n## Written in other operations\n\nEach is what it says, step by step; every backend that has the "
      "operations has these.\n\n| function | written as | dtypes | shape |\n|---|---|---|---|\n";
  for (const ComposedFunction& function : composed_functions())
    tables += "| " + code(function.call) + " | " + cell(function.written_in) + " | " +
              std::string(function.dtypes) + " | " + cell(function.shapes) + " |\n";

  return "# Operations\n\nPrinted from the table in [`codegen/operation.hpp`](../codegen/operation.hpp) by "
         "`cmake --build build/release --target operations_page`; a test fails when this page differs from "
         "it.\n\n"
         "Everything is in namespace `pl`. Operands are tiles, scalars and C++ numbers of one dtype, which "
         "broadcast as "
         "in NumPy: extents of 1 and missing leading axes repeat; a number takes the tile's dtype. Dtypes: "
         "`bool`, "
         "integers (`std::int8_t` to `std::int64_t` and unsigned), floats (`pl::half`, `pl::bfloat16`, "
         "`float`, "
         "`double`). Nothing converts by itself: `pl::cast<U>(x)`.\n\n"
         "*Exact*: equal to the reference bit for bit, any NaN to any NaN. *4 ulp*: at most that far from "
         "the exact "
         "value in float and double, with the special values of C's Annex F; half and bfloat16 are computed "
         "in float and "
         "rounded once. *Sum*: additions may be in another order, fixed by shape and target.\n\n"
         "The last columns are the backends; x: in every dtype of the row. An operation that one of them "
         "lacks is a "
         "failing test. `ascendc` is for Ascend hardware and its model ([hardware.md](hardware.md)) and says "
         "how: x "
         "one instruction, c composed of several, s by the scalar pipe, one element after the other (slow), "
         "no: "
         "refused, with the reason's number; without dtypes: in all of the row's.\n\n**" +
         std::to_string(count.rows) + " operations; " + std::to_string(count.filled) + " of " +
         std::to_string(count.cells) + " cells filled** in " + std::to_string(count.combinations) +
         " combinations of operation, dtype and backend.\n" + tables;
}

}  // namespace operations_test
