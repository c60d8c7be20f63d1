// What Winograd's rewrite may take: by accesses and domains, whatever operator, equation or loop nest they come from.
#include <algorithm>
#include <set>

#include "facet/expr_facts.hpp"
#include "facet/expr_walk.hpp"
#include "polyhedral/affine.hpp"
#include "polyhedral/model.hpp"
#include "polyhedral/rewrite/winograd.hpp"

namespace facet {

namespace {

bool is_literal(const ExprPtr& e, std::int64_t value) {
  return e->op == Op::kLiteral &&
         (is_float(e->type) ? e->float_value == static_cast<double>(value) && e->int_value == 0 : e->int_value == value);
}

bool is_zero(const ExprPtr& e) { return e->op == Op::kLiteral && e->float_value == 0 && e->int_value == 0; }

class Match {
 public:
  Match(const Scop& scop, int statement) : scop_(scop), s_(scop.statements[static_cast<std::size_t>(statement)]) {
    found_.statement = statement;
  }

  std::optional<WindowProduct> run(std::string* why) {
    check();
    *why = why_;
    return why_.empty() ? std::optional(found_) : std::nullopt;
  }

 private:
  const Scop& scop_;
  const Statement& s_;
  WindowProduct found_;
  std::string why_;

  void refuse(const std::string& why) {
    if (why_.empty()) why_ = why;
  }

  const Range& range_of(const std::string& name) const {
    return *std::find_if(s_.ranges.begin(), s_.ranges.end(), [&](const Range& r) { return r.name == name; });
  }
  bool is_output(const std::string& name) const { return mentions_index(s_.subscripts, name); }

  void check() {
    if (s_.update != ReduceKind::kSum) return refuse("'" + s_.name + "' is no sum");
    const DType type = s_.value->type;
    if (type != DType::kF32 && type != DType::kF64)
      return refuse("it computes in " + to_text(type) + ": only f32 and f64 are rounded as this needs");
    if (s_.value->op != Op::kMul || s_.value->args[0]->op != Op::kRead || s_.value->args[1]->op != Op::kRead)
      return refuse("the value of '" + s_.name + "' is not the product of two elements as they are");
    plain_output();
    if (why_.empty()) operands();
    if (why_.empty()) windows();
    if (why_.empty()) filters();
    if (why_.empty()) box(s_);
    if (why_.empty()) stays_inside();
    if (why_.empty()) start();
  }

  void plain_output() {
    std::set<std::string> seen;
    for (const ExprPtr& e : s_.subscripts)
      if (e->op != Op::kIndex || !std::count(s_.iterators.begin(), s_.iterators.end(), e->name) || !seen.insert(e->name).second)
        return refuse("'" + s_.target + "' is not indexed by plain indices");
  }

  // x is the one whose subscripts add two indices.
  void operands() {
    const Expr *a = s_.value->args[0].get(), *b = s_.value->args[1].get();
    const auto adds = [&](const Expr& e) {
      return std::any_of(e.args.begin(), e.args.end(), [&](const ExprPtr& x) { return !window_of(x).empty(); });
    };
    if (!adds(*a)) std::swap(a, b);
    if (!adds(*a)) return refuse("no operand has windows, as x[p + r, q + s]");
    found_.x = a;
    found_.w = b;
    if (a->name == s_.target || b->name == s_.target) refuse("it reads '" + s_.target + "' itself");
    if (b->pad) refuse("the filters are read with a padding value");
    if (a->pad && !is_zero(a->pad)) refuse("the padding value is not 0");
  }

  // An index of the output and one of the reduction, when the subscript mentions such two.
  std::vector<std::string> window_of(const ExprPtr& e) const {
    std::vector<std::string> places, taps;
    for (const std::string& name : s_.iterators)
      if (mentions_index(e, name)) (is_output(name) ? places : taps).push_back(name);
    if (places.empty() || taps.empty() || places.size() + taps.size() < 2) return {};
    // A group's channels are c + 8 * (m / 4): no window.
    if (e->op != Op::kIndex && places.size() == 1 && taps.size() == 1 && Model::step(e, places[0])) return {places[0], taps[0]};
    return {};
  }

  void windows() {
    std::size_t found = 0;
    for (std::size_t d = 0; d < found_.x->args.size(); ++d) {
      const ExprPtr& e = found_.x->args[d];
      const std::vector<std::string> window = window_of(e);
      if (window.empty()) continue;
      if (found == 2) return refuse("there are windows along three dimensions of '" + found_.x->name + "'");
      const std::string what = "along dimension " + std::to_string(d) + " of '" + found_.x->name + "' ";
      if (Model::step(e, window[0]) != 1) return refuse(what + "windows have a stride");
      if (Model::step(e, window[1]) != 1) return refuse(what + "windows are dilated");
      const Range &tap = range_of(window[1]), &place = range_of(window[0]);
      if (!is_literal(tap.lower, 0) || !is_literal(tap.upper, 3)) return refuse(what + "windows are not 3 wide");
      SymbolValues zero;
      bool constant = true;
      walk(e, [&](const Expr& x) {
        if (x.op == Op::kIndex) zero[x.name] = 0;
        constant = constant && (x.op != Op::kIndex || x.name == window[0] || x.name == window[1]);
      });
      if (!constant) return refuse(what + "the windows' place depends on more");
      found_.x_dimension[found] = d;
      found_.place[found] = window[0];
      found_.tap[found] = window[1];
      found_.offset[found] = evaluate_index(e, zero);
      found_.extent[found++] = place.upper;
    }
    if (found < 2) return refuse("there are windows along one dimension only");
    if (found_.place[0] == found_.place[1] || found_.tap[0] == found_.tap[1]) return refuse("the windows lie on a diagonal");
    if (found_.extent[1]->op != Op::kLiteral) return refuse("the extent of '" + found_.place[1] + "' is no constant");
    if (found_.x->args.size() < 3) return refuse("there is no sum over channels");
    only_in_windows();
  }

  void only_in_windows() {
    for (int k = 0; k < 2; ++k)
      for (std::size_t d = 0; d < found_.x->args.size(); ++d)
        if (d != found_.x_dimension[static_cast<std::size_t>(k)] &&
            (mentions_index(found_.x->args[d], found_.place[static_cast<std::size_t>(k)]) ||
             mentions_index(found_.x->args[d], found_.tap[static_cast<std::size_t>(k)])))
          return refuse("'" + found_.x->name + "' has an index of a window elsewhere too");
    for (const ExprPtr& e : found_.x->args)
      walk(e, [&](const Expr& x) {
        if (x.op == Op::kRead) refuse("'" + found_.x->name + "' is read where data say");
      });
  }

  void filters() {
    std::set<std::string> seen;
    for (std::size_t d = 0; d < found_.w->args.size(); ++d) {
      const ExprPtr& e = found_.w->args[d];
      if (e->op != Op::kIndex || !std::count(s_.iterators.begin(), s_.iterators.end(), e->name) || !seen.insert(e->name).second)
        return refuse("the filters '" + found_.w->name + "' are not indexed by plain indices");
      for (std::size_t k = 0; k < 2; ++k) {
        if (e->name == found_.tap[k]) found_.w_dimension[k] = d;
        if (e->name == found_.place[k]) return refuse("the filters differ from place to place");
      }
      if (is_output(e->name)) found_.lanes = e->name;
    }
    if (!seen.count(found_.tap[0]) || !seen.count(found_.tap[1])) return refuse("the filters do not have both taps");
    if (found_.lanes.empty()) return refuse("the filters have no index of '" + s_.target + "'");
    for (const std::string& name : s_.iterators)
      if (!is_output(name) && name != found_.tap[0] && name != found_.tap[1]) return;
    refuse("there is no sum over channels");
  }

  // Every index runs from 0, whatever the others are.
  void box(const Statement& s) {
    std::string bounds = "1 = 1";
    for (std::size_t k = 0; k < s.ranges.size(); ++k) {
      const std::optional<std::string> upper = isl_text(s.ranges[k].upper, {});
      if (!is_literal(s.ranges[k].lower, 0) || !upper)
        return refuse("'" + s.ranges[k].name + "' does not run from 0 to a bound of its own");
      bounds += " and 0 <= i" + std::to_string(k) + " < " + *upper;
    }
    const std::string id = statement_id(s.name);
    const isl::set whole = read_set(parameter_prefix(scop_.symbols), id, tuple_text("", s.iterators.size()), bounds);
    if (!s.domain.is_equal(whole.intersect_params(scop_.context)) && !s.domain.is_equal(whole))
      refuse("the domain of '" + s.name + "' is no box");
  }

  // Outside the windows' dimensions x is read inside: a tile holds what others read there too.
  void stays_inside() {
    const Access* access = nullptr;
    for (const Access& a : s_.reads)
      if (a.array == found_.x->name && (!access || a.reach)) access = &a;
    if (!found_.x->pad || !access || !access->reach) return;
    const std::vector<ExprPtr>& extents = scop_.arrays.at(found_.x->name).extents;
    std::string bounds = "1 = 1";
    for (std::size_t d = 0; d < extents.size(); ++d)
      if (d != found_.x_dimension[0] && d != found_.x_dimension[1])
        bounds += " and 0 <= i" + std::to_string(d) + " < " + *isl_text(extents[d], {});
    const isl::set inside =
        read_set(parameter_prefix(scop_.symbols), array_id(found_.x->name), tuple_text("", extents.size()), bounds);
    if (!access->reach->range().is_subset(inside)) refuse("'" + found_.x->name + "' is padded beside its windows too");
  }

  // The statement that the sum starts with: zero, everywhere, in a nest that both have alone.
  void start() {
    for (std::size_t s = 0; s < scop_.statements.size(); ++s) {
      const Statement& st = scop_.statements[s];
      if (static_cast<int>(s) == found_.statement || st.target != s_.target) continue;
      if (found_.init >= 0) return refuse("'" + s_.target + "' is written by other statements too");
      found_.init = static_cast<int>(s);
    }
    if (found_.init < 0) return refuse("'" + s_.target + "' does not start at 0");
    const Statement& init = scop_.statements[static_cast<std::size_t>(found_.init)];
    if (init.update || !is_zero(init.value)) return refuse("'" + s_.target + "' does not start at 0");
    if (!init.write.relation.range().is_equal(s_.write.relation.range()) || init.iterators.size() != s_.subscripts.size())
      return refuse("'" + init.name + "' and '" + s_.name + "' do not write the same elements once each");
    box(init);
    const TreePtr& root = scop_.original;
    for (const TreePtr& nest : root->kind == Tree::Kind::kSequence ? root->children : std::vector<TreePtr>{root}) {
      const std::vector<int> inside = statements_of(nest);
      if (inside == std::vector<int>{found_.init, found_.statement}) return;
    }
    refuse("'" + init.name + "' and '" + s_.name + "' do not have a nest of their own");
  }
};

}  // namespace

std::optional<WindowProduct> window_product(const Scop& scop, int statement, std::string* why) {
  return Match(scop, statement).run(why);
}

}  // namespace facet
