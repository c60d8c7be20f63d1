// What the next panel is copied from is asked for while this one is used: where, how much of it at a time, and where not.
#include <gmock/gmock.h>

#include "unit/codegen/passes/trees.hpp"

namespace facet::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

struct Shape {
  std::int64_t runs = 64, row = 3136, panels = 4, rows = 32;
  bool sums = true;      // the panel is used by a register tile
  bool moves = true;     // each iteration copies a part of its own
  bool symbols = false;  // so many rows as a symbol says
  bool scalar = false;   // the panel is filled with one element
  BufferRole role = BufferRole::kInput;
};

// y[i, 16 * jt + j] = sum over k of a[i, k] * x[k, 16 * jt + j], by panels of x that are copied first.
LoopProgram panels(const Shape& s) {
  const ExprPtr k = ix("k"), j = ix("j"), column = add(mul(idx(32), ix("jt")), j);
  const LoopPtr copy =
      loop("kc", idx(0), idx(s.runs),
           {loop("jc", idx(0), idx(32),
                 {put("t", {ix("kc"), ix("jc")},
                      s.scalar ? rd("one", {}) : rd("x", {ix("kc"), add(mul(idx(s.moves ? 32 : 0), ix("jt")), ix("jc"))}))},
                 LoopKind::kVector, 16)});
  const auto tile = [&](const std::string& r, LoopPtr inside) {
    return loop(r, idx(0), idx(4), {loop("j", idx(0), idx(32), {std::move(inside)}, LoopKind::kVector, 16)}, LoopKind::kUnroll);
  };
  const ExprPtr row = add(mul(idx(4), ix("ir")), ix("r"));
  const LoopPtr use = loop("ir", idx(0), s.symbols ? ix("M") : idx(s.rows / 4),
                           {local("c", {idx(4), idx(32)}), tile("r", put("c", {ix("r"), j}, f32(0))),
                            loop("k", idx(0), idx(s.runs),
                                 {tile("r", s.sums ? update("c", {ix("r"), j}, mul(rd("a", {row, k}), rd("t", {k, j})))
                                                   : put("y", {row, column}, rd("t", {k, j})))}),
                            tile("r", put("y", {row, column}, rd("c", {ix("r"), j})))});
  return program({"M"},
                 {array("a", {idx(s.rows), idx(s.runs)}), array("x", {idx(s.runs), idx(s.row)}, s.role), array("one", {}),
                  array("y", {idx(s.rows), idx(s.row)}, BufferRole::kOutput)},
                 {loop("jt", idx(0), idx(s.panels), {local("t", {idx(s.runs), idx(32)}), copy, use})});
}

std::string lowered(const Shape& s) {
  CpuMachine m = wide_machine();
  m.caches = {{48 << 10}, {2 << 20}, {32 << 20}};
  return to_text(lower_for_cpu(panels(s), m, nullptr).kernels[0].body);
}

TEST(PrefetchCopies, LinesOfTheNextPanelAreSpreadOverTheSums) {
  const std::string text = lowered({}),
                    line = "prefetch x[min((64 * ir + k) / 2, 63), 32 * jt + 16 * ((64 * ir + k) % 2) + 32]";
  EXPECT_THAT(text, HasSubstr(line));
  EXPECT_GT(text.find(line), text.find("for k in"));
  EXPECT_LT(text.find(line), text.find("fma("));
  EXPECT_EQ(text.find("prefetch x", text.find(line) + 1), std::string::npos) << "one an iteration is enough";
}

TEST(PrefetchCopies, SeveralAnIterationWhereThereAreFew) {
  Shape few;
  few.rows = 4;
  EXPECT_THAT(lowered(few), HasSubstr("prefetch x[min(k, 63), 32 * jt + 32]"));
  EXPECT_THAT(lowered(few), HasSubstr("prefetch x[min(k, 63), 32 * jt + 48]"));
}

TEST(PrefetchCopies, NothingIsAskedForElsewhere) {
  const std::vector<std::pair<const char*, void (*)(Shape&)>> cases = {
      {"runs that are near are a stream", [](Shape& s) { s.row = 200; }},
      {"the second cache holds no two such panels", [](Shape& s) { s.runs = 9000; }},
      {"a small panel is soon there", [](Shape& s) { s.runs = 16; }},
      {"what is the same for every iteration is there", [](Shape& s) { s.moves = false; }},
      {"loops that store are left alone", [](Shape& s) { s.sums = false; }},
      {"what the program made itself is near", [](Shape& s) { s.role = BufferRole::kWorkspace; }},
      {"lengths must be known", [](Shape& s) { s.symbols = true; }},
      {"a scalar is no run: it has no last subscript (the pass crashed)", [](Shape& s) { s.scalar = true; }},
  };
  for (const auto& [what, change] : cases) {
    Shape shape;
    change(shape);
    EXPECT_THAT(lowered(shape), AllOf(Not(HasSubstr("prefetch x")), Not(HasSubstr("prefetch one")))) << what;
  }
}

}  // namespace
}  // namespace facet::test
