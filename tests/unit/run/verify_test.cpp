// The verdict: what passes, and each way of not passing.
#include "src/run/verify.hpp"

#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "src/run/inputs.hpp"
#include "support/hand_made.hpp"

namespace facet {
namespace {

using namespace facet::test;  // NOLINT

// A 6 x 6 matmul of random inputs with the reference's own outputs as results.
struct Case {
  Program program = matmul_program();
  ReferenceRun reference;
  HostTensors results;

  Case() {
    const SymbolValues sizes = {{"M", 6}, {"N", 6}, {"K", 30}};
    reference = *run_reference(program, sizes, *make_inputs(program, sizes, 1, {}));
    results = outputs_of(reference);
  }
  Verdict check(bool sampled = true) const { return verify(program, reference, results, sampled); }
};

TEST(Verify, TheReferenceVerifiesItself) {
  const Case c;
  const Verdict v = c.check();
  EXPECT_TRUE(v.verified) << v.reason;
  EXPECT_EQ(v.verified_elements, 36);
  EXPECT_GT(v.tolerance, 0);
  EXPECT_LT(v.tolerance, 1e-4);
  EXPECT_LE(v.max_abs_error, v.tolerance);
}

TEST(Verify, AnF32SumInAnotherOrderPasses) {
  Case c;
  const SymbolValues sizes = {{"M", 6}, {"N", 6}, {"K", 30}};
  const HostTensors in = *make_inputs(c.program, sizes, 1, {});
  for (std::int64_t i = 0; i < 6; ++i)
    for (std::int64_t j = 0; j < 6; ++j) {
      float sum = 0;
      for (std::int64_t k = 29; k >= 0; --k)
        sum += static_cast<float>(in.at("a").get(i * 30 + k)) * static_cast<float>(in.at("b").get(k * 6 + j));
      c.results.at("c").set(i * 6 + j, sum);
    }
  EXPECT_TRUE(c.check().verified) << c.check().reason;
}

TEST(Verify, AMissingTermFails) {
  Case c;
  HostTensor& t = c.results.at("c");
  t.set(8, t.get(8) + 0.01);
  const Verdict v = c.check();
  EXPECT_FALSE(v.verified);
  EXPECT_NE(v.reason.find("c[1, 2] differs"), std::string::npos) << v.reason;
  EXPECT_EQ(v.outputs[0].wrong, 1);
  EXPECT_NEAR(v.max_abs_error, 0.01, 1e-4);
}

TEST(Verify, NanAndPoisonFail) {
  Case c;
  c.results.at("c").set(35, std::numeric_limits<double>::quiet_NaN());
  EXPECT_NE(c.check().reason.find("c[5, 5] is NaN"), std::string::npos) << c.check().reason;
  poison(c.results.at("c"));
  const Verdict v = c.check();
  EXPECT_FALSE(v.verified);
  EXPECT_NE(v.reason.find("was not written"), std::string::npos) << v.reason;
  EXPECT_EQ(v.outputs[0].wrong, 36);
}

TEST(Verify, EveryFloatPoisonIsNanAndSeen) {
  for (const DType d : {DType::kF16, DType::kBF16, DType::kF32, DType::kF64}) {
    HostTensor t = make_host_tensor(d, {3});
    EXPECT_FALSE(is_poison(t, 2));
    poison(t);
    EXPECT_TRUE(is_poison(t, 2));
    EXPECT_TRUE(std::isnan(t.get(2))) << to_text(d);
  }
}

TEST(Verify, ReferenceNanMustBeNan) {
  Case c;
  c.reference.outputs.at("c").floats[3] = std::numeric_limits<double>::quiet_NaN();
  EXPECT_NE(c.check().reason.find("c[0, 3] should be NaN"), std::string::npos) << c.check().reason;
}

TEST(Verify, AmbiguousElementsAreCounted) {
  Case c;
  c.reference.outputs.at("c").bounds[4] = std::numeric_limits<float>::infinity();
  const Verdict v = c.check();
  EXPECT_EQ(v.ambiguous, 1);
  EXPECT_FALSE(v.verified) << "1 of 36 is more than 0.1 %";
}

TEST(Verify, UndefinedElementsFail) {
  Case c;
  c.reference.outputs.at("c").defined.assign(36, 1);
  EXPECT_TRUE(c.check().verified);
  c.reference.outputs.at("c").defined[7] = 0;
  EXPECT_NE(c.check().reason.find("c[1, 1] is never defined"), std::string::npos) << c.check().reason;
}

TEST(Verify, ClampedGathersFail) {
  Case c;
  c.reference.gather_count = 1;
  c.reference.gathers = {"element c[0, 0]: the gather wants 9"};
  EXPECT_FALSE(c.check().verified);
}

TEST(Verify, MeaninglessReferencesFailForSampledInputs) {
  Case c;
  ReferenceTensor& t = c.reference.outputs.at("c");
  t.floats.assign(36, 0.0);
  t.bounds.clear();
  c.results = outputs_of(c.reference);
  EXPECT_FALSE(c.check(true).verified);
  EXPECT_TRUE(c.check(false).verified);
  t.floats.assign(36, std::numeric_limits<double>::infinity());
  t.floats[0] = 1;
  c.results = outputs_of(c.reference);
  EXPECT_NE(c.check(true).reason.find("infinite"), std::string::npos);
}

TEST(Verify, ExactIntegersMustBeEqual) {
  Program p;
  add_tensor(p, "x", DType::kI32, {idx(3)}, true);
  add_tensor(p, "y", DType::kI32, {idx(3)});
  add_equation(p, equation("y", {range("i", 3)}, read("x", DType::kI32, {index("i")})));
  p.outputs = {"y"};
  const ReferenceRun r = *run_reference(p, {}, {{"x", host(DType::kI32, {3}, {1, 2, 3})}});
  HostTensors out = outputs_of(r);
  EXPECT_TRUE(verify(p, r, out, false).verified);
  out.at("y").set_int(2, 4);
  EXPECT_FALSE(verify(p, r, out, false).verified);
}

}  // namespace
}  // namespace facet
