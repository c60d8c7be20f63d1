// rnn, gru and lstm: static time loops.
//
//   input[t, n, u] = sum over i of x[t, n, i] w[u, i] + bias      one contraction over all steps, by equations
//   for n { h[0] = start;                                          the nest: a batch entry walks its own steps
//     for s in 0..T { for j { gates = input + sum over k of h[s, k] r[j, k];  h[s + 1, j] = ... } } }
//
// The state of every step is kept, so that a step reads the one before it and nothing is overwritten; statements and compile
// time do not depend on the length of the sequence, which may be a symbol. A reverse direction walks x from its end.
#include <algorithm>

#include "src/ops/simple_def.hpp"
#include "src/ops/builder.hpp"

namespace facet {

namespace {

// An activation by ONNX's name: a template over the value ($), f of it and its two numbers.
struct ActivationRow {
  const char* name;
  int numbers;  // 0: none, 1: alpha, 2: alpha and beta
  double alpha, beta;
  const char* text;  // of $; {a} and {b} are the numbers
};
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

struct Activation {
  const ActivationRow* row = nullptr;
  double alpha = 0, beta = 0;
};

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
  return text;
}

// Everything the three cells share. Text members are C in the accumulator's dtype, inside the loops n, s, j.
class Recurrence {
 public:
  Recurrence(OpBuilder& b, std::int64_t gates, std::vector<std::string> activations)
      : b_(b), gates_(gates), defaults_(std::move(activations)) {}

  bool read();
  void run(bool has_cell);

 protected:
  virtual ~Recurrence() = default;
  // The lines of one step for one n; they end with next(...).
  virtual void step(int direction) = 0;

  void code(const std::string& line) { b_.nest("    " + line); }
  std::string scalar(const std::string& hint, const std::string& value) {
    const std::string name = b_.local(hint);
    code("  " + c_type_text(acc_) + " " + name + " = " + value + ";");
    return name;
  }
  std::string state(const std::string& array, const ExprPtr& step, const Loop& unit) const {
    return c_element(array, {step, n_.index(), unit.index()});
  }
  std::string before() const { return state(h_, s_.index(), j_); }
  // Gates as scalars: what comes from the input, plus `array` (the state, or what a cell made of it) times R.
  std::vector<std::string> gate_sums(int direction, const std::vector<std::int64_t>& gates, const std::string& factor) {
    std::vector<std::string> names;
    std::string updates;
    for (const std::int64_t g : gates) {
      names.push_back(scalar("gate", c_element(inputs_.back(), {time_, n_.index(), unit(g)})));
      updates += " " + names.back() + " = " + names.back() + " + " + factor + " * " + weight(direction, g) + ";";
    }
    code("  " + c_for(k_) + " {" + updates + " }");
    return names;
  }
  std::string weight(int direction, std::int64_t g) const { return c_element("a2", {idx(direction), unit(g), k_.index()}); }
  ExprPtr unit(std::int64_t g) const { return normal(idx_add(idx(g * hidden_), j_.index())); }
  std::string bias(int direction, std::int64_t half, std::int64_t g) const {  // half 0: W's, 1: R's
    return b_.has(3)
               ? " + " + c_element("a3", {idx(direction), normal(idx_add(idx((half * gates_ + g) * hidden_), j_.index()))})
               : "";
  }
  std::string activate(int direction, std::size_t which, const std::string& value);
  std::string clipped(const std::string& value) const {
    if (!b_.given("clip")) return value;
    const std::string c = number_text(acc_, b_.number("clip"));
    return "max(min(" + value + ", " + c + "), -" + c + ")";
  }
  // The new value where this step lies inside the sequence, else the old one.
  std::string in_sequence(const std::string& value, const std::string& old) const {
    if (!b_.has(4)) return value;
    return "(" + c_element("a4", {n_.index()}) + " > " + to_text(time_) + " ? " + value + " : " + old + ")";
  }
  // The state behind this step, and the output.
  void next(int direction, const std::string& value) {
    const std::string h = scalar("next", in_sequence(value, before()));
    code("  " + state(h_, after_, j_) + " = " + h + ";");
    if (!b_.wants(0)) return;
    const Subscripts place = batch_first_ ? Subscripts{n_.index(), time_, idx(direction), j_.index()}
                                          : Subscripts{time_, idx(direction), n_.index(), j_.index()};
    code("  " + c_element("y0", place) + " = " + in_sequence(h, "0") + ";");
  }

  OpBuilder& b_;
  std::int64_t gates_, hidden_ = 0;
  int directions_ = 1;
  bool reverse_ = false, batch_first_ = false, input_holds_all_biases_ = true;
  DType acc_ = DType::kF32;
  Loop n_, s_, j_, k_;
  ExprPtr steps_, time_, after_;     // extent; position in x of step s; s + 1
  std::string h_, c_;                // states by step: [steps + 1, batch, hidden]
  std::vector<std::string> inputs_;  // of each direction: [steps, batch, gates * hidden]

 private:
  void add_inputs(int direction);
  void start(const std::string& array, int operand, int direction);
  void finish(const std::string& array, int out, int direction);
  Subscripts state_place(int direction) const {
    return batch_first_ ? Subscripts{n_.index(), idx(direction), j_.index()}
                        : Subscripts{idx(direction), n_.index(), j_.index()};
  }

  bool choose_activations();

  std::vector<std::string> defaults_;
  std::vector<Activation> chosen_;  // per direction
};

bool Recurrence::read() {
  for (int k = 0; k < 3; ++k)
    if (!b_.expect_rank(k, 3, 3)) return false;
  const std::string direction = b_.word("direction");
  directions_ = direction == "bidirectional" ? 2 : 1;
  reverse_ = direction == "reverse";
  batch_first_ = b_.flag("layout");
  acc_ = wide_float(b_.dtype());
  const std::optional<std::int64_t> hidden = constant_of(b_.dim(2, 2));
  steps_ = normal(b_.dim(0, batch_first_ ? 1 : 0));
  if (!hidden || (b_.given("hidden_size") && b_.integer("hidden_size") != *hidden)) {
    b_.bad_value("hidden_size", "differs from the recurrent weight " + shape_text(b_.shape(2)));
    return false;
  }
  hidden_ = *hidden;
  const ExprPtr batch = b_.dim(0, batch_first_ ? 0 : 1), units = idx(gates_ * hidden_), dirs = idx(directions_);
  const Shape state = batch_first_ ? Shape{batch, dirs, idx(hidden_)} : Shape{dirs, batch, idx(hidden_)};
  const std::vector<Shape> expected = {
      b_.shape(0), {dirs, units, b_.dim(0, 2)}, {dirs, units, idx(hidden_)}, {dirs, idx(2 * gates_ * hidden_)}, {batch}, state,
      state,       {dirs, idx(3 * hidden_)}};
  for (int k = 0; k < b_.operand_count(); ++k)
    if (b_.has(k) && !same_shape(b_.shape(k), expected[static_cast<std::size_t>(k)]))
      b_.bad_shapes(k, b_.def().operands[static_cast<std::size_t>(k)].name + " " + shape_text(b_.shape(k)) + " should be " +
                           shape_text(expected[static_cast<std::size_t>(k)]));
  if (!choose_activations()) return false;
  n_ = b_.loop("n", batch);
  s_ = b_.loop("s", steps_);
  j_ = b_.loop("j", idx(hidden_));
  k_ = b_.loop("k", idx(hidden_));
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
    value += " + " + element(3, {idx(direction), u.index()});
    if (input_holds_all_biases_)
      value += " + " + element(3, {idx(direction), normal(idx_add(u.index(), idx(gates_ * hidden_)))});
  }
  inputs_.push_back(b_.local("input"));
  b_.line(inputs_.back(), {t, n_, u}, value, {i});
}

// The state before the first step.
void Recurrence::start(const std::string& array, int operand, int direction) {
  b_.nest("  " + c_for(j_) + " " + state(array, idx(0), j_) + " = " +
          (b_.has(operand) ? c_element(formal(operand), state_place(direction)) : "0") + ";");
}

void Recurrence::finish(const std::string& array, int out, int direction) {
  if (b_.wants(out))
    b_.nest("  " + c_for(j_) + " " + c_element("y" + std::to_string(out), state_place(direction)) + " = " +
            state(array, steps_, j_) + ";");
}

void Recurrence::run(bool has_cell) {
  const DType in = b_.dtype();
  const ExprPtr batch = n_.extent, dirs = idx(directions_), hidden = idx(hidden_);
  const Shape states = batch_first_ ? Shape{batch, dirs, hidden} : Shape{dirs, batch, hidden};
  b_.out(0, in, batch_first_ ? Shape{batch, steps_, dirs, hidden} : Shape{steps_, dirs, batch, hidden});
  for (int k = 1; k < b_.output_count(); ++k) b_.out(k, in, states);
  for (int k = 0; k < b_.output_count(); ++k)
    if (b_.wants(k)) b_.nest_defines(k);
  after_ = normal(idx_add(s_.index(), idx(1)));
  for (int direction = 0; direction < directions_; ++direction) {
    const bool backwards = reverse_ || direction == 1;
    time_ = backwards ? normal(idx_sub(idx_sub(steps_, idx(1)), s_.index())) : s_.index();
    add_inputs(direction);
    const Shape kept = {idx_add(steps_, idx(1)), batch, hidden};
    h_ = b_.nest_array("h", acc_, kept);
    if (has_cell) c_ = b_.nest_array("c", acc_, kept);
    b_.nest(c_for(n_) + " {");
    start(h_, 5, direction);
    if (has_cell) start(c_, 6, direction);
    b_.nest("  " + c_for(s_) + " {");
    step(direction);
    b_.nest("  }");
    finish(h_, 1, direction);
    if (has_cell) finish(c_, 2, direction);
    b_.nest("}");
  }
}

class Rnn : public Recurrence {
 public:
  explicit Rnn(OpBuilder& b) : Recurrence(b, 1, {"Tanh"}) {}
  void step(int direction) override {
    code(c_for(j_) + " {");
    const std::vector<std::string> gate = gate_sums(direction, {0}, state(h_, s_.index(), k_));
    next(direction, activate(direction, 0, clipped(gate[0])));
    code("}");
  }
};

// Gates z (update), r (reset), h.
class Gru : public Recurrence {
 public:
  explicit Gru(OpBuilder& b) : Recurrence(b, 3, {"Sigmoid", "Tanh"}) { input_holds_all_biases_ = false; }
  void step(int direction) override {
    const bool linear = b_.flag("linear_before_reset");
    const auto kept = [&](const char* hint) { return b_.nest_array(hint, acc_, {n_.extent, idx(hidden_)}); };
    const auto at = [&](const std::string& array, const Loop& unit) { return c_element(array, {n_.index(), unit.index()}); };
    const std::string z = kept("z"), r = kept("reset");
    code(c_for(j_) + " {");
    const std::vector<std::string> zr = gate_sums(direction, {0, 1}, state(h_, s_.index(), k_));
    const std::string update = activate(direction, 0, clipped(zr[0] + bias(direction, 1, 0)));
    code("  " + at(z, j_) + " = " + update + ";");
    const std::string reset = activate(direction, 0, clipped(zr[1] + bias(direction, 1, 1)));
    code("  " + at(r, j_) + " = " + (linear ? reset : "(" + reset + ") * " + before()) + ";");
    code("}");
    code(c_for(j_) + " {");
    std::string inner;
    if (linear) {
      const std::string product = scalar("product", "0" + bias(direction, 1, 2));
      code("  " + c_for(k_) + " " + product + " = " + product + " + " + state(h_, s_.index(), k_) + " * " +
           weight(direction, 2) + ";");
      inner = c_element(inputs_.back(), {time_, n_.index(), unit(2)}) + " + " + at(r, j_) + " * " + product;
    } else {
      inner = gate_sums(direction, {2}, at(r, k_))[0] + bias(direction, 1, 2);
    }
    const std::string candidate = scalar("candidate", activate(direction, 1, clipped(inner)));
    next(direction, "(1.0 - " + at(z, j_) + ") * " + candidate + " + " + at(z, j_) + " * " + before());
    code("}");
  }
};

// Gates i, o, f, c with optional peepholes (operand 7: i, o, f).
class Lstm : public Recurrence {
 public:
  explicit Lstm(OpBuilder& b) : Recurrence(b, 4, {"Sigmoid", "Tanh", "Tanh"}) {}
  void step(int direction) override {
    const auto peep = [&](std::int64_t g, const std::string& cell) {
      if (!b_.has(7)) return std::string();
      return " + " + c_element("a7", {idx(direction), normal(idx_add(idx(g * hidden_), j_.index()))}) + " * " + cell;
    };
    const std::string old = state(c_, s_.index(), j_);
    code(c_for(j_) + " {");
    const std::vector<std::string> gates = gate_sums(direction, {0, 1, 2, 3}, state(h_, s_.index(), k_));
    const std::string i = scalar("enter", activate(direction, 0, clipped(gates[0] + peep(0, old))));
    const std::string f =
        scalar("keep", b_.flag("input_forget") ? "1.0 - " + i : activate(direction, 0, clipped(gates[2] + peep(2, old))));
    const std::string g = scalar("value", activate(direction, 1, clipped(gates[3])));
    const std::string c = scalar("cell", in_sequence(f + " * " + old + " + " + i + " * " + g, old));
    code("  " + state(c_, after_, j_) + " = " + c + ";");
    const std::string o = scalar("leave", activate(direction, 0, clipped(gates[1] + peep(1, c))));
    next(direction, o + " * (" + activate(direction, 2, c) + ")");
    code("}");
  }
};

template <class Cell>
void define_cell(OpBuilder& b) {
  Cell cell(b);
  if (cell.read()) cell.run(std::is_same_v<Cell, Lstm>);
}

OpDef record(const std::string& name, const std::string& summary, void (*define)(OpBuilder&)) {
  OpDef def = simple_def(
      "recurrent", name, summary, DTypes::kFloat,
      {text_attr("direction", "forward", "order of the steps", {"forward", "reverse", "bidirectional"}),
       optional_attr("hidden_size", AttrKind::kInt, "must agree with the weights"),
       optional_attr(
           "activations", AttrKind::kTexts,
           "names per gate and direction: Sigmoid, Tanh, Relu, Softsign, Softplus, Affine, LeakyRelu, ThresholdedRelu, "
           "ScaledTanh, HardSigmoid, Elu"),
       optional_attr("activation_alpha", AttrKind::kFloats, "alpha of the activations that have one, in their order"),
       optional_attr("activation_beta", AttrKind::kFloats, "beta of the activations that have one, in their order"),
       optional_attr("clip", AttrKind::kFloat, "limit of what enters an activation"),
       flag_attr("layout", false, "1: x is [batch, steps, features]")},
      define);
  def.operands = {{"x", DTypes::kFloat, 'T', false},
                  {"w", DTypes::kFloat, 'T', false},
                  {"r", DTypes::kFloat, 'T', false},
                  {"bias", DTypes::kFloat, 'T', true},
                  {"sequence_lens", DTypes::kInteger, 'I', true},
                  {"initial_h", DTypes::kFloat, 'T', true}};
  def.outputs = {"y", "y_h"};
  def.tolerance = Tolerance::kSum;
  return def;
}

}  // namespace

void add_recurrent(std::vector<OpDef>& table) {
  OpDef rnn = record("rnn", "simple recurrent layer over time", define_cell<Rnn>);
  rnn.samples = {{{"f32[3, 2, 4]", "f32[1, 3, 4]", "f32[1, 3, 3]", "f32[1, 6]"}, {}}};
  table.push_back(std::move(rnn));
  OpDef gru = record("gru", "gated recurrent layer over time", define_cell<Gru>);
  gru.attributes.push_back(flag_attr("linear_before_reset", false, "1: the reset gate acts behind the product"));
  gru.samples = {
      {{"f32[3, 2, 4]", "f32[1, 9, 4]", "f32[1, 9, 3]", "f32[1, 18]"}, {}},
      {{"f32[2, 3, 4]", "f32[2, 9, 4]", "f32[2, 9, 3]", "f32[2, 18]", "", "f32[2, 2, 3]"},
       {{"direction", as_attribute("bidirectional")}, {"linear_before_reset", as_attribute(1)}, {"layout", as_attribute(1)}}}};
  table.push_back(std::move(gru));
  OpDef lstm = record("lstm", "long short-term memory layer over time", define_cell<Lstm>);
  lstm.operands.push_back({"initial_c", DTypes::kFloat, 'T', true});
  lstm.operands.push_back({"peepholes", DTypes::kFloat, 'T', true});
  lstm.outputs.push_back("y_c");
  lstm.attributes.push_back(flag_attr("input_forget", false, "1: the forget gate is 1 - the input gate"));
  lstm.samples = {
      {{"f32[3, 2, 4]", "f32[1, 12, 4]", "f32[1, 12, 3]", "f32[1, 24]"}, {}},
      {{"f32[3, 2, 4]", "f32[2, 12, 4]", "f32[2, 12, 3]", "f32[2, 24]", "i32[2]", "f32[2, 2, 3]", "f32[2, 2, 3]", "f32[2, 9]"},
       {{"direction", as_attribute("bidirectional")}, {"clip", as_attribute(0.5)}}}};
  table.push_back(std::move(lstm));
}

}  // namespace facet
