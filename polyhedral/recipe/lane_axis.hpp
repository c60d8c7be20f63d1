// Which iterators of a statement may be vector lanes: what the policies for vectors share.
#pragma once

#include <string>

#include "polyhedral/scop.hpp"

namespace facet {

DType widest_type(const Statement& s);

// Reads that are neither contiguous nor fixed along the iterator: each is a gather.
int gathers(const Statement& s, const std::string& name);

// Is iterator `name` a good lane axis for the statement: writes contiguous (or a reduction over it), reads contiguous or fixed?
bool good_lanes(const Statement& s, const std::string& name, std::string* why);

}  // namespace facet
