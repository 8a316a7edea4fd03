// codegen/ascendc/emit.hpp -- a specialised kernel as AscendC for the split-core 910B class (A2, A3).
//
//   const Emitted emitted = emit(specialise(captured, signature), signature);
//   // emitted.text is the file for the device compiler; it includes kernel_operator.h alone
//
// Extents are constants: the signature of this target gives them all. Throws pl::UserError, with the user's place,
// for what AscendC of this class has no exact lowering for: the message names the operation, the dtype and the reason.
// Pure functions, deterministic to the byte.
#pragma once

#include "codegen/ir.hpp"
#include "codegen/specialise.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace trilith::codegen::ascendc {

/// One parameter of the emitted entry.
struct KernelArgument {
  enum class Kind : std::uint8_t {
    Tensor,     ///< GM_ADDR of tensor argument `index`
    Scalar,     ///< by value: scalar slot `index` of abi::Args
    Stride,     ///< int64_t by value: stride `axis` of tensor argument `index`, in elements
    Workspace,  ///< GM_ADDR of Emitted::workspace_bytes
    Windows,    ///< GM_ADDR of the window context: a record for each of Emitted::windows
  };
  Kind kind = Kind::Tensor;
  int index = 0;
  int axis = 0;
  std::string name;
  std::string type;              ///< in the text: "GM_ADDR", "int32_t", "float", ...
  DType dtype = DType::Float32;  ///< of the tensor or scalar; 16-bit floats are passed as float
};

enum class CoreType : std::uint8_t { Vector, Cube, Mixed };

/// One buffer of a core's memory and the lines of the text in which it is alive.
struct Allocation {
  std::string space;  ///< "UB", "L1", "L0A", ...
  std::string name;
  std::int64_t offset = 0, bytes = 0;
  std::uint32_t first_line = 0, last_line = 0;
};

/// A check that only the run can make. The kernel writes its number, counted from 1, and the three numbers into its
/// block's line of the workspace and returns: `workspace + 64 * block` holds {int32 number, pad, int64 given,
/// int64 expected, int64 length}.
struct Check {
  std::int32_t code = 0;  ///< pl::abi::FaultCode
  std::string what;       ///< as pl::abi::Fault::what
  SourceLocation location;
};

/// Lines of the text that signal, wait, fence or are a collective: for whoever follows the order of the ranks, or has to
/// say why the kernel does not go on. Of what only the run knows there is nothing.
struct WindowCall {
  std::uint32_t first_line = 0, last_line = 0;
  Op op = Op::Wait;
  // Of a collective:
  int tensor = -1;  ///< the argument that is its window
  DType dtype = DType::Int32;
  std::int64_t elements = 0;
  std::optional<std::int64_t> offset = {};         ///< of the first one in the window, in bytes
  std::optional<std::int64_t> root = {}, to = {};  ///< ranks
  std::int32_t reduction = 0;                      ///< pl::abi::Remote::mode
  std::string signal;                              ///< cells of the user's, described; "": none
};

/// A window that the kernel reaches, in the order of the context's records.
struct WindowArgument {
  static constexpr int most_ranks = 64;
  int tensor = 0;        ///< the tensor argument that is this rank's part
  bool signals = false;  ///< it has signal cells of the kernel
};

/// How long one pipe is busy, by published peak rates (cost.hpp).
struct PipeCycles {
  std::string pipe;  ///< "AIV V", "AIC MTE2", ...: the core and its pipe
  std::string rate;  ///< in words, with where it is from
  double block = 0;  ///< of the block that has most to do
  double all = 0;    ///< of all blocks together
};

struct Estimate {
  std::vector<PipeCycles> pipes;  ///< those that have something to do
  int open_loops = 0;             ///< loops whose turns only the run knows: counted once
};

struct Emitted {
  std::string text;    ///< includes only kernel_operator.h
  std::string symbol;  ///< the extern "C" entry
  CoreType cores = CoreType::Vector;
  std::int64_t blocks = 1;                   ///< cores to launch; with `spmd` the caller's blocks instead
  bool spmd = false;                         ///< the kernel asks for its block's number
  std::int64_t workspace_bytes = 0;          ///< of device memory, for all blocks; with `spmd` for one
  std::int64_t further_workspace_bytes = 0;  ///< with `spmd`: for each further block
  std::vector<KernelArgument> arguments;
  std::vector<Allocation> memory;
  std::vector<Check> checks;
  std::vector<WindowArgument> windows;  ///< empty: the kernel takes no context
  std::vector<WindowCall> calls;
  std::vector<std::pair<int, int>> in_place;  ///< (input, output) parameters that may be the same memory
  Estimate estimate;
  std::vector<SourceLocation>
      lines;  ///< by line of the text, the first one at 0: the user's place, line 0: none

  [[nodiscard]] std::int64_t workspace_for(std::int64_t launched) const {
    return workspace_bytes + (launched - 1) * further_workspace_bytes;
  }
};

[[nodiscard]] Emitted emit(const Kernel& specialised, const Signature& signature);

/// C++ of `extern "C" int32_t <symbol>_entry(const pl::abi::Args*, const pl::abi::Services*)`, to stand behind the
/// text: takes the arguments apart and launches the kernel on the model of AscendC.
[[nodiscard]] std::string model_entry(const Emitted& emitted, const Kernel& specialised);

}  // namespace trilith::codegen::ascendc
