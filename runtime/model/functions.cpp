#include "runtime/model/functions.hpp"

#include <array>
#include <type_traits>

#include "runtime/model/run.hpp"

namespace trilith::model {
namespace {

using AscendC::model::Dtype;
using AscendC::model::Functions;
using AscendC::model::Span;

/// Calls `function` with the thread's core. A fault has unwound everything here, and leaves the kernel by a jump: kernels
/// are built without exceptions and own nothing that a jump would lose.
template <class Function>
auto on_core(Function&& function) {
  Core& core = *current_core();
  try {
    return function(core);
  } catch (const Stop&) {
  }
  std::longjmp(core.exit, 1);
}

void check_task_type(Core& core, std::int32_t type, std::uint32_t line) {
  using AscendC::model::Cores;
  const Cores cores = core.run().launch().cores;
  const bool fits = (type == KERNEL_TYPE_AIV_ONLY && cores == Cores::Vector) ||
                    (type == KERNEL_TYPE_AIC_ONLY && cores == Cores::Cube) ||
                    (type == KERNEL_TYPE_MIX_AIC_1_2 && cores == Cores::Mixed);
  if (!fits) core.fault(line, "KERNEL_TASK_TYPE_DEFAULT names other cores than the kernel is launched on");
}

constexpr Functions table{
    AscendC::model::abi_version,
    sizeof(Functions),
    [](void* pipe, std::uint32_t line) { on_core([&](Core& core) { core.queues().init_pipe(pipe, line); }); },
    [](std::uint32_t line) { return on_core([&](Core& core) { return core.queues().pipe(line); }); },
    [](std::uint32_t line) { on_core([&](Core& core) { core.queues().reset(line); }); },
    [](const AscendC::model::QueueRequest* request) {
      return on_core([&](Core& core) { return core.queues().init_queue(*request); });
    },
    [](std::uint8_t position, std::int64_t bytes, Span* buffer, std::uint32_t line) {
      on_core([&](Core& core) { core.queues().init_buffer(position, bytes, *buffer, line); });
    },
    [](std::uint32_t queue, Span* tensor, std::uint32_t line) {
      on_core([&](Core& core) { core.queues().allocate(queue, *tensor, line); });
    },
    [](std::uint32_t queue, const Span* tensor, std::uint32_t line) {
      on_core([&](Core& core) { core.queues().enqueue(queue, *tensor, line); });
    },
    [](std::uint32_t queue, Span* tensor, std::uint32_t line) {
      on_core([&](Core& core) { core.queues().dequeue(queue, *tensor, line); });
    },
    [](std::uint32_t queue, const Span* tensor, std::uint32_t line) {
      on_core([&](Core& core) { core.queues().free(queue, *tensor, line); });
    },
    [](std::uint32_t queue, std::uint32_t line) {
      return on_core([&](Core& core) { return core.queues().queued(queue, line); });
    },
    [](std::uint32_t queue, std::uint32_t line) {
      return on_core([&](Core& core) { return core.queues().idle(queue, line); });
    },
    [](std::uint8_t from, std::uint8_t to, bool reserve, std::uint32_t line) {
      return on_core([&](Core& core) { return core.queues().event_id(from, to, reserve, line); });
    },
    [](std::uint8_t from, std::uint8_t to, std::int64_t id, std::uint32_t line) {
      on_core([&](Core& core) { core.queues().release_event_id(from, to, id, line); });
    },
    [](std::uint8_t from, std::uint8_t to, std::int64_t id, std::uint32_t line) {
      on_core([&](Core& core) { core.queues().set_flag(from, to, id, line); });
    },
    [](std::uint8_t from, std::uint8_t to, std::int64_t id, std::uint32_t line) {
      on_core([&](Core& core) { core.queues().wait_flag(from, to, id, line); });
    },
    [](std::uint8_t pipe, std::uint32_t line) { on_core([&](Core& core) { core.barrier(pipe, line); }); },
    [](const AscendC::model::VectorRequest* request) {
      on_core([&](Core& core) { vector(core, *request); });
    },
    [](const AscendC::model::CopyRequest* request) { on_core([&](Core& core) { copy(core, *request); }); },
    [](const AscendC::model::LoadRequest* request) { on_core([&](Core& core) { load(core, *request); }); },
    [](const AscendC::model::MmadRequest* request) { on_core([&](Core& core) { mmad(core, *request); }); },
    [](const AscendC::model::FixpipeRequest* request) {
      on_core([&](Core& core) { fixpipe(core, *request); });
    },
    [](AscendC::model::AtomicMode mode, Dtype dtype, std::uint32_t line) {
      on_core([&](Core& core) { core.atomic = {mode, dtype, line}; });
    },
    [](const Span* tensor, std::int64_t index, std::uint32_t line) {
      return on_core([&](Core& core) { return get_scalar(core, *tensor, index, line); });
    },
    [](const Span* tensor, std::int64_t index, std::uint64_t value, std::uint32_t line) {
      on_core([&](Core& core) { set_scalar(core, *tensor, index, value, line); });
    },
    [](const Span* tensor, std::uint32_t line) {
      return on_core([&](Core& core) { return get_uncached(core, *tensor, line); });
    },
    [](const Span* tensor, std::uint64_t value, std::uint32_t line) {
      on_core([&](Core& core) { set_uncached(core, *tensor, value, line); });
    },
    [](const Span* tensor, bool whole, std::uint32_t line) {
      on_core([&](Core& core) { clean_cache(core, *tensor, whole, line); });
    },
    [](std::int64_t number, bool at_least) {
      on_core([&](Core& core) { core.run().compared(core, number, at_least); });
    },
    [] { return current_core()->is_cube(); },
    [] { return current_core()->block(); },
    [] { return current_core()->run().launch().blocks; },
    [] { return current_core()->sub_block(); },
    [](std::int32_t type, std::uint32_t line) {
      on_core([&](Core& core) { check_task_type(core, type, line); });
    },
    [](std::uint8_t mode, std::uint8_t pipe, std::int64_t id, std::uint32_t line) {
      on_core([&](Core& core) { core.run().set_cross(core, mode, pipe, static_cast<int>(id), line); });
    },
    [](std::int64_t id, std::uint32_t line) {
      on_core([&](Core& core) { core.run().wait_cross(core, static_cast<int>(id), line); });
    },
    [](bool vector_only, std::uint32_t line) {
      on_core([&](Core& core) { core.run().sync_all(core, vector_only, line); });
    },
    [](const char* format, const AscendC::model::PrintArgument* arguments, std::uint64_t count,
       std::uint32_t line) { on_core([&](Core& core) { print(core, format, {arguments, count}, line); }); },
};

}  // namespace

Core*& current_core() {
  thread_local Core* core = nullptr;
  return core;
}

const Functions& functions() { return table; }

std::uint64_t size_of(Dtype dtype) {
  switch (dtype) {
    case Dtype::I8:
    case Dtype::U8: return 1;
    case Dtype::F16:
    case Dtype::BF16:
    case Dtype::I16:
    case Dtype::U16: return 2;
    case Dtype::F32:
    case Dtype::I32:
    case Dtype::U32: return 4;
    case Dtype::I64:
    case Dtype::U64: break;
  }
  return 8;
}

const char* name_of(Dtype dtype) {
  static constexpr std::array<const char*, 11> names{"half",     "bfloat16_t", "float",    "int8_t",
                                                     "uint8_t",  "int16_t",    "uint16_t", "int32_t",
                                                     "uint32_t", "int64_t",    "uint64_t"};
  return names[static_cast<std::size_t>(dtype)];
}

}  // namespace trilith::model
