// runtime/pl/adapters/eigen.hpp -- views of Eigen's vectors, matrices, maps and blocks.
//
//   Eigen::MatrixXf a(8, 16);                  // column-major: a strided view, nothing is copied
//   kernel(pl::tensor(a), pl::tensor(b.leftCols(4)), 2.0f);
//
// A vector (compile-time) is a tensor of rank 1, everything else of rank 2: rows, columns. A const object gives
// a view that no pl::Out accepts. Kernels are fastest on row-major matrices: the last axis of a tensor is the
// dense one. Expressions without memory of their own (`a + b`) do not compile: evaluate them first. The object
// must outlive the view.
#pragma once

#include "pl/tensor.hpp"

#include <Eigen/Core>

#include <type_traits>

namespace pl {

namespace detail {
template <class Derived>
concept EigenMemory = (static_cast<int>(Derived::Flags) & Eigen::DirectAccessBit) != 0;

template <class Matrix>
auto tensor_of_eigen(Matrix& matrix, const std::source_location& where) {
  const std::int64_t rows = matrix.rows(), columns = matrix.cols();
  if constexpr (std::remove_cvref_t<Matrix>::IsVectorAtCompileTime)
    return pl::tensor(matrix.data(), Index{rows * columns},
                      Index{static_cast<std::int64_t>(matrix.innerStride())}, where);
  else
    return pl::tensor(
        matrix.data(), Index{rows, columns},
        Index{static_cast<std::int64_t>(matrix.rowStride()), static_cast<std::int64_t>(matrix.colStride())},
        where);
}
}  // namespace detail

template <class Derived>
  requires detail::EigenMemory<Derived>
[[nodiscard]] auto tensor(Eigen::DenseBase<Derived>& matrix,
                          std::source_location where = std::source_location::current()) {
  return detail::tensor_of_eigen(matrix.derived(), where);
}
/// Also of a map or block that is made in the call: it is written through where what it looks at may be written.
template <class Derived>
  requires detail::EigenMemory<Derived>
[[nodiscard]] auto tensor(const Eigen::DenseBase<Derived>& matrix,
                          std::source_location where = std::source_location::current()) {
  if constexpr (std::is_base_of_v<Eigen::PlainObjectBase<Derived>, Derived>)
    return detail::tensor_of_eigen(matrix.derived(), where);
  else
    return detail::tensor_of_eigen(const_cast<Derived&>(matrix.derived()), where);
}
/// A matrix that ends with the statement would leave a view of nothing.
template <class Scalar, int... Options>
void tensor(Eigen::Matrix<Scalar, Options...>&& matrix) = delete;
template <class Scalar, int... Options>
void tensor(Eigen::Array<Scalar, Options...>&& matrix) = delete;

}  // namespace pl
