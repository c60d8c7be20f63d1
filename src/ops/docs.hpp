// The operator reference (docs/operators.md), written from the operator table.
#pragma once

#include <string>

namespace facet {

std::string operators_markdown();

}  // namespace facet
