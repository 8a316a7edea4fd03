// trilith/device.hpp -- everything an emitted kernel may use; the one header it includes.
//
// Not for other code: it is compiled for the target CPU of the kernel and calls no function of any library,
// so that a kernel's object has no undefined symbol but mem*. Exact operations give the bits of the reference
// operations (codegen/operation.hpp), transcendentals stay within 4 ulp. The floating-point environment is
// neither read nor written: round to nearest is assumed, and whoever calls a kernel in a thread that flushes
// subnormals (FTZ, DAZ) must lift that for the call. Compile with -ffp-contract=off.
#pragma once

#include "arithmetic.hpp"
#include "cast.hpp"
#include "compare.hpp"
#include "exp.hpp"
#include "hyperbolic.hpp"
#include "instances.hpp"
#include "kernel.hpp"
#include "logarithm.hpp"
#include "memory.hpp"
#include "reduce.hpp"
#include "scalar.hpp"
#include "trigonometric.hpp"
#include "vec.hpp"
