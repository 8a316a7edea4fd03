// kernels/kernels.hpp -- all of the kernel library. Each part may be included by itself: a source captures the kernels
// of the headers that it includes and uses.
#pragma once

#include "kernels/activation.hpp"
#include "kernels/attention.hpp"
#include "kernels/layout.hpp"
#include "kernels/linear.hpp"
#include "kernels/lookup.hpp"
#include "kernels/norm.hpp"
#include "kernels/paged_attention.hpp"
#include "kernels/quantise.hpp"
#include "kernels/rope.hpp"
#include "kernels/softmax.hpp"
#include "kernels/split_k.hpp"
#include "kernels/training.hpp"
