// Loops whose rounds may run at the same time: a function over a part of the rounds, which the host calls for all of them.
#include "codegen/xsimd/context.hpp"

#include <cctype>
#include <utility>

namespace trilith::codegen::xsimd {
namespace {

bool mentions(std::string_view text, std::string_view name) {
  const auto in_name = [&](std::size_t at) {
    return at < text.size() && (std::isalnum(static_cast<unsigned char>(text[at])) != 0 || text[at] == '_');
  };
  for (std::size_t at = text.find(name); at != std::string_view::npos; at = text.find(name, at + 1))
    if ((at == 0 || !in_name(at - 1)) && !in_name(at + name.size())) return true;
  return false;
}

}  // namespace

void Context::parallel_loop(const Statement& statement) {
  const std::string name = variables[statement.variable];
  out.line("// " + place(statement.location) + ": rounds that may run at the same time");
  const auto [begin, end, step] = bounds(statement);
  const std::string rounds = names.fresh(name + "_rounds"), first = names.fresh(name + "_first"),
                    last = names.fresh(name + "_last"), fault = names.fresh(name + "_fault");
  std::vector<std::string> arrays;  // in which tiles lie that rounds may read
  for (const auto& [variable, buffer] : buffers)
    if (buffer.on_stack) arrays.push_back(buffer.name);

  // What the body declares belongs to the function of the rounds: each thread has its own.
  Writer around = std::exchange(out, Writer());
  std::vector<std::string> outer_declarations = std::exchange(declarations, {});
  const bool counts_itself = begin == "0" && step == "1";
  const std::string round = counts_itself ? name : names.fresh(name + "_round");
  out.open("for (std::int64_t " + round + " = " + first + "; " + round + " < " + last + "; ++" + round +
           ") {");
  if (!counts_itself)
    out.line("const std::int64_t " + name + " = " + begin + " + " + round +
             (step == "1" ? "" : " * " + step) + ";");
  declared[statement.variable] = true;
  continue_labels.emplace_back();
  in_parallel_loop = true;
  nested(statement.body);
  in_parallel_loop = false;
  continue_labels.pop_back();
  out.close();
  std::swap(out, around);
  std::swap(declarations, outer_declarations);

  // Numbers and pointers are copied, so that they stay in registers; memory is referred to.
  std::string captures = "=";
  for (const std::string& array : arrays)
    if (mentions(around.text(), array)) captures += ", &" + array;
  out.open("const auto " + rounds + " = [" + captures + "](const pl::abi::Services* services, std::int64_t " +
           first + ", std::int64_t " + last + ") -> std::int32_t {");
  for (const std::string& declaration : outer_declarations) out.line(declaration);
  out.append(around.text());
  out.line("return pl::abi::fault_none;");
  out.close("};");
  out.line("const std::int32_t " + fault + " = device::run_rounds(services, device::count_rounds(" + begin +
           ", " + end + ", " + step + "), " + rounds + ");");
  out.line("if (" + fault + " != pl::abi::fault_none) return " + fault + ";");
}

}  // namespace trilith::codegen::xsimd
