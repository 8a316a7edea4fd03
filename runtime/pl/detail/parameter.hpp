// runtime/pl/detail/parameter.hpp -- the parameters of kernels and orchestrators: what they are, how
// arguments become them.
//
// Private: included by the kernel and orchestrator headers.
#pragma once

#include "pl/distributed_tensor.hpp"
#include "pl/rank.hpp"
#include "pl/scalar.hpp"
#include "pl/tensor.hpp"

#include <cstdint>
#include <cstring>
#include <source_location>
#include <tuple>
#include <type_traits>
#include <utility>

namespace pl::detail {

enum class Access : std::uint8_t { In, Out, InOut };

/// What the runtime knows of a parameter without its type.
struct ParameterInfo {
  bool tensor = false;
  bool constant = false;  ///< pl::Const
  bool is_rank = false;   ///< pld::Rank
  bool any_dtype = false;
  bool window = false;  ///< pld::DistributedTensor
  Access access = Access::In;
  DType dtype = DType::Int64;
  int rank = -1;  ///< of a tensor's annotation; -1: any
  const std::int64_t* extents = nullptr;
  const std::string_view* names = nullptr;
};

/// An argument without its type: a view, or the bytes of a scalar in an 8-byte slot.
union Argument {
  ViewRef view;
  std::uint64_t scalar;
};

template <class T, auto... Dims>
std::true_type is_tensor_test(const Tensor<T, Dims...>*);
std::false_type is_tensor_test(const void*);
/// A Tensor, Out or InOut.
template <class P>
inline constexpr bool is_tensor = decltype(is_tensor_test(static_cast<const P*>(nullptr)))::value;
template <class T, auto... Dims>
std::true_type is_window_test(const pld::DistributedTensor<T, Dims...>*);
std::false_type is_window_test(const void*);
/// A DistributedTensor: a Tensor in C++, and another thing for a call.
template <class P>
inline constexpr bool is_window = decltype(is_window_test(static_cast<const P*>(nullptr)))::value;
template <class A>
concept OwnsView = !is_tensor<A> && requires(A& a) { a.view().view().extents; };

template <class P>
inline constexpr Access access_of = Access::In;
template <class X>
inline constexpr Access access_of<Out<X>> = Access::Out;
template <class X>
inline constexpr Access access_of<InOut<X>> = Access::InOut;
template <class T, auto... Dims>
inline constexpr Access access_of<pld::DistributedTensor<T, Dims...>> = Access::InOut;

/// The C++ type of a scalar parameter's value; void: no scalar.
template <class P>
struct ScalarValue {
  using type = std::conditional_t<is_number<P>, P, void>;
};
template <class T>
struct ScalarValue<Scalar<T>> {
  using type = T;
};
template <class T>
struct ScalarValue<Const<T>> {
  using type = T;
};
template <>
struct ScalarValue<pld::Rank> {
  using type = std::int32_t;
};
template <class P>
using scalar_value_t = typename ScalarValue<P>::type;
template <class P>
inline constexpr bool is_scalar = !std::is_void_v<scalar_value_t<P>>;
template <class P>
inline constexpr bool is_const_parameter = false;
template <class T>
inline constexpr bool is_const_parameter<Const<T>> = true;

template <class P>
constexpr ParameterInfo parameter_info() {
  ParameterInfo info;
  if constexpr (is_tensor<P>) {
    using Annotation = typename P::annotation;
    info.tensor = true;
    info.access = access_of<P>;
    info.window = is_window<P>;
    info.any_dtype = std::is_void_v<typename P::value_type>;
    if constexpr (!std::is_void_v<typename P::value_type>)
      info.dtype = trilith::codegen::dtype_of<typename P::value_type>;
    info.rank = Annotation::rank;
    info.extents = Annotation::extents;
    info.names = Annotation::names;
  } else {
    static_assert(is_scalar<P>,
                  "a parameter is a pl::Tensor, pl::Out, pl::InOut, pl::Scalar, pl::Const or a number");
    info.constant = is_const_parameter<P>;
    info.is_rank = std::is_same_v<P, pld::Rank>;
    info.dtype = trilith::codegen::dtype_of<scalar_value_t<P>>;
  }
  return info;
}

/// Can an argument A be given for a parameter P? Shapes are checked when called.
template <class A, class P>
constexpr bool fits() {
  if constexpr (is_tensor<P>) {
    if constexpr (is_window<A> != is_window<P>)
      return false;
    else if constexpr (is_tensor<A>)
      return std::is_constructible_v<P, const A&>;
    else if constexpr (OwnsView<A>)
      return std::is_constructible_v<P, decltype(std::declval<A&>().view())>;
    else
      return false;
  } else {
    return std::is_convertible_v<A&, scalar_value_t<P>> && !is_tensor<A>;
  }
}

/// Makes the parameter from an argument; throws ShapeError or DtypeError at `where`.
template <class P, class A>
P to_parameter(A& argument, const std::source_location& where) {
  if constexpr (std::is_same_v<std::remove_const_t<A>, P>) {
    return argument;
  } else if constexpr (is_tensor<P>) {
    if constexpr (is_tensor<std::remove_const_t<A>>)
      return P(argument.view(), where);
    else
      return P(argument.view().view(), where);
  } else if constexpr (std::is_same_v<P, pld::Rank>) {
    return pld::Rank(static_cast<int>(argument));
  } else {
    return P(static_cast<scalar_value_t<P>>(argument));
  }
}

/// What a parameter declared `auto` becomes for an argument A.
template <class A>
struct Deduced {
  using type = A;
};
template <OwnsView A>
struct Deduced<A> {
  using type = decltype(std::declval<A&>().view());
};
template <class A>
using deduced_t = typename Deduced<A>::type;

template <class P>
void to_argument(const P& parameter, Argument& argument) {
  if constexpr (is_tensor<P>) {
    argument.view = parameter.view();
  } else {
    const scalar_value_t<P> value = static_cast<scalar_value_t<P>>(parameter);
    argument.scalar = 0;
    std::memcpy(&argument.scalar, &value, sizeof value);
  }
}

template <class P>
P from_argument(const Argument& argument) {
  if constexpr (is_tensor<P>) {
    return P(argument.view, std::source_location{});
  } else {
    scalar_value_t<P> value;
    std::memcpy(&value, &argument.scalar, sizeof value);
    return P(value);
  }
}

/// A parameter of a non-generic call operator: takes whatever fits, so that a defaulted source location can
/// follow. It knows its own place too: what does not fit is refused at the user's line.
template <class P>
class Given {
 public:
  template <class A>
    requires(fits<std::remove_reference_t<A>, P>())
  Given(A&& argument,  // NOLINT(google-explicit-constructor): stands in the place of a P
        const std::source_location& where = std::source_location::current())
      : value_(to_parameter<P>(argument, where)) {}
  [[nodiscard]] const P& value() const { return value_; }

 private:
  P value_;
};

/// The signature of a lambda's call operator; generic lambdas have none.
template <class Member>
struct MemberSignature;
template <class C, class R, class... P>
struct MemberSignature<R (C::*)(P...) const> {
  template <template <class, class...> class Template>
  using apply = Template<R, std::remove_cvref_t<P>...>;
};
template <class C, class R, class... P>
struct MemberSignature<R (C::*)(P...) const noexcept> : MemberSignature<R (C::*)(P...) const> {};

/// A lambda that is `mutable`. What the rest needs of it is there, so that this is the only complaint.
template <class C, class R, class... P>
struct MemberSignature<R (C::*)(P...)> : MemberSignature<R (C::*)(P...) const> {
  static_assert(
      sizeof(C) == 0,
      "a 'mutable' lambda: what it would keep between calls is lost; remove 'mutable', and copy the "
      "captured value into a local variable");
};
template <class C, class R, class... P>
struct MemberSignature<R (C::*)(P...) noexcept> : MemberSignature<R (C::*)(P...)> {};

template <class F>
concept Generic = !requires { &F::operator(); };

}  // namespace pl::detail
