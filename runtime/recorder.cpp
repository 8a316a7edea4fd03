#include "runtime/recorder.hpp"

#include "pl/detail/location.hpp"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <new>

namespace pl::detail {
namespace {

std::string text_of(const RecordedArgument& argument) {
  if (argument.info.tensor) {
    const char* access[] = {"", "out ", "inout "};
    return access[static_cast<int>(argument.info.access)] + describe(argument.view.front().view());
  }
  std::int64_t integer = 0;
  if (argument.integer(integer)) return (argument.info.is_rank ? "rank " : "") + std::to_string(integer);
  double value = 0;
  if (argument.info.dtype == DType::Float64) {
    std::memcpy(&value, &argument.scalar, sizeof value);
  } else if (argument.info.dtype == DType::Float32) {
    float narrow = 0;
    std::memcpy(&narrow, &argument.scalar, sizeof narrow);
    value = narrow;
  } else if (argument.info.dtype == DType::Float16) {
    value = half::from_bits(static_cast<std::uint16_t>(argument.scalar));
  } else if (argument.info.dtype == DType::BFloat16) {
    value = bfloat16::from_bits(static_cast<std::uint16_t>(argument.scalar));
  } else {
    return argument.scalar != 0 ? "true" : "false";
  }
  char digits[32];
  std::snprintf(digits, sizeof digits, "%g", value);
  return digits;
}

std::string text_of(const std::vector<RecordedArgument>& arguments) {
  std::string text = "(";
  for (std::size_t i = 0; i < arguments.size(); ++i) text += (i == 0 ? "" : ", ") + text_of(arguments[i]);
  return text + ")";
}

}  // namespace

RecordedArgument::RecordedArgument(const ParameterInfo& parameter, const Argument& argument)
    : info(parameter) {
  if (parameter.tensor)
    view.emplace_back(argument.view);
  else
    scalar = argument.scalar;
}

bool RecordedArgument::same_as(const RecordedArgument& other) const {
  if (info.tensor != other.info.tensor) return false;
  if (!info.tensor) return info.dtype == other.info.dtype && scalar == other.scalar;
  const RecordedView &a = view.front(), &b = other.view.front();
  return a.dtype == b.dtype && a.rank == b.rank && a.data == b.data &&
         std::equal(a.extents.begin(), a.extents.begin() + a.rank, b.extents.begin()) &&
         std::equal(a.strides.begin(), a.strides.begin() + a.rank, b.strides.begin());
}

bool RecordedArgument::integer(std::int64_t& value) const {
  if (info.tensor || !trilith::codegen::is_integer(info.dtype)) return false;
  const int unused = static_cast<int>(64 - 8 * trilith::codegen::size_of(info.dtype));
  value = trilith::codegen::is_signed_integer(info.dtype)
              ? static_cast<std::int64_t>(scalar << unused) >> unused
              : static_cast<std::int64_t>(scalar);
  return true;
}

void* Recorder::allocate(std::size_t bytes) {
  memory_.emplace_back(std::malloc(bytes + 1));
  if (memory_.back() == nullptr) throw std::bad_alloc();
  return memory_.back().get();
}

std::string Recorder::text() const {
  std::string text = "plan for " + std::to_string(world_size) + (world_size == 1 ? " rank\n" : " ranks\n");
  for (const RecordedDispatch& dispatch : dispatches) {
    text += "rank " + std::to_string(dispatch.rank) + " " + text_of(dispatch.arguments);
    if (dispatch.where.line() != 0)
      text += "  // " + std::string(dispatch.where.file_name()) + ":" + std::to_string(dispatch.where.line());
    text += "\n";
    for (const RecordedTask& task : dispatch.tasks)
      text += "  " + task.name + " " + text_of(task.arguments) +
              (task.signature.empty() ? "  // runs natively" : "  // compiled for (" + task.signature + ")") +
              "\n";
    if (dispatch.ended_at.line() != 0)
      text += "  the plan ends at the read at " + location_of(dispatch.ended_at).str() + "\n";
  }
  return text;
}

}  // namespace pl::detail
