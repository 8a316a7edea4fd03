#include "runtime/rank_channel.hpp"

#include <unistd.h>

#include <cerrno>

namespace pl::detail {
namespace {

RankChannel* current = nullptr;

// Of a rank that cannot report: its host is gone.
constexpr int host_is_gone = 71;

}  // namespace

// Set before the rank's process has a second thread.
RankChannel* rank_channel() noexcept { return current; }
void become_rank(RankChannel& channel) noexcept { current = &channel; }

void RankChannel::send(MessageHead::Kind kind, std::string_view text, std::int32_t value) {
  const MessageHead head{kind, value, text.size()};
  const Lock lock(mutex_);
  write_all(reinterpret_cast<const char*>(&head), sizeof head);
  write_all(text.data(), text.size());
}

bool RankChannel::compile(std::string_view request) {
  if (!answer_) return false;
  const Lock lock(compile_mutex_);
  send(MessageHead::Kind::Compile, request);
  return answer_();
}

void RankChannel::set_texts(std::span<char> memory) {
  const Lock lock(texts_mutex_);
  free_texts_ = memory;
}

const char* RankChannel::lasting(const char* text) {
  const std::string_view given(text);
  const Lock lock(texts_mutex_);
  if (const auto known = texts_.find(given); known != texts_.end()) return known->second;
  if (given.size() >= free_texts_.size()) return "(a file)";
  char* const place = free_texts_.data();
  given.copy(place, given.size());
  free_texts_ = free_texts_.subspan(given.size() + 1);
  return texts_.emplace(given, place).first->second;
}

void RankChannel::send_bytes(const void* data, std::size_t bytes) {
  const Lock lock(mutex_);
  write_all(static_cast<const char*>(data), bytes);
}

void RankChannel::write_all(const char* data, std::size_t bytes) {
  while (bytes != 0) {
    const ssize_t written = write(file_, data, bytes);
    if (written < 0) {
      if (errno == EINTR) continue;
      _exit(host_is_gone);
    }
    data += written;
    bytes -= static_cast<std::size_t>(written);
  }
}

}  // namespace pl::detail
