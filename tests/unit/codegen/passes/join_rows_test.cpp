// Quotient and remainder of one position are one subscript for the passes, and an address again after them.
#include "unit/codegen/passes/trees.hpp"

namespace facet::test {
namespace {

std::vector<ExprPtr> row_of(const ExprPtr& position, std::int64_t extent) {
  return {idx_floordiv(position, extent), idx_mod(position, extent)};
}

// y[p / 7, p % 7] = x[(p + shift) / 7, (p + shift) % 7 ? pad], p below 35, in vectors of 8.
LoopProgram copy_of_rows(std::int64_t shift, ExprPtr pad) {
  const ExprPtr from = shift ? add(ix("p"), idx(shift)) : ix("p");
  return program({}, {array("x", {idx(5), idx(7)}), array("y", {idx(5), idx(7)}, BufferRole::kOutput)},
                 {loop("p", idx(0), idx(35), {put("y", row_of(ix("p"), 7), rd("x", row_of(from, 7), std::move(pad)))},
                       LoopKind::kVector, 8)});
}

TEST(JoinRows, VectorsDoNotEndInEveryRow) {
  const LoopProgram before = copy_of_rows(0, nullptr), after = lowered(before);
  expect_same(before, after, {});
  const std::string text = to_text(after);
  EXPECT_NE(text.find("y[0, 8]:8 = x[0, 8]:8"), std::string::npos) << text;
}

TEST(JoinRows, PaddingLiesBehindAllRows) {
  for (const std::int64_t shift : {3, -3}) {
    const LoopProgram before = copy_of_rows(shift, f32(0)), after = lowered(before);
    expect_same(before, after, {});
  }
}

// Padding of the inner dimension alone, also where it has one element: floor(i / 1) and i mod 1 are no row and place.
TEST(JoinRows, PaddingOfOneDimensionStays) {
  const LoopProgram before =
      program({}, {array("x", {idx(9), idx(1)}), array("y", {idx(9), idx(3)}, BufferRole::kOutput)},
              {loop("i", idx(0), idx(9),
                    {loop("j", idx(0), idx(3), {put("y", {ix("i"), ix("j")}, rd("x", {ix("i"), sub(ix("j"), idx(1))}, f32(0)))},
                          LoopKind::kVector, 4)})});
  expect_same(before, lowered(before), {});
}

// One access by rows and places of another position: the dimensions stay two.
TEST(JoinRows, AnotherUseKeepsTheDimensionsApart) {
  PassLog log;
  LoopProgram before = copy_of_rows(0, nullptr);
  before.buffers.push_back(array("z", {idx(5), idx(7)}, BufferRole::kOutput));
  before.kernels[0].body.push_back(
      loop("i", idx(0), idx(5), {loop("j", idx(0), idx(7), {put("z", {ix("i"), ix("j")}, rd("x", {ix("i"), ix("j")}))})}));
  const LoopProgram after = lowered(before, &log);
  expect_same(before, after, {});
  EXPECT_EQ(after.kernels[0].joined, (std::map<std::string, std::uint64_t>{{"y", 2}})) << "bit 1: y's rows are one";
  std::set<std::string> joined;
  for (const PassNote& n : log.notes)
    if (n.pass == "rows") joined.insert(n.loop);
  EXPECT_EQ(joined, (std::set<std::string>{"y"}));
}

}  // namespace
}  // namespace facet::test
