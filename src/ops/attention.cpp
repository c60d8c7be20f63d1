// Scaled dot-product attention: masks, causal, grouped heads, softcap, a cache of earlier keys and values.
//
// A causal mask is a condition on the reduction over positions (t <= i, behind a cache of P positions t <= i + P), not a -inf
// in the scores: the masked half is never computed. A float mask is added to the scaled scores, then softcap is applied, then
// softmax; positions of a false bool mask are excluded.
//
// past_key and past_value stand before k and v along the positions; the two together are the present ones, outputs or locals of
// rank 4. qk_matmul is the scores at the stage that qk_matmul_output_mode names; positions that are not seen read -inf there
// (0 behind the softmax), and are computed for mode 0 alone, which is the plain product.
#include <cmath>

#include "src/ops/head_view.hpp"
#include "src/ops/simple_def.hpp"

namespace facet {

namespace {

enum Operand { kQuery, kKey, kValue, kMask, kPastKey, kPastValue };
enum ScoreStage { kProduct, kMasked, kCapped, kSoftmax };

class Attention {
 public:
  explicit Attention(OpBuilder& b) : b_(b), in_(b.dtype()), acc_(accumulator(b, b.dtype())) {}
  bool read();
  void define();

 private:
  bool read_heads();
  bool read_past();
  bool read_mask();
  void read_precision();
  std::string factor();
  // The keys or the values behind the cache: element (batch, head of k, position, feature).
  std::string present(int operand, int past, int out, const HeadView& view);
  std::string key_or_value(const std::string& array, const HeadView& view, const ExprPtr& t, const ExprPtr& feature) const;
  std::string scores(const std::string& keys);
  void scores_out(const std::string& value, ScoreStage stage);
  void result(const std::string& mix, const std::string& total);

  std::string scored(const std::string& local) const { return ref(local, indices_of(score_)); }

  OpBuilder& b_;
  const DType in_, acc_;
  DType soft_ = DType::kF32;  // the softmax's
  HeadView q_, k_, v_;
  std::int64_t group_ = 1;  // query heads per key head
  ExprPtr past_;            // positions in the cache
  Loop n_, h_, i_, t_, d_, e_;
  Loops score_, row_;
  std::vector<std::string> seen_;  // the condition of a causal mask
  std::string hidden_;             // its opposite
  std::string mask_;               // the mask's element; "" when there is none
};

bool Attention::read() {
  if (!read_heads() || !read_past()) return false;
  read_precision();
  const ExprPtr length = normal(idx_add(k_.length, past_));
  n_ = b_.loop("b", q_.batch);
  h_ = b_.loop("h", q_.heads);
  i_ = b_.loop("i", q_.length);
  t_ = b_.loop("t", length);
  d_ = b_.loop("d", q_.features);
  e_ = b_.loop("e", v_.features);
  score_ = {n_, h_, i_, t_};
  row_ = {n_, h_, i_};
  if (b_.flag("is_causal")) {
    const std::string last = to_text(normal(idx_add(i_.index(), past_)));
    seen_ = {t_.name + " <= " + last};
    hidden_ = t_.name + " > " + last;
  }
  return read_mask();
}

bool Attention::read_heads() {
  q_ = view_of(b_, kQuery, "q_num_heads");
  k_ = view_of(b_, kKey, "kv_num_heads");
  v_ = view_of(b_, kValue, "kv_num_heads");
  if (b_.failed()) return false;
  if (!same_dim(q_.batch, k_.batch) || !same_dim(q_.batch, v_.batch)) b_.bad_shapes(1, "the batch sizes of q, k and v differ");
  if (!same_dim(q_.features, k_.features))
    b_.bad_shapes(1, "q has " + to_text(q_.features) + " features a head, k has " + to_text(k_.features));
  if (!same_dim(k_.length, v_.length) || !same_dim(k_.heads, v_.heads)) b_.bad_shapes(2, "k and v differ in length or heads");
  if (q_.packed && !constant_of(v_.features)) b_.not_affine("rank 3 with " + to_text(v_.features) + " features a head");
  if (same_dim(q_.heads, k_.heads)) return !b_.failed();
  const std::optional<std::int64_t> hq = constant_of(q_.heads), hk = constant_of(k_.heads);
  if (!hq || !hk || *hk < 1 || *hq % *hk != 0) {
    b_.bad_shapes(1, to_text(q_.heads) + " query heads are not a multiple of " + to_text(k_.heads) + " key heads");
  } else {
    group_ = *hq / *hk;
  }
  return !b_.failed();
}

bool Attention::read_past() {
  past_ = idx(0);
  if (b_.has(kPastKey) != b_.has(kPastValue)) {
    b_.bad_shapes(b_.has(kPastKey) ? kPastKey : kPastValue, "past_key and past_value belong together");
    return false;
  }
  if (!b_.has(kPastKey)) return true;
  if (!b_.expect_rank(kPastKey, 4, 4) || !b_.expect_rank(kPastValue, 4, 4)) return false;
  past_ = b_.dim(kPastKey, 2);
  const Shape key = {k_.batch, k_.heads, past_, k_.features}, value = {v_.batch, v_.heads, past_, v_.features};
  for (const auto& [operand, expected] : {std::pair(kPastKey, key), std::pair(kPastValue, value)})
    if (!same_shape(b_.shape(operand), expected))
      b_.bad_shapes(operand, b_.def().operands[static_cast<std::size_t>(operand)].name + " " + shape_text(b_.shape(operand)) +
                                 " should be " + shape_text(expected));
  return !b_.failed();
}

// The mask, broadcast over [n, h, i, t].
bool Attention::read_mask() {
  if (!b_.has(kMask)) return true;
  Shape full;
  for (const Loop& l : score_) full.push_back(l.extent);
  if (b_.rank(kMask) > 4 || (!same_shape(broadcast_two(b_, full, b_.shape(kMask), kMask), full) && !b_.failed()))
    b_.bad_shapes(kMask, "the mask " + shape_text(b_.shape(kMask)) + " does not broadcast to " + shape_text(full));
  if (!b_.failed()) mask_ = broadcast_read(b_, kMask, score_);
  return !b_.failed();
}

// The accumulators are at least f32 already, so a wish for less changes nothing.
void Attention::read_precision() {
  soft_ = b_.dtype_attr("softmax_precision", acc_);
  if (!is_float(soft_)) b_.bad_value("softmax_precision", to_text(soft_) + " is no float");
  if (size_bytes(soft_) < size_bytes(acc_)) soft_ = acc_;
}

std::string Attention::factor() {
  if (b_.given("scale")) return number_text(acc_, b_.number("scale"));
  const std::optional<std::int64_t> features = constant_of(q_.features);
  return features ? number_text(acc_, 1 / std::sqrt(static_cast<double>(*features)))
                  : "(1.0 / sqrt(" + extent_text(acc_, {q_.features}) + "))";
}

std::string Attention::present(int operand, int past, int out, const HeadView& view) {
  if (b_.output_count() > out) b_.out(out, in_, {view.batch, view.heads, t_.extent, view.features});
  if (!b_.wants(out) && !b_.has(past)) return "";
  const std::string array = b_.wants(out) ? "y" + std::to_string(out) : b_.local(operand == kKey ? "keys" : "values");
  const Loops l = {n_, b_.loop("g", view.heads), t_, b_.loop("f", view.features)};
  const std::string own = view.at(n_.index(), l[1].index(), normal(idx_sub(t_.index(), past_)), l[3].index());
  const bool cached = b_.has(past) && constant_of(past_) != 0;
  if (cached) b_.line(array, l, ref(formal(past), indices_of(l)), {}, {t_.name + " < " + to_text(past_)});
  if (!cached || constant_of(view.length) != 0)
    b_.line(array, l, own, {},
            cached ? std::vector<std::string>{t_.name + " >= " + to_text(past_)} : std::vector<std::string>{});
  return array;
}

std::string Attention::key_or_value(const std::string& array, const HeadView& view, const ExprPtr& t,
                                    const ExprPtr& feature) const {
  const ExprPtr head = idx_floordiv(h_.index(), group_);
  return cast_text(acc_, in_,
                   array.empty() ? view.at(n_.index(), head, t, feature) : ref(array, {n_.index(), head, t, feature}));
}

// The scores that enter the softmax: a local, where they are seen.
std::string Attention::scores(const std::string& keys) {
  const bool by_condition = !mask_.empty() && b_.dtype(kMask) == DType::kBool;
  const std::int64_t stage = b_.wants(3) ? b_.integer("qk_matmul_output_mode") : -1;
  std::string value = reduction("sum", {d_},
                                cast_text(acc_, in_, q_.at(n_.index(), h_.index(), i_.index(), d_.index())) + " * " +
                                    key_or_value(keys, k_, t_.index(), d_.index())) +
                      " * " + factor();
  Loops reduced = {d_};
  const auto keep = [&](const std::string& hint, const std::vector<std::string>& where) {
    const std::string local = b_.local(hint);
    b_.line(local, score_, value, reduced, where);
    reduced = {};
    value = scored(local);
  };
  const auto excluded = [&](const std::string& x) { return by_condition ? "select(" + mask_ + ", " + x + ", -inf)" : x; };
  if (stage == kProduct) {
    keep("product", {});
    scores_out(value, kProduct);
  }
  if (!mask_.empty() && !by_condition) value += " + " + cast_text(acc_, b_.dtype(kMask), mask_);
  if (stage == kMasked) {
    keep("masked", seen_);
    scores_out(excluded(value), kMasked);
  }
  const std::string cap = number_text(acc_, b_.number("softcap"));
  if (b_.number("softcap") > 0) value = cap + " * tanh((" + value + ") / " + cap + ")";
  value = cast_text(soft_, acc_, excluded(value));
  const std::string local = b_.local("scores");
  b_.line(local, score_, value, reduced, seen_);
  if (stage == kCapped) scores_out(scored(local), kCapped);
  return local;
}

void Attention::scores_out(const std::string& value, ScoreStage stage) {
  const DType from = stage == kProduct || stage == kMasked ? acc_ : soft_;
  const bool all = stage == kProduct || seen_.empty();
  b_.line("y3", score_, cast_text(in_, from, value), {}, all ? std::vector<std::string>{} : seen_);
  if (!all) b_.line("y3", score_, stage == kSoftmax ? "0.0" : "-inf", {}, {hidden_});
}

void Attention::define() {
  const Shape packed = {q_.batch, q_.length, normal(idx_mul(v_.features, q_.heads))};
  b_.out(0, in_, q_.packed ? packed : Shape{q_.batch, q_.heads, q_.length, v_.features});
  const std::string keys = present(kKey, kPastKey, 1, k_), values = present(kValue, kPastValue, 2, v_);
  if (b_.output_count() > 3) b_.out(3, in_, {q_.batch, q_.heads, q_.length, t_.extent});
  const std::string score = scores(keys), top = b_.local("top"), powers = b_.local("powers"), total = b_.local("total"),
                    mix = b_.local("mix");
  b_.line(top, row_, reduction("max", {t_}, scored(score)), {t_}, seen_);
  b_.line(powers, score_, "exp(" + scored(score) + " - " + ref(top, indices_of(row_)) + ")", {}, seen_);
  b_.line(total, row_, reduction("sum", {t_}, scored(powers)), {t_}, seen_);
  if (b_.wants(3) && b_.integer("qk_matmul_output_mode") == kSoftmax)
    scores_out(scored(powers) + " / " + ref(total, indices_of(row_)), kSoftmax);
  b_.line(
      mix, {n_, h_, i_, e_},
      reduction("sum", {t_}, scored(powers) + " * " + cast_text(soft_, acc_, key_or_value(values, v_, t_.index(), e_.index()))),
      {t_}, seen_);
  result(mix, total);
}

void Attention::result(const std::string& mix, const std::string& total) {
  const Loops left = {n_, h_, i_, e_};
  if (!q_.packed)
    return b_.line("y0", left, cast_text(in_, soft_, ref(mix, indices_of(left)) + " / " + ref(total, indices_of(row_))));
  const std::int64_t width = std::max<std::int64_t>(*constant_of(v_.features), 1);
  const Loop j = b_.loop("j", normal(idx_mul(v_.features, q_.heads)));
  const ExprPtr head = idx_floordiv(j.index(), width);
  b_.line("y0", {n_, i_, j},
          cast_text(in_, soft_,
                    ref(mix, {n_.index(), head, i_.index(), idx_mod(j.index(), width)}) + " / " +
                        ref(total, {n_.index(), head, i_.index()})));
}

void define_attention(OpBuilder& b) {
  if (const std::int64_t mode = b.integer("qk_matmul_output_mode"); mode < 0 || mode > 3)
    b.bad_value("qk_matmul_output_mode", std::to_string(mode) + " is not one of 0, 1, 2, 3");
  Attention attention(b);
  if (attention.read() && !b.failed()) attention.define();
}

}  // namespace

void add_attention(std::vector<OpDef>& table) {
  OpDef attention = simple_def(
      "attention", "attention", "softmax(q k' * scale + mask) v per head; q, k, v are [b, heads, s, d] or [b, s, heads * d]",
      DTypes::kFloat,
      {flag_attr("is_causal", false, "1: position i sees positions up to i"),
       optional_attr("scale", AttrKind::kFloat, "factor of q k'; absent: 1 / sqrt(d)"),
       float_attr("softcap", 0, "above 0: scores become softcap * tanh(scores / softcap)"),
       int_attr("q_num_heads", 0, "of rank 3 operands"), int_attr("kv_num_heads", 0, "of rank 3 operands"),
       int_attr("qk_matmul_output_mode", 0,
                "what qk_matmul holds: 0 the scaled product, 1 with the mask, 2 behind softcap, 3 behind the softmax"),
       optional_attr("softmax_precision", AttrKind::kDType, "dtype of the softmax; absent or narrower: the accumulators'"),
       acc_attribute()},
      define_attention);
  attention.operands = {{"q", DTypes::kFloat, 'T', false},       {"k", DTypes::kFloat, 'T', false},
                        {"v", DTypes::kFloat, 'T', false},       {"mask", DTypes::kAny, 'M', true},
                        {"past_key", DTypes::kFloat, 'T', true}, {"past_value", DTypes::kFloat, 'T', true}};
  attention.outputs = {"y", "present_key", "present_value", "qk_matmul"};
  attention.tolerance = Tolerance::kSum;
  attention.samples = {
      {{"f32[1, 2, 4, 3]", "f32[1, 2, 5, 3]", "f32[1, 2, 5, 2]"}, {}},
      {{"f32[1, 4, 4, 3]", "f32[1, 2, 4, 3]", "f32[1, 2, 4, 3]"},
       {{"is_causal", as_attribute(1)}, {"scale", as_attribute(0.5)}}},
      {{"f32[2, 2, 3, 4]", "f32[2, 2, 3, 4]", "f32[2, 2, 3, 4]", "f32[3, 3]"}, {{"softcap", as_attribute(2.0)}}},
      {{"f32[1, 2, 3, 4]", "f32[1, 2, 3, 4]", "f32[1, 2, 3, 4]", "bool[1, 1, 3, 3]"}, {}},
      {{"f32[2, 3, 8]", "f32[2, 5, 4]", "f32[2, 5, 6]"}, {{"q_num_heads", as_attribute(4)}, {"kv_num_heads", as_attribute(2)}}},
      {{"f32[2, 4, 3, 6]", "f32[2, 2, 3, 6]", "f32[2, 2, 3, 5]", "", "f32[2, 2, 7, 6]", "f32[2, 2, 7, 5]"},
       {{"is_causal", as_attribute(1)}, {"qk_matmul_output_mode", as_attribute(3)}},
       4},
      {{"f32[2, 3, 8]", "f32[2, 5, 4]", "f32[2, 5, 6]", "bool[3, 9]", "f32[2, 2, 4, 2]", "f32[2, 2, 4, 3]"},
       {{"q_num_heads", as_attribute(4)}, {"kv_num_heads", as_attribute(2)}, {"qk_matmul_output_mode", as_attribute(1)}},
       4}};
  attention.gradient = Gradient::kSmooth;
  table.push_back(std::move(attention));
}

}  // namespace facet
