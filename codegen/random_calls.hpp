// codegen/random_calls.hpp -- random tile calls for random_program: what a new operation adds to take part.
#pragma once

#include "codegen/builder.hpp"
#include "codegen/random_program.hpp"

#include <span>
#include <vector>

namespace trilith::codegen {

/// One extent: its value, how a declared shape has it, how a list in the kernel has it.
struct CallExtent {
  std::int64_t size = 0;
  Dim dim;
  build::Item name = build::Item(0);
};

struct CallTile {
  Expr expr;
  DType dtype = DType::Float32;
  std::vector<CallExtent> shape;
  Tolerance tolerance = Tolerance::Exact;
};

/// What the program being made offers.
class CallMaker {
 public:
  virtual Random& random() = 0;
  /// A tile of a shape and contents that the program chooses; extents may be run-time ones.
  virtual CallTile any_tile(DType dtype) = 0;
  /// A new input of exactly this shape.
  virtual CallTile tile(DType dtype, const Shape& shape) = 0;
  virtual Expr scalar_of(DType dtype) = 0;
  virtual Expr literal_of(DType dtype) = 0;
  /// The value in a variable of its own.
  virtual Expr named(Expr value) = 0;

 protected:
  ~CallMaker() = default;
};

/// Makes one call whose operands fit; a rule that refuses some shapes must choose others.
using MakeCall = CallTile (*)(CallMaker& maker);
namespace random_calls {
// random_index_calls.cpp
CallTile argument(CallMaker& maker);
CallTile cumsum(CallMaker& maker);
CallTile gather(CallMaker& maker);
CallTile gather_row(CallMaker& maker);
CallTile load_row(CallMaker& maker);
CallTile paged_gather(CallMaker& maker);
CallTile scatter(CallMaker& maker);
CallTile sort_indices(CallMaker& maker);
CallTile topk_indices(CallMaker& maker);
CallTile write(CallMaker& maker);
// random_valid_calls.cpp
CallTile partly_valid(CallMaker& maker);
}  // namespace random_calls

/// One entry an operation, so that each is as likely as the others.
[[nodiscard]] std::span<const MakeCall> call_makers();

}  // namespace trilith::codegen
