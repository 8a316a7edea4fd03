// runtime/pl/tensor.hpp -- views of global memory that kernels read and write.
//
//   pl::Tensor<float, 8, 8> x = pl::tensor(pointer, {8, 8});   // static shape, checked
//   pl::Tensor<float> any = x;                                 // any rank and shape
//   pl::Out<pl::Tensor<float, 8, 8>> y = pl::tensor(result, {8, 8});
//
// A view owns nothing and copies in a few words; the memory must live until the work that uses it has ended.
// Extents and strides count elements. Errors: pl::ShapeError, pl::DtypeError when a view does not fit the
// type it is converted to. Views are values: not synchronised.
#pragma once

#include "codegen/dtype.hpp"
#include "pl/dynamic.hpp"
#include "pl/error.hpp"
#include "pl/scalar.hpp"

#include <array>
#include <cstdint>
#include <source_location>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

namespace pl {

template <class T, auto... Dims>
class Tensor;
template <class TensorType>
class Out;
template <class TensorType>
class InOut;
template <class T>
class Tile;

namespace detail {

/// May it be written, and do tasks wait because of it (pl::no_dep)? Converts from and to the first.
struct ViewFlags {
  bool read_only;
  bool untracked;
  ViewFlags() = default;                                         // trivial: arguments are a union
  constexpr ViewFlags(bool read_only_, bool untracked_ = false)  // NOLINT(google-explicit-constructor)
      : read_only(read_only_), untracked(untracked_) {}
  constexpr operator bool() const { return read_only; }  // NOLINT(google-explicit-constructor)
};

struct WindowPart;

/// What every view is made of; kernels are called with pointers into it.
struct ViewRef {
  DType dtype;
  ViewFlags read_only;
  int rank;
  void* data;
  const std::int64_t* extents;
  const std::int64_t* strides;
  const WindowPart* window;  ///< of a pld::DistributedTensor: whose part of which window; else null
};

/// "float[8, 8]"
[[nodiscard]] std::string describe(const ViewRef& view);
/// Throws DtypeError or ShapeError: what was given, what `expected` says, at `where`.
[[noreturn]] void throw_dtype_mismatch(const ViewRef& given, DType expected,
                                       const std::source_location& where);
[[noreturn]] void throw_shape_mismatch(const ViewRef& given, std::span<const std::int64_t> extents,
                                       std::span<const std::string_view> names,
                                       std::span<const std::int64_t> multiples,
                                       const std::source_location& where);
[[noreturn]] void throw_read_only(const ViewRef& given, const std::source_location& where);
[[noreturn]] void throw_bad_region(const ViewRef& given, const Index& offsets, const Index& shape,
                                   const std::source_location& where);
[[noreturn]] void throw_bad_index(const ViewRef& given, std::int64_t index,
                                  const std::source_location& where);
[[noreturn]] void throw_bad_dims(const char* what, std::int64_t given, const std::source_location& where);

/// The type of `x[i]`: the leading dim dropped.
template <class T, auto... Dims>
struct DropLeading {
  using type = Tensor<T>;
};
template <class T, auto First>
struct DropLeading<T, First> {
  using type = Tensor<T, no_dims>;
};
template <class T, auto First, auto Second, auto... Rest>
struct DropLeading<T, First, Second, Rest...> {
  using type = Tensor<T, Second, Rest...>;
};

struct ViewAccess;

}  // namespace detail

/// A read-only argument of a kernel; see Out and InOut for the written ones.
/// `Tensor<T>`: any rank and shape. `Tensor<>`: any dtype too.
template <class T = void, auto... Dims>
class Tensor {
  using Annotation = detail::Annotation<Dims...>;
  static constexpr bool any_dtype = std::is_void_v<T>;

 public:
  using value_type = T;
  using annotation = Annotation;

  Tensor() = default;

  /// Any view whose dtype and shape fit; throws where they do not.
  template <class U, auto... Others>
    requires(any_dtype || std::is_void_v<U> || std::is_same_v<T, U>)
  Tensor(const Tensor<U, Others...>& other,  // NOLINT(google-explicit-constructor)
         std::source_location where = std::source_location::current()) {
    assign(other.view(), where);
  }

  /// From the parts; for `pl::tensor` and adapters.
  Tensor(const detail::ViewRef& view, const std::source_location& where) { assign(view, where); }

  [[nodiscard]] DType dtype() const {
    if constexpr (any_dtype)
      return dtype_.value;
    else
      return trilith::codegen::dtype_of<T>;
  }
  [[nodiscard]] constexpr int rank() const {
    if constexpr (Annotation::any_shape)
      return rank_.value;
    else
      return Annotation::rank;
  }
  /// Extent along `axis`; negative axes count from the end.
  [[nodiscard]] std::int64_t dim(int axis) const { return extents_[axis < 0 ? axis + rank() : axis]; }
  [[nodiscard]] std::int64_t stride(int axis) const { return strides_[axis < 0 ? axis + rank() : axis]; }
  [[nodiscard]] std::int64_t size() const {
    std::int64_t count = 1;
    for (int axis = 0; axis < rank(); ++axis) count *= extents_[axis];
    return count;
  }
  [[nodiscard]] T* data() const { return static_cast<T*>(data_); }
  [[nodiscard]] bool read_only() const { return read_only_; }

  /// `x[i]`: the view without its leading dim.
  [[nodiscard]] typename detail::DropLeading<T, Dims...>::type operator[](const Extent& index) const {
    static_assert(Annotation::rank != 0, "x[i]: a tensor of rank 0 has no leading dim");
    return typename detail::DropLeading<T, Dims...>::type(drop_leading(index), index.where);
  }

  /// The part of `shape` at `offsets`, both of this tensor's rank. Throws ShapeError where it is not inside.
  [[nodiscard]] Tensor<T> slice(const Index& offsets, const Index& shape,
                                std::source_location where = std::source_location::current()) const {
    std::array<std::int64_t, detail::max_rank> extents{};
    return Tensor<T>(region(offsets, shape, extents, where), where);
  }

  [[nodiscard]] detail::ViewRef view() const {
    return {dtype(), read_only_, rank(), data_, extents_, strides_, nullptr};
  }

 protected:
  void assign(const detail::ViewRef& view, const std::source_location& where) {
    if constexpr (any_dtype)
      dtype_.value = view.dtype;
    else if (view.dtype != trilith::codegen::dtype_of<T>)
      detail::throw_dtype_mismatch(view, trilith::codegen::dtype_of<T>, where);
    if constexpr (Annotation::any_shape)
      rank_.value = view.rank;
    else if (!fits(view))
      detail::throw_shape_mismatch(view,
                                   std::span(Annotation::extents, sizeof...(Dims) * !Annotation::is_rank_0),
                                   std::span(Annotation::names, sizeof...(Dims) * !Annotation::is_rank_0),
                                   Annotation::multiples, where);
    data_ = view.data;
    read_only_ = view.read_only;
    for (int axis = 0; axis < rank(); ++axis) {  // a constant, where the annotation has one
      extents_[axis] = view.extents[axis];
      strides_[axis] = view.strides[axis];
    }
  }

  [[nodiscard]] static bool fits(const detail::ViewRef& view) {
    if (view.rank != Annotation::rank) return false;
    for (int axis = 0; axis < Annotation::rank; ++axis)
      if (Annotation::extents[axis] >= 0 ? Annotation::extents[axis] != view.extents[axis]
                                         : view.extents[axis] % Annotation::multiples[axis] != 0)
        return false;
    return true;
  }

  [[nodiscard]] detail::ViewRef drop_leading(const Extent& index) const {
    if (rank() == 0 || index.value < 0 || index.value >= extents_[0])
      detail::throw_bad_index(view(), index.value, index.where);
    const auto bytes =
        index.value * strides_[0] * static_cast<std::int64_t>(trilith::codegen::size_of(dtype()));
    return {dtype(),      read_only_,   rank() - 1, static_cast<char*>(data_) + bytes,
            extents_ + 1, strides_ + 1, nullptr};
  }

  [[nodiscard]] detail::ViewRef region(const Index& offsets, const Index& shape,
                                       std::array<std::int64_t, detail::max_rank>& extents,
                                       const std::source_location& where) const {
    const auto& at = offsets.values();
    const auto& size = shape.values();
    if (static_cast<int>(at.size()) != rank() || static_cast<int>(size.size()) != rank())
      detail::throw_bad_region(view(), offsets, shape, where);
    std::int64_t start = 0;
    for (int axis = 0; axis < rank(); ++axis) {
      const auto i = static_cast<std::size_t>(axis);
      if (at[i] < 0 || size[i] < 0 || at[i] > extents_[axis] - size[i])
        detail::throw_bad_region(view(), offsets, shape, where);
      extents[i] = size[i];
      start += at[i] * strides_[axis];
    }
    const auto bytes = start * static_cast<std::int64_t>(trilith::codegen::size_of(dtype()));
    return {dtype(),        read_only_, rank(), static_cast<char*>(data_) + bytes,
            extents.data(), strides_,   nullptr};
  }

 private:
  struct Empty {};
  struct StoredDType {
    DType value = DType::Float32;
  };
  struct StoredRank {
    int value = 0;
  };
  void* data_ = nullptr;
  std::int64_t extents_[Annotation::capacity] = {};
  std::int64_t strides_[Annotation::capacity] = {};
  [[no_unique_address]] std::conditional_t<Annotation::any_shape, StoredRank, Empty> rank_;
  [[no_unique_address]] std::conditional_t<any_dtype, StoredDType, Empty> dtype_;
  detail::ViewFlags read_only_ = false;
};

namespace detail {

template <class T>
inline constexpr bool is_not_a_tile = false;

/// The part Out and InOut share: a view that may be written.
template <class TensorType, template <class> class Self>
class WritableTensor : public TensorType {
 public:
  WritableTensor() = default;
  template <class U, auto... Others>
    requires std::is_constructible_v<TensorType, const Tensor<U, Others...>&>
  WritableTensor(const Tensor<U, Others...>& other,  // NOLINT(google-explicit-constructor)
                 std::source_location where = std::source_location::current())
      : TensorType(other, where) {
    if (other.read_only()) throw_read_only(other.view(), where);
  }
  WritableTensor(const ViewRef& view, const std::source_location& where) : TensorType(view, where) {
    if (view.read_only) throw_read_only(view, where);
  }

  [[nodiscard]] auto operator[](const Extent& index) const {
    using Dropped = decltype(std::declval<const TensorType&>()[index]);
    return Self<Dropped>(this->drop_leading(index), index.where);
  }
  [[nodiscard]] auto slice(const Index& offsets, const Index& shape,
                           std::source_location where = std::source_location::current()) const {
    using Any = Tensor<typename TensorType::value_type>;
    std::array<std::int64_t, max_rank> extents{};
    return Self<Any>(this->region(offsets, shape, extents, where), where);
  }
};

}  // namespace detail

/// An argument that the kernel writes.
template <class TensorType>
class Out : public detail::WritableTensor<TensorType, Out> {
 public:
  using detail::WritableTensor<TensorType, Out>::WritableTensor;
  /// Not this way: refused, in words.
  template <class T>
  Out& operator=(const Tile<T>&) {
    static_assert(detail::is_not_a_tile<T>, "a tile is written by pl::store: y = pl::store(tile, y)");
    return *this;
  }
};

/// An argument that the kernel reads and writes.
template <class TensorType>
class InOut : public detail::WritableTensor<TensorType, InOut> {
 public:
  using detail::WritableTensor<TensorType, InOut>::WritableTensor;
  /// Not this way: refused, in words.
  template <class T>
  InOut& operator=(const Tile<T>&) {
    static_assert(detail::is_not_a_tile<T>, "a tile is written by pl::store: y = pl::store(tile, y)");
    return *this;
  }
};

namespace detail {
/// Row-major strides of a dense tensor; throws ShapeError for a negative extent or a rank above 8.
std::array<std::int64_t, max_rank> dense_strides(std::span<const std::int64_t> extents,
                                                 const std::source_location& where);
template <class T>
Tensor<std::remove_const_t<T>> make_tensor(T* data, std::span<const std::int64_t> extents,
                                           std::span<const std::int64_t> strides,
                                           const std::source_location& where) {
  const ViewRef view{trilith::codegen::dtype_of<std::remove_const_t<T>>,
                     std::is_const_v<T>,
                     static_cast<int>(extents.size()),
                     const_cast<std::remove_const_t<T>*>(data),
                     extents.data(),
                     strides.data(),
                     nullptr};
  return Tensor<std::remove_const_t<T>>(view, where);
}
void check_element_count(std::span<const std::int64_t> extents, std::size_t available,
                         const std::source_location& where);
}  // namespace detail

/// A dense row-major view of memory at `data`. A pointer to const gives a view that no Out accepts.
template <class T>
[[nodiscard]] Tensor<std::remove_const_t<T>> tensor(
    T* data, const Index& dims, std::source_location where = std::source_location::current()) {
  const auto strides = detail::dense_strides(dims.values(), where);
  return detail::make_tensor(data, dims.values(), strides, where);
}

/// A strided view; `strides` count elements, one per dim. Zero and negative strides: for inputs only.
template <class T>
[[nodiscard]] Tensor<std::remove_const_t<T>> tensor(
    T* data, const Index& dims, const Index& strides,
    std::source_location where = std::source_location::current()) {
  (void)detail::dense_strides(dims.values(), where);
  if (strides.values().size() != dims.values().size())
    detail::throw_bad_dims("as many strides as dims", static_cast<std::int64_t>(strides.values().size()),
                           where);
  return detail::make_tensor(data, dims.values(), strides.values(), where);
}

/// A view of a vector, std::array or std::span; ShapeError where it has fewer elements than the dims need.
template <class Container>
  requires requires(Container& c) {
    c.data();
    c.size();
  } && (!requires(Container& c) { c.view(); })
[[nodiscard]] auto tensor(Container&& container, const Index& dims,
                          std::source_location where = std::source_location::current()) {
  detail::check_element_count(dims.values(), container.size(), where);
  return tensor(container.data(), dims, where);
}

}  // namespace pl
