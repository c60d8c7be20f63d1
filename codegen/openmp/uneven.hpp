// Whether the iterations of a parallel loop differ in length, and in which direction they grow.
#pragma once

#include <optional>
#include <string>

#include "facet/loop_ast.hpp"

namespace facet {

enum class Growth { kGrows, kShrinks, kOther };

// How the work inside changes from one iteration of loop `index` to the next; nullopt: it does not.
std::optional<Growth> growth_of(const LoopList& body, const std::string& index);

}  // namespace facet
