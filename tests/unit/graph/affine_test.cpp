// Shape texts and conditions: what is affine, what is not, and where the complaint points.
#include "src/frontend/affine.hpp"

#include <gtest/gtest.h>

namespace facet {
namespace {

const std::vector<std::string> kSymbols = {"N", "M", "class"};

std::string shape(const std::string& text) {
  const Result<ExprPtr> e = parse_affine(text, kSymbols, Place{});
  return e ? to_text(*e) : code_name(e.errors()[0].code) + ":" + std::to_string(e.errors()[0].place.column);
}

std::string condition(const std::string& text) {
  const Result<ExprPtr> e = parse_condition(text, kSymbols, Place{});
  return e ? to_text(*e) : code_name(e.errors()[0].code) + ":" + std::to_string(e.errors()[0].place.column);
}

TEST(Affine, ShapesAreFolded) {
  EXPECT_EQ(shape("2*N+1"), "2 * N + 1");
  EXPECT_EQ(shape("(N+1)/2"), "(N + 1) / 2");
  EXPECT_EQ(shape("N % 16"), "N % 16");
  EXPECT_EQ(shape("N*3 - M"), "3 * N - M");
  EXPECT_EQ(shape("2*3+4"), "10");
  EXPECT_EQ(shape("-7/2"), "-4");
  EXPECT_EQ(shape("-7%2"), "1");
  EXPECT_EQ(shape("min(N, M, 5)"), "min(min(N, M), 5)");
  EXPECT_EQ(shape("class + 0"), "class");
  EXPECT_EQ(shape("9223372036854775807"), "9223372036854775807");
}

TEST(Affine, ShapesAreRefused) {
  EXPECT_EQ(shape("N*M"), "not-affine:1");
  EXPECT_EQ(shape("1 + N*M"), "not-affine:5");
  EXPECT_EQ(shape("N / M"), "not-affine:1");
  EXPECT_EQ(shape("N / 0"), "not-affine:1");
  EXPECT_EQ(shape("N % -2"), "not-affine:1");
  EXPECT_EQ(shape("N + 1.5"), "not-affine:5");
  EXPECT_EQ(shape("N + K"), "unknown-name-in-text:5");
  EXPECT_EQ(shape("N +"), "syntax:4");
  EXPECT_EQ(shape("N N"), "syntax:3");
  EXPECT_EQ(shape(""), "syntax:1");
  EXPECT_EQ(shape("N $ 1"), "bad-character:3");
  EXPECT_EQ(shape("9223372036854775808"), "index-overflow:1");
  EXPECT_EQ(shape("9223372036854775807 + 1"), "index-overflow:1");
  EXPECT_EQ(shape("N + 9223372036854775807 + 9223372036854775807"), "index-overflow:1");
  EXPECT_EQ(shape("-(-9223372036854775807 - 1)"), "index-overflow:1");
  EXPECT_EQ(shape("99999999999999999999"), "bad-number:1");
  EXPECT_EQ(shape("3N"), "bad-number:1");
  EXPECT_EQ(shape("x[N]"), "not-affine:1");
  EXPECT_EQ(shape("exp(N)"), "not-affine:1");
  EXPECT_EQ(shape(std::string(5000, '(') + "N"), "text-too-deep:258");
}

TEST(Affine, Conditions) {
  EXPECT_EQ(condition("N % 16 == 0"), "N % 16 == 0");
  EXPECT_EQ(condition("N < M and M <= 2*N or not N == 1"), "N < M and M <= 2 * N or not(N == 1)");
  EXPECT_EQ(condition("N"), "not-affine:1");
  EXPECT_EQ(condition("N < M < 3"), "syntax:7");
  EXPECT_EQ(condition("N < M && M < 3"), "syntax:7");
  EXPECT_EQ(condition("N = 3"), "syntax:3");
}

TEST(Affine, TheMessageHelps) {
  const Result<ExprPtr> e = parse_affine("clas + 1", kSymbols, Place{"p.json", 0, 0, "/tensors/x/shape/0", ""});
  ASSERT_FALSE(e);
  EXPECT_EQ(to_text(e.errors()),
            "p.json:1:1: error[unknown-name-in-text]: 'clas' is not a symbol of this program (at /tensors/x/shape/0)\n"
            "  clas + 1\n  ^\n  note: did you mean \"class\"?\n");
}

TEST(Affine, PlaceInTheFileWhenItsLineShowsTheText) {
  const Result<ExprPtr> e = parse_affine("N + K", kSymbols, Place{"p.json", 7, 20, "/x", R"(    "x": {"shape": ["N + K"]})"});
  ASSERT_FALSE(e);
  EXPECT_EQ(e.errors()[0].place.line, 1);  // column 20 is not where the text starts
  const Result<ExprPtr> f = parse_affine("N + K", kSymbols, Place{"p.json", 7, 22, "/x", R"(    "x": {"shape": ["N + K"]})"});
  EXPECT_EQ(f.errors()[0].place.line, 7);
  EXPECT_EQ(f.errors()[0].place.column, 26);
}

TEST(Affine, IsAffine) {
  const ExprPtr e = idx_add(idx_mul(idx(2), index("i")), idx_floordiv(index("N"), 3));
  EXPECT_TRUE(is_affine(e, {"i", "N"}));
  EXPECT_FALSE(is_affine(e, {"N"}));
  EXPECT_FALSE(is_affine(binary(Op::kMul, index("i"), index("N")), {"i", "N"}));
  EXPECT_FALSE(is_affine(binary(Op::kFloorDiv, index("i"), index("N")), {"i", "N"}));
}

TEST(Affine, ConstantDifference) {
  const auto e = [](const char* t) { return *parse_affine(t, kSymbols, Place{}); };
  EXPECT_EQ(constant_difference(e("N+1"), e("1+N")), 0);
  EXPECT_EQ(constant_difference(e("2*(N-M)"), e("N+N-2*M+3")), 3);
  EXPECT_EQ(constant_difference(e("N"), e("M")), std::nullopt);
  EXPECT_EQ(constant_difference(e("(N+1)/2"), e("(N+1)/2 + 4")), 4);
}

}  // namespace
}  // namespace facet
