// runtime/pl/pl.hpp -- the kernel language: everything in namespace pl.
//
//   auto axpy = pl::jit.incore([](pl::Tensor<float> x, pl::Out<pl::Tensor<float>> y, pl::Scalar<float> a) {
//     y = pl::store(pl::load(x) * a + pl::load(x), y);
//     return y;
//   });
//   axpy(pl::tensor(in, {8, 8}), pl::tensor(out, {8, 8}), 2.0f);   // compiled at the first call
//
// Distributed programs include <pl/pld.hpp> as well.
#pragma once

#include "pl/array.hpp"
#include "pl/at.hpp"
#include "pl/benchmark.hpp"
#include "pl/context.hpp"
#include "pl/dynamic.hpp"
#include "pl/error.hpp"
#include "pl/graph.hpp"
#include "pl/host_callback.hpp"
#include "pl/jit.hpp"
#include "pl/log.hpp"
#include "pl/memory.hpp"
#include "pl/operators.hpp"
#include "pl/ops.hpp"
#include "pl/ops_activation.hpp"
#include "pl/ops_block.hpp"
#include "pl/ops_expand.hpp"
#include "pl/ops_generate.hpp"
#include "pl/ops_index.hpp"
#include "pl/ops_layout.hpp"
#include "pl/ops_linear.hpp"
#include "pl/ops_reduce.hpp"
#include "pl/ops_valid.hpp"
#include "pl/range.hpp"
#include "pl/scalar.hpp"
#include "pl/task.hpp"
#include "pl/tensor.hpp"
#include "pl/tensor_operators.hpp"
#include "pl/tile.hpp"
#include "pl/worker.hpp"
