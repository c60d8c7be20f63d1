// A quotient q = floor(f / d) is the only integer with d q <= f <= d q + d - 1.
#include "polyhedral/ast/quotients.hpp"

#include <algorithm>

namespace facet {

namespace {

unsigned dims_of(const isl::aff& f, isl_dim_type type) { return static_cast<unsigned>(isl_aff_dim(f.get(), type)); }

isl::val coefficient(const isl::aff& f, isl_dim_type type, unsigned k) {
  return isl::manage(isl_aff_get_coefficient_val(f.get(), type, static_cast<int>(k)));
}

bool is_zero(const isl::val& v) { return isl_val_is_zero(v.get()) == isl_bool_true; }

std::vector<unsigned> used(const isl::aff& f, isl_dim_type type) {
  std::vector<unsigned> list;
  for (unsigned k = 0; k < dims_of(f, type); ++k)
    if (!is_zero(coefficient(f, type, k))) list.push_back(k);
  return list;
}

// f / d of the quotient floor(f / d) that is dimension k of the function's divs.
isl::aff ratio_of(const isl::aff& f, unsigned k) { return isl::manage(isl_aff_get_div(f.get(), static_cast<int>(k))); }

bool same(const isl::aff& a, const isl::aff& b) { return isl_aff_plain_is_equal(a.get(), b.get()) == isl_bool_true; }

// i - d floor(i / d) is a remainder: isl knows its values.
bool is_remainder(const isl::aff& f, unsigned div) {
  const isl::val denominator = isl::manage(isl_aff_get_denominator_val(ratio_of(f, div).get()));
  const isl::val sum = isl::manage(isl_val_add(coefficient(f, isl_dim_div, div).release(), denominator.copy()));
  return is_zero(sum);
}

bool wants_lifting(const isl::aff& f) {
  const std::vector<unsigned> divs = used(f, isl_dim_div);
  const auto nested = [&](unsigned k) { return !used(ratio_of(f, k), isl_dim_div).empty(); };
  if (divs.empty() || std::any_of(divs.begin(), divs.end(), nested)) return false;
  return divs.size() > 1 || (!used(f, isl_dim_in).empty() && !is_remainder(f, divs[0]));
}

// One statement's quotients and its instances with them.
class Lifting {
 public:
  Lifting(const TreePtr& tree, int statement, isl::set domain) : domain_(std::move(domain)) {
    const std::vector<TreePtr> loops = loops_around(tree, statement);
    for (const TreePtr& loop : loops) {
      const isl::pw_aff& member = loop->member.at(statement);
      if (isl_pw_aff_isa_aff(member.get()) != isl_bool_true) continue;
      const isl::aff f = member.as_aff();
      if (!wants_lifting(f)) continue;
      for (const unsigned k : used(f, isl_dim_div)) add(ratio_of(f, k));
    }
    for (std::size_t q = 0; q < ratios_.size(); ++q) bound(q);
  }

  bool empty() const { return ratios_.empty(); }
  const isl::set& domain() const { return domain_; }

  isl::pw_aff rewrite(const isl::pw_aff& member) const {
    if (isl_pw_aff_isa_aff(member.get()) != isl_bool_true) return extended(member);
    isl::aff f = member.as_aff();
    isl_pw_aff* sum = isl_pw_aff_from_aff(isl_aff_zero_on_domain_space(isl_set_get_space(domain_.get())));
    for (const unsigned k : used(f, isl_dim_div)) {
      const isl::aff q = ratio_of(f, k);
      for (std::size_t i = 0; i < ratios_.size(); ++i) {
        if (!same(ratios_[i], q)) continue;
        const isl::val c = coefficient(f, isl_dim_div, k);
        f = isl::manage(isl_aff_set_coefficient_si(f.release(), isl_dim_div, static_cast<int>(k), 0));
        sum = isl_pw_aff_add(sum, isl_pw_aff_scale_val(isl_pw_aff_from_aff(variable(i).release()), c.copy()));
      }
    }
    return isl::manage(isl_pw_aff_add(sum, extended(isl::pw_aff(f)).release()));
  }

 private:
  void add(const isl::aff& q) {
    if (std::any_of(ratios_.begin(), ratios_.end(), [&](const isl::aff& have) { return same(have, q); })) return;
    ratios_.push_back(q);
  }

  // domain_ gets the dimension of quotient q.
  void bound(std::size_t q) {
    const isl::aff& ratio = ratios_[q];
    const isl::val denominator = isl::manage(isl_aff_get_denominator_val(ratio.get()));
    isl_id* name = isl_set_get_tuple_id(domain_.get());
    domain_ = isl::manage(isl_set_set_tuple_id(isl_set_add_dims(domain_.release(), isl_dim_set, 1), isl_id_copy(name)));
    isl_id_free(name);
    const unsigned at = static_cast<unsigned>(isl_set_dim(domain_.get(), isl_dim_set)) - 1;
    isl_aff* f = isl_aff_scale_val(ratio.copy(), denominator.copy());
    f = isl_aff_add_dims(f, isl_dim_in, static_cast<unsigned>(q) + 1);
    isl_space* space = isl_set_get_space(domain_.get());
    f = isl_aff_set_tuple_id(f, isl_dim_in, isl_space_get_tuple_id(space, isl_dim_set));
    isl_aff* low = isl_aff_var_on_domain(isl_local_space_from_space(space), isl_dim_set, at);
    low = isl_aff_scale_val(low, denominator.copy());
    isl_aff* high =
        isl_aff_add_constant_val(isl_aff_copy(low), isl_val_sub(denominator.copy(), isl_val_one(isl_context().get())));
    isl_set* between = isl_aff_ge_set(isl_aff_copy(f), low);
    between = isl_set_intersect(between, isl_aff_le_set(f, high));
    domain_ = isl::manage(isl_set_intersect(domain_.release(), between));
  }

  isl::aff variable(std::size_t q) const {
    isl_space* space = isl_set_get_space(domain_.get());
    const unsigned first = static_cast<unsigned>(isl_space_dim(space, isl_dim_set)) - static_cast<unsigned>(ratios_.size());
    return isl::manage(isl_aff_var_on_domain(isl_local_space_from_space(space), isl_dim_set, first + static_cast<unsigned>(q)));
  }

  // The same function on instances with quotients.
  isl::pw_aff extended(const isl::pw_aff& f) const {
    isl_pw_aff* wide = isl_pw_aff_add_dims(f.copy(), isl_dim_in, static_cast<unsigned>(ratios_.size()));
    return isl::manage(isl_pw_aff_set_tuple_id(wide, isl_dim_in, isl_set_get_tuple_id(domain_.get())));
  }

  std::vector<isl::aff> ratios_;
  isl::set domain_;
};

TreePtr rewrite_members(const TreePtr& tree, const std::map<int, Lifting>& liftings) {
  Tree copy = *tree;
  for (auto& [statement, member] : copy.member)
    if (const auto it = liftings.find(statement); it != liftings.end()) member = it->second.rewrite(member);
  for (TreePtr& c : copy.children) c = rewrite_members(c, liftings);
  return std::make_shared<const Tree>(std::move(copy));
}

}  // namespace

LiftedOrder lift_quotients(const TreePtr& tree, const std::map<int, isl::set>& domains) {
  LiftedOrder order{tree, domains};
  std::map<int, Lifting> liftings;
  for (const int s : statements_of(tree)) {
    Lifting made(tree, s, domains.at(s));
    if (made.empty()) continue;
    order.domains.at(s) = made.domain();
    liftings.emplace(s, std::move(made));
  }
  if (!liftings.empty()) order.tree = rewrite_members(tree, liftings);
  return order;
}

}  // namespace facet
