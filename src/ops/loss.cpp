// Losses: one value per element or example, then none, mean or sum of them.
#include "src/ops/map_template.hpp"
#include "src/ops/simple_def.hpp"

namespace facet {

namespace {

AttrDef reduction_attr(std::vector<std::string> choices = {"none", "mean", "sum"}) {
  return text_attr("reduction", "mean", "what happens to the single losses", std::move(choices));
}

// y0 from `value`, the loss (in acc) at each point of `l`; `weight` is a text (or "") whose sum divides the mean.
void reduce_losses(OpBuilder& b, const Loops& l, const std::string& value, DType acc, const std::string& weight = "") {
  const std::string how = b.word("reduction");
  const DType in = b.dtype();
  Shape shape;
  for (const Loop& x : l) shape.push_back(x.extent);
  if (how == "none") {
    b.out(0, in, shape);
    return b.line("y0", l, cast_text(in, acc, value));
  }
  b.out(0, in, {});
  std::string text = reduction("sum", l, value);
  if (how == "mean") text += " / " + in_parens(weight.empty() ? extent_text(acc, shape) : reduction("sum", l, weight));
  if (how == "batchmean") text += " / " + in_parens(extent_text(acc, {shape.empty() ? idx(1) : shape[0]}));
  b.line("y0", {}, cast_text(in, acc, text), l);
}

// Elementwise losses of x and target, from a template over $0 and $1.
void define_pairwise(OpBuilder& b, const std::string& text) {
  const Shape shape = broadcast_shape(b, {0, 1});
  if (b.failed()) return;
  const Loops l = b.loops(shape);
  const DType in = b.dtype(), acc = accumulator(b, in);
  reduce_losses(
      b, l,
      fill_template(b, text, acc, {cast_text(acc, in, broadcast_read(b, 0, l)), cast_text(acc, in, broadcast_read(b, 1, l))}),
      acc);
}

// Labels [n, d...] against scores [n, c, d...].
bool labels_fit(OpBuilder& b) {
  if (!b.expect_rank(0, 2) || !b.expect_rank(1, b.rank(0) - 1, b.rank(0) - 1) || (b.has(2) && !b.expect_rank(2, 1, 1)))
    return false;
  Shape expected = b.shape(0);
  expected.erase(expected.begin() + 1);
  if (!same_shape(expected, b.shape(1)))
    b.bad_shapes(1, "labels " + shape_text(b.shape(1)) + " should be " + shape_text(expected));
  if (b.has(2) && !same_dim(b.dim(2, 0), b.dim(0, 1)))
    b.bad_shapes(2, "weights " + shape_text(b.shape(2)) + " should have " + to_text(b.dim(0, 1)) + " elements");
  if (constant_of(b.dim(0, 1)) == 0) b.fail(Code::kEmptyArgument, "/in/0", {b.def().name});  // a label chooses a class
  return !b.failed();
}

// Picks -log_prob[n, label, d...] per example, weighted, without the ignored label. `log_prob` is a name to index.
void label_losses(OpBuilder& b, const std::string& log_prob, DType log_type) {
  const DType in = b.dtype(), acc = accumulator(b, in);
  const Loops l = b.loops(b.shape(1));
  const std::string label = ref("a1", indices_of(l)), wrapped = "wrap(" + label + ")";
  std::string read = log_prob + "[" + l[0].name + ", " + wrapped;
  for (std::size_t a = 1; a < l.size(); ++a) read += ", " + l[a].name;
  std::string value = "-" + cast_text(acc, log_type, read + "]");
  std::string weight = b.has(2) ? cast_text(acc, b.dtype(2), "a2[" + wrapped + "]") : "";
  if (!weight.empty()) value = weight + " * (" + value + ")";
  if (b.given("ignore_index")) {
    const std::string ignored = label + " == " + std::to_string(b.integer("ignore_index"));
    value = "select(" + ignored + ", 0.0, " + value + ")";
    weight = "select(" + ignored + ", 0.0, " + (weight.empty() ? "cast(" + to_text(acc) + ", 1.0)" : weight) + ")";
  }
  reduce_losses(b, l, value, acc, weight);
}

void define_negative_log_likelihood(OpBuilder& b) {
  if (labels_fit(b)) label_losses(b, "a0", b.dtype());
}

void define_cross_entropy(OpBuilder& b) {
  if (!labels_fit(b)) return;
  const DType in = b.dtype(), acc = accumulator(b, in);
  const Loops all = b.loops(b.shape(0));
  Loops rest = all;
  rest.erase(rest.begin() + 1);
  const Loop r = b.loop("r", all[1].extent);
  Subscripts moved = indices_of(all);
  moved[1] = r.index();
  const std::string top = b.local("top"), total = b.local("total"), log_prob = b.local("log_prob");
  const std::string at_top = ref(top, indices_of(rest)), element = cast_text(acc, in, ref("a0", moved));
  b.line(top, rest, reduction("max", {r}, element), {r});
  b.line(total, rest, "log(" + reduction("sum", {r}, "exp(" + element + " - " + at_top + ")") + ")", {r});
  b.line(log_prob, all, cast_text(acc, in, ref("a0", indices_of(all))) + " - " + at_top + " - " + ref(total, indices_of(rest)));
  label_losses(b, log_prob, acc);
  if (b.output_count() < 2) return;
  b.out(1, in, b.shape(0));
  if (b.wants(1)) b.line("y1", all, cast_text(in, acc, ref(log_prob, indices_of(all))));
}

// max(d(anchor, positive) - d(anchor, negative) + margin, 0) over the last axis; with swap the nearer of two distances counts.
void define_triplet(OpBuilder& b) {
  const double p = b.number("p");
  if (!(p > 0)) return b.bad_value("p", "must be positive");
  if (!b.expect_rank(0, 1)) return;
  for (int k = 1; k < 3; ++k)
    if (!same_shape(b.shape(k), b.shape(0)))
      return b.bad_shapes(
          k, "operand " + std::to_string(k) + " " + shape_text(b.shape(k)) + " differs from " + shape_text(b.shape(0)));
  const DType in = b.dtype(), acc = accumulator(b, in);
  const Loops all = b.loops(b.shape(0)), rest(all.begin(), all.end() - 1);
  const Loops along = {all.back()};
  const auto distance = [&](int x, int y) {
    const std::string d = "abs(" + cast_text(acc, in, ref(formal(x), indices_of(all))) + " - " +
                          cast_text(acc, in, ref(formal(y), indices_of(all))) + " + " + number_text(acc, b.number("eps")) + ")";
    const std::string name = b.local("distance");
    const std::string sum = p == 1   ? reduction("sum", along, d)
                            : p == 2 ? "sqrt(" + reduction("sum", along, d + " * " + d) + ")"
                                     : "pow(" + reduction("sum", along, "pow(" + d + ", " + number_text(acc, p) + ")") + ", " +
                                           number_text(acc, 1 / p) + ")";
    b.line(name, rest, sum, along);
    return ref(name, indices_of(rest));
  };
  const std::string positive = distance(0, 1);
  std::string negative = distance(0, 2);
  if (b.flag("swap")) negative = "min(" + negative + ", " + distance(1, 2) + ")";
  reduce_losses(b, rest, "max(" + positive + " - " + negative + " + " + number_text(acc, b.number("margin")) + ", 0.0)", acc);
}

OpDef loss(const std::string& name, const std::string& alias, const std::string& summary, std::vector<OperandDef> operands,
           std::vector<AttrDef> attributes, std::function<void(OpBuilder&)> define) {
  OpDef def = simple_def("loss", name, summary, DTypes::kFloat, std::move(attributes), std::move(define));
  if (!alias.empty()) def.aliases = {alias};
  def.operands = std::move(operands);
  def.attributes.push_back(acc_attribute());
  def.tolerance = Tolerance::kSum;
  return def;
}

void add_pairwise(std::vector<OpDef>& table, const std::string& name, const std::string& alias, const std::string& summary,
                  const std::string& text, const std::vector<std::pair<std::string, double>>& numbers = {}) {
  std::vector<AttrDef> attributes = {reduction_attr()};
  Attributes changed = {{"reduction", as_attribute("sum")}};
  for (const auto& [attribute, fallback] : numbers) {
    attributes.push_back(float_attr(attribute, fallback, "as in the formula"));
    changed[attribute] = as_attribute(0.25);
  }
  OpDef def = loss(name, alias, summary, {{"x", DTypes::kFloat, 'T', false}, {"target", DTypes::kFloat, 'T', false}},
                   attributes, [text](OpBuilder& b) { define_pairwise(b, text); });
  def.samples = {{{"f32[3, 4]", "f32[3, 4]"}, {}},
                 {{"f32[5]", "f32[5]"}, changed},
                 {{"f32[2, 3]", "f32[2, 3]"}, {{"reduction", as_attribute("none")}}}};
  table.push_back(std::move(def));
}

void add_label_losses(std::vector<OpDef>& table) {
  const std::vector<OperandDef> operands = {
      {"scores", DTypes::kFloat, 'T', false}, {"labels", DTypes::kInteger, 'I', false}, {"weights", DTypes::kFloat, 'T', true}};
  const std::vector<AttrDef> attributes = {
      reduction_attr(), optional_attr("ignore_index", AttrKind::kInt, "examples with this label count nothing; absent: none")};
  const std::vector<OpSample> samples = {{{"f32[4, 3]", "i64[4]"}, {}},
                                         {{"f32[4, 3]", "i64[4]", "f32[3]"}, {}},
                                         {{"f32[2, 3, 5]", "i32[2, 5]", "f32[3]"}, {{"ignore_index", as_attribute(1)}}},
                                         {{"f32[4, 3]", "i64[4]"}, {{"reduction", as_attribute("none")}}}};
  OpDef cross = loss("softmax_cross_entropy_loss", "cross_entropy",
                     "-log softmax(scores)[label] over axis 1, weighted by label", operands, attributes, define_cross_entropy);
  cross.outputs = {"y", "log_prob"};
  cross.aliases.push_back("cross_entropy_loss");
  cross.samples = samples;
  cross.gradient = Gradient::kSmooth;
  table.push_back(std::move(cross));
  OpDef nll =
      loss("negative_log_likelihood_loss", "nll_loss", "-x[label] over axis 1, weighted by label; x holds log-probabilities",
           operands, attributes, define_negative_log_likelihood);
  nll.samples = samples;
  table.push_back(std::move(nll));
}

}  // namespace

void add_losses(std::vector<OpDef>& table) {
  add_pairwise(table, "mse_loss", "mse", "(x - target)^2", "($0 - $1) * ($0 - $1)");
  add_pairwise(table, "l1_loss", "", "|x - target|", "abs($0 - $1)");
  add_pairwise(table, "huber_loss", "huber", "half the squared difference, linear beyond delta",
               "select(abs($0 - $1) <= {delta}, 0.5 * ($0 - $1) * ($0 - $1), {delta} * (abs($0 - $1) - 0.5 * {delta}))",
               {{"delta", 1.0}});
  add_pairwise(table, "smooth_l1_loss", "", "half the squared difference over beta, linear beyond beta",
               "select(abs($0 - $1) < {beta}, 0.5 * ($0 - $1) * ($0 - $1) / {beta}, abs($0 - $1) - 0.5 * {beta})",
               {{"beta", 1.0}});
  add_pairwise(table, "hinge_loss", "hinge", "max(0, margin - x * target), targets are -1 or 1", "max(@0, {margin} - $0 * $1)",
               {{"margin", 1.0}});
  add_pairwise(table, "binary_cross_entropy", "", "-(t log x + (1 - t) log(1 - x)), logarithms no lower than -100",
               "-($1 * max(log($0), -100.0) + (@1 - $1) * max(log1p(-$0), -100.0))");
  OpDef kl = loss("kl_div", "kl_div_loss", "target * (log target - x), x holds log-probabilities",
                  {{"x", DTypes::kFloat, 'T', false}, {"target", DTypes::kFloat, 'T', false}},
                  {reduction_attr({"none", "mean", "sum", "batchmean"}),
                   flag_attr("log_target", false, "1: the target holds log-probabilities too")},
                  [](OpBuilder& b) {
                    define_pairwise(b, b.flag("log_target")
                                           ? "exp($1) * ($1 - $0)"
                                           : "select($1 > @0, $1 * (log($1) - $0), select($1 < @0, $1 * log($1), @0))");
                  });
  kl.samples = {{{"f32[3, 4]", "f32[3, 4]"}, {}},
                {{"f32[3, 4]", "f32[3, 4]"}, {{"reduction", as_attribute("batchmean")}, {"log_target", as_attribute(1)}}}};
  table.push_back(std::move(kl));
  add_label_losses(table);
  OpDef triplet = loss("triplet_margin_loss", "triplet_margin",
                       "max(0, |anchor - positive| - |anchor - negative| + margin), p-norms over the last axis",
                       {{"anchor", DTypes::kFloat, 'T', false},
                        {"positive", DTypes::kFloat, 'T', false},
                        {"negative", DTypes::kFloat, 'T', false}},
                       {reduction_attr(), float_attr("margin", 1, "distance that is enough"), float_attr("p", 2, "of the norm"),
                        float_attr("eps", 1e-6, "added to each difference"),
                        flag_attr("swap", false, "1: |positive - negative| counts when it is smaller")},
                       define_triplet);
  triplet.samples = {{{"f32[3, 4]", "f32[3, 4]", "f32[3, 4]"}, {}},
                     {{"f32[3, 4]", "f32[3, 4]", "f32[3, 4]"},
                      {{"swap", as_attribute(1)}, {"p", as_attribute(1.0)}, {"reduction", as_attribute("none")}}}};
  table.push_back(std::move(triplet));
}

}  // namespace facet
