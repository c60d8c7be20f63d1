// Every operator with its time: the bench rows of the operator table.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "src/driver/options.hpp"

namespace facet {

struct OperatorTime {
  std::string name, family, operands;
  std::string problem;  // why there is no time; "" when there is
  double time_ms = 0, gflops = 0, gbps = 0;
  double share = 0;  // of the ceiling: arithmetic or memory, whichever bounds; above 1 the data came from caches
};

// On the target of the options; of one operator, one family or all, by options.op and options.family.
Result<std::vector<OperatorTime>> time_operators(const Options& options,
                                                 const std::function<void(const std::string&)>& progress);

// Markdown rows.
std::string to_text(const std::vector<OperatorTime>& times);

}  // namespace facet
