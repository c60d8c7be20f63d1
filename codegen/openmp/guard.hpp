// Guards: known bytes beside memory that generated code writes; where they have changed, it has missed its array.
#pragma once

#include <cstddef>
#include <cstring>

namespace facet {

constexpr std::size_t kGuardBytes = 1024;  // a multiple of every alignment
constexpr int kGuard = 0x5c;

inline void set_guard(std::byte* at) { std::memset(at, kGuard, kGuardBytes); }

// Each byte equals its neighbour and the first is right: one pass at the speed of memory, since short kernels are timed so.
inline bool is_guard(const std::byte* at) { return *at == std::byte{kGuard} && std::memcmp(at, at + 1, kGuardBytes - 1) == 0; }

}  // namespace facet
