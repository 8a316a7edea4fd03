// codegen/ascendc/program.hpp -- a device program before it is text: lines that know what they touch.
//
// Lowerings append lines; the memory planner then gives tiles their places and the synchroniser puts barriers and
// events between lines that depend on each other, so no lowering thinks of either.
#pragma once

#include "codegen/dtype.hpp"
#include "codegen/ir.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace trilith::codegen::ascendc {

/// What runs a line. The pipes of a core run beside each other, each in order.
enum class Pipe : std::uint8_t { None, Scalar, Vector, MoveIn, MoveOut };
inline constexpr int pipe_count = 5;

using ObjectId = int;

/// Memory that lines touch.
struct Object {
  enum class Kind : std::uint8_t {
    Calc,    ///< unified buffer, placed by the planner
    In,      ///< a tensor of a VECIN queue
    Out,     ///< a tensor of a VECOUT queue
    Global,  ///< device memory
  };
  Kind kind = Kind::Calc;
  std::string name = {};
  DType dtype = DType::Float32;  ///< of its elements there
  std::int64_t bytes = 0;
  int queue = -1;               ///< In, Out
  std::int64_t offset = -1;     ///< Calc: in the buffer of tiles, once planned
  std::int64_t workspace = -1;  ///< Global: offset in the block's workspace, if it is there
  ObjectId alias = -1;          ///< it is part of another object, from `part` (text) on
  std::string part = {};
  std::int64_t part_offset = 0;  ///< in bytes; -1: known at run time only
  ObjectId memory = -1;          ///< Global: it may lie in the memory of this object; -1: memory of its own
  SourceLocation location = {};  ///< what it is for
};

struct Touch {
  ObjectId object = -1;
  bool writes = false;
  // Bytes of the object; end < 0: all of it.
  std::int64_t begin = 0, end = -1;
  const Statement* store = nullptr;  ///< of the kernel, that leaves its tile there
};

/// What a line asks of a unit of the core, in the unit's own measure. cost.hpp knows how long that takes.
struct Work {
  enum class Unit : std::uint8_t {
    Scalar,   ///< elements that the scalar pipe reads or writes one by one
    Vector,   ///< repeats of 256 bytes
    MoveIn,   ///< bytes from device memory
    MoveOut,  ///< bytes from the unified buffer to device memory
    ToL1,     ///< bytes from device memory, on the cube core
    ToL0A,    ///< bytes from L1
    ToL0B,    ///< bytes from L1
    Cube,     ///< products of 16 by 16 by 16 halves
    FixPipe,  ///< bytes from L0C to device memory
  };
  Unit unit = Unit::Scalar;
  std::int64_t amount = 0;
};
inline constexpr int unit_count = 9;

struct Node {
  enum class Kind : std::uint8_t {
    Code,
    Comment,
    Declare,  ///< a Calc object comes into being
    Open,     ///< "for (…) {": a loop body follows
    Branch,   ///< "if (…) {"
    Else,     ///< "} else {"
    Close,
    Alloc,  ///< of a queue's tensor: `object`
    EnQue,
    DeQue,
    Free,
    Cube,    ///< a product: on the cube core the text, on vector cores the wait for it
    Call,    ///< of a function in front of the kernel, which ends with a barrier of all pipes
    Signal,  ///< the same; a barrier of all pipes stands in front of it in any case
  };
  Kind kind = Kind::Code;
  std::string text = {};
  Pipe pipe = Pipe::None;
  std::vector<Touch> touches = {};
  ObjectId object = -1;
  bool in_place = false;  ///< the first touch, a write, may share its place with an operand that ends here
  bool leaves = false;    ///< break, continue, return
  int call = -1;          ///< number of a WindowCall
  SourceLocation location = {};
  std::vector<Work> work = {};
  /// Open: how often its body runs; unknown_turns: only the run knows. Branch: 1, or 0 where it is hardly ever taken.
  double turns = 1;
  bool spreads = false;  ///< Open: the cores share its turns
  const Statement* loop =
      nullptr;  ///< Open: of the kernel; nullptr: of a nest, whose turns write different elements
};

inline constexpr double unknown_turns = -1;

/// A queue of the kernel: every nest uses the same ones.
struct Queue {
  bool in = true;
  std::string name = {};
  int buffers = 1;
  std::int64_t bytes = 0;  ///< of one buffer
};

struct Program {
  std::vector<Object> objects;
  std::vector<Queue> queues;
  std::vector<ObjectId> homes;  ///< Calc objects that are declared in front of everything
  std::vector<Node> nodes;
  std::vector<std::string> events;  ///< "V_S", ...: those that lines set and wait for
};

/// Unified buffer that kernels may use: the top 8 KiB belong to Select and others, 256 bytes to mixed kernels.
inline constexpr std::int64_t unified_buffer_bytes = 184 * 1024 - 256;

/// memory.cpp: gives every Calc object its offset, by live ranges. Returns the bytes of the whole buffer of tiles.
[[nodiscard]] std::int64_t plan_memory(Program& program);

/// skeleton.cpp: the lines that products need, for the cores that walk the kernel beside the vector core. `hidden`: a
/// line that they need and that only the vector core can run.
[[nodiscard]] std::vector<Node> skeleton(const Program& program, const Node*& hidden);

/// What the elements of a dtype are in device memory and in the tensors of queues.
[[nodiscard]] constexpr DType stored_as(DType dtype) {
  switch (dtype) {
    case DType::Bool: return DType::UInt8;
    case DType::UInt16: return DType::Int16;
    case DType::UInt32: return DType::Int32;
    case DType::UInt64: return DType::Int64;
    default: return dtype;
  }
}

[[nodiscard]] constexpr std::int64_t round_up(std::int64_t value, std::int64_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

}  // namespace trilith::codegen::ascendc
