// bench/report.hpp -- what a bench prints: one JSON object a line for programs, a table for people.
#pragma once

#include "contest.hpp"

#include <nlohmann/json.hpp>

#include <fstream>
#include <iostream>
#include <string>
#include <utility>

namespace bench {

/// The processor's name as the kernel gives it; numbers without it mean little.
[[nodiscard]] inline std::string machine() {
  std::ifstream cpuinfo("/proc/cpuinfo");
  for (std::string line; std::getline(cpuinfo, line);)
    if (line.starts_with("model name")) return line.substr(line.find(": ") + 2);
  return "unknown";
}

/// Fewer than four digits say nothing and more are noise: "2.71 ns", "31.4 ms".
[[nodiscard]] inline std::string human(double seconds) {
  const std::pair<double, const char*> units[] = {{1, "s"}, {1e-3, "ms"}, {1e-6, "us"}, {1e-9, "ns"}};
  for (const auto& [scale, unit] : units)
    if (seconds >= scale || scale == 1e-9) {
      char text[32];
      std::snprintf(text, sizeof text, "%.3g %s", seconds / scale, unit);
      return text;
    }
  return "0";
}

/// Writes to FILE as results come, so that an interrupted run keeps what it has measured.
class Report {
 public:
  explicit Report(const std::string& file, std::string flags = {})
      : flags_(std::move(flags)), machine_(machine()) {
    if (file.empty()) return;
    json_.open(file);
    if (!json_) throw std::runtime_error("cannot write " + file);
  }

  /// One object: name, median_s, min_s, runs, spread, and what `more` adds.
  void add(const std::string& name, const Samples& samples, const nlohmann::ordered_json& more = {}) {
    nlohmann::ordered_json row;
    row["name"] = name;
    row["median_s"] = samples.median();
    row["min_s"] = samples.min();
    row["runs"] = samples.seconds.size();
    row["spread"] = samples.spread();
    for (const auto& [key, value] : more.items()) row[key] = value;
    row["machine"] = machine_;
    if (!flags_.empty()) row["flags"] = flags_;
    if (json_.is_open()) json_ << row.dump() << std::endl;
  }

 private:
  std::string flags_, machine_;
  std::ofstream json_;
};

}  // namespace bench
