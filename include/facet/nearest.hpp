// The nearest valid name to what a user wrote, for "did you mean" notes.
#pragma once

#include <string>
#include <vector>

namespace facet {

// Number of insertions, deletions, replacements and swaps of neighbours that turn `a` into `b`; letter case counts half a
// change less than a replacement, so "MatMul" is near "matmul".
int edit_distance(const std::string& a, const std::string& b);

// The candidate nearest to `name`, if it is near enough to be a likely slip; else "". Ties go to the first candidate.
std::string nearest(const std::string& name, const std::vector<std::string>& candidates);

// {"did you mean \"x\"?"}, or no note when nothing is near.
std::vector<std::string> did_you_mean(const std::string& name, const std::vector<std::string>& candidates);

}  // namespace facet
