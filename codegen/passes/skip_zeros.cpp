// skip_zeros: sums over a padded copy leave out the products with its zeros.
//
//                                                        let w_skip = every w[c, r, s] is finite ? 0 : 2^30
//   for c                                                for c
//     for r in 0..3                                        for r in max(0, 1 - p - w_skip)..min(3, 15 - p + w_skip)
//       for s in 0..3                           -->          for s in 0..3
//         y_0 = fma(t[c, p + r, s], w[c, r, s], y_0)           if (s + w_skip >= 1) y_0 = fma(...)
//         y_1 = fma(t[c, p + r, s + 1], ...)                   y_1 = fma(...)
//
// A finite number plus a zero is that number, and zero times a finite number is zero: nothing but the sign of a zero changes.
// An infinity or NaN among the factors makes a NaN of a zero, so they are looked through first (their sum with a factor of zero
// is zero exactly where all are finite), and with one of them all products are formed. Integers need no look.
//
// A loop whose whole body is such sums, all outside for the same iterations, gets narrower bounds; single sums get a condition,
// sums with the same one share it. Not done: tests that lanes differ in, factors that are no plain reads, and what
// depth_of_scan finds too dear. oneDNN's direct convolutions leave the same taps out: at 7 x 7 points with windows of 3 x 3
// they are 18 % of all (6 % at 14 x 14 along each side). Measured on Zen 4: docs/performance.md.
#include <algorithm>

#include "codegen/passes/zeros.hpp"
#include "facet/expr_walk.hpp"

namespace facet::passes {

namespace {

constexpr std::int64_t kFar = std::int64_t{1} << 30;  // past every border
constexpr std::int64_t kMostUnrolled = 4;             // iterations of a scan side by side, so that additions overlap

bool contains_parallel(const LoopList& body) {
  bool found = false;
  walk_nodes(body, [&](const LoopPtr& n) {
    const For* f = as<For>(n);
    found = found || (f && f->kind == LoopKind::kParallel);
  });
  return found;
}

ExprPtr zero_of(const ExprPtr& like) {
  Expr e = *literal(like->type, 0);
  if (like->lanes == 1) return std::make_shared<const Expr>(std::move(e));
  Expr splat;
  splat.op = Op::kSplat;
  splat.type = like->type;
  splat.lanes = like->lanes;
  splat.args = {std::make_shared<const Expr>(std::move(e))};
  return std::make_shared<const Expr>(std::move(splat));
}

ExprPtr with_lanes(ExprPtr e, int lanes) {
  Expr copy = *e;
  copy.lanes = lanes;
  return std::make_shared<const Expr>(std::move(copy));
}

// The loops in front of which `terms` stand, made anew around sums of their factors times zero.
class Scan {
 public:
  Scan(const std::vector<PaddedTerm>& terms, std::size_t depth, Context& context) : context_(context) {
    for (const PaddedTerm& t : terms) {
      if (!is_float(t.factor->type)) continue;
      const std::vector<const For*> path(t.path.begin() + static_cast<std::ptrdiff_t>(depth), t.path.end());
      auto group = std::find_if(groups_.begin(), groups_.end(), [&](const Group& g) { return g.path == path; });
      if (group == groups_.end()) group = groups_.insert(groups_.end(), {path, {}});
      if (std::none_of(group->factors.begin(), group->factors.end(), [&](const ExprPtr& e) { return same(e, t.factor); }))
        group->factors.push_back(t.factor);
    }
  }

  // Statements in front, and how far bounds are moved: 0, or past every border.
  ExprPtr emit(LoopList& out) {
    if (groups_.empty()) return idx(0);
    LoopList loops;
    for (const Group& g : groups_) loops.push_back(nest(g, out));
    out.insert(out.end(), loops.begin(), loops.end());
    ExprPtr finite;
    for (const ExprPtr& sum : sums_) {
      const ExprPtr total = sum->lanes > 1 ? folded(sum) : sum;
      const ExprPtr test = binary(Op::kEq, total, literal(sum->type, 0));
      finite = finite ? binary(Op::kAnd, finite, test) : test;
    }
    const std::string name = context_.names.fresh(identifier(groups_[0].factors[0]->name) + "_skip");
    out.push_back(make_loop(Let{name, DType::kI64, 1, select(finite, idx(0), idx(kFar)), false}));
    return index_value(name);
  }

 private:
  struct Group {
    std::vector<const For*> path;
    std::vector<ExprPtr> factors;
  };
  Context& context_;
  std::vector<Group> groups_;
  std::vector<ExprPtr> sums_;  // one of each type and number of lanes, over all accumulators

  static std::string identifier(std::string name) {
    std::replace_if(
        name.begin(), name.end(), [](unsigned char c) { return !std::isalnum(c); }, '_');
    return name;
  }

  static ExprPtr folded(const ExprPtr& sum) {
    Expr e;
    e.op = Op::kLaneReduce;
    e.type = sum->type;
    e.reduce_kind = ReduceKind::kSum;
    e.args = {sum};
    return std::make_shared<const Expr>(std::move(e));
  }

  LoopPtr nest(const Group& g, LoopList& out) {
    std::vector<const For*> loops = loops_of(g.factors, g.path);  // innermost first
    std::reverse(loops.begin(), loops.end());
    std::vector<ExprPtr> reads = g.factors;
    const Linear length = loops.empty() ? Linear{} : difference(loops[0]->upper, loops[0]->lower);
    if (loops.size() > 1 && loops[0]->step == 1 && length.is_constant() && length.constant <= kMostUnrolled) {
      reads.clear();
      for (std::int64_t i = 0; i < length.constant; ++i)
        for (const ExprPtr& e : g.factors)
          reads.push_back(facet::substitute(e, {{loops[0]->iterator, to_expr(to_linear(idx_add(loops[0]->lower, idx(i))))}}));
      loops.erase(loops.begin());
    }
    LoopList body;
    for (const ExprPtr& e : reads) {
      const std::string name = context_.names.fresh(identifier(e->name) + "_zero");
      out.push_back(make_loop(Let{name, e->type, e->lanes, zero_of(e), true}));
      const ExprPtr sum = value_of(name, e->type, e->lanes);
      body.push_back(make_loop(Set{name, product_added(e, sum)}));
      add_up(sum);
    }
    for (const For* f : loops) {
      For copy = *f;
      copy.body = std::move(body);
      copy.comment.clear();
      copy.statement_loops.clear();
      copy.asked_by = -1;
      body = {make_loop(std::move(copy))};
    }
    return body.size() == 1 ? body[0] : make_loop(Sequence{body});
  }

  ExprPtr product_added(const ExprPtr& factor, const ExprPtr& sum) const {
    if (!context_.allows_contraction(factor->type))
      return with_lanes(binary(Op::kAdd, with_lanes(binary(Op::kMul, factor, zero_of(factor)), factor->lanes), sum),
                        factor->lanes);
    Expr e;
    e.op = Op::kFma;
    e.type = factor->type;
    e.lanes = factor->lanes;
    e.args = {factor, zero_of(factor), sum};
    return std::make_shared<const Expr>(std::move(e));
  }

  void add_up(const ExprPtr& sum) {
    for (ExprPtr& all : sums_) {
      if (all->type != sum->type || all->lanes != sum->lanes) continue;
      all = with_lanes(binary(Op::kAdd, all, sum), sum->lanes);
      return;
    }
    sums_.push_back(sum);
  }
};

// Leaves products out below the loop in front of which the scan stands.
class Skipping {
 public:
  Skipping(const std::vector<ZeroBorder>& borders, ExprPtr skip) : borders_(borders), skip_(std::move(skip)) {}

  LoopPtr in_loop(const For& f, TermScope scope) const {
    scope.enter(f);
    For copy = f;
    narrow(copy, scope);
    copy.body = in_block(f.body, scope);
    return make_loop(std::move(copy));
  }

 private:
  const std::vector<ZeroBorder>& borders_;
  ExprPtr skip_;

  // Sums of a block under one condition: statements by their place, the last of which is where they all go.
  struct Shared {
    ExprPtr condition;
    std::vector<std::size_t> places;
  };

  LoopList in_block(const LoopList& block, TermScope scope) const {
    const std::vector<Shared> groups = groups_of(block, scope);
    LoopList out;
    for (std::size_t i = 0; i < block.size(); ++i) {
      scope.see(block[i]);
      const auto own = std::find_if(groups.begin(), groups.end(), [&](const Shared& g) {
        return std::find(g.places.begin(), g.places.end(), i) != g.places.end();
      });
      if (own != groups.end()) {
        LoopList sums;
        for (const std::size_t at : own->places) sums.push_back(block[at]);
        if (own->places.back() == i) out.push_back(make_loop(If{own->condition, std::move(sums), {}, false}));
      } else if (const For* f = as<For>(block[i])) {
        out.push_back(in_loop(*f, scope));
      } else {
        out.push_back(rebuild(
            block[i], [](const ExprPtr& e) { return e; }, [&](const LoopList& list) { return in_block(list, scope); }));
      }
    }
    return out;
  }

  ExprPtr inside(const PaddedTerm& term) const {
    ExprPtr all;
    for (const BorderTest& t : term.tests) {
      if (t.before) all = both(all, binary(Op::kGe, idx_add(t.position, skip_), idx(0)));
      if (t.behind) all = both(all, binary(Op::kLt, idx_sub(t.position, skip_), t.extent));
    }
    return all;
  }
  static ExprPtr both(const ExprPtr& a, const ExprPtr& b) { return a ? binary(Op::kAnd, a, b) : b; }

  std::vector<Shared> groups_of(const LoopList& block, TermScope scope) const {
    std::vector<Shared> groups;
    for (std::size_t i = 0; i < block.size(); ++i) {
      scope.see(block[i]);
      PaddedTerm term;
      if (!term_of(block[i], scope, borders_, &term) || !only_mention(block, i, term.sum)) continue;
      const ExprPtr condition = inside(term);
      auto at = std::find_if(groups.begin(), groups.end(), [&](const Shared& g) { return same(g.condition, condition); });
      if (at == groups.end()) at = groups.insert(groups.end(), {condition, {}});
      at->places.push_back(i);
    }
    return groups;
  }

  // Sums move to the last one that shares their condition: nothing between may ask for them.
  static bool only_mention(const LoopList& block, std::size_t at, const std::string& name) {
    for (std::size_t i = 0; i < block.size(); ++i)
      if (i != at && passes::mentions(LoopList{block[i]}, name)) return false;
    return true;
  }

  // Are the sums all that the block does?
  bool only_terms(const LoopList& block, const TermScope& scope) const {
    TermScope here = scope;
    for (const LoopPtr& n : block) {
      here.see(n);
      PaddedTerm term;
      if (as<Let>(n) || as<Comment>(n) || as<Prefetch>(n) || term_of(n, here, borders_, &term)) continue;
      const For* f = as<For>(n);
      if (!f || f->kind != LoopKind::kSerial) return false;
      TermScope inner = here;
      inner.enter(*f);
      if (!only_terms(f->body, inner)) return false;
    }
    return true;
  }

  // Bounds for what all terms of the loop ask alike; `scope` then knows that they hold.
  void narrow(For& f, TermScope& scope) const {
    if (f.kind != LoopKind::kSerial || f.step != 1 || !only_terms(f.body, scope)) return;
    const std::vector<PaddedTerm> terms = terms_in(f.body, scope, borders_);
    if (terms.empty()) return;
    const std::set<std::string> within = introduced_names(f.body);
    const For original = f;
    for (const BorderTest& t : terms[0].tests) {
      if (to_linear(t.position).coefficient_of(f.iterator) != 1 || mentions_any(t.position, within)) continue;
      const bool alike = std::all_of(terms.begin(), terms.end(), [&](const PaddedTerm& other) {
        return std::any_of(other.tests.begin(), other.tests.end(),
                           [&](const BorderTest& o) { return same(o.position, t.position) && same(o.extent, t.extent); });
      });
      const ExprPtr rest = to_expr(difference(t.position, index(f.iterator)));
      if (!alike || mentions(rest, f.iterator)) continue;
      if (t.before) f.lower = idx_max(f.lower, to_expr(to_linear(idx_sub(idx_sub(idx(0), rest), skip_))));
      if (t.behind) f.upper = idx_min(f.upper, to_expr(to_linear(idx_add(idx_sub(t.extent, rest), skip_))));
      scope.facts.add_condition(binary(Op::kGe, t.position, idx(0)));
      scope.facts.add_condition(binary(Op::kLt, t.position, t.extent));
    }
  }
};

class Search {
 public:
  Search(const std::vector<ZeroBorder>& borders, Context& context) : borders_(borders), context_(context) {}

  // Named values in front of a loop are not looked into: their arrays may have changed since.
  LoopList in_block(const LoopList& block, const TermScope& scope) {
    LoopList out;
    for (const LoopPtr& n : block) {
      TermScope inner = scope;
      const For* f = as<For>(n);
      if (f == target_ && f) {
        const ExprPtr skip = Scan(terms_, inner.path.size(), context_).emit(out);
        out.push_back(Skipping(borders_, skip).in_loop(*f, scope));
        continue;
      }
      if (f) {
        if (!target_ && f->kind != LoopKind::kParallel && !contains_parallel(f->body)) {
          if (!choose(n, scope)) {
            out.push_back(n);
            continue;
          }
          const LoopList again = in_block({n}, scope);
          target_ = nullptr;
          out.insert(out.end(), again.begin(), again.end());
          continue;
        }
        inner.enter(*f);
      }
      out.push_back(rebuild(
          n, [](const ExprPtr& e) { return e; }, [&](const LoopList& list) { return in_block(list, inner); }));
    }
    return out;
  }

 private:
  const std::vector<ZeroBorder>& borders_;
  Context& context_;
  std::vector<PaddedTerm> terms_;
  const For* target_ = nullptr;

  bool choose(const LoopPtr& loop, const TermScope& scope) {
    terms_ = terms_in({loop}, scope, borders_);
    if (terms_.empty()) return false;
    const int depth = depth_of_scan(terms_, scope.path.size(), [&](std::size_t at) { return may_stand(at); });
    if (depth < 0) return false;
    target_ = terms_[0].path[static_cast<std::size_t>(depth)];
    context_.note("padding", target_->iterator, true, "products with zeros are left out where the other factors are finite");
    return true;
  }

  bool may_stand(std::size_t depth) const {
    const For& f = *terms_[0].path[depth];
    std::set<std::string> made = introduced_names(f.body);
    walk_nodes(f.body, [&](const LoopPtr& n) {
      if (const For* inner = as<For>(n)) made.erase(inner->iterator);
      if (const Store* s = as<Store>(n)) made.insert(s->buffer);
    });
    return std::none_of(terms_.begin(), terms_.end(), [&](const PaddedTerm& t) {
      bool changes = made.count(t.factor->name) > 0 || mentions_any(t.factor, made);
      for (std::size_t i = depth; i < t.path.size(); ++i)
        changes = changes || mentions_any(t.path[i]->lower, made) || mentions_any(t.path[i]->upper, made);
      return changes;
    });
  }
};

}  // namespace

LoopList skip_zeros(const LoopList& body, const std::vector<ZeroBorder>& borders, Context& context) {
  if (borders.empty()) return body;
  TermScope scope;
  scope.facts = context.symbol_facts();
  return Search(borders, context).in_block(body, scope);
}

}  // namespace facet::passes
