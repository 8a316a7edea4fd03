// Products on the cube core: tiles of 128 by 128, summed over k in L0C, from device memory to device memory. What the sum
// starts with (an accumulator, a bias) is put there first, and Fixpipe adds to it.
#include "codegen/ascendc/call.hpp"
#include "codegen/tile_call/linear.hpp"

namespace trilith::codegen::ascendc {
namespace {

constexpr const char* product_function = R"(
/// The cube core's memories; each queue's two buffers let the next tile move while this one is multiplied.
struct Cube {
  static constexpr int64_t edge = 128, buffer_bytes = 32768, most_pitch = 65535;
  AscendC::TQue<AscendC::TPosition::A1, 1> a1;
  AscendC::TQue<AscendC::TPosition::B1, 1> b1;
  AscendC::TQue<AscendC::TPosition::A2, 1> a2;
  AscendC::TQue<AscendC::TPosition::B2, 1> b2;
  AscendC::TQue<AscendC::TPosition::CO1, 1> c;

  __aicore__ inline void Init(AscendC::TPipe& pipe) {
    pipe.InitBuffer(a1, 2, buffer_bytes);
    pipe.InitBuffer(b1, 2, buffer_bytes);
    pipe.InitBuffer(a2, 2, buffer_bytes);
    pipe.InitBuffer(b2, 2, buffer_bytes);
    pipe.InitBuffer(c, 2, edge * edge * 4);
  }
};

__aicore__ inline int64_t Least(int64_t a, int64_t b) { return a < b ? a : b; }
__aicore__ inline int64_t Blocks(int64_t count, int64_t block) { return (count + block - 1) / block; }

/// Rows in device memory to columns of 32 bytes in L1, each of `height` rows.
template <typename T>
__aicore__ inline void ToColumns(const AscendC::LocalTensor<T>& to, const AscendC::GlobalTensor<T>& from, int64_t rows,
                                 int64_t columns, int64_t pitch, int64_t height) {
  constexpr int64_t block = 32 / sizeof(T);
  if (rows == 1 || pitch <= Cube::most_pitch) {
    const uint16_t distance = static_cast<uint16_t>(rows == 1 ? columns : pitch);
    AscendC::DataCopy(to, from,
                      AscendC::Nd2NzParams(1, static_cast<uint16_t>(rows), static_cast<uint16_t>(columns), 0, distance,
                                           static_cast<uint16_t>(height), 1, 0));
    return;
  }
  // The pitch is a 16-bit field: rows further apart are moved one by one.
  for (int64_t row = 0; row < rows; ++row)
    AscendC::DataCopy(to[row * block], from[row * pitch],
                      AscendC::Nd2NzParams(1, 1, static_cast<uint16_t>(columns), 0, static_cast<uint16_t>(columns),
                                           static_cast<uint16_t>(height), 1, 0));
}

/// One operand's tile [outer, k] to L1. With `turned` it is [k, outer] in device memory; of 32-bit elements each 16 rows
/// of k are then a matrix of their own, so that the two fractals of a square lie side by side.
template <typename T, bool turned>
__aicore__ inline void ToL1(const AscendC::LocalTensor<T>& to, const AscendC::GlobalTensor<T>& from, int64_t outer,
                            int64_t k, int64_t pitch) {
  if constexpr (!turned) {
    ToColumns(to, from, outer, k, pitch, Blocks(outer, 16) * 16);
  } else if constexpr (sizeof(T) == 4) {
    for (int64_t row = 0; row < k; row += 16)
      ToColumns(to[row * Blocks(outer, 16) * 16], from[row * pitch], Least(16, k - row), outer, pitch, 16);
  } else {
    constexpr int64_t square = sizeof(T) == 1 ? 32 : 16;
    ToColumns(to, from, k, outer, pitch, Blocks(k, square) * square);
  }
}

template <typename T>
__aicore__ inline void LoadFractals(const AscendC::LocalTensor<T>& to, const AscendC::LocalTensor<T>& from,
                                    int64_t count, int64_t stride, bool turns) {
  AscendC::LoadData2DParams params;
  params.repeatTimes = static_cast<uint8_t>(count);
  params.srcStride = static_cast<uint16_t>(stride);
  params.ifTranspose = turns;
  AscendC::LoadData(to, from, params);
}

template <typename T>
__aicore__ inline void LoadSquares(const AscendC::LocalTensor<T>& to, const AscendC::LocalTensor<T>& from,
                                   int64_t count, int64_t stride, int64_t to_stride, int64_t fractal_stride) {
  AscendC::LoadData2dTransposeParams params;
  params.repeatTimes = static_cast<uint8_t>(count);
  params.srcStride = static_cast<uint16_t>(stride);
  params.dstGap = static_cast<uint16_t>(to_stride - 1);
  params.dstFracGap = static_cast<uint16_t>(fractal_stride - 1);
  AscendC::LoadDataWithTranspose(to, from, params);
}

/// The left tile to L0A: rows of fractals. A square's last fractal may reach into the next row of fractals, which is
/// loaded after it.
template <typename T, bool turned>
__aicore__ inline void ToL0A(const AscendC::LocalTensor<T>& to, const AscendC::LocalTensor<T>& from, int64_t m,
                             int64_t k) {
  constexpr int64_t fractal = 512 / sizeof(T), block = 32 / sizeof(T);
  const int64_t rows = Blocks(m, 16), columns = Blocks(k, block);
  if constexpr (!turned) {
    for (int64_t i = 0; i < rows; ++i) LoadFractals(to[i * columns * fractal], from[i * fractal], columns, rows, false);
  } else if constexpr (sizeof(T) == 2) {
    LoadFractals(to, from, rows * columns, 1, true);
  } else if constexpr (sizeof(T) == 4) {
    for (int64_t i = 0; i < rows; ++i)
      for (int64_t j = 0; j < Blocks(k, 16); ++j)
        LoadSquares(to[(i * columns + 2 * j) * fractal], from[(j * rows + i) * 2 * fractal], 1, 1, 1, 1);
  } else {
    for (int64_t i = 0; i < Blocks(m, 32); ++i)
      LoadSquares(to[2 * i * columns * fractal], from[i * columns * 2 * fractal], columns, 1, 1, columns);
  }
}

/// The right tile to L0B: the fractals of its transposed matrix in rows along n.
template <typename T, bool turned>
__aicore__ inline void ToL0B(const AscendC::LocalTensor<T>& to, const AscendC::LocalTensor<T>& from, int64_t n,
                             int64_t k) {
  constexpr int64_t fractal = 512 / sizeof(T), block = 32 / sizeof(T);
  const int64_t rows = Blocks(k, block), columns = Blocks(n, 16);
  if constexpr (!turned) {
    LoadFractals(to, from, rows * columns, 1, false);
  } else if constexpr (sizeof(T) == 2) {
    for (int64_t j = 0; j < rows; ++j) LoadFractals(to[j * columns * fractal], from[j * fractal], columns, rows, true);
  } else if constexpr (sizeof(T) == 4) {
    for (int64_t j = 0; j < Blocks(k, 16); ++j)
      LoadSquares(to[2 * j * columns * fractal], from[j * columns * 2 * fractal], columns, 1, 1, columns);
  } else {
    for (int64_t j = 0; j < rows; ++j)
      LoadSquares(to[j * columns * fractal], from[j * 2 * fractal], Blocks(n, 32), rows, 2, 1);
  }
}

/// c [m, n] = a [m, k] * b [k, n] (added to c while atomic stores are on). a_turned: a is given as [k, m];
/// b_turned: b is given as [k, n], which is turned on its way, else as [n, k].
template <typename T, typename R, bool a_turned, bool b_turned>
__aicore__ inline void Product(Cube& cube, const AscendC::GlobalTensor<R>& c, const AscendC::GlobalTensor<T>& a,
                               const AscendC::GlobalTensor<T>& b, int64_t m, int64_t n, int64_t k, int64_t c_pitch,
                               int64_t a_pitch, int64_t b_pitch) {
  constexpr int64_t depth = 256 / sizeof(T);
  for (int64_t row = 0; row < m; row += Cube::edge)
    for (int64_t column = 0; column < n; column += Cube::edge) {
      const int64_t rows = Least(Cube::edge, m - row), columns = Least(Cube::edge, n - column);
      auto sum = cube.c.template AllocTensor<R>();
      for (int64_t at = 0; at < k; at += depth) {
        const int64_t length = Least(depth, k - at);
        auto a1 = cube.a1.template AllocTensor<T>();
        ToL1<T, a_turned>(a1, a[a_turned ? at * a_pitch + row : row * a_pitch + at], rows, length, a_pitch);
        cube.a1.EnQue(a1);
        auto b1 = cube.b1.template AllocTensor<T>();
        ToL1<T, b_turned>(b1, b[b_turned ? at * b_pitch + column : column * b_pitch + at], columns, length, b_pitch);
        cube.b1.EnQue(b1);
        a1 = cube.a1.template DeQue<T>();
        auto a2 = cube.a2.template AllocTensor<T>();
        ToL0A<T, a_turned>(a2, a1, rows, length);
        cube.a2.EnQue(a2);
        cube.a1.FreeTensor(a1);
        b1 = cube.b1.template DeQue<T>();
        auto b2 = cube.b2.template AllocTensor<T>();
        ToL0B<T, b_turned>(b2, b1, columns, length);
        cube.b2.EnQue(b2);
        cube.b1.FreeTensor(b1);
        a2 = cube.a2.template DeQue<T>();
        b2 = cube.b2.template DeQue<T>();
        if (at > 0) AscendC::PipeBarrier<PIPE_M>();
        // One row would be read as a vector: the rows behind it are computed and not stored.
        AscendC::Mmad(sum, a2, b2,
                      AscendC::MmadParams(static_cast<uint16_t>(rows == 1 ? 16 : rows), static_cast<uint16_t>(columns),
                                          static_cast<uint16_t>(length), 0, false, at == 0));
        cube.a2.FreeTensor(a2);
        cube.b2.FreeTensor(b2);
      }
      cube.c.EnQue(sum);
      sum = cube.c.template DeQue<R>();
      AscendC::Fixpipe<R, R, AscendC::CFG_ROW_MAJOR>(
          c[row * c_pitch + column], sum,
          AscendC::FixpipeParamsV220(static_cast<uint16_t>(columns), static_cast<uint16_t>(rows),
                                     static_cast<uint16_t>(Blocks(rows, 16) * 16), static_cast<uint32_t>(c_pitch), false));
      cube.c.FreeTensor(sum);
    }
}
)";

/// A matrix of an operand: its element (0, 0), and how far apart rows and columns lie.
struct Matrix {
  View view;
  Amount outer_stride, k_stride;
  /// k lies side by side, or the other axis does.
  [[nodiscard]] bool turned() const { return !k_stride.is(1); }
};

Extent extent_of(const View& view, int axis) {
  return axis < 0 ? Extent(1) : view.extents[static_cast<std::size_t>(axis)];
}
Amount stride_of(const View& view, int axis) {
  return axis < 0 ? Amount{0} : view.strides[static_cast<std::size_t>(axis)];
}

/// The operand with one of its two axes dense: copied to the workspace where none is.
View loadable(TileCall& call, std::size_t operand, int outer, int k) {
  View view = call.operand(operand);
  const auto has_room = [](const Amount& pitch, const Extent& columns) {
    return pitch == columns.amount() || (pitch.is_constant() && pitch.factor >= columns.most);
  };
  const auto lies = [&](int axis, int other) {
    return (axis < 0 || extent_of(view, axis).is(1) || stride_of(view, axis).is(1)) &&
           (other < 0 || extent_of(view, other).is(1) ||
            has_room(stride_of(view, other), extent_of(view, axis)));
  };
  if (lies(k, outer) || lies(outer, k)) return view;
  const View own = new_view(call, view);
  copy(call, own, view);
  return own;
}

/// What the sum starts with is put into the result. False: nothing, the product replaces what is there.
bool start(TileCall& call, const ProductAxes& axes) {
  if (axes.start < 0) return false;
  View from = call.operand(static_cast<std::size_t>(axes.start));
  if (call.op() == Op::MatmulBias) {
    from.strides = {Amount{0}, from.strides.back()};
    from.extents = call.result.extents;
  }
  if (from.object != call.result.object) copy(call, call.result, from);
  return true;
}

/// What `Product` takes: each tile of the result reads its rows of a and its columns of b once.
std::vector<Work> product_work(std::int64_t m, std::int64_t n, std::int64_t k, std::int64_t size,
                               std::int64_t sum_size) {
  constexpr std::int64_t edge = 128;
  const std::int64_t rows = (m + edge - 1) / edge, columns = (n + edge - 1) / edge;
  const std::int64_t deep = round_up(k * size, 32), high = round_up(m, 16), wide = round_up(n, 16);
  // 16 by 16 by 32 bytes are one step; of floats it is taken to be two.
  return {{Work::Unit::ToL1, (columns * m + rows * n) * k * size},
          {Work::Unit::ToL0A, columns * high * deep},
          {Work::Unit::ToL0B, rows * wide * deep},
          {Work::Unit::Cube, high / 16 * (wide / 16) * (deep / 32) * (size == 4 ? 2 : 1)},
          {Work::Unit::FixPipe, m * n * sum_size}};
}

void multiply(TileCall& call, const View& result, const Matrix& a, const Matrix& b, const Extent& m,
              const Extent& n, const Extent& k, const Amount& pitch, bool adds) {
  Context& c = call.c;
  const std::string sum = type_name(result.dtype);
  const auto word = [](bool value) { return value ? std::string("true") : std::string("false"); };
  // A matrix of one column (or row) may be read along either axis: as the plain one.
  const bool a_turned = a.turned() && !k.is(1), b_turned = b.turned() && !k.is(1);
  std::string text = "Product<" + type_name(a.view.dtype) + ", " + sum + ", " + word(a_turned) + ", " +
                     word(b_turned) + ">(cube, " + text_of(result) + ", " + text_of(a.view) + ", " +
                     text_of(b.view) + ", " + m.text() + ", " + n.text() + ", " + k.text() + ", " +
                     pitch.text() + ", " + (a_turned ? a.k_stride : a.outer_stride).text() + ", " +
                     (b_turned ? b.k_stride : b.outer_stride).text() + ");";
  if (adds) text = "AscendC::SetAtomicAdd<" + sum + ">();\n" + text + "\nAscendC::SetAtomicNone();";
  c.uses_cube = true;
  c.function("Product", product_function);
  c.program.nodes.push_back(
      {.kind = Node::Kind::Cube,
       .text = text,
       .touches = {{result.object, true}, {a.view.object, false}, {b.view.object, false}},
       .location = c.location,
       .work = product_work(m.most, n.most, k.most, bytes_of(a.view.dtype), bytes_of(result.dtype))});
}

}  // namespace

std::string product_reason(DType dtype) {
  if (dtype == DType::Float64) return "the cube unit of this class has no double; use float";
  return {};
}

void lower_product(TileCall& call) {
  Context& c = call.c;
  const std::size_t first = call.op() == Op::MatmulAcc ? 1 : 0;
  const ProductAxes axes = product_axes(call.op(), call.expr.attributes, call.operand(first).extents.size(),
                                        call.operand(first + 1).extents.size());
  View result = call.result;
  if (result.size().is(0)) return;
  const bool adds = start(call, axes);
  const View a = loadable(call, axes.a, axes.m, axes.a_k), b = loadable(call, axes.b, axes.n, axes.b_k);
  const Extent m = extent_of(a, axes.m), n = extent_of(b, axes.n), k = extent_of(a, axes.a_k);
  if (k.is(0)) {
    if (!adds) fill(call, result, "0");
    return;
  }
  if (!k.is_constant()) c.open("if (" + k.text() + " > 0) {", false);
  Matrix left{a, stride_of(a, axes.m), stride_of(a, axes.a_k)},
      right{b, stride_of(b, axes.n), stride_of(b, axes.b_k)};
  // Rows of the result: behind its batch axes one axis for each matrix axis that is there.
  const int own = (axes.m >= 0 ? 1 : 0) + (axes.n >= 0 ? 1 : 0);
  const auto rank = static_cast<int>(result.extents.size());
  const Amount pitch = axes.m >= 0 && axes.n >= 0 ? stride_of(result, rank - 2)
                       : axes.m >= 0              ? Amount{1}
                                                  : n.amount();
  const int batches = call.op() == Op::BatchMatmul ? rank - own : 0;
  for (int axis = 0; axis < batches; ++axis) {
    const Extent extent = result.extents[static_cast<std::size_t>(axis)];
    if (extent.is(1)) continue;
    const std::string i = c.names.fresh("i");
    c.open("for (int64_t " + i + " = 0; " + i + " < " + extent.text() + "; ++" + i + ") {");
    c.turns(static_cast<double>(extent.most));
    result.at.add(stride_of(result, axis), i);
    for (Matrix* matrix : {&left, &right}) {
      const int at = axis - (rank - static_cast<int>(matrix->view.extents.size()));
      if (at >= 0 && !extent_of(matrix->view, at).is(1)) matrix->view.at.add(stride_of(matrix->view, at), i);
    }
  }
  multiply(call, result, left, right, m, n, k, pitch, adds);
  for (int axis = 0; axis < batches; ++axis)
    if (!result.extents[static_cast<std::size_t>(axis)].is(1)) c.close();
  if (k.is_constant()) return;
  // The sum of no products.
  if (!adds) {
    c.otherwise();
    fill(call, call.result, "0");
  }
  c.close();
}

}  // namespace trilith::codegen::ascendc
