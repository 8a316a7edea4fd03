#include "runtime/services.hpp"

#include "codegen/fault_text.hpp"
#include "codegen/reference.hpp"
#include "pl/error.hpp"
#include "pl/log.hpp"
#include "runtime/context_state.hpp"
#include "runtime/model/launch.hpp"
#include "runtime/model_launch.hpp"
#include "runtime/parallel_rounds.hpp"
#include "runtime/rank_channel.hpp"
#include "runtime/thread_state.hpp"
#include "runtime/windows/remote_call.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#if defined(__x86_64__)
#include <immintrin.h>
#else
#include <cfenv>
#endif

namespace pl::detail {
namespace {

/// Scratch memory of one thread: blocks that grow, reused from call to call up to `kept` bytes.
class ScratchArena {
 public:
  void* allocate(std::uint64_t bytes) {
    constexpr std::uint64_t alignment = 64;
    if (bytes > UINT64_MAX / 2) return nullptr;
    const std::uint64_t size = (bytes + alignment - 1) / alignment * alignment;
    if (blocks_.empty() || blocks_.back().size - used_ < size) {
      const std::uint64_t capacity = size > first_block ? size : first_block;
      void* memory = std::aligned_alloc(alignment, capacity);
      if (memory == nullptr) return nullptr;
      try {
        blocks_.push_back({std::unique_ptr<void, Free>(memory), capacity});
      } catch (...) {
        return nullptr;
      }
      used_ = 0;
    }
    void* result = static_cast<char*>(blocks_.back().memory.get()) + used_;
    used_ += size;
    return result;
  }
  struct Mark {
    std::size_t blocks;
    std::uint64_t used;
  };
  [[nodiscard]] Mark mark() const { return {blocks_.size(), used_}; }
  /// Gives back what was allocated since.
  void rewind(const Mark& mark) {
    if (mark.blocks == 0) return release();
    blocks_.erase(blocks_.begin() + static_cast<std::ptrdiff_t>(mark.blocks), blocks_.end());
    used_ = mark.used;
  }
  /// The kernel has returned.
  void release() {
    used_ = 0;
    if (blocks_.size() == 1 && blocks_.front().size <= kept) return;
    blocks_.clear();
  }

 private:
  static constexpr std::uint64_t first_block = 64 << 10;
  static constexpr std::uint64_t kept = 1 << 20;
  struct Free {
    void operator()(void* memory) const { std::free(memory); }
  };
  struct Block {
    std::unique_ptr<void, Free> memory;
    std::uint64_t size;
  };
  std::vector<Block> blocks_;
  std::uint64_t used_ = 0;
};

ScratchArena& scratch_arena() {
  thread_local ScratchArena arena;
  return arena;
}

/// What one call of a kernel leaves behind.
struct CallRecord {
  bool used = false;  ///< scratch memory was taken, or a print failed
  bool used_scratch = false;
  bool faulted = false;
  abi::Fault fault;              ///< not initialised: counts where `faulted` is set
  std::exception_ptr exception;  ///< of a print sink or a window: may not pass through the kernel's frames
  std::span<const RecordedView> views;
  const abi::Services* services = nullptr;
};

void record_fault(void* context, const abi::Fault* fault) {
  auto& record = *static_cast<CallRecord*>(context);
  record.faulted = true;
  record.fault = *fault;
}

void* give_scratch(void* context, std::uint64_t bytes) {
  auto& record = *static_cast<CallRecord*>(context);
  record.used = record.used_scratch = true;
  return scratch_arena().allocate(bytes);
}

void print_tile(void* context, const char* name, std::int32_t dtype, std::int32_t rank,
                const std::int64_t* extents, const void* data) {
  auto& record = *static_cast<CallRecord*>(context);
  if (record.exception) return;
  try {
    trilith::codegen::Value value(static_cast<trilith::codegen::DType>(dtype),
                                  trilith::codegen::Shape(extents, extents + rank));
    value.is_scalar = extents == nullptr;
    if (!value.bytes.empty()) std::memcpy(value.bytes.data(), data, value.bytes.size());
    (void)name;
    print(trilith::codegen::reference::to_text(value) + "\n");
  } catch (...) {
    record.used = true;
    record.exception = std::current_exception();
  }
}

std::int32_t reach_window(void* context, abi::Remote* request) {
  auto& record = *static_cast<CallRecord*>(context);
  // Code for checked runs may be called outside of one.
  if (request->operation == abi::remote_access && thread_state().watch == nullptr) return 0;
  try {
    const auto view_of = [&](std::int32_t number) {
      if (number < 0 || static_cast<std::size_t>(number) >= record.views.size())
        throw InternalError("a kernel asked for tensor argument " + std::to_string(number) + " of " +
                            std::to_string(record.views.size()) + " as a window");
      return record.views[static_cast<std::size_t>(number)].view();
    };
    if (request->operation == abi::remote_access) {
      note_own_access(view_of(request->window), *request);
      return 0;
    }
    const auto list = [&](const std::int64_t* values, std::int32_t rank) {
      return std::span(values, values == nullptr ? 0 : static_cast<std::size_t>(rank));
    };
    if (request->operation == AscendC::model::remote_parts) {
      give_parts(view_of(request->window), *static_cast<AscendC::model::WindowParts*>(request->data));
      return 0;
    }
    RemoteCall call(request->operation);
    ViewRef window{}, other{}, counts{}, signal{};
    if (request->window >= 0) {
      window = view_of(request->window);
      call.window = &window;
    }
    if (request->other >= 0) {
      other = view_of(request->other);
      call.other = &other;
    }
    const auto cells = [&](const abi::Cells& given) {
      return region_of(view_of(given.window), list(given.offsets, given.rank), list(given.shape, given.rank),
                       call);
    };
    call.where = {lasting_text(request->file), request->line, request->column};
    if (request->counts != nullptr) {
      counts = cells(*request->counts);
      call.other = &counts;
    }
    if (request->signal != nullptr) {
      signal = cells(*request->signal);
      call.signal = &signal;
    }
    // Outside of int it is out of range as well.
    call.mode = request->operation == abi::remote_send_recv
                    ? static_cast<std::int32_t>(std::clamp<std::int64_t>(request->to, -1, INT32_MAX))
                    : request->mode;
    call.peer = request->peer;
    call.offsets = list(request->offsets, request->rank);
    call.other_offsets = list(request->other_offsets, request->other_rank);
    call.shape = list(request->shape, request->rank);
    call.data = request->data;
    call.value = request->value;
    perform(call);
    request->value = call.value;
    return 0;
  } catch (...) {
    record.exception = std::current_exception();
    return abi::fault_remote;
  }
}

/// `context` is that of the call's services: the entry has put it there.
std::int32_t launch_on_model(void* context, const AscendC::model::Launch* launch) {
  auto& record = *static_cast<CallRecord*>(context);
  return run_on_model(*launch, record.views, record.exception) ? 0 : abi::fault_remote;
}

// Not made at the first use: every call of a kernel hands it on.
const AscendC::model::Table model_table = [] {
  struct None final : trilith::model::FaultSink {
    void fault(const trilith::model::Fault&) override {}
  } none;
  AscendC::model::Table table = *trilith::model::Model(none).table();
  table.context = nullptr;
  table.launch = launch_on_model;
  return table;
}();
std::int32_t run_loop(void* context, std::int64_t count, const void* frame, abi::Rounds run);

abi::Services services_for(CallRecord& record) {
  return {abi::version, sizeof(abi::Services), &record,      record_fault, give_scratch,
          print_tile,   reach_window,          &model_table, run_loop};
}

[[noreturn]] void raise(std::int32_t code, const CallRecord& record) {
  const abi::Fault& fault = record.fault;
  if (!record.faulted)
    throw InternalError("a kernel returned code " + std::to_string(code) + " without reporting a fault");
  const Location location{fault.file != nullptr ? fault.file : "", fault.line, fault.column};
  const std::string what = fault.what != nullptr ? fault.what : "a check";
  const std::string text =
      trilith::codegen::fault_text(fault.code, what, std::to_string(fault.given),
                                   std::to_string(fault.expected), std::to_string(fault.length));
  switch (static_cast<std::int32_t>(fault.code)) {
    case abi::fault_range:
    case abi::fault_shape:
    case abi::fault_index: throw ShapeError(text, location);
    case abi::fault_out_of_memory: throw Error(text, location);
    case abi::fault_step: throw UserError(text, location);
    case AscendC::model::fault_peer: throw CommError(text, location);
    default: break;
  }
  throw InternalError(what + ": unknown fault " + std::to_string(fault.code), location);
}

/// The environment that compiled kernels are written for, in force for a block; a sticky flag that the kernel
/// raises is taken back too.
class FloatingPointScope {
 public:
#if defined(__x86_64__)
  FloatingPointScope() : before_(_mm_getcsr()) {
    // The low six bits are sticky flags; the rest are rounding, masks, flush-to-zero and denormals-are-zero.
    if ((before_ & ~0x3fU) != standard) [[unlikely]]
      _mm_setcsr(standard);
  }
  ~FloatingPointScope() {
    if (_mm_getcsr() != before_) _mm_setcsr(before_);
  }

 private:
  static constexpr unsigned standard = 0x1f80;
  unsigned before_;
#else
  FloatingPointScope() {
    std::fegetenv(&before_);
    std::fesetenv(FE_DFL_ENV);
  }
  ~FloatingPointScope() { std::fesetenv(&before_); }

 private:
  std::fenv_t before_;
#endif
};

/// One part of a loop's rounds on the thread that it falls to: its own services, its own scratch memory.
std::int32_t run_part(CallRecord& record, const void* frame, abi::Rounds run, std::int64_t first,
                      std::int64_t last) {
  const abi::Services services = services_for(record);
  record.services = &services;
  const ScratchArena::Mark mark = scratch_arena().mark();
  std::int32_t code = 0;
  {
    const FloatingPointScope scope;
    code = run(frame, &services, first, last);
  }
  if (record.used_scratch) scratch_arena().rewind(mark);
  return code;
}

std::int32_t run_loop(void* context, std::int64_t count, const void* frame, abi::Rounds run) {
  auto& record = *static_cast<CallRecord*>(context);
  const ThreadState& thread = thread_state();
  const int threads = thread.threads != 0 ? thread.threads : current_context(thread).config.threads;
  if (threads == 1 || count < 2) return run(frame, record.services, 0, count);

  // The first round that fails is the one that fails in order, too: every part before it has begun.
  struct {
    std::mutex mutex;
    std::int64_t first = INT64_MAX;
    std::int32_t code = 0;
    CallRecord record;
  } failed;
  try {
    run_rounds(count, threads, [&](std::int64_t first, std::int64_t last) {
      CallRecord part;
      part.views = record.views;
      const std::int32_t code = run_part(part, frame, run, first, last);
      if (code == 0) return true;
      const std::lock_guard lock(failed.mutex);
      if (first < failed.first) {
        failed.first = first;
        failed.code = code;
        failed.record = part;
      }
      return false;
    });
  } catch (
      ...) {  // no memory for the loop itself: nothing has begun, and nothing may pass through the kernel
    return run(frame, record.services, 0, count);
  }
  if (failed.code != 0) {
    record.faulted = failed.record.faulted;
    record.fault = failed.record.fault;
    record.exception = failed.record.exception;
  }
  return failed.code;
}

}  // namespace

void run_entry(abi::Entry entry, const abi::Args& args, std::span<const RecordedView> views) {
  CallRecord record;
  record.views = views;
  const abi::Services services = services_for(record);
  record.services = &services;
  std::int32_t code = 0;
  {
    const FloatingPointScope scope;
    code = entry(&args, &services);
  }
  if (record.used_scratch) scratch_arena().release();
  if (record.exception) [[unlikely]]
    std::rethrow_exception(record.exception);
  if (code != 0) [[unlikely]]
    raise(code, record);
}

namespace {

/// The record of one call after the other.
struct BareRecord final : BareState {
  BareRecord(abi::Entry entry_, const abi::Args& args) {
    entry = entry_;
    arguments = args;
    services = services_for(record);
    record.services = &services;
    used_services = &record.used;
  }
  void finish(std::int32_t code) override {
    record.used = false;
    if (std::exchange(record.used_scratch, false)) scratch_arena().release();
    if (record.exception) std::rethrow_exception(std::exchange(record.exception, nullptr));
    if (code != 0) raise(code, record);
  }
  CallRecord record;
};

}  // namespace

std::unique_ptr<BareState> make_bare_state(abi::Entry entry, const abi::Args& args) {
  return std::make_unique<BareRecord>(entry, args);
}

}  // namespace pl::detail
