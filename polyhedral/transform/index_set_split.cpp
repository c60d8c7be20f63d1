// index_set_split: a loop's iterations before a point and those from it on become two loops.
//
//     for i in 0..N                          for i in 0..M
//       S(i)                       -->         S(i)
//                                            for i in M..N
//                                              S.from(i)                 index_set_split at M
//
// The point is a number or an affine expression of symbols and of the loops around, in the values that the loop counts. The
// second loop's statements are called S.from, so that later steps can treat the two differently: one part vectorized without
// guards, another on threads, a boundary apart from the interior; of a factorization, what comes from finished tiles (k before
// 64*jt), a matrix product, apart from the work inside the tile. Known elsewhere as index-set splitting, loop splitting
// (Halide's specialize, TVM's loop partition). The near twin for a few first or last iterations of bounds that vary is `peel`.
// Refuses a point outside the loop, and arrays in buffers inside it. The order stays, so legality cannot fail unless a mark on
// the loop does. Source: Griebl, Feautrier and Lengauer, Index set splitting, IJPP 2000.
#include <cctype>

#include "polyhedral/affine.hpp"
#include "polyhedral/transform/split_instances.hpp"

namespace facet {

namespace {

// One term of a point: a number, alone or times a symbol or the value of a loop around.
struct PointTerm {
  std::int64_t number = 1;
  std::string symbol;
  TreePtr loop;
};

using PointSum = std::vector<PointTerm>;

// The smallest (largest) of some sums.
struct SplitPoint {
  bool largest = false;
  std::vector<PointSum> sums;
};

// Sums and differences of integers, of symbols and of loops around with integer multiples, alone or several of them in min(..)
// or max(..); nullopt when it is anything else.
class PointText {
 public:
  PointText(const Scop& scop, const std::vector<TreePtr>& around, int statement, const std::string& text)
      : scop_(scop), around_(around), statement_(statement), text_(text) {}

  std::optional<SplitPoint> run() {
    SplitPoint point;
    skip();
    const std::string head = text_.substr(at_, 4);
    const bool several = head == "min(" || head == "max(";
    point.largest = head == "max(";
    if (several) at_ += 4;
    do {
      PointSum sum;
      if (!sum_of(&sum)) return std::nullopt;
      point.sums.push_back(std::move(sum));
    } while (several && next(','));
    if (several && !next(')')) return std::nullopt;
    return at_ == text_.size() ? std::optional(point) : std::nullopt;
  }

 private:
  bool next(char c) {
    skip();
    if (at_ == text_.size() || text_[at_] != c) return false;
    ++at_;
    skip();
    return true;
  }

  bool sum_of(PointSum* sum) {
    std::int64_t sign = 1;
    for (;;) {
      PointTerm t;
      if (!term(&t)) return false;
      t.number *= sign;
      sum->push_back(t);
      if (at_ == text_.size() || (text_[at_] != '+' && text_[at_] != '-')) return true;
      sign = text_[at_++] == '+' ? 1 : -1;
    }
  }

  void skip() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
  }

  bool factor(PointTerm* t) {
    skip();
    const std::size_t from = at_;
    const auto part = [&](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; };
    while (at_ < text_.size() && part(text_[at_])) ++at_;
    const std::string word = text_.substr(from, at_ - from);
    skip();
    if (word.empty() || word.size() > 255) return false;
    if (std::isdigit(static_cast<unsigned char>(word[0]))) {
      if (word.find_first_not_of("0123456789") != std::string::npos || word.size() > 9) return false;
      return !__builtin_mul_overflow(t->number, std::stoll(word), &t->number);
    }
    if (!t->symbol.empty() || t->loop) return false;
    for (const TreePtr& l : around_)
      if (l->names.at(statement_) == word) t->loop = l;
    for (const Symbol& s : scop_.symbols)
      if (s.name == word && !t->loop) t->symbol = word;
    return t->loop || !t->symbol.empty();
  }

  bool term(PointTerm* t) {
    skip();
    if (at_ < text_.size() && text_[at_] == '-') {
      t->number = -1;
      ++at_;
    }
    if (!factor(t)) return false;
    while (at_ < text_.size() && text_[at_] == '*') {
      ++at_;
      if (!factor(t)) return false;
    }
    return true;
  }

  const Scop& scop_;
  const std::vector<TreePtr>& around_;
  int statement_;
  const std::string& text_;
  std::size_t at_ = 0;
};

// The point for the instances of one statement: { S[i] -> [point] }. Of several sums the one that is the least (greatest) on
// the whole domain, where there is one: isl's pieces would stay in everything that is made from the parts.
class PointFor {
 public:
  PointFor(const Schedule& schedule, int statement)
      : schedule_(schedule), statement_(statement), domain_(schedule.statement(statement).domain) {}

  isl::pw_aff value(const SplitPoint& point) const {
    isl::pw_aff result = sum(point.sums[0]);
    for (std::size_t k = 1; k < point.sums.size(); ++k) {
      const isl::pw_aff other = sum(point.sums[k]);
      const isl::pw_aff& low = point.largest ? other : result;
      const isl::pw_aff& high = point.largest ? result : other;
      if (domain_.is_subset(low.le_set(high))) continue;
      if (domain_.is_subset(high.le_set(low))) {
        result = other;
      } else {
        result = point.largest ? result.max(other) : result.min(other);
      }
    }
    return result;
  }

 private:
  isl::pw_aff read(const std::string& value) const {
    const Statement& st = schedule_.statement(statement_);
    return read_pw_aff(parameter_prefix(schedule_.scop->symbols) + "{ " +
                       tuple_text(statement_id(st.name), st.iterators.size()) + " -> [(" + value + ")] }");
  }

  isl::pw_aff sum(const PointSum& terms) const {
    isl::pw_aff all = read("0");
    for (const PointTerm& t : terms)
      all = all.add(t.loop ? multiply(t.loop->member.at(statement_), t.number)
                           : read(std::to_string(t.number) + (t.symbol.empty() ? "" : " * " + parameter_id(t.symbol))));
    return all;
  }

  const Schedule& schedule_;
  int statement_;
  isl::set domain_;
};

// The loops around `loop`, outermost first.
std::vector<TreePtr> loops_outside(const Schedule& schedule, int statement, const TreePtr& loop) {
  std::vector<TreePtr> around = loops_around(schedule.tree, statement);
  while (around.back() != loop) around.pop_back();
  around.pop_back();
  return around;
}

Schedule apply(const Schedule& schedule, Arguments& args) {
  const int s = args.statement();
  const TreePtr loop = args.loop(s, args.text("loop"));
  const std::int64_t number = args.integer("at", 0, -1'000'000'000'000, 1'000'000'000'000);
  const std::string expression = args.text("expression");
  if (args.problem() || !loop) return schedule;
  if (args.has("at") == args.has("expression")) {
    args.bad("at", "one of `at` and `expression`", args.has("at") ? "both" : "neither");
    return schedule;
  }
  const std::vector<TreePtr> around = loops_outside(schedule, s, loop);
  const std::optional<SplitPoint> point =
      args.has("at") ? SplitPoint{false, {{{number, "", nullptr}}}} : PointText(*schedule.scop, around, s, expression).run();
  if (!point) {
    args.bad("expression", "sums of integers and integer multiples of symbols and of loops around, or min or max of such sums",
             "\"" + expression + "\"");
    return schedule;
  }
  std::map<int, isl::set> apart;
  for (const auto& [statement, f] : loop->member)
    apart.emplace(statement, f.ge_set(PointFor(schedule, statement).value(*point)));
  const std::string cut = args.has("at") ? "`at` " + std::to_string(number) : "`expression` \"" + expression + "\"";
  return split_loop(schedule, args, loop, apart, false, ".from", cut);
}

}  // namespace

extern const Transform kIndexSetSplit;
const Transform kIndexSetSplit = {
    "index_set_split",
    "A loop's iterations before a point and those from it on become two loops; the second one's statements are called S.from.",
    {{"statement", "statement", true, "a statement inside the loop"},
     {"loop", "loop", true, "the loop"},
     {"at", "int", false, "the first iteration of the second loop, in the loop's own values"},
     {"expression", "text", false,
      "instead of `at`: of symbols and loops around, as \"N - 4\", \"64*jt\" or \"min(64*it, 64*jt)\""}},
    apply,
    {"for i in 0..N  S(i)", "for i in 0..M  S(i)\nfor i in M..N  S.from(i)", "loop partition (TVM)",
     "a point with all iterations on one side; arrays in buffers inside the loop: split first"}};

}  // namespace facet
