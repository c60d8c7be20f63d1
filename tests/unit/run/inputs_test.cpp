// Seeded inputs follow their sample rules, are the same on every run, and given ones are checked.
#include "src/run/inputs.hpp"

#include <algorithm>

#include <gtest/gtest.h>

#include "src/run/random.hpp"
#include "support/hand_made.hpp"

namespace facet {
namespace {

using namespace facet::test;  // NOLINT

Tensor tensor(DType d, std::vector<ExprPtr> shape, Sample sample = {}) {
  Tensor t;
  t.name = "x";
  t.dtype = d;
  t.shape = std::move(shape);
  t.sample = sample;
  return t;
}

TEST(Inputs, TheGeneratorIsFixed) {
  // Recorded once: other values would change every seeded run on every machine.
  const RandomStream random(1, "x");
  EXPECT_EQ(random.bits(0), 5408681654680733750U);
  EXPECT_EQ(random.bits(1), 6989493108256091986U);
}

TEST(Inputs, DefaultsAndRanges) {
  const HostTensor f = sample_tensor(tensor(DType::kF32, {idx(1000)}), {}, 7);
  const HostTensor i = sample_tensor(tensor(DType::kI8, {idx(1000)}), {}, 7);
  const HostTensor u = sample_tensor(tensor(DType::kU8, {idx(1000)}), {}, 7);
  double low = 0, high = 0;
  for (std::int64_t k = 0; k < 1000; ++k) {
    low = std::min(low, f.get(k));
    high = std::max(high, f.get(k));
    ASSERT_LE(std::abs(i.get(k)), 8);
    ASSERT_LE(u.get(k), 8);
  }
  EXPECT_LT(low, -0.95);
  EXPECT_GT(high, 0.95);
  EXPECT_GE(low, -1);
  EXPECT_LE(high, 1);
}

TEST(Inputs, SeedsAndNamesGiveOtherValues) {
  const Tensor x = tensor(DType::kF32, {idx(4)});
  Tensor y = x;
  y.name = "y";
  EXPECT_EQ(sample_tensor(x, {}, 3).bytes, sample_tensor(x, {}, 3).bytes);
  EXPECT_NE(sample_tensor(x, {}, 3).bytes, sample_tensor(x, {}, 4).bytes);
  EXPECT_NE(sample_tensor(x, {}, 3).bytes, sample_tensor(y, {}, 3).bytes);
}

TEST(Inputs, SpdIsSymmetricAndDominant) {
  const std::int64_t n = 17;
  const HostTensor a = sample_tensor(tensor(DType::kF64, {idx(2), idx(n), idx(n)}, {Sample::Kind::kSpd, 0, 0}), {}, 1);
  for (std::int64_t b = 0; b < 2; ++b)
    for (std::int64_t i = 0; i < n; ++i) {
      double off = 0;
      for (std::int64_t j = 0; j < n; ++j) {
        const double v = a.get((b * n + i) * n + j);
        EXPECT_EQ(v, a.get((b * n + j) * n + i));
        if (i != j) off += std::abs(v);
      }
      EXPECT_GT(a.get((b * n + i) * n + i), off);
    }
}

TEST(Inputs, PermutationsAreComplete) {
  const HostTensor p = sample_tensor(tensor(DType::kI32, {idx(3), idx(50)}, {Sample::Kind::kPermutation, 0, 0}), {}, 1);
  for (std::int64_t row = 0; row < 3; ++row) {
    std::vector<bool> seen(50);
    for (std::int64_t i = 0; i < 50; ++i) seen[static_cast<std::size_t>(p.get_int(row * 50 + i))] = true;
    EXPECT_EQ(std::count(seen.begin(), seen.end(), true), 50);
  }
  EXPECT_NE(p.get_int(0) * 50 + p.get_int(1), 1) << "not the identity";
}

TEST(Inputs, NormalHasItsMeanAndDeviation) {
  const HostTensor x = sample_tensor(tensor(DType::kF64, {idx(20000)}, {Sample::Kind::kNormal, 3, 0.5}), {}, 1);
  double sum = 0, squares = 0;
  for (std::int64_t i = 0; i < 20000; ++i) {
    sum += x.get(i);
    squares += (x.get(i) - 3) * (x.get(i) - 3);
  }
  EXPECT_NEAR(sum / 20000, 3, 0.02);
  EXPECT_NEAR(squares / 20000, 0.25, 0.02);
}

TEST(Inputs, Constants) {
  Program p;
  Tensor& fill = add_tensor(p, "f", DType::kF32, {idx(2)});
  fill.data = TensorData{};
  fill.data->fill = 0.5;
  Tensor& iota = add_tensor(p, "i", DType::kI32, {idx(2), idx(3)});
  iota.data = TensorData{};
  iota.data->kind = TensorData::Kind::kIota;
  iota.data->axis = 1;
  Tensor& values = add_tensor(p, "v", DType::kI64, {idx(2)});
  values.data = TensorData{};
  values.data->kind = TensorData::Kind::kValues;
  values.data->int_values = {7, -9};
  Result<HostTensors> t = make_inputs(p, {}, 0, {});
  ASSERT_TRUE(t.ok());
  EXPECT_EQ(t->at("f").get(1), 0.5);
  EXPECT_EQ(t->at("i").get_int(5), 2);
  EXPECT_EQ(t->at("v").get_int(1), -9);
}

TEST(Inputs, GivenOnesAreChecked) {
  const Program p = matmul_program();
  const SymbolValues sizes = {{"M", 2}, {"N", 2}, {"K", 2}};
  const HostTensor good = host(DType::kF32, {2, 2}, {1, 2, 3, 4});
  Result<HostTensors> t = make_inputs(p, sizes, 0, {{"a", good}});
  ASSERT_TRUE(t.ok());
  EXPECT_EQ(t->at("a").get(3), 4);
  EXPECT_EQ(t->at("b").shape, (std::vector<std::int64_t>{2, 2}));
  EXPECT_EQ(make_inputs(p, sizes, 0, {{"q", good}}).errors()[0].code, Code::kUnknownInput);
  EXPECT_EQ(make_inputs(p, sizes, 0, {{"a", host(DType::kF32, {4}, {})}}).errors()[0].code, Code::kInputShape);
  EXPECT_EQ(make_inputs(p, sizes, 0, {{"a", host(DType::kF64, {2, 2}, {})}}).errors()[0].code, Code::kInputDtype);
}

TEST(Inputs, SymbolsAndAssumptionsAreChecked) {
  Program p = matmul_program();
  p.assumptions = {binary(Op::kEq, idx_mod(index("N"), 4), idx(0))};
  EXPECT_TRUE(check_symbols(p, {{"M", 2}, {"N", 8}, {"K", 2}}).ok());
  EXPECT_EQ(check_symbols(p, {{"M", 5000}, {"N", 8}, {"K", 2}}).errors()[0].code, Code::kSymbolOutsideRange);
  EXPECT_EQ(check_symbols(p, {{"M", 2}, {"N", 6}, {"K", 2}}).errors()[0].code, Code::kAssumptionBroken);
}

}  // namespace
}  // namespace facet
