// One kernel: lowered with the largest blocks whose buffers fit. A tile that outlives its nest stays in the unified buffer
// while everything fits beside it, else it moves to the workspace, the largest first.
#include "codegen/ascendc/emit.hpp"

#include "codegen/ascendc/cost.hpp"
#include "codegen/ascendc/lowering.hpp"
#include "codegen/ascendc/print.hpp"
#include "codegen/error.hpp"
#include "codegen/remote.hpp"

#include <algorithm>

namespace trilith::codegen::ascendc {
namespace {

constexpr std::int64_t smallest_block = 64;    ///< elements: a repeat of 4 bytes
constexpr std::int64_t largest_block = 16384;  ///< elements: 64 KiB of them do not leave room for another two
constexpr int vector_cores = 40;               ///< of the smallest part of the class
constexpr std::int64_t bytes_worth_a_core = 16 << 10;

void remember_goto(const std::vector<Statement>& list, bool& jumps) {
  for (const Statement& statement : list) {
    if (statement.kind == StatementKind::Leave && statement.block != 0) jumps = true;
    if (statement.kind == StatementKind::While && !statement.step_body.empty()) jumps = true;
    for (const auto* body : {&statement.body, &statement.else_body, &statement.step_body})
      remember_goto(*body, jumps);
  }
}

/// Touches of tiles that became part of others say so.
void resolve_aliases(Program& program) {
  std::erase_if(program.nodes, [&](const Node& node) {
    return node.kind == Node::Kind::Declare && program.objects[node.object].alias >= 0;
  });
  for (Node& node : program.nodes)
    for (Touch& touch : node.touches)
      while (program.objects[touch.object].alias >= 0) {
        const Object& part = program.objects[touch.object];
        if (part.part_offset < 0 || touch.end < 0) {
          touch.begin = 0;
          touch.end = -1;
        } else {
          touch.begin += part.part_offset;
          touch.end += part.part_offset;
        }
        touch.object = part.alias;
      }
}

void declare_homes(Program& program) {
  std::vector<Node> declarations;
  for (const ObjectId home : program.homes)
    declarations.push_back(
        {.kind = Node::Kind::Declare, .object = home, .location = program.objects[home].location});
  program.nodes.insert(program.nodes.begin(), declarations.begin(), declarations.end());
}

std::int64_t queue_bytes(const Program& program) {
  std::int64_t bytes = 0;
  for (const Queue& queue : program.queues) bytes += queue.buffers * queue.bytes;
  return bytes;
}

bool queues_fit(const Program& program) {
  int in = 0, out = 0;
  for (const Queue& queue : program.queues) (queue.in ? in : out) += queue.buffers;
  return in <= 8 && out <= 8;
}

/// Extents of the largest tile: no block needs to be larger.
std::int64_t largest_tile(const Kernel& kernel) {
  std::int64_t largest = smallest_block;
  for (const Variable& variable : kernel.variables) {
    std::int64_t count = 1;
    if (variable.type.is_tile())
      for (const Dim& dim : variable.type.shape)
        count *= dim.is_constant() ? round_up(std::max<std::int64_t>(dim.extent, 1), 32) : largest_block;
    largest = std::max(largest, count);
  }
  return largest;
}

std::vector<KernelArgument> arguments_of(const Context& context) {
  std::vector<KernelArgument> arguments;
  int tensor = 0, slot = 0;
  const auto scalar = [&](VariableId id) {
    const int own = slot++;
    const DType dtype = context.kernel.variables[id].type.dtype;
    if (context.uses.reads[id] + context.uses.writes[id] == 0) return;
    arguments.push_back(
        {KernelArgument::Kind::Scalar, own, 0, context.variables[id], type_name(scalar_type(dtype)), dtype});
  };
  for (const Parameter& parameter : context.kernel.parameters) {
    const Variable& variable = context.kernel.variables[parameter.variable];
    if (variable.type.is_tensor())
      arguments.push_back({KernelArgument::Kind::Tensor, tensor++, 0, context.variables[parameter.variable],
                           "GM_ADDR", variable.type.dtype});
    else
      scalar(parameter.variable);
  }
  for (const ClosureField& capture : context.kernel.captures) scalar(capture.variable);
  for (const auto& [id, info] : context.tensors)
    for (std::size_t axis = 0; axis < info.strides.size(); ++axis)
      if (info.passes_stride[axis])
        arguments.push_back({KernelArgument::Kind::Stride, info.index, static_cast<int>(axis),
                             info.strides[axis].name, "int64_t", DType::Int64});
  if (!context.windows.empty())
    arguments.push_back({KernelArgument::Kind::Windows, 0, 0, "windows", "GM_ADDR", DType::UInt8});
  if (context.uses_workspace || !context.checks.empty())
    arguments.push_back({KernelArgument::Kind::Workspace, 0, 0, "workspace", "GM_ADDR", DType::UInt8});
  return arguments;
}

struct Attempt {
  bool fits = false;
  bool too_many_queues = false;
  std::int64_t tile_bytes = 0;
};

Attempt lower(Context& context) {
  remember_goto(context.kernel.body, context.has_jumps);
  for (const Parameter& parameter : context.kernel.parameters) context.declared[parameter.variable] = true;
  for (const ClosureField& capture : context.kernel.captures) context.declared[capture.variable] = true;
  context.remember_calls(context.kernel.body);
  context.remember_extents(context.kernel.body);
  context.statements(context.kernel.body);
  context.program.nodes.insert(context.program.nodes.end(), context.deferred.begin(), context.deferred.end());
  Program& program = context.program;
  resolve_aliases(program);
  declare_homes(program);
  Attempt attempt;
  attempt.tile_bytes = plan_memory(program);
  attempt.too_many_queues = !queues_fit(program);
  attempt.fits =
      !attempt.too_many_queues && queue_bytes(program) + attempt.tile_bytes <= unified_buffer_bytes;
  return attempt;
}

[[noreturn]] void does_not_fit(const Context& context, std::int64_t tile_bytes) {
  std::string list;
  for (const Queue& queue : context.program.queues)
    list += "\n  " + queue.name + ": " + std::to_string(queue.buffers) + " x " + std::to_string(queue.bytes) +
            " bytes";
  for (const Object& object : context.program.objects)
    if (object.kind == Object::Kind::Calc && object.alias < 0 && object.offset >= 0 && !object.name.empty())
      list += "\n  " + object.name + ": " + std::to_string(object.bytes) + " bytes";
  throw pl::UserError("AscendC: the tiles of kernel " + context.kernel.name + " need " +
                          std::to_string(queue_bytes(context.program) + tile_bytes) +
                          " bytes of unified buffer, of which there are " +
                          std::to_string(unified_buffer_bytes) + ":" + list +
                          "\nLoad tiles of fewer rows in a loop.",
                      context.place(context.kernel.location));
}

/// Traffic of the only nest, where it may be spread over cores: no tile outlives it and no block is asked for.
int cores_for(const Context& context) {
  if (context.nests != 1 || !context.spreads || context.spmd || context.reaches_peers || context.prints ||
      !context.checks.empty() || !context.homes.empty() || !context.program.homes.empty() ||
      context.workspace_bytes > 0)
    return 1;
  std::int64_t bytes = 0;
  for (const auto& [id, tensor] : context.tensors)
    if (context.used_tensors.contains(tensor.object)) bytes += context.program.objects[tensor.object].bytes;
  return static_cast<int>(std::clamp<std::int64_t>(bytes / bytes_worth_a_core, 1, vector_cores));
}

/// Queues order what moves in before what moves out; an element that the scalar pipe reads in device memory waits for an
/// event, so where it may lie in an output's memory the synchroniser has to know.
void join_memory(Context& context, const std::vector<std::pair<int, int>>& pairs) {
  ObjectId memory = -1;
  for (const auto& [input, output] : pairs) {
    const auto object_of = [&](int parameter) {
      return context.tensors.at(context.kernel.parameters[static_cast<std::size_t>(parameter)].variable)
          .object;
    };
    const ObjectId in = object_of(input);
    const bool is_read = std::ranges::any_of(context.program.nodes, [&](const Node& node) {
      return node.pipe == Pipe::Scalar && std::ranges::any_of(node.touches, [&](const Touch& touch) {
               return touch.object == in && !touch.writes;
             });
    });
    if (!is_read) continue;
    if (memory < 0) memory = in;
    context.program.objects[in].memory = context.program.objects[object_of(output)].memory = memory;
  }
}

}  // namespace

Emitted emit(const Kernel& specialised, const Signature& signature) {
  if (!specialised.specialised) throw pl::InternalError("AscendC emitter: the kernel is not specialised");
  const WithPeers with = with_peers(specialised);
  Tiling tiling;
  const std::int64_t largest = std::min(largest_tile(with.kernel), largest_block);
  tiling.block_elements = largest;
  for (int turn = 0; turn < 400; ++turn) {
    std::optional<Context> context(std::in_place, with, signature, tiling);
    Attempt attempt;
    try {
      attempt = lower(*context);
    } catch (const Spill& spill) {
      if (!tiling.spilled.insert(spill.name).second)
        throw pl::InternalError("AscendC emitter: a tile without a place");
      continue;
    }
    if (attempt.too_many_queues && tiling.queue_limit > 4) {
      tiling.queue_limit = 4;
      continue;
    }
    if (!attempt.fits) {
      if (tiling.block_elements > smallest_block) {
        // A quarter less each time, in whole repeats.
        tiling.block_elements =
            std::max(smallest_block, tiling.block_elements * 3 / 4 / smallest_block * smallest_block);
        continue;
      }
      const Object* worst = nullptr;
      for (const ObjectId home : context->program.homes)
        if (worst == nullptr || context->program.objects[home].bytes > worst->bytes)
          worst = &context->program.objects[home];
      if (worst == nullptr) does_not_fit(*context, attempt.tile_bytes);
      tiling.spilled.insert(worst->name);
      tiling.block_elements = largest;
      continue;
    }
    if (tiling.cores == 1 && !tiling.one_core) {
      tiling.cores = cores_for(*context);
      if (tiling.cores > 1) continue;
    }
    if (tiling.cores > 1 && context->rounds < 2) {
      tiling.cores = 1;
      tiling.one_core = true;
      continue;
    }
    if (context->spmd && may_wait(with.kernel))
      throw pl::UserError(
          "AscendC: kernel " + specialised.name +
              " waits for other ranks and asks for its block (pl::block_idx): blocks that are not "
              "all resident would wait for each other; wait in a kernel of one block, and launch "
              "the blocks behind it",
          context->place(specialised.location));
    Emitted emitted;
    emitted.blocks = tiling.cores > 1 ? std::min<std::int64_t>(tiling.cores, context->rounds) : 1;
    emitted.estimate = estimate(context->program, emitted.blocks);
    emitted.in_place = in_place_pairs(*context);
    join_memory(*context, emitted.in_place);
    synchronise(*context);
    xsimd::Names names;
    emitted.symbol = names.fresh("trilith_" + specialised.name);
    emitted.spmd = context->spmd;
    emitted.arguments = arguments_of(*context);
    emitted.workspace_bytes = context->check_bytes() + context->workspace_bytes;
    if (emitted.spmd) emitted.further_workspace_bytes = context->workspace_bytes;
    emitted.checks = context->checks;
    emitted.windows = context->windows;
    print(*context, emitted.symbol, attempt.tile_bytes, emitted);
    emitted.calls = context->calls;
    return emitted;
  }
  throw pl::InternalError("AscendC emitter: the search for a tiling does not end");
}

}  // namespace trilith::codegen::ascendc
