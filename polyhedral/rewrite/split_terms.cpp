// split_terms: the terms of an update become updates of their own.
//
//     for k  C[i, j] += A[i, k] * B[j, k] + B[i, k] * A[j, k]
//     -->
//     for k { C[i, j] += A[i, k] * B[j, k];  C[i, j] += B[i, k] * A[j, k] }
//
// A sum of products is no contraction, its terms are: each can then have a nest, tiles and packed operands of its own. Terms
// are what additions, subtractions and changes of sign join at the top of the value; a subtracted term is added with its sign
// changed. The statement keeps the first, the others are called S.term2, S.term3, .. and follow it in the innermost loop.
//
// The proof is that addition is associative and commutative: every element receives the same terms. Floating-point sums are
// rounded in another order, which "strict" numerics forbid. Dependences are found anew. Known elsewhere as statement splitting.
//
// Refuses: statements that add nothing up, values of one term, values that read the result, strict numerics.
#include "polyhedral/affine.hpp"
#include "polyhedral/rewrite/rewrite.hpp"
#include "polyhedral/statement_maker.hpp"

namespace facet {

namespace {

void collect_terms(const ExprPtr& e, bool negated, std::vector<ExprPtr>* terms) {
  if (e->op == Op::kNeg) return collect_terms(e->args[0], !negated, terms);
  if (e->op != Op::kAdd && e->op != Op::kSub) return terms->push_back(negated ? unary(Op::kNeg, e) : e);
  collect_terms(e->args[0], negated, terms);
  collect_terms(e->args[1], negated != (e->op == Op::kSub), terms);
}

bool check(const Scop& scop, const Statement& s, const std::vector<ExprPtr>& terms, Arguments& args) {
  if (!s.update || *s.update != ReduceKind::kSum) {
    args.refuse("'" + s.name + "' adds nothing up", {"leave the rewrite out"});
  } else if (terms.size() < 2) {
    args.refuse("the value of '" + s.name + "' is no sum", {"leave the rewrite out"});
  } else if (s.reads_of(s.target)) {
    args.refuse("the value of '" + s.name + "' reads '" + s.target + "' itself", {"leave the rewrite out"});
  } else if (scop.reassociate == Numerics::Reassociate::kStrict && is_float(scop.arrays.at(s.target).dtype)) {
    args.refuse("numerics are strict: a sum in another order is rounded otherwise", {"--numerics reassociate=tree allows it"});
  }
  return !args.problem();
}

// A twin of statement `s` of the new Scop with another value; its number.
int add_twin(Scop& scop, int s, const ExprPtr& term) {
  Statement made = scop.statements[static_cast<std::size_t>(s)];
  const std::string base = made.name + ".term";
  int number = 2;
  while (scop.find(base + std::to_string(number)) >= 0) ++number;
  made.name = base + std::to_string(number);
  made.domain = with_tuple(made.domain, statement_id(made.name));
  made.value = term;
  find_accesses(scop, made);
  scop.statements.push_back(std::move(made));
  return static_cast<int>(scop.statements.size()) - 1;
}

// The tree with the twins behind `s`, in all of its loops.
TreePtr with_twins(const Scop& scop, const TreePtr& t, int s, const std::vector<int>& twins) {
  if (!contains(t, s)) return t;
  if (t->kind == Tree::Kind::kLeaf) {
    std::vector<TreePtr> leaves{t};
    for (const int twin : twins) leaves.push_back(make_leaf(twin));
    return make_sequence(std::move(leaves));
  }
  std::vector<TreePtr> children;
  for (const TreePtr& c : t->children) children.push_back(with_twins(scop, c, s, twins));
  if (t->kind == Tree::Kind::kSequence) return make_sequence(std::move(children));
  Tree loop = *t;
  for (const int twin : twins) {
    loop.names[twin] = t->names.at(s);
    loop.member[twin] = with_domain_tuple(t->member.at(s), statement_id(scop.statements[static_cast<std::size_t>(twin)].name));
  }
  return make_loop_tree(std::move(loop), children[0]);
}

std::shared_ptr<const Scop> apply(const Scop& old, Arguments& args) {
  const int s = args.statement();
  if (args.problem()) return nullptr;
  std::vector<ExprPtr> terms;
  collect_terms(old.statements[static_cast<std::size_t>(s)].value, false, &terms);
  if (!check(old, old.statements[static_cast<std::size_t>(s)], terms, args)) return nullptr;
  const std::shared_ptr<Scop> scop = std::make_shared<Scop>(old);
  std::vector<int> twins;
  for (std::size_t t = 1; t < terms.size(); ++t) twins.push_back(add_twin(*scop, s, terms[t]));
  Statement& first = scop->statements[static_cast<std::size_t>(s)];
  first.value = terms[0];
  find_accesses(*scop, first);
  scop->original = with_twins(*scop, old.original, s, twins);
  return scop;
}

}  // namespace

extern const Rewrite kSplitTerms;
const Rewrite kSplitTerms = {
    "split_terms",
    "The terms of an update become updates of their own, called S.term2, S.term3, .. from the second one on.",
    {{"statement", "statement", true, "the update: its value is a sum or difference"}},
    apply,
    {"for k  C[i, j] += A[i, k] * B[j, k] + B[i, k] * A[j, k]",
     "for k { C[i, j] += A[i, k] * B[j, k];  C[i, j] += B[i, k] * A[j, k] }", "statement splitting",
     "statements that add nothing up, values of one term, values that read the result, strict numerics"}};

}  // namespace facet
