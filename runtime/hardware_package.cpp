#include "runtime/hardware_package.hpp"

#include "jit/file.hpp"
#include "pl/detail/location.hpp"
#include "runtime/captured_kernel.hpp"
#include "runtime/measure.hpp"
#include "runtime/program.hpp"

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>

namespace pl::detail {
namespace {

namespace ascendc = trilith::codegen::ascendc;

// More separate runs than this are no region that a launcher should take back one by one.
constexpr std::size_t most_written_runs = 4096;

struct Refusal {
  std::string text;
};

/// Memory [begin, end) that a rank's kernels use.
struct Span {
  const char *begin, *end;
};

class PackageMaker {
 public:
  PackageMaker(const Recorder& recorder, std::span<const RecordedArgument> arguments)
      : recorder_(recorder), arguments_(arguments) {}

  ascendc::Package make(const std::vector<int>& devices, const std::source_location& definition) {
    package_.devices = devices;
    package_.name = std::filesystem::path(definition.file_name()).stem().string();
    refuse_what_the_host_does();
    add_tensors();
    for (const RecordedDispatch& dispatch : recorder_.dispatches)
      for (const RecordedTask& task : dispatch.tasks)
        for (const RecordedArgument& argument : task.arguments)
          if (argument.info.tensor && argument.view.front().window != nullptr)
            (void)window_of(*argument.view.front().window->memory);
    for (std::size_t rank = 0; rank < devices.size(); ++rank) add_buffers(static_cast<int>(rank));
    for (const RecordedDispatch& dispatch : recorder_.dispatches)
      for (const RecordedTask& task : dispatch.tasks) add_launch(dispatch, task);
    refuse_exchange_by_host_tensors();
    package_.written.assign(written_.begin(), written_.end());
    return std::move(package_);
  }

 private:
  void refuse_what_the_host_does() const {
    for (const RecordedDispatch& dispatch : recorder_.dispatches)
      if (dispatch.ended_at.line() != 0)
        throw Refusal{"its plan ends at the read at " + location_of(dispatch.ended_at).str() +
                      ": what follows depends on a value that only a run knows"};
    if (!recorder_.callbacks.empty())
      throw Refusal{"it has a host callback at " + location_of(recorder_.callbacks.front().where).str() +
                    ", which a launcher has no code for"};
    if (!recorder_.collectives.empty())
      throw Refusal{"the host calls the collective " + recorder_.collectives.front().operation + " at " +
                    recorder_.collectives.front().where.str() + "; call it in a kernel"};
  }

  void add_tensors() {
    for (std::size_t i = 0; i < arguments_.size(); ++i) {
      if (!arguments_[i].info.tensor) continue;
      const RecordedView& view = arguments_[i].view.front();
      const Measured place = measure(view.view());
      if (place.layout != trilith::codegen::Layout::Dense)
        throw Refusal{"argument " + std::to_string(i + 1) + " (" + describe(view.view()) +
                      ") is not dense; give the program a tensor without gaps"};
      ascendc::HostTensor tensor;
      tensor.name = "argument_" + std::to_string(i + 1);
      tensor.dtype = view.dtype;
      tensor.shape.assign(view.extents.begin(), view.extents.begin() + view.rank);
      tensor.bytes = place.end - place.begin;
      tensor.read = arguments_[i].info.access != Access::Out;
      tensor.written = arguments_[i].info.access != Access::In;
      package_.tensors.push_back(std::move(tensor));
      tensors_.push_back({place.begin, place.end});
    }
  }

  /// The host tensor that holds these bytes, or -1.
  [[nodiscard]] int tensor_of(const Measured& place) const {
    for (std::size_t i = 0; i < tensors_.size(); ++i)
      if (tensors_[i].begin <= place.begin && place.end <= tensors_[i].end &&
          tensors_[i].begin != tensors_[i].end)
        return static_cast<int>(i);
    return -1;
  }

  void add_buffers(int rank) {
    std::map<int, Span> parts;  // of host tensors
    std::vector<Span> own;      // memory of the device
    for (const RecordedDispatch& dispatch : recorder_.dispatches) {
      if (dispatch.rank != rank) continue;
      for (const RecordedTask& task : dispatch.tasks)
        for (const RecordedArgument& argument : task.arguments) {
          if (!argument.info.tensor) continue;
          const Measured place = measure(argument.view.front().view());
          if (argument.view.front().window != nullptr) continue;
          const int tensor = tensor_of(place);
          if (tensor < 0) {
            own.push_back({place.begin, place.end});
            continue;
          }
          const auto [at, fresh] = parts.try_emplace(tensor, Span{place.begin, place.end});
          if (!fresh)
            at->second = {std::min(at->second.begin, place.begin), std::max(at->second.end, place.end)};
        }
    }
    for (const auto& [tensor, part] : parts) {
      const auto number = static_cast<std::size_t>(tensor);
      // A kernel moves whole blocks of 32 bytes where it can: the buffer begins where one does.
      const std::int64_t offset = (part.begin - tensors_[number].begin) / 32 * 32;
      add_buffer(rank, package_.tensors[number].name, {tensors_[number].begin + offset, part.end}, tensor,
                 offset);
    }
    for (std::size_t i = 0; i < package_.windows.size(); ++i) {
      const ascendc::PackagedWindow& window = package_.windows[i];
      if (std::ranges::find(window.ranks, rank) == window.ranks.end()) continue;
      add_buffer(rank, "window_" + std::to_string(i), {nullptr, nullptr}, -1, 0);
      ascendc::DeviceBuffer& buffer = package_.buffers.back();
      buffer.bytes = window.bytes + 64 * static_cast<std::int64_t>(window.ranks.size());
      buffer.window = static_cast<int>(i);
    }
    std::sort(own.begin(), own.end(), [](const Span& a, const Span& b) { return a.begin < b.begin; });
    int number = 0;
    for (std::size_t i = 0; i < own.size();) {
      Span merged = own[i];
      for (++i; i < own.size() && own[i].begin < merged.end; ++i)
        merged.end = std::max(merged.end, own[i].end);
      add_buffer(rank, "memory_" + std::to_string(++number), merged, -1, 0);
    }
  }

  /// Its number in the package.
  int window_of(const WindowMemory& memory) {
    const auto found = std::ranges::find(windows_, &memory);
    if (found != windows_.end()) return static_cast<int>(found - windows_.begin());
    std::vector<int> ranks = recorder_.windows.ranks_of(memory);
    if (ranks.size() > ascendc::WindowArgument::most_ranks)
      throw Refusal{memory.title() + " is shared by " + std::to_string(ranks.size()) +
                    " ranks; kernels of the hardware reach windows of up to " +
                    std::to_string(ascendc::WindowArgument::most_ranks)};
    windows_.push_back(&memory);
    package_.windows.push_back({(memory.bytes + 63) / 64 * 64, std::move(ranks)});
    return static_cast<int>(windows_.size()) - 1;
  }

  void add_buffer(int rank, const std::string& name, Span span, int tensor, std::int64_t offset) {
    package_.buffers.push_back({rank, name, span.end - span.begin, tensor, offset});
    spans_.push_back(span);
  }

  [[nodiscard]] std::size_t buffer_of_window(int rank, int window) const {
    for (std::size_t i = 0; i < package_.buffers.size(); ++i)
      if (package_.buffers[i].rank == rank && package_.buffers[i].window == window) return i;
    throw InternalError("hardware_package: a rank without its part of a window");
  }
  [[nodiscard]] std::size_t buffer_of(int rank, const Measured& place) const {
    for (std::size_t i = 0; i < spans_.size(); ++i)
      if (package_.buffers[i].rank == rank && spans_[i].begin <= place.begin && place.end <= spans_[i].end)
        return i;
    throw InternalError("hardware_package: an argument lies in no buffer");
  }

  void add_launch(const RecordedDispatch& dispatch, const RecordedTask& task) {
    if (task.code == nullptr || task.code->emitted == nullptr)
      throw Refusal{"kernel " + task.name + " has no captured form that AscendC could be emitted from"};
    ascendc::Launch launch;
    launch.rank = dispatch.rank;
    launch.kernel = kernel_of(task);
    if (dispatch.where.line() != 0) launch.where = location_of(dispatch.where).str();
    std::vector<const RecordedArgument*> tensors;
    std::vector<std::uint64_t> scalars;
    std::vector<DType> dtypes;
    for (const RecordedArgument& argument : task.arguments) {
      if (argument.info.tensor) {
        tensors.push_back(&argument);
      } else {
        scalars.push_back(argument.scalar);
        dtypes.push_back(argument.info.dtype);
      }
    }
    const trilith::codegen::Kernel& ir = task.code->kernel->ir;
    scalars.insert(scalars.end(), task.code->captures.begin(), task.code->captures.end());
    for (const auto& capture : ir.captures)
      dtypes.push_back(ir.variables[static_cast<std::size_t>(capture.variable)].type.dtype);
    const auto& kernel = package_.kernels[static_cast<std::size_t>(launch.kernel)].code;
    launch.blocks = kernel.spmd ? task.blocks : kernel.blocks;
    for (const ascendc::KernelArgument& wanted : kernel.arguments) {
      ascendc::LaunchArgument given;
      using Kind = ascendc::KernelArgument::Kind;
      if (wanted.kind == Kind::Workspace || wanted.kind == Kind::Windows) continue;
      if (wanted.kind == Kind::Stride) {
        const RecordedView& view = tensors[static_cast<std::size_t>(wanted.index)]->view.front();
        given.bits = static_cast<std::uint64_t>(view.strides[static_cast<std::size_t>(wanted.axis)]);
      } else if (wanted.kind == Kind::Tensor) {
        const RecordedView& view = tensors[static_cast<std::size_t>(wanted.index)]->view.front();
        const Measured place = measure(view.view());
        const WindowPart* const part = view.window;
        const std::size_t buffer = part != nullptr ? buffer_of_window(dispatch.rank, window_of(*part->memory))
                                                   : buffer_of(dispatch.rank, place);
        given.buffer = static_cast<int>(buffer);
        given.offset =
            static_cast<const char*>(view.data) - (part != nullptr ? part->base : spans_[buffer].begin);
        if (tensors[static_cast<std::size_t>(wanted.index)]->info.access != Access::In)
          note_written(buffer, view);
      } else {
        given.dtype = dtypes[static_cast<std::size_t>(wanted.index)];
        given.bits = scalars[static_cast<std::size_t>(wanted.index)];
      }
      launch.arguments.push_back(given);
    }
    for (const ascendc::WindowArgument& window : kernel.windows) {
      const RecordedView& view = tensors[static_cast<std::size_t>(window.tensor)]->view.front();
      if (view.window == nullptr)
        throw Refusal{"kernel " + task.name +
                      " was given a tensor of this rank's own where it reaches a window"};
      launch.windows.push_back(
          {window_of(*view.window->memory), static_cast<const char*>(view.data) - view.window->base});
    }
    package_.launches.push_back(std::move(launch));
  }

  int kernel_of(const RecordedTask& task) {
    const auto [at, fresh] =
        kernels_.try_emplace({task.kernel, task.signature}, static_cast<int>(kernels_.size()));
    if (fresh)
      package_.kernels.push_back(
          {*task.code->emitted, task.name, task.signature, task.code->kernel->ir.files});
    return at->second;
  }

  /// The runs of bytes of a written region of a host tensor.
  void note_written(std::size_t buffer, const RecordedView& view) {
    if (package_.buffers[buffer].host_tensor < 0) return;
    const auto size = static_cast<std::int64_t>(trilith::codegen::size_of(view.dtype));
    // The last axes that lie one behind the other are one run.
    std::int64_t run = 1;
    int axis = view.rank - 1;
    for (; axis >= 0; --axis) {
      const auto a = static_cast<std::size_t>(axis);
      if (view.extents[a] == 0) return;
      if (view.extents[a] != 1 && view.strides[a] != run) break;
      run *= view.extents[a];
    }
    std::vector<std::int64_t> offsets{static_cast<const char*>(view.data) - spans_[buffer].begin};
    for (; axis >= 0; --axis) {
      const auto a = static_cast<std::size_t>(axis);
      std::vector<std::int64_t> all;
      if (offsets.size() * static_cast<std::size_t>(view.extents[a]) > most_written_runs)
        throw Refusal{"a kernel writes a region of " + describe(view.view()) +
                      " with more than 4096 separate runs; write regions of whole rows"};
      for (const std::int64_t offset : offsets)
        for (std::int64_t i = 0; i < view.extents[a]; ++i) all.push_back(offset + i * view.strides[a] * size);
      offsets = std::move(all);
    }
    for (const std::int64_t offset : offsets) written_.insert({static_cast<int>(buffer), offset, run * size});
  }

  /// A rank's part of a host tensor is copied to its device before the plan and taken back behind it.
  void refuse_exchange_by_host_tensors() const {
    for (const ascendc::WrittenRange& range : written_) {
      const ascendc::DeviceBuffer& writer = package_.buffers[static_cast<std::size_t>(range.buffer)];
      const char* begin = spans_[static_cast<std::size_t>(range.buffer)].begin + range.offset;
      for (const RecordedDispatch& dispatch : recorder_.dispatches) {
        if (dispatch.rank == writer.rank) continue;
        for (const RecordedTask& task : dispatch.tasks)
          for (const RecordedArgument& argument : task.arguments) {
            if (!argument.info.tensor) continue;
            const Measured place = measure(argument.view.front().view());
            if (place.begin < begin + range.bytes && begin < place.end)
              throw Refusal{"rank " + std::to_string(dispatch.rank) + " uses what rank " +
                            std::to_string(writer.rank) + " writes to " + writer.name +
                            "; ranks have memory of their own on the hardware: exchange by windows"};
          }
      }
    }
  }

  const Recorder& recorder_;
  const std::span<const RecordedArgument> arguments_;
  ascendc::Package package_;
  std::vector<Span> tensors_;                 ///< by host tensor
  std::vector<Span> spans_;                   ///< by buffer
  std::vector<const WindowMemory*> windows_;  ///< by number
  std::map<std::pair<const void*, std::string>, int> kernels_;
  std::set<ascendc::WrittenRange> written_;
};

void write_file(const std::string& folder, const std::string& path, std::string_view bytes,
                const std::source_location& where) {
  const std::string file = (std::filesystem::path(folder) / path).string();
  if (const std::string reason = trilith::jit::publish_with_folders(file, bytes); !reason.empty())
    throw ConfigError(
        "the package cannot be written: " + file + ": " + reason + "; name a folder that may be written",
        location_of(where));
}

}  // namespace

std::shared_ptr<const HardwarePackage> make_package(const Recorder& recorder,
                                                    std::span<const RecordedArgument> arguments,
                                                    const std::vector<int>& devices,
                                                    const std::source_location& definition) {
  auto result = std::make_shared<HardwarePackage>();
  try {
    result->package = PackageMaker(recorder, arguments).make(devices, definition);
  } catch (const Refusal& refusal) {
    result->refusal = refusal.text;
  }
  return result;
}

void write_package(const HardwarePackage& package, const std::string& folder,
                   const std::source_location& where) {
  if (!package.refusal.empty())
    throw PlanError("the program cannot be written as a package for the hardware: " + package.refusal,
                    location_of(where));
  for (const auto& [path, text] : ascendc::package_files(package.package))
    write_file(folder, path, text, where);
}

void save_package(const Program& program, const std::string& folder, const std::source_location& where) {
  if (program.package == nullptr)
    throw ConfigError("save: the program was compiled for platform \"" + program.config.platform +
                          "\"; expected \"a2a3\": compile it with RunConfig{.platform = \"a2a3\"}",
                      location_of(where));
  write_package(*program.package, folder, where);
}

void save_data(const Program& program, const std::string& folder, const ProgramArguments& with,
               SavedData data, const std::source_location& where) {
  std::size_t number = 0;
  for (std::size_t i = 0; i < with.parameters.size(); ++i) {
    if (!with.parameters[i].tensor) continue;
    const ascendc::HostTensor& tensor = program.package->package.tensors[number++];
    if (data == SavedData::Inputs ? !tensor.read : !tensor.written) continue;
    const ViewRef& view = with.arguments[i].view;
    const Measured place = measure(view);
    if (place.layout != trilith::codegen::Layout::Dense || place.end - place.begin != tensor.bytes)
      throw ShapeError("save: argument " + std::to_string(i + 1) + " is " + describe(view) +
                           "; the program was compiled for a dense " +
                           describe(program.arguments[i].view.front().view()),
                       location_of(where));
    write_file(folder, "data/" + tensor.name + (data == SavedData::Inputs ? ".in.bin" : ".expected.bin"),
               {place.begin, static_cast<std::size_t>(tensor.bytes)}, where);
  }
}

RunConfig simulator_config(const Program& program) {
  RunConfig config = program.config;
  config.platform = RunConfig().platform;
  return config;
}

}  // namespace pl::detail
