// Gaps in isl/cpp.h: isl's scheduler with named options, and what affine functions and relations say outright about dimensions.
#include "polyhedral/isl/isl.hpp"

#include <isl/aff.h>
#include <isl/constraint.h>
#include <isl/options.h>

#include <algorithm>

namespace facet {

std::optional<isl::schedule> compute_schedule(const isl::schedule_constraints& constraints, const SchedulerOptions& options) {
  isl_ctx* ctx = isl_context().get();
  const auto set = [&](const SchedulerOptions& o) {
    isl_options_set_schedule_serialize_sccs(ctx, o.serialize);
    isl_options_set_schedule_whole_component(ctx, o.maximize);
    isl_options_set_schedule_outer_coincidence(ctx, o.outer_coincidence);
  };
  set(options);
  isl_schedule* made = isl_schedule_constraints_compute_schedule(constraints.copy());
  set(SchedulerOptions{});
  if (made) return isl::manage(made);
  const isl_error error = isl_ctx_last_error(ctx);
  if (error == isl_error_abort || error == isl_error_quota || error == isl_error_alloc)
    isl::exception::throw_last_error(isl_context());
  isl_ctx_reset_error(ctx);
  return std::nullopt;
}

isl::set range_by_parameters(const isl::map& map, const std::vector<std::string>& names) {
  const unsigned first = static_cast<unsigned>(isl_map_dim(map.get(), isl_dim_param));
  isl_map* moved = isl_map_move_dims(map.copy(), isl_dim_param, first, isl_dim_in, 0, static_cast<unsigned>(names.size()));
  for (unsigned k = 0; k < names.size(); ++k) moved = isl_map_set_dim_name(moved, isl_dim_param, first + k, names[k].c_str());
  return isl::manage(isl_map_range(moved)).coalesce();
}

isl::pw_aff member_of(const isl::union_pw_aff& member, const isl::set& domain) {
  isl_space* space = isl_space_add_dims(isl_space_from_domain(isl_set_get_space(domain.get())), isl_dim_out, 1);
  return isl::manage(isl_union_pw_aff_extract_pw_aff(member.get(), space));
}

namespace {

// (d, e) when the constraint is i_d = o_e.
std::optional<std::pair<unsigned, unsigned>> equated(__isl_keep isl_constraint* c) {
  if (isl_constraint_is_equality(c) != isl_bool_true) return std::nullopt;
  std::optional<unsigned> in, out;
  std::int64_t sum = 0;
  for (const isl_dim_type type : {isl_dim_param, isl_dim_in, isl_dim_out, isl_dim_div})
    for (int k = 0; k < static_cast<int>(isl_constraint_dim(c, type)); ++k) {
      const std::int64_t x = take_int(isl_constraint_get_coefficient_val(c, type, k));
      if (x == 0) continue;
      std::optional<unsigned>* slot = type == isl_dim_in ? &in : type == isl_dim_out ? &out : nullptr;
      if (!slot || *slot) return std::nullopt;
      *slot = static_cast<unsigned>(k);
      sum += x;
    }
  isl_val* constant = isl_constraint_get_constant_val(c);
  const bool plain = isl_val_is_zero(constant) == isl_bool_true && sum == 0 && in && out;
  isl_val_free(constant);
  return plain ? std::optional(std::pair(*in, *out)) : std::nullopt;
}

isl::pw_aff alone(const isl::pw_aff& f, unsigned d) {
  isl_pw_aff* one = isl_pw_aff_reset_tuple_id(f.copy(), isl_dim_in);
  const unsigned n = static_cast<unsigned>(isl_pw_aff_dim(one, isl_dim_in));
  if (d + 1 < n) one = isl_pw_aff_drop_dims(one, isl_dim_in, d + 1, n - d - 1);
  if (d > 0) one = isl_pw_aff_drop_dims(one, isl_dim_in, 0, d);
  return isl::manage(one);
}

}  // namespace

std::vector<std::pair<unsigned, unsigned>> equal_dimensions(const isl::map& map) {
  std::optional<std::vector<std::pair<unsigned, unsigned>>> common;
  isl_basic_map_list* parts = isl_map_get_basic_map_list(map.get());
  for (int b = 0; b < static_cast<int>(isl_basic_map_list_n_basic_map(parts)); ++b) {
    isl_basic_map* part = isl_basic_map_list_get_basic_map(parts, b);
    isl_constraint_list* constraints = isl_basic_map_get_constraint_list(part);
    std::vector<std::pair<unsigned, unsigned>> pairs;
    for (int k = 0; k < static_cast<int>(isl_constraint_list_n_constraint(constraints)); ++k) {
      isl_constraint* c = isl_constraint_list_get_constraint(constraints, k);
      const std::optional<std::pair<unsigned, unsigned>> pair = equated(c);
      if (pair && (!common || std::count(common->begin(), common->end(), *pair) > 0)) pairs.push_back(*pair);
      isl_constraint_free(c);
    }
    isl_constraint_list_free(constraints);
    isl_basic_map_free(part);
    common = std::move(pairs);
  }
  isl_basic_map_list_free(parts);
  return common.value_or(std::vector<std::pair<unsigned, unsigned>>{});
}

std::optional<unsigned> involved_dimension(const isl::pw_aff& f) {
  std::optional<unsigned> found;
  for (unsigned d = 0; d < static_cast<unsigned>(isl_pw_aff_dim(f.get(), isl_dim_in)); ++d) {
    if (isl_pw_aff_involves_dims(f.get(), isl_dim_in, d, 1) != isl_bool_true) continue;
    if (found) return std::nullopt;
    found = d;
  }
  return found;
}

bool same_function(const isl::pw_aff& f, unsigned d, const isl::pw_aff& g, unsigned e) {
  return isl_pw_aff_plain_is_equal(alone(f, d).get(), alone(g, e).get()) == isl_bool_true;
}

std::optional<unsigned> only_dimension(const isl::pw_aff& f) {
  if (isl_pw_aff_isa_aff(f.get()) != isl_bool_true) return std::nullopt;
  isl_aff* aff = isl_pw_aff_as_aff(f.copy());
  std::optional<unsigned> found;
  bool plain = isl_aff_dim(aff, isl_dim_div) == 0;
  for (int d = 0; d < static_cast<int>(isl_aff_dim(aff, isl_dim_in)); ++d) {
    isl_val* v = isl_aff_get_coefficient_val(aff, isl_dim_in, d);
    if (isl_val_is_zero(v) != isl_bool_true) {
      plain = plain && !found && (isl_val_is_one(v) == isl_bool_true || isl_val_is_negone(v) == isl_bool_true);
      found = static_cast<unsigned>(d);
    }
    isl_val_free(v);
  }
  isl_aff_free(aff);
  return plain ? found : std::nullopt;
}

isl::map simple_hull(const isl::map& map) {
  isl_map* joined = isl_map_coalesce(map.copy());
  if (isl_map_n_basic_map(joined) == 1) return isl::manage(joined);
  return isl::manage(isl_map_from_basic_map(isl_map_unshifted_simple_hull(joined)));
}

isl::set with_tuple(const isl::set& set, const std::string& name) {
  return isl::manage(isl_set_set_tuple_name(set.copy(), name.c_str()));
}

isl::pw_aff with_domain_tuple(const isl::pw_aff& f, const std::string& name) {
  isl_id* id = isl_id_alloc(isl_context().get(), name.c_str(), nullptr);
  return isl::manage(isl_pw_aff_set_tuple_id(f.copy(), isl_dim_in, id));
}

isl::pw_aff with_leading_dimensions(const isl::pw_aff& f, unsigned count, const std::string& tuple) {
  const isl::pw_aff wider = isl::manage(isl_pw_aff_insert_dims(f.copy(), isl_dim_in, 0, count));
  return with_domain_tuple(wider, tuple);
}

isl::map with_domain_tuple(const isl::map& map, const std::string& name) {
  return isl::manage(isl_map_set_tuple_name(map.copy(), isl_dim_in, name.c_str()));
}

isl::set fix_dimension(const isl::set& set, unsigned position, std::int64_t value) {
  isl_val* v = isl_val_int_from_si(isl_context().get(), value);
  return isl::manage(isl_set_fix_val(set.copy(), isl_dim_set, position, v));
}

isl::set with_dimensions(const isl::set& set, unsigned position, unsigned count) {
  return isl::manage(isl_set_insert_dims(set.copy(), isl_dim_set, position, count));
}

isl::set without_dimensions(const isl::set& set, unsigned position, unsigned count) {
  return isl::manage(isl_set_project_out(set.copy(), isl_dim_set, position, count));
}

}  // namespace facet
