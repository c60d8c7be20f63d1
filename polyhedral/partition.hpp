// partition: which nodes form a group. Each group is one Scop and one kernel.
#pragma once

#include <string>
#include <vector>

#include "facet/program.hpp"
#include "polyhedral/facet_polyhedral.hpp"

namespace facet {

struct NodeGroup {
  std::string name;        // "k0"
  std::vector<int> nodes;  // ascending
};

// Groups in execution order. Policy: a node joins the group of its latest producer when their loops can be aligned and the
// group stays small; every decision goes to the ledger.
std::vector<NodeGroup> partition(const Program& program, const ScheduleOptions& options, Ledger& ledger);

// The groups a recipe's variant names: "ops" are the tensors the nodes define (node_names). An error names what is missing,
// unknown or out of order, and where.
Result<std::vector<NodeGroup>> groups_of_recipe(const Program& program, const Variant& variant);

// The first tensor that a node defines or updates.
std::string node_tensor(const Node& node);

// What stands for each node in a recipe's "ops": its first tensor; "T.1", "T.2" for the further nodes that update T.
std::vector<std::string> node_names(const Program& program);

}  // namespace facet
