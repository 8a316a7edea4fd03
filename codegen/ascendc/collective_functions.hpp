// codegen/ascendc/collective_functions.hpp -- text in front of kernels that call collectives.
//
// The same elements in the same order as runtime/windows/collective.cpp, so the same bits. Each function meets, moves and
// meets again; all transfers stand between barriers of all pipes.
#pragma once

namespace trilith::codegen::ascendc {

inline constexpr const char* meeting_functions = R"(
/// The ranks of a window in an operation that each of them takes part in. At a meeting each rank adds 1 to the cell that
/// stands for it at every peer, and waits until its own cells have come as far; at the end it takes its steps off its own
/// cells, which are then zero again, but for a peer that is one meeting ahead.
struct Meeting {
  __gm__ Window* window;
  __gm__ uint64_t* cells;
  int64_t first, pitch;
  int64_t rank, ranks;
  AscendC::LocalTensor<int32_t> word;
  int32_t steps;

  /// With the cells that belong to the window, a cache line each.
  __aicore__ inline Meeting(__gm__ Window& of, const AscendC::LocalTensor<int32_t>& word_)
      : window(&of), cells(of.cells), first(0), pitch(64), rank(of.rank), ranks(of.ranks), word(word_), steps(0) {}
  /// With cells of a window of the user's, from byte `first` on.
  __aicore__ inline Meeting(__gm__ Window& of, __gm__ Window& signal, int64_t first_,
                            const AscendC::LocalTensor<int32_t>& word_)
      : window(&of),
        cells(signal.memory),
        first(first_),
        pitch(sizeof(int32_t)),
        rank(of.rank),
        ranks(of.ranks),
        word(word_),
        steps(0) {}

  __aicore__ inline __gm__ int32_t* Cell(int64_t at, int64_t of) const {
    return reinterpret_cast<__gm__ int32_t*>(cells[at] + first + of * pitch);
  }
  /// Elements of a rank's part from byte `offset` on.
  template <typename T>
  __aicore__ inline AscendC::GlobalTensor<T> Part(int64_t of, int64_t offset, int64_t count) const {
    AscendC::GlobalTensor<T> part;
    part.SetGlobalBuffer(reinterpret_cast<__gm__ T*>(window->memory[of] + offset), count);
    return part;
  }

  __aicore__ inline void Meet() {
    ++steps;
    for (int64_t i = 1; i < ranks; ++i) Notify<true>(Cell((rank + i) % ranks, rank), 1, word);
    for (int64_t i = 1; i < ranks; ++i) {
      AscendC::GlobalTensor<int32_t> cell;
      cell.SetGlobalBuffer(Cell(rank, (rank + i) % ranks), 1);
      do {
        AscendC::DataCacheCleanAndInvalid<int32_t, AscendC::CacheLine::SINGLE_CACHE_LINE,
                                          AscendC::DcciDst::CACHELINE_OUT>(cell);
      } while (cell.GetValue(0) < steps);
    }
    AscendC::PipeBarrier<PIPE_ALL>();
  }
  __aicore__ inline void Leave() {
    for (int64_t i = 1; i < ranks; ++i) Notify<true>(Cell(rank, (rank + i) % ranks), -steps, word);
  }
};
)";

inline constexpr const char* move_function = R"(
/// Elements that lie side by side, from one part to another through the buffer.
template <typename T>
__aicore__ inline void MovePart(const AscendC::GlobalTensor<T>& to, const AscendC::GlobalTensor<T>& from, int64_t count,
                                const AscendC::LocalTensor<T>& buffer) {
  const int64_t room = buffer.GetSize();
  for (int64_t at = 0; at < count; at += room) {
    const uint32_t bytes = static_cast<uint32_t>((count - at < room ? count - at : room) * sizeof(T));
    AscendC::DataCopyPad(buffer, from[at], AscendC::DataCopyExtParams{1, bytes, 0, 0, 0},
                         AscendC::DataCopyPadExtParams<T>{false, 0, 0, 0});
    AscendC::PipeBarrier<PIPE_ALL>();
    AscendC::DataCopyPad(to[at], buffer, AscendC::DataCopyExtParams{1, bytes, 0, 0, 0});
    AscendC::PipeBarrier<PIPE_ALL>();
  }
}
)";

inline constexpr const char* reduce_functions = R"(
/// Room in the unified buffer for a reduction of elements T in numbers A: float for 16-bit floats.
template <typename T, typename A>
struct ReduceRoom {
  int64_t size;
  AscendC::LocalTensor<A> total, next;
  AscendC::LocalTensor<T> moved;

  __aicore__ inline ReduceRoom(const AscendC::LocalTensor<uint8_t>& buffer, int64_t size_)
      : size(size_),
        total(buffer.ReinterpretCast<A>()),
        next(buffer[size_ * sizeof(A)].template ReinterpretCast<A>()),
        moved(buffer[2 * size_ * sizeof(A)].template ReinterpretCast<T>()) {}

  /// Brings elements as numbers; all pipes have waited for them.
  __aicore__ inline void Load(const AscendC::LocalTensor<A>& to, const AscendC::GlobalTensor<T>& from, uint32_t count) {
    const AscendC::DataCopyExtParams bytes{1, static_cast<uint32_t>(count * sizeof(T)), 0, 0, 0};
    const AscendC::DataCopyPadExtParams<T> none{false, 0, 0, 0};
    if constexpr (sizeof(T) == sizeof(A)) {
      AscendC::DataCopyPad(to, from, bytes, none);
    } else {
      AscendC::DataCopyPad(moved, from, bytes, none);
      AscendC::PipeBarrier<PIPE_ALL>();
      AscendC::Cast(to, moved, AscendC::RoundMode::CAST_NONE, count);
    }
    AscendC::PipeBarrier<PIPE_ALL>();
  }
  __aicore__ inline void Store(const AscendC::GlobalTensor<T>& to, uint32_t count) {
    const AscendC::DataCopyExtParams bytes{1, static_cast<uint32_t>(count * sizeof(T)), 0, 0, 0};
    if constexpr (sizeof(T) == sizeof(A)) {
      AscendC::DataCopyPad(to, total, bytes);
    } else {
      AscendC::DataCopyPad(to, moved, bytes);
    }
  }
};

/// Elements [begin, end) of the parts of `from_count` ranks from `from` on, reduced in this order, to the parts of
/// `to_count` ranks from `to` on.
template <typename T, typename A, int operation>
__aicore__ inline void ReduceParts(const Meeting& meeting, int64_t offset, int64_t begin, int64_t end, int64_t from,
                                   int64_t from_count, int64_t to, int64_t to_count, ReduceRoom<T, A> room) {
  for (int64_t at = begin; at < end; at += room.size) {
    const uint32_t count = static_cast<uint32_t>(end - at < room.size ? end - at : room.size);
    for (int64_t i = 0; i < from_count; ++i) {
      const auto part = meeting.Part<T>((from + i) % meeting.ranks, offset, end);
      room.Load(i == 0 ? room.total : room.next, part[at], count);
      if (i == 0) continue;
      if constexpr (operation == 0) AscendC::Add(room.total, room.total, room.next, count);
      if constexpr (operation == 1) AscendC::Max(room.total, room.total, room.next, count);
      if constexpr (operation == 2) AscendC::Min(room.total, room.total, room.next, count);
      if constexpr (operation == 3) AscendC::Mul(room.total, room.total, room.next, count);
      AscendC::PipeBarrier<PIPE_ALL>();
    }
    if constexpr (sizeof(T) != sizeof(A)) {
      AscendC::Cast(room.moved, room.total, AscendC::RoundMode::CAST_RINT, count);
      AscendC::PipeBarrier<PIPE_ALL>();
    }
    for (int64_t i = 0; i < to_count; ++i) room.Store(meeting.Part<T>(to + i, offset, end)[at], count);
    AscendC::PipeBarrier<PIPE_ALL>();
  }
}

/// Where the `number`th of as many pieces as ranks begins: whole cache lines where there are enough.
template <typename T>
__aicore__ inline int64_t PieceBegin(int64_t count, int64_t number, int64_t ranks) {
  constexpr int64_t line = 64 / sizeof(T);
  const int64_t begin = (count + line - 1) / line * number / ranks * line;
  return begin < count ? begin : count;
}

/// Each rank reduces one piece of all parts, in the order of ranks, to the parts of `to_count` ranks from `to` on.
template <typename T, typename A, int operation>
__aicore__ inline void ReduceByMesh(Meeting& meeting, int64_t offset, int64_t count, int64_t to, int64_t to_count,
                                    const ReduceRoom<T, A>& room) {
  meeting.Meet();
  ReduceParts<T, A, operation>(meeting, offset, PieceBegin<T>(count, meeting.rank, meeting.ranks),
                               PieceBegin<T>(count, meeting.rank + 1, meeting.ranks), 0, meeting.ranks, to, to_count,
                               room);
  meeting.Meet();
  meeting.Leave();
}
)";

inline constexpr const char* ring_function = R"(
/// n - 1 steps in which each rank adds its left neighbour's piece to its own, then n - 1 that pass the sums on.
template <typename T, typename A, int operation>
__aicore__ inline void ReduceByRing(Meeting& meeting, int64_t offset, int64_t count, const ReduceRoom<T, A>& room) {
  meeting.Meet();
  const int64_t n = meeting.ranks, left = (meeting.rank + n - 1) % n;
  for (int64_t step = 0; step < 2 * (n - 1); ++step) {
    const bool reduces = step < n - 1;
    const int64_t shift = reduces ? step + 1 : step - (n - 1), piece = (meeting.rank - shift + n) % n;
    ReduceParts<T, A, operation>(meeting, offset, PieceBegin<T>(count, piece, n), PieceBegin<T>(count, piece + 1, n),
                                 left, reduces ? 2 : 1, meeting.rank, 1, room);
    meeting.Meet();
  }
  meeting.Leave();
}
)";

inline constexpr const char* reduce_scatter_function = R"(
/// The own row becomes the reduction of that row of all parts.
template <typename T, typename A, int operation>
__aicore__ inline void ReduceScatter(Meeting& meeting, int64_t offset, int64_t row, const ReduceRoom<T, A>& room) {
  meeting.Meet();
  ReduceParts<T, A, operation>(meeting, offset, meeting.rank * row, (meeting.rank + 1) * row, 0, meeting.ranks,
                               meeting.rank, 1, room);
  meeting.Meet();
  meeting.Leave();
}
)";

inline constexpr const char* send_function = R"(
/// The part of `to`, or of every rank where it is -1, becomes that of `from`.
template <typename T>
__aicore__ inline void SendPart(Meeting& meeting, int64_t offset, int64_t count, int64_t from, int64_t to,
                                const AscendC::LocalTensor<T>& buffer) {
  meeting.Meet();
  if (meeting.rank != from && (to < 0 || meeting.rank == to))
    MovePart(meeting.Part<T>(meeting.rank, offset, count), meeting.Part<T>(from, offset, count), count, buffer);
  meeting.Meet();
  meeting.Leave();
}
)";

inline constexpr const char* gather_functions = R"(
/// The row of this rank, from the part of one rank to that of another.
template <typename T>
__aicore__ inline void MoveOwnRow(const Meeting& meeting, int64_t offset, int64_t row, int64_t to, int64_t from,
                                  const AscendC::LocalTensor<T>& buffer) {
  const int64_t own = offset + meeting.rank * row * static_cast<int64_t>(sizeof(T));
  if (to != from) MovePart(meeting.Part<T>(to, own, row), meeting.Part<T>(from, own, row), row, buffer);
}

/// The row of each rank goes to `root`, or to every rank where it is -1.
template <typename T>
__aicore__ inline void GatherRows(Meeting& meeting, int64_t offset, int64_t row, int64_t root,
                                  const AscendC::LocalTensor<T>& buffer) {
  meeting.Meet();
  if (root >= 0) MoveOwnRow(meeting, offset, row, root, meeting.rank, buffer);
  for (int64_t i = 1; root < 0 && i < meeting.ranks; ++i)
    MoveOwnRow(meeting, offset, row, (meeting.rank + i) % meeting.ranks, meeting.rank, buffer);
  meeting.Meet();
  meeting.Leave();
}

/// The row of each rank comes from `root`.
template <typename T>
__aicore__ inline void ScatterRows(Meeting& meeting, int64_t offset, int64_t row, int64_t root,
                                   const AscendC::LocalTensor<T>& buffer) {
  meeting.Meet();
  MoveOwnRow(meeting, offset, row, meeting.rank, root, buffer);
  meeting.Meet();
  meeting.Leave();
}
)";

inline constexpr const char* exchange_function = R"(
/// Row j of rank i and row i of rank j change places; the two ranks do a half each.
template <typename T>
__aicore__ inline void ExchangeRows(Meeting& meeting, int64_t offset, int64_t row, const AscendC::LocalTensor<T>& here,
                                    const AscendC::LocalTensor<T>& there) {
  constexpr int64_t line = 64 / sizeof(T);
  const int64_t half = row / 2 + line < row ? (row / 2 + line - 1) / line * line : row, room = here.GetSize();
  const AscendC::DataCopyPadExtParams<T> none{false, 0, 0, 0};
  meeting.Meet();
  for (int64_t i = 1; i < meeting.ranks; ++i) {
    const int64_t peer = (meeting.rank + i) % meeting.ranks;
    const auto own = meeting.Part<T>(meeting.rank, offset + peer * row * static_cast<int64_t>(sizeof(T)), row);
    const auto other = meeting.Part<T>(peer, offset + meeting.rank * row * static_cast<int64_t>(sizeof(T)), row);
    const int64_t end = meeting.rank < peer ? half : row;
    for (int64_t at = meeting.rank < peer ? 0 : half; at < end; at += room) {
      const uint32_t count = static_cast<uint32_t>(end - at < room ? end - at : room);
      const AscendC::DataCopyExtParams bytes{1, static_cast<uint32_t>(count * sizeof(T)), 0, 0, 0};
      AscendC::DataCopyPad(here, own[at], bytes, none);
      AscendC::DataCopyPad(there, other[at], bytes, none);
      AscendC::PipeBarrier<PIPE_ALL>();
      AscendC::DataCopyPad(own[at], there, bytes);
      AscendC::DataCopyPad(other[at], here, bytes);
      AscendC::PipeBarrier<PIPE_ALL>();
    }
  }
  meeting.Meet();
  meeting.Leave();
}
)";

inline constexpr const char* bad_count_function = R"(
/// The first of this rank's counts of items that is none of 0 to `room`.
struct BadCount {
  bool found;
  int64_t given, peer;

  __aicore__ inline BadCount(const AscendC::GlobalTensor<int32_t>& counts, int64_t ranks, int64_t room,
                             const AscendC::LocalTensor<int32_t>& held)
      : found(false), given(0), peer(0) {
    AscendC::PipeBarrier<PIPE_ALL>();
    AscendC::DataCopyPad(held, counts,
                         AscendC::DataCopyExtParams{1, static_cast<uint32_t>(ranks * sizeof(int32_t)), 0, 0, 0},
                         AscendC::DataCopyPadExtParams<int32_t>{false, 0, 0, 0});
    AscendC::PipeBarrier<PIPE_ALL>();
    for (int64_t i = 0; i < ranks && !found; ++i) {
      given = held.GetValue(i);
      peer = i;
      found = given < 0 || given > room;
    }
    AscendC::PipeBarrier<PIPE_ALL>();
  }
};
)";

inline constexpr const char* counted_function = R"(
/// Of row j of rank i the first counts[j] items change places with as many of row i of rank j as that rank's counts say;
/// the two ranks do a half each. Afterwards counts[j] is what rank j has sent. The counts of all ranks lie `counts_at`
/// bytes into their parts; `received` has a block of 32 bytes for each rank.
template <typename T>
__aicore__ inline void ExchangeItems(Meeting& meeting, __gm__ Window& counts, int64_t counts_at, int64_t offset,
                                     int64_t row, int64_t item, const AscendC::LocalTensor<T>& here,
                                     const AscendC::LocalTensor<T>& there, const AscendC::LocalTensor<int32_t>& sent,
                                     const AscendC::LocalTensor<int32_t>& received) {
  constexpr int64_t line = 64 / sizeof(T), block = 32 / sizeof(int32_t);
  const AscendC::DataCopyPadExtParams<T> none{false, 0, 0, 0};
  const AscendC::DataCopyPadExtParams<int32_t> no_count{false, 0, 0, 0};
  const AscendC::DataCopyExtParams one{1, sizeof(int32_t), 0, 0, 0};
  const AscendC::DataCopyExtParams all{1, static_cast<uint32_t>(meeting.ranks * sizeof(int32_t)), 0, 0, 0};
  AscendC::GlobalTensor<int32_t> own_counts;
  own_counts.SetGlobalBuffer(reinterpret_cast<__gm__ int32_t*>(counts.memory[meeting.rank] + counts_at), meeting.ranks);
  meeting.Meet();
  AscendC::DataCopyPad(sent, own_counts, all, no_count);
  for (int64_t i = 0; i < meeting.ranks; ++i) {
    AscendC::GlobalTensor<int32_t> theirs;
    theirs.SetGlobalBuffer(reinterpret_cast<__gm__ int32_t*>(counts.memory[i] + counts_at), meeting.ranks);
    AscendC::DataCopyPad(received[i * block], theirs[meeting.rank], one, no_count);
  }
  AscendC::PipeBarrier<PIPE_ALL>();
  for (int64_t i = 1; i < meeting.ranks; ++i) {
    const int64_t peer = (meeting.rank + i) % meeting.ranks, room = here.GetSize();
    const int64_t sends = sent.GetValue(peer) * item, receives = received.GetValue(peer * block) * item;
    const int64_t longer = sends < receives ? receives : sends;
    const int64_t half = longer / 2 + line < longer ? (longer / 2 + line - 1) / line * line : longer;
    const auto own = meeting.Part<T>(meeting.rank, offset + peer * row * static_cast<int64_t>(sizeof(T)), row);
    const auto other = meeting.Part<T>(peer, offset + meeting.rank * row * static_cast<int64_t>(sizeof(T)), row);
    const int64_t end = meeting.rank < peer ? half : longer;
    for (int64_t at = meeting.rank < peer ? 0 : half; at < end; at += room) {
      const int64_t count = end - at < room ? end - at : room;
      const int64_t out = sends - at < count ? sends - at : count, in = receives - at < count ? receives - at : count;
      const AscendC::DataCopyExtParams out_bytes{1, static_cast<uint32_t>(out * sizeof(T)), 0, 0, 0};
      const AscendC::DataCopyExtParams in_bytes{1, static_cast<uint32_t>(in * sizeof(T)), 0, 0, 0};
      if (out > 0) AscendC::DataCopyPad(here, own[at], out_bytes, none);
      if (in > 0) AscendC::DataCopyPad(there, other[at], in_bytes, none);
      AscendC::PipeBarrier<PIPE_ALL>();
      if (out > 0) AscendC::DataCopyPad(other[at], here, out_bytes);
      if (in > 0) AscendC::DataCopyPad(own[at], there, in_bytes);
      AscendC::PipeBarrier<PIPE_ALL>();
    }
  }
  meeting.Meet();
  for (int64_t i = 0; i < meeting.ranks; ++i) sent.SetValue(i, received.GetValue(i * block));
  AscendC::PipeBarrier<PIPE_ALL>();
  AscendC::DataCopyPad(own_counts, sent, all);
  AscendC::PipeBarrier<PIPE_ALL>();
  meeting.Leave();
}
)";

}  // namespace trilith::codegen::ascendc
