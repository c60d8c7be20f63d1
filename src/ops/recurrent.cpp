// The cells rnn, gru and lstm: one step each; the walk over steps is recurrence.cpp's.
#include "src/ops/recurrence.hpp"
#include "src/ops/simple_def.hpp"

namespace facet {

namespace {

class Rnn : public Recurrence {
 public:
  explicit Rnn(OpBuilder& b) : Recurrence(b, 1, {"Tanh"}) {}
  void step(int direction) override {
    code(c_for(j_) + " {");
    const std::vector<std::string> gate = gate_sums({0}, state(h_, s_.index(), k_));
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
    const std::vector<std::string> zr = gate_sums({0, 1}, state(h_, s_.index(), k_));
    const std::string update = activate(direction, 0, clipped(zr[0] + bias(1, 0)));
    code("  " + at(z, j_) + " = " + update + ";");
    const std::string reset = activate(direction, 0, clipped(zr[1] + bias(1, 1)));
    code("  " + at(r, j_) + " = " + (linear ? reset : "(" + reset + ") * " + before()) + ";");
    code("}");
    code(c_for(j_) + " {");
    std::string inner;
    if (linear) {
      const std::string product = scalar("product", "0" + bias(1, 2));
      code("  " + c_for(k_) + " " + product + " = " + product + " + " + state(h_, s_.index(), k_) + " * " + weight(2) + ";");
      inner = c_element(inputs_.back(), {time_, n_.index(), unit(2)}) + " + " + at(r, j_) + " * " + product;
    } else {
      inner = gate_sums({2}, at(r, k_))[0] + bias(1, 2);
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
      return " + " + c_element("a7", {idx(lane_), normal(idx_add(idx(g * hidden_), j_.index()))}) + " * " + cell;
    };
    const std::string old = state(c_, s_.index(), j_);
    code(c_for(j_) + " {");
    const std::vector<std::string> gates = gate_sums({0, 1, 2, 3}, state(h_, s_.index(), k_));
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
       int_attr("layers", 1, "how many, each over the states of the one before; their w are the rows of w_deep"),
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
                  {"initial_h", DTypes::kFloat, 'T', true},
                  {"w_deep", DTypes::kFloat, 'T', true}};
  def.outputs = {"y", "y_h"};
  def.tolerance = Tolerance::kSum;
  return def;
}

}  // namespace

void add_recurrent(std::vector<OpDef>& table) {
  OpDef rnn = record("rnn", "simple recurrent layer over time", define_cell<Rnn>);
  rnn.samples = {{{"f32[3, 2, 4]", "f32[1, 3, 4]", "f32[1, 3, 3]", "f32[1, 6]"}, {}},
                 {{"f32[2, 3, 4]", "f32[2, 3, 4]", "f32[4, 3, 3]", "", "", "", "f32[2, 3, 6]"},
                  {{"direction", as_attribute("bidirectional")}, {"layers", as_attribute(2)}, {"layout", as_attribute(1)}},
                  2}};
  table.push_back(std::move(rnn));
  OpDef gru = record("gru", "gated recurrent layer over time", define_cell<Gru>);
  gru.attributes.push_back(flag_attr("linear_before_reset", false, "1: the reset gate acts behind the product"));
  gru.samples = {
      {{"f32[3, 2, 4]", "f32[1, 9, 4]", "f32[1, 9, 3]", "f32[1, 18]"}, {}},
      {{"f32[2, 3, 4]", "f32[2, 9, 4]", "f32[2, 9, 3]", "f32[2, 18]", "", "f32[2, 2, 3]"},
       {{"direction", as_attribute("bidirectional")}, {"linear_before_reset", as_attribute(1)}, {"layout", as_attribute(1)}}},
      {{"f32[4, 2, 5]", "f32[1, 9, 5]", "f32[3, 9, 3]", "f32[3, 18]", "", "", "f32[2, 9, 3]"},
       {{"direction", as_attribute("reverse")}, {"layers", as_attribute(3)}},
       2}};
  table.push_back(std::move(gru));
  OpDef lstm = record("lstm", "long short-term memory layer over time", define_cell<Lstm>);
  lstm.operands.insert(lstm.operands.end() - 1,
                       {{"initial_c", DTypes::kFloat, 'T', true}, {"peepholes", DTypes::kFloat, 'T', true}});
  lstm.outputs.push_back("y_c");
  lstm.attributes.push_back(flag_attr("input_forget", false, "1: the forget gate is 1 - the input gate"));
  lstm.samples = {
      {{"f32[3, 2, 4]", "f32[1, 12, 4]", "f32[1, 12, 3]", "f32[1, 24]"}, {}},
      {{"f32[3, 2, 4]", "f32[2, 12, 4]", "f32[2, 12, 3]", "f32[2, 24]", "i32[2]", "f32[2, 2, 3]", "f32[2, 2, 3]", "f32[2, 9]"},
       {{"direction", as_attribute("bidirectional")}, {"clip", as_attribute(0.5)}}},
      {{"f32[4, 2, 5]", "f32[2, 12, 5]", "f32[4, 12, 3]", "f32[4, 24]", "i32[2]", "f32[4, 2, 3]", "f32[4, 2, 3]", "",
        "f32[2, 12, 6]"},
       {{"direction", as_attribute("bidirectional")}, {"layers", as_attribute(2)}},
       3}};
  table.push_back(std::move(lstm));
}

}  // namespace facet
