// The section "c_function" of a program that was imported from C.
#pragma once

#include "facet/program.hpp"
#include "src/frontend/json_tree.hpp"

namespace facet {

JsonValue c_function_json(const CFunction& function);

}  // namespace facet
