// in_parts: the code of a parallel loop whose pieces update copies, which are combined afterwards (mark kParts).
//
//     for i in lower..upper          allocate A.copies
//       .. A.copies[part, f(i)] op= e    for part in 0..parts parallel
//                             -->      fill A.copies[part, ..] with op's identity
//                                      for i in the piece `part` of lower..upper  A.copies[part, f(i)] op= e
//                                    for part in 0..parts
//                                      A[..] op= A.copies[part, ..]
//
// Filled and combined are the elements that the loop updates and no others: what else lies in the box around them may have no
// value yet. The order of the pieces, and so the rounding of a sum, is the recipe's, whatever the number of threads.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "polyhedral/ast/copied_arrays.hpp"

namespace facet {

struct PartRequest {
  const Schedule& schedule;
  const Tree& loop;
  std::vector<CopiedArray> arrays;  // not empty
  std::string part;                 // the iterator over pieces
  std::vector<ExprPtr> outer;       // values of the loops around
  // Where a statement's access to an array's element goes.
  std::function<std::pair<std::string, std::vector<ExprPtr>>(int, const std::string&, const std::vector<ExprPtr>&)> place;
};

struct PartLoop {
  LoopList code;
  LoopList pieces;  // what stands for the loop: the one over pieces and the one over a piece's iterations
};

// `whole`: the loop with its body, whose updates go to the copies already.
PartLoop in_parts(const PartRequest& request, For whole);

}  // namespace facet
