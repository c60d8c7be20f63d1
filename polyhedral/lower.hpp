// lower: nodes of an elaborated program -> Scop. From here on there are no operators, only statements over affine domains.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "facet/program.hpp"
#include "polyhedral/scop.hpp"

namespace facet {

// Who reads what. Every group asks, so it is made once for a program.
struct ReaderIndex {
  std::map<std::string, std::vector<int>> readers;  // tensor -> nodes, ascending
  std::set<std::string> outputs;
};
ReaderIndex readers_of(const Program& program);

// The Scop of nodes[i] for i in `nodes` (ascending). Arrays defined in the group and read by no later node and no output are
// not live out.
Scop lower(const Program& program, const ReaderIndex& readers, const std::vector<int>& nodes, const std::string& name);

}  // namespace facet
