// runtime/pl/incore_source.hpp -- kernels written by hand in C++: pl::jit.incore_source.
//
//   auto scale = pl::jit.incore_source("scale.cpp", "scale",
//                                      pl::signature<pl::Tensor<float>, pl::Out<pl::Tensor<float>>, pl::Scalar<float>>);
//   scale(x, y, 2.0f);        // compiled at the first call, cached in memory and on disk, dispatched as any kernel
//
// The file holds `extern "C" std::int32_t scale(const pl::abi::Args*, const pl::abi::Services*)`; what it may use is in
// pl/external.hpp. A relative path starts at the source file that names it (where the compiler was given a relative path
// for that one, from the working directory or a folder above the program), then at the working directory. One compilation
// serves every shape of one list of ranks. The file is read when the kernel is first needed, and edits
// reach kernel objects that are made later; a cache entry belongs to the text of the file and of all it includes.
//
// Arguments are checked as those of other kernels: dtypes, declared extents, named extents, strides of outputs. The
// code must respect the strides it is given. An output that overlaps another argument is refused unless it is one
// `pl::InOut` argument. In eager runs too the file is compiled: there is no lambda to run instead.
// Errors, at the first call: pl::SourceError (file or entry missing, Clang's errors at the file's line, a stated
// signature that differs, undefined symbols); pl::LevelError inside another kernel.
#pragma once

#include "pl/detail/kernel_object.hpp"
#include "pl/error.hpp"

namespace pl {

namespace detail {

template <class... P>
struct SignatureOf {};

/// Stands where other kernels have a lambda.
template <class... P>
struct ExternalFunction {
  static_assert((!is_const_parameter<P> && ...),
                "a kernel written by hand is not specialised on values; use pl::Scalar instead of pl::Const");
  template <class X>
  static constexpr bool has_dtype = [] {
    if constexpr (is_tensor<X>)
      return !std::is_void_v<typename X::value_type>;
    else
      return true;
  }();
  static_assert((has_dtype<P> && ...),
                "a kernel written by hand is of one dtype; name it, as in pl::Tensor<float>");

  ExternalSource external;
  void operator()(P...) const { throw InternalError("an external kernel was run natively"); }
};

}  // namespace detail

/// The parameters of a kernel that is no lambda: pl::Tensor, pl::Out, pl::InOut, pl::Scalar or numbers.
template <class... P>
inline constexpr detail::SignatureOf<P...> signature{};

}  // namespace pl
