// The C reader's plain C interface in the plugin libfacet_jit.so: who calls it needs no Clang header and no Clang at link time.
#pragma once

extern "C" {

// Reads the region of a C file: `function` may be empty, `flags` are -D, -I and the like. Returns JSON text (answer.hpp): the
// region, or what is wrong with it. Free it with free().
char* facet_read_c(const char* file, const char* function, const char* const* flags, int flag_count);

}  // extern "C"

namespace facet {

using ReadCFunction = char* (*)(const char*, const char*, const char* const*, int);
inline constexpr const char* kReadCName = "facet_read_c";

}  // namespace facet
