// What `legal` says of a refused step, shared by those who judge step by step.
#pragma once

#include "polyhedral/facet_polyhedral.hpp"
#include "polyhedral/transform/apply.hpp"

namespace facet {

// Fills the report: the step by its own place, or by its position in the group's list; the violated pair where there is one.
void describe_refusal(const StepRefusal& refusal, const std::string& group_pointer, const std::vector<Step>& steps,
                      LegalReport* report);

}  // namespace facet
