// jit/tool/trace_svg.cpp -- the picture of a trace.
#include "jit/tool/trace_report.hpp"

#include <algorithm>
#include <cstdio>
#include <set>

namespace trilith::tool {
namespace {

constexpr double left = 230, width = 1200, band = 16, gap = 6, top = 30;
// What is narrower cannot be seen, and a trace may have a million spans.
constexpr double narrowest = 0.05;
constexpr double letter = 6.2;  // of a name at 10 px

std::string number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.2f", value);
  return text;
}

std::string escaped(const std::string& text) {
  std::string result;
  for (const char c : text) {
    if (c == '<')
      result += "&lt;";
    else if (c == '>')
      result += "&gt;";
    else if (c == '&')
      result += "&amp;";
    else if (c == '"')
      result += "&quot;";
    else if (static_cast<unsigned char>(c) >= ' ')
      result += c;
  }
  return result;
}

/// Cut where letters begin, also of UTF-8.
std::string fitting(const std::string& name, double room) {
  const auto most = static_cast<std::size_t>(std::max(0.0, room / letter));
  if (name.size() <= most) return name;
  if (most < 4) return "";
  std::size_t end = most - 1;
  while (end > 0 && (static_cast<unsigned char>(name[end]) & 0xC0U) == 0x80U) --end;
  return name.substr(0, end) + "…";
}

const char* colour_of(const std::string& category) {
  if (category == "task") return "#8fb7e8";
  if (category == "wait") return "#f2c879";
  if (category == "collective") return "#a5d6a0";
  if (category == "remote") return "#c9aee0";
  if (category == "signal") return "#e89a8f";
  return "#d8dbe0";
}

class Picture {
 public:
  Picture(const TraceFile& trace, const std::vector<PathStep>& path)
      : trace_(trace), scale_(width / static_cast<double>(std::max<std::int64_t>(1, trace.length()))) {
    std::vector<int> depth(trace.rows.size(), 0);
    for (const TraceSpan& span : trace.spans) depth[span.row] = std::max(depth[span.row], span.depth);
    double y = top;
    for (std::size_t row = 0; row < trace.rows.size(); ++row) {
      if (row != 0 && trace.rows[row].track != trace.rows[row - 1].track) y += 2 * gap;
      tops_.push_back(y);
      y += band * (depth[row] + 1) + gap;
    }
    height_ = y + gap;
    for (const PathStep& step : path)
      if (step.kind == PathStep::Kind::Span)
        critical_spans_.insert(step.span);
      else if (step.kind == PathStep::Kind::Arrow)
        critical_arrows_.insert(step.arrow);
  }

  std::string text() const {
    std::string svg =
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" + number(left + width + 20) + "\" height=\"" +
        number(height_) +
        "\" font-family=\"sans-serif\" font-size=\"10\">\n"
        "<defs><marker id=\"tip\" viewBox=\"0 0 6 6\" refX=\"6\" refY=\"3\" markerWidth=\"6\" "
        "markerHeight=\"6\" orient=\"auto\"><path d=\"M0 0 L6 3 L0 6 z\" fill=\"#555\"/></marker></defs>\n"
        "<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n";
    for (int tick = 0; tick <= 5; ++tick) {
      const double x = left + width * tick / 5;
      svg += "<line x1=\"" + number(x) + "\" x2=\"" + number(x) + "\" y1=\"" + number(top - 8) + "\" y2=\"" +
             number(height_) + "\" stroke=\"#eee\"/><text x=\"" + number(x) +
             "\" y=\"14\" text-anchor=\"middle\" fill=\"#555\">" + duration_text(trace_.length() * tick / 5) +
             "</text>\n";
    }
    for (std::size_t row = 0; row < trace_.rows.size(); ++row)
      svg += "<text x=\"4\" y=\"" + number(tops_[row] + 12) + "\">" +
             escaped(fitting(trace_.place(row), left - 8)) + "</text>\n";
    std::size_t hidden = 0;
    for (std::size_t i = 0; i < trace_.spans.size(); ++i) svg += span_text(static_cast<int>(i), hidden);
    for (std::size_t i = 0; i < trace_.arrows.size(); ++i) svg += arrow_text(static_cast<int>(i));
    if (hidden != 0)
      svg += "<text x=\"4\" y=\"14\" fill=\"#555\">" + std::to_string(hidden) + " too short to show</text>\n";
    return svg + "</svg>\n";
  }

 private:
  [[nodiscard]] double x_of(std::int64_t time) const { return left + static_cast<double>(time) * scale_; }
  [[nodiscard]] double y_of(const TraceSpan& span) const { return tops_[span.row] + band * span.depth; }

  [[nodiscard]] std::string span_text(int index, std::size_t& hidden) const {
    const TraceSpan& span = trace_.spans[static_cast<std::size_t>(index)];
    const double length = static_cast<double>(span.end - span.begin) * scale_;
    const bool critical = critical_spans_.contains(index);
    if (length < narrowest && !critical) {
      ++hidden;
      return "";
    }
    std::string text = "<g><title>" + escaped(span.name) + ", " + duration_text(span.end - span.begin) +
                       " at " + duration_text(span.begin) + "</title><rect x=\"" + number(x_of(span.begin)) +
                       "\" y=\"" + number(y_of(span)) + "\" width=\"" + number(std::max(length, 0.3)) +
                       "\" height=\"" + number(band - 2) + "\" fill=\"" + colour_of(span.category) +
                       "\" stroke=\"" + (critical ? "#c0392b" : "#999") + "\" stroke-width=\"" +
                       (critical ? "1.2" : "0.3") + "\"/>";
    if (const std::string name = fitting(span.name, length - 4); !name.empty())
      text += "<text x=\"" + number(x_of(span.begin) + 2) + "\" y=\"" + number(y_of(span) + 10.5) + "\">" +
              escaped(name) + "</text>";
    return text + "</g>\n";
  }

  [[nodiscard]] std::string arrow_text(int index) const {
    const TraceArrow& arrow = trace_.arrows[static_cast<std::size_t>(index)];
    const bool critical = critical_arrows_.contains(index);
    const auto middle = [&](int span) {
      return y_of(trace_.spans[static_cast<std::size_t>(span)]) + (band - 2) / 2;
    };
    return "<line x1=\"" + number(x_of(arrow.leaves)) + "\" y1=\"" + number(middle(arrow.from)) + "\" x2=\"" +
           number(x_of(arrow.arrives)) + "\" y2=\"" + number(middle(arrow.to)) + "\" stroke=\"" +
           (critical ? "#c0392b" : "#555") + "\" stroke-width=\"" + (critical ? "1.4" : "0.6") +
           "\" marker-end=\"url(#tip)\"><title>" + escaped(arrow.name) + "</title></line>\n";
  }

  const TraceFile& trace_;
  const double scale_;
  double height_ = 0;
  std::vector<double> tops_;
  std::set<int> critical_spans_, critical_arrows_;
};

}  // namespace

std::string timeline_svg(const TraceFile& trace, const std::vector<PathStep>& path) {
  return Picture(trace, path).text();
}

}  // namespace trilith::tool
