// The kinds of gradient against differences of the reference: in f64, one element of one float operand moved at a time.
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "src/graph/elaborate.hpp"
#include "src/graph/op_facts.hpp"
#include "src/ops/samples.hpp"
#include "src/run/inputs.hpp"
#include "src/run/reference.hpp"

namespace facet {
namespace {

constexpr int kTrials = 12;
constexpr double kStep = 1e-5;

// All outputs in a row.
std::vector<double> values_of(const Program& program, const HostTensors& inputs) {
  const Result<ReferenceRun> run = run_reference(program, {}, inputs);
  EXPECT_TRUE(run) << to_text(run.errors());
  std::vector<double> all;
  if (!run) return all;
  for (const auto& [name, t] : run->outputs) {
    all.insert(all.end(), t.floats.begin(), t.floats.end());
    for (const std::int64_t v : t.ints) all.push_back(static_cast<double>(v));
  }
  return all;
}

std::vector<double> moved(const Program& program, HostTensors inputs, const std::string& name, std::int64_t at, double by) {
  HostTensor& t = inputs.at(name);
  t.set(at, t.get(at) + by);
  return values_of(program, inputs);
}

struct Differences {
  int flat = 0, straight = 0, smooth = 0, seen = 0;  // trials of which this is true
};

Differences differences(const Program& program, std::uint64_t seed) {
  Differences d;
  std::mt19937_64 random(seed);
  const Result<HostTensors> drawn = make_inputs(program, {}, seed, {});
  EXPECT_TRUE(drawn) << to_text(drawn.errors());
  std::vector<std::string> floats;
  for (const std::string& name : program.inputs)
    if (program.tensor(name).dtype == DType::kF64 && drawn->at(name).element_count() > 0) floats.push_back(name);
  for (int trial = 0; trial < kTrials && !floats.empty(); ++trial) {
    const std::string name = floats[random() % floats.size()];
    const auto at = static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(drawn->at(name).element_count()));
    const std::vector<double> here = values_of(program, *drawn), up = moved(program, *drawn, name, at, kStep),
                              down = moved(program, *drawn, name, at, -kStep), far = moved(program, *drawn, name, at, 0.5),
                              back = moved(program, *drawn, name, at, -0.5);
    bool flat = true, straight = true, smooth = true, finite = true;
    for (std::size_t i = 0; i < here.size(); ++i) {
      finite = finite && std::isfinite(here[i]) && std::isfinite(up[i]) && std::isfinite(down[i]);
      if (!finite) break;
      const double forward = (up[i] - here[i]) / kStep, backward = (here[i] - down[i]) / kStep,
                   scale = 1 + std::abs(here[i]) + std::abs(forward);
      flat = flat && up[i] == here[i] && down[i] == here[i];
      smooth = smooth && std::abs(forward - backward) <= 1e-2 * scale;
      straight = straight && std::abs(far[i] + back[i] - 2 * here[i]) <= 1e-9 * scale;
    }
    if (!finite) continue;  // outside the domain: log of a negative number
    ++d.seen;
    d.flat += flat;
    d.straight += straight;
    d.smooth += smooth;
  }
  return d;
}

TEST(Gradients, KindsAgreeWithDifferences) {
  std::map<Gradient, int> count;
  for (const OpDef* op : all_ops()) {
    ++count[gradient_of(*op)];
    for (const OpSample& sample : op->samples) {
      OpSample wide = sample;
      for (std::string& o : wide.operands)
        for (const char* narrow : {"f32[", "f16[", "bf16["})
          if (o.rfind(narrow, 0) == 0) o = "f64[" + o.substr(std::string(narrow).size());
      const Result<Program> written = sample_program(*op, wide);
      const Result<Program> program = written ? elaborate(*written) : written;
      if (!program) continue;  // an attribute names another dtype
      const Gradient stated = op->gradient ? *op->gradient : gradient_of(*program);
      EXPECT_LE(stated, gradient_of(*op)) << op->name;
      const Differences d = differences(*program, 11);
      const std::string text = op->name + " is " + to_text(stated) + ": " + std::to_string(d.flat) + " flat, " +
                               std::to_string(d.straight) + " straight, " + std::to_string(d.smooth) + " smooth of " +
                               std::to_string(d.seen);
      // A casting output may be narrower than f64 and move in steps.
      const bool rounded = program->tensor("z0").dtype != DType::kF64 && is_float(program->tensor("z0").dtype);
      if (rounded) continue;
      if (stated == Gradient::kNone) { EXPECT_GE(d.flat, d.seen - 1) << text; }
      if (stated == Gradient::kLinear || stated == Gradient::kSelected) { EXPECT_EQ(d.straight, d.seen) << text; }
      if (stated == Gradient::kSmooth) { EXPECT_EQ(d.smooth, d.seen) << text; }
      if (stated == Gradient::kPiecewise) { EXPECT_GE(d.smooth * 4, d.seen * 3) << text; }
    }
  }
  for (const Gradient g : {Gradient::kNone, Gradient::kLinear, Gradient::kSelected, Gradient::kSmooth, Gradient::kPiecewise})
    EXPECT_GT(count[g], 2) << to_text(g);
}

TEST(Gradients, OfSomeOperators) {
  const auto kind = [](const char* op) { return to_text(gradient_of(*find_op(op))); };
  EXPECT_EQ(kind("transpose"), "linear");
  EXPECT_EQ(kind("reduce_mean"), "linear");
  EXPECT_EQ(kind("matmul"), "smooth");
  EXPECT_EQ(kind("relu"), "piecewise");
  EXPECT_EQ(kind("max_pool"), "piecewise");
  EXPECT_EQ(kind("gather"), "selected");
  EXPECT_EQ(kind("floor"), "none");
  EXPECT_EQ(kind("arg_max"), "none");
  EXPECT_EQ(kind("top_k"), "piecewise");  // the integers that choose come from the floats
  EXPECT_EQ(kind("gru"), "smooth");
  EXPECT_EQ(kind("lstm"), "piecewise");  // its clip
  EXPECT_EQ(kind("softmax"), "smooth");
  EXPECT_EQ(kind("cum_sum"), "linear");
}

TEST(Flops, CountTheEquations) {
  const OpDef& matmul = *find_op("matmul");
  const Result<Program> program = elaborate(*sample_program(matmul, {{"f32[4, 5]", "f32[5, 3]"}, {}}));
  EXPECT_EQ(flops_of(*program).formula, "4 * 3 * (5 * 2)");
  EXPECT_EQ(flops_of(*program).total, 120);
  const Result<Program> tanh = elaborate(*sample_program(*find_op("tanh"), {{"f32[7]"}, {}}));
  EXPECT_EQ(flops_of(*tanh).total, 70);
  const Result<Program> moved = elaborate(*sample_program(*find_op("transpose"), {{"f32[2, 3]"}, {}}));
  EXPECT_EQ(flops_of(*moved).total, 0);
}

}  // namespace
}  // namespace facet
