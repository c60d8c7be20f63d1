// What a kernel touches: its global buffers, which of them it writes, its symbols. The parameters of a printed kernel.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "facet/loop_ast.hpp"

namespace facet {

struct KernelUses {
  std::vector<std::string> buffers;        // global ones, in order of first use
  std::set<std::string> written, symbols;  // symbols: also those of strides and of clamped or padded extents
  std::set<std::string> values;            // named values that something reads
};

KernelUses uses_of(const LoopProgram& program, const LoopList& body);

// Bytes of the widest floating type among the arrays that the body touches, at least 4: shorter ones are computed in f32.
int flop_bytes(const LoopProgram& program, const LoopList& body);

}  // namespace facet
