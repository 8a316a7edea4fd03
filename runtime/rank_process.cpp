#include "runtime/rank_process.hpp"

#include "pl/error.hpp"
#include "runtime/byte_stream.hpp"
#include "runtime/packed_view.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <iostream>

namespace pl::detail {
namespace {

// A rank whose work threw where nothing could be reported.
constexpr int not_reported = 70;

[[noreturn]] void throw_no_process(int rank) {
  throw Error("no process for rank " + std::to_string(rank) + ": " + std::strerror(errno) +
              "; use fewer ranks, or the transport \"threads\"");
}

}  // namespace

RankProcess::RankProcess(int rank, const std::function<void(RankChannel&)>& work) : rank_(rank) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) throw_no_process(rank);
  // What is buffered would be written by the child, too.
  std::fflush(stdout);
  std::cout.flush();
  const pid_t host = getpid();
  const pid_t child = fork();
  if (child < 0) {
    const int error = errno;
    close(ends[0]);
    close(ends[1]);
    errno = error;
    throw_no_process(rank);
  }
  if (child == 0) {
    // A host that dies takes its ranks with it; it may have died before this.
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != host) _exit(not_reported);
    close(ends[0]);
    RankChannel channel(ends[1]);
    become_rank(channel);
    try {
      work(channel);
    } catch (...) {
    }
    _exit(not_reported);
  }
  process_ = child;
  close(ends[1]);
  file_ = ends[0];
  fcntl(file_, F_SETFL, O_NONBLOCK);
}

RankProcess::~RankProcess() {
  kill();
  if (file_ >= 0) close(file_);
}

std::vector<RankProcess::Message> RankProcess::receive() {
  // Not without end: other ranks want to be heard, too.
  for (int blocks = 0; file_ >= 0 && blocks < 64; ++blocks) {
    char block[65536];
    const ssize_t count = read(file_, block, sizeof block);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) break;  // nothing more for now
    if (count == 0) {
      close(file_);
      file_ = -1;
      break;
    }
    arrived_.append(block, static_cast<std::size_t>(count));
  }
  std::vector<Message> messages;
  std::size_t at = 0;
  MessageHead head;
  while (arrived_.size() - at >= sizeof head) {
    std::memcpy(&head, arrived_.data() + at, sizeof head);
    if (arrived_.size() - at - sizeof head < head.bytes) break;
    messages.push_back({head, arrived_.substr(at + sizeof head, head.bytes)});
    at += sizeof head + head.bytes;
  }
  arrived_.erase(0, at);
  return messages;
}

bool RankProcess::receive_bytes(void* data, std::size_t bytes) {
  char* to = static_cast<char*>(data);
  const std::size_t known = std::min(bytes, arrived_.size());
  std::memcpy(to, arrived_.data(), known);
  arrived_.erase(0, known);
  to += known;
  bytes -= known;
  while (bytes != 0) {
    if (file_ < 0) return false;
    const ssize_t count = read(file_, to, bytes);
    if (count > 0) {
      to += count;
      bytes -= static_cast<std::size_t>(count);
    } else if (count == 0) {
      return false;
    } else if (errno == EAGAIN) {
      pollfd poll_file{file_, POLLIN, 0};
      // The end of the file does not come while another child of the host's has the pipe's other end, too.
      if (poll(&poll_file, 1, 100) == 0 && has_ended() && poll(&poll_file, 1, 0) == 0) return false;
    } else if (errno != EINTR) {
      return false;
    }
  }
  return true;
}

void RankProcess::note(pid_t found, int status) {
  // Not ours any more: the program ignores SIGCHLD, or waits for any child.
  if (found < 0 && errno != ECHILD) return;
  if (found == 0) return;
  ended_ = true;
  if (found > 0) status_ = status;
}

bool RankProcess::has_ended() {
  if (ended_) return true;
  int status = 0;
  const pid_t found = waitpid(process_, &status, WNOHANG);
  note(found, status);
  return ended_;
}

std::string RankProcess::how_it_ended() const {
  if (status_ == -1) return "in an unknown way";
  if (WIFSIGNALED(status_))
    return "by signal " + std::to_string(WTERMSIG(status_)) + " (" + strsignal(WTERMSIG(status_)) + ")";
  return "with exit code " + std::to_string(WEXITSTATUS(status_));
}

void RankProcess::kill() {
  if (has_ended()) return;
  ::kill(process_, SIGKILL);
  join();
}

void RankProcess::join() {
  while (!ended_) {
    int status = 0;
    const pid_t found = waitpid(process_, &status, 0);
    note(found, status);
  }
}

void send_views(RankChannel& channel, const std::vector<RecordedView>& views) {
  std::vector<char> copy;
  for (const RecordedView& each : views) {
    const ViewRef view = each.view();
    const PackedView packed(view);
    channel.send_bytes(packed.elements(copy), packed.bytes());
  }
}

bool receive_views(RankProcess& process, const std::vector<RecordedView>& views) {
  for (const RecordedView& each : views) {
    const ViewRef view = each.view();
    const PackedView packed(view);
    if (packed.is_dense()) {
      if (!process.receive_bytes(view.data, packed.bytes())) return false;
      continue;
    }
    std::vector<char> bytes(packed.bytes());
    if (!process.receive_bytes(bytes.data(), bytes.size())) return false;
    packed.write(bytes.data());
  }
  return true;
}

std::string pack_views(const std::vector<RecordedView>& written, const std::vector<RecordedView>& read) {
  return (Writer() << written << read).bytes;
}

void unpack_views(const std::string& text, std::vector<RecordedView>& written,
                  std::vector<RecordedView>& read) {
  Reader(text) >> written >> read;
}

}  // namespace pl::detail
