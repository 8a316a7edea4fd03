// runtime/pl/ops_expand.hpp -- one value a row, or one a column, with every element of a tile.
//
//   auto centred = pl::row_expand_sub(x, pl::row_max(x));      // x[i, j] - m[i, 0]
//
// `row_expand_*` take a tile [..., R, 1], `col_expand_*` one of [..., 1, C], and x of [..., R, C]: the shapes broadcast,
// as they do for the plain operations, which these are by another name. Errors: ShapeError, DtypeError as theirs.
#pragma once

#include "pl/ops.hpp"

namespace pl {
namespace composed {

// clang-format off
#define PL_EXPAND(name, operation)                                                                 \
  template <class T>                                                                               \
  [[nodiscard]] Tile<T> name(const Tile<T>& x, const Tile<T>& values,                              \
                             std::source_location where = std::source_location::current()) {       \
    return operation(x, values, where);                                                            \
  }
#define PL_EXPAND_EXPDIF(name)                                                                     \
  template <class T>                                                                               \
  [[nodiscard]] Tile<T> name(const Tile<T>& x, const Tile<T>& values,                              \
                             std::source_location where = std::source_location::current()) {       \
    return exp(sub(x, values, where), where);                                                      \
  }
// clang-format on

/// x + the value of the row; likewise -, *, /, larger, smaller. Numeric.
PL_EXPAND(row_expand_add, add)
PL_EXPAND(row_expand_sub, sub)
PL_EXPAND(row_expand_mul, mul)
PL_EXPAND(row_expand_div, div)
PL_EXPAND(row_expand_max, maximum)
PL_EXPAND(row_expand_min, minimum)
/// e^(x - the value of the row). Floating.
PL_EXPAND_EXPDIF(row_expand_expdif)
/// x + the value of the column; likewise -, *, /, larger, smaller. Numeric.
PL_EXPAND(col_expand_add, add)
PL_EXPAND(col_expand_sub, sub)
PL_EXPAND(col_expand_mul, mul)
PL_EXPAND(col_expand_div, div)
PL_EXPAND(col_expand_max, maximum)
PL_EXPAND(col_expand_min, minimum)
/// e^(x - the value of the column). Floating.
PL_EXPAND_EXPDIF(col_expand_expdif)

#undef PL_EXPAND
#undef PL_EXPAND_EXPDIF

}  // namespace composed

using composed::col_expand_add;
using composed::col_expand_div;
using composed::col_expand_expdif;
using composed::col_expand_max;
using composed::col_expand_min;
using composed::col_expand_mul;
using composed::col_expand_sub;
using composed::row_expand_add;
using composed::row_expand_div;
using composed::row_expand_expdif;
using composed::row_expand_max;
using composed::row_expand_min;
using composed::row_expand_mul;
using composed::row_expand_sub;

}  // namespace pl
