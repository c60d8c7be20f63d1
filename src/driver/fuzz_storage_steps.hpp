// Random steps that change where arrays live.
#pragma once

#include <optional>

#include "polyhedral/trial.hpp"
#include "src/driver/fuzz_maker.hpp"

namespace facet {

std::optional<Step> random_contract(const Trial& trial, const TrialView& view, FuzzRandom& random);
std::optional<Step> random_compute_at(const TrialView& view, FuzzRandom& random);
std::optional<Step> random_expand(const TrialView& view, FuzzRandom& random);
std::optional<Step> random_promote(const Trial& trial, const TrialView& view, FuzzRandom& random);
std::optional<Step> random_stream(const TrialView& view, FuzzRandom& random);

}  // namespace facet
