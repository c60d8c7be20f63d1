// precompute: what a value makes of one operand alone is computed once for each of its elements.
//
//     for i, j, k  C[i, j] += (alpha * A[i, k]) * B[k, j]
//     -->
//     for i, k  A.computed[i, k] = alpha * A[i, k]
//     for i, j, k  C[i, j] += A.computed[i, k] * B[k, j]
//
// The part is the largest expression around a read of the operand that no index enters but those that the read's subscripts
// walk, each alone in one of them. T = A.computed has the operand's shape; its elements are those that the statement reads.
// T[e] stands where the part stood and has its value, bit by bit: a part is a function of the index of its read and of arrays
// that nobody in the group writes, so it does not matter when it is computed. Dependences are found anew. The nest of T comes
// directly before that of the statement. Known elsewhere as loop-invariant code motion into an array, precomputation.
//
// Refuses: operands whose reads stand alone, arrays that the group writes, padded reads, subscripts that depend on data or mix
// indices.
#include <algorithm>
#include <optional>

#include "facet/expr_facts.hpp"
#include "polyhedral/affine.hpp"
#include "polyhedral/rewrite/rewrite.hpp"
#include "polyhedral/statement_maker.hpp"

namespace facet {

namespace {

using Names = std::vector<std::string>;

class Precompute {
 public:
  Precompute(const Scop& scop, Arguments& args, int statement, std::string array)
      : old_(scop), args_(args), scop_(std::make_shared<Scop>(scop)), statement_(statement), array_(std::move(array)) {}

  std::shared_ptr<const Scop> run() {
    if (!find_part(s().value)) {
      args_.refuse("'" + s().name + "' makes nothing of '" + array_ + "' that could be computed before, index by index",
                   {"leave the rewrite out"});
      return nullptr;
    }
    check();
    if (args_.problem()) return nullptr;
    declare();
    const int made = add();
    redirect();
    place(made);
    return scop_;
  }

 private:
  const Statement& s() const { return old_.statements[static_cast<std::size_t>(statement_)]; }

  Names indices_in(const ExprPtr& e) const {
    Names list;
    for (const std::string& i : s().iterators)
      if (mentions_index(e, i)) list.push_back(i);
    return list;
  }

  // The index that each subscript of a read walks, "" where none; nullopt where one is mixed or an index occurs twice.
  std::optional<Names> walked(const Expr& read) const {
    Names list;
    for (const ExprPtr& e : read.args) {
      const Names inside = indices_in(e);
      const bool plain = inside.empty() || e->op == Op::kIndex;
      if (!plain || (!inside.empty() && std::count(list.begin(), list.end(), inside[0]) > 0)) return std::nullopt;
      list.push_back(inside.empty() ? "" : inside[0]);
    }
    return list;
  }

  // Outermost expressions first.
  bool find_part(const ExprPtr& e) {
    const Names all = indices_in(e);
    if (e->op != Op::kRead && e != s().value)
      walk(e, [&](const Expr& r) {
        if (part_ || r.op != Op::kRead || r.name != array_) return;
        const std::optional<Names> own = walked(r);
        if (!own ||
            !std::all_of(all.begin(), all.end(), [&](const std::string& i) { return std::count(own->begin(), own->end(), i); }))
          return;
        part_ = e;
        subscripts_ = r.args;
        walked_ = *own;
      });
    for (const ExprPtr& a : e->args)
      if (part_ || (e->op != Op::kRead && find_part(a))) return true;
    return part_ != nullptr;
  }

  void check() {
    walk(part_, [&](const Expr& e) {
      if (e.op != Op::kRead || args_.problem()) return;
      for (const Statement& other : old_.statements)
        if (other.target == e.name)
          return args_.refuse("'" + other.name + "' writes '" + e.name + "'", {"leave the rewrite out"});
      if (e.pad) return args_.refuse("the reads of '" + e.name + "' are padded", {"leave the rewrite out"});
      for (const ExprPtr& subscript : e.args)
        if (!isl_text(subscript, s().iterators))
          return args_.refuse("'" + e.name + "' is subscripted by data", {"leave the rewrite out"});
    });
  }

  void declare() {
    target_ = array_ + ".computed";
    for (int i = 2; scop_->arrays.count(target_) || scop_->find(target_) >= 0; ++i)
      target_ = array_ + ".computed" + std::to_string(i);
    Array a = old_.arrays.at(array_);
    a.name = target_;
    a.dtype = part_->type;
    a.declared.clear();  // memory of its own, laid out as it is subscripted
    a.joined.clear();
    a.external = a.constant = a.live_out = a.in_place = false;
    scop_->arrays[target_] = std::move(a);
  }

  // T[..] = part, over the indices in the order of the operand's dimensions.
  int add() {
    Statement made;
    made.name = target_;
    std::string to;
    for (std::size_t d = 0; d < walked_.size(); ++d) {
      if (walked_[d].empty()) continue;
      made.iterators.push_back(walked_[d]);
      made.ranges.push_back({walked_[d], idx(0), old_.arrays.at(array_).extents[d]});
      const auto at = std::find(s().iterators.begin(), s().iterators.end(), walked_[d]) - s().iterators.begin();
      to += (to.empty() ? "i" : ", i") + std::to_string(at);
    }
    const isl::map projection =
        read_map(parameter_prefix(old_.symbols) + "{ " + tuple_text(statement_id(s().name), s().iterators.size()) + " -> " +
                 statement_id(made.name) + "[" + to + "] }");
    made.domain = s().domain.apply(projection).coalesce();
    made.target = target_;
    made.subscripts = subscripts_;
    made.value = part_;
    made.place = s().place;
    find_accesses(*scop_, made);
    scop_->statements.push_back(std::move(made));
    return static_cast<int>(scop_->statements.size()) - 1;
  }

  void redirect() {
    Statement& st = scop_->statements[static_cast<std::size_t>(statement_)];
    st.value =
        rewrite(st.value, [&](const ExprPtr& e) { return same(e, part_) ? read(target_, part_->type, subscripts_) : e; });
    find_accesses(*scop_, st);
  }

  void place(int made) const {
    const Statement& st = scop_->statements[static_cast<std::size_t>(made)];
    int fresh = 0;
    for_each_loop(old_.original, [&](const Tree& l) { fresh = std::max(fresh, l.id + 1); });
    TreePtr nest = make_leaf(made);
    for (std::size_t d = st.iterators.size(); d-- > 0;) {
      Tree loop;
      loop.id = fresh++;
      loop.names[made] = st.iterators[d];
      loop.member[made] = output_dimension(st.domain, static_cast<unsigned>(d));
      nest = make_loop_tree(std::move(loop), nest);
    }
    std::vector<TreePtr> nests;
    for (const TreePtr& t :
         old_.original->kind == Tree::Kind::kSequence ? old_.original->children : std::vector<TreePtr>{old_.original}) {
      if (contains(t, statement_)) nests.push_back(nest);
      nests.push_back(t);
    }
    scop_->original = make_sequence(std::move(nests));
  }

  const Scop& old_;
  Arguments& args_;
  std::shared_ptr<Scop> scop_;
  int statement_;
  std::string array_;
  ExprPtr part_;
  std::vector<ExprPtr> subscripts_;  // of the operand's read in it
  Names walked_;                     // the index that each of them walks
  std::string target_;
};

std::shared_ptr<const Scop> apply(const Scop& scop, Arguments& args) {
  const int s = args.statement();
  const Array* array = args.array();
  return args.problem() ? nullptr : Precompute(scop, args, s, array->name).run();
}

}  // namespace

extern const Rewrite kPrecompute;
const Rewrite kPrecompute = {
    "precompute",
    "What a statement makes of one operand alone is computed once for each of its elements, in an array A.computed.",
    {{"statement", "statement", true, "the statement"},
     {"array", "array", true, "the operand: the largest part of the value that depends on the indices of its read only"}},
    apply,
    {"for i, j, k  C[i, j] += (alpha * A[i, k]) * B[k, j]",
     "for i, k  A.computed[i, k] = alpha * A[i, k]\nfor i, j, k  C[i, j] += A.computed[i, k] * B[k, j]",
     "precomputation, loop-invariant code motion into an array",
     "operands that are read as they are, arrays that the group writes, padded reads, subscripts that depend on data or mix "
     "indices"}};

}  // namespace facet
