// Finds the region of a C file through Clang's front end and reads it.
#pragma once

#include <string>
#include <vector>

namespace facet::c_import {

// `function` may be empty: the one with a region (or the only one). `flags`: -D, -I and the like. The answer as JSON text.
std::string read_c(const std::string& file, const std::string& function, const std::vector<std::string>& flags);

}  // namespace facet::c_import
