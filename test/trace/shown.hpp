// A trace as tests look at it: its spans, and its arrows with the spans that they begin and end in.
#pragma once

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <cstdint>
#include <fstream>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace shown {

using nlohmann::json;

struct Arrow {
  json from, to;                       ///< its ends
  std::optional<json> source, target;  ///< the innermost spans they lie in
};

struct Shown {
  std::vector<json> spans;
  std::vector<Arrow> arrows;
  std::set<std::string> names;  ///< of tracks and rows
  [[nodiscard]] std::vector<json> named(const std::string& name) const {
    std::vector<json> result;
    for (const json& span : spans)
      if (span["name"] == name) result.push_back(span);
    return result;
  }
  [[nodiscard]] std::vector<Arrow> into(const std::string& name) const {
    std::vector<Arrow> result;
    for (const Arrow& arrow : arrows)
      if (arrow.target && (*arrow.target)["name"] == name) result.push_back(arrow);
    return result;
  }
};

inline std::optional<json> span_at(const std::vector<json>& spans, const json& end) {
  std::optional<json> innermost;
  const double at = end["ts"];
  for (const json& span : spans) {
    const double begin = span["ts"], length = span["dur"];
    // Times have three digits: what differs by less is the same.
    if (span["pid"] != end["pid"] || span["tid"] != end["tid"] || at < begin - 0.0001 ||
        at > begin + length + 0.0001)
      continue;
    if (!innermost || length < (*innermost)["dur"].get<double>()) innermost = span;
  }
  return innermost;
}

inline Shown read_trace(const std::string& file) {
  std::ifstream stream(file);
  Shown shown;
  std::map<std::int64_t, std::pair<json, json>> ends;
  const json document = json::parse(stream);
  for (const json& event : document["traceEvents"]) {
    if (event["ph"] == "X") shown.spans.push_back(event);
    if (event["ph"] == "M") shown.names.insert(event["args"]["name"].get<std::string>());
    if (event["ph"] == "s") ends[event["id"].get<std::int64_t>()].first = event;
    if (event["ph"] == "f") ends[event["id"].get<std::int64_t>()].second = event;
  }
  for (const auto& [id, end] : ends) {
    REQUIRE_MESSAGE(!end.first.is_null(), "an arrow without its start");
    REQUIRE_MESSAGE(!end.second.is_null(), "an arrow without its end");
    CHECK(end.first["ts"].get<double>() <= end.second["ts"].get<double>() + 0.0001);
    shown.arrows.push_back(
        {end.first, end.second, span_at(shown.spans, end.first), span_at(shown.spans, end.second)});
    CHECK_MESSAGE(shown.arrows.back().source, end.first.dump());
    CHECK_MESSAGE(shown.arrows.back().target, end.second.dump());
  }
  return shown;
}

}  // namespace shown
