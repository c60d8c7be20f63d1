// What recompute and reuse ask of an array.
#pragma once

#include <string>

#include "polyhedral/transform/transform.hpp"

namespace facet {

// Is the array contracted, promoted, computed again or in another's memory already?
bool is_stored_otherwise(const Schedule& schedule, const std::string& array);

// The argument `array`: of this group alone, in memory, never read with padding. "" with a complaint.
std::string intermediate(const Schedule& schedule, Arguments& args);

// The one statement that writes the array, by assignment; -1 with a complaint.
int only_writer(const Schedule& schedule, const std::string& array, Arguments& args);

// An array has one part at a loop: which of two would an access below it mean? And what is promoted from a contracted array
// lies inside the loop of the contraction, for outside it no more than one iteration's elements exist.
void refuse_second_part(const Schedule& schedule, Arguments& args, const std::string& array, StorageMap::Kind kind, int at);

}  // namespace facet
