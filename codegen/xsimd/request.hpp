// codegen/xsimd/request.hpp -- writes one request to the host's windows: its lists, its fields, then the call.
#pragma once

#include "codegen/xsimd/context.hpp"

namespace trilith::codegen::xsimd {

/// Open until it is destroyed: what stands inside is a block of its own.
class Request {
 public:
  explicit Request(Context& context) : c_(context), name_(context.names.fresh("request")) {
    c_.out.open("{");
  }
  ~Request() { c_.out.close(); }
  Request(const Request&) = delete;
  Request& operator=(const Request&) = delete;

  [[nodiscard]] const std::string& name() const { return name_; }
  /// Declares an array and gives its name; of rank 0 it has an element that nobody reads.
  std::string array(const std::string& hint, const std::string& items) {
    std::string name = c_.names.fresh(hint);
    c_.out.line("const std::int64_t " + name + "[] = {" + (items.empty() ? "0" : items) + "};");
    return name;
  }
  void open(std::string_view operation) {
    c_.out.open("pl::abi::Remote " + name_ + "{");
    field("operation", "pl::abi::" + std::string(operation));
  }
  /// In the order of abi::Remote.
  void field(const std::string& name, const std::string& value) {
    c_.out.line("." + name + " = " + value + ",");
  }
  /// The user's place, behind which only `to`, `counts` and `signal` stand.
  void place(const SourceLocation& at) {
    field("line", std::to_string(at.line));
    field("column", std::to_string(at.column));
    field("file", quoted(at.file < c_.kernel.files.size() ? c_.kernel.files[at.file] : ""));
  }
  /// The call.
  void send() {
    c_.out.close("};");
    c_.out.line("if (const std::int32_t code = services->remote(services->context, &" + name_ +
                ")) return code;");
  }

 private:
  Context& c_;
  std::string name_;
};

}  // namespace trilith::codegen::xsimd
