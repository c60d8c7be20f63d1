// lower_loops: the statements of one `loops` node.
#pragma once

#include "facet/program.hpp"
#include "polyhedral/statement_maker.hpp"

namespace facet {

// Adds the node's statements to `maker`; the result is their order, null for an empty nest.
TreePtr lower_loops(StatementMaker& maker, const Node& node);

}  // namespace facet
