// runtime/model/core.hpp -- one core while it runs one block: its memories, the clocks of its pipes, and the operations
// that they start.
#pragma once

#include <algorithm>
#include <array>
#include <csetjmp>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "codegen/ascendc/model/model_abi.h"
#include "codegen/ascendc/model/types.h"
#include "runtime/model/clock.hpp"
#include "runtime/model/memory.hpp"
#include "runtime/model/queues.hpp"

namespace trilith::model {

class Run;

class Core {
 public:
  /// `number`: among all cores and blocks of the launch.
  Core(Run& run, std::uint32_t number, bool cube, std::int64_t block, std::int64_t sub_block);

  /// Its number in stamps and clocks: among those of all launches that share windows.
  [[nodiscard]] std::uint32_t id() const { return id_; }

  [[nodiscard]] Run& run() const { return run_; }
  [[nodiscard]] std::uint32_t number() const { return number_; }
  [[nodiscard]] bool is_cube() const { return cube_; }
  [[nodiscard]] std::int64_t block() const { return block_; }          ///< GetBlockIdx
  [[nodiscard]] std::int64_t sub_block() const { return sub_block_; }  ///< GetSubBlockIdx
  [[nodiscard]] std::string name() const;

  [[nodiscard]] Memory& memory(Space space, const char* operation, std::uint32_t line);
  [[nodiscard]] Queues& queues() { return queues_; }
  /// The block has ended: gives its memories back.
  void release() {
    for (auto& memory : memories_) memory.reset();
  }

  /// Reports and unwinds.
  [[noreturn]] void fault(std::uint32_t line, const std::string& message) const;

  // Order between pipes.
  [[nodiscard]] Clock& clock(std::uint8_t pipe) { return clocks_[pipe]; }
  /// The clock of a moment at which all that `pipe` has started is complete.
  [[nodiscard]] Clock complete(std::uint8_t pipe) const;
  void barrier(std::uint8_t pipe, std::uint32_t line);
  /// The number of a new operation of a pipe.
  [[nodiscard]] std::uint32_t start(std::uint8_t pipe);
  /// How many operations all pipes but S have started.
  [[nodiscard]] std::uint64_t started_by_pipes() const;

  struct Atomic {
    AscendC::model::AtomicMode mode = AscendC::model::AtomicMode::None;
    AscendC::model::Dtype dtype{};
    std::uint32_t line = 0;
  };
  Atomic atomic;

  /// A line of GM in the scalar cache.
  struct Line {
    std::array<std::byte, 64> bytes;
    std::uint64_t dirty = 0;  ///< a bit for each byte
    std::uint32_t line = 0;   ///< of the last scalar store
    std::uint64_t reads = 0;  ///< since it was fetched
    Clock fetched;            ///< of pipe S then
  };
  std::map<std::uint64_t, Line> cache;

  /// The last cell of a window that pipe S has looked at.
  struct Cell {
    std::uint64_t address = 0;
    std::int32_t value = 0;
    std::uint32_t line = 0;
    bool compared = false, at_least = false;  ///< with `expected`
    std::int32_t expected = 0;
  } last_cell;
  std::array<Stamp, pipe_count>
      last_window{};  ///< of each pipe: its last access to a window, but for signals
  Stamp last_look;    ///< of pipe S at a signal cell
  [[nodiscard]] std::uint32_t last_operation() const {
    return *std::max_element(started_.begin(), started_.end());
  }
  std::string printed;           ///< not told yet: its last line goes on
  std::uint32_t last_place = 0;  ///< the last line of the text, passed so far, that has a place of the user's

  std::jmp_buf exit;  ///< to where the kernel was called from

 private:
  Run& run_;
  std::uint32_t number_, id_;
  bool cube_;
  std::int64_t block_, sub_block_;
  std::array<std::unique_ptr<Memory>, space_count> memories_;  ///< made when first used
  std::array<Clock, pipe_count> clocks_;
  std::array<std::uint32_t, pipe_count> started_{};
  Queues queues_;
};

[[nodiscard]] const char* pipe_name(std::uint8_t pipe);

/// One operation: what it reads and writes is declared, then `start` checks it against all before it.
class Operation {
 public:
  using Span = AscendC::model::Span;

  Operation(Core& core, std::uint8_t pipe, const char* name, std::uint32_t line);

  /// `bytes` from `offset` of a tensor on the chip, checked against its extent and alignment: where it stands.
  [[nodiscard]] std::uint64_t place(const Span& tensor, std::uint64_t offset, std::uint64_t bytes,
                                    std::uint64_t alignment, bool writes) const;
  [[nodiscard]] Memory& memory(const Span& tensor) const;
  /// The same in GM, checked against the tensors of the launch.
  [[nodiscard]] std::uint64_t global(const Span& tensor, std::int64_t offset, std::uint64_t bytes,
                                     bool writes) const;

  void reads(Memory& memory, Range range) { accesses_.push_back({&memory, range, false}); }
  void writes(Memory& memory, Range range) { accesses_.push_back({&memory, range, true}); }
  void reads_global(Range range) { accesses_.push_back({nullptr, range, false}); }
  void writes_global(Range range) { accesses_.push_back({nullptr, range, true}); }
  /// Checks and records all accesses; what follows is done at once.
  void start(std::uint8_t atomic = 0);

  [[noreturn]] void fault(const std::string& message) const;
  [[nodiscard]] Core& core() const { return core_; }
  [[nodiscard]] std::uint32_t line() const { return line_; }
  [[nodiscard]] const Stamp& stamp() const { return stamp_; }

 private:
  struct Access {
    Memory* memory;  ///< null: GM
    Range range;
    bool writes;
    bool window = false;
  };

  void check(const Access& access) const;
  [[noreturn]] void report(const Access& access, const AccessMap::Conflict& conflict) const;
  /// Is it one? Else it is an access to data.
  [[nodiscard]] bool signal(const Access& access);
  void check_window(const Access& access);

  Core& core_;
  const char* name_;
  std::uint32_t line_;
  Stamp stamp_;
  bool looks_ = false;  ///< at a signal cell
  std::vector<Access> accesses_;
};

}  // namespace trilith::model
