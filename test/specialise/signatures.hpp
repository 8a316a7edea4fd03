// Helpers of the specialiser's tests: signatures in one word, and specialised text.
#pragma once

#include "codegen/builder.hpp"
#include "codegen/printer.hpp"
#include "codegen/specialise.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace trilith::codegen::test {

inline ArgumentSignature tensor_argument(DType dtype, std::vector<std::int64_t> extents) {
  ArgumentSignature argument;
  argument.is_tensor = true;
  argument.dtype = dtype;
  argument.extents = std::move(extents);
  return argument;
}
inline ArgumentSignature floats(std::vector<std::int64_t> extents) {
  return tensor_argument(DType::Float32, std::move(extents));
}
inline ArgumentSignature scalar_argument(DType dtype) {
  ArgumentSignature argument;
  argument.dtype = dtype;
  return argument;
}
inline ArgumentSignature const_argument(Constant value) {
  ArgumentSignature argument = scalar_argument(value.dtype);
  argument.value = value;
  return argument;
}
inline Signature signature(std::vector<ArgumentSignature> arguments,
                           std::vector<std::optional<Constant>> captures = {}) {
  return {std::move(arguments), std::move(captures), false};
}

/// `y = f(x)` with float x and y of any shape; `function(builder, x, y)` writes the body.
template <class Function>
Kernel unary(const Function& function) {
  build::KernelBuilder k("unary");
  const Expr x = k.tensor("x", Access::In, DType::Float32);
  const Expr y = k.tensor("y", Access::Out, DType::Float32);
  function(k, x, y);
  return k.take();
}
inline Signature two(std::vector<std::int64_t> x, std::vector<std::int64_t> y) {
  return signature({floats(std::move(x)), floats(std::move(y))});
}

/// The rule that a kernel breaks, as `verify` words it, without the kernel's name and the request to report it; empty
/// where it breaks none.
inline std::string broken_rule(const Kernel& kernel) {
  try {
    verify(kernel);
  } catch (const pl::InternalError& error) {
    const std::string text = error.what();
    const std::size_t start = text.find("verify: ") + 8;
    return text.substr(start, text.find(", in the ") - start);
  }
  return "";
}

/// The kernel's statements as text, without the header line and the comments that point at the source.
inline std::string body_text(const Kernel& kernel) {
  std::string result;
  const std::string text = to_text(kernel);
  for (std::size_t start = text.find('\n') + 1; start < text.size();) {
    const std::size_t end = std::min(text.find('\n', start), text.size());
    std::string line = text.substr(start, end - start);
    start = end + 1;
    if (const std::size_t comment = line.find("//"); comment != std::string::npos) line.resize(comment);
    while (!line.empty() && line.back() == ' ') line.pop_back();
    if (!line.empty()) result += line.substr(2) + "\n";
  }
  return result;
}

/// The message of the exception that specialising throws, or "" where it throws none.
template <class Exception>
std::string message_of(const Kernel& kernel, const Signature& given) {
  try {
    static_cast<void>(specialise(kernel, given));
  } catch (const Exception& error) {
    return error.what();
  }
  return "";
}

}  // namespace trilith::codegen::test
