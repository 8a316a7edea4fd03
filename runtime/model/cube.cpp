// The cube core: fractals of 512 bytes from L1 to L0A and L0B (MTE1), products into L0C (M), and out of it (FIX).
//
// L0A: fractals of 16 rows by 32 bytes in rows of fractals. L0B: the same of the transposed matrix, in rows of fractals of
// the matrix itself. L0C: columns of 16 elements, each with all rows (padded to 16).
#include <algorithm>
#include <cstring>

#include "runtime/model/fault.hpp"
#include "runtime/model/functions.hpp"
#include "runtime/model/numbers.hpp"
#include "runtime/model/run.hpp"

namespace trilith::model {
namespace {

using AscendC::model::Dtype;
using AscendC::model::FixpipeRequest;
using AscendC::model::LoadRequest;
using AscendC::model::MmadRequest;

constexpr std::uint64_t fractal = 512, edge = 16, row_bytes = 32;

std::uint64_t up(std::uint64_t value, std::uint64_t to) { return (value + to - 1) / to; }

void add_range(std::vector<Range>& ranges, Range range) {
  if (!ranges.empty() && ranges.back().end == range.begin)
    ranges.back().end = range.end;
  else
    ranges.push_back(range);
}

/// A copied element: bytes from the start of both tensors.
struct Move {
  std::uint64_t dst, src;
};

/// Where element (row, column) of a square matrix stands in its fractals: side by side for 32 bits, one below the other
/// for 8.
std::uint64_t in_square(std::uint64_t row, std::uint64_t column, std::uint64_t size,
                        std::uint64_t fractal_step) {
  const std::uint64_t columns = row_bytes / size, which = size == 4 ? column / columns : row / edge;
  return which * fractal_step + row % edge * row_bytes + column % columns * size;
}

std::vector<Move> transposed_moves(const LoadRequest& request, std::uint64_t size) {
  const std::uint64_t side = size == 1 ? 32 : 16, square = side * side * size;
  const auto gap = static_cast<std::uint64_t>(request.dst_gap + 1),
             inner = static_cast<std::uint64_t>(request.fractal_gap + 1);
  std::vector<Move> moves;
  for (std::uint64_t i = 0; i < static_cast<std::uint64_t>(request.repeat); ++i) {
    const std::uint64_t src =
        (static_cast<std::uint64_t>(request.start) + i * static_cast<std::uint64_t>(request.src_stride)) *
        square;
    for (std::uint64_t row = 0; row < side; ++row)
      for (std::uint64_t column = 0; column < side; ++column)
        moves.push_back({i * gap * fractal + in_square(row, column, size, inner * fractal),
                         src + in_square(column, row, size, fractal)});
  }
  return moves;
}

std::vector<Move> plain_moves(const LoadRequest& request, std::uint64_t size) {
  std::vector<Move> moves;
  for (std::uint64_t i = 0; i < static_cast<std::uint64_t>(request.repeat); ++i) {
    const std::uint64_t dst = i * static_cast<std::uint64_t>(request.dst_gap + 1) * fractal;
    const std::uint64_t src =
        (static_cast<std::uint64_t>(request.start) + i * static_cast<std::uint64_t>(request.src_stride)) *
        fractal;
    for (std::uint64_t at = 0; at < fractal; at += size) {
      const std::uint64_t row = at / row_bytes, column = at % row_bytes / size;
      moves.push_back({dst + at, src + (request.transpose ? column * row_bytes + row * size : at)});
    }
  }
  return moves;
}

/// Ranges of whole fractals that the moves touch.
std::vector<Range> fractals_of(const std::vector<Move>& moves, std::uint64_t Move::* side) {
  std::vector<std::uint64_t> starts;
  for (const Move& move : moves) starts.push_back(move.*side / fractal * fractal);
  std::ranges::sort(starts);
  const auto repeated = std::ranges::unique(starts);
  starts.erase(repeated.begin(), repeated.end());
  std::vector<Range> ranges;
  for (const std::uint64_t start : starts) add_range(ranges, {start, start + fractal});
  return ranges;
}

float as_float(Dtype dtype, const std::byte* place) {
  switch (dtype) {
    case Dtype::F16: return element<pl::half>(place, 0);
    case Dtype::BF16: return element<pl::bfloat16>(place, 0);
    default: return element<float>(place, 0);
  }
}

/// One operand of Mmad as a matrix whose inner extent is k.
struct Matrix {
  std::vector<float> values;        ///< [outer][k]
  std::vector<std::int32_t> whole;  ///< of int8_t
  std::vector<std::uint8_t> valid;  ///< of each outer index: all along k are
};

/// `fractal_of(outer, inner)`: the number of the fractal that holds it.
template <class FractalOf>
Matrix matrix_of(Memory& memory, const AscendC::model::Span& tensor, std::uint64_t outer, std::uint64_t k,
                 FractalOf fractal_of) {
  const std::uint64_t size = size_of(tensor.dtype), columns = row_bytes / size;
  Matrix matrix{{}, {}, std::vector<std::uint8_t>(outer, 1)};
  const bool integers = tensor.dtype == Dtype::I8;
  (integers ? matrix.whole.resize(outer * k) : matrix.values.resize(outer * k));
  for (std::uint64_t i = 0; i < outer; ++i)
    for (std::uint64_t j = 0; j < k; ++j) {
      const std::uint64_t at = tensor.address + fractal_of(i / edge, j / columns) * fractal +
                               i % edge * row_bytes + j % columns * size;
      if (integers)
        matrix.whole[i * k + j] = element<std::int8_t>(memory.data(at), 0);
      else
        matrix.values[i * k + j] = as_float(tensor.dtype, memory.data(at));
      if (!memory.all_valid({at, at + size})) matrix.valid[i] = 0;
    }
  return matrix;
}

/// c[j] += sum over l of a[l] · b[l][j], in order of l. Products of 16-bit floats are exact in float, of floats in double.
void accumulate(const Matrix& left, const Matrix& right, std::uint64_t m, std::uint64_t n, std::uint64_t k,
                bool exact, std::vector<float>& sums) {
  std::vector<float> turned(k * n);
  for (std::uint64_t j = 0; j < n; ++j)
    for (std::uint64_t l = 0; l < k; ++l) turned[l * n + j] = right.values[j * k + l];
  for (std::uint64_t i = 0; i < m; ++i)
    for (std::uint64_t l = 0; l < k; ++l) {
      const float a = left.values[i * k + l];
      const float* const b = &turned[l * n];
      float* const c = &sums[i * n];
      if (exact)
        for (std::uint64_t j = 0; j < n; ++j) c[j] += a * b[j];
      else
        for (std::uint64_t j = 0; j < n; ++j)
          c[j] = static_cast<float>(static_cast<double>(c[j]) +
                                    static_cast<double>(a) * static_cast<double>(b[j]));
    }
}

}  // namespace

void load(Core& core, const LoadRequest& request) {
  Operation operation(core, PIPE_MTE1, request.with_transpose ? "LoadDataWithTranspose" : "LoadData",
                      request.line);
  const Space from = space_of(request.src.position), to = space_of(request.dst.position);
  if (from != Space::L1 || (to != Space::L0a && to != Space::L0b))
    operation.fault(text("there is no path from ", position_name(request.src.position), " to ",
                         position_name(request.dst.position)));
  const std::uint64_t size = size_of(request.src.dtype);
  if (request.transpose && size != 2)
    operation.fault("ifTranspose is for dtypes of 16 bits; LoadDataWithTranspose");
  if (request.repeat < 1 || request.repeat > 255)
    operation.fault(text("repeatTimes ", request.repeat, ": 1 to 255"));
  const std::vector<Move> moves =
      request.with_transpose ? transposed_moves(request, size) : plain_moves(request, size);
  Memory &source = operation.memory(request.src), &target = operation.memory(request.dst);
  bool anything = false;
  for (const Range& range : fractals_of(moves, &Move::src)) {
    const std::uint64_t at =
        operation.place(request.src, range.begin, range.end - range.begin, row_bytes, false);
    operation.reads(source, {at, at + (range.end - range.begin)});
    anything = anything || source.any_valid({at, at + (range.end - range.begin)});
  }
  if (!anything) operation.fault("reads L1 that nothing has written");
  for (const Range& range : fractals_of(moves, &Move::dst)) {
    const std::uint64_t at =
        operation.place(request.dst, range.begin, range.end - range.begin, fractal, true);
    operation.writes(target, {at, at + (range.end - range.begin)});
  }
  operation.start();
  for (const Move& move : moves) {
    std::memcpy(target.data(request.dst.address + move.dst), source.data(request.src.address + move.src),
                size);
    std::memcpy(target.valid(request.dst.address + move.dst), source.valid(request.src.address + move.src),
                size);
  }
}

void mmad(Core& core, const MmadRequest& request) {
  Operation operation(core, PIPE_M, "Mmad", request.line);
  constexpr std::int64_t most = 4095;
  for (const std::int64_t extent : {request.m, request.n, request.k})
    if (extent < 1 || extent > most)
      operation.fault(
          text("m, n and k are ", request.m, ", ", request.n, " and ", request.k, ": 1 to ", most));
  if (request.m == 1) operation.fault("m == 1 reads A as plain rows (GEMV): pad m to 16");
  if (request.unit_flag != 0) operation.fault("unitFlag is not modelled: use 0 and events");
  const auto expect = [&](const AscendC::model::Span& tensor, Space space, const char* what) {
    if (space_of(tensor.position) != space)
      operation.fault(
          text(what, " stands in ", position_name(tensor.position), ", not in ", facts(space).name));
  };
  expect(request.dst, Space::L0c, "the result");
  expect(request.left, Space::L0a, "the left matrix");
  expect(request.right, Space::L0b, "the right matrix");
  if (request.bias_table && !request.has_bias)
    operation.fault("cmatrixSource: the overload with a bias names it");

  const auto m = static_cast<std::uint64_t>(request.m), n = static_cast<std::uint64_t>(request.n),
             k = static_cast<std::uint64_t>(request.k);
  const std::uint64_t columns = row_bytes / size_of(request.left.dtype);
  const std::uint64_t row_fractals = up(m, edge), column_fractals = up(n, edge), inner = up(k, columns);
  const std::uint64_t padded_m = row_fractals * edge, result_bytes = column_fractals * padded_m * edge * 4;
  Memory &l0a = operation.memory(request.left), &l0b = operation.memory(request.right),
         &l0c = operation.memory(request.dst);
  const auto declare = [&](Memory& memory, const AscendC::model::Span& tensor, std::uint64_t bytes,
                           std::uint64_t alignment, bool writes) {
    const std::uint64_t at = operation.place(tensor, 0, bytes, alignment, writes);
    if (writes)
      operation.writes(memory, {at, at + bytes});
    else
      operation.reads(memory, {at, at + bytes});
  };
  declare(l0a, request.left, row_fractals * inner * fractal, fractal, false);
  declare(l0b, request.right, inner * column_fractals * fractal, fractal, false);
  const bool from_zero = request.from_zero && !request.has_bias;
  const bool accumulates = !from_zero && !request.has_bias;
  if (accumulates) declare(l0c, request.dst, result_bytes, 1024, false);
  declare(l0c, request.dst, result_bytes, 1024, true);
  Memory* bias = nullptr;
  if (request.has_bias) {
    expect(request.bias, Space::BiasTable, "the bias");
    bias = &operation.memory(request.bias);
    declare(*bias, request.bias, n * 4, 64, false);
  }
  operation.start();
  // Small products may still be under way when the next begins.
  if (row_fractals * column_fractals >= 10) core.clock(PIPE_M).learn(PIPE_M, operation.stamp().number);

  const Matrix left =
      matrix_of(l0a, request.left, m, k, [&](auto row, auto column) { return row * inner + column; });
  const Matrix right = matrix_of(l0b, request.right, n, k,
                                 [&](auto column, auto row) { return row * column_fractals + column; });
  if (std::ranges::none_of(left.valid, [](auto valid) { return valid != 0; }) ||
      std::ranges::none_of(right.valid, [](auto valid) { return valid != 0; }))
    operation.fault("multiplies a matrix of which no row, up to k, is initialised");
  const auto place = [&](std::uint64_t i, std::uint64_t j) {
    return request.dst.address + (j / edge * padded_m * edge + i * edge + j % edge) * 4;
  };
  const auto bias_place = [&](std::uint64_t j) { return request.bias.address + j * 4; };
  std::vector<std::uint8_t> valid(m * n);
  for (std::uint64_t i = 0; i < m; ++i)
    for (std::uint64_t j = 0; j < n; ++j) {
      bool known = left.valid[i] != 0 && right.valid[j] != 0;
      if (accumulates) known = known && l0c.all_valid({place(i, j), place(i, j) + 4});
      if (bias != nullptr) known = known && bias->all_valid({bias_place(j), bias_place(j) + 4});
      valid[i * n + j] = known ? 0xff : 0;
    }
  const auto start_value = [&]<class T>(std::uint64_t i, std::uint64_t j) -> T {
    if (bias != nullptr) return element<T>(bias->data(bias_place(j)), 0);
    return accumulates ? element<T>(l0c.data(place(i, j)), 0) : T{0};
  };
  if (request.left.dtype == Dtype::I8) {
    std::vector<std::uint32_t> sums(m * n);
    for (std::uint64_t i = 0; i < m; ++i)
      for (std::uint64_t j = 0; j < n; ++j) {
        auto sum = static_cast<std::uint32_t>(start_value.template operator()<std::int32_t>(i, j));
        for (std::uint64_t l = 0; l < k; ++l)
          sum += static_cast<std::uint32_t>(left.whole[i * k + l] * right.whole[j * k + l]);
        sums[i * n + j] = sum;
      }
    l0c.poison({request.dst.address, request.dst.address + result_bytes});
    for (std::uint64_t i = 0; i < m; ++i)
      for (std::uint64_t j = 0; j < n; ++j) set_element(l0c.data(place(i, j)), 0, sums[i * n + j]);
  } else {
    std::vector<float> sums(m * n);
    for (std::uint64_t i = 0; i < m; ++i)
      for (std::uint64_t j = 0; j < n; ++j) sums[i * n + j] = start_value.template operator()<float>(i, j);
    accumulate(left, right, m, n, k, request.left.dtype != Dtype::F32, sums);
    l0c.poison({request.dst.address, request.dst.address + result_bytes});
    for (std::uint64_t i = 0; i < m; ++i)
      for (std::uint64_t j = 0; j < n; ++j) set_element(l0c.data(place(i, j)), 0, sums[i * n + j]);
  }
  for (std::uint64_t i = 0; i < m; ++i)
    for (std::uint64_t j = 0; j < n; ++j) std::memset(l0c.valid(place(i, j)), valid[i * n + j], 4);
}

void fixpipe(Core& core, const FixpipeRequest& request) {
  Operation operation(core, PIPE_FIX, "Fixpipe", request.line);
  if (space_of(request.src.position) != Space::L0c)
    operation.fault(text("there is no path from ", position_name(request.src.position)));
  const Space to = space_of(request.dst.position);
  if (to != Space::Gm && to != Space::L1)
    operation.fault(text("there is no path from CO1 to ", position_name(request.dst.position)));
  const Dtype from_dtype = request.src.dtype, dtype = request.dst.dtype;
  const QuantMode_t needed = dtype == from_dtype ? NoQuant : dtype == Dtype::F16 ? F322F16 : F322BF16;
  if (request.quantise != needed)
    operation.fault(text("quantPre does not fit: from ", name_of(from_dtype), " to ", name_of(dtype),
                         " needs ",
                         needed == NoQuant   ? "NoQuant"
                         : needed == F322F16 ? "QuantMode_t::F322F16"
                                             : "QuantMode_t::F322BF16"));
  if (request.unit_flag != 0) operation.fault("unitFlag is not modelled: use 0 and events");
  if (request.matrices != 1) operation.fault("ndNum other than 1 is not modelled");
  if (to == Space::L1 && (!request.nz || size_of(dtype) != 2))
    operation.fault("to L1 goes half or bfloat16_t in CFG_NZ only");
  const auto m = static_cast<std::uint64_t>(request.m), n = static_cast<std::uint64_t>(request.n),
             src_stride = static_cast<std::uint64_t>(request.src_stride),
             dst_stride = static_cast<std::uint64_t>(request.dst_stride);
  if (m < 1 || n < 1) operation.fault(text("mSize ", request.m, " and nSize ", request.n));
  if (src_stride < m) operation.fault(text("srcStride ", src_stride, " is less than mSize ", m));
  if (!request.nz && m > 1 && dst_stride < n)
    operation.fault(text("dstStride ", dst_stride, " is less than nSize ", n));
  const std::uint64_t size = size_of(dtype);
  Memory& l0c = operation.memory(request.src);
  for (std::uint64_t j = 0; j < n; j += edge) {
    const std::uint64_t at = operation.place(request.src, j * src_stride * 4, m * edge * 4, 64, false);
    operation.reads(l0c, {at, at + m * edge * 4});
  }
  /// Contiguous pieces of the result: row, column, elements, bytes from the start of dst.
  struct Piece {
    std::uint64_t row, column, count, offset;
  };
  std::vector<Piece> pieces;
  if (!request.nz)
    for (std::uint64_t i = 0; i < m; ++i) pieces.push_back({i, 0, n, i * dst_stride * size});
  else
    for (std::uint64_t j = 0; j < n; j += edge)
      for (std::uint64_t i = 0; i < m; ++i)
        pieces.push_back({i, j, std::min(edge, n - j), j / edge * dst_stride * row_bytes + i * edge * size});
  std::vector<Range> written;
  for (const Piece& piece : pieces) {
    const std::uint64_t bytes = piece.count * size;
    const std::uint64_t at =
        to == Space::Gm ? operation.global(request.dst, static_cast<std::int64_t>(piece.offset), bytes, true)
                        : operation.place(request.dst, piece.offset, bytes, row_bytes, true);
    add_range(written, {at, at + bytes});
  }
  for (const Range& range : written) {
    if (to == Space::Gm)
      operation.writes_global(range);
    else
      operation.writes(operation.memory(request.dst), range);
  }
  operation.start(to == Space::Gm ? atomic_kind(operation, dtype) : std::uint8_t{0});
  for (const Piece& piece : pieces) {
    std::vector<std::byte> row(piece.count * size);
    std::vector<std::uint8_t> marks(piece.count * size, 0xff);
    for (std::uint64_t e = 0; e < piece.count; ++e) {
      const std::uint64_t j = piece.column + e;
      const std::uint64_t at =
          request.src.address + (j / edge * src_stride * edge + piece.row * edge + j % edge) * 4;
      if (!l0c.all_valid({at, at + 4})) {
        if (to == Space::Gm)
          operation.fault(text("stores element (", piece.row, ", ", j,
                               ") of the result, which is uninitialised, or computed from such a value"));
        std::memset(&marks[e * size], 0, size);
      }
      if (from_dtype == Dtype::I32) {
        std::int32_t value = element<std::int32_t>(l0c.data(at), 0);
        if (request.relu) value = std::max(value, 0);
        set_element(row.data(), e, value);
        continue;
      }
      float value = element<float>(l0c.data(at), 0);
      if (request.relu) value = greater<float>(value, 0);
      if (dtype == Dtype::F16)
        set_element(row.data(), e, pl::half(value));
      else if (dtype == Dtype::BF16)
        set_element(row.data(), e, pl::bfloat16(value));
      else
        set_element(row.data(), e, value);
    }
    if (to == Space::Gm) {
      store_global(operation, request.dst.address + piece.offset, row.data(), row.size(), dtype);
    } else {
      Memory& l1 = operation.memory(request.dst);
      std::memcpy(l1.data(request.dst.address + piece.offset), row.data(), row.size());
      std::memcpy(l1.valid(request.dst.address + piece.offset), marks.data(), marks.size());
    }
  }
}

}  // namespace trilith::model
