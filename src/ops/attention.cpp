// Scaled dot-product attention (masks, causal, grouped heads, softcap) and rotary position embedding.
//
// A causal mask is a condition on the reduction over positions (t <= i), not a -inf in the scores: the masked half is never
// computed. A float mask is added to the scaled scores, then softcap is applied, then softmax; positions of a false bool mask
// are excluded.
#include <cmath>

#include "src/ops/simple_def.hpp"
#include "src/ops/builder.hpp"

namespace facet {

namespace {

// An operand [b, heads, s, d], or [b, s, heads * d]: element (batch, head, position, feature).
struct HeadView {
  int operand = 0;
  bool packed = false;
  ExprPtr batch, heads, length, features;

  std::string at(const ExprPtr& n, const ExprPtr& h, const ExprPtr& s, const ExprPtr& d) const {
    if (packed) return ref(formal(operand), {n, s, idx_add(idx_mul(features, h), d)});
    return ref(formal(operand), {n, h, s, d});
  }
};

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

struct Attention {
  HeadView q, k, v;
  std::int64_t group = 1;  // query heads per key head
};

bool read_attention(OpBuilder& b, Attention* a) {
  a->q = view_of(b, 0, "q_num_heads");
  a->k = view_of(b, 1, "kv_num_heads");
  a->v = view_of(b, 2, "kv_num_heads");
  if (b.failed()) return false;
  if (!same_dim(a->q.batch, a->k.batch) || !same_dim(a->q.batch, a->v.batch))
    b.bad_shapes(1, "the batch sizes of q, k and v differ");
  if (!same_dim(a->q.features, a->k.features))
    b.bad_shapes(1, "q has " + to_text(a->q.features) + " features a head, k has " + to_text(a->k.features));
  if (!same_dim(a->k.length, a->v.length) || !same_dim(a->k.heads, a->v.heads))
    b.bad_shapes(2, "k and v differ in length or heads");
  const std::optional<std::int64_t> hq = constant_of(a->q.heads), hk = constant_of(a->k.heads);
  if (same_dim(a->q.heads, a->k.heads)) return !b.failed();
  if (!hq || !hk || *hk < 1 || *hq % *hk != 0) {
    b.bad_shapes(1, to_text(a->q.heads) + " query heads are not a multiple of " + to_text(a->k.heads) + " key heads");
  } else {
    a->group = *hq / *hk;
  }
  return !b.failed();
}

// The mask read broadcast over [n, h, i, t]; "" when there is none.
std::string mask_read(OpBuilder& b, const Loops& score) {
  if (!b.has(3)) return "";
  Shape full;
  for (const Loop& l : score) full.push_back(l.extent);
  if (b.rank(3) > 4 || (!same_shape(broadcast_two(b, full, b.shape(3), 3), full) && !b.failed()))
    b.bad_shapes(3, "the mask " + shape_text(b.shape(3)) + " does not broadcast to " + shape_text(full));
  return b.failed() ? "" : broadcast_read(b, 3, score);
}

void define_attention(OpBuilder& b) {
  Attention a;
  if (!read_attention(b, &a)) return;
  const DType in = b.dtype(), acc = accumulator(b, in);
  const Loop n = b.loop("b", a.q.batch), h = b.loop("h", a.q.heads), i = b.loop("i", a.q.length), t = b.loop("t", a.k.length),
             d = b.loop("d", a.q.features), e = b.loop("e", a.v.features);
  const ExprPtr kv = idx_floordiv(h.index(), a.group);
  const Loops score = {n, h, i, t}, row = {n, h, i};
  const bool causal = b.flag("is_causal");
  const std::vector<std::string> seen =
      causal ? std::vector<std::string>{t.name + " <= " + i.name} : std::vector<std::string>{};
  const std::string mask = mask_read(b, score);
  if (b.failed()) return;
  double scale = b.number("scale");
  std::string factor = number_text(acc, scale);
  if (!b.given("scale")) {
    const std::optional<std::int64_t> features = constant_of(a.q.features);
    factor = features ? number_text(acc, 1 / std::sqrt(static_cast<double>(*features)))
                      : "(1.0 / sqrt(" + extent_text(acc, {a.q.features}) + "))";
  }
  std::string value = reduction("sum", {d},
                                cast_text(acc, in, a.q.at(n.index(), h.index(), i.index(), d.index())) + " * " +
                                    cast_text(acc, in, a.k.at(n.index(), kv, t.index(), d.index()))) +
                      " * " + factor;
  const bool bool_mask = !mask.empty() && b.dtype(3) == DType::kBool;
  if (!mask.empty() && !bool_mask) value += " + " + cast_text(acc, b.dtype(3), mask);
  if (b.number("softcap") > 0)
    value = number_text(acc, b.number("softcap")) + " * tanh((" + value + ") / " + number_text(acc, b.number("softcap")) + ")";
  if (bool_mask) value = "select(" + mask + ", " + value + ", -inf)";
  const Shape shape = a.q.packed ? Shape{a.q.batch, a.q.length, normal(idx_mul(a.v.features, a.q.heads))}
                                 : Shape{a.q.batch, a.q.heads, a.q.length, a.v.features};
  if (a.q.packed && !constant_of(a.v.features))
    return b.not_affine("rank 3 with " + to_text(a.v.features) + " features a head");
  b.out(0, in, shape);
  const std::string scores = b.local("scores"), top = b.local("top"), powers = b.local("powers"), total = b.local("total"),
                    mix = b.local("mix");
  b.line(scores, score, value, {d}, seen);
  b.line(top, row, reduction("max", {t}, ref(scores, indices_of(score))), {t}, seen);
  b.line(powers, score, "exp(" + ref(scores, indices_of(score)) + " - " + ref(top, indices_of(row)) + ")", {}, seen);
  b.line(total, row, reduction("sum", {t}, ref(powers, indices_of(score))), {t}, seen);
  const Loops left = {n, h, i, e};
  b.line(mix, left,
         reduction("sum", {t},
                   ref(powers, indices_of(score)) + " * " + cast_text(acc, in, a.v.at(n.index(), kv, t.index(), e.index()))),
         {t}, seen);
  if (!a.q.packed)
    return b.line("y0", left, cast_text(in, acc, ref(mix, indices_of(left)) + " / " + ref(total, indices_of(row))));
  const Loop j = b.loop("j", shape[2]);
  const std::int64_t width = std::max<std::int64_t>(*constant_of(a.v.features), 1);
  const ExprPtr head = idx_floordiv(j.index(), width);
  b.line("y0", {n, i, j},
         cast_text(in, acc,
                   ref(mix, {n.index(), head, i.index(), idx_mod(j.index(), width)}) + " / " +
                       ref(total, {n.index(), head, i.index()})));
}

// The cosine or sine for (batch, position, pair): the cache directly, or gathered by the position ids.
std::string angle(const OpBuilder& b, int cache, const ExprPtr& n, const ExprPtr& s, const ExprPtr& pair, DType acc) {
  std::string read = ref(formal(cache), {n, s, pair});
  if (b.has(3)) read = formal(cache) + "[wrap(" + ref("a3", {n, s}) + "), " + to_text(pair) + "]";
  return cast_text(acc, b.dtype(), read);
}

// Pairs (x1, x2) of features are turned by an angle: halves of the rotated features, or (interleaved) neighbours.
void define_rotary(OpBuilder& b) {
  const HeadView x = view_of(b, 0, "num_heads");
  if (b.failed()) return;
  const std::optional<std::int64_t> features = constant_of(x.features);
  if (!features) return b.not_affine("a symbolic number of features " + to_text(x.features));
  const std::int64_t rotated = b.integer("rotary_embedding_dim") > 0 ? b.integer("rotary_embedding_dim") : *features,
                     half = rotated / 2;
  if (rotated % 2 != 0 || rotated > *features)
    return b.bad_value("rotary_embedding_dim",
                       std::to_string(rotated) + " must be even and at most " + std::to_string(*features));
  const Shape cache = b.has(3) ? Shape{b.dim(1, 0), idx(half)} : Shape{x.batch, x.length, idx(half)};
  for (int k = 1; k < 3; ++k)
    if (!same_shape(b.shape(k), cache))
      return b.bad_shapes(k, "the cache " + shape_text(b.shape(k)) + " should be " + shape_text(cache));
  if (b.has(3) && !same_shape(b.shape(3), {x.batch, x.length}))
    return b.bad_shapes(3, "position ids " + shape_text(b.shape(3)) + " should be " + shape_text({x.batch, x.length}));
  if (b.has(3) && constant_of(b.dim(1, 0)) == 0) return b.fail(Code::kEmptyArgument, "/in/1", {b.def().name});
  const DType in = b.dtype(), acc = wide_float(in);
  b.out(0, in, b.shape(0));
  const Loops l = x.packed ? Loops{b.loop("b", x.batch), b.loop("s", x.length), b.loop("j", b.dim(0, 2))}
                           : Loops{b.loop("b", x.batch), b.loop("h", x.heads), b.loop("s", x.length), b.loop("d", x.features)};
  const ExprPtr n = l[0].index(), s = l[x.packed ? 1 : 2].index();
  const ExprPtr d = x.packed ? idx_mod(l[2].index(), *features) : l[3].index();
  const auto piece = [&](const ExprPtr& pair, std::int64_t first_shift, bool first, const std::string& condition) {
    // first: x1*cos - x2*sin at x1's place; second: x1*sin + x2*cos at x2's place, x1 lies `first_shift` below.
    const std::string own = cast_text(acc, in, ref("a0", indices_of(l)));
    Subscripts other = indices_of(l);
    other.back() = normal(idx_add(other.back(), idx(first ? first_shift : -first_shift)));
    const std::string partner = cast_text(acc, in, ref("a0", other));
    const std::string c = angle(b, 1, n, s, pair, acc), sn = angle(b, 2, n, s, pair, acc);
    b.line("y0", l, cast_text(in, acc, own + " * " + c + (first ? " - " : " + ") + partner + " * " + sn), {}, {condition});
    return 0;
  };
  const std::string at = to_text(d);
  if (b.flag("interleaved")) {
    const std::string inside = rotated < *features ? at + " < " + std::to_string(rotated) + " and " : "";
    piece(idx_floordiv(d, 2), 1, true, inside + at + " % 2 == 0");
    piece(idx_floordiv(d, 2), 1, false, inside + at + " % 2 == 1");
  } else {
    piece(d, half, true, at + " < " + std::to_string(half));
    piece(normal(idx_sub(d, idx(half))), half, false,
          at + " >= " + std::to_string(half) + (rotated < *features ? " and " + at + " < " + std::to_string(rotated) : ""));
  }
  if (rotated < *features) b.line("y0", l, ref("a0", indices_of(l)), {}, {at + " >= " + std::to_string(rotated)});
}

}  // namespace

void add_attention(std::vector<OpDef>& table) {
  OpDef attention = simple_def(
      "attention", "attention", "softmax(q k' * scale + mask) v per head; q, k, v are [b, heads, s, d] or [b, s, heads * d]",
      DTypes::kFloat,
      {flag_attr("is_causal", false, "1: position i sees positions up to i"),
       optional_attr("scale", AttrKind::kFloat, "factor of q k'; absent: 1 / sqrt(d)"),
       float_attr("softcap", 0, "above 0: scores become softcap * tanh(scores / softcap)"),
       int_attr("q_num_heads", 0, "of rank 3 operands"), int_attr("kv_num_heads", 0, "of rank 3 operands"), acc_attribute()},
      define_attention);
  attention.operands = {{"q", DTypes::kFloat, 'T', false},
                        {"k", DTypes::kFloat, 'T', false},
                        {"v", DTypes::kFloat, 'T', false},
                        {"mask", DTypes::kAny, 'M', true}};
  attention.tolerance = Tolerance::kSum;
  attention.samples = {
      {{"f32[1, 2, 4, 3]", "f32[1, 2, 5, 3]", "f32[1, 2, 5, 2]"}, {}},
      {{"f32[1, 4, 4, 3]", "f32[1, 2, 4, 3]", "f32[1, 2, 4, 3]"},
       {{"is_causal", as_attribute(1)}, {"scale", as_attribute(0.5)}}},
      {{"f32[2, 2, 3, 4]", "f32[2, 2, 3, 4]", "f32[2, 2, 3, 4]", "f32[3, 3]"}, {{"softcap", as_attribute(2.0)}}},
      {{"f32[1, 2, 3, 4]", "f32[1, 2, 3, 4]", "f32[1, 2, 3, 4]", "bool[1, 1, 3, 3]"}, {}},
      {{"f32[2, 3, 8]", "f32[2, 5, 4]", "f32[2, 5, 6]"},
       {{"q_num_heads", as_attribute(4)}, {"kv_num_heads", as_attribute(2)}}}};
  attention.gradient = Gradient::kSmooth;
  table.push_back(std::move(attention));
  OpDef rotary = simple_def(
      "attention", "rotary_embedding", "pairs of features of x turned by position-dependent angles", DTypes::kFloat,
      {flag_attr("interleaved", false, "1: a pair is two neighbours, else one of each half"),
       int_attr("num_heads", 0, "of a rank 3 x"), int_attr("rotary_embedding_dim", 0, "features that are turned; 0: all")},
      define_rotary);
  rotary.operands = {{"x", DTypes::kFloat, 'T', false},
                     {"cos_cache", DTypes::kFloat, 'T', false},
                     {"sin_cache", DTypes::kFloat, 'T', false},
                     {"position_ids", DTypes::kInteger, 'I', true}};
  rotary.tolerance = Tolerance::kMap;
  rotary.samples = {{{"f32[1, 2, 3, 4]", "f32[1, 3, 2]", "f32[1, 3, 2]"}, {}},
                    {{"f32[2, 2, 3, 6]", "f32[9, 2]", "f32[9, 2]", "i64[2, 3]"},
                     {{"interleaved", as_attribute(1)}, {"rotary_embedding_dim", as_attribute(4)}}},
                    {{"f32[2, 3, 8]", "f32[9, 2]", "f32[9, 2]", "i64[2, 3]"}, {{"num_heads", as_attribute(2)}}}};
  table.push_back(std::move(rotary));
}

}  // namespace facet
