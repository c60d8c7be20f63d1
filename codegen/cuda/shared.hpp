// What a block needs of shared memory.
#pragma once

#include <cstdint>

#include "facet/loop_ast.hpp"

namespace facet {

inline constexpr std::int64_t kSharedAlignment = 16;  // of each shared array: the widest access of one thread

// Bytes of all shared arrays, each aligned; -1 when one has a run-time size.
std::int64_t shared_bytes_of(const LoopList& body);

}  // namespace facet
