// The in-process compiler's interface: plain C, so that who calls it needs no LLVM header and no LLVM at link time.
//
// The functions live in the plugin libfacet_jit.so, opened with dlopen at run time. Clang compiles the text in memory
// to an object, ORC links it into the process; libomp.so.5 is opened globally before anything that uses OpenMP is linked.
// The text may use builtins and the headers stdint.h, stddef.h, stdbool.h, float.h, limits.h, immintrin.h and omp-free OpenMP
// pragmas; no other header is found. Global constructors are not run.
#pragma once

extern "C" {

// Compiles C++17 `source` with `flags` (spelled as for clang++, e.g. "-O3", "-march=native", "-fopenmp",
// "-ffp-contract=fast", "-fsanitize=address") and links it. Returns the library, or null with *error a text of what the
// compiler said (free it with facet_jit_free_text). May be called from several threads.
void* facet_jit_compile(const char* source, const char* const* flags, int flag_count, char** error);

// The assembly text of the code that facet_jit_compile makes of the same source and flags (free it with facet_jit_free_text),
// or null with *error.
char* facet_jit_assembly(const char* source, const char* const* flags, int flag_count, char** error);

// The address of an extern "C" symbol of the library, or null.
void* facet_jit_symbol(void* library, const char* name);

// Unmaps the library's code; no function of it may be running.
void facet_jit_free(void* library);

void facet_jit_free_text(char* text);

// "clang 19.1.7": what `facet doctor` shows.
const char* facet_jit_version();

}  // extern "C"

namespace facet {

// The types of the functions above, for dlsym.
using JitCompileFunction = void* (*)(const char*, const char* const*, int, char**);
using JitAssemblyFunction = char* (*)(const char*, const char* const*, int, char**);
using JitSymbolFunction = void* (*)(void*, const char*);
using JitFreeFunction = void (*)(void*);
using JitFreeTextFunction = void (*)(char*);
using JitVersionFunction = const char* (*)();

inline constexpr const char* kJitLibraryName = "libfacet_jit.so";  // beside the tool, or in ../lib of it

}  // namespace facet
