// runtime/pl/adapters/dlpack.hpp -- views of DLPack tensors, the exchange format of ML frameworks.
//
//   void apply(const DLTensor* x, const DLTensor* y) {
//     kernel(pl::from_dlpack<float>(x), pl::from_dlpack<float>(y));    // dtype checked here
//     any(pl::from_dlpack(x), …);                                      // pl::Tensor<>: any dtype
//   }
//
// Nothing is copied and nothing is taken over: who owns the DLManagedTensor still calls its deleter, after the
// last use of the view. Errors: DtypeError (another dtype than T, a dtype Trilith has not, more than one lane),
// UserError (memory that the CPU cannot read, no tensor at all), ShapeError (rank above 8).
#pragma once

#include "pl/error.hpp"
#include "pl/tensor.hpp"

#include <dlpack/dlpack.h>

#include <optional>
#include <string>

namespace pl {

namespace detail {

[[nodiscard]] inline std::optional<DType> dtype_of_dlpack(const DLDataType& type) {
  // A bool came to DLPack later than the version that Debian 12 has: code 6.
  constexpr int boolean = 6;
  if (type.lanes != 1) return std::nullopt;
  const auto by_size = [&](DType of8, DType of16, DType of32, DType of64) -> std::optional<DType> {
    switch (type.bits) {
      case 8: return of8;
      case 16: return of16;
      case 32: return of32;
      case 64: return of64;
      default: return std::nullopt;
    }
  };
  switch (type.code) {
    case boolean: return type.bits == 8 ? std::optional(DType::Bool) : std::nullopt;
    case kDLInt: return by_size(DType::Int8, DType::Int16, DType::Int32, DType::Int64);
    case kDLUInt: return by_size(DType::UInt8, DType::UInt16, DType::UInt32, DType::UInt64);
    case kDLBfloat: return type.bits == 16 ? std::optional(DType::BFloat16) : std::nullopt;
    case kDLFloat:
      if (type.bits == 8) return std::nullopt;
      return by_size(DType::Bool, DType::Float16, DType::Float32, DType::Float64);
    default: return std::nullopt;
  }
}

}  // namespace detail

/// A view of any dtype, for kernels with `pl::Tensor<>` parameters.
[[nodiscard]] inline Tensor<> from_dlpack(const DLTensor* tensor,
                                          std::source_location where = std::source_location::current()) {
  const Location place{where.file_name(), where.line(), where.column()};
  if (tensor == nullptr) throw UserError("pl::from_dlpack: a null pointer; give a DLTensor", place);
  if (tensor->device.device_type != kDLCPU && tensor->device.device_type != kDLCUDAHost)
    throw UserError("pl::from_dlpack: the tensor is on device type " +
                        std::to_string(static_cast<int>(tensor->device.device_type)) +
                        ", whose memory the CPU does not read; copy it to the CPU first",
                    place);
  const std::optional<DType> dtype = detail::dtype_of_dlpack(tensor->dtype);
  if (!dtype)
    throw DtypeError("pl::from_dlpack: DLPack dtype code " + std::to_string(tensor->dtype.code) + " of " +
                         std::to_string(tensor->dtype.bits) + " bits and " +
                         std::to_string(tensor->dtype.lanes) +
                         " lanes is no Trilith dtype; convert the tensor in its own framework first",
                     place);
  const std::span<const std::int64_t> extents(tensor->shape, static_cast<std::size_t>(tensor->ndim));
  // Null strides mean dense; the call also checks the rank and the extents.
  const auto dense = detail::dense_strides(extents, where);
  char* const data = static_cast<char*>(tensor->data) + tensor->byte_offset;
  const detail::ViewRef view{*dtype,        false,
                             tensor->ndim,  tensor->data != nullptr ? data : nullptr,
                             tensor->shape, tensor->strides != nullptr ? tensor->strides : dense.data(),
                             nullptr};
  return Tensor<>(view, where);
}

/// A view of dtype T.
template <class T>
[[nodiscard]] Tensor<T> from_dlpack(const DLTensor* tensor,
                                    std::source_location where = std::source_location::current()) {
  return Tensor<T>(from_dlpack(tensor, where).view(), where);
}

}  // namespace pl
