// Sums over padded copies: products with the zeros are left out, and infinities among the other factors keep theirs.
#include <gmock/gmock.h>

#include <limits>

#include "codegen/passes/zeros.hpp"
#include "unit/codegen/passes/trees.hpp"

namespace facet::test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr std::int64_t kRows = 6, kColumns = 8, kChannels = 2, kFilters = 16;

// y[p, q, m] = sum over c, r, s of t[c, p + r, q + s] * w[c, r, s, m], where t is x with a border of `pad` zeros.
LoopProgram windows(ExprPtr pad = f32(0), std::int64_t border = 1) {
  const std::int64_t rows = kRows + 2 - 2 * border;
  const LoopPtr copy =
      put("t", {ix("c"), add(ix("i"), idx(border)), add(ix("j"), idx(border))}, rd("x", {ix("c"), ix("i"), ix("j")}, pad));
  const LoopPtr fill =
      loop("c", idx(0), idx(kChannels),
           {loop("i", idx(-border), idx(kRows + border), {loop("j", idx(-border), idx(kColumns + border), {copy})})});
  const ExprPtr q = add(ix("q"), mul(idx(4), ix("qr")));
  const std::vector<ExprPtr> place = {ix("p"), q, ix("m")};
  const auto tile = [&](LoopPtr statement) {
    return loop("q", idx(0), idx(4), {loop("m", idx(0), idx(kFilters), {std::move(statement)}, LoopKind::kVector, 16)},
                LoopKind::kUnroll);
  };
  const ExprPtr product =
      mul(rd("t", {ix("c"), add(ix("p"), ix("r")), add(q, ix("s"))}), rd("w", {ix("c"), ix("r"), ix("s"), ix("m")}));
  const LoopPtr sums = loop("c", idx(0), idx(kChannels),
                            {loop("r", idx(0), idx(3), {loop("s", idx(0), idx(3), {tile(update("y", place, product))})})});
  const LoopPtr nest =
      loop("p", idx(0), idx(rows), {loop("qr", idx(0), idx(border == 1 ? 2 : 1), {tile(put("y", place, f32(0))), sums})});
  return program(
      {},
      {array("x", {idx(kChannels), idx(kRows), idx(kColumns)}), array("w", {idx(kChannels), idx(3), idx(3), idx(kFilters)}),
       array("t", {idx(kChannels), idx(kRows + 2 * border), idx(kColumns + 2 * border)}, BufferRole::kWorkspace),
       array("y", {idx(rows), idx(kColumns), idx(kFilters)}, BufferRole::kOutput)},
      {fill, nest});
}

std::string text_of(const LoopProgram& p) { return to_text(lowered(p).kernels[0].body); }

TEST(SkipZeros, RowsAreLeftOutByBoundsAndColumnsByConditions) {
  const std::string text = text_of(windows());
  EXPECT_THAT(text, HasSubstr("for r in max(0, 1 - p - w_skip)..min(3, w_skip - p + 7)"));
  EXPECT_THAT(text, HasSubstr("if 4 * qr + s - 1 + w_skip >= 0\n"));
  EXPECT_THAT(text, HasSubstr("if 4 * qr + s + 2 - w_skip < 8\n"));
}

TEST(SkipZeros, TheSumsAreTheSame) {
  const LoopProgram p = windows(), q = lowered(p);
  expect_same(p, q, {});
}

// An infinity among the weights makes NaN of every zero beside it, in the border too.
TEST(SkipZeros, InfinitiesKeepAllProducts) {
  const LoopProgram p = windows(), q = lowered(p);
  for (const std::size_t at : {0, 17, 287}) {
    for (const double special : {std::numeric_limits<double>::infinity(), std::nan("")}) {
      Memory a = random_memory(p, {}, 3);
      a.cells["w"][at].real = special;
      Memory b = a;
      Evaluator(p, {}, a).run();
      Evaluator(q, {}, b).run();
      for (std::size_t i = 0; i < a.cells["y"].size(); ++i) {
        const double x = a.cells["y"][i].real, y = b.cells["y"][i].real;
        ASSERT_TRUE(x == y || (std::isnan(x) && std::isnan(y))) << at << " " << i << ": " << x << ", " << y;
      }
    }
  }
}

// Points in the lanes, the last vector under a mask: its sums are left out with the others, by the bounds of the rows' loop.
TEST(SkipZeros, RowsOfPointsInLanesToo) {
  constexpr std::int64_t rows = 6, columns = 52, filters = 4;
  const LoopPtr fill =
      loop("i", idx(-1), idx(rows + 1),
           {loop("j", idx(-1), idx(columns + 1),
                 {put("t", {add(ix("i"), idx(1)), add(ix("j"), idx(1))}, rd("x", {ix("i"), ix("j")}, f32(0)))})});
  const std::vector<ExprPtr> place = {ix("p"), ix("m"), ix("q")};
  const auto tile = [&](LoopPtr statement) {
    return loop("m", idx(0), idx(filters), {loop("q", idx(0), idx(columns), {std::move(statement)}, LoopKind::kVector, 16)},
                LoopKind::kUnroll);
  };
  const ExprPtr product = mul(rd("t", {add(ix("p"), ix("r")), add(ix("q"), ix("s"))}), rd("w", {ix("r"), ix("s"), ix("m")}));
  const LoopPtr sums = loop("r", idx(0), idx(3), {loop("s", idx(0), idx(3), {tile(update("y", place, product))})});
  const LoopProgram p = program({},
                                {array("x", {idx(rows), idx(columns)}), array("w", {idx(3), idx(3), idx(filters)}),
                                 array("t", {idx(rows + 2), idx(columns + 2)}, BufferRole::kWorkspace),
                                 array("y", {idx(rows), idx(filters), idx(columns)}, BufferRole::kOutput)},
                                {fill, loop("p", idx(0), idx(rows), {tile(put("y", place, f32(0))), sums})});
  EXPECT_THAT(text_of(p), HasSubstr("for r in max(0, 1 - p - w_skip)..min(3, w_skip - p + 7)"));
  EXPECT_THAT(text_of(p), Not(HasSubstr("if ")));
  expect_same(p, lowered(p), {});
}

TEST(SkipZeros, OtherValuesAroundAreMultiplied) { EXPECT_THAT(text_of(windows(f32(1))), Not(HasSubstr("skip"))); }

TEST(SkipZeros, NothingIsAskedWhereNoWindowLeavesTheArray) { EXPECT_THAT(text_of(windows(f32(0), 0)), Not(HasSubstr("skip"))); }

// What a second store may have put into the border is multiplied, and so is a border that moves with a loop.
TEST(SkipZeros, OnlyKnownZeros) {
  LoopProgram p = windows();
  p.kernels[0].body.insert(p.kernels[0].body.begin() + 1, put("t", {idx(0), idx(0), idx(0)}, f32(5)));
  EXPECT_THAT(text_of(p), Not(HasSubstr("skip")));
  expect_same(p, lowered(p), {});
  p = windows();
  p.kernels.push_back(p.kernels[0]);
  for (Kernel& k : p.kernels) k.buffers = {"t"};
  EXPECT_THAT(text_of(p), Not(HasSubstr("skip"))) << "another kernel writes it as well";
}

// Of a copy inside a loop the border may lie elsewhere in each iteration; it counts where the array is the iteration's own.
TEST(SkipZeros, BordersThatMoveBelongToLocalArrays) {
  const auto borders = [](BufferRole role) {
    const ExprPtr row = sub(add(ix("i"), idx(1)), mul(idx(3), ix("pt")));
    const LoopPtr copy = loop("i", sub(mul(idx(3), ix("pt")), idx(1)), add(mul(idx(3), ix("pt")), idx(4)),
                              {loop("j", idx(0), idx(8), {put("t", {row, ix("j")}, rd("x", {ix("i"), ix("j")}, f32(0)))})});
    LoopList body = {copy};
    const Buffer t = array("t", {idx(5), idx(8)}, role);
    if (role == BufferRole::kLocal) body.insert(body.begin(), make_loop(Allocate{t}));
    LoopProgram p = program({}, {array("x", {idx(6), idx(8)})}, {loop("pt", idx(0), idx(2), body)});
    if (role != BufferRole::kLocal) p.buffers.push_back(t);
    passes::Context context = passes::make_context(p, wide_machine(), nullptr);
    passes::enter_kernel(context, p.kernels[0]);
    std::string text;
    for (const passes::ZeroBorder& b : passes::zero_borders(p.kernels[0].body, context))
      text += std::to_string(b.dim) + ": " + to_text(b.shift) + "; ";
    return text;
  };
  EXPECT_EQ(borders(BufferRole::kLocal), "0: 3 * pt - 1; 1: 0; ");
  EXPECT_EQ(borders(BufferRole::kWorkspace), "1: 0; ");
}

// One row of places: each factor serves four sums, and the look at it would take a quarter of their time.
TEST(SkipZeros, NotWhereTheLookCostsMore) {
  LoopProgram p = windows();
  For row = *passes::as<For>(p.kernels[0].body[1]);
  row.upper = idx(1);
  For tile = *passes::as<For>(row.body[0]);
  tile.upper = idx(1);
  row.body = {make_loop(tile)};
  p.kernels[0].body[1] = make_loop(row);
  EXPECT_THAT(text_of(p), Not(HasSubstr("skip")));
}

}  // namespace
}  // namespace facet::test
