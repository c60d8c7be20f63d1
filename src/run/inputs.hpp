// The tensors a run starts from: given ones checked, missing inputs drawn at random by their `sample` rule, constants loaded.
#pragma once

#include "facet/host_tensor.hpp"
#include "facet/program.hpp"
#include "facet/result.hpp"

namespace facet {

// All inputs and constants of `program` for the sizes in force. `given` inputs must have the declared dtype and shape (bf16 may
// come as f32). Unknown names, wrong shapes and unreadable files are kInput.
Result<HostTensors> make_inputs(const Program& program, const SymbolValues& symbols, std::uint64_t seed,
                                const HostTensors& given);

// One input drawn by its rule (contract V10): uniform [-1, 1] or integers -8..8 (bool: 0..1) unless it says otherwise. `spd`
// matrices are symmetric and strictly diagonally dominant; a `permutation` shuffles 0..n-1 along the last axis.
HostTensor sample_tensor(const Tensor& tensor, const SymbolValues& symbols, std::uint64_t seed);

// A constant's values ("data"); files relative to `folder`.
Result<HostTensor> constant_tensor(const Tensor& tensor, const SymbolValues& symbols, const std::string& folder);

// Checks sizes against the symbols' ranges and the program's assumptions (V9, P8).
Result<Done> check_symbols(const Program& program, const SymbolValues& symbols);

}  // namespace facet
