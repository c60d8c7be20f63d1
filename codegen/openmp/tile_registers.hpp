// What compilers are told so that a register tile gets the registers it was planned for.
#pragma once

#include <set>
#include <string>

#include "facet/loop_ast.hpp"

namespace facet {

struct TileRegisters {
  std::set<std::string> loads;   // named vectors that loops read which carry sums from iteration to iteration
  std::set<std::string> starts;  // of each block the first such sum: nothing else is in a register there
};
TileRegisters tile_registers(const LoopList& body);

}  // namespace facet
