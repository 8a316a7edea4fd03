// runtime/capture_lookup.cpp -- finds the record of a lambda among those its translation unit carries.
#include "pl/capture_record.hpp"

#include "pl/error.hpp"

#include <cxxabi.h>

#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace pl::detail {
namespace {

/// `*` in the pattern stands for any text.
bool matches(std::string_view pattern, std::string_view text) {
  std::size_t p = 0, t = 0, star = std::string_view::npos, mark = 0;
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      mark = t;
    } else if (p < pattern.size() && pattern[p] == text[t]) {
      ++p;
      ++t;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      t = ++mark;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

/// The same file: equal, or one is the other without its leading folders (a compiler run in another folder).
bool same_file(std::string_view a, std::string_view b) {
  if (a.size() < b.size()) std::swap(a, b);
  while (b.starts_with("./")) b.remove_prefix(2);
  while (b.starts_with("../")) b.remove_prefix(3);
  return a.ends_with(b) && (a.size() == b.size() || a[a.size() - b.size() - 1] == '/');
}

bool has_place(const CaptureRecord& record, std::uint32_t line, std::uint32_t column) {
  for (const CapturePlace* place = record.places; place->line != 0; ++place)
    if (place->line == line && (column == 0 || place->column == column)) return true;
  return false;
}

bool has_type(const CaptureRecord& record, std::string_view name) {
  for (const char* const* type = record.type_names; *type != nullptr; ++type)
    if (matches(*type, name)) return true;
  return false;
}

bool has_parameters(const CaptureRecord& record, std::span<const std::type_info* const> parameters) {
  if (record.parameter_types == nullptr) return true;
  std::size_t count = 0;
  for (; record.parameter_types[count] != nullptr; ++count)
    if (count >= parameters.size() ||
        (std::string_view(record.parameter_types[count]) != "*" &&
         std::string_view(record.parameter_types[count]) != parameters[count]->name()))
      return false;
  return count == parameters.size();
}

std::string demangled(const char* name) {
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> text(abi::__cxa_demangle(name, nullptr, nullptr, &status),
                                                    std::free);
  return status == 0 ? text.get() : name;
}

std::string without_blanks(std::string text) {
  std::erase(text, ' ');
  return text;
}

/// Was the record made in this instantiation of the innermost enclosing template? g++ spells it out in the
/// function's name, as "[with T = float; U = int]" or "f<float, int>(…)::"; the closure's own name abbreviates
/// it in a way that not even its own demangler undoes.
bool is_enclosed_alike(const CaptureRecord& record, const std::string& function) {
  std::string list;
  bool assigned = true;
  std::size_t at = 0;
  for (const char* const* type = record.enclosing_types; type != nullptr && **type != '\0'; ++type) {
    const std::string name = without_blanks(demangled(*type));
    list += (list.empty() ? "<" : ",") + name;
    // In order, so that swapped arguments are not taken for each other.
    for (at = function.find("=" + name, at); at != std::string::npos;
         at = function.find("=" + name, at + 1)) {
      const std::size_t end = at + 1 + name.size();
      if (end >= function.size() || function[end] == ';' || function[end] == ']' || function[end] == ',')
        break;
    }
    assigned = assigned && at != std::string::npos;
    if (!assigned) at = function.size();
  }
  return list.empty() || assigned || function.find(list + ">(") != std::string::npos;
}

using Records = std::vector<const CaptureRecord*>;

/// Keeps what fits the test; where nothing does, keeps all: a compiler may spell this part in its own way.
template <class Test>
void narrow(Records& records, Test test) {
  if (records.size() < 2) return;
  Records kept;
  for (const CaptureRecord* record : records)
    if (test(*record)) kept.push_back(record);
  if (!kept.empty()) records = std::move(kept);
}

/// All records of one closure type: one, or the instantiations of one generic lambda.
Records records_of(const CaptureUnit* unit, const std::source_location& location,
                   const std::type_info& closure) {
  Records records;
  if (unit == nullptr) return records;
  for (std::size_t i = 0; i < unit->count; ++i) {
    const CaptureRecord& record = unit->records[i];
    if (has_place(record, location.line(), 0) && same_file(record.file, location.file_name()))
      records.push_back(&record);
  }
  narrow(records,
         [&](const CaptureRecord& record) { return has_place(record, location.line(), location.column()); });
  narrow(records, [&](const CaptureRecord& record) { return has_type(record, closure.name()); });
  if (records.size() > 1) {
    const std::string function = without_blanks(location.function_name());
    narrow(records, [&](const CaptureRecord& record) { return is_enclosed_alike(record, function); });
  }
  return records;
}

Location place_of(const std::source_location& location) {
  return {location.file_name(), location.line(), location.column()};
}

}  // namespace

const CaptureRecord* try_find_capture(const CaptureUnit* unit, const std::source_location& location,
                                      const std::type_info& closure,
                                      std::span<const std::type_info* const> parameters) {
  Records fitting;
  for (const CaptureRecord* record : records_of(unit, location, closure))
    if (has_parameters(*record, parameters)) fitting.push_back(record);
  return fitting.size() == 1 ? fitting.front() : nullptr;
}

bool is_generic_capture(const CaptureUnit* unit, const std::source_location& location,
                        const std::type_info& closure) {
  for (const CaptureRecord* record : records_of(unit, location, closure))
    if (record->parameter_types != nullptr) return true;
  return false;
}

const CaptureRecord& find_capture(const CaptureUnit* unit, const std::source_location& location,
                                  const std::type_info& closure,
                                  std::span<const std::type_info* const> parameters) {
  if (const CaptureRecord* record = try_find_capture(unit, location, closure, parameters)) return *record;
  const std::string file = location.file_name();
  if (unit == nullptr)
    throw CaptureError(
        "no kernels were captured here; write trilith_capture(<target> SOURCES " + file +
            ") in CMakeLists.txt (for a header: every source that includes it), or run with TRILITH_EAGER=1",
        place_of(location));
  const Records records = records_of(unit, location, closure);
  if (records.empty())
    throw CaptureError(
        "no kernel was captured at this place of " + std::string(unit->source) +
            "; is the code that defines it compiled under other macros than it was captured with?",
        place_of(location));
  std::string candidates;
  bool generic = false;
  for (const CaptureRecord* record : records) {
    generic = generic || record->parameter_types != nullptr;
    candidates += "\n  " + std::string(record->name) + " at " + record->file + ":" +
                  std::to_string(record->places->line) + ":" + std::to_string(record->places->column) +
                  ", closure " + record->type_names[0];
    for (const char* const* type = record->parameter_types; type != nullptr && *type != nullptr; ++type)
      candidates += std::string(type == record->parameter_types ? ", parameters " : ", ") + *type;
  }
  if (generic) {
    std::string given;
    for (const std::type_info* parameter : parameters)
      given += (given.empty() ? "" : ", ") + std::string(parameter->name());
    throw CaptureError(
        "the generic kernel was not captured for the parameter types (" + given +
            "); call it with these types somewhere in the source that defines it. Captured:" + candidates,
        place_of(location));
  }
  throw CaptureError("several kernels were captured at this place, and the closure type " +
                         std::string(closure.name()) +
                         " does not tell them apart; put them on lines of their own, outside of one macro "
                         "expansion, and give a "
                         "template that makes kernels types with names of their own (a struct with "
                         "operator() for a lambda):" +
                         candidates,
                     place_of(location));
}

}  // namespace pl::detail
