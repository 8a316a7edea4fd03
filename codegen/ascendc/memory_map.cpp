#include "codegen/ascendc/memory_map.hpp"

#include "codegen/ascendc/program.hpp"

#include <algorithm>
#include <cstdio>
#include <iterator>
#include <map>
#include <tuple>
#include <vector>

namespace trilith::codegen::ascendc {
namespace {

using Buffers = std::vector<const Allocation*>;

/// By memory, in the order of the table of capacities; each list by offset.
std::vector<std::pair<std::string, Buffers>> by_space(const Emitted& emitted) {
  std::vector<std::pair<std::string, Buffers>> result;
  for (const Allocation& allocation : emitted.memory) {
    auto at = std::find_if(result.begin(), result.end(),
                           [&](const auto& space) { return space.first == allocation.space; });
    if (at == result.end()) at = result.insert(result.end(), {allocation.space, {}});
    at->second.push_back(&allocation);
  }
  for (auto& [space, buffers] : result)
    std::sort(buffers.begin(), buffers.end(), [](const Allocation* a, const Allocation* b) {
      return std::tie(a->offset, a->first_line, a->name) < std::tie(b->offset, b->first_line, b->name);
    });
  return result;
}

std::int64_t end_of(const Buffers& buffers) {
  std::int64_t end = 0;
  for (const Allocation* buffer : buffers) end = std::max(end, buffer->offset + buffer->bytes);
  return end;
}

std::string percent(std::int64_t part, std::int64_t whole) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f %%", 100.0 * static_cast<double>(part) / static_cast<double>(whole));
  return text;
}

std::string usage(const std::string& space, const Buffers& buffers) {
  const std::int64_t capacity = capacity_of(space);
  std::string text = std::to_string(end_of(buffers)) + " bytes";
  if (capacity > 0) text += " of " + std::to_string(capacity) + ", " + percent(end_of(buffers), capacity);
  return text;
}

std::string number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f", value);
  return text;
}

std::string box(double x, double y, double width, double height, const std::string& fill,
                const std::string& title) {
  return "<rect x=\"" + number(x) + "\" y=\"" + number(y) + "\" width=\"" + number(width) + "\" height=\"" +
         number(height) + "\" fill=\"" + fill + "\" stroke=\"#5b6470\"><title>" + title + "</title></rect>\n";
}

std::string label(double x, double y, const std::string& text, const char* more = "") {
  return "<text x=\"" + number(x) + "\" y=\"" + number(y) + "\"" + more + ">" + text + "</text>\n";
}

}  // namespace

std::int64_t capacity_of(const std::string& space) {
  static const std::map<std::string, std::int64_t> capacities{{"UB", unified_buffer_bytes},
                                                              {"L1", 512 * 1024 - 256},
                                                              {"L0A", 64 * 1024},
                                                              {"L0B", 64 * 1024},
                                                              {"L0C", 128 * 1024},
                                                              {"BT", 1024},
                                                              {"FB", 2048}};
  const auto at = capacities.find(space);
  return at == capacities.end() ? 0 : at->second;
}

std::string memory_map_text(const Emitted& emitted) {
  std::string text = emitted.symbol + "\n";
  for (const auto& [space, buffers] : by_space(emitted)) {
    text += "  " + space + ": " + usage(space, buffers) + "\n";
    for (const Allocation* buffer : buffers) {
      char line[96];
      std::snprintf(line, sizeof line, "    %8lld .. %8lld  %8lld bytes  lines %u to %u  ",
                    static_cast<long long>(buffer->offset),
                    static_cast<long long>(buffer->offset + buffer->bytes),
                    static_cast<long long>(buffer->bytes), buffer->first_line, buffer->last_line);
      text += line + buffer->name + "\n";
    }
  }
  if (emitted.memory.empty()) text += "  no buffer in a memory of the core\n";
  if (emitted.workspace_bytes > 0)
    text += "  workspace in global memory: " + std::to_string(emitted.workspace_bytes) + " bytes\n";
  return text;
}

std::string memory_map_svg(const Emitted& emitted) {
  constexpr double left = 20, width = 900, band = 240, gap = 50, top = 50;
  constexpr const char* colours[] = {"#8fb7e8", "#a5d6a0", "#f2c879", "#c9aee0", "#e89a8f", "#9fd8d2"};
  const auto spaces = by_space(emitted);
  std::uint32_t last_line = 1;
  for (const Allocation& allocation : emitted.memory) last_line = std::max(last_line, allocation.last_line);
  const double height = top + static_cast<double>(spaces.size()) * (band + gap);
  std::string svg = "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" + number(left * 2 + width) +
                    "\" height=\"" + number(height) + "\" font-family=\"sans-serif\" font-size=\"11\">\n" +
                    label(left, 20, emitted.symbol + ": addresses to the right, lines of the text downwards",
                          " font-size=\"14\"");
  double y = top;
  for (const auto& [space, buffers] : spaces) {
    const std::int64_t capacity = std::max(capacity_of(space), end_of(buffers));
    const auto x_of = [&](std::int64_t byte) {
      return left +
             width * static_cast<double>(byte) / static_cast<double>(std::max<std::int64_t>(capacity, 1));
    };
    const auto y_of = [&](std::uint32_t line) {
      return y + band * static_cast<double>(line - 1) / static_cast<double>(last_line);
    };
    svg += label(left, y - 6, space + ": " + usage(space, buffers));
    svg += box(left, y, width, band, "#f5f6f8", space);
    std::size_t colour = 0;
    for (const Allocation* buffer : buffers) {
      const double x = x_of(buffer->offset), right = x_of(buffer->offset + buffer->bytes);
      const double begin = y_of(std::max(1U, buffer->first_line)), end = y_of(buffer->last_line + 1);
      const std::string title = buffer->name + ": " + std::to_string(buffer->bytes) + " bytes at " +
                                std::to_string(buffer->offset) + ", lines " +
                                std::to_string(buffer->first_line) + " to " +
                                std::to_string(buffer->last_line);
      svg += box(x, begin, std::max(1.0, right - x), std::max(1.0, end - begin),
                 colours[colour++ % std::size(colours)], title);
      if (right - x > 7.0 * static_cast<double>(buffer->name.size()) && end - begin > 12)
        svg += label(x + 4, begin + 12, buffer->name);
    }
    y += band + gap;
  }
  return svg + "</svg>\n";
}

}  // namespace trilith::codegen::ascendc
