// codegen/ascendc/model/model_abi.h -- what the model's headers ask of its run time: requests, and the table of functions
// that take them.
//
// The headers check dtypes and pack each call of the AscendC interface into a request; all that a call means happens in
// runtime/model/. So the text of a kernel compiles in milliseconds, and its object has no undefined symbol: the one way
// out is the table. Plain data only: both sides may be built by different compilers.
#pragma once

#include <cstdint>

namespace AscendC::model {

inline constexpr std::uint32_t abi_version = 3;

enum class Dtype : std::uint8_t { F16, BF16, F32, I8, U8, I16, U16, I32, U32, I64, U64 };

/// A tensor as an operation sees it: in an on-chip memory from `address` (bytes from its start), or in GM.
struct Span {
  std::uint64_t address;
  std::uint64_t bytes;   ///< from `address` to the end of what the tensor was made from; GM: 0 is unknown
  std::uint32_t ticket;  ///< of the queue buffer it was allocated from, 0: none
  std::uint8_t position;
  Dtype dtype;
};

enum class VectorOp : std::uint8_t {
  Add,
  Sub,
  Mul,
  Div,
  Max,
  Min,
  And,
  Or,
  AddRelu,
  SubRelu,
  FusedMulAdd,
  MulAddDst,
  Not,
  Exp,
  Ln,
  Abs,
  Sqrt,
  Rsqrt,
  Reciprocal,
  Relu,
  Adds,
  Muls,
  Maxs,
  Mins,
  LeakyRelu,
  Axpy,
  ShiftLeft,
  ShiftRight,
  Duplicate,
  CreateVecIndex,
  Cast,
  Copy,
  Compare,
  CompareScalar,
  Select,
  SelectScalar,
  WholeReduceSum,
  WholeReduceMax,
  WholeReduceMin,
  BlockReduceSum,
  BlockReduceMax,
  BlockReduceMin,
  PairReduceSum,
  ReduceSum,
  ReduceMax,
  ReduceMin,
  Brcb,
  Gather,
  Transpose,
};

/// How many lanes work: `count` of a contiguous run, the first `count` of each repeat, or those of a bit array.
enum class Lanes : std::uint8_t { Counter, First, Bits };

struct VectorRequest {
  VectorOp op;
  Lanes lanes;
  std::uint8_t mode;     ///< of Cast, Compare, Select, a reduction's order; ShiftRight: round
  std::uint8_t sources;  ///< how many of `source` are used
  std::uint32_t line;
  Span dst;
  Span source[3];
  std::uint64_t scalar;  ///< its bits, in the dtype of source[0] (Duplicate, CreateVecIndex: of dst)
  std::int64_t count;
  std::uint64_t mask[2];
  std::int64_t repeat;
  std::int64_t block_stride[4];   ///< of dst and sources, in 32-byte blocks
  std::int64_t repeat_stride[4];  ///< the same; of reductions' dst: in results
};

enum class CopyKind : std::uint8_t { Count, Blocks, Pad, Nd2Nz };

struct CopyRequest {
  CopyKind kind;
  bool padded;
  std::uint32_t line;
  Span dst, src;
  std::int64_t count;  ///< Count: elements
  std::int64_t blocks, length, src_stride, dst_stride;
  std::int64_t left, right;  ///< Pad: elements
  std::uint64_t value;       ///< Pad: its bits
  std::int64_t matrices, rows, columns, src_matrix_stride, src_row, dst_column, dst_row,
      dst_matrix_stride;  ///< Nd2Nz
};

struct LoadRequest {
  bool with_transpose;  ///< LoadDataWithTranspose, else LoadData
  bool transpose;       ///< LoadData: ifTranspose
  std::uint32_t line;
  Span dst, src;
  std::int64_t start, repeat, src_stride, dst_gap, fractal_gap;
};

struct MmadRequest {
  bool has_bias, bias_table, from_zero;
  std::uint32_t line;
  Span dst, left, right, bias;
  std::int64_t m, n, k, unit_flag;
};

struct FixpipeRequest {
  std::uint8_t quantise;  ///< QuantMode_t
  bool relu, nz;
  std::uint32_t line;
  Span dst, src;
  std::uint64_t scale;
  std::int64_t n, m, src_stride, dst_stride, matrices, src_matrix_stride, dst_matrix_stride, unit_flag;
};

struct QueueRequest {
  std::uint8_t source, destination;  ///< positions
  std::uint32_t line;
  std::int64_t depth, count, bytes;
};

/// What printf is given for one conversion: a number in 64 bits, a float as its own bits.
struct PrintArgument {
  enum Kind : std::uint8_t { Bool, Signed, Unsigned, Float };
  Kind kind;
  std::uint64_t bits;
};

enum class AtomicMode : std::uint8_t { None, Add, Max, Min };

/// The functions of the run time. Each takes the line of the kernel's text that called it.
struct Functions {
  std::uint32_t version, size;
  // Pipe and queues. Handles are those that init_queue gave.
  void (*init_pipe)(void* pipe, std::uint32_t line);
  void* (*pipe)(std::uint32_t line);
  void (*reset_pipe)(std::uint32_t line);
  std::uint32_t (*init_queue)(const QueueRequest* request);
  void (*init_buffer)(std::uint8_t position, std::int64_t bytes, Span* buffer, std::uint32_t line);
  void (*allocate)(std::uint32_t queue, Span* tensor, std::uint32_t line);
  void (*enqueue)(std::uint32_t queue, const Span* tensor, std::uint32_t line);
  void (*dequeue)(std::uint32_t queue, Span* tensor, std::uint32_t line);
  void (*free)(std::uint32_t queue, const Span* tensor, std::uint32_t line);
  std::int64_t (*queued)(std::uint32_t queue, std::uint32_t line);  ///< tensors enqueued
  std::int64_t (*idle)(std::uint32_t queue, std::uint32_t line);    ///< buffers not allocated
  // Events: pipes are numbers of pipe_t.
  std::int32_t (*event_id)(std::uint8_t from, std::uint8_t to, bool reserve, std::uint32_t line);
  void (*release_event_id)(std::uint8_t from, std::uint8_t to, std::int64_t id, std::uint32_t line);
  void (*set_flag)(std::uint8_t from, std::uint8_t to, std::int64_t id, std::uint32_t line);
  void (*wait_flag)(std::uint8_t from, std::uint8_t to, std::int64_t id, std::uint32_t line);
  void (*barrier)(std::uint8_t pipe, std::uint32_t line);
  // Work.
  void (*vector)(const VectorRequest* request);
  void (*copy)(const CopyRequest* request);
  void (*load)(const LoadRequest* request);
  void (*mmad)(const MmadRequest* request);
  void (*fixpipe)(const FixpipeRequest* request);
  void (*atomic)(AtomicMode mode, Dtype dtype, std::uint32_t line);
  // Scalar access: bits of one element, `index` elements from the start.
  std::uint64_t (*get)(const Span* tensor, std::int64_t index, std::uint32_t line);
  void (*set)(const Span* tensor, std::int64_t index, std::uint64_t value, std::uint32_t line);
  std::uint64_t (*get_uncached)(const Span* tensor, std::uint32_t line);
  void (*set_uncached)(const Span* tensor, std::uint64_t value, std::uint32_t line);
  void (*clean_cache)(const Span* tensor, bool whole, std::uint32_t line);
  /// The cell that `get` has read last is compared: < at_least, or != with the number.
  void (*compare)(std::int64_t number, bool at_least);
  // Cores.
  bool (*is_cube)();
  std::int64_t (*block_index)();
  std::int64_t (*block_count)();
  std::int64_t (*sub_block_index)();
  void (*task_type)(std::int32_t type, std::uint32_t line);
  void (*set_cross)(std::uint8_t mode, std::uint8_t pipe, std::int64_t id, std::uint32_t line);
  void (*wait_cross)(std::int64_t id, std::uint32_t line);
  void (*sync_all)(bool vector_only, std::uint32_t line);
  void (*print)(const char* format, const PrintArgument* arguments, std::uint64_t count, std::uint32_t line);
};

/// Memory that a kernel may touch in GM.
struct Region {
  void* base;
  std::int64_t bytes;
  bool writable;
  bool window;   ///< other launches write it too while the kernel runs
  bool scratch;  ///< holds nothing before the launch: what is read must have been written by it
  const char* name;
  bool signals = false;  ///< of a window: int32 cells in it are signals
};

inline constexpr std::int64_t unknown = INT64_MIN;  ///< a number that only the run knows

/// Lines of the kernel's text that signal, wait, fence or are a collective.
struct WindowCall {
  std::uint32_t first_line, last_line;
  std::int32_t operation;  ///< pl::abi::RemoteOperation
  // Of a collective:
  std::int32_t tensor = -1;  ///< the argument that is its window
  std::int32_t dtype = 0;    ///< number of a dtype of kernels
  std::int64_t elements = 0;
  std::int64_t offset = 0;        ///< of the first one in the window, in bytes
  std::int64_t root = 0, to = 0;  ///< ranks
  std::int32_t reduction = 0;     ///< pl::abi::Remote::mode
  const char* signal = nullptr;   ///< cells of the user's, described; null: none
};

/// Where each rank's part of a window lies in the address space of this one: the struct `Window` of emitted text. The host
/// fills it for a pl::abi::Remote of the operation `remote_parts`.
struct WindowParts {
  static constexpr int most_ranks = 64;
  std::uint32_t rank, ranks;
  std::uint64_t unused;
  std::uint64_t memory[most_ranks];  ///< the first element of the tensor argument
  std::uint64_t cells[most_ranks];   ///< a line of 64 bytes for every rank, all zero between collectives
};
inline constexpr std::int32_t fault_peer = 7;     ///< code of a fault: a rank that a window has not
inline constexpr std::int32_t remote_parts = 64;  ///< none of the requests that kernels make themselves

/// The user's place of a line of the kernel's text.
struct SourceLine {
  const char* file;
  std::uint32_t line, column;
  /// pl::abi::RemoteOperation that moves elements there; remote_access: pl::read or pl::write; -1: pl::load or pl::store
  std::int32_t operation = -1;
};

enum class Cores : std::int32_t { Vector, Cube, Mixed };

struct Launch {
  const char* name;
  void (*kernel)(void* arguments);  ///< called once a core and block, on a thread of the run time
  void* arguments;
  Cores cores;
  std::int64_t blocks;  ///< of Mixed: groups of one cube and two vector cores
  const Region* regions;
  std::int64_t region_count;
  const SourceLine* lines;  ///< entry i: of line i + 1 of the text; may be null
  std::int64_t line_count;
  const WindowCall* calls = nullptr;
  std::int64_t call_count = 0;
};

/// What a kernel's entry gets (as pl::abi::Services::model).
struct Table {
  std::uint32_t version, size;
  void* context;
  const Functions* functions;
  std::int32_t (*launch)(void* context, const Launch* launch);  ///< 0, or 1: a fault was reported
};

/// The run time of the kernels of this object; set before a kernel starts, and the same in every launch.
inline const Functions* functions = nullptr;

/// Runs a kernel of this object on the model.
inline std::int32_t launch(const Table* table, const Launch& request) {
  __atomic_store_n(&functions, table->functions, __ATOMIC_RELAXED);
  return table->launch(table->context, &request);
}

[[nodiscard]] inline const Functions& run_time() { return *__atomic_load_n(&functions, __ATOMIC_RELAXED); }

/// The line that a call stands in: the default argument of every function of the interface.
struct Line {
  std::uint32_t number;
  [[nodiscard]] static constexpr Line here(std::uint32_t number = __builtin_LINE()) { return Line{number}; }
};

}  // namespace AscendC::model
