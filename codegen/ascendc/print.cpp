// A planned program as text.
#include "codegen/ascendc/print.hpp"

#include "codegen/error.hpp"
#include "codegen/xsimd/writer.hpp"

#include <algorithm>
#include <charconv>

namespace trilith::codegen::ascendc {
namespace {

class Printer {
 public:
  Printer(Context& context, const std::string& symbol, std::int64_t tile_bytes)
      : c_(context), program_(context.program), symbol_(symbol), tile_bytes_(tile_bytes) {}

  void print(Emitted& emitted) {
    name_objects();
    if (c_.uses_cube) cores_ = uses_vector_unit() ? CoreType::Mixed : CoreType::Cube;
    emitted.cores = cores_;
    head();
    arguments(emitted);
    for (const std::string& declaration : c_.declarations) line(declaration, {});
    if (cores_ == CoreType::Mixed) {
      line("if ASCEND_IS_AIV {", {});
      ++depth_;
      line("if (AscendC::GetSubBlockIdx() == 0) {", {});
      ++depth_;
      local_memory();
      events();
      nodes(program_.nodes);
      line("return;", {});
      --depth_;
      line("}", {});
      --depth_;
      line("}", {});
      beside();
    } else {
      if (cores_ == CoreType::Cube) cube_memory();
      nodes(program_.nodes);
    }
    depth_ = 0;
    line("}", {});
    emitted.text = std::move(text_);
    emitted.lines = std::move(lines_);
    memory(emitted);
  }

 private:
  void line(std::string_view text, const SourceLocation& at) {
    while (true) {
      const auto end = text.find('\n');
      const std::string_view part = text.substr(0, end);
      if (!part.empty()) text_.append(static_cast<std::size_t>(depth_) * 2, ' ').append(part);
      text_.push_back('\n');
      lines_.push_back(at);
      if (end == std::string_view::npos) return;
      text.remove_prefix(end + 1);
    }
  }

  void nodes(const std::vector<Node>& list) {
    for (const Node& node : list) {
      if (node.kind == Node::Kind::Close || node.kind == Node::Kind::Else) --depth_;
      body(node);
      if (node.kind == Node::Kind::Open || node.kind == Node::Kind::Branch || node.kind == Node::Kind::Else)
        ++depth_;
    }
  }

  bool uses_vector_unit() const {
    return tile_bytes_ > 0 || std::ranges::any_of(program_.nodes, [](const Node& node) {
             return node.kind == Node::Kind::Call || node.kind == Node::Kind::Signal ||
                    node.kind == Node::Kind::Alloc ||
                    (node.kind == Node::Kind::Code && node.pipe != Pipe::None);
           });
  }

  /// What the cube core does, and the second vector core of its group, which only keeps step.
  void beside() {
    const Node* hidden = nullptr;
    const std::vector<Node> list = skeleton(program_, hidden);
    if (hidden != nullptr)
      throw pl::UserError(
          "AscendC: a product stands in control flow, or reads a region, that depends on an element of a "
          "tile, which "
          "the cube core cannot see; pass the number as a scalar argument",
          c_.place(hidden->location));
    line("// The cube core; the second vector core of its group keeps step.", {});
    line("Cube cube;", {});
    line("if ASCEND_IS_AIC { cube.Init(pipe); }", {});
    beside_ = true;
    nodes(list);
    beside_ = false;
  }

  void cube_memory() {
    line("Cube cube;", {});
    line("cube.Init(pipe);", {});
  }

  /// A product waits for what the vector core has written, and the vector core for the product.
  void product(const Node& node) {
    if (cores_ == CoreType::Cube) return line(replaced(node.text), node.location);
    const char* const offer[] = {"AscendC::CrossCoreSetFlag<2, PIPE_MTE3>(0);",
                                 "AscendC::CrossCoreWaitFlag(1);"};
    if (!beside_) {
      for (const char* text : offer) line(text, node.location);
      return;
    }
    line("if ASCEND_IS_AIC {", node.location);
    ++depth_;
    line("AscendC::CrossCoreWaitFlag(0);", node.location);
    line(replaced(node.text), node.location);
    line("AscendC::CrossCoreSetFlag<2, PIPE_FIX>(1);", node.location);
    --depth_;
    line("} else {", node.location);
    ++depth_;
    for (const char* text : offer) line(text, node.location);
    --depth_;
    line("}", node.location);
  }

  void name_objects() {
    for (Object& object : program_.objects)
      if (object.name.empty() && object.alias < 0) object.name = c_.names.fresh("t");
    first_.assign(program_.objects.size(), 0);
    last_.assign(program_.objects.size(), 0);
  }

  std::string name_of(ObjectId object) const {
    const Object& of = program_.objects[object];
    if (of.alias < 0) return of.name;
    return name_of(of.alias) + replaced(of.part);
  }

  /// Marks of objects become their names.
  std::string replaced(std::string_view text) const {
    std::string result;
    while (true) {
      const auto begin = text.find('\x01');
      result += text.substr(0, begin);
      if (begin == std::string_view::npos) break;
      const auto end = text.find('\x01', begin + 1);
      int object = 0;
      std::from_chars(text.data() + begin + 1, text.data() + end, object);
      result += name_of(object);
      text.remove_prefix(end + 1);
    }
    if (cores_ != CoreType::Mixed) return result;
    constexpr std::string_view own = "AscendC::GetBlockIdx()";
    for (auto at = result.find(own); at != std::string::npos; at = result.find(own))
      result.replace(at, own.size(), "Group()");
    return result;
  }

  void head() {
    line("// Kernel " + (c_.kernel.name.empty() ? std::string("(unnamed)") : c_.kernel.name) + ", " +
             c_.place_text(c_.kernel.location) + ". Emitted by Trilith for Ascend 910B (dav-2201).",
         {});
    line("#include \"kernel_operator.h\"", {});
    line("", {});
    if (cores_ == CoreType::Mixed)
      line(
          "/// Number of the group of a cube core and two vector cores.\n"
          "__aicore__ inline int64_t Group() {\n"
          "  if ASCEND_IS_AIV { return AscendC::GetBlockIdx() / 2; }\n"
          "  return AscendC::GetBlockIdx();\n"
          "}\n",
          {});
    if (!c_.checks.empty()) fault_function();
    for (const auto& [name, text] : c_.functions) line(std::string_view(text).substr(1), {});
  }

  void fault_function() {
    line(
        "// Leaves what was wrong in this core's line of the workspace: number of the check, what was given "
        "and expected.\n"
        "__aicore__ inline void Fault(GM_ADDR workspace, int64_t check, int64_t given, int64_t expected, "
        "int64_t length) {\n"
        "  AscendC::GlobalTensor<int64_t> report;\n"
        "  report.SetGlobalBuffer(reinterpret_cast<__gm__ int64_t*>(workspace + 64 * "
        "" + block_index() +
            "), 8);\n"
            "  report.SetValue(0, check);\n"
            "  report.SetValue(1, given);\n"
            "  report.SetValue(2, expected);\n"
            "  report.SetValue(3, length);\n"
            "  AscendC::DataCacheCleanAndInvalid<int64_t, AscendC::CacheLine::SINGLE_CACHE_LINE,\n"
            "                                    AscendC::DcciDst::CACHELINE_OUT>(report);\n"
            "}\n",
        {});
  }

  [[nodiscard]] std::string block_index() const {
    return cores_ == CoreType::Mixed ? "Group()" : "AscendC::GetBlockIdx()";
  }

  void arguments(Emitted& emitted) {
    depth_ = 0;
    std::string list;
    for (const KernelArgument& argument : emitted.arguments)
      list += (list.empty() ? "" : ", ") + argument.type + " " + argument.name;
    line("extern \"C\" __global__ __aicore__ void " + symbol_ + "(" + list + ") {", c_.kernel.location);
    depth_ = 1;
    constexpr const char* types[] = {"AIV_ONLY", "AIC_ONLY", "MIX_AIC_1_2"};
    line("KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_" + std::string(types[static_cast<int>(cores_)]) + ");", {});
    const bool pipe = !program_.queues.empty() || tile_bytes_ > 0 || !program_.events.empty() || c_.uses_cube;
    if (pipe) line("AscendC::TPipe pipe;", {});
    if (cores_ == CoreType::Vector) local_memory();
    globals();
    if (cores_ == CoreType::Vector) events();
  }

  void local_memory() {
    for (const Queue& queue : program_.queues)
      line("AscendC::TQue<AscendC::TPosition::" + std::string(queue.in ? "VECIN" : "VECOUT") + ", 1> " +
               queue.name + ";",
           {});
    if (tile_bytes_ > 0) line("AscendC::TBuf<AscendC::TPosition::VECCALC> tiles;", {});
    for (const Queue& queue : program_.queues)
      line("pipe.InitBuffer(" + queue.name + ", " + std::to_string(queue.buffers) + ", " +
               std::to_string(queue.bytes) + ");",
           {});
    if (tile_bytes_ > 0) line("pipe.InitBuffer(tiles, " + std::to_string(tile_bytes_) + ");", {});
  }

  void events() {
    for (const std::string& event : program_.events) {
      std::string name = "event_" + event;
      std::ranges::transform(name, name.begin(), [](char c) {
        return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
      });
      line("const auto " + name + " = static_cast<event_t>(pipe.FetchEventID(AscendC::HardEvent::" + event +
               "));",
           {});
    }
  }

  void globals() {
    for (const auto& [id, tensor] : c_.tensors) {
      if (!c_.used_tensors.contains(tensor.object)) continue;
      if (c_.peer_parts.contains(id))
        declare(program_.objects[tensor.object]);
      else
        global(program_.objects[tensor.object], tensor.argument);
    }
    for (const Object& object : program_.objects)
      if (object.kind == Object::Kind::Global && object.workspace >= 0) {
        std::string address = "workspace";
        const std::int64_t begin = c_.check_bytes() + object.workspace;
        if (c_.spmd)
          address += " + " + std::to_string(c_.check_bytes()) + " + " + std::to_string(object.workspace) +
                     " + " + block_index() + " * " + std::to_string(c_.workspace_bytes);
        else if (begin != 0)
          address += " + " + std::to_string(begin);
        global(object, address);
      }
  }

  void declare(const Object& object) {
    line("AscendC::GlobalTensor<" + type_name(stored_as(object.dtype)) + "> " + object.name + ";", {});
  }

  void global(const Object& object, const std::string& address) {
    const std::string type = type_name(stored_as(object.dtype));
    declare(object);
    // With run-time strides the tensor reaches as far as they do.
    line(object.name + ".SetGlobalBuffer(reinterpret_cast<__gm__ " + type + "*>(" + address + ")" +
             (object.bytes == 0 ? "" : ", " + std::to_string(object.bytes / bytes_of(object.dtype))) + ");",
         {});
  }

  void body(const Node& node) {
    const auto number = static_cast<std::uint32_t>(lines_.size()) + 1;
    for (const Touch& touch : node.touches) {
      if (first_[touch.object] == 0) first_[touch.object] = number;
      last_[touch.object] = number;
    }
    if (node.kind == Node::Kind::Cube) return product(node);
    if (node.kind == Node::Kind::Code || node.kind == Node::Kind::Call || node.kind == Node::Kind::Signal ||
        node.kind == Node::Kind::Comment || node.kind == Node::Kind::Open ||
        node.kind == Node::Kind::Branch || node.kind == Node::Kind::Else || node.kind == Node::Kind::Close) {
      line(replaced(node.text), node.location);
      if (node.call >= 0) {
        WindowCall& call = c_.calls[static_cast<std::size_t>(node.call)];
        call.first_line = number;
        call.last_line = static_cast<std::uint32_t>(lines_.size());
      }
      return;
    }
    const Object& object = program_.objects[node.object];
    // What no line touches has no place.
    if (node.kind == Node::Kind::Declare && object.offset < 0) return;
    const std::string type = type_name(object.dtype);
    const std::string queue = object.queue >= 0 ? program_.queues[object.queue].name : "";
    std::string text;
    switch (node.kind) {
      case Node::Kind::Declare: {
        text = "auto " + object.name + " = tiles.GetWithOffset<" + type + ">(" +
               std::to_string(object.bytes / bytes_of(object.dtype)) + ", " + std::to_string(object.offset) +
               ");";
        break;
      }
      case Node::Kind::Alloc:
        text = "auto " + object.name + " = " + queue + ".AllocTensor<" + type + ">();";
        break;
      case Node::Kind::EnQue: text = queue + ".EnQue(" + object.name + ");"; break;
      case Node::Kind::DeQue: text = object.name + " = " + queue + ".DeQue<" + type + ">();"; break;
      default: text = queue + ".FreeTensor(" + object.name + ");";
    }
    line(text, node.location);
  }

  void memory(Emitted& emitted) const {
    std::int64_t at = 0;
    if (c_.uses_cube) {
      constexpr std::int64_t tile = 32768, sum = 65536;
      const auto last = static_cast<std::uint32_t>(emitted.lines.size());
      const auto twice = [&](const char* space, const std::string& name, std::int64_t from,
                             std::int64_t bytes) {
        for (int i = 0; i < 2; ++i)
          emitted.memory.push_back(
              {space, name + "[" + std::to_string(i) + "]", from + i * bytes, bytes, 1, last});
      };
      twice("L1", "a1", 0, tile);
      twice("L1", "b1", 2 * tile, tile);
      twice("L0A", "a2", 0, tile);
      twice("L0B", "b2", 0, tile);
      twice("L0C", "c", 0, sum);
    }
    for (const Queue& queue : program_.queues)
      for (int i = 0; i < queue.buffers; ++i) {
        emitted.memory.push_back({"UB", queue.name + (queue.buffers > 1 ? "[" + std::to_string(i) + "]" : ""),
                                  at, queue.bytes, 1, static_cast<std::uint32_t>(emitted.lines.size())});
        at += queue.bytes;
      }
    for (std::size_t i = 0; i < program_.objects.size(); ++i) {
      const Object& object = program_.objects[i];
      if (object.kind == Object::Kind::Calc && object.offset >= 0)
        emitted.memory.push_back({"UB", object.name, at + object.offset, object.bytes, first_[i], last_[i]});
    }
  }

  Context& c_;
  Program& program_;
  const std::string& symbol_;
  std::int64_t tile_bytes_;
  std::string text_;
  std::vector<SourceLocation> lines_;
  int depth_ = 0;
  CoreType cores_ = CoreType::Vector;
  bool beside_ = false;  ///< printing for the cores beside the vector core
  std::vector<std::uint32_t> first_, last_;
};

}  // namespace

void print(Context& context, const std::string& symbol, std::int64_t tile_bytes, Emitted& emitted) {
  Printer(context, symbol, tile_bytes).print(emitted);
}

}  // namespace trilith::codegen::ascendc
