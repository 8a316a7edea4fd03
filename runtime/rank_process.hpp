// runtime/rank_process.hpp -- one rank of a program in a process of its own, as its host sees it.
#pragma once

#include "runtime/rank_channel.hpp"
#include "runtime/recorded_view.hpp"

#include <sys/types.h>

#include <functional>
#include <string>
#include <vector>

namespace pl::detail {

class RankProcess {
 public:
  /// Forks. The child runs `work`, which does not return.
  RankProcess(int rank, const std::function<void(RankChannel&)>& work);
  /// Ends the process, if it still runs.
  ~RankProcess();
  RankProcess(const RankProcess&) = delete;
  RankProcess& operator=(const RankProcess&) = delete;

  [[nodiscard]] int rank() const { return rank_; }
  /// Where its messages can be polled for; -1: it has closed its end.
  [[nodiscard]] int file() const { return file_; }

  struct Message {
    MessageHead head;
    std::string text;
  };
  /// What has arrived. Does not wait.
  [[nodiscard]] std::vector<Message> receive();
  /// The next bytes without a head; false: it ended before.
  [[nodiscard]] bool receive_bytes(void* data, std::size_t bytes);

  /// Has the process ended? Then `how_it_ended` tells.
  [[nodiscard]] bool has_ended();
  /// "by signal 11 (Segmentation fault)", "with exit code 3".
  [[nodiscard]] std::string how_it_ended() const;
  /// Ends it and waits for that.
  void kill();
  /// Waits until it has ended by itself, which it is about to.
  void join();

 private:
  void note(pid_t found, int status);
  const int rank_;
  pid_t process_ = -1;
  int file_ = -1;
  bool ended_ = false;
  int status_ = -1;  ///< as of waitpid; -1: somebody else has taken it
  std::string arrived_;
};

/// The contents of views as bytes, and back. Both sides have the same list.
void send_views(RankChannel& channel, const std::vector<RecordedView>& views);
/// False: the process ended before.
[[nodiscard]] bool receive_views(RankProcess& process, const std::vector<RecordedView>& views);

/// Views as the text of a message.
[[nodiscard]] std::string pack_views(const std::vector<RecordedView>& written,
                                     const std::vector<RecordedView>& read);
void unpack_views(const std::string& text, std::vector<RecordedView>& written,
                  std::vector<RecordedView>& read);

}  // namespace pl::detail
