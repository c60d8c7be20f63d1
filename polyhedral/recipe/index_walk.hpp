// How a loop walks an index, and how a subscript follows one: sign * index + offset.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "facet/expr.hpp"
#include "polyhedral/isl/isl.hpp"

namespace facet {

struct Walk {
  std::int64_t sign = 1, offset = 0;
};

// Of a loop's member: the index goes up or down by one with each iteration; nullopt: it does not.
std::optional<Walk> walk_of(const isl::pw_aff& member, const isl::set& domain);

// c where the expression is `name` + c; nullopt otherwise.
std::optional<std::int64_t> offset_from(const ExprPtr& e, const std::string& name);

}  // namespace facet
