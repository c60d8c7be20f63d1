// arena: arrays between kernels share memory where no kernel needs both.
//
// An array lives from the first kernel that touches it to the last, and throughout a host loop around one of them; what a
// prepare kernel touches lives for ever. Arrays are
// placed in the order of their first use; each takes the slot that is free by then and fits best at the symbols' default sizes,
// else a new one. A slot is as large as its largest array at the sizes of a call. (First fit over intervals is optimal in
// slots; in bytes it is within a small factor, which optimal offsets would win at the price of offsets that depend on the sizes
// in force.)
#pragma once

#include <cstdint>
#include <vector>

#include "facet/loop_ast.hpp"
#include "facet/program.hpp"

namespace facet {

// The slots in order, each with its arrays by their position in `workspace`, in order of first use.
using ArenaSlots = std::vector<std::vector<std::size_t>>;
ArenaSlots plan_arena(const LoopProgram& program, const std::vector<const Buffer*>& workspace);

// Elements from the first to the last, holes of padded strides included.
ExprPtr span_elements(const Buffer& buffer);

// Bytes of all workspace arrays together, sharing included, at these sizes; alignment is not counted.
std::int64_t arena_bytes(const LoopProgram& program, const SymbolValues& sizes);

}  // namespace facet
