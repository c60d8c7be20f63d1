// Which loads of a register tile compilers are kept from repeating.
#pragma once

#include <set>
#include <string>

#include "facet/loop_ast.hpp"

namespace facet {

// Named vectors that are read from memory in loops which carry sums from iteration to iteration.
std::set<std::string> kept_loads(const LoopList& body);

}  // namespace facet
