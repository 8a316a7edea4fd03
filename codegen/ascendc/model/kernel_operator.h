// codegen/ascendc/model/kernel_operator.h -- the AscendC interface of the 910B class, as kernels include it, over the CPU
// model in runtime/model/.
//
//   #include "kernel_operator.h"
//   extern "C" __global__ __aicore__ void k(GM_ADDR x) { … AscendC::DataCopy(tile, gx, 64); … }
//
// Names and parameters are those of the interface's documentation that both 8.1 and 9.x have; a name that the
// 910B class lacks is absent, and a dtype that it lacks is a static assertion. All meaning and all other checks are in
// the run time, which model_abi.h tells of. Freestanding: a kernel's object needs nothing but mem*.
// Thread-safety: a kernel runs on many threads at once, each a core with its own memories.
#pragma once

#include "cast.h"
#include "console.h"
#include "copy.h"
#include "cube.h"
#include "queue.h"
#include "reduce.h"
#include "select.h"
#include "sync.h"
#include "vector.h"
