// Updated inputs: where a program updates an input in place (`inout` of loops), the caller's tensor must not change, so the
// program works on a copy. The copy is an operator like others: it has a group, steps, and a kernel.
//
//   inputs A;  loops: update A        -->      inputs A.given;  A[d0, d1] = A.given[d0, d1];  loops: update A
#pragma once

#include <string>
#include <vector>

#include "facet/program.hpp"
#include "facet/recipe.hpp"

namespace facet {

// The program with its copies first; itself when it updates no input. Applied twice it is the same.
Program with_copies(const Program& program);

// Is the node such a copy?
bool is_copy(const Node& node);

// In a recipe's "ops": "A.copy". "copy_A" is the name of its group and kernel.
std::string copy_op(const Node& copy);
std::string copy_group(const Node& copy);

// Groups of copies that a variant with groups does not have are put in front of them: `steps_hole` as given, else no steps.
// How many were added to each variant.
std::vector<std::size_t> add_copy_groups(const Program& with_copies, bool steps_hole, Recipe* recipe);

}  // namespace facet
