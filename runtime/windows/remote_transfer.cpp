#include "runtime/windows/remote_transfer.hpp"

#include "runtime/packed_view.hpp"
#include "runtime/windows/copy_region.hpp"
#include "runtime/windows/remote_memory.hpp"

#include <cstring>
#include <vector>

namespace pl::detail {
namespace {

using trilith::codegen::DType;

PackedView packed(const Side& side, std::span<const std::int64_t> shape, DType dtype) {
  return PackedView(
      {dtype, false, static_cast<int>(shape.size()), side.data, shape.data(), side.strides.data(), nullptr});
}

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
  const PackedView own = packed(from, shape, dtype);
  if (own.bytes() == 0) return;
  std::vector<char> copy;
  const RemoteRegion region{to.data, shape, to.strides, dtype};
  if (!add) return peer.far->put(peer.rank, region, own.elements(copy));
  // Whether the dtype can be added is told here, not by the peer.
  const std::vector<std::int64_t> nothing(shape.size(), 0);
  transfer(to, from, nothing, dtype, true, where);
  peer.far->add(peer.rank, region, own.elements(copy));
}

void transfer_from(const WindowPart& peer, const Side& to, const Side& from,
                   std::span<const std::int64_t> shape, DType dtype) {
  if (peer.far == nullptr) return transfer(to, from, shape, dtype, false, {});
  const PackedView own = packed(to, shape, dtype);
  if (own.bytes() == 0) return;
  const RemoteRegion region{from.data, shape, from.strides, dtype};
  if (own.is_dense()) return peer.far->get(peer.rank, region, to.data);
  std::vector<char> copy(own.bytes());
  peer.far->get(peer.rank, region, copy.data());
  own.write(copy.data());
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
