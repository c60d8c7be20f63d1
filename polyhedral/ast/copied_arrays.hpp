// copied_arrays: what the pieces of a parallel loop have copies of whose shared updates are kept apart (mark kParts).
#pragma once

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "facet/loop_ast.hpp"
#include "polyhedral/schedule.hpp"

namespace facet {

// One array that the loop's iterations update together. Element e of piece r is buffer[r, e - offsets], the offsets being
// functions of the values of the loops around.
struct CopiedArray {
  std::string array;
  std::set<int> updates;  // the statements that go to the buffer
  ReduceKind kind = ReduceKind::kSum;
  isl::map elements;  // { [loops around the parallel one] -> A[e] }: what the loop updates
  std::vector<isl::aff> offsets;
  Buffer buffer;  // [parts, sizes..]; kGlobal where the stack has no room for it
};

// Empty where the loop is no parallel one of its own: inside another one its iterations follow each other anyway.
std::vector<CopiedArray> copied_arrays(const Schedule& schedule, const Tree& loop);

// A's element as the place in the copy of piece `part`, the loops around having the values `outer`.
std::pair<std::string, std::vector<ExprPtr>> in_part(const CopiedArray& p, const std::string& part,
                                                     const std::vector<ExprPtr>& element, const std::vector<ExprPtr>& outer);

}  // namespace facet
