// rnn, gru and lstm: the time loop unrolled into equations, one set per step and direction.
//
// An equation may not read its own name, so step t's state is a local array of its own that reads step t-1's. The products with
// the input are one contraction over all steps; only the products with the state are sequential. The sequence length must be a
// constant.
#include <algorithm>

#include "src/ops/simple_def.hpp"
#include "src/ops/builder.hpp"

namespace facet {

namespace {

constexpr std::int64_t kLongestSequence = 256;  // statements grow with it

// Everything the three cells share. Text members are references or expressions in the accumulator's dtype.
class Recurrence {
 public:
  Recurrence(OpBuilder& b, std::int64_t gates, std::vector<std::string> activations)
      : b_(b), gates_(gates), defaults_(std::move(activations)) {}

  bool read();
  void run(bool has_cell);

 protected:
  virtual ~Recurrence() = default;
  // Adds the lines of one step; gives the new state (and cell) as references at [n, j].
  struct State {
    std::string h, c;  // local names; "" at the start without initial values
  };
  virtual State step(int direction, std::int64_t t, const State& before) = 0;

  std::string element(int operand, const Subscripts& s) const {
    return cast_text(acc_, b_.dtype(operand), ref(formal(operand), s));
  }
  std::string at(const std::string& name) const { return ref(name, {n_.index(), j_.index()}); }
  // Gate g (of gates_) of unit j from the input: X W' and the biases.
  std::string input_gate(int direction, std::int64_t t, std::int64_t g) const {
    return ref(inputs_[static_cast<std::size_t>(direction)], {idx(t), n_.index(), unit(g)});
  }
  ExprPtr unit(std::int64_t g) const { return normal(idx_add(idx(g * hidden_), j_.index())); }
  // sum over k of state[n, k] * R[direction, gate g of j, k]; "" without a state.
  std::string state_gate(int direction, const std::string& state, std::int64_t g) const {
    if (state.empty()) return "";
    return " + " + reduction("sum", {k_},
                             ref(state, {n_.index(), k_.index()}) + " * " + element(2, {idx(direction), unit(g), k_.index()}));
  }
  std::string bias(int direction, std::int64_t half, std::int64_t g) const {  // half 0: W's, 1: R's
    return b_.has(3) ? " + " + element(3, {idx(direction), normal(idx_add(idx((half * gates_ + g) * hidden_), j_.index()))})
                     : "";
  }
  std::string activate(int direction, std::size_t which, const std::string& value) const;
  std::string clipped(const std::string& value) const {
    if (!b_.given("clip")) return value;
    const std::string c = number_text(acc_, b_.number("clip"));
    return "max(min(" + value + ", " + c + "), -" + c + ")";
  }
  // The new value where step t lies inside the sequence, else the old one.
  std::string in_sequence(std::int64_t t, const std::string& value, const std::string& before) const {
    if (!b_.has(4)) return value;
    return "select(" + ref("a4", {n_.index()}) + " > " + std::to_string(t) + ", " + value + ", " +
           (before.empty() ? number_text(acc_, 0) : at(before)) + ")";
  }
  void line(const std::string& name, const std::string& value) { b_.line(name, {n_, j_}, value, uses(value)); }
  Loops uses(const std::string& value) const {
    return value.find("sum[" + k_.name + "]") != std::string::npos ? Loops{k_} : Loops{};
  }

  OpBuilder& b_;
  std::int64_t gates_, hidden_ = 0, steps_ = 0;
  int directions_ = 1;
  bool reverse_ = false, batch_first_ = false, input_holds_all_biases_ = true;
  DType acc_ = DType::kF32;
  Loop n_, j_, k_;

 private:
  std::string initial(int operand, int direction);
  void add_inputs(int direction);
  Subscripts state_place(const ExprPtr& direction) const;

  std::vector<std::string> defaults_, chosen_;
  std::vector<std::string> inputs_;
};

bool Recurrence::read() {
  for (int k = 0; k < 3; ++k)
    if (!b_.expect_rank(k, 3, 3)) return false;
  const std::string direction = b_.word("direction");
  directions_ = direction == "bidirectional" ? 2 : 1;
  reverse_ = direction == "reverse";
  batch_first_ = b_.flag("layout");
  acc_ = wide_float(b_.dtype());
  const std::optional<std::int64_t> steps = constant_of(b_.dim(0, batch_first_ ? 1 : 0)), hidden = constant_of(b_.dim(2, 2));
  if (!steps || *steps > kLongestSequence) {
    b_.not_affine("a sequence of " + to_text(b_.dim(0, batch_first_ ? 1 : 0)) + " steps; it must be a constant up to " +
                  std::to_string(kLongestSequence));
    return false;
  }
  if (!hidden || (b_.given("hidden_size") && b_.integer("hidden_size") != *hidden)) {
    b_.bad_value("hidden_size", "differs from the recurrent weight " + shape_text(b_.shape(2)));
    return false;
  }
  steps_ = *steps;
  hidden_ = *hidden;
  const ExprPtr batch = b_.dim(0, batch_first_ ? 0 : 1), units = idx(gates_ * hidden_), dirs = idx(directions_);
  const Shape state = batch_first_ ? Shape{batch, dirs, idx(hidden_)} : Shape{dirs, batch, idx(hidden_)};
  const std::vector<Shape> expected = {
      b_.shape(0), {dirs, units, b_.dim(0, 2)}, {dirs, units, idx(hidden_)}, {dirs, idx(2 * gates_ * hidden_)}, {batch}, state,
      state,       {dirs, idx(3 * hidden_)}};
  for (int k = 0; k < b_.operand_count(); ++k)
    if (b_.has(k) && !same_shape(b_.shape(k), expected[static_cast<std::size_t>(k)]))
      b_.bad_shapes(b_.def().operands[static_cast<std::size_t>(k)].name + " " + shape_text(b_.shape(k)) + " should be " +
                    shape_text(expected[static_cast<std::size_t>(k)]));
  chosen_ = b_.words("activations");
  if (chosen_.empty())
    for (int d = 0; d < directions_; ++d) chosen_.insert(chosen_.end(), defaults_.begin(), defaults_.end());
  if (chosen_.size() != defaults_.size() * static_cast<std::size_t>(directions_))
    b_.bad_value("activations", "needs " + std::to_string(defaults_.size()) + " names per direction");
  for (const std::string& name : chosen_)
    if (name != "Sigmoid" && name != "Tanh" && name != "Relu" && name != "Softsign" && name != "Softplus")
      b_.bad_value("activations", "\"" + name + "\" is not one of Sigmoid, Tanh, Relu, Softsign, Softplus");
  n_ = b_.loop("n", batch);
  j_ = b_.loop("j", idx(hidden_));
  k_ = b_.loop("k", idx(hidden_));
  return !b_.failed();
}

std::string Recurrence::activate(int direction, std::size_t which, const std::string& value) const {
  const std::string& name = chosen_[static_cast<std::size_t>(direction) * defaults_.size() + which];
  if (name == "Sigmoid") return "sigmoid(" + value + ")";
  if (name == "Tanh") return "tanh(" + value + ")";
  if (name == "Relu") return "max(" + value + ", 0.0)";
  if (name == "Softsign") return "(" + value + ") / (1.0 + abs(" + value + "))";
  return "max(" + value + ", 0.0) + log1p(exp(-abs(" + value + ")))";
}

void Recurrence::add_inputs(int direction) {
  const Loop t = b_.loop("t", idx(steps_)), u = b_.loop("u", idx(gates_ * hidden_)), i = b_.loop("i", b_.dim(0, 2));
  const Subscripts x =
      batch_first_ ? Subscripts{n_.index(), t.index(), i.index()} : Subscripts{t.index(), n_.index(), i.index()};
  std::string value = reduction("sum", {i}, element(0, x) + " * " + element(1, {idx(direction), u.index(), i.index()}));
  if (b_.has(3)) {
    value += " + " + element(3, {idx(direction), u.index()});
    if (input_holds_all_biases_)
      value += " + " + element(3, {idx(direction), normal(idx_add(u.index(), idx(gates_ * hidden_)))});
  }
  inputs_.push_back(b_.local("input"));
  b_.line(inputs_.back(), {t, n_, u}, value, {i});
}

Subscripts Recurrence::state_place(const ExprPtr& direction) const {
  return batch_first_ ? Subscripts{n_.index(), direction, j_.index()} : Subscripts{direction, n_.index(), j_.index()};
}

// The initial state (or cell) as a local in the accumulator's dtype, "" when it is zero.
std::string Recurrence::initial(int operand, int direction) {
  if (!b_.has(operand)) return "";
  const std::string name = b_.local("start");
  b_.line(name, {n_, j_}, element(operand, state_place(idx(direction))));
  return name;
}

void Recurrence::run(bool has_cell) {
  const DType in = b_.dtype();
  const ExprPtr batch = n_.extent;
  const Shape states =
      batch_first_ ? Shape{batch, idx(directions_), idx(hidden_)} : Shape{idx(directions_), batch, idx(hidden_)};
  b_.out(0, in,
         batch_first_ ? Shape{batch, idx(steps_), idx(directions_), idx(hidden_)}
                      : Shape{idx(steps_), idx(directions_), batch, idx(hidden_)});
  for (int k = 1; k < b_.output_count(); ++k) b_.out(k, in, states);
  const Loop t = b_.loop("t", idx(steps_)), d = b_.loop("d", idx(directions_));
  const Loops all = batch_first_ ? Loops{n_, t, d, j_} : Loops{t, d, n_, j_},
              last = batch_first_ ? Loops{n_, d, j_} : Loops{d, n_, j_};
  for (int direction = 0; direction < directions_; ++direction) {
    add_inputs(direction);
    State state{initial(5, direction), has_cell ? initial(6, direction) : ""};
    const bool backwards = reverse_ || direction == 1;
    const std::string here = d.name + " == " + std::to_string(direction);
    for (std::int64_t s = 0; s < steps_; ++s) {
      const std::int64_t time = backwards ? steps_ - 1 - s : s;
      state = step(direction, time, state);
      std::string value = cast_text(in, acc_, at(state.h));
      if (b_.has(4))
        value = "select(" + ref("a4", {n_.index()}) + " > " + std::to_string(time) + ", " + value + ", " +
                cast_text(in, DType::kBool, "false") + ")";
      if (b_.wants(0)) b_.line("y0", all, value, {}, {t.name + " == " + std::to_string(time), here});
    }
    if (steps_ == 0) return b_.bad_shapes("a sequence of 0 steps");
    if (b_.wants(1)) b_.line("y1", last, cast_text(in, acc_, at(state.h)), {}, {here});
    if (has_cell && b_.wants(2)) b_.line("y2", last, cast_text(in, acc_, at(state.c)), {}, {here});
  }
}

class Rnn : public Recurrence {
 public:
  explicit Rnn(OpBuilder& b) : Recurrence(b, 1, {"Tanh"}) {}
  State step(int direction, std::int64_t t, const State& before) override {
    State s{b_.local("h"), ""};
    line(s.h, in_sequence(t, activate(direction, 0, clipped(input_gate(direction, t, 0) + state_gate(direction, before.h, 0))),
                          before.h));
    return s;
  }
};

// Gates z (update), r (reset), h.
class Gru : public Recurrence {
 public:
  explicit Gru(OpBuilder& b) : Recurrence(b, 3, {"Sigmoid", "Tanh"}) { input_holds_all_biases_ = false; }
  State step(int direction, std::int64_t t, const State& before) override {
    const std::string z = b_.local("z"), r = b_.local("r"), candidate = b_.local("candidate");
    for (const auto& [name, gate] : {std::pair{z, 0}, std::pair{r, 1}})
      line(name, activate(direction, 0,
                          clipped(input_gate(direction, t, gate) + state_gate(direction, before.h, gate) +
                                  bias(direction, 1, gate))));
    std::string inner = input_gate(direction, t, 2);
    if (b_.flag("linear_before_reset")) {
      const std::string linear = state_gate(direction, before.h, 2) + bias(direction, 1, 2);
      if (!linear.empty()) inner += " + " + at(r) + " * (" + linear.substr(3) + ")";
    } else {
      std::string reset;
      if (!before.h.empty()) {
        reset = b_.local("reset");
        line(reset, at(r) + " * " + at(before.h));
      }
      inner += state_gate(direction, reset, 2) + bias(direction, 1, 2);
    }
    line(candidate, activate(direction, 1, clipped(inner)));
    State s{b_.local("h"), ""};
    const std::string old = before.h.empty() ? "" : " + " + at(z) + " * " + at(before.h);
    line(s.h, in_sequence(t, "(1.0 - " + at(z) + ") * " + at(candidate) + old, before.h));
    return s;
  }
};

// Gates i, o, f, c with optional peepholes (operand 7: i, o, f).
class Lstm : public Recurrence {
 public:
  explicit Lstm(OpBuilder& b) : Recurrence(b, 4, {"Sigmoid", "Tanh", "Tanh"}) {}
  State step(int direction, std::int64_t t, const State& before) override {
    const auto gate = [&](std::int64_t g) { return input_gate(direction, t, g) + state_gate(direction, before.h, g); };
    const auto peep = [&](std::int64_t g, const std::string& cell) {
      return b_.has(7) && !cell.empty()
                 ? " + " + element(7, {idx(direction), normal(idx_add(idx(g * hidden_), j_.index()))}) + " * " + at(cell)
                 : "";
    };
    const std::string i = b_.local("i_gate"), f = b_.local("f_gate"), g = b_.local("c_gate"), o = b_.local("o_gate");
    line(i, activate(direction, 0, clipped(gate(0) + peep(0, before.c))));
    if (b_.flag("input_forget"))
      line(f, "1.0 - " + at(i));
    else
      line(f, activate(direction, 0, clipped(gate(2) + peep(2, before.c))));
    line(g, activate(direction, 1, clipped(gate(3))));
    State s{"", b_.local("c")};
    line(s.c, in_sequence(t, (before.c.empty() ? "" : at(f) + " * " + at(before.c) + " + ") + at(i) + " * " + at(g), before.c));
    line(o, activate(direction, 0, clipped(gate(1) + peep(1, s.c))));
    s.h = b_.local("h");
    line(s.h, in_sequence(t, at(o) + " * " + activate(direction, 2, at(s.c)), before.h));
    return s;
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
       optional_attr("activations", AttrKind::kTexts, "names per gate and direction: Sigmoid, Tanh, Relu, Softsign, Softplus"),
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
  OpDef rnn = record("rnn", "simple recurrent layer over a constant number of steps", define_cell<Rnn>);
  rnn.samples = {{{"f32[3, 2, 4]", "f32[1, 3, 4]", "f32[1, 3, 3]", "f32[1, 6]"}, {}}};
  table.push_back(std::move(rnn));
  OpDef gru = record("gru", "gated recurrent layer over a constant number of steps", define_cell<Gru>);
  gru.attributes.push_back(flag_attr("linear_before_reset", false, "1: the reset gate acts behind the product"));
  gru.samples = {
      {{"f32[3, 2, 4]", "f32[1, 9, 4]", "f32[1, 9, 3]", "f32[1, 18]"}, {}},
      {{"f32[2, 3, 4]", "f32[2, 9, 4]", "f32[2, 9, 3]", "f32[2, 18]", "", "f32[2, 2, 3]"},
       {{"direction", as_attribute("bidirectional")}, {"linear_before_reset", as_attribute(1)}, {"layout", as_attribute(1)}}}};
  table.push_back(std::move(gru));
  OpDef lstm = record("lstm", "long short-term memory layer over a constant number of steps", define_cell<Lstm>);
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
