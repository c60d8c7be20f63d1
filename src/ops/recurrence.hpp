// What the recurrent cells share: sizes, weights, states and the walk over layers, directions and steps.
#pragma once

#include <string>
#include <vector>

#include "src/ops/builder.hpp"

namespace facet {

// An activation by ONNX's name: a template over the value ($), f of it and its two numbers.
struct ActivationRow {
  const char* name;
  int numbers;  // 0: none, 1: alpha, 2: alpha and beta
  double alpha, beta;
  const char* text;  // of $; {a} and {b} are the numbers
};

struct Activation {
  const ActivationRow* row = nullptr;
  double alpha = 0, beta = 0;
};

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
  std::vector<std::string> gate_sums(const std::vector<std::int64_t>& gates, const std::string& factor) {
    std::vector<std::string> names;
    std::string updates;
    for (const std::int64_t g : gates) {
      names.push_back(scalar("gate", c_element(inputs_.back(), {time_, n_.index(), unit(g)})));
      updates += " " + names.back() + " = " + names.back() + " + " + factor + " * " + weight(g) + ";";
    }
    code("  " + c_for(k_) + " {" + updates + " }");
    return names;
  }
  std::string weight(std::int64_t g) const { return c_element("a2", {idx(lane_), unit(g), k_.index()}); }
  ExprPtr unit(std::int64_t g) const { return normal(idx_add(idx(g * hidden_), j_.index())); }
  std::string bias(std::int64_t half, std::int64_t g) const {  // half 0: W's, 1: R's
    return b_.has(3) ? " + " + c_element("a3", {idx(lane_), normal(idx_add(idx((half * gates_ + g) * hidden_), j_.index()))})
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
    if (!b_.wants(0) || layer_ + 1 < layers_) return;
    const Subscripts place = batch_first_ ? Subscripts{n_.index(), time_, idx(direction), j_.index()}
                                          : Subscripts{time_, idx(direction), n_.index(), j_.index()};
    code("  " + c_element("y0", place) + " = " + in_sequence(h, "0") + ";");
  }

  OpBuilder& b_;
  std::int64_t gates_, hidden_ = 0;
  int directions_ = 1, layers_ = 1;
  int layer_ = 0, lane_ = 0;  // of the nest that is being written
  bool reverse_ = false, batch_first_ = false, input_holds_all_biases_ = true;
  DType acc_ = DType::kF32;
  Loop n_, s_, j_, k_;
  ExprPtr steps_, time_, after_;     // extent; position in x of step s; s + 1
  std::string h_, c_;                // states by step: [steps + 1, batch, hidden]
  std::vector<std::string> below_;   // h of each direction of the layer before
  std::vector<std::string> inputs_;  // of each direction: [steps, batch, gates * hidden]

 private:
  bool read_sizes();
  bool check_shapes();
  void add_inputs(int direction);
  void add_deep_inputs();
  void run_lane(int direction, bool has_cell);
  void start(const std::string& array, int operand);
  void finish(const std::string& array, int out);
  Subscripts state_place() const {
    return batch_first_ ? Subscripts{n_.index(), idx(lane_), j_.index()} : Subscripts{idx(lane_), n_.index(), j_.index()};
  }
  bool backwards(int direction) const { return reverse_ || direction == 1; }
  int deep_operand() const { return static_cast<int>(b_.def().operands.size()) - 1; }

  bool choose_activations();

  std::vector<std::string> defaults_;
  std::vector<Activation> chosen_;  // per direction
};

}  // namespace facet
