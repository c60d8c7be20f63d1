// Signs and offsets of loops' members and of subscripts.
#include "polyhedral/recipe/index_walk.hpp"

namespace facet {

std::optional<Walk> walk_of(const isl::pw_aff& member, const isl::set& domain) {
  const std::optional<unsigned> d = only_dimension(member);
  if (!d) return std::nullopt;
  for (const std::int64_t sign : {1, -1}) {
    const auto [low, high] = distance_range(domain.identity(), multiply(output_dimension(domain, *d), sign), member);
    if (low == high) return Walk{sign, low};
  }
  return std::nullopt;
}

std::optional<std::int64_t> offset_from(const ExprPtr& e, const std::string& name) {
  if (e->op == Op::kIndex) return e->name == name ? std::optional<std::int64_t>(0) : std::nullopt;
  if ((e->op != Op::kAdd && e->op != Op::kSub) || e->args[1]->op != Op::kLiteral) return std::nullopt;
  const std::optional<std::int64_t> first = offset_from(e->args[0], name);
  if (!first) return std::nullopt;
  return e->op == Op::kAdd ? *first + e->args[1]->int_value : *first - e->args[1]->int_value;
}

}  // namespace facet
