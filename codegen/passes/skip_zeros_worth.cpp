// depth_of_scan: is it worth to leave out products with padding, and where are the other factors looked through?
//
// Left out are the terms whose tests fail; the share of them is counted over the loops that the tests mention. Before that the
// other factors must be known to be finite (infinity times zero is no zero): a load and a multiply-add for each vector of them,
// in front of a loop in which they are used many times. In front of an outer loop that is rarer, or as rare, and farther from
// the cache: the innermost loop counts whose rate is near the outermost one's.
#include <algorithm>

#include "codegen/passes/zeros.hpp"
#include "facet/expr_walk.hpp"

namespace facet::passes {

namespace {

constexpr double kUnknownLength = 16;  // of a loop whose bounds are symbols
constexpr int kMostPoints = 4096;      // that are looked at
constexpr double kNear = 1.25;         // rates that differ less are alike
constexpr double kGainOverCost = 2;    // scans run at about half the rate of sums: their loads miss the first level
constexpr double kLeastShare = 0.02;  // the tests take as much (Zen 4: 1.5 % of 7 x 7 stride 2 gain nothing, 2.4 % of 56^2 1 %)

double length_of(const For& f) {
  double longest = 0;
  for (const ExprPtr& upper : operands_of(Op::kMin, f.upper))
    for (const ExprPtr& lower : operands_of(Op::kMax, f.lower)) {
      const Linear d = difference(upper, lower);
      if (d.is_constant())
        longest = longest == 0 ? static_cast<double>(d.constant) : std::min(longest, static_cast<double>(d.constant));
    }
  return longest > 0 ? longest : kUnknownLength;
}

double work(const PaddedTerm& t, std::size_t from) {
  double product = 1;
  for (std::size_t i = from; i < t.path.size(); ++i) product *= length_of(*t.path[i]);
  return product;
}

double rate_of_scan(const std::vector<PaddedTerm>& terms, std::size_t from) {
  double loads = 0, sums = 0;
  std::vector<ExprPtr> seen;
  for (const PaddedTerm& t : terms) {
    sums += work(t, from);
    if (std::any_of(seen.begin(), seen.end(), [&](const ExprPtr& e) { return same(e, t.factor); })) continue;
    seen.push_back(t.factor);
    double times = is_float(t.factor->type) ? 1 : 0;
    for (const For* f : loops_of({t.factor}, {t.path.begin() + static_cast<std::ptrdiff_t>(from), t.path.end()}))
      times *= length_of(*f);
    loads += times;
  }
  return sums > 0 ? loads / sums : 1;
}

// Counts the points of the loops that a test asks about, and those inside.
class Counting {
 public:
  explicit Counting(const BorderTest& test) : test_(test) {}

  // False: bounds are no constants, or too many points.
  bool over(const std::vector<const For*>& path) { return visit(loops_of({test_.position}, path), 0, {}) && points_ > 0; }
  double share_outside() const { return 1 - static_cast<double>(inside_) / points_; }

 private:
  const BorderTest& test_;
  int points_ = 0, inside_ = 0;

  using Values = std::vector<std::pair<std::string, ExprPtr>>;

  bool visit(const std::vector<const For*>& loops, std::size_t at, const Values& values) {
    std::int64_t lower = 0, upper = 0;
    if (at == loops.size()) {
      if (!constant_value(substitute(test_.position, values), &lower) || !constant_value(test_.extent, &upper)) return false;
      inside_ += lower >= 0 && lower < upper;
      return ++points_ <= kMostPoints;
    }
    const For& f = *loops[at];
    if (!constant_value(substitute(f.lower, values), &lower) || !constant_value(substitute(f.upper, values), &upper))
      return false;
    for (std::int64_t i = lower; i < upper; i += f.step) {
      Values next = values;
      next.emplace_back(f.iterator, idx(i));
      if (!visit(loops, at + 1, next)) return false;
    }
    return true;
  }
};

double share_outside(const std::vector<PaddedTerm>& terms) {
  std::map<std::string, double> known;  // of a position
  double total = 0;
  for (const PaddedTerm& t : terms) {
    double inside = 1;
    for (const BorderTest& test : t.tests) {
      const auto [at, first] = known.try_emplace(to_text(test.position), 0);
      Counting counting(test);
      if (first && counting.over(t.path)) at->second = counting.share_outside();
      inside *= 1 - at->second;
    }
    total += 1 - inside;
  }
  return total / static_cast<double>(terms.size());
}

}  // namespace

int depth_of_scan(const std::vector<PaddedTerm>& terms, std::size_t from, const std::function<bool(std::size_t)>& may_stand) {
  std::size_t common = terms[0].path.size();
  for (const PaddedTerm& t : terms) {
    common = std::min(common, t.path.size());
    for (std::size_t i = from; i < common; ++i)
      if (t.path[i] != terms[0].path[i]) common = i;
  }
  int best = -1;
  double least = 0;
  for (std::size_t depth = from; depth < common; ++depth) {
    if (!may_stand(depth)) continue;
    const double rate = rate_of_scan(terms, depth);
    if (best < 0 || rate < least) least = rate;
    if (best < 0 || rate <= kNear * least) best = static_cast<int>(depth);
  }
  const double share = share_outside(terms);
  return best >= 0 && share >= kLeastShare && share >= kGainOverCost * least ? best : -1;
}

}  // namespace facet::passes
