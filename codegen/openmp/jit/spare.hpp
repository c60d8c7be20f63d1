// What Clang's optimiser need not do with loops that are vector code already.
#pragma once

#include "clang/Basic/CodeGenOptions.h"

namespace facet::jit {

void spare_vector_code(clang::CodeGenOptions& options);

}  // namespace facet::jit
