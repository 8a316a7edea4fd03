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
    head();
    const std::string indent(2, ' ');
    depth_ = 1;
    arguments(emitted);
    for (const std::string& declaration : c_.declarations) line(declaration, {});
    for (const Node& node : program_.nodes) {
      if (node.kind == Node::Kind::Close || node.kind == Node::Kind::Else) --depth_;
      body(node);
      if (node.kind == Node::Kind::Open || node.kind == Node::Kind::Branch || node.kind == Node::Kind::Else)
        ++depth_;
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
      if (begin == std::string_view::npos) return result;
      const auto end = text.find('\x01', begin + 1);
      int object = 0;
      std::from_chars(text.data() + begin + 1, text.data() + end, object);
      result += name_of(object);
      text.remove_prefix(end + 1);
    }
  }

  static DType stored_as(DType dtype) {
    switch (dtype) {
      case DType::Bool: return DType::UInt8;
      case DType::UInt16: return DType::Int16;
      case DType::UInt32: return DType::Int32;
      case DType::UInt64: return DType::Int64;
      default: return dtype;
    }
  }

  void head() {
    line("// Kernel " + (c_.kernel.name.empty() ? std::string("(unnamed)") : c_.kernel.name) + ", " +
             c_.place_text(c_.kernel.location) + ". Emitted by Trilith for Ascend 910B (dav-2201).",
         {});
    line("#include \"kernel_operator.h\"", {});
    line("", {});
    if (!c_.checks.empty()) fault_function();
  }

  void fault_function() {
    line(
        "// Leaves what was wrong in this core's line of the workspace: number of the check, what was given "
        "and expected.\n"
        "__aicore__ inline void Fault(GM_ADDR workspace, int64_t check, int64_t given, int64_t expected, "
        "int64_t length) {\n"
        "  AscendC::GlobalTensor<int64_t> report;\n"
        "  report.SetGlobalBuffer(reinterpret_cast<__gm__ int64_t*>(workspace + 64 * "
        "AscendC::GetBlockIdx()), 8);\n"
        "  report.SetValue(0, check);\n"
        "  report.SetValue(1, given);\n"
        "  report.SetValue(2, expected);\n"
        "  report.SetValue(3, length);\n"
        "  AscendC::DataCacheCleanAndInvalid<int64_t, AscendC::CacheLine::SINGLE_CACHE_LINE,\n"
        "                                    AscendC::DcciDst::CACHELINE_OUT>(report);\n"
        "}\n",
        {});
  }

  void arguments(Emitted& emitted) {
    depth_ = 0;
    std::string list;
    for (const KernelArgument& argument : emitted.arguments)
      list += (list.empty() ? "" : ", ") + argument.type + " " + argument.name;
    line("extern \"C\" __global__ __aicore__ void " + symbol_ + "(" + list + ") {", c_.kernel.location);
    depth_ = 1;
    line("KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIV_ONLY);", {});
    const bool pipe = !program_.queues.empty() || tile_bytes_ > 0 || !program_.events.empty();
    if (pipe) line("AscendC::TPipe pipe;", {});
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
    for (const auto& [id, tensor] : c_.tensors) {
      if (!c_.used_tensors.contains(tensor.object)) continue;
      global(program_.objects[tensor.object], tensor.argument);
    }
    for (const Object& object : program_.objects)
      if (object.kind == Object::Kind::Global && object.workspace >= 0) {
        std::string address = "workspace";
        const std::int64_t begin = c_.check_bytes() + object.workspace;
        if (c_.spmd)
          address += " + " + std::to_string(c_.check_bytes()) + " + " + std::to_string(object.workspace) +
                     " + AscendC::GetBlockIdx() * " + std::to_string(c_.workspace_bytes);
        else if (begin != 0)
          address += " + " + std::to_string(begin);
        global(object, address);
      }
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

  void global(const Object& object, const std::string& address) {
    const std::string type = type_name(stored_as(object.dtype));
    line("AscendC::GlobalTensor<" + type + "> " + object.name + ";", {});
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
    if (node.kind == Node::Kind::Code || node.kind == Node::Kind::Comment || node.kind == Node::Kind::Open ||
        node.kind == Node::Kind::Branch || node.kind == Node::Kind::Else || node.kind == Node::Kind::Close) {
      line(replaced(node.text), node.location);
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
  std::vector<std::uint32_t> first_, last_;
};

}  // namespace

void print(Context& context, const std::string& symbol, std::int64_t tile_bytes, Emitted& emitted) {
  Printer(context, symbol, tile_bytes).print(emitted);
}

}  // namespace trilith::codegen::ascendc
