// A kernel written by hand: y = x * by on dense tensors of any rank, vectorised with xsimd.
#include <pl/external.hpp>
#include <xsimd/xsimd.hpp>

#include "scale_by.hpp"

TRILITH_SIGNATURE(scale, "float[any], out float[any], float")
extern "C" std::int32_t scale(const pl::abi::Args* args, const pl::abi::Services* services) {
  namespace external = pl::external;
  using Batch = xsimd::batch<float>;
  const std::int64_t count = external::elements(args, 0);
  if (external::elements(args, 1) != count)
    return external::fault(services, "scale: elements of x and y", external::elements(args, 1), count);
  if (!external::is_dense(args, 0) || !external::is_dense(args, 1))
    return external::fault(services, "scale: stride of a dense tensor", 0, 1);

  const float* x = external::data<const float>(args, 0);
  float* y = external::data<float>(args, 1);
  const float by = external::scalar<float>(args, 0);
  std::int64_t i = 0;
  for (; i + static_cast<std::int64_t>(Batch::size) <= count; i += Batch::size)
    (Batch::load_unaligned(x + i) * Batch(by)).store_unaligned(y + i);
  for (; i < count; ++i) y[i] = scaled(x[i], by);
  return pl::abi::fault_none;
}
