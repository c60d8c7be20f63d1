// constant_text: a tensor's values as a C array definition, for weights embedded in a source.
#pragma once

#include <string>

#include "facet/host_tensor.hpp"

namespace facet {

// "QUALIFIERS float identifier[12] = {...};" with a comment that names the tensor; f16 and bf16 as bit patterns.
std::string constant_text(const std::string& identifier, const std::string& tensor, const HostTensor& values,
                          const std::string& qualifiers);

}  // namespace facet
