// flatten: neighbouring indices that walk neighbouring dimensions of every array together become one.
//
//     for c, h, w  y[c, h, w] = f(x[c, h, w])     -->     for c, hw  y[c, hw] = f(x[c, hw])       h, w in 0..56: hw in 0..3136
//
// Rows of an array lie one after another, so what a nest does at (h, w) it does at position w + 56 h of the flat array, and
// vectors and tiles of the flat loop end once instead of in every row. The 1 x 1 convolution becomes the matrix product that
// it is, a product of [b, t, k] by [k, n] one with b * t rows.
//
// The statement's indices i_0 .. i_n (each from 0 to its extent, the extents of the inner ones constants e_1 .. e_n) become
// i = (.. (i_0 e_1 + i_1) e_2 + ..) e_n + i_n. Every array that they subscript does so by them alone, in this order, in
// neighbouring dimensions of just these extents; these dimensions become one, in the group, for every statement that touches
// the array, whose own indices there become one in turn, until nothing more follows. The map of instances and elements is one
// to one and keeps the order of a nest; the proof is the equality of the sets: each domain is the product of its projections
// with the box of the indices. Memory is as it was: the scanned code addresses
// [c, floor(hw/56), hw mod 56] (subscripts_in_memory), and passes for processors read these as one subscript again (join_rows).
//
// Known elsewhere as coalescing or collapsing of loops and linearisation of arrays; `fuse` in Halide and TVM.
// Refuses: indices that are used in other ways (x[h + r, w], a padded read, a condition on h, a value of h), inner extents that
// are no constants, loops that do not stand directly inside each other.
#include <algorithm>
#include <optional>

#include "facet/expr_facts.hpp"
#include "facet/expr_walk.hpp"
#include "polyhedral/affine.hpp"
#include "polyhedral/rewrite/rewrite.hpp"
#include "polyhedral/statement_maker.hpp"

namespace facet {

namespace {

const std::vector<std::string> kInstead = {"flatten fewer indices, or leave the rewrite out"};

using Names = std::vector<std::string>;

class Flatten {
 public:
  Flatten(const Scop& scop, Arguments& args) : old_(scop), args_(args), scop_(std::make_shared<Scop>(scop)) {}

  std::shared_ptr<const Scop> run(int statement, const Names& loops) {
    start(statement, loops);
    while (!args_.problem() && !waiting_.empty()) {
      const int s = waiting_.back();
      waiting_.pop_back();
      follow(s);
    }
    if (args_.problem()) return nullptr;
    for (const auto& [name, first] : arrays_) join(scop_->arrays.at(name), first);
    for (const auto& [s, first] : statements_) rebuild(s, first);
    for (Statement& s : scop_->statements) refresh(s);
    scop_->original = flattened(old_.original);
    return args_.problem() ? nullptr : scop_;
  }

 private:
  const Scop& old_;
  Arguments& args_;
  std::shared_ptr<Scop> scop_;
  std::size_t count_ = 0;
  std::vector<ExprPtr> extents_;               // of the indices
  std::int64_t inner_ = 1;                     // the product of all but the first
  std::map<int, std::size_t> statements_;      // statement -> position of its first index
  std::map<std::string, std::size_t> arrays_;  // array -> its first joined dimension
  std::vector<int> waiting_;

  const Statement& was(int s) const { return old_.statements[static_cast<std::size_t>(s)]; }

  Names names_of(int s) const {
    const auto from = was(s).iterators.begin() + static_cast<std::ptrdiff_t>(statements_.at(s));
    return {from, from + static_cast<std::ptrdiff_t>(count_)};
  }

  static bool mentions(const ExprPtr& e, const Names& names) {
    return std::any_of(names.begin(), names.end(), [&](const std::string& n) { return mentions_index(e, n); });
  }

  void start(int s, const Names& loops) {
    const Names& all = was(s).iterators;
    const auto first = loops.empty() ? all.end() : std::find(all.begin(), all.end(), loops[0]);
    count_ = loops.size();
    if (count_ < 2 || static_cast<std::size_t>(all.end() - first) < count_ || !std::equal(loops.begin(), loops.end(), first)) {
      std::string known;
      for (const std::string& n : all) known += (known.empty() ? "" : ", ") + n;
      return args_.bad("loops", "at least two neighbouring indices of '" + was(s).name + "', outermost first: " + known,
                       "others");
    }
    const std::size_t at = static_cast<std::size_t>(first - all.begin());
    for (std::size_t k = 0; k < count_; ++k) {
      const Range& r = was(s).ranges[at + k];
      extents_.push_back(r.upper);
      if (k == 0) continue;
      if (r.upper->op != Op::kLiteral || r.upper->int_value < 1)
        return args_.refuse("the extent of '" + loops[k] + "' is no constant", kInstead);
      inner_ *= r.upper->int_value;
    }
    take(s, at);
  }

  // `s` takes part with the indices from position `first` on.
  void take(int s, std::size_t first) {
    const auto [it, fresh] = statements_.emplace(s, first);
    if (!fresh && it->second != first)
      return args_.refuse("'" + was(s).name + "' uses two sets of indices in this way", kInstead);
    if (!fresh) return;
    waiting_.push_back(s);
    for (std::size_t k = 0; k < count_; ++k) {
      const Range& r = was(s).ranges[first + k];
      if (r.lower->op != Op::kLiteral || r.lower->int_value != 0 || !same(r.upper, extents_[k]))
        return args_.refuse("'" + r.name + "' of '" + was(s).name + "' does not run from 0 to " + to_text(extents_[k]),
                            kInstead);
    }
    if (!is_product(s)) args_.refuse("the domain of '" + was(s).name + "' depends on these indices in another way", kInstead);
  }

  // { S[.., j, ..] : 0 <= j < extents } over the statement's other dimensions, `arity` in all, j at `first`.
  isl::set product(int s, const isl::set& rest, std::size_t first, std::size_t indices, const std::string& bounds) const {
    const std::string id = statement_id(was(s).name);
    const isl::set spread = with_dimensions(rest, static_cast<unsigned>(first), static_cast<unsigned>(indices));
    const std::size_t arity = was(s).iterators.size() - count_ + indices;
    return with_tuple(spread, id).intersect(read_set(parameter_prefix(old_.symbols), id, tuple_text("", arity), bounds));
  }

  isl::set projection(int s, std::size_t first) const {
    return without_dimensions(was(s).domain, static_cast<unsigned>(first), static_cast<unsigned>(count_));
  }

  bool is_product(int s) const {
    const std::size_t first = statements_.at(s);
    std::string box = "1 = 1";
    for (std::size_t k = 0; k < count_; ++k)
      box += " and 0 <= i" + std::to_string(first + k) + " < " + *isl_text(extents_[k], {});
    return product(s, projection(s, first), first, count_, box).is_equal(was(s).domain);
  }

  // What follows from the statement's accesses.
  void follow(int s) {
    const Statement& st = was(s);
    const Names names = names_of(s);
    for (std::size_t k = 0; k < st.ranges.size(); ++k) {
      const bool own = k >= statements_.at(s) && k < statements_.at(s) + count_;
      if (!own && (mentions(st.ranges[k].lower, names) || mentions(st.ranges[k].upper, names)))
        return args_.refuse("the bounds of '" + st.iterators[k] + "' of '" + st.name + "' depend on these indices", kInstead);
    }
    follow_access(s, st.target, st.subscripts, names, false);
    follow_value(s, st.value, names);
  }

  void follow_value(int s, const ExprPtr& e, const Names& names) {
    if (e->op == Op::kRead) return follow_access(s, e->name, e->args, names, e->pad != nullptr);
    if (e->op == Op::kIndex && mentions(e, names))
      return args_.refuse("the value of '" + was(s).name + "' uses '" + e->name + "' itself", kInstead);
    for (const ExprPtr& a : e->args) follow_value(s, a, names);
  }

  void follow_access(int s, const std::string& array, const std::vector<ExprPtr>& subscripts, const Names& names, bool padded) {
    const std::size_t mentioned = static_cast<std::size_t>(
        std::count_if(subscripts.begin(), subscripts.end(), [&](const ExprPtr& e) { return mentions(e, names); }));
    if (mentioned == 0) return;
    const auto is_plain = [](const ExprPtr& e, const std::string& n) { return e->op == Op::kIndex && e->name == n; };
    const auto first = std::search(subscripts.begin(), subscripts.end(), names.begin(), names.end(), is_plain);
    if (first == subscripts.end() || mentioned != count_ || padded)
      return args_.refuse("'" + was(s).name + "' does not subscript '" + array + "' by these indices alone, side by side",
                          kInstead);
    take_array(array, static_cast<std::size_t>(first - subscripts.begin()));
  }

  void take_array(const std::string& name, std::size_t first) {
    const auto [it, fresh] = arrays_.emplace(name, first);
    if (!fresh && it->second != first)
      return args_.refuse("'" + name + "' is subscripted by these indices in two places", kInstead);
    if (!fresh) return;
    const Array& a = old_.arrays.at(name);
    for (std::size_t k = 0; k < count_; ++k)
      if (!same(a.extents[first + k], extents_[k]))
        return args_.refuse(
            "'" + name + "' has " + to_text(a.extents[first + k]) + " elements where the index walks " + to_text(extents_[k]),
            kInstead);
    for (std::size_t s = 0; s < old_.statements.size(); ++s) {
      const Statement& st = old_.statements[s];
      if (st.target == name) take_user(static_cast<int>(s), st.subscripts, first, name);
      walk(st.value, [&](const Expr& e) {
        if (e.op == Op::kRead && e.name == name) take_user(static_cast<int>(s), e.args, first, name);
      });
    }
  }

  void take_user(int s, const std::vector<ExprPtr>& subscripts, std::size_t first, const std::string& array) {
    const Names& all = was(s).iterators;
    const ExprPtr& e = subscripts[first];
    const auto at = e->op == Op::kIndex ? std::find(all.begin(), all.end(), e->name) : all.end();
    if (static_cast<std::size_t>(all.end() - at) < count_)
      return args_.refuse("'" + was(s).name + "' does not walk these dimensions of '" + array + "' side by side", kInstead);
    for (std::size_t k = 0; k < count_; ++k) {
      const ExprPtr& x = subscripts[first + k];
      if (x->op != Op::kIndex || x->name != *(at + static_cast<std::ptrdiff_t>(k)))
        return args_.refuse("'" + was(s).name + "' does not walk these dimensions of '" + array + "' side by side", kInstead);
    }
    take(s, static_cast<std::size_t>(at - all.begin()));
  }

  ExprPtr extent() const { return idx_mul(extents_[0], idx(inner_)); }

  void join(Array& a, std::size_t first) const {
    if (a.declared.empty()) {
      a.declared = a.extents;
      a.joined.assign(a.extents.size(), 1);
    }
    const auto erase = [&](auto& list) {
      const auto from = list.begin() + static_cast<std::ptrdiff_t>(first);
      list.erase(from + 1, from + static_cast<std::ptrdiff_t>(count_));
    };
    for (std::size_t k = 1; k < count_; ++k) a.joined[first] += a.joined[first + k];
    erase(a.joined);
    erase(a.extents);
    a.extents[first] = extent();
  }

  std::string joint_name(int s) const {
    std::string name;
    for (const std::string& n : names_of(s)) name += n;
    const auto taken = [&](const std::string& n) {
      return std::count(was(s).iterators.begin(), was(s).iterators.end(), n) > 0 || old_.arrays.count(n) > 0 ||
             std::any_of(old_.symbols.begin(), old_.symbols.end(), [&](const Symbol& x) { return x.name == n; });
    };
    while (taken(name)) name += "f";
    return name;
  }

  // One index for many, in the iterators, the domain and the subscripts.
  void rebuild(int s, std::size_t first) {
    Statement& st = scop_->statements[static_cast<std::size_t>(s)];
    const Names names = names_of(s);
    const std::string joint = joint_name(s);
    const auto replace = [&](auto& list, auto item) {
      const auto from = list.begin() + static_cast<std::ptrdiff_t>(first);
      list.erase(from + 1, from + static_cast<std::ptrdiff_t>(count_));
      *from = std::move(item);
    };
    replace(st.iterators, joint);
    replace(st.ranges, Range{joint, idx(0), extent()});
    const std::string i = "i" + std::to_string(first);
    st.domain = product(s, projection(s, first), first, 1, "0 <= " + i + " < " + *isl_text(extent(), {}));
    const auto shorter = [&](const std::string& array, const std::vector<ExprPtr>& subscripts) {
      std::vector<ExprPtr> list = subscripts;
      const auto at = arrays_.find(array);
      if (at == arrays_.end()) return list;
      const auto from = list.begin() + static_cast<std::ptrdiff_t>(at->second);
      list.erase(from + 1, from + static_cast<std::ptrdiff_t>(count_));
      *from = index(joint);
      return list;
    };
    st.subscripts = shorter(st.target, st.subscripts);
    st.value = rewrite(st.value, [&](const ExprPtr& e) {
      if (e->op != Op::kRead) return e;
      Expr copy = *e;
      copy.args = shorter(e->name, e->args);
      return std::make_shared<const Expr>(std::move(copy));
    });
  }

  // Access relations by the new subscripts.
  void refresh(Statement& s) {
    if (statements_.count(static_cast<int>(&s - scop_->statements.data()))) find_accesses(*scop_, s);
  }

  // The position of the index that the loop walks for the statement; nullopt where it is no plain one.
  std::optional<std::size_t> walked(const Tree& loop, int s, int* sign) const {
    for (std::size_t d = 0; d < was(s).iterators.size(); ++d) {
      const isl::pw_aff plain = output_dimension(was(s).domain, static_cast<unsigned>(d));
      *sign = loop.member.at(s).plain_is_equal(plain) ? 1 : -1;
      if (*sign == 1 || loop.member.at(s).plain_is_equal(plain.neg())) return d;
    }
    return std::nullopt;
  }

  // The original order over the new domains.
  TreePtr flattened(const TreePtr& t) {
    if (t->kind == Tree::Kind::kLeaf || args_.problem()) return t;
    if (t->kind == Tree::Kind::kSequence) {
      std::vector<TreePtr> children;
      for (const TreePtr& c : t->children) children.push_back(flattened(c));
      return make_sequence(std::move(children));
    }
    std::size_t depth = 0;  // of the joined loops that start here
    Tree made = *t;
    for (const auto& [s, name] : t->names) {
      if (!statements_.count(s)) continue;
      const std::size_t first = statements_.at(s);
      int sign = 1;
      const std::optional<std::size_t> at = walked(*t, s, &sign);
      const bool joins = at && sign == 1 && *at == first;
      if (!at || (!joins && *at >= first && *at < first + count_) || (joins ? depth == 1 : depth > 1))
        return refuse_order(s), t;
      depth = joins ? count_ : 1;
      const std::size_t now = *at <= first ? *at : *at - count_ + 1;
      const isl::pw_aff plain =
          output_dimension(scop_->statements[static_cast<std::size_t>(s)].domain, static_cast<unsigned>(now));
      made.member.at(s) = sign == 1 ? plain : plain.neg();
      if (joins) made.names.at(s) = joint_name(s);
    }
    const TreePtr inside = depth > 1 ? below(t, depth) : t->children[0];
    return inside ? make_loop_tree(std::move(made), flattened(inside)) : t;
  }

  void refuse_order(int s) {
    args_.refuse("the loops of these indices around '" + was(s).name + "' do not stand directly inside each other", kInstead);
  }

  // What stands inside the joined loops; null with a complaint where something comes between.
  TreePtr below(const TreePtr& outermost, std::size_t depth) {
    TreePtr t = outermost;
    for (std::size_t k = 1; k < depth; ++k) {
      const TreePtr next = t->children[0];
      for (const auto& [s, name] : t->names) {
        int sign = 1;
        const bool inside = next->kind == Tree::Kind::kLoop && statements_.count(s) && next->names.count(s);
        const std::optional<std::size_t> at = inside ? walked(*next, s, &sign) : std::nullopt;
        if (!at || sign != 1 || *at != statements_.at(s) + k) return refuse_order(s), nullptr;
      }
      t = next;
    }
    return t->children[0];
  }
};

std::shared_ptr<const Scop> apply(const Scop& scop, Arguments& args) {
  const int s = args.statement();
  const Names loops = args.texts("loops");
  return args.problem() ? nullptr : Flatten(scop, args).run(s, loops);
}

}  // namespace

extern const Rewrite kFlatten;
const Rewrite kFlatten = {
    "flatten",
    "Neighbouring indices that walk neighbouring dimensions of every array together become one, which walks the rows as one.",
    {{"statement", "statement", true, "a statement with the indices"},
     {"loops", "loops", true, "its indices, outermost first; the joint one has their names, one after another"}},
    apply,
    {"for h in 0..56\n  for w in 0..56  y[h, w] = f(x[h, w])",
     "for hw in 0..3136  y[hw / 56, hw % 56] = f(x[hw / 56, hw % 56])",
     "loop coalescing or collapsing with array linearisation; fuse (Halide, TVM)",
     "indices that are used in other ways, inner extents that are no constants, loops with others between them"}};

}  // namespace facet
