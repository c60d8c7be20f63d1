// The examples of the recipe reference.
#pragma once

#include <string>

namespace facet {

// Before -> after, names elsewhere, refusals of one step or rewrite, as Markdown; "" for a step without a page (a test finds
// it).
std::string page_of(const std::string& step);

}  // namespace facet
