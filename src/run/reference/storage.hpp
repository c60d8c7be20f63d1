// Making and filling the memory of tensors.
#pragma once

#include <memory>

#include "facet/host_tensor.hpp"
#include "src/run/reference/bytecode.hpp"

namespace facet::reference {

// Shape and strides for the sizes in force; without memory if `lazy`.
std::unique_ptr<Storage> make_storage(const Tensor& tensor, const SymbolValues& symbols, bool lazy);
void fill_from(Storage& storage, const HostTensor& values);

}  // namespace facet::reference
