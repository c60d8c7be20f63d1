// Arrays with a part for each iteration of a loop.
#include "polyhedral/transform/part_array.hpp"

#include "polyhedral/affine.hpp"
#include "polyhedral/transform/bounds_text.hpp"

namespace facet {

PartArray::PartArray(const Schedule& schedule, Arguments& args, std::string array, std::string name,
                     std::vector<TreePtr> around, const std::vector<int>& users)
    : schedule_(schedule), array_(std::move(array)), name_(std::move(name)), around_(std::move(around)) {
  for (const TreePtr& loop : around_) {
    std::optional<isl::map> values;  // { [] -> [f] }
    const std::string& called = loop->names.at(users[0]);
    for (const int s : users) {
      const isl::pw_aff& f = loop->member.at(s);
      if (!f.isa_aff()) {
        args.refuse("the value of loop '" + called + "' for '" + schedule_.statement(s).name + "' is no single expression",
                    {"choose another loop"});
        return;
      }
      const isl::set& domain = schedule_.statement(s).domain;
      const isl::map mine = map_to_values(domain, {}).reverse().apply_range(map_to_values(domain, {f}));
      values = values ? values->unite(mine) : mine;
    }
    const std::optional<DimensionBounds> bounds = dimension_bounds(*values, 0);
    if (!bounds) {
      const std::string what = loop->comment.empty() ? "" : " (" + loop->comment + ")";
      args.refuse("'" + array_ + "' would have a part for each iteration of loop '" + called + "'" + what + ", which runs " +
                      bounds_text(*values, 0) + ", as the sizes are: parts are numbered from one first iteration to one last",
                  {"name a loop inside it whose bounds do not depend on the sizes in several ways",
                   "or a variant for each case, as \"when\": \"N >= 10\", in which one bound holds"});
      return;
    }
    low_.push_back(expr_of(bounds->low, {}));
    extents_.push_back(extent_of(*bounds, schedule_.scop->context));
  }
}

PartArray::Iteration PartArray::of_member(int statement) const {
  Iteration at;
  std::vector<ExprPtr> instance;
  for (const std::string& i : schedule_.statement(statement).iterators) instance.push_back(index(i));
  for (const TreePtr& loop : around_) {
    at.values.push_back(loop->member.at(statement));
    at.texts.push_back(expr_of(at.values.back().as_aff(), instance));
  }
  return at;
}

PartArray::Iteration PartArray::of_iterators(const Statement& made) const {
  Iteration at;
  for (std::size_t k = 0; k < around_.size(); ++k) {
    at.values.push_back(output_dimension(made.domain, static_cast<unsigned>(k)));
    at.texts.push_back(index(made.iterators[k]));
  }
  return at;
}

// { S[i] -> [o - low] }
isl::map PartArray::positions(const Statement& st, const Iteration& at) const {
  std::vector<isl::pw_aff> all;
  const std::string head =
      parameter_prefix(schedule_.scop->symbols) + "{ " + tuple_text(tuple_name(st.domain), st.iterators.size()) + " -> [(";
  for (std::size_t k = 0; k < low_.size(); ++k)
    all.push_back(at.values[k].sub(read_pw_aff(head + *isl_text(low_[k], {}) + ")] }")));
  return map_to_values(st.domain, all);
}

std::vector<ExprPtr> PartArray::subscripts(const Iteration& at, const std::vector<ExprPtr>& element) const {
  std::vector<ExprPtr> all;
  for (std::size_t k = 0; k < low_.size(); ++k) all.push_back(idx_sub(at.texts[k], low_[k]));
  for (std::size_t d = 0; d < element.size(); ++d)
    all.push_back(offsets_.empty() ? element[d] : idx_sub(element[d], expr_of(offsets_[d], at.texts)));
  return all;
}

void PartArray::move(const Statement& st, Access& a, const Iteration& at) const {
  if (a.array != array_) return;
  const isl::map outer = map_to_values(st.domain, at.values);
  const auto relative = [&](const isl::map& elements) {  // { S[i] -> [e - offset] }
    if (offsets_.empty()) return elements;
    isl::map both = elements;  // { S[i] -> [e.., offset..] }
    std::string names, differences;
    for (std::size_t d = 0; d < offsets_.size(); ++d) {
      both = with_flat_range(both, outer.apply_range(offsets_[d].as_map()), "both");
      names += (d ? ", e" : "e") + std::to_string(d);
      differences += (d ? ", e" : "e") + std::to_string(d) + " - f" + std::to_string(d);
    }
    for (std::size_t d = 0; d < offsets_.size(); ++d) names += ", f" + std::to_string(d);
    return both.apply_range(read_map("{ both[" + names + "] -> [" + differences + "] }"));
  };
  const isl::map position = positions(st, at);
  a.array = name_;
  a.relation = with_flat_range(position, relative(a.reach ? *a.reach : a.relation), array_id(name_));  // padding is in the part
  a.whole = a.reach ? a.relation : with_flat_range(position, relative(a.whole), array_id(name_));
  a.reach.reset();
}

void PartArray::move_reads(Statement& st, const Iteration& at) const {
  for (Access& r : st.reads) move(st, r, at);
  st.value = rewrite(st.value, [&](const ExprPtr& e) -> ExprPtr {
    if (e->op != Op::kRead || e->name != array_) return e;
    Expr changed = *e;
    changed.name = name_;
    changed.args = subscripts(at, e->args);
    changed.pad = nullptr;  // a part holds the padding
    return std::make_shared<const Expr>(std::move(changed));
  });
}

void PartArray::move_write(Statement& st, const Iteration& at) const {
  move(st, st.write, at);
  st.target = name_;
  st.subscripts = subscripts(at, st.subscripts);
}

}  // namespace facet
