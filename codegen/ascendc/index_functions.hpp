// codegen/ascendc/index_functions.hpp -- the functions that kernels with operations of index.cpp have in front of them.
#pragma once

namespace trilith::codegen::ascendc::functions {

inline constexpr const char* bad_index = R"(
/// The first index that is out of range; the work goes on with index 0, and the kernel's caller learns of it.
struct BadIndex {
  bool found = false;
  int64_t given = 0, bound = 0;
  __aicore__ inline int64_t Inside(int64_t index, int64_t limit) {
    if (index >= 0 && index < limit) return index;
    if (!found) {
      given = index;
      bound = limit;
    }
    found = true;
    return 0;
  }
};
)";

inline constexpr const char* line = R"(
template <typename T>
__aicore__ inline void LoadLine(const AscendC::LocalTensor<T>& line, const AscendC::GlobalTensor<T>& from,
                                int64_t count) {
  AscendC::PipeBarrier<PIPE_ALL>();
  if (count > 0)
    AscendC::DataCopyPad(line, from,
                         AscendC::DataCopyExtParams{1, static_cast<uint32_t>(count * sizeof(T)), 0, 0, 0},
                         AscendC::DataCopyPadExtParams<T>{false, 0, 0, 0});
  AscendC::PipeBarrier<PIPE_ALL>();
}

template <typename T>
__aicore__ inline void StoreLine(const AscendC::GlobalTensor<T>& to, const AscendC::LocalTensor<T>& line,
                                 int64_t count) {
  AscendC::PipeBarrier<PIPE_ALL>();
  if (count > 0)
    AscendC::DataCopyPad(to, line,
                         AscendC::DataCopyExtParams{1, static_cast<uint32_t>(count * sizeof(T)), 0, 0, 0});
  AscendC::PipeBarrier<PIPE_ALL>();
}
)";

inline constexpr const char* arg_lines = R"(
/// Of each line the position of its largest (or smallest) element: the first of equals, the first NaN if there is one.
template <typename T, typename Number, bool largest, typename Moved>
__aicore__ inline void ArgLines(const AscendC::GlobalTensor<int32_t>& to, const AscendC::GlobalTensor<Moved>& from,
                                const AscendC::LocalTensor<Moved>& line, const AscendC::LocalTensor<int32_t>& result,
                                int64_t lines, int64_t length) {
  const auto elements = line.template ReinterpretCast<T>();
  for (int64_t i = 0; i < lines; ++i) {
    LoadLine(line, from[i * length], length);
    int64_t found = length > 0 ? 0 : -1;
    Number best = length > 0 ? static_cast<Number>(elements.GetValue(0)) : static_cast<Number>(0);
    for (int64_t at = 1; at < length && best == best; ++at) {
      const Number candidate = static_cast<Number>(elements.GetValue(at));
      if (candidate == candidate && !(largest ? best < candidate : candidate < best)) continue;
      best = candidate;
      found = at;
    }
    result.SetValue(0, static_cast<int32_t>(found));
    StoreLine(to[i], result, 1);
  }
}
)";

inline constexpr const char* sum_lines = R"(
/// Running sums of each line; they wrap.
template <typename T>
__aicore__ inline void SumLines(const AscendC::GlobalTensor<T>& to, const AscendC::GlobalTensor<T>& from,
                                const AscendC::LocalTensor<T>& line, int64_t lines, int64_t length) {
  for (int64_t i = 0; i < lines; ++i) {
    LoadLine(line, from[i * length], length);
    uint64_t sum = 0;
    for (int64_t at = 0; at < length; ++at) {
      sum += static_cast<uint64_t>(line.GetValue(at));
      line.SetValue(at, static_cast<T>(sum));
    }
    StoreLine(to[i * length], line, length);
  }
}
)";

inline constexpr const char* sum_float_lines = R"(
/// Running sums of each line, as in double; each is rounded once.
template <typename T>
__aicore__ inline void SumFloatLines(const AscendC::GlobalTensor<T>& to, const AscendC::GlobalTensor<T>& from,
                                const AscendC::LocalTensor<T>& line, int64_t lines, int64_t length) {
  for (int64_t i = 0; i < lines; ++i) {
    LoadLine(line, from[i * length], length);
    RunningSum sum;
    for (int64_t at = 0; at < length; ++at) {
      sum.Add(static_cast<float>(line.GetValue(at)));
      line.SetValue(at, static_cast<T>(sum.Value<sizeof(T) != sizeof(float)>()));
    }
    StoreLine(to[i * length], line, length);
  }
}
)";

inline constexpr const char* order_lines = R"(
/// Of each line the positions of its elements in order, NaN last, equal elements as they stand: a merge sort, of which
/// the first `kept` are stored.
template <typename T, typename Number, bool descending, typename Moved>
__aicore__ inline void OrderLines(const AscendC::GlobalTensor<int32_t>& to, const AscendC::GlobalTensor<Moved>& from,
                                  const AscendC::LocalTensor<Moved>& line, const AscendC::LocalTensor<int32_t>& first,
                                  const AscendC::LocalTensor<int32_t>& second, int64_t lines, int64_t length,
                                  int64_t kept) {
  const auto elements = line.template ReinterpretCast<T>();
  for (int64_t i = 0; i < lines; ++i) {
    LoadLine(line, from[i * length], length);
    AscendC::LocalTensor<int32_t> sorted = first, merged = second;
    for (int64_t at = 0; at < length; ++at) sorted.SetValue(at, static_cast<int32_t>(at));
    for (int64_t width = 1; width < length; width *= 2) {
      for (int64_t begin = 0; begin < length; begin += 2 * width) {
        const int64_t middle = begin + width < length ? begin + width : length;
        const int64_t end = middle + width < length ? middle + width : length;
        int64_t left = begin, right = middle;
        for (int64_t at = begin; at < end; ++at) {
          bool takes_right = left == middle;
          if (left < middle && right < end) {
            const Number x = static_cast<Number>(elements.GetValue(sorted.GetValue(right)));
            const Number y = static_cast<Number>(elements.GetValue(sorted.GetValue(left)));
            // The right one only where it comes before the left one.
            takes_right = x != x || y != y ? x == x : descending ? y < x : x < y;
          }
          merged.SetValue(at, takes_right ? sorted.GetValue(right) : sorted.GetValue(left));
          ++(takes_right ? right : left);
        }
      }
      const AscendC::LocalTensor<int32_t> other = sorted;
      sorted = merged;
      merged = other;
    }
    StoreLine(to[i * kept], sorted, kept);
  }
}
)";

inline constexpr const char* gather_lines = R"(
/// Of each line the elements at its indices.
template <typename Index, typename T, typename MovedIndex>
__aicore__ inline void GatherLines(const AscendC::GlobalTensor<T>& to, const AscendC::GlobalTensor<T>& from,
                                   const AscendC::GlobalTensor<MovedIndex>& indices,
                                   const AscendC::LocalTensor<T>& line,
                                   const AscendC::LocalTensor<MovedIndex>& numbers,
                                   const AscendC::LocalTensor<T>& result, int64_t lines, int64_t from_length,
                                   int64_t length, BadIndex& bad) {
  const auto positions = numbers.template ReinterpretCast<Index>();
  for (int64_t i = 0; i < lines; ++i) {
    LoadLine(line, from[i * from_length], from_length);
    LoadLine(numbers, indices[i * length], length);
    for (int64_t at = 0; at < length; ++at) {
      const int64_t position = bad.Inside(static_cast<int64_t>(positions.GetValue(at)), from_length);
      if (from_length > 0)
        result.SetValue(at, line.GetValue(position));
      else
        result.SetValue(at, static_cast<T>(0));
    }
    StoreLine(to[i * length], result, length);
  }
}
)";

inline constexpr const char* scatter_lines = R"(
/// Each line with the values put (or, as `Sum`, added) at its indices, in their order.
template <typename Index, typename Sum, bool adds, typename T, typename MovedIndex>
__aicore__ inline void ScatterLines(const AscendC::GlobalTensor<T>& to, const AscendC::GlobalTensor<T>& from,
                                    const AscendC::GlobalTensor<MovedIndex>& indices,
                                    const AscendC::GlobalTensor<T>& source, const AscendC::LocalTensor<T>& line,
                                    const AscendC::LocalTensor<MovedIndex>& numbers,
                                    const AscendC::LocalTensor<T>& values, int64_t lines, int64_t line_length,
                                    int64_t length, BadIndex& bad) {
  const auto positions = numbers.template ReinterpretCast<Index>();
  for (int64_t i = 0; i < lines; ++i) {
    LoadLine(line, from[i * line_length], line_length);
    LoadLine(numbers, indices[i * length], length);
    LoadLine(values, source[i * length], length);
    for (int64_t at = 0; at < length; ++at) {
      const int64_t position = bad.Inside(static_cast<int64_t>(positions.GetValue(at)), line_length);
      if (line_length == 0) continue;
      if constexpr (adds)
        line.SetValue(position, static_cast<T>(static_cast<Sum>(line.GetValue(position)) +
                                               static_cast<Sum>(values.GetValue(at))));
      else
        line.SetValue(position, values.GetValue(at));
    }
    StoreLine(to[i * line_length], line, line_length);
  }
}
)";

inline constexpr const char* gather_rows = R"(
/// The rows at the indices, one behind the other.
template <typename Index, typename T, typename MovedIndex>
__aicore__ inline void GatherRows(const AscendC::GlobalTensor<T>& to, const AscendC::GlobalTensor<T>& from,
                                  const AscendC::GlobalTensor<MovedIndex>& indices,
                                  const AscendC::LocalTensor<MovedIndex>& numbers,
                                  const AscendC::LocalTensor<T>& buffer, int64_t count, int64_t row, int64_t pitch,
                                  int64_t bound, BadIndex& bad) {
  const auto positions = numbers.template ReinterpretCast<Index>();
  const int64_t room = numbers.GetSize();
  for (int64_t begin = 0; begin < count; begin += room) {
    const int64_t length = count - begin < room ? count - begin : room;
    LoadLine(numbers, indices[begin], length);
    for (int64_t i = 0; i < length; ++i) {
      const int64_t position = bad.Inside(static_cast<int64_t>(positions.GetValue(i)), bound);
      if (bound > 0) CopyRows(to[(begin + i) * row], from[position * pitch], buffer, 1, row, row, row);
    }
  }
}
)";

inline constexpr const char* gather_pages = R"(
/// One length for all sequences, or one for each.
struct OneLength {
  int64_t length;
  __aicore__ inline int64_t operator()(int64_t) const { return length; }
};
template <typename Index, typename Moved>
struct Lengths {
  AscendC::LocalTensor<Moved> all;
  __aicore__ inline int64_t operator()(int64_t sequence) const {
    return static_cast<int64_t>(all.template ReinterpretCast<Index>().GetValue(sequence));
  }
};

/// Where the rows of sequences lie: `page` rows to a page, the pages of a sequence by its line of the table.
struct Pages {
  int64_t entries, page, bound, page_pitch, row_pitch, row;
};

/// From each sequence `count` rows from number `start` on; zeros behind its end.
template <typename Index, typename T, typename Moved, typename Length>
__aicore__ inline void GatherPages(const AscendC::GlobalTensor<T>& to, const AscendC::GlobalTensor<T>& from,
                                   const AscendC::GlobalTensor<Moved>& table, const Length& lengths,
                                   const AscendC::LocalTensor<Moved>& numbers, const AscendC::LocalTensor<T>& buffer,
                                   const Pages& pages, int64_t sequences, int64_t count, int64_t start,
                                   BadIndex& bad_entry, BadIndex& bad_page) {
  const auto positions = numbers.template ReinterpretCast<Index>();
  for (int64_t sequence = 0; sequence < sequences; ++sequence) {
    LoadLine(numbers, table[sequence * pages.entries], pages.entries);
    const int64_t length = lengths(sequence);
    for (int64_t i = 0; i < count; ++i) {
      const int64_t at = (sequence * count + i) * pages.row, position = start + i;
      bool copies = start < length && i < length - start;
      int64_t number = 0;
      if (copies) {
        // Without rows in a page, or in front of the first one, no entry is right.
        const bool none = pages.page == 0 || position < 0;
        const int64_t entry =
            bad_entry.Inside(none ? position : position / pages.page, pages.page == 0 ? 0 : pages.entries);
        copies = !bad_entry.found;
        if (copies) number = bad_page.Inside(static_cast<int64_t>(positions.GetValue(entry)), pages.bound);
        copies = copies && !bad_page.found;
      }
      if (!copies) {
        FillRows(to[at], buffer, static_cast<T>(0), 1, pages.row, pages.row);
        continue;
      }
      CopyRows(to[at], from[number * pages.page_pitch + position % pages.page * pages.row_pitch], buffer, 1, pages.row,
               pages.row, pages.row);
    }
  }
}
)";

}  // namespace trilith::codegen::ascendc::functions
