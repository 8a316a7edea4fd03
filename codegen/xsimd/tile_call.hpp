// codegen/xsimd/tile_call.hpp -- writes one tile call: its checks, its memory, then a call of the device header.
//
// A lowering says which header it needs and writes the call with what this class gives it: pointers to the
// operands' and the result's memory (dense, row-major), extents and scalars as C++ text. Constant extents are
// plain numbers there, so that an inlined device function sees them.
#pragma once

#include "codegen/xsimd/context.hpp"

namespace trilith::codegen::xsimd {

class TileCall {
 public:
  TileCall(Context& context, const Statement& statement) : c_(context), statement_(statement) {}

  [[nodiscard]] const Expr& call() const { return statement_.value; }
  [[nodiscard]] const Attributes& attributes() const { return call().attributes; }
  [[nodiscard]] const Type& type(std::size_t i) const { return call().operands[i].type; }
  [[nodiscard]] const Type& type() const { return call().type; }
  /// An axis of operand i, counted from 0.
  [[nodiscard]] std::size_t axis(std::int64_t given, std::size_t i = 0) const {
    return static_cast<std::size_t>(given < 0 ? given + std::ssize(type(i).shape) : given);
  }

  /// The C++ name of a dtype: "float".
  [[nodiscard]] std::string dtype(std::size_t i) const { return type_name(type(i).dtype); }
  [[nodiscard]] std::string dtype() const { return type_name(type().dtype); }
  [[nodiscard]] VariableId variable() const { return statement_.variable; }
  [[nodiscard]] const SourceLocation& location() const { return statement_.location; }
  /// Where operand i lies: a pointer to its first element, the strides of its axes. Not always dense.
  struct Memory {
    std::string pointer;
    std::vector<Product> strides;
  };
  [[nodiscard]] Memory memory(std::size_t i);
  [[nodiscard]] Memory result_memory();
  [[nodiscard]] std::vector<Product> dense_strides(const std::vector<Dim>& shape) const;
  /// Pointer to the first element of operand i; of the result.
  [[nodiscard]] std::string tile(std::size_t i);
  [[nodiscard]] std::string result();
  /// An extent, and the product of the extents [from, to) of a shape.
  [[nodiscard]] std::string extent(const Dim& dim) const { return c_.dim(dim); }
  [[nodiscard]] std::string count(const std::vector<Dim>& shape, std::size_t from, std::size_t to) const;
  [[nodiscard]] std::string count(const std::vector<Dim>& shape) const {
    return count(shape, 0, shape.size());
  }
  /// Operand i, a scalar, in its own dtype; item k of operand i, a list.
  [[nodiscard]] std::string scalar(std::size_t i) { return c_.scalar(call().operands[i]); }
  [[nodiscard]] std::string item(std::size_t i, std::size_t k) {
    return c_.index(call().operands[i].operands[k]);
  }
  /// Memory of this call's own for the product of `shape` elements. Gives the pointer.
  [[nodiscard]] std::string scratch(const std::string& hint, DType dtype, std::vector<Dim> shape);

  /// `device::name<template_arguments>(arguments…);`
  void write(const std::string& name, const std::string& template_arguments,
             const std::vector<std::string>& arguments);
  [[nodiscard]] Context& context() { return c_; }
  [[nodiscard]] const Statement& statement() const { return statement_; }

 private:
  Context& c_;
  const Statement& statement_;
};

/// How an operation is written: `header` is included where it is used ("transpose.hpp", in device/trilith).
struct TileCallLowering {
  Op op;
  const char* header;
  void (*write)(TileCall& call);
};

// calls_layout.cpp
void write_transpose(TileCall& call);
// calls_linear.cpp
void write_linear(TileCall& call);
void write_tile_slice(TileCall& call);
void write_assemble(TileCall& call);
void write_concat(TileCall& call);
void write_copy(TileCall& call);  ///< Reshape, Reinterpret
void write_pad(TileCall& call);
void write_expand(TileCall& call);
// calls_generate.cpp
void write_arange(TileCall& call);
void write_tri(TileCall& call);
void write_random(TileCall& call);
// calls_index.cpp
void write_argument(TileCall& call);
void write_cumsum(TileCall& call);
void write_gather(TileCall& call);
void write_gather_row(TileCall& call);
void write_load_row(TileCall& call);
void write_paged_gather(TileCall& call);
void write_scatter(TileCall& call);
void write_order(TileCall& call);
void write_element(TileCall& call);

}  // namespace trilith::codegen::xsimd
