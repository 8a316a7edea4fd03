#include "runtime/specialisation_budget.hpp"

#include "codegen/xsimd/emit.hpp"

#include <algorithm>

namespace pl::detail {
namespace {

namespace codegen = trilith::codegen;

// No extent is this large.
constexpr std::uint64_t shared_mark = std::uint64_t{1} << 63;

/// Calls visit(position in the key, parameter, axis) for each extent that is part of the key.
template <class Visit>
void for_each_extent(const CallPlan& plan, std::span<const ParameterInfo> parameters,
                     const Argument* arguments, const Visit& visit) {
  int position = 1;  // behind the context
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    if (parameters[i].tensor) {
      ++position;
      if (plan.extents_in_key[i] != 0)
        for (int axis = 0; axis < arguments[i].view.rank; ++axis)
          if ((plan.extents_in_key[i] >> axis & 1) != 0) visit(position++, i, axis);
    } else if (parameters[i].constant) {
      ++position;
    }
  }
}

codegen::Signature run_time_signature(const CallPlan& plan, std::span<const ParameterInfo> parameters,
                                      const Argument* arguments, const Key& group,
                                      codegen::Signature signature) {
  for_each_extent(plan, parameters, arguments, [&](int position, std::size_t parameter, int axis) {
    const std::uint64_t word = group.words[position];
    if ((word & shared_mark) != 0)
      signature.arguments[parameter].extents[static_cast<std::size_t>(axis)] =
          codegen::shared_extent(static_cast<std::int64_t>(word & ~shared_mark));
  });
  return signature;
}

std::string place_text(const codegen::Kernel& ir, const codegen::SourceLocation& place) {
  return Location{place.file < ir.files.size() ? ir.files[place.file] : "", place.line, place.column}.str();
}

/// Empty where the kernel means the same with these run-time extents; else the line that needs constants.
std::string objection(const codegen::Kernel& ir, const codegen::Signature& signature) {
  try {
    const codegen::Kernel specialised = codegen::specialise(ir, signature);
    const codegen::SourceLocation doubt = codegen::computed_extent_in_doubt(specialised);
    if (doubt.line != 0)
      return place_text(specialised, doubt) +
             ": an extent that is computed here could be 1 and broadcast, which no run-time extent does";
    (void)codegen::xsimd::emit(specialised, signature);
    return {};
  } catch (const UserError& error) {
    return error.what();
  }
}

}  // namespace

void make_group_key(const CallPlan& plan, std::span<const ParameterInfo> parameters,
                    const Argument* arguments, const Key& exact, std::span<const std::uint16_t> constant,
                    Key& group) {
  group.size = exact.size;
  std::copy(exact.words, exact.words + exact.size, group.words);
  std::uint64_t values[64];
  std::uint64_t count = 0;
  for_each_extent(plan, parameters, arguments, [&](int position, std::size_t, int) {
    const std::uint64_t extent = exact.words[position];
    if (extent == 1 || std::find(constant.begin(), constant.end(), position) != constant.end()) return;
    std::uint64_t number = 0;
    while (number < count && values[number] != extent) ++number;
    if (number == count) {
      if (count == std::size(values)) return;  // more different extents than that: the others stay constants
      values[count++] = extent;
    }
    group.words[position] = shared_mark | number;
  });
}

RunTimeExtents find_run_time_extents(const CallPlan& plan, std::span<const ParameterInfo> parameters,
                                     const Argument* arguments, const Key& key,
                                     const codegen::Signature& exact) {
  const codegen::Kernel& ir = plan.kernel->ir;
  Key group;
  make_group_key(plan, parameters, arguments, key, {}, group);
  std::vector<std::uint16_t> positions;  // of the extents that could be run-time values
  for_each_extent(plan, parameters, arguments, [&](int position, std::size_t, int) {
    if ((group.words[position] & shared_mark) != 0) positions.push_back(static_cast<std::uint16_t>(position));
  });
  RunTimeExtents result;
  result.signature = run_time_signature(plan, parameters, arguments, group, exact);
  if (positions.empty()) return result;
  result.any = true;
  result.reason = objection(ir, result.signature);
  if (result.reason.empty()) return result;

  // Equal extents stay together: the kernel may rely on their being one.
  (void)codegen::specialise(ir, exact);
  result.constant = positions;
  result.any = false;
  for (const std::uint16_t first : positions) {
    std::vector<std::uint16_t> fewer;
    for (const std::uint16_t position : result.constant)
      if (key.words[position] != key.words[first]) fewer.push_back(position);
    if (fewer.size() == result.constant.size()) continue;
    make_group_key(plan, parameters, arguments, key, fewer, group);
    if (!objection(ir, run_time_signature(plan, parameters, arguments, group, exact)).empty()) continue;
    result.constant = std::move(fewer);
    result.any = true;
  }
  make_group_key(plan, parameters, arguments, key, result.constant, group);
  result.signature = run_time_signature(plan, parameters, arguments, group, exact);
  return result;
}

std::string constants_of(const CallPlan& plan, const codegen::Signature& signature) {
  const codegen::Kernel& ir = plan.kernel->ir;
  std::string text;
  const auto add = [&](const char* what, codegen::VariableId id) {
    const codegen::Variable& variable = ir.variables[static_cast<std::size_t>(id)];
    text += (text.empty() ? "" : ", ") + std::string(what) + variable.name + " at " +
            place_text(ir, variable.location);
  };
  for (std::size_t i = 0; i < ir.parameters.size(); ++i)
    if (signature.arguments[i].value) add("pl::Const ", ir.parameters[i].variable);
  for (std::size_t i = 0; i < signature.captures.size(); ++i)
    if (signature.captures[i]) add("captured ", ir.captures[i].variable);
  return text;
}

}  // namespace pl::detail
