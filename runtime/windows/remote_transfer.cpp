#include "runtime/windows/remote_transfer.hpp"

#include "runtime/windows/copy_region.hpp"
#include "runtime/windows/remote_memory.hpp"

#include <array>
#include <cstring>
#include <vector>

namespace pl::detail {
namespace {

using trilith::codegen::DType;

/// A box whose elements lie one behind the other; copied only where they do not already.
class Dense {
 public:
  Dense(std::span<const std::int64_t> shape, DType dtype)
      : shape_(shape), element_(static_cast<std::int64_t>(trilith::codegen::size_of(dtype))) {
    for (std::size_t axis = shape.size(); axis-- > 0;) {
      strides_[axis] = elements_;
      elements_ *= shape[axis];
    }
  }
  [[nodiscard]] bool empty() const { return elements_ == 0; }
  [[nodiscard]] bool is(std::span<const std::int64_t> strides) const {
    for (std::size_t axis = 0; axis < shape_.size(); ++axis)
      if (shape_[axis] != 1 && strides[axis] != strides_[axis]) return false;
    return true;
  }
  [[nodiscard]] const char* of(const Side& from) {
    if (is(from.strides)) return from.data;
    copy_region(memory(), strides(), from.data, from.strides, shape_, element_);
    return memory();
  }
  void give(const Side& to) { copy_region(to.data, to.strides, memory(), strides(), shape_, element_); }
  [[nodiscard]] char* memory() {
    memory_.resize(static_cast<std::size_t>(elements_ * element_));
    return memory_.data();
  }

 private:
  [[nodiscard]] std::span<const std::int64_t> strides() const { return {strides_.data(), shape_.size()}; }
  const std::span<const std::int64_t> shape_;
  const std::int64_t element_;
  std::int64_t elements_ = 1;
  std::array<std::int64_t, 16> strides_{};
  std::vector<char> memory_;
};

RemoteRegion bytes_at(const char* at, const std::int64_t& count) {
  static constexpr std::int64_t one = 1;
  return {at, {&count, 1}, {&one, 1}, DType::UInt8};
}

}  // namespace

void transfer(const Side& to, const Side& from, std::span<const std::int64_t> shape, DType dtype, bool add,
              const Place& where) {
  if (add)
    add_region(to.data, to.strides, from.data, from.strides, shape, dtype, where.location());
  else
    copy_region(to.data, to.strides, from.data, from.strides, shape,
                static_cast<std::int64_t>(trilith::codegen::size_of(dtype)));
}

void transfer_to(const WindowPart& peer, const Side& to, const Side& from,
                 std::span<const std::int64_t> shape, DType dtype, bool add, const Place& where) {
  if (peer.far == nullptr) return transfer(to, from, shape, dtype, add, where);
  Dense dense(shape, dtype);
  if (dense.empty()) return;
  const RemoteRegion region{to.data, shape, to.strides, dtype};
  if (!add) return peer.far->put(peer.rank, region, dense.of(from));
  // Whether the dtype can be added is told here, not by the peer.
  const std::vector<std::int64_t> nothing(shape.size(), 0);
  transfer(to, from, nothing, dtype, true, where);
  peer.far->add(peer.rank, region, dense.of(from));
}

void transfer_from(const WindowPart& peer, const Side& to, const Side& from,
                   std::span<const std::int64_t> shape, DType dtype) {
  if (peer.far == nullptr) return transfer(to, from, shape, dtype, false, {});
  Dense dense(shape, dtype);
  if (dense.empty()) return;
  const RemoteRegion region{from.data, shape, from.strides, dtype};
  if (dense.is(to.strides)) {
    peer.far->get(peer.rank, region, to.data);
    return;
  }
  peer.far->get(peer.rank, region, dense.memory());
  dense.give(to);
}

void read_bytes(const WindowPart& part, const char* at, void* to, std::size_t bytes) {
  const auto count = static_cast<std::int64_t>(bytes);
  if (bytes == 0) return;
  if (part.far == nullptr)
    std::memcpy(to, at, bytes);
  else
    part.far->get(part.rank, bytes_at(at, count), to);
}

void write_bytes(const WindowPart& part, char* at, const void* from, std::size_t bytes) {
  const auto count = static_cast<std::int64_t>(bytes);
  if (bytes == 0) return;
  if (part.far == nullptr)
    std::memcpy(at, from, bytes);
  else
    part.far->put(part.rank, bytes_at(at, count), from);
}

}  // namespace pl::detail
