// What later register tiles read in place is asked for while one is computed: where, how much of it at a time, and where not.
#include <gmock/gmock.h>

#include "unit/codegen/passes/trees.hpp"

namespace facet::test {
namespace {

using testing::HasSubstr;
using testing::Not;

struct Shape {
  std::int64_t blocks = 100, depth = 96, row = 8064, tiles = 3, passes = 1;
  bool sums = true;      // the rows are used by a register tile
  bool moves = true;     // each iteration of a reads rows of its own
  bool symbols = false;  // so many rows as a symbol says
  BufferRole role = BufferRole::kInput;
};

// y[c, a, j] = sum over k of w[c, k] * x[a, k, j], tiles of 4 rows of y and 32 columns; x is read in place.
LoopProgram in_place(const Shape& s) {
  const ExprPtr k = ix("k"), j = ix("j"), a = s.moves ? ix("a") : idx(0), row = add(mul(idx(4), ix("c")), ix("r"));
  const auto tile = [&](LoopPtr inside) {
    return loop("r", idx(0), idx(4), {loop("j", idx(0), idx(32), {std::move(inside)}, LoopKind::kVector, 16)},
                LoopKind::kUnroll);
  };
  const LoopPtr sums = loop("k", idx(0), s.symbols ? ix("K") : idx(s.depth),
                            {tile(s.sums ? update("t", {ix("r"), j}, mul(rd("w", {row, k}), rd("x", {a, k, j})))
                                         : put("y", {row, ix("a"), j}, rd("x", {a, k, j})))});
  const LoopList body = {local("t", {idx(4), idx(32)}), tile(put("t", {ix("r"), j}, f32(0))), sums,
                         tile(put("y", {row, ix("a"), j}, rd("t", {ix("r"), j})))};
  return program(
      {"K"},
      {array("w", {idx(4 * s.tiles), idx(s.depth)}), array("x", {idx(s.blocks), idx(s.depth), idx(s.row)}, s.role),
       array("y", {idx(4 * s.tiles), idx(s.blocks), idx(32)}, BufferRole::kOutput)},
      {loop("p", idx(0), idx(s.passes), {loop("a", idx(0), idx(s.blocks), {loop("c", idx(0), idx(s.tiles), body)})})});
}

std::string lowered(const Shape& s) {
  CpuMachine m = wide_machine();
  m.caches = {{32 << 10}, {1 << 20}, {32 << 20}};
  return to_text(lower_for_cpu(in_place(s), m, nullptr).kernels[0].body);
}

TEST(PrefetchTiles, LinesOfTheNextRowsAreSpreadOverTheSums) {
  const std::string text = lowered({}), line = "prefetch x[a + 1, ";
  EXPECT_THAT(text, HasSubstr(line));
  EXPECT_GT(text.find(line), text.find("for k in"));
  EXPECT_LT(text.find(line), text.find("fma("));
  EXPECT_EQ(text.find("prefetch x", text.find(line) + 1), std::string::npos) << "192 lines in 288 iterations: one each";
}

TEST(PrefetchTiles, SeveralAnIterationWhereThereAreFew) {
  Shape few;
  few.tiles = 1;
  const std::string text = lowered(few), line = "prefetch x[a + 1, ";
  EXPECT_NE(text.find(line, text.find(line) + 1), std::string::npos) << text;
}

TEST(PrefetchTiles, TheResultIsTheSame) {
  const LoopProgram p = in_place({20, 40, 96, 2});
  CpuMachine m = wide_machine();
  m.caches = {{32 << 10}, {1 << 20}, {32 << 20}};
  const LoopProgram asking = lower_for_cpu(p, m, nullptr);
  EXPECT_THAT(to_text(asking.kernels[0].body), HasSubstr("prefetch x[a + 1"));
  expect_same(p, asking, {{"K", 1}});
}

TEST(PrefetchTiles, NothingIsAskedForElsewhere) {
  const std::vector<std::pair<const char*, void (*)(Shape&)>> cases = {
      {"a small array is near", [](Shape& s) { s.row = 32, s.blocks = 20; }},
      {"few lines are soon there", [](Shape& s) { s.depth = 6; }},
      {"the first cache does not hold more beside what is used", [](Shape& s) { s.depth = 160; }},
      {"the last of few iterations asks for what is not the next", [](Shape& s) { s.blocks = 3; }},
      {"what is the same for every iteration is there", [](Shape& s) { s.moves = false; }},
      {"loops that store are left alone", [](Shape& s) { s.sums = false; }},
      {"what the program made itself is near", [](Shape& s) { s.role = BufferRole::kWorkspace; }},
      {"lengths must be known", [](Shape& s) { s.symbols = true; }},
      {"the second cache holds what the pass before has read", [](Shape& s) { s.passes = 9, s.blocks = 60; }},
  };
  for (const auto& [what, change] : cases) {
    Shape shape;
    change(shape);
    EXPECT_THAT(lowered(shape), Not(HasSubstr("prefetch x[a + 1"))) << what;
  }
  Shape often;
  often.passes = 9;
  often.blocks = 1000;
  EXPECT_THAT(lowered(often), HasSubstr("prefetch x[a + 1")) << "12 MB a pass are not there any more";
}

}  // namespace
}  // namespace facet::test
