// Values of the command line that need the program to be judged: sizes and numerics.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "facet/program.hpp"

namespace facet {

// "NAME=VALUE" in two parts; complains in the name of `option` otherwise.
Result<std::pair<std::string, std::string>> split_assignment(const std::string& option, const std::string& form,
                                                             const std::string& text);

Result<Done> override_numerics(const std::vector<std::string>& settings, Numerics* numerics);

}  // namespace facet
