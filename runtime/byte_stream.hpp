// runtime/byte_stream.hpp -- values as bytes, for the way from one process to another of the same program.
#pragma once

#include "pl/error.hpp"

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace pl::detail {

class Writer {
 public:
  Writer() = default;
  template <class T>
  explicit Writer(const T& first) {
    *this << first;
  }
  template <class T>
    requires(std::is_trivially_copyable_v<T> && !std::is_pointer_v<T>)
  Writer& operator<<(const T& value) {
    bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
    return *this;
  }
  Writer& operator<<(std::string_view text) {
    *this << static_cast<std::uint64_t>(text.size());
    bytes.append(text);
    return *this;
  }
  Writer& operator<<(const std::string& text) { return *this << std::string_view(text); }
  template <class T>
  Writer& operator<<(const std::vector<T>& list) {
    *this << static_cast<std::uint64_t>(list.size());
    for (const T& element : list) *this << element;
    return *this;
  }
  std::string bytes;
};

/// Reads what a Writer of the same program wrote. Throws InternalError where it ends too early.
class Reader {
 public:
  explicit Reader(std::string_view bytes) : rest_(bytes) {}
  template <class T>
    requires std::is_trivially_copyable_v<T>
  Reader& operator>>(T& value) {
    std::memcpy(static_cast<void*>(&value), take(sizeof value).data(), sizeof value);
    return *this;
  }
  Reader& operator>>(std::string& text) {
    text = std::string(take(static_cast<std::size_t>(get<std::uint64_t>())));
    return *this;
  }
  template <class T>
  Reader& operator>>(std::vector<T>& list) {
    list.resize(static_cast<std::size_t>(get<std::uint64_t>()));
    for (T& element : list) *this >> element;
    return *this;
  }
  template <class T>
  [[nodiscard]] T get() {
    T value{};
    *this >> value;
    return value;
  }
  /// The next bytes, in place.
  [[nodiscard]] std::string_view take(std::size_t bytes) {
    if (bytes > rest_.size())
      throw InternalError("bytes of another process cannot be read: they end too early");
    const std::string_view result = rest_.substr(0, bytes);
    rest_.remove_prefix(bytes);
    return result;
  }
  [[nodiscard]] std::string_view rest() const { return rest_; }

 private:
  std::string_view rest_;
};

}  // namespace pl::detail
