// Contexts, quotas and the watchdog; the operations missing in isl's C++ bindings.
#include "polyhedral/isl/isl.hpp"

#include <unordered_map>
#include <isl/aff.h>
#include <isl/ctx.h>
#include <isl/map.h>
#include <isl/options.h>
#include <isl/point.h>
#include <isl/schedule.h>
#include <isl/schedule_node.h>
#include <isl/set.h>

#include <condition_variable>
#include <cstdlib>
#include <mutex>
#include <thread>

namespace facet {

namespace {

// Aborts the context at the deadline unless it is stopped before. isl_ctx_abort is safe from another thread.
class Watchdog {
 public:
  Watchdog(isl_ctx* ctx, const Budget& budget) {
    if (!budget.deadline) return;
    thread_ = std::thread([this, ctx, deadline = *budget.deadline] {
      std::unique_lock<std::mutex> lock(mutex_);
      if (!wake_.wait_until(lock, deadline, [this] { return stopped_; })) isl_ctx_abort(ctx);
    });
  }
  ~Watchdog() {
    if (!thread_.joinable()) return;
    {
      std::lock_guard<std::mutex> lock(mutex_);
      stopped_ = true;
    }
    wake_.notify_all();
    thread_.join();
  }
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;

 private:
  std::mutex mutex_;
  std::condition_variable wake_;
  bool stopped_ = false;
  std::thread thread_;
};

// Over all parameter values; {0, -1} when empty or unbounded.
std::pair<std::int64_t, std::int64_t> first_dimension_range(__isl_take isl_set* values) {
  isl_val* low = isl_set_dim_min_val(isl_set_copy(values), 0);
  isl_val* high = isl_set_dim_max_val(values, 0);
  std::pair<std::int64_t, std::int64_t> range{0, -1};
  if (low && high && isl_val_is_int(low) == isl_bool_true && isl_val_is_int(high) == isl_bool_true)
    range = {isl_val_get_num_si(low), isl_val_get_num_si(high)};
  isl_val_free(low);
  isl_val_free(high);
  return range;
}

std::string dim_name(isl_set* set, unsigned position) {
  const char* name = isl_set_get_dim_name(set, isl_dim_param, position);
  return name ? name : "";
}

}  // namespace

isl::ctx isl_context() {
  thread_local isl_ctx* ctx = [] {
    isl_ctx* made = isl_ctx_alloc();
    isl_options_set_on_error(made, ISL_ON_ERROR_CONTINUE);
    isl_options_set_ast_build_atomic_upper_bound(made, 1);
    isl_options_set_ast_build_detect_min_max(made, 1);
    isl_options_set_ast_build_prefer_pdiv(made, 1);
    isl_options_set_ast_build_scale_strides(made,
                                            0);  // boxes of storage maps are given in the values of loops, not in multiples
    isl_options_set_schedule_max_coefficient(made, 20);  // Polly's cap; unbounded rows make unreadable code
    isl_options_set_schedule_max_constant_term(made, 20);
    isl_options_set_schedule_treat_coalescing(made, 1);
    return made;
  }();
  return isl::ctx(ctx);
}

std::int64_t take_int(__isl_take isl_val* value) {
  if (!value) isl::exception::throw_last_error(isl_context());
  const std::int64_t x = isl_val_get_num_si(value);
  isl_val_free(value);
  return x;
}

Budget Budget::part(double fraction) const {
  Budget b = *this;
  if (deadline) {
    const auto now = std::chrono::steady_clock::now();
    b.deadline = now + std::chrono::duration_cast<std::chrono::steady_clock::duration>((*deadline - now) * fraction);
  }
  return b;
}

bool Budget::expired() const { return deadline && std::chrono::steady_clock::now() >= *deadline; }

bool cut_off() {
  isl_ctx* ctx = isl_context().get();
  const isl_error last = isl_ctx_last_error(ctx);
  return last == isl_error_quota || last == isl_error_abort || isl_ctx_aborted(ctx);
}

Result<Done> guarded(const std::string& stage, const Budget& budget, const std::function<void()>& fn) {
  isl_ctx* ctx = isl_context().get();
  if (budget.expired()) return diagnose(Code::kBudgetExhausted, {}, {stage, "no time left"});
  const unsigned long outer = isl_ctx_get_max_operations(ctx);
  isl_ctx_reset_operations(ctx);
  isl_ctx_set_max_operations(ctx, budget.operations);
  std::optional<Diagnostic> failure;
  {
    Watchdog watchdog(ctx, budget);
    try {
      fn();
      // C functions answer an empty object with a value that means something else: what came after a cut is not to be believed.
      if (cut_off()) failure = diagnose(Code::kBudgetExhausted, {}, {stage, "isl's quota"});
    } catch (const isl::exception_quota&) {
      failure = diagnose(Code::kBudgetExhausted, {}, {stage, "isl's operation quota"});
    } catch (const isl::exception_abort&) {
      failure = diagnose(Code::kBudgetExhausted, {}, {stage, "the time limit"});
    } catch (const isl::exception& e) {
      failure = cut_off() || budget.expired() ? diagnose(Code::kBudgetExhausted, {}, {stage, "isl's quota"})
                                              : diagnose(Code::kInternalError, {}, {stage, e.what()});
    }
  }
  isl_ctx_resume(ctx);
  isl_ctx_reset_error(ctx);
  isl_ctx_reset_operations(ctx);
  isl_ctx_set_max_operations(ctx, outer);
  if (failure) return *failure;
  return Done{};
}

isl::set read_set(const std::string& text) { return isl::set(isl_context(), text); }
isl::map read_map(const std::string& text) { return isl::map(isl_context(), text); }

namespace {

// What was parsed, per thread as contexts are; emptied when full, so that it does not grow with the number of programs.
constexpr std::size_t kMostTexts = 2000;

template <class Value>
const Value& parsed(const std::string& text) {
  thread_local std::unordered_map<std::string, Value> known;
  const auto it = known.find(text);
  if (it != known.end()) return it->second;
  if (known.size() >= kMostTexts) known.clear();
  return known.emplace(text, Value(isl_context(), text)).first->second;
}

}  // namespace

isl::set read_set(const std::string& parameters, const std::string& tuple, const std::string& dimensions,
                  const std::string& constraints) {
  const isl::set& plain = parsed<isl::set>(parameters + "{ " + dimensions + " : " + constraints + " }");
  return isl::manage(isl_set_set_tuple_name(plain.copy(), tuple.c_str()));
}

isl::map read_map(const std::string& parameters, const std::string& domain, const std::string& domain_dimensions,
                  const std::string& range, const std::string& range_dimensions, const std::string& constraints) {
  const isl::map& plain =
      parsed<isl::map>(parameters + "{ " + domain_dimensions + " -> " + range_dimensions + " : " + constraints + " }");
  isl_map* named = isl_map_set_tuple_name(plain.copy(), isl_dim_in, domain.c_str());
  return isl::manage(isl_map_set_tuple_name(named, isl_dim_out, range.c_str()));
}

isl::set empty_like(const isl::set& set) { return isl::manage(isl_set_empty(isl_set_get_space(set.get()))); }

isl::pw_aff read_pw_aff(const std::string& text) { return isl::pw_aff(isl_context(), text); }
isl::map all_pairs(const isl::set& domain, const isl::set& range) {
  return isl::manage(isl_map_from_domain_and_range(domain.copy(), range.copy()));
}
isl::union_map empty_union_map() { return isl::union_map(isl_context(), "{ }"); }
isl::union_set empty_union_set() { return isl::union_set(isl_context(), "{ }"); }

isl::schedule schedule_from_domain(const isl::union_set& domain) {
  return isl::manage(isl_schedule_from_domain(domain.copy()));
}

isl::schedule schedule_sequence(const isl::schedule& first, const isl::schedule& second) {
  return isl::manage(isl_schedule_sequence(first.copy(), second.copy()));
}

isl::schedule schedule_insert_loop(const isl::schedule& below, const isl::multi_union_pw_aff& member, const std::string& mark) {
  const isl::schedule with = isl::manage(isl_schedule_insert_partial_schedule(below.copy(), member.copy()));
  isl_schedule_node* node = isl_schedule_node_child(isl_schedule_get_root(with.get()), 0);
  node = isl_schedule_node_band_member_set_ast_loop_type(node, 0, isl_ast_loop_atomic);
  node = isl_schedule_node_insert_mark(node, isl_id_alloc(isl_context().get(), mark.c_str(), nullptr));
  const isl::schedule result = isl::manage(isl_schedule_node_get_schedule(node));
  isl_schedule_node_free(node);
  return result;
}

isl::map compare_map(const isl::pw_aff& f, Compare op, const isl::pw_aff& g) {
  switch (op) {
    case Compare::kLess: return isl::manage(isl_pw_aff_lt_map(f.copy(), g.copy()));
    case Compare::kEqual: return isl::manage(isl_pw_aff_eq_map(f.copy(), g.copy()));
    case Compare::kGreater: break;
  }
  return isl::manage(isl_pw_aff_gt_map(f.copy(), g.copy()));
}

std::pair<std::int64_t, std::int64_t> distance_range(const isl::map& pairs, const isl::pw_aff& f, const isl::pw_aff& g) {
  isl_map* values = isl_map_apply_domain(pairs.copy(), isl_map_from_pw_aff(f.copy()));
  return first_dimension_range(isl_map_deltas(isl_map_apply_range(values, isl_map_from_pw_aff(g.copy()))));
}

std::optional<std::int64_t> least_distance(const isl::map& pairs, const isl::pw_aff& f, const isl::pw_aff& g) {
  if (pairs.is_empty()) return 0;
  isl_map* values = isl_map_apply_domain(pairs.copy(), isl_map_from_pw_aff(f.copy()));
  isl_val* low = isl_set_dim_min_val(isl_map_deltas(isl_map_apply_range(values, isl_map_from_pw_aff(g.copy()))), 0);
  std::optional<std::int64_t> least;
  if (low && isl_val_is_int(low) == isl_bool_true) least = isl_val_get_num_si(low);
  isl_val_free(low);
  return least;
}

std::optional<Point> smallest_point(const isl::set& set) {
  if (set.is_empty()) return std::nullopt;
  const unsigned np = static_cast<unsigned>(isl_set_dim(set.get(), isl_dim_param));
  std::vector<std::string> names;
  for (unsigned i = 0; i < np; ++i) names.push_back(dim_name(set.get(), i));
  isl_set* flat = isl_set_flatten(isl_set_reset_tuple_id(set.copy()));
  isl_set* moved = isl_set_move_dims(flat, isl_dim_set, 0, isl_dim_param, 0, np);
  isl_point* point = isl_set_sample_point(isl_set_lexmin(moved));
  if (!point) isl::exception::throw_last_error(isl_context());
  isl_space* space = isl_point_get_space(point);
  const unsigned n = static_cast<unsigned>(isl_space_dim(space, isl_dim_set));
  isl_space_free(space);
  Point result;
  for (unsigned i = 0; i < n; ++i) {
    const std::int64_t x = take_int(isl_point_get_coordinate_val(point, isl_dim_set, static_cast<int>(i)));
    if (i < np) {
      result.parameters.emplace_back(names[i], x);
    } else {
      result.coordinates.push_back(x);
    }
  }
  isl_point_free(point);
  return result;
}

std::optional<Point> smallest_point(const isl::map& map) { return smallest_point(isl::manage(isl_map_wrap(map.copy()))); }

std::vector<BoxDimension> box_hull(const isl::map& footprint) {
  std::vector<BoxDimension> box;
  const unsigned n = static_cast<unsigned>(isl_map_dim(footprint.get(), isl_dim_out));
  for (unsigned d = 0; d < n; ++d) {
    isl_map* one = footprint.copy();
    if (d + 1 < n) one = isl_map_project_out(one, isl_dim_out, d + 1, n - d - 1);
    if (d > 0) one = isl_map_project_out(one, isl_dim_out, 0, d);
    const isl::fixed_box hull = isl::manage(isl_map_get_range_simple_fixed_box_hull(one));
    isl_map_free(one);
    BoxDimension dimension;
    if (isl_fixed_box_is_valid(hull.get()) == isl_bool_true) {
      isl_multi_aff* offset = isl_fixed_box_get_offset(hull.get());
      dimension.offset = isl::manage(isl_multi_aff_get_aff(offset, 0));
      isl_multi_aff_free(offset);
      isl_multi_val* size = isl_fixed_box_get_size(hull.get());
      isl_val* v = isl_multi_val_get_val(size, 0);
      if (isl_val_is_int(v) == isl_bool_true) dimension.size = isl_val_get_num_si(v);
      isl_val_free(v);
      isl_multi_val_free(size);
    }
    box.push_back(dimension);
  }
  return box;
}

std::optional<DimensionBounds> dimension_bounds(const isl::map& part, unsigned dimension) {
  const int d = static_cast<int>(dimension);
  const auto single = [&](isl_pw_aff* bound) {
    return isl::manage(isl_pw_aff_gist(isl_pw_aff_coalesce(bound), isl_map_domain(part.copy())));
  };
  const isl::pw_aff low = single(isl_map_dim_min(part.copy(), d));
  const isl::pw_aff high = single(isl_map_dim_max(part.copy(), d));
  if (isl_pw_aff_isa_aff(low.get()) != isl_bool_true || isl_pw_aff_isa_aff(high.get()) != isl_bool_true) return std::nullopt;
  return DimensionBounds{low.as_aff(), high.as_aff()};
}

isl::pw_aff floor_div(const isl::pw_aff& f, std::int64_t size) {
  isl_val* by = isl_val_int_from_si(isl_context().get(), size);
  return isl::manage(isl_pw_aff_floor(isl_pw_aff_scale_down_val(f.copy(), by)));
}

isl::pw_aff multiply(const isl::pw_aff& f, std::int64_t factor) {
  return isl::manage(isl_pw_aff_scale_val(f.copy(), isl_val_int_from_si(isl_context().get(), factor)));
}

isl::pw_aff add_constant(const isl::pw_aff& f, std::int64_t value) {
  return isl::manage(isl_pw_aff_add_constant_val(f.copy(), isl_val_int_from_si(isl_context().get(), value)));
}

isl::pw_aff output_dimension(const isl::set& domain, unsigned position) {
  isl_local_space* space = isl_local_space_from_space(isl_set_get_space(domain.get()));
  return isl::manage(isl_pw_aff_from_aff(isl_aff_var_on_domain(space, isl_dim_set, position)));
}

isl::aff zero_aff(const isl::map& over_domain_of) {
  isl_space* space = isl_space_domain(isl_map_get_space(over_domain_of.get()));
  return isl::manage(isl_aff_zero_on_domain(isl_local_space_from_space(space)));
}

isl::set flat_domain(const isl::map& map, const std::string& tuple) {
  isl_set* flat = isl_set_flatten(isl_map_wrap(map.copy()));
  return isl::manage(isl_set_set_tuple_name(flat, tuple.c_str()));
}

bool involves(const isl::pw_aff& f, unsigned position) {
  return isl_pw_aff_involves_dims(f.get(), isl_dim_in, position, 1) == isl_bool_true;
}

bool is_box(const isl::set& set) {
  const unsigned n = dimensions(set);
  isl_set* flat = isl_set_reset_tuple_id(set.copy());
  isl_set* box = isl_set_universe(isl_set_get_space(flat));
  for (unsigned d = 0; d < n; ++d) {
    isl_set* one = isl_set_project_out(isl_set_copy(flat), isl_dim_set, d + 1, n - d - 1);
    one = isl_set_project_out(one, isl_dim_set, 0, d);
    one = isl_set_insert_dims(isl_set_insert_dims(one, isl_dim_set, 1, n - d - 1), isl_dim_set, 0, d);
    box = isl_set_intersect(box, one);
  }
  const isl_bool same = isl_set_is_equal(flat, box);
  isl_set_free(flat);
  isl_set_free(box);
  if (same == isl_bool_error) isl::exception::throw_last_error(isl_context());
  return same == isl_bool_true;
}

isl::set fix_parameters(const isl::set& set, const std::vector<std::pair<std::string, std::int64_t>>& parameters) {
  isl::set fixed = set;
  for (const auto& [name, value] : parameters)
    if (isl_set_find_dim_by_name(fixed.get(), isl_dim_param, name.c_str()) >= 0) fixed = fix_parameter(fixed, name, value);
  return fixed;
}

std::pair<std::int64_t, std::int64_t> value_range(const isl::pw_aff& f, const isl::set& domain,
                                                  const std::vector<std::pair<std::string, std::int64_t>>& parameters) {
  isl_set* fixed = fix_parameters(domain, parameters).release();
  return first_dimension_range(isl_map_range(isl_map_intersect_domain(isl_map_from_pw_aff(f.copy()), fixed)));
}

isl::map with_flat_range(const isl::map& f, const isl::map& g, const std::string& tuple) {
  isl_map* both = isl_map_flat_range_product(f.copy(), g.copy());
  return isl::manage(isl_map_set_tuple_name(both, isl_dim_out, tuple.c_str()));
}

std::pair<std::int64_t, std::int64_t> parameter_range(const isl::set& context, const std::string& name) {
  isl_set* set = isl_set_from_params(context.copy());
  const int position = isl_set_find_dim_by_name(set, isl_dim_param, name.c_str());
  return first_dimension_range(isl_set_move_dims(set, isl_dim_set, 0, isl_dim_param, static_cast<unsigned>(position), 1));
}

isl::set fix_parameter(const isl::set& context, const std::string& name, std::int64_t value) {
  const int position = isl_set_find_dim_by_name(context.get(), isl_dim_param, name.c_str());
  isl_val* v = isl_val_int_from_si(isl_context().get(), value);
  return isl::manage(isl_set_fix_val(context.copy(), isl_dim_param, static_cast<unsigned>(position), v));
}

isl::map with_range_tuple(const isl::map& map, const std::string& name) {
  return isl::manage(isl_map_set_tuple_name(map.copy(), isl_dim_out, name.c_str()));
}

isl::map map_to_values(const isl::set& domain, const std::vector<isl::pw_aff>& values) {
  isl_map* map = isl_map_from_domain(domain.copy());  // { S[i] -> [] }
  for (const isl::pw_aff& v : values) map = isl_map_flat_range_product(map, isl_map_from_pw_aff(v.copy()));
  return isl::manage(map);
}

unsigned dimensions(const isl::set& set) { return static_cast<unsigned>(isl_set_dim(set.get(), isl_dim_set)); }

std::string tuple_name(const isl::set& set) {
  const char* name = isl_set_get_tuple_name(set.get());
  return name ? name : "";
}

namespace {
std::string take(char* text) {
  std::string s = text ? text : "";
  free(text);
  return s;
}
}  // namespace

std::string text_of(const isl::set& set) { return take(isl_set_to_str(set.get())); }
std::string text_of(const isl::map& map) { return take(isl_map_to_str(map.get())); }
std::string text_of(const isl::pw_aff& pa) { return take(isl_pw_aff_to_str(pa.get())); }
std::string text_of(const isl::schedule& schedule) { return take(isl_schedule_to_str(schedule.get())); }

}  // namespace facet
