// Which tensors a node touches, and where each is needed last.
#pragma once

#include <cstddef>
#include <map>
#include <set>
#include <string>

#include "facet/program.hpp"

namespace facet {

// Every tensor a node reads, defines or updates (of an elaborated program).
std::set<std::string> names_of(const Node& node);

// Tensors the node brings into being: defined by its equations, or `out` of its loops.
std::set<std::string> defined_by(const Node& node);

// The position of the last node that touches each tensor.
std::map<std::string, std::size_t> last_uses(const Program& program);

bool is_output(const Program& program, const std::string& name);

}  // namespace facet
