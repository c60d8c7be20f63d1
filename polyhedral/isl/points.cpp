// isl walks the points of a set by a callback; more of them than asked for end the walk.
#include "polyhedral/isl/points.hpp"

#include <algorithm>
#include <cmath>

namespace facet {

namespace {

struct Walk {
  std::vector<std::vector<std::int64_t>> points;
  std::size_t most;
  bool too_many = false;
};

isl_stat take(isl_point* point, void* user) {
  Walk& walk = *static_cast<Walk*>(user);
  walk.too_many = walk.points.size() >= walk.most;
  if (!walk.too_many) {
    isl_space* space = isl_point_get_space(point);
    std::vector<std::int64_t> values(static_cast<std::size_t>(isl_space_dim(space, isl_dim_set)));
    isl_space_free(space);
    for (std::size_t d = 0; d < values.size(); ++d) {
      isl_val* v = isl_point_get_coordinate_val(point, isl_dim_set, static_cast<int>(d));
      if (!v) {  // C code called: no exception may pass it
        isl_point_free(point);
        return isl_stat_error;
      }
      values[d] = isl_val_get_num_si(v);
      isl_val_free(v);
    }
    walk.points.push_back(std::move(values));
  }
  isl_point_free(point);
  return walk.too_many ? isl_stat_error : isl_stat_ok;
}

isl_stat add_piece(isl_set* set, isl_aff* aff, void* user) {
  static_cast<std::vector<std::pair<isl::set, isl::aff>>*>(user)->emplace_back(isl::manage(set), isl::manage(aff));
  return isl_stat_ok;
}

}  // namespace

std::optional<std::vector<std::vector<std::int64_t>>> points_of(const isl::set& set, std::size_t most) {
  Walk walk{{}, most};
  const isl_stat done = isl_set_foreach_point(set.get(), take, &walk);
  if (walk.too_many) {
    isl_ctx_reset_error(isl_context().get());
    return std::nullopt;
  }
  if (done != isl_stat_ok) isl::exception::throw_last_error(isl_context());
  std::sort(walk.points.begin(), walk.points.end());
  return std::move(walk.points);
}

std::vector<std::pair<isl::set, isl::aff>> pieces_of(const isl::pw_aff& f) {
  std::vector<std::pair<isl::set, isl::aff>> pieces;
  if (isl_pw_aff_foreach_piece(f.get(), add_piece, &pieces) != isl_stat_ok) isl::exception::throw_last_error(isl_context());
  return pieces;
}

double largest_number(const isl::pw_aff& f) {
  double most = 0;
  const auto meet = [&](isl_val* value) {
    most = std::max(most, std::abs(isl_val_get_d(value)));
    isl_val_free(value);
  };
  for (const auto& [set, aff] : pieces_of(f)) {
    meet(isl_aff_get_constant_val(aff.get()));
    for (const isl_dim_type type : {isl_dim_param, isl_dim_in})
      for (int d = 0; d < static_cast<int>(isl_aff_dim(aff.get(), type)); ++d)
        meet(isl_aff_get_coefficient_val(aff.get(), type, d));
  }
  return most;
}

bool contains_point(const isl::set& set, const std::vector<std::int64_t>& point) {
  isl_set* rest = set.copy();
  for (std::size_t d = 0; d < point.size(); ++d)
    rest = isl_set_fix_si(rest, isl_dim_set, static_cast<unsigned>(d), static_cast<int>(point[d]));
  const bool found = isl_set_is_empty(rest) == isl_bool_false;
  isl_set_free(rest);
  return found;
}

}  // namespace facet
