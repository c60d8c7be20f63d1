#include "polyhedral/alignment.hpp"

#include <algorithm>

namespace facet {

namespace {

struct Edge {
  std::size_t from, to;
  std::int64_t least;
};

std::size_t part_of(const std::vector<AlignedPart>& parts, int statement) {
  const auto holds = [&](const AlignedPart& p) { return p.count(statement) > 0; };
  return static_cast<std::size_t>(std::find_if(parts.begin(), parts.end(), holds) - parts.begin());
}

// The smallest distance of each dependence when skewed by `factor`; none where one has no bound.
std::optional<std::vector<Edge>> distances(const Dependences& dependences, const std::vector<AlignedPart>& parts,
                                           const std::map<int, isl::pw_aff>& time, std::int64_t factor) {
  std::vector<Edge> edges;
  for (const Dependence& d : dependences) {
    const std::size_t from = part_of(parts, d.source), to = part_of(parts, d.sink);
    if (from == parts.size() || to == parts.size()) continue;
    const auto skewed = [&](std::size_t part, int s) { return parts[part].at(s).add(multiply(time.at(s), factor)); };
    const std::optional<std::int64_t> least = least_distance(d.relation, skewed(from, d.source), skewed(to, d.sink));
    if (!least) return std::nullopt;
    edges.push_back({from, to, *least});
  }
  return edges;
}

// Shifts that leave no edge negative; none where a cycle forbids it.
std::optional<std::vector<std::int64_t>> shifts_for(const std::vector<Edge>& edges, std::size_t parts) {
  std::vector<std::int64_t> shifts(parts, 0);
  for (std::size_t round = 0; round <= parts; ++round) {
    bool changed = false;
    for (const Edge& e : edges) {
      if (shifts[e.to] >= shifts[e.from] - e.least) continue;
      shifts[e.to] = shifts[e.from] - e.least;
      changed = true;
    }
    if (!changed) return shifts;
  }
  return std::nullopt;
}

}  // namespace

std::int64_t Alignment::greatest_shift() const { return shifts.empty() ? 0 : *std::max_element(shifts.begin(), shifts.end()); }

std::optional<Alignment> align(const Dependences& dependences, const std::vector<AlignedPart>& parts,
                               const std::map<int, isl::pw_aff>& time, std::int64_t most) {
  for (std::int64_t factor = 0; factor <= most; ++factor) {
    const std::optional<std::vector<Edge>> edges = distances(dependences, parts, time, factor);
    if (!edges) continue;
    if (std::optional<std::vector<std::int64_t>> shifts = shifts_for(*edges, parts.size()))
      return Alignment{factor, std::move(*shifts)};
  }
  return std::nullopt;
}

std::vector<AlignedPart> backwards(std::vector<AlignedPart> parts) {
  for (AlignedPart& part : parts)
    for (auto& [statement, member] : part) member = member.neg();
  return parts;
}

std::int64_t HexagonSlopes::spread(std::int64_t height) const {
  return (forwards.factor + backwards.factor) * (height - 1) + forwards.greatest_shift() + backwards.greatest_shift();
}

std::int64_t HexagonSlopes::least_width(std::int64_t height) const {
  return std::max(spread(height), (forwards.factor + backwards.factor) * height);
}

}  // namespace facet
