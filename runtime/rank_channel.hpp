// runtime/rank_channel.hpp -- from the process of a rank to its host: a pipe of messages.
//
// What a rank prints and logs goes through it too: the sinks of the host see it, and no lock of theirs, which a thread
// of the host may have held when it forked, is taken in the rank's process.
#pragma once

#include "runtime/thread_annotations.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>

namespace pl::detail {

struct MessageHead {
  enum class Kind : std::uint32_t { Print, Log, Trace, Times, Compile, Failed, Done };
  Kind kind;
  std::int32_t value;  ///< of Log: the level; of Trace: the piece
  std::uint64_t bytes;
};

/// The rank's side. Thread-safe: a message is never torn.
class RankChannel {
 public:
  explicit RankChannel(int file) : file_(file) {}
  void send(MessageHead::Kind kind, std::string_view text, std::int32_t value = 0);
  /// Asks the host to put code into the cache, and waits for that. False: it could not. `answer` waits for its answer.
  bool compile(std::string_view request);
  void set_answer(std::function<bool()> answer) { answer_ = std::move(answer); }
  /// A text that the other ranks and the host can read at its address, too: code that only this rank has loaded has its
  /// constants where they have other memory, or none.
  [[nodiscard]] const char* lasting(const char* text);
  /// Shared memory for such texts, zero at first.
  void set_texts(std::span<char> memory);
  /// Bytes without a head, which the host waits for.
  void send_bytes(const void* data, std::size_t bytes);

 private:
  void write_all(const char* data, std::size_t bytes) TRILITH_REQUIRES(mutex_);
  const int file_;
  Mutex mutex_;
  Mutex compile_mutex_;  ///< one request at a time
  std::function<bool()> answer_;
  Mutex texts_mutex_;
  std::span<char> free_texts_ TRILITH_GUARDED_BY(texts_mutex_);
  std::map<std::string, const char*, std::less<>> texts_ TRILITH_GUARDED_BY(texts_mutex_);
};

/// Of the rank that this process is; null: it is none.
[[nodiscard]] RankChannel* rank_channel() noexcept;
/// RankChannel::lasting in the process of a rank, else the text itself.
[[nodiscard]] inline const char* lasting_text(const char* text) {
  RankChannel* const channel = rank_channel();
  return channel == nullptr ? text : channel->lasting(text);
}
void become_rank(RankChannel& channel) noexcept;

}  // namespace pl::detail
