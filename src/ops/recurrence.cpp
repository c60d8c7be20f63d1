// rnn, gru and lstm: static time loops.
//
//   input[t, n, u] = sum over i of x[t, n, i] w[u, i] + bias      one contraction over all steps, by equations
//   for n { h[0] = start;                                          the nest: a batch entry walks its own steps
//     for s in 0..T { for j { gates = input + sum over k of h[s, k] r[j, k];  h[s + 1, j] = ... } } }
//
// A further layer reads the states of the one before it, by a nest of its own: its weights w have 2 * hidden columns when the
// layers are bidirectional, so they are an operand apart, w_deep. Entry layer * directions + direction ("lane") of r, bias,
// peepholes and the states belongs to a direction of a layer.
//
// The state of every step is kept, so that a step reads the one before it and nothing is overwritten; statements and compile
// time do not depend on the length of the sequence, which may be a symbol. A reverse direction walks x from its end.
#include "src/ops/recurrence.hpp"

#include <algorithm>

namespace facet {

namespace {

constexpr ActivationRow kActivations[] = {
    {"Sigmoid", 0, 0, 0, "sigmoid($)"},
    {"Tanh", 0, 0, 0, "tanh($)"},
    {"Relu", 0, 0, 0, "max($, 0.0)"},
    {"Softsign", 0, 0, 0, "$ / (1.0 + fabs($))"},
    {"Softplus", 0, 0, 0, "max($, 0.0) + log1p(exp(-fabs($)))"},
    {"Affine", 2, 1, 0, "{a} * $ + {b}"},
    {"LeakyRelu", 1, 0.01, 0, "($ < 0.0 ? {a} * $ : $)"},
    {"ThresholdedRelu", 1, 1, 0, "($ > {a} ? $ : 0.0)"},
    {"ScaledTanh", 2, 1, 1, "{a} * tanh({b} * $)"},
    {"HardSigmoid", 2, 0.2, 0.5, "max(min({a} * $ + {b}, 1.0), 0.0)"},
    {"Elu", 1, 1, 0, "($ < 0.0 ? {a} * expm1($) : $)"},
};

constexpr std::int64_t kMostLayers = 64;  // each is a nest of its own in the source

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
  return text;
}

}  // namespace

bool Recurrence::read() {
  for (int k = 0; k < 3; ++k)
    if (!b_.expect_rank(k, 3, 3)) return false;
  if (!read_sizes() || !check_shapes() || !choose_activations()) return false;
  n_ = b_.loop("n", b_.dim(0, batch_first_ ? 0 : 1));
  s_ = b_.loop("s", steps_);
  j_ = b_.loop("j", idx(hidden_));
  k_ = b_.loop("k", idx(hidden_));
  return true;
}

bool Recurrence::read_sizes() {
  const std::string direction = b_.word("direction");
  directions_ = direction == "bidirectional" ? 2 : 1;
  reverse_ = direction == "reverse";
  batch_first_ = b_.flag("layout");
  acc_ = wide_float(b_.dtype());
  steps_ = normal(b_.dim(0, batch_first_ ? 1 : 0));
  const std::int64_t layers = b_.integer("layers");
  if (layers < 1 || layers > kMostLayers) {
    b_.bad_value("layers", std::to_string(layers) + " is not in 1.." + std::to_string(kMostLayers));
    return false;
  }
  layers_ = static_cast<int>(layers);
  if (layers_ > 1 && !b_.has(deep_operand())) {
    b_.bad_value("layers", "more than one needs the operand w_deep, the last one");
    return false;
  }
  const std::optional<std::int64_t> hidden = constant_of(b_.dim(2, 2));
  if (!hidden || (b_.given("hidden_size") && b_.integer("hidden_size") != *hidden)) {
    b_.bad_value("hidden_size", "differs from the recurrent weight " + shape_text(b_.shape(2)));
    return false;
  }
  hidden_ = *hidden;
  return true;
}

bool Recurrence::check_shapes() {
  const ExprPtr batch = b_.dim(0, batch_first_ ? 0 : 1), units = idx(gates_ * hidden_), dirs = idx(directions_),
                lanes = idx(directions_ * layers_);
  const Shape state = batch_first_ ? Shape{batch, lanes, idx(hidden_)} : Shape{lanes, batch, idx(hidden_)};
  std::vector<Shape> expected = {
      b_.shape(0), {dirs, units, b_.dim(0, 2)}, {lanes, units, idx(hidden_)}, {lanes, idx(2 * gates_ * hidden_)}, {batch},
      state};
  if (deep_operand() > 6) expected.insert(expected.end(), {state, {lanes, idx(3 * hidden_)}});
  expected.push_back({idx((layers_ - 1) * directions_), units, idx(directions_ * hidden_)});
  for (int k = 0; k < b_.operand_count(); ++k)
    if (b_.has(k) && !same_shape(b_.shape(k), expected[static_cast<std::size_t>(k)]))
      b_.bad_shapes(k, b_.def().operands[static_cast<std::size_t>(k)].name + " " + shape_text(b_.shape(k)) + " should be " +
                           shape_text(expected[static_cast<std::size_t>(k)]));
  return !b_.failed();
}

// The numbers are consumed in the order of the activations that have any; what is not given is the activation's own default.
bool Recurrence::choose_activations() {
  std::vector<std::string> names = b_.words("activations");
  if (names.empty())
    for (int d = 0; d < directions_; ++d) names.insert(names.end(), defaults_.begin(), defaults_.end());
  if (names.size() != defaults_.size() * static_cast<std::size_t>(directions_))
    b_.bad_value("activations", "needs " + std::to_string(defaults_.size()) + " names per direction");
  const std::vector<double> alphas = b_.numbers("activation_alpha"), betas = b_.numbers("activation_beta");
  std::size_t alpha = 0, beta = 0;
  std::string known;
  for (const ActivationRow& row : kActivations) known += (known.empty() ? "" : ", ") + std::string(row.name);
  for (const std::string& name : names) {
    const auto row =
        std::find_if(std::begin(kActivations), std::end(kActivations), [&](const ActivationRow& r) { return name == r.name; });
    if (row == std::end(kActivations)) {
      b_.bad_value("activations", "\"" + name + "\" is not one of " + known);
      continue;
    }
    Activation a{row, row->alpha, row->beta};
    if (row->numbers > 0 && alpha < alphas.size()) a.alpha = alphas[alpha++];
    if (row->numbers > 1 && beta < betas.size()) a.beta = betas[beta++];
    chosen_.push_back(a);
  }
  if (alpha < alphas.size()) b_.bad_value("activation_alpha", "has more numbers than these activations take");
  if (beta < betas.size()) b_.bad_value("activation_beta", "has more numbers than these activations take");
  return !b_.failed();
}

std::string Recurrence::activate(int direction, std::size_t which, const std::string& value) {
  const Activation& a = chosen_[static_cast<std::size_t>(direction) * defaults_.size() + which];
  const std::string text = a.row->text;
  const std::size_t at = text.find('$');
  std::string operand = value;
  if (at != text.rfind('$'))
    operand = scalar("v", value);
  else if (at > 0 && text[at - 1] != '(')  // not an argument of its own
    operand = in_parens(value);
  std::string filled = replaced(text, "$", operand);
  filled = replaced(filled, "{a}", number_text(acc_, a.alpha));
  return replaced(filled, "{b}", number_text(acc_, a.beta));
}

void Recurrence::add_inputs(int direction) {
  const Loop t = b_.loop("t", steps_), u = b_.loop("u", idx(gates_ * hidden_)), i = b_.loop("i", b_.dim(0, 2));
  const Subscripts x =
      batch_first_ ? Subscripts{n_.index(), t.index(), i.index()} : Subscripts{t.index(), n_.index(), i.index()};
  const auto element = [&](int operand, const Subscripts& s) {
    return cast_text(acc_, b_.dtype(operand), ref(formal(operand), s));
  };
  std::string value = reduction("sum", {i}, element(0, x) + " * " + element(1, {idx(direction), u.index(), i.index()}));
  if (b_.has(3)) {
    value += " + " + element(3, {idx(lane_), u.index()});
    if (input_holds_all_biases_) value += " + " + element(3, {idx(lane_), normal(idx_add(u.index(), idx(gates_ * hidden_)))});
  }
  inputs_.push_back(b_.local("input"));
  b_.line(inputs_.back(), {t, n_, u}, value, {i});
}

// The same for a further layer, from the states of the one before it: at time t that is step t, or from the end.
void Recurrence::add_deep_inputs() {
  const Loop t = b_.loop("t", steps_), u = b_.loop("u", idx(gates_ * hidden_));
  const std::string sum = b_.local("sum"), deep = formal(deep_operand());
  inputs_.push_back(b_.nest_array("input", acc_, {steps_, n_.extent, u.extent}));
  std::string start = b_.has(3) ? c_element("a3", {idx(lane_), u.index()}) : "0";
  if (b_.has(3) && input_holds_all_biases_)
    start += " + " + c_element("a3", {idx(lane_), normal(idx_add(u.index(), idx(gates_ * hidden_)))});
  b_.nest(c_for(t) + " " + c_for(n_) + " " + c_for(u) + " {");
  b_.nest("  " + c_type_text(acc_) + " " + sum + " = " + start + ";");
  for (int d = 0; d < directions_; ++d) {
    const ExprPtr step = backwards(d) ? normal(idx_sub(steps_, t.index())) : normal(idx_add(t.index(), idx(1)));
    const ExprPtr column = normal(idx_add(idx(d * hidden_), k_.index()));
    b_.nest("  " + c_for(k_) + " " + sum + " = " + sum + " + " +
            c_element(below_[static_cast<std::size_t>(d)], {step, n_.index(), k_.index()}) + " * " +
            c_element(deep, {idx(lane_ - directions_), u.index(), column}) + ";");
  }
  b_.nest("  " + c_element(inputs_.back(), {t.index(), n_.index(), u.index()}) + " = " + sum + ";");
  b_.nest("}");
}

// The state before the first step.
void Recurrence::start(const std::string& array, int operand) {
  b_.nest("  " + c_for(j_) + " " + state(array, idx(0), j_) + " = " +
          (b_.has(operand) ? c_element(formal(operand), state_place()) : "0") + ";");
}

void Recurrence::finish(const std::string& array, int out) {
  if (b_.wants(out))
    b_.nest("  " + c_for(j_) + " " + c_element("y" + std::to_string(out), state_place()) + " = " + state(array, steps_, j_) +
            ";");
}

void Recurrence::run_lane(int direction, bool has_cell) {
  time_ = backwards(direction) ? normal(idx_sub(idx_sub(steps_, idx(1)), s_.index())) : s_.index();
  if (layer_ == 0)
    add_inputs(direction);
  else
    add_deep_inputs();
  const Shape kept = {idx_add(steps_, idx(1)), n_.extent, idx(hidden_)};
  h_ = b_.nest_array("h", acc_, kept);
  if (has_cell) c_ = b_.nest_array("c", acc_, kept);
  b_.nest(c_for(n_) + " {");
  start(h_, 5);
  if (has_cell) start(c_, 6);
  b_.nest("  " + c_for(s_) + " {");
  step(direction);
  b_.nest("  }");
  finish(h_, 1);
  if (has_cell) finish(c_, 2);
  b_.nest("}");
}

void Recurrence::run(bool has_cell) {
  const DType in = b_.dtype();
  const ExprPtr batch = n_.extent, dirs = idx(directions_), lanes = idx(directions_ * layers_), hidden = idx(hidden_);
  const Shape states = batch_first_ ? Shape{batch, lanes, hidden} : Shape{lanes, batch, hidden};
  b_.out(0, in, batch_first_ ? Shape{batch, steps_, dirs, hidden} : Shape{steps_, dirs, batch, hidden});
  for (int k = 1; k < b_.output_count(); ++k) b_.out(k, in, states);
  for (int k = 0; k < b_.output_count(); ++k)
    if (b_.wants(k)) b_.nest_defines(k);
  after_ = normal(idx_add(s_.index(), idx(1)));
  for (layer_ = 0; layer_ < layers_; ++layer_) {
    std::vector<std::string> made;
    for (int direction = 0; direction < directions_; ++direction) {
      lane_ = layer_ * directions_ + direction;
      run_lane(direction, has_cell);
      made.push_back(h_);
    }
    below_ = std::move(made);
  }
}

}  // namespace facet
