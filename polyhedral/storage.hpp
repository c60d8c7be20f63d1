// The storage question of legality: by value, over the storage-mapped accesses.
#pragma once

#include <optional>
#include <set>
#include <vector>

#include "polyhedral/legality.hpp"
#include "polyhedral/schedule.hpp"

namespace facet {

// Does every read of a contracted array still find its value? (question "storage") With `legal_before` only maps that are new
// or whose array is touched by a `changed` statement are judged.
std::optional<Violation> find_storage_violation(const Schedule& schedule, const Schedule* legal_before,
                                                const std::set<int>& changed);

// The array element a dependence goes through at a violation's instances.
std::vector<std::int64_t> element_of(const Schedule& schedule, const Dependence& dependence, const Violation& violation);

// The part of `array` that the statements below loop `at` touch, per iteration: { [outer loops] -> A[element] }.
isl::map footprint(const Schedule& schedule, const std::string& array, int at);

// Block-scope scalars (a contracted array without sizes: one element an iteration of `at`) live where a step has moved their
// accesses: at the innermost loop around all of them.
void follow_scalars(Schedule& next);
// Contracted arrays some of whose users have left the loop without sharing a value with those inside: they live in the
// innermost loop around all of them.
void follow_strays(Schedule& next);

// Fits the boxes of `next` whose surrounding loops differ from `before`: their offsets are functions of these loops' values.
// Names the array whose promoted part has no constant size any more.
std::optional<std::string> fit_boxes(const Schedule& before, Schedule& next);

// The array whose part `next` keeps on the stack beyond `before`, where a thread's stack does not hold all such parts of the
// schedule at the largest sizes, and the bytes of all.
std::optional<std::pair<std::string, double>> too_large_for_stack(const Schedule& before, const Schedule& next);

// Does every value of the array stay inside the iteration of loop `at` (-1: the whole group) that makes it?
bool keeps_flows(const Schedule& schedule, const std::string& array, int at);

// The array shrunk to the box that the footprint below loop `at` needs; a dimension without a constant size keeps its extent.
StorageMap contracted(const Schedule& schedule, const std::string& array, int at);

}  // namespace facet
