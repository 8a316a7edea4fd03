// jit/compiler/locate.hpp -- where Trilith's own files are: the compiler library and the header pack.
//
// Found from the place of the library that this code is in, so that an installed tree may be moved as a
// whole: beside it in the build tree and after installation. An environment variable overrides each.
#pragma once

#include <string>

namespace trilith::jit {

/// A library of Trilith's, which lies beside this one.
[[nodiscard]] std::string library_path(const char* name);

/// TRILITH_COMPILER_LIBRARY, else libtrilith-compiler.so beside this library.
[[nodiscard]] std::string compiler_library_path();

/// TRILITH_HEADER_PACK, else share/trilith/headers beside the lib folder.
[[nodiscard]] std::string header_pack_path();

}  // namespace trilith::jit
