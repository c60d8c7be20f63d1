// promote with `fill`: whole boxes are copied, elements that nobody needs included.
//
//     for j (parallel)                                     the box of an iteration is t0[12 .. 13, j-2 .. j]: t0[12, j-2] and
//       for i  t0[i, j] = ..                      -->      t0[12, j-1] are copied, although only t0[12, j] is used, while other
//       for k  t1[j, k] = t0[13, j-2 ? 0] + t0[12, j]      iterations write them: a race in C++ and CUDA, whatever is read
//
// So the copy is a reader of all that it reads: it keeps the order to every writer of an element of its box. Which of the two
// comes first is free for elements that nobody needs; it stays as it is when the part is made.
#include "polyhedral/affine.hpp"
#include "polyhedral/transform/promote_parts.hpp"

namespace facet {

namespace {

// Those { a[i] -> b[j] } of `pairs` in which a[i] runs first.
isl::map run_in_order(const TreePtr& node, int a, int b, const isl::map& pairs) {
  if (node->kind == Tree::Kind::kLeaf) return pairs.subtract(pairs);
  if (node->kind == Tree::Kind::kLoop) {
    const isl::pw_aff &f = node->member.at(a), &g = node->member.at(b);
    const isl::map together = pairs.intersect(compare_map(f, Compare::kEqual, g));
    return pairs.intersect(compare_map(f, Compare::kLess, g)).unite(run_in_order(node->children[0], a, b, together));
  }
  for (const TreePtr& child : node->children) {
    const bool has_a = contains(child, a), has_b = contains(child, b);
    if (has_a && has_b) return run_in_order(child, a, b, pairs);
    if (has_a || has_b) return has_a ? pairs : pairs.subtract(pairs);
  }
  return pairs;
}

}  // namespace

isl::map of_one_element(const Statement& writer, const Statement& copy) {
  const Access& read = copy.reads[0];
  return with_range_tuple(writer.write.relation, array_id(read.array)).apply_range(read.relation.reverse());
}

void keep_order_of_boxes(Schedule& next, const StorageMap& m) {
  const Statement& copy = next.statement(m.copy_in);
  Dependences list;
  for (const int w : statements_of(next.tree)) {
    if (next.statement(w).target != m.array || w == m.copy_in) continue;
    const isl::map pairs = of_one_element(next.statement(w), copy);
    const isl::map first = run_in_order(next.tree, w, m.copy_in, pairs);
    list.push_back(make_dependence(DependenceKind::kFlow, w, m.copy_in, m.array, first));
    list.push_back(make_dependence(DependenceKind::kAnti, m.copy_in, w, m.array, pairs.subtract(first).reverse()));
  }
  add_dependences(next, std::move(list));
}

}  // namespace facet
