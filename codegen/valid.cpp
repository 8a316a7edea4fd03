#include "codegen/valid.hpp"

#include "codegen/tile_call.hpp"
#include "codegen/tile_call/linear.hpp"

#include <algorithm>

namespace trilith::codegen {
namespace {

class Labels {
 public:
  explicit Labels(const Expr& call) : call_(call) {
    for (const Expr& operand : call.operands)
      axes_.operands.emplace_back(operand.type.is_tile() ? operand.type.shape.size() : 0);
    for (std::vector<int>& operand : axes_.operands)
      for (int& label : operand) label = ++last_;
  }

  ValidAxes run() {
    switch (call_.op) {
      case Op::Concat:
        for (std::size_t i = 0; i < count(); ++i) share_all_but(i, axis_of(0), ValidAxes::whole);
        break;
      case Op::Reshape:
      case Op::Pad:
      case Op::PagedGather:
        for (std::size_t i = 0; i < count(); ++i) all(i, ValidAxes::whole);
        break;
      case Op::Assemble: axes_.boxed = 1; break;
      case Op::Expand: expand(); break;
      case Op::TileSlice: tile_slice(); break;
      case Op::Gather:
        for (std::size_t i = 0; i < 2; ++i) share_all_but(i, axis_of(i), ++last_);
        break;
      case Op::Scatter:
      case Op::ScatterAdd: scatter(); break;
      case Op::Matmul:
      case Op::MatmulAcc:
      case Op::MatmulBias:
      case Op::BatchMatmul:
      case Op::Gemv:
      case Op::Dot: linear(); break;
      default:
        if (const Group group = operation(call_.op).group;
            group >= Group::Elementwise && group <= Group::Cast)
          broadcast(rank(), 0);
    }
    return std::move(axes_);
  }

 private:
  [[nodiscard]] std::size_t count() const { return call_.operands.size(); }
  [[nodiscard]] const std::vector<Dim>& shape(std::size_t i) const { return call_.operands[i].type.shape; }
  [[nodiscard]] std::size_t rank() const {
    std::size_t rank = 0;
    for (const std::vector<int>& operand : axes_.operands) rank = std::max(rank, operand.size());
    return rank;
  }
  /// The call's axis in operand i; one that there is not is the typing rule's to refuse.
  [[nodiscard]] std::size_t axis_of(std::size_t i) const {
    const auto size = static_cast<std::int32_t>(shape(i).size());
    const std::int32_t axis = call_.attributes.axis;
    return static_cast<std::size_t>(axis < 0 ? axis + size : axis);
  }

  void all(std::size_t i, int label) { std::fill(axes_.operands[i].begin(), axes_.operands[i].end(), label); }

  /// Axes of one position run together, but for one.
  void share_all_but(std::size_t i, std::size_t along, int label) {
    std::vector<int>& labels = axes_.operands[i];
    for (std::size_t axis = 0; axis < labels.size(); ++axis)
      labels[axis] = axis == along ? label : shared + static_cast<int>(axis);
  }

  /// NumPy's: axes counted from the end of the first `axes` run together; 1 repeats beside another extent.
  void broadcast(std::size_t axes, std::size_t behind) {
    std::vector<bool> is_one(axes, true);
    const auto each = [&](const auto& function) {
      for (std::size_t i = 0; i < count(); ++i) {
        if (shape(i).size() < behind) continue;
        const std::size_t own = shape(i).size() - behind;
        for (std::size_t axis = 0; axis < axes_.operands[i].size() && axis < own; ++axis)
          function(own - 1 - axis, shape(i)[axis], axes_.operands[i][axis]);
      }
    };
    each([&](std::size_t from_end, const Dim& dim, int&) {
      if (!dim.is(1)) is_one[from_end] = false;
    });
    each([&](std::size_t from_end, const Dim& dim, int& label) {
      const int together = shared + static_cast<int>(from_end);
      label = dim.is(1) && !is_one[from_end] ? ValidAxes::repeats(together) : together;
    });
  }

  void expand() {
    const std::size_t to = call_.operands[1].operands.size(), from = shape(0).size();
    for (std::size_t axis = 0; axis < from && from <= to; ++axis) {
      if (shape(0)[axis].is(1))
        axes_.operands[0][axis] = ValidAxes::whole;
      else
        axes_.followed.emplace_back(to - from + axis, axis);
    }
  }

  void tile_slice() {
    const std::vector<Expr>&offsets = call_.operands[1].operands, &sizes = call_.operands[2].operands;
    const auto is = [](const Expr& item, std::int64_t value) {
      return item.is_constant() && item.value.as_int64() == value;
    };
    for (std::size_t axis = 0; axis < std::min({shape(0).size(), offsets.size(), sizes.size()}); ++axis)
      if (const Dim& dim = shape(0)[axis];
          is(offsets[axis], 0) && dim.is_constant() && is(sizes[axis], dim.extent))
        axes_.followed.emplace_back(axis, axis);
  }

  /// The rows that are scattered may be fewer than those that are valid elsewhere.
  void scatter() {
    for (std::size_t i = 0; i < 3; ++i)
      for (std::size_t axis = 0; axis < axes_.operands[i].size(); ++axis)
        if (axis != axis_of(i))
          axes_.operands[i][axis] = ValidAxes::whole;
        else if (i > 0)
          axes_.operands[i][axis] = shared;
  }

  void linear() {
    const std::size_t first = call_.op == Op::MatmulAcc ? 1 : 0;
    const ProductAxes axes =
        product_axes(call_.op, call_.attributes, shape(first).size(), shape(first + 1).size());
    if (call_.op == Op::BatchMatmul)
      broadcast(std::max<std::size_t>(std::max(shape(axes.a).size(), shape(axes.b).size()), 2) - 2, 2);
    constexpr int k = shared + max_rank, m = k + 1, n = k + 2;
    const auto set = [&](std::size_t operand, int axis, int label) {
      if (axis < 0) return;
      const auto at = static_cast<std::size_t>(axis);
      // A matrix that stands for a vector is one by its extent 1.
      const bool vector = call_.op == Op::Gemv && shape(operand)[at].is(1);
      axes_.operands[operand][at] = vector ? ValidAxes::whole : label;
    };
    set(axes.a, axes.a_k, k);
    set(axes.b, axes.b_k, k);
    set(axes.a, axes.m, m);
    set(axes.b, axes.n, n);
    if (axes.start < 0) return;
    std::vector<int>& start = axes_.operands[static_cast<std::size_t>(axes.start)];
    if (!start.empty()) start.back() = n;
    if (start.size() > 1) start.front() = call_.op == Op::MatmulBias ? ValidAxes::whole : m;
  }

  static constexpr int shared = 1 << 16;  ///< above the labels that the axes have at first
  const Expr& call_;
  ValidAxes axes_;
  int last_ = 0;
};

}  // namespace

ValidAxes valid_axes(const Expr& call) { return Labels(call).run(); }

Constant fill_value(Fill fill, DType dtype) {
  if (fill == Fill::Zero) return {dtype, 0};
  return fill == Fill::Max ? Constant::highest(dtype) : Constant::lowest(dtype);
}

}  // namespace trilith::codegen
