// runtime/pl/error.hpp -- the exceptions of Trilith: pl::UserError and its kinds, pl::InternalError.
#pragma once

#include "codegen/error.hpp"
