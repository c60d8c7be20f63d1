// [b, heads, s, d] and [b, s, heads * d].
#include "src/ops/head_view.hpp"

namespace facet {

std::string HeadView::at(const ExprPtr& n, const ExprPtr& h, const ExprPtr& s, const ExprPtr& d) const {
  if (packed) return ref(formal(operand), {n, s, idx_add(idx_mul(features, h), d)});
  return ref(formal(operand), {n, h, s, d});
}

HeadView view_of(OpBuilder& b, int operand, const std::string& attribute) {
  HeadView v;
  v.operand = operand;
  if (!b.expect_rank(operand, 3, 4)) return v;
  v.packed = b.rank(operand) == 3;
  v.batch = b.dim(operand, 0);
  if (!v.packed) {
    v.heads = b.dim(operand, 1);
    v.length = b.dim(operand, 2);
    v.features = b.dim(operand, 3);
    return v;
  }
  const std::int64_t heads = b.integer(attribute);
  const std::optional<ExprPtr> features = heads > 0 ? exact_quotient(b.dim(operand, 2), idx(heads)) : std::nullopt;
  if (!features || !constant_of(*features)) {
    b.bad_value(attribute, "must be given for rank 3 and divide the constant " + to_text(b.dim(operand, 2)) + " features");
    return v;
  }
  v.heads = idx(heads);
  v.length = b.dim(operand, 1);
  v.features = *features;
  return v;
}

}  // namespace facet
