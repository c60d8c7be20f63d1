// The doorway to isl: contexts, quotas and watchdog, and the few operations the C++ bindings lack. Nobody else includes isl.
// A guard and not #pragma once: this header is precompiled, and GCC tells #pragma once headers apart by their time stamps.
#ifndef FACET_POLYHEDRAL_ISL_ISL_HPP
#define FACET_POLYHEDRAL_ISL_ISL_HPP

#include <isl/aff.h>
#include <isl/ast.h>
#include <isl/ast_build.h>
#include <isl/cpp.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "facet/result.hpp"

namespace facet {

// The calling thread's context. It lives as long as the process; isl objects never cross threads.
isl::ctx isl_context();

// The value's numerator. Throws isl's last error where there is no value: an operation that the deadline cut off leaves none,
// and isl itself takes that for 0.
std::int64_t take_int(__isl_take isl_val* value);

// How much one guarded call may cost. A deadline in the past means: no time left.
struct Budget {
  unsigned long operations = 200'000'000;  // isl's own count; 0 is unlimited
  std::optional<std::chrono::steady_clock::time_point> deadline;

  Budget part(double fraction) const;  // the same quota, at most `fraction` of the remaining time
  bool expired() const;
};

// Runs `fn` under the budget; isl's exceptions, a used-up quota and the watchdog's abort become a diagnostic that names
// `stage`. kBudgetExhausted means "fall back"; kInternalError is a bug of ours.
Result<Done> guarded(const std::string& stage, const Budget& budget, const std::function<void()>& fn);

// Did the budget of the guarded call end isl's last operation? An operation on an object that a quota or an abort left empty
// reports an invalid argument: the cause decides.
bool cut_off();

// Gaps in isl/cpp.h -------------------------------------------------------------------------------------------------------

isl::set read_set(const std::string& text);
isl::map read_map(const std::string& text);
// The same with the tuples' names apart: "[p_N] -> ", "S_h", "[i0, i1]", "0 <= i0 < p_N". Parsing is slow, and statements and
// arrays of one program differ mostly in their names, so each text is parsed once and then renamed.
isl::set read_set(const std::string& parameters, const std::string& tuple, const std::string& dimensions,
                  const std::string& constraints);
isl::map read_map(const std::string& parameters, const std::string& domain, const std::string& domain_dimensions,
                  const std::string& range, const std::string& range_dimensions, const std::string& constraints);
isl::set empty_like(const isl::set& set);  // no elements, the same space
isl::pw_aff read_pw_aff(const std::string& text);
isl::map all_pairs(const isl::set& domain, const isl::set& range);
isl::union_map empty_union_map();
isl::union_set empty_union_set();

isl::schedule schedule_from_domain(const isl::union_set& domain);
isl::schedule schedule_sequence(const isl::schedule& first, const isl::schedule& second);
// Inserts a one-member band on top, marked with `mark`, its loop option `atomic` (one loop, guards inside).
isl::schedule schedule_insert_loop(const isl::schedule& below, const isl::multi_union_pw_aff& member, const std::string& mark);

// isl's scheduler on these constraints, with its options set for this call only.
struct SchedulerOptions {
  bool serialize = false;          // every strongly connected component in a nest of its own
  bool maximize = false;           // whole components at once: as much fusion as validity allows
  bool outer_coincidence = false;  // the outermost loop of a band must be coincident
};
// Nothing where isl gives up on them, which it does now and then without an error.
std::optional<isl::schedule> compute_schedule(const isl::schedule_constraints& constraints, const SchedulerOptions& options);
// The part of `member` over the space of `domain`: { S[i] -> [time] }.
isl::pw_aff member_of(const isl::union_pw_aff& member, const isl::set& domain);
// Dimensions (d, e) with i_d = o_e in every pair { i -> o }, as far as the constraints say so outright.
std::vector<std::pair<unsigned, unsigned>> equal_dimensions(const isl::map& map);
// The one dimension that f involves; nullopt for none or several.
std::optional<unsigned> involved_dimension(const isl::pw_aff& f);
// Is f, of dimension d alone, the same function as g of dimension e alone?
bool same_function(const isl::pw_aff& f, unsigned d, const isl::pw_aff& g, unsigned e);
// d where f(i) = i_d + c or -i_d + c with c free of the other dimensions; nullopt otherwise.
std::optional<unsigned> only_dimension(const isl::pw_aff& f);

// { S[i] -> T[j] : f(i) OP g(j) } for one-dimensional f over S and g over T.
enum class Compare { kLess, kEqual, kGreater };
isl::map compare_map(const isl::pw_aff& f, Compare op, const isl::pw_aff& g);

// Smallest and largest g(j) - f(i) over all pairs { i -> j } and all parameters; {0, -1} when there is none or no bound.
std::pair<std::int64_t, std::int64_t> distance_range(const isl::map& pairs, const isl::pw_aff& f, const isl::pw_aff& g);
// The smallest of them alone; of no pairs 0, nullopt when there is no bound.
std::optional<std::int64_t> least_distance(const isl::map& pairs, const isl::pw_aff& f, const isl::pw_aff& g);

// A point of a set with its parameters: the lexicographically smallest, parameters first; nullopt when empty. Of a relation:
// the coordinates of its domain first, then of its range.
struct Point {
  std::vector<std::pair<std::string, std::int64_t>> parameters;
  std::vector<std::int64_t> coordinates;
};
std::optional<Point> smallest_point(const isl::set& set);
std::optional<Point> smallest_point(const isl::map& map);

// Box hull of { outer -> element } with constant sizes: per element dimension an offset (affine in the outer dimensions) and
// its size, or nullopt where no constant size exists.
struct BoxDimension {
  std::optional<isl::aff> offset;  // { [outer] -> [offset] }
  std::optional<std::int64_t> size;
};
std::vector<BoxDimension> box_hull(const isl::map& footprint);

// Smallest and largest value of one element dimension of { [] -> element }, where each is a single expression of the
// parameters.
struct DimensionBounds {
  isl::aff low, high;
};
std::optional<DimensionBounds> dimension_bounds(const isl::map& part, unsigned dimension);

isl::pw_aff floor_div(const isl::pw_aff& f, std::int64_t size);  // floor(f / size)
isl::pw_aff multiply(const isl::pw_aff& f, std::int64_t factor);
isl::pw_aff add_constant(const isl::pw_aff& f, std::int64_t value);
isl::pw_aff output_dimension(const isl::set& domain, unsigned position);  // { S[i] -> [i_position] }

// One polyhedron around all pairs, without new constraints: as large as the union or larger.
isl::map simple_hull(const isl::map& map);

// { [i..] -> A[e] } as { A[e] } for the values of the i that parameters of these names have.
isl::set range_by_parameters(const isl::map& map, const std::vector<std::string>& names);

isl::aff zero_aff(const isl::map& over_domain_of);                    // { [outer] -> [0] }
isl::set flat_domain(const isl::map& map, const std::string& tuple);  // { [o] -> A[e] } as { tuple[o.., e..] }

bool involves(const isl::pw_aff& f, unsigned position);  // does the value depend on this dimension of the domain?
bool is_box(const isl::set& set);  // the product of its projections: no bound depends on another dimension

// Smallest and largest value of f on `domain` with the parameters fixed; {0, -1} when the domain is empty or f unbounded.
std::pair<std::int64_t, std::int64_t> value_range(const isl::pw_aff& f, const isl::set& domain,
                                                  const std::vector<std::pair<std::string, std::int64_t>>& parameters);

// { S[i] -> tuple[f(i).., g(i)..] }.
isl::map with_flat_range(const isl::map& f, const isl::map& g, const std::string& tuple);

// The values that a parameter takes in { : ... }, {0, -1} when that is empty or unbounded; the set with it fixed.
std::pair<std::int64_t, std::int64_t> parameter_range(const isl::set& context, const std::string& name);
isl::set fix_parameter(const isl::set& context, const std::string& name, std::int64_t value);
// Those of them that the set has.
isl::set fix_parameters(const isl::set& set, const std::vector<std::pair<std::string, std::int64_t>>& parameters);

// The same under another tuple name; of a function: of its domain.
isl::set with_tuple(const isl::set& set, const std::string& name);
isl::pw_aff with_domain_tuple(const isl::pw_aff& f, const std::string& name);
isl::map with_domain_tuple(const isl::map& map, const std::string& name);
// { S[i] -> [f] } as { tuple[o.., i] -> [f] } with `count` dimensions in front.
isl::pw_aff with_leading_dimensions(const isl::pw_aff& f, unsigned count, const std::string& tuple);
isl::set fix_dimension(const isl::set& set, unsigned position, std::int64_t value);
// { S[i] } with `count` free dimensions more from `position` on; with as many less, projected out.
isl::set with_dimensions(const isl::set& set, unsigned position, unsigned count);
isl::set without_dimensions(const isl::set& set, unsigned position, unsigned count);

// { S[i] -> [values...] } on `domain`.
isl::map with_range_tuple(const isl::map& map, const std::string& name);
isl::map map_to_values(const isl::set& domain, const std::vector<isl::pw_aff>& values);

unsigned dimensions(const isl::set& set);
std::string tuple_name(const isl::set& set);
std::string text_of(const isl::set& set);
std::string text_of(const isl::map& map);
std::string text_of(const isl::pw_aff& pa);
std::string text_of(const isl::schedule& schedule);

}  // namespace facet

#endif  // FACET_POLYHEDRAL_ISL_ISL_HPP
