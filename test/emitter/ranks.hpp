// Support of the tests of windows: a host that keeps what a compiled kernel asks of it.
#pragma once

#include "codegen/remote.hpp"
#include "emitter/compare.hpp"

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

namespace emitter_test {

using namespace trilith::codegen::build;

/// A request with copies of what it pointed to.
struct Asked {
  pl::abi::Remote request{};
  std::vector<std::int64_t> offsets, other_offsets, shape;
  std::string file;
};

struct Ranks : Host {
  std::vector<Asked> asked;
  std::function<std::int32_t(pl::abi::Remote&)> answer;

  Ranks() { services.remote = on_remote; }
  static std::int32_t on_remote(void* context, pl::abi::Remote* request) {
    auto& self = *static_cast<Ranks*>(static_cast<Host*>(context));
    const auto copy = [](const std::int64_t* from, std::int32_t count) {
      return from == nullptr ? std::vector<std::int64_t>{} : std::vector<std::int64_t>(from, from + count);
    };
    self.asked.push_back({*request, copy(request->offsets, request->rank),
                          copy(request->other_offsets, request->other_rank),
                          copy(request->shape, request->rank), request->file});
    if (request->operation == pl::abi::remote_rank) request->value = 2;
    if (request->operation == pl::abi::remote_size) request->value = 5;
    return self.answer ? self.answer(*request) : 0;
  }
};

using List = std::vector<std::int64_t>;

/// Tensors of float or int32, dense.
struct Call {
  explicit Call(const Kernel& kernel, const std::vector<ArgumentSpec>& specs, bool checked = false) {
    Signature signature = signature_of(kernel, specs);
    signature.checked = checked;
    specialised = specialise(kernel, signature);
    emitted = xsimd::emit(specialised, signature);
    entry = compile(emitted);
    for (const ArgumentSpec& spec : specs)
      if (const auto* tensor = std::get_if<TensorSpec>(&spec)) extents.push_back(tensor->extents);
  }
  /// Runs with one memory a tensor and scalars as their slots.
  std::int32_t run(Ranks& ranks, const std::vector<void*>& memory,
                   const std::vector<std::uint64_t>& slots = {}) const {
    std::vector<pl::abi::Tensor> tensors;
    for (std::size_t i = 0; i < memory.size(); ++i)
      tensors.push_back({memory[i], extents[i].data(), nullptr});
    const pl::abi::Args args{tensors.data(), slots.data(), 0, 1};
    return entry(&args, &ranks.services);
  }

  Kernel specialised;
  xsimd::Emitted emitted;
  pl::abi::Entry entry = nullptr;
  std::vector<List> extents;
};

inline Expr number(std::int64_t value) { return constant(Constant::of(value)); }
inline std::vector<Dim> shape(std::initializer_list<std::int64_t> extents) {
  std::vector<Dim> result;
  for (const std::int64_t extent : extents) result.push_back({extent});
  return result;
}
inline const TensorSpec cells{{4}, DType::Int32};

}  // namespace emitter_test
