// runtime/pl/array.hpp -- pl::Array<T>: a dense tensor that owns its memory.
//
//   pl::Array<float> x({2, 8, 8});        // zero-filled, aligned to 64 bytes
//   x(1, 2, 3) = 4.0f;
//
// Moves are cheap; copies copy the elements. Not synchronised. One that ends inside a pl::jit body waits there for the
// tasks that use its memory; in a host orchestrator its memory lives as long as the run. With the transport "processes"
// (see pl/config.hpp) arrays lie in memory that the processes of ranks share, once a context or program has been made
// for it.
#pragma once

#include "pl/tensor.hpp"

#include <cstring>
#include <memory>

namespace pl {
namespace detail {

/// Aligned to 64 bytes. From when on this process uses ranks that are processes: shared with them.
[[nodiscard]] void* allocate_elements(std::size_t bytes);
/// In an orchestration memory may still be named by tasks: waits for them, or keeps it until the run has ended.
void free_elements(void* memory, std::size_t bytes) noexcept;

}  // namespace detail

template <class T>
class Array {
 public:
  using value_type = T;
  Array() : Array(Index{0}) {}
  explicit Array(const Index& dims, std::source_location where = std::source_location::current())
      : dims_(dims.values()),
        strides_(detail::dense_strides(dims_, where)),
        size_(count()),
        data_(static_cast<T*>(detail::allocate_elements(bytes() + 1)), Free{bytes()}) {
    std::memset(static_cast<void*>(data_.get()), 0, bytes());
  }
  Array(const Index& dims, T value, std::source_location where = std::source_location::current())
      : Array(dims, where) {
    fill(value);
  }
  Array(const Array& other) : Array(Index(other.dims_)) { std::memcpy(data(), other.data(), bytes()); }
  Array& operator=(const Array& other) { return *this = Array(other); }
  Array(Array&&) noexcept = default;
  Array& operator=(Array&&) noexcept = default;
  ~Array() = default;

  [[nodiscard]] T* data() { return data_.get(); }
  [[nodiscard]] const T* data() const { return data_.get(); }
  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] int rank() const { return static_cast<int>(dims_.size()); }
  [[nodiscard]] std::int64_t dim(int axis) const { return dims_[static_cast<std::size_t>(axis)]; }
  [[nodiscard]] T* begin() { return data(); }
  [[nodiscard]] T* end() { return data() + size_; }
  [[nodiscard]] const T* begin() const { return data(); }
  [[nodiscard]] const T* end() const { return data() + size_; }
  void fill(T value) {
    for (T& element : *this) element = value;
  }

  /// The element at one index per axis; unchecked.
  template <class... Indices>
  [[nodiscard]] T& operator()(Indices... indices) {
    return data()[offset(indices...)];
  }
  template <class... Indices>
  [[nodiscard]] const T& operator()(Indices... indices) const {
    return data()[offset(indices...)];
  }

  [[nodiscard]] Tensor<T> view() {
    return detail::make_tensor(data(), dims_, strides_, std::source_location{});
  }
  [[nodiscard]] Tensor<T> view() const {  ///< no Out accepts it
    return detail::make_tensor(data(), dims_, strides_, std::source_location{});
  }
  [[nodiscard]] Tensor<T> operator[](const Extent& index) { return view()[index]; }
  [[nodiscard]] Tensor<T> operator[](const Extent& index) const { return view()[index]; }

 private:
  struct Free {
    std::size_t bytes = 0;
    void operator()(T* pointer) const { detail::free_elements(pointer, bytes); }
  };
  [[nodiscard]] std::size_t count() const {
    std::size_t product = 1;
    for (std::int64_t dim : dims_) product *= static_cast<std::size_t>(dim);
    return product;
  }
  [[nodiscard]] std::size_t bytes() const { return size_ * sizeof(T); }
  template <class... Indices>
  [[nodiscard]] std::int64_t offset(Indices... indices) const {
    std::int64_t result = 0;
    int axis = 0;
    ((result += static_cast<std::int64_t>(indices) * strides_[static_cast<std::size_t>(axis++)]), ...);
    return result;
  }

  std::vector<std::int64_t> dims_;
  std::array<std::int64_t, detail::max_rank> strides_;
  std::size_t size_;
  std::unique_ptr<T, Free> data_;
};

}  // namespace pl
