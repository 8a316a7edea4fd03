// test/emitter/abi_arguments.hpp -- the arguments of a random program as a compiled kernel takes them.
#pragma once

#include "codegen/random_program.hpp"
#include "runtime/pl/abi.hpp"

#include <cstdint>
#include <cstring>
#include <variant>
#include <vector>

namespace emitter_test {

/// Points into the arguments it was made from, which must outlive it.
struct AbiArguments {
  explicit AbiArguments(const trilith::codegen::RandomArguments& given) {
    using namespace trilith::codegen;
    for (const Argument& argument : given.arguments) {
      if (const auto* view = std::get_if<TensorView>(&argument))
        tensors.push_back({view->data, view->extents.data(), view->strides.data()});
      else
        scalars.push_back(slot_of(std::get<Value>(argument)));
    }
    for (const Value& capture : given.captures) scalars.push_back(slot_of(capture));
    args = {tensors.data(), scalars.data(), 0, 1};
  }
  AbiArguments(const AbiArguments&) = delete;
  AbiArguments& operator=(const AbiArguments&) = delete;

  std::vector<pl::abi::Tensor> tensors;
  std::vector<std::uint64_t> scalars;
  pl::abi::Args args = {};

 private:
  static std::uint64_t slot_of(const trilith::codegen::Value& value) {
    std::uint64_t slot = 0;
    std::memcpy(&slot, value.bytes.data(), value.bytes.size());
    return slot;
  }
};

}  // namespace emitter_test
