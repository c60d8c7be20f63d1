// Random steps for a group as scheduled so far: what the preconditions ask for holds, so that it is order and storage that are
// tried.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "facet/recipe.hpp"
#include "polyhedral/trial.hpp"
#include "src/driver/fuzz_maker.hpp"

namespace facet {

// The kinds of step that the fuzzer makes, rewrites and map_gpu excepted.
std::vector<std::string> fuzz_verbs();

// A step of a random kind; none when the group has no loops.
std::optional<Step> random_step(const Trial& trial, FuzzRandom& random);
// One of the given kind; none where nothing of the kind applies.
std::optional<Step> random_step(const std::string& verb, const Trial& trial, FuzzRandom& random);

std::optional<Step> random_rewrite(const Trial& trial, FuzzRandom& random);  // fuzz_rewrites.cpp
// Lets the loops that a parallelize or map_gpu step names carry reductions, where they do, now and then; true: with copies.
bool share_updates(const Trial& trial, FuzzRandom& random, Step* step);

std::optional<Step> random_map_gpu(const Trial& trial, FuzzRandom& random);

}  // namespace facet
