// runtime/pl/adapters/torch.hpp -- views of libtorch's tensors.
//
//   at::Tensor x = at::rand({8, 16}), y = at::empty_like(x);
//   kernel(pl::from_torch<float>(x), pl::from_torch<float>(y), 2.0f);
//
// Nothing is copied; the tensor must outlive the view. What a kernel writes is invisible to autograd: write to
// tensors that require no gradient, or inside an autograd::Function. A source for trilith_capture must compile with Clang
// as C++20, which ATen.h of libtorch 1.13 does not: keep kernels in a source that does not include this, as pl::Kernel. Errors: DtypeError (another dtype than T, a
// dtype Trilith has not), UserError (not dense CPU memory), ShapeError (rank above 8).
#pragma once

#include "pl/error.hpp"
#include "pl/tensor.hpp"

#include <ATen/ATen.h>

#include <optional>
#include <string>

namespace pl {

namespace detail {

[[nodiscard]] inline std::optional<DType> dtype_of_torch(at::ScalarType type) {
  switch (type) {
    case at::kBool: return DType::Bool;
    case at::kChar: return DType::Int8;
    case at::kShort: return DType::Int16;
    case at::kInt: return DType::Int32;
    case at::kLong: return DType::Int64;
    case at::kByte: return DType::UInt8;
    case at::kHalf: return DType::Float16;
    case at::kBFloat16: return DType::BFloat16;
    case at::kFloat: return DType::Float32;
    case at::kDouble: return DType::Float64;
    default: return std::nullopt;
  }
}

}  // namespace detail

/// A view of any dtype, for kernels with `pl::Tensor<>` parameters.
[[nodiscard]] inline Tensor<> from_torch(const at::Tensor& tensor,
                                         std::source_location where = std::source_location::current()) {
  const Location place{where.file_name(), where.line(), where.column()};
  if (!tensor.defined()) throw UserError("pl::from_torch: the tensor is not defined", place);
  // Of a tensor that is negated lazily (at::_neg_view, the imaginary part of a conjugate) memory holds the opposite.
  if (!tensor.device().is_cpu() || tensor.layout() != at::kStrided || tensor.is_neg())
    throw UserError("pl::from_torch: a tensor on " + tensor.device().str() +
                        " or without strides, or one that is negated lazily; give a dense tensor in CPU "
                        "memory, as tensor.cpu() and tensor.resolve_neg() make",
                    place);
  const std::optional<DType> dtype = detail::dtype_of_torch(tensor.scalar_type());
  if (!dtype)
    throw DtypeError("pl::from_torch: " + std::string(at::toString(tensor.scalar_type())) +
                         " is no Trilith dtype; convert the tensor with tensor.to(…) first",
                     place);
  const detail::ViewRef view{*dtype,
                             false,
                             static_cast<int>(tensor.dim()),
                             tensor.data_ptr(),
                             tensor.sizes().data(),
                             tensor.strides().data(),
                             nullptr};
  return Tensor<>(view, where);
}

/// A view of dtype T.
template <class T>
[[nodiscard]] Tensor<T> from_torch(const at::Tensor& tensor,
                                   std::source_location where = std::source_location::current()) {
  return Tensor<T>(from_torch(tensor, where).view(), where);
}

}  // namespace pl
