// runtime/pl/distributed_tensor.hpp -- windows: memory that every rank has a part of and all ranks can reach.
//
//   auto host = pl::jit.host([](...) {
//     pld::Window buffer = pld::alloc_window_buffer<float>({8});     // one part a rank, all zero
//     auto window = pld::window<float>(buffer, {8});                 // its type and shape
//     for (auto r : pl::range(pld::world_size())) device_orch(window, pld::device = r);
//   });
//   auto kernel = pl::jit.incore([](pld::DistributedTensor<float, 8> w) { … });
//
// On the host a DistributedTensor stands for all parts; a dispatch gives each rank its own. There it is read
// and written like an InOut tensor, which touches this rank's part only; pl/remote.hpp reaches the others.
// It is not a pl::Tensor for a call: a parameter of one is not given the other. Windows live as long as the run of
// the orchestrator that made them. Values: not synchronised.
#pragma once

#include "pl/memory.hpp"
#include "pl/tensor.hpp"

#include <cstdint>
#include <memory>
#include <source_location>
#include <string>
#include <utility>

namespace pl::detail {

class WindowMemory;
struct WindowPart;

/// The view of `rank`'s own part, for a view that stands for all; throws PlanError where that rank has none.
[[nodiscard]] ViewRef on_rank(const ViewRef& view, int rank, const std::source_location& where);
[[nodiscard]] std::shared_ptr<WindowMemory> make_window(std::int64_t bytes, std::int64_t elements,
                                                        const std::source_location& where);
/// Throws ShapeError where `extents` of `dtype` need more than the buffer has.
[[nodiscard]] ViewRef whole_window(const std::shared_ptr<WindowMemory>& memory, DType dtype,
                                   std::span<const std::int64_t> extents,
                                   std::span<const std::int64_t> strides, const std::source_location& where);

}  // namespace pl::detail

namespace pld {

/// A view of a window: `T` and dims as in pl::Tensor.
template <class T, auto... Dims>
class DistributedTensor : public pl::Tensor<T, Dims...> {
  using Base = pl::Tensor<T, Dims...>;

 public:
  DistributedTensor() = default;
  template <class U, auto... Others>
    requires(std::is_void_v<T> || std::is_void_v<U> || std::is_same_v<T, U>)
  DistributedTensor(const DistributedTensor<U, Others...>& other,  // NOLINT(google-explicit-constructor)
                    std::source_location where = std::source_location::current())
      : DistributedTensor(other.view(), where) {}
  /// From the parts; for `pld::window`.
  DistributedTensor(const pl::detail::ViewRef& view, const std::source_location& where)
      : Base(view, where), part_(view.window) {}

  [[nodiscard]] pl::detail::ViewRef view() const { return with_part(Base::view()); }

  /// `w[i]`: the view without its leading dim.
  [[nodiscard]] auto operator[](const pl::Extent& index) const {
    return [&]<auto... Left>(const pl::Tensor<T, Left...>*) {
      return DistributedTensor<T, Left...>(with_part(this->drop_leading(index)), index.where);
    }(static_cast<typename pl::detail::DropLeading<T, Dims...>::type*>(nullptr));
  }
  /// The part of `shape` at `offsets`. Throws ShapeError where it is not inside.
  [[nodiscard]] DistributedTensor<T> slice(
      const pl::Index& offsets, const pl::Index& shape,
      std::source_location where = std::source_location::current()) const {
    std::array<std::int64_t, pl::detail::max_rank> extents{};
    return DistributedTensor<T>(with_part(this->region(offsets, shape, extents, where)), where);
  }

 private:
  [[nodiscard]] pl::detail::ViewRef with_part(pl::detail::ViewRef view) const {
    view.window = part_;
    return view;
  }
  const pl::detail::WindowPart* part_ = nullptr;
};

/// A buffer with a part for every rank; copies share it.
class Window {
 public:
  explicit Window(std::shared_ptr<pl::detail::WindowMemory> memory) : memory_(std::move(memory)) {}
  [[nodiscard]] const std::shared_ptr<pl::detail::WindowMemory>& memory() const { return memory_; }

 private:
  std::shared_ptr<pl::detail::WindowMemory> memory_;
};

/// A buffer of `bytes` a rank, all zero. In a host orchestrator; elsewhere LevelError.
[[nodiscard]] inline Window alloc_window_buffer(
    const pl::Extent& bytes, std::source_location where = std::source_location::current()) {
  return Window(pl::detail::make_window(bytes.value, -1, where));
}
/// A buffer for a tensor of `dims` a rank.
template <class T>
[[nodiscard]] Window alloc_window_buffer(const pl::Index& dims,
                                         std::source_location where = std::source_location::current()) {
  (void)pl::detail::dense_strides(dims.values(), where);
  std::int64_t elements = 1;
  for (const std::int64_t extent : dims.values()) elements *= extent;
  return Window(pl::detail::make_window(elements * static_cast<std::int64_t>(sizeof(T)), elements, where));
}

/// The buffer seen as `dims` of T; several views of one buffer are allowed. ShapeError where it is too small.
template <class T>
[[nodiscard]] DistributedTensor<T> window(const Window& buffer, const pl::Index& dims,
                                          std::source_location where = std::source_location::current()) {
  const auto strides = pl::detail::dense_strides(dims.values(), where);
  return DistributedTensor<T>(
      pl::detail::whole_window(buffer.memory(), trilith::codegen::dtype_of<T>, dims.values(), strides, where),
      where);
}

}  // namespace pld

namespace pl::detail {

template <class T, auto... Dims>
struct IsWritable<pld::DistributedTensor<T, Dims...>> : std::true_type {};

}  // namespace pl::detail
