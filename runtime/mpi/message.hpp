// runtime/mpi/message.hpp -- what the processes of a program tell each other, and its bytes.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace pl::detail {

enum class MessageKind : std::uint8_t {
  // To the coordinator, which is on rank 0.
  Arrive,   ///< at a meeting
  Failed,   ///< the first failure of this process in a run
  State,    ///< the answer to Query
  Leaving,  ///< the program ends here
  // From the coordinator.
  Release,  ///< all have arrived
  Refuse,   ///< the meeting cannot be
  Abandon,  ///< the meeting will not be: the run has failed
  Fail,     ///< the run's first failure
  Query,    ///< can you still go on?
  Goodbye,  ///< all are leaving
  // Between any two.
  Add,    ///< elements to a region of the receiver's
  Added,  ///< done
};

/// Where all processes of a program meet. The first two lie outside of runs.
enum class Meeting : std::uint8_t { Compile, Begin, Window, Renew, Callback, CallbackEnd, End };

class Writer {
 public:
  explicit Writer(MessageKind kind) { *this << kind; }
  Writer() = default;
  template <class T>
    requires std::is_trivially_copyable_v<T>
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

/// Reads what a Writer of the same program wrote.
class Reader {
 public:
  explicit Reader(std::string_view bytes) : rest_(bytes) {}
  template <class T>
    requires std::is_trivially_copyable_v<T>
  Reader& operator>>(T& value) {
    std::memcpy(&value, take(sizeof value).data(), sizeof value);
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
    const std::string_view result = rest_.substr(0, bytes);
    rest_.remove_prefix(bytes);
    return result;
  }
  [[nodiscard]] std::string_view rest() const { return rest_; }

 private:
  std::string_view rest_;
};

}  // namespace pl::detail
