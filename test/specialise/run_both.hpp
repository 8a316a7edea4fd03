// Runs a kernel as it was captured and as it was specialised, on equal arguments, and compares every byte.
#pragma once

#include "codegen/interpreter.hpp"
#include "signatures.hpp"

#include <doctest/doctest.h>

#include <cstring>
#include <string>
#include <utility>
#include <vector>

namespace trilith::codegen::test {

/// What a run leaves behind: the bytes of every tensor, what it printed, the error's class and message.
struct Outcome {
  std::vector<std::vector<std::byte>> tensors;
  std::string printed;
  std::string error;
  bool operator==(const Outcome&) const = default;
};

/// Element `index` of tensor number `tensor`: small numbers of both signs, exact in every dtype.
inline void fill(Value& value, std::size_t tensor) {
  for (std::int64_t i = 0; i < value.size(); ++i) {
    const std::int64_t number = (i * 7 + static_cast<std::int64_t>(tensor) * 5) % 13 - 6;
    std::byte* at = value.bytes.data() + static_cast<std::size_t>(i) * size_of(value.dtype);
    const auto put = [&](auto typed) { std::memcpy(at, &typed, sizeof typed); };
    switch (value.dtype) {
      case DType::Bool: put(number > 0); break;
      case DType::Int32: put(static_cast<std::int32_t>(number)); break;
      case DType::Int64: put(number); break;
      case DType::Float32: put(static_cast<float>(number) * 0.5f); break;
      case DType::Float64: put(static_cast<double>(number) * 0.5); break;
      default: break;
    }
  }
}

/// `scalars`: in the order of the scalar parameters, then of the captures. Run-time extents are 5.
inline Outcome run(const Kernel& kernel, const Signature& given, const std::vector<Value>& scalars) {
  std::vector<Value> memory(given.arguments.size());
  std::vector<Argument> arguments;
  std::size_t scalar = 0;
  for (std::size_t i = 0; i < given.arguments.size(); ++i) {
    if (!given.arguments[i].is_tensor) {
      arguments.emplace_back(scalars.at(scalar++));
      continue;
    }
    Shape extents = given.arguments[i].extents;
    for (std::int64_t& extent : extents) extent = extent < 0 ? 5 : extent;
    memory[i] = Value(given.arguments[i].dtype, extents);
    fill(memory[i], i);
    Shape strides(extents.size());
    std::int64_t stride = 1;
    for (std::size_t axis = extents.size(); axis-- > 0; stride *= extents[axis]) strides[axis] = stride;
    arguments.emplace_back(TensorView{memory[i].dtype, memory[i].bytes.data(), extents, strides});
  }
  const std::vector<Value> captures(scalars.begin() + static_cast<std::ptrdiff_t>(scalar), scalars.end());
  Outcome outcome;
  try {
    interpret(kernel, arguments, captures, [&](const std::string& text) { outcome.printed += text; });
  } catch (const pl::InternalError& error) {
    outcome.error = std::string("InternalError ") + error.what();
  } catch (const pl::UserError& error) {
    outcome.error = std::string("UserError ") + error.what();
  }
  for (const Value& value : memory) outcome.tensors.push_back(value.bytes);
  return outcome;
}

inline bool same_results(const Kernel& captured, const Signature& given,
                         const std::vector<Value>& scalars = {}) {
  const Outcome expected = run(captured, given, scalars);
  const Outcome specialised = run(specialise(captured, given), given, scalars);
  CHECK(expected.error == "");
  CHECK(specialised.error == "");
  return expected == specialised;
}

}  // namespace trilith::codegen::test
