// rfactor: a reduction is computed in parts, which are combined afterwards.
//
//     C[i] = 0                                  C[i] = 0;   P[r, i] = 0                  r in 0..8
//     for k  C[i] += a[i, k]         -->        for k  P[k % 8, i] += a[i, k]
//                                               for r  C[i] += P[r, i]                   rfactor C by "k % 8"
//
// The part of an instance is an affine function of it, not a loop: `k % c` gives interleaved parts (lanes, independent chains
// of additions), `k / c` contiguous ones (split-K: blocks or threads with a part each). So it may come before any tiling, and
// the parts are a dimension like others: to be tiled, moved outwards, made parallel.
//
// The proof is that of the operation: sum, product, minimum, maximum, any and all are associative and commutative, each
// instance belongs to exactly one part, parts start at the identity. Floating-point sums and products are rounded in another
// order, which "strict" numerics forbid. P is a new array of the group, written and read within it; its dependences and those
// of the combining statement are found from the new Scop. Known elsewhere as rfactor (Halide, TVM), split-K, array
// privatisation of a reduction.
//
// P is filled and combined around the outermost loop in which nobody but the reduction touches its result: inside a loop that
// starts the sum anew or reads what it has come to, the parts are those of one iteration.
//
// Refuses: no reduction, subscripts of the result that are not plain indices, values that read the result, strict numerics,
// parts along a loop in which others touch the result.
// Source: Suriana, Adams and Kamil, Parallel associative reductions in Halide, CGO 2017.
#include <algorithm>
#include <optional>

#include "polyhedral/affine.hpp"
#include "polyhedral/rewrite/rewrite.hpp"
#include "polyhedral/statement_maker.hpp"

namespace facet {

namespace {

// "k % 8" or "k / 8".
struct Part {
  std::string index;
  bool interleaved = true;
  std::int64_t size = 0;
};

std::optional<Part> part_of(const std::string& text) {
  const std::size_t at = text.find_first_of("%/");
  if (at == std::string::npos) return std::nullopt;
  const auto trimmed = [](std::string s) {
    while (!s.empty() && s.back() == ' ') s.pop_back();
    while (!s.empty() && s.front() == ' ') s.erase(s.begin());
    return s;
  };
  const std::string number = trimmed(text.substr(at + 1));
  if (number.empty() || number.size() > 9 || number.find_first_not_of("0123456789") != std::string::npos) return std::nullopt;
  const Part p{trimmed(text.substr(0, at)), text[at] == '%', std::stoll(number)};
  return p.size < 2 ? std::nullopt : std::optional(p);
}

class Rfactor {
 public:
  Rfactor(const Scop& scop, Arguments& args, int statement, Part part)
      : old_(scop), args_(args), scop_(std::make_shared<Scop>(scop)), statement_(statement), part_(std::move(part)) {}

  std::shared_ptr<const Scop> run() {
    check();
    if (args_.problem()) return nullptr;
    declare();
    const int init = add("", identity_of(*s().update, type()), partial_, partial_subscripts(), std::nullopt);
    const int combine = add(".combine", read(partial_, type(), partial_subscripts()), s().target, s().subscripts, s().update);
    place(init, combine);
    redirect();
    return scop_;
  }

 private:
  const Statement& s() const { return old_.statements[static_cast<std::size_t>(statement_)]; }
  DType type() const { return old_.arrays.at(s().target).dtype; }

  void check() {
    if (!s().update) return args_.refuse("'" + s().name + "' is no reduction", {"leave the rewrite out"});
    if (old_.keeps_order(s()))
      return args_.refuse("numerics are strict: parts of a sum are rounded in another order",
                          {"--numerics reassociate=tree allows it"});
    bool reads_itself = false;
    walk(s().value, [&](const Expr& e) { reads_itself = reads_itself || (e.op == Op::kRead && e.name == s().target); });
    if (reads_itself)
      return args_.refuse("the value of '" + s().name + "' reads '" + s().target + "' itself", {"leave the rewrite out"});
    std::vector<std::string> kept;
    for (const ExprPtr& e : s().subscripts) {
      if (e->op != Op::kIndex || !std::count(s().iterators.begin(), s().iterators.end(), e->name) ||
          std::count(kept.begin(), kept.end(), e->name))
        return args_.refuse("'" + s().target + "' is not indexed by plain indices", {"leave the rewrite out"});
      kept.push_back(e->name);
    }
    if (!std::count(s().iterators.begin(), s().iterators.end(), part_.index) ||
        std::count(kept.begin(), kept.end(), part_.index)) {
      std::string known;
      for (const std::string& i : s().iterators)
        if (!std::count(kept.begin(), kept.end(), i)) known += (known.empty() ? "" : ", ") + i;
      return args_.bad("by", "an index that the reduction runs over: " + known, "\"" + part_.index + "\"");
    }
    kept_ = std::move(kept);
    find_parts();
    if (!args_.problem()) find_place();
  }

  // The loops around which parts are filled and combined: those that walk the result, and those in which others touch it.
  void find_place() {
    const std::vector<TreePtr> around = loops_around(old_.original, statement_);
    std::size_t level = 0;
    while (level < around.size() && std::count(kept_.begin(), kept_.end(), iterator_of(*around[level]))) ++level;
    for (; level < around.size(); ++level) {
      int other = -1;
      for (const int t : statements_of(around[level]))
        if (t != statement_ && old_.statements[static_cast<std::size_t>(t)].touches(s().target)) other = t;
      if (other < 0) break;
      const std::string name = iterator_of(*around[level]);
      if (name == part_.index || name.empty())
        return args_.refuse("'" + old_.statements[static_cast<std::size_t>(other)].name + "' touches '" + s().target +
                                "' in each iteration of loop '" + around[level]->names.at(statement_) +
                                "': parts that run over it have no place where they are combined",
                            {"name an index of a loop inside it, or distribute the loop in the program"});
      if (!std::count(kept_.begin(), kept_.end(), name)) apart_.push_back(name);
    }
    outer_.assign(around.begin(), around.begin() + static_cast<std::ptrdiff_t>(level));
  }

  // How many parts there are, for all allowed sizes.
  void find_parts() {
    parts_ = idx(part_.size);
    if (part_.interleaved) return;
    const std::size_t at = position(part_.index);
    const Range& range = s().ranges[at];
    bool plain = range.lower->op == Op::kLiteral && range.lower->int_value == 0;
    walk(range.upper, [&](const Expr& e) {
      plain = plain && (e.op != Op::kIndex || std::none_of(s().iterators.begin(), s().iterators.end(),
                                                           [&](const std::string& i) { return i == e.name; }));
    });
    if (!plain)
      return args_.refuse(
          "'" + part_.index + "' does not run from 0 to a bound of symbols: contiguous parts have no fixed number",
          {"write \"" + part_.index + " % N\" for interleaved parts"});
    parts_ = idx_floordiv(idx_add(range.upper, idx(part_.size - 1)), part_.size);
  }

  std::size_t position(const std::string& iterator) const {
    return static_cast<std::size_t>(std::find(s().iterators.begin(), s().iterators.end(), iterator) - s().iterators.begin());
  }

  ExprPtr part_index() const {
    const ExprPtr k = index(part_.index);
    return part_.interleaved ? idx_mod(k, part_.size) : idx_floordiv(k, part_.size);
  }

  void declare() {
    partial_ = s().target + ".part";
    for (int i = 2; scop_->arrays.count(partial_); ++i) partial_ = s().target + ".part" + std::to_string(i);
    Array a;
    a.name = partial_;
    a.dtype = type();
    a.extents = old_.arrays.at(s().target).extents;
    a.extents.insert(a.extents.begin(), parts_);
    scop_->arrays[partial_] = std::move(a);
    part_name_ = "r";
    const auto is_symbol = [&](const Symbol& x) { return x.name == part_name_; };
    while (std::count(s().iterators.begin(), s().iterators.end(), part_name_) ||
           std::any_of(old_.symbols.begin(), old_.symbols.end(), is_symbol))
      part_name_ += "r";
  }

  std::vector<ExprPtr> partial_subscripts() const {
    std::vector<ExprPtr> list{index(part_name_)};
    list.insert(list.end(), s().subscripts.begin(), s().subscripts.end());
    return list;
  }

  // The indices of the statements that fill and combine, after the part's.
  std::vector<std::string> indices() const {
    std::vector<std::string> list = kept_;
    list.insert(list.end(), apart_.begin(), apart_.end());
    return list;
  }

  // { new[r, kept.., apart..] } for all parts of the elements that the reduction updates.
  isl::set elements(const std::string& id) const {
    std::string from, to = "r";
    for (std::size_t i = 0; i < s().iterators.size(); ++i) from += (i ? ", i" : "i") + std::to_string(i);
    for (const std::string& k : indices()) to += ", i" + std::to_string(position(k));
    const std::string parts = *isl_text(parts_, {});
    const isl::map spread = read_map(parameter_prefix(old_.symbols) + "{ " + statement_id(s().name) + "[" + from + "] -> " +
                                     id + "[" + to + "] : 0 <= r < " + parts + " }");
    return s().domain.apply(spread).coalesce();
  }

  int add(const std::string& suffix, const ExprPtr& value, const std::string& target, std::vector<ExprPtr> subscripts,
          std::optional<ReduceKind> update) {
    Statement made;
    made.name = partial_ + suffix;
    made.iterators = {part_name_};
    const std::vector<std::string> others = indices();
    made.iterators.insert(made.iterators.end(), others.begin(), others.end());
    made.ranges = {Range{part_name_, idx(0), parts_}};
    for (const std::string& k : others) made.ranges.push_back(s().ranges[position(k)]);
    made.domain = elements(statement_id(made.name));
    made.kind = update ? StatementKind::kReduce : StatementKind::kMap;
    made.target = target;
    made.subscripts = std::move(subscripts);
    made.value = value;
    made.update = update;
    made.place = s().place;
    const unsigned end = 1 + static_cast<unsigned>(kept_.size());
    const isl::map part = positions(made, 0, end), element = positions(made, 1, end);
    const auto access = [&](const std::string& array, const isl::map& at) {
      const isl::map relation = with_range_tuple(at, array_id(array));
      return Access{array, relation, relation, true, {}};
    };
    made.write = access(target, target == partial_ ? part : element);
    if (update) made.reads = {access(partial_, part)};
    scop_->statements.push_back(std::move(made));
    return static_cast<int>(scop_->statements.size()) - 1;
  }

  // { S[i] -> [i_from, .., i_(end-1)] }
  static isl::map positions(const Statement& st, unsigned from, unsigned end) {
    std::vector<isl::pw_aff> values;
    for (unsigned d = from; d < end; ++d) values.push_back(output_dimension(st.domain, d));
    return map_to_values(st.domain, values);
  }

  // S updates its part.
  void redirect() {
    Statement& st = scop_->statements[static_cast<std::size_t>(statement_)];
    st.target = partial_;
    st.subscripts.insert(st.subscripts.begin(), part_index());
    std::vector<isl::pw_aff> values;
    const unsigned k = static_cast<unsigned>(position(part_.index));
    const isl::pw_aff by = floor_div(output_dimension(st.domain, k), part_.size);
    values.push_back(part_.interleaved ? output_dimension(st.domain, k).sub(multiply(by, part_.size)) : by);
    for (const std::string& name : kept_) values.push_back(output_dimension(st.domain, static_cast<unsigned>(position(name))));
    const isl::map relation = with_range_tuple(map_to_values(st.domain, values), array_id(partial_));
    st.write = {partial_, relation, relation, true, {}};
  }

  // The new statements stand before and after what is inside the outer loops and holds the reduction.
  void place(int init, int combine) {
    int fresh = 0;
    for_each_loop(old_.original, [&](const Tree& l) { fresh = std::max(fresh, l.id + 1); });
    std::vector<std::string> walked;
    for (const TreePtr& l : outer_) walked.push_back(iterator_of(*l));
    const TreePtr inner = loops_around(old_.original, statement_)[outer_.size()];
    const TreePtr around = make_sequence({nest(init, walked, &fresh), inner, nest(combine, walked, &fresh)});
    TreePtr tree = replace_node(old_.original, inner, around);
    for (std::size_t k = 0; k < outer_.size(); ++k) {
      const TreePtr loop = find_loop(tree, outer_[k]->id);
      Tree changed = *loop;
      for (const int added : {init, combine}) {
        const Statement& st = scop_->statements[static_cast<std::size_t>(added)];
        const auto at = std::find(st.iterators.begin(), st.iterators.end(), walked[k]) - st.iterators.begin();
        changed.names[added] = walked[k];
        changed.member[added] = output_dimension(st.domain, static_cast<unsigned>(at));
      }
      tree = replace_node(tree, loop, make_loop_tree(std::move(changed), loop->children[0]));
    }
    scop_->original = tree;
  }

  // The statement's own iterator that the loop walks, "" when it is no plain one.
  std::string iterator_of(const Tree& loop) const {
    for (std::size_t i = 0; i < s().iterators.size(); ++i)
      if (loop.member.at(statement_).plain_is_equal(output_dimension(s().domain, static_cast<unsigned>(i))))
        return s().iterators[i];
    return "";
  }

  TreePtr nest(int added, const std::vector<std::string>& walked, int* fresh) const {
    const Statement& st = scop_->statements[static_cast<std::size_t>(added)];
    TreePtr tree = make_leaf(added);
    for (std::size_t d = st.iterators.size(); d-- > 0;) {
      if (std::count(walked.begin(), walked.end(), st.iterators[d])) continue;
      Tree loop;
      loop.id = (*fresh)++;
      loop.names[added] = st.iterators[d];
      loop.member[added] = output_dimension(st.domain, static_cast<unsigned>(d));
      tree = make_loop_tree(std::move(loop), tree);
    }
    return tree;
  }

  const Scop& old_;
  Arguments& args_;
  std::shared_ptr<Scop> scop_;
  int statement_;
  Part part_;
  std::vector<std::string> kept_;   // the result's indices
  std::vector<std::string> apart_;  // of outer loops in which others touch the result
  std::vector<TreePtr> outer_;      // loops around the parts, which are filled and combined in each iteration
  ExprPtr parts_;
  std::string partial_, part_name_;
};

std::shared_ptr<const Scop> apply(const Scop& scop, Arguments& args) {
  const int s = args.statement();
  const std::string by = args.text("by");
  if (args.problem()) return nullptr;
  const std::optional<Part> part = part_of(by);
  if (!part) {
    args.bad("by", "an index % or / a number from 2, as \"k % 8\"", "\"" + by + "\"");
    return nullptr;
  }
  return Rfactor(scop, args, s, *part).run();
}

}  // namespace

extern const Rewrite kRfactor;
const Rewrite kRfactor = {
    "rfactor",
    "A reduction is computed in parts, in an array C.part with one more dimension `r`, which are then combined.",
    {{"statement", "statement", true, "the reduction"},
     {"by", "text", true, "the part of an instance: \"k % 8\" for 8 interleaved parts, \"k / 64\" for contiguous ones of 64"}},
    apply,
    {"C[i] = 0\nfor k  C[i] += a[i, k]",
     "C[i] = 0\nfor r in 0..8  C.part[r, i] = 0\nfor k  C.part[k % 8, i] += a[i, k]\nfor r in 0..8  C[i] += C.part[r, i]",
     "rfactor (Halide, TVM), split-K",
     "no reduction, results that are not indexed by plain indices, values that read the result, strict numerics, parts along a "
     "loop in which other statements touch the result"}};

}  // namespace facet
