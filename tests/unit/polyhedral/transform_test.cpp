// Each transform: the loops it makes, as text.
#include "tests/unit/polyhedral/program_support.hpp"

namespace facet {
namespace {

std::string body(const Program& p, const std::string& steps) { return last_kernel(loops_text(p, steps)); }

const char* const kScale[] = {"y[i, j] = x[i, j] * 2.0"};

Program scale() { return equations({kScale[0]}, "y"); }

TEST(Transform, TileMakesTileLoopsAroundPointLoops) {
  EXPECT_EQ(
      body(scale(), R"({"do": "tile", "statement": "y", "loops": ["i", "j"], "sizes": [3, 4]})"),
      "  for it in 0..3\n    for jt in 0..2\n      for i in 3 * it..min(8, 3 * it + 3)\n        for j in 4 * jt..4 * jt + 4\n"
      "          y[i, j] = x[i, j] * 2.0\n");
}

TEST(Transform, TileNamesAreTheUsers) {
  EXPECT_NE(body(scale(), R"({"do": "tile", "statement": "y", "loops": ["j"], "sizes": [4], "names": ["jo"]})")
                .find("for jo in 0..2"),
            std::string::npos);
}

TEST(Transform, InterchangeReorders) {
  EXPECT_EQ(body(scale(), R"({"do": "interchange", "statement": "y", "order": ["j", "i"]})"),
            "  for j in 0..8\n    for i in 0..8\n      y[i, j] = x[i, j] * 2.0\n");
}

TEST(Transform, ReverseRunsBackwards) {
  const std::string text = body(scale(), R"({"do": "reverse", "statement": "y", "loop": "i"})");
  EXPECT_NE(text.find("for i in -7..1"), std::string::npos) << text;
  EXPECT_NE(text.find("y[-i, j]"), std::string::npos) << text;
}

TEST(Transform, ShiftDelays) {
  const std::string text = body(scale(), R"({"do": "shift", "statement": "y", "loop": "i", "offset": 5})");
  EXPECT_NE(text.find("for i in 5..13"), std::string::npos) << text;
  EXPECT_NE(text.find("y[i - 5, j]"), std::string::npos) << text;
}

TEST(Transform, SkewAddsTheOtherLoop) {
  const std::string text = body(scale(), R"({"do": "skew", "statement": "y", "loop": "j", "by": "i"})");
  EXPECT_NE(text.find("for j in i..i + 8"), std::string::npos) << text;
}

TEST(Transform, DistributeGivesTheReductionItsOwnNest) {
  const std::string text =
      body(equations({"y[i] = sum[j](x[i, j])"}, "y"), R"({"do": "distribute", "statement": "y", "loop": "i"})");
  EXPECT_EQ(text, "  for i in 0..8\n    y[i] = 0.0\n  for i in 0..8\n    for j in 0..8\n      y[i] sum= x[i, j]\n");
}

TEST(Transform, FuseSharesTheLoopsAndContractShrinksTheArray) {
  const Program p = equations({"t[i, j] = x[i, j] + 1.0", "y[i, j] = t[i, j] * 2.0"}, "y");
  EXPECT_EQ(
      body(p, R"({"do": "fuse", "statements": ["y.t", "y"], "loops": ["i", "j"]}, {"do": "contract", "array": "y.t"})"),
      "  for i in 0..8\n    for j in 0..8\n      allocate y.t: f32[1, 1] stack\n      y.t[0, 0] = x[i, j] + 1.0\n      y[i, j] = y.t[0, 0] * 2.0\n");
}

TEST(Transform, ContractAtARowKeepsTheRow) {
  const Program p = equations({"t[i, j] = x[i, j] + 1.0", "y[i, j] = t[i, 7 - j] * 2.0 for j in 0..8"}, "y");
  const std::string text =
      body(p, R"({"do": "fuse", "statements": ["y.t", "y"], "loops": ["i"]}, {"do": "contract", "array": "y.t"})");
  EXPECT_NE(text.find("allocate y.t: f32[1, 8] stack"), std::string::npos) << text;
}

// isl removes loops that run once and may then visit their statements one by one: the buffer is still declared once.
TEST(Transform, ContractedArrayOfLoopsThatRunOnceIsDeclaredOnce) {
  const Program p = equations({"t[i, j] = x[i, j] + 1.0 for i in 0..1, j in 0..1", "y[i, j] = t[i, j] * 2.0"}, "y");
  EXPECT_EQ(body(p, R"({"do": "fuse", "statements": ["y.t", "y"], "loops": ["i", "j"]}, {"do": "contract", "array": "y.t"})"),
            "  allocate y.t: f32[1, 1] stack\n  y.t[0, 0] = x[0, 0] + 1.0\n  y[0, 0] = y.t[0, 0] * 2.0\n");
}

// Distributing a loop renames the other parts' loops: a buffer declared there moves with them.
TEST(Transform, DistributeTakesTheBuffersAlong) {
  const Program p = equations({"t[i, j] = x[i, j] + 1.0", "u[i, j] = t[i, j] * 2.0", "y[i, j] = u[i, j] - 1.0"}, "y");
  const std::string text = body(
      p,
      R"({"do": "fuse", "statements": ["y.t", "y.u"], "loops": ["i", "j"]}, {"do": "fuse", "statements": ["y.u", "y"], "loops": ["i", "j"]},
      {"do": "contract", "array": "y.t"}, {"do": "distribute", "statement": "y", "loop": "i"})");
  EXPECT_NE(text.find("      allocate y.t: f32[1, 1] stack\n      y.t[0, 0] = x[i, j] + 1.0"), std::string::npos) << text;
}

// A box's place is a function of the loops around it: steps that change these loops move it along (it stood still, and the
// values went to other elements).
TEST(Transform, BoxesFollowTheLoopsAroundThem) {
  const Program p = equations({"t[i, j] = x[i, j] + 1.0", "y[i, j] = t[i, j] * 2.0"}, "y");
  const std::string before =
      R"({"do": "fuse", "statements": ["y.t", "y"], "loops": ["i", "j"]}, {"do": "contract", "array": "y.t"}, )";
  for (const char* step :
       {R"({"do": "tile", "statement": "y", "loops": ["i"], "sizes": [4]})",
        R"({"do": "skew", "statement": "y", "loop": "j", "by": "i"})", R"({"do": "reverse", "statement": "y", "loop": "i"})"}) {
    const std::string text = body(p, before + step);
    EXPECT_NE(text.find("y.t[0, 0] = "), std::string::npos) << text;
    EXPECT_NE(text.find(" = y.t[0, 0] * 2.0"), std::string::npos) << text;
  }
  // The loop of the box is the outer one now: a column of it.
  const std::string text = body(p, before + R"({"do": "interchange", "statement": "y", "order": ["j", "i"]})");
  EXPECT_NE(text.find("allocate y.t: f32[8, 1] stack"), std::string::npos) << text;
  EXPECT_NE(text.find("y[i, j] = y.t[i, 0] * 2.0"), std::string::npos) << text;
}

// The copy stays in the iteration of its readers, and after what writes the array.
TEST(Transform, APromotedPartIsJudgedByValue) {
  const Program p = equations({"y[i, j] = x[i, j] * 2.0"}, "y");
  const std::string promote = R"({"do": "promote", "array": "x", "statement": "y", "at": "i"}, )";
  EXPECT_TRUE(judge(p, promote + R"({"do": "reverse", "statement": "y", "loop": "i"})").legal);
  const LegalReport shifted = judge(p, promote + R"({"do": "shift", "statement": "y", "loop": "i", "offset": 1})");
  EXPECT_FALSE(shifted.legal);
  EXPECT_EQ(shifted.reason, "dependence");
  EXPECT_EQ(shifted.array, "x.tile");
  EXPECT_FALSE(judge(p, promote + R"({"do": "distribute", "statement": "y", "loop": "i"})").legal);
  const Program q = equations({"t[i, j] = x[i, j] + 1.0", "y[i, j] = t[i, j] * 2.0"}, "y");
  const LegalReport early = judge(q, R"({"do": "promote", "array": "y.t", "statement": "y", "at": "i"},
      {"do": "fuse", "statements": ["y.t", "y"], "loops": ["i"]}, {"do": "shift", "statement": "y.t", "loop": "i", "offset": 1})");
  EXPECT_FALSE(early.legal);
}

TEST(Transform, APaddedReadKeepsTheWholeArray) {
  const Program p = equations({"t[i, j] = x[i, j] + 1.0", "y[i, j] = t[i, j + 1 ? 0.0] for i in 0..8, j in 0..8"}, "y");
  const LegalReport r =
      judge(p, R"({"do": "fuse", "statements": ["y.t", "y"], "loops": ["i"]}, {"do": "contract", "array": "y.t"})");
  EXPECT_FALSE(r.legal);
  EXPECT_NE(r.message.find("padding value"), std::string::npos) << r.message;
}

TEST(Transform, PromotePacksTheTileItReads) {
  const Program p = equations({"y[i, j] = sum[k](x[i, k] * x[k, j])"}, "y");
  const std::string text = body(p, R"({"do": "distribute", "statement": "y", "loop": "i"},
      {"do": "tile", "statement": "y", "loops": ["k"], "sizes": [4]},
      {"do": "interchange", "statement": "y", "order": ["kt", "i", "j", "k"]},
      {"do": "promote", "array": "x", "statement": "y", "at": "kt", "memory": "stack"})");
  EXPECT_FALSE(text.empty());
}

// 8 = 3 + 3 + 2 rows, and a read past the array: the copy has whole boxes, the reader no padding any more.
TEST(Transform, AFilledTileIsCopiedWhole) {
  const Program p = equations({"y[i, j] = sum[r](x[i, j + r ? 7.0]) for i in 0..8, j in 0..8, r in 0..3"}, "y");
  const std::string tiled = R"({"do": "tile", "statement": "y", "loops": ["i"], "sizes": [3]},
      {"do": "promote", "array": "x", "statement": "y", "at": "it", "memory": "shared")";
  const std::string text = body(p, tiled + R"(, "fill": true, "layout": {"order": ["d1", "i"], "pad": {"i": 2}}})");
  EXPECT_NE(text.find("allocate x.tile: f32[10, 3] strides [5, 1] shared"), std::string::npos) << text;
  EXPECT_NE(text.find("x.tile[d1, i - 3 * it] = x[i, d1 ? 7.0]"), std::string::npos) << text;
  EXPECT_NE(text.find("for i in 3 * it..3 * it + 3"), std::string::npos) << text;
  EXPECT_NE(text.find("sum= x.tile[j + r, i - 3 * it]"), std::string::npos) << text;
  const LegalReport bare = judge(p, tiled + "}");
  EXPECT_NE(bare.message.find("padding value"), std::string::npos) << bare.message;
  const Program two = equations({"y[i, j] = x[i, j + 1 ? 7.0] + x[i, j - 1 ? 0.0] for i in 0..8, j in 0..8"}, "y");
  const LegalReport differ = judge(two, tiled + R"(, "fill": true})");
  EXPECT_NE(differ.message.find("different padding values"), std::string::npos) << differ.message;
}

TEST(Transform, AFilledTileOfRankZeroIsItsElement) {
  const Program p = equations({"t[] = sum[i](x[i, 0]) for i in 0..8", "y[i] = t[] + x[i, 1]"}, "y");
  const std::string text = body(p, R"({"do": "promote", "array": "y.t", "statement": "y", "at": "i", "fill": true})");
  EXPECT_NE(text.find("y.t.tile[] = y.t[ ? 0.0]"), std::string::npos) << text;
}

TEST(Transform, PadIsForTilesOfABlockOrAThread) {
  const Program p = equations({"y[i, j] = x[j, i] * 2.0"}, "y");
  const std::string promoted = R"({"do": "promote", "array": "x", "statement": "y", "at": "i", )";
  const LegalReport split = judge(p, promoted + R"("memory": "stack", "layout": {"pad": {"j": 1}, "inner": {"j": 4}}})");
  EXPECT_NE(split.message.find("it has no rows to pad"), std::string::npos) << split.message;
  const LegalReport global = judge(p, promoted + R"("memory": "l2", "layout": {"pad": {"j": 1}}})");
  EXPECT_NE(global.message.find("tiles of a block or a thread"), std::string::npos) << global.message;
}

TEST(Transform, PromotedWholeAnArrayHoldsItsPadding) {
  const Program p = equations({"y[i, j] = sum[r](x[i, j + r ? 0.0]) for i in 0..8, j in 0..8, r in 0..3"}, "y");
  const std::string text = body(p, R"({"do": "promote", "array": "x", "statement": "y", "layout": {"room": {"d1": 5}}})");
  EXPECT_NE(text.find("for d1 in 0..15"), std::string::npos) << text;
  EXPECT_NE(text.find("x.packed[i, d1] = x[i, d1 ? 0.0]"), std::string::npos) << text;
  EXPECT_NE(text.find("sum= x.packed[i, j + r]"), std::string::npos) << text;
}

TEST(Transform, PromotedWholeServesItsStatementAlone) {
  const Program p = equations({"t[i, j] = x[i, j] + 1.0", "y[i, j] = x[j, i] + t[i, j]"}, "y");
  const std::string text =
      body(p, R"({"do": "promote", "array": "x", "statement": "y", "layout": {"order": ["i", "j"], "inner": {"i": 3}}})");
  EXPECT_NE(text.find("y.t[i, j] = x[i, j] + 1.0"), std::string::npos) << text;
  EXPECT_NE(text.find("y[i, j] = x.packed[i / 3, j, i % 3] + y.t[i, j]"), std::string::npos) << text;
}

TEST(Transform, PromotedWholeMustBeComputedBefore) {
  const Program p = equations({"t[i, j] = x[i, j] + 1.0", "y[i, j] = t[i, j] * 2.0"}, "y");
  const LegalReport late = judge(p, R"({"do": "fuse", "statements": ["y.t", "y"], "loops": ["i"]},
      {"do": "promote", "array": "y.t", "statement": "y"})");
  EXPECT_FALSE(late.legal);
  EXPECT_NE(late.message.find("is written in the nest of 'y'"), std::string::npos) << late.message;
  const LegalReport moved = judge(p, R"({"do": "promote", "array": "y.t", "statement": "y"},
      {"do": "fuse", "statements": ["y.t", "y"], "loops": ["i"]})");
  EXPECT_FALSE(moved.legal);
  EXPECT_EQ(moved.reason, "dependence") << moved.message;
}

// The register tile of a sum: started, summed and stored in one iteration of `it`.
const char* const kSumTile = R"({"do": "tile", "statement": "y", "loops": ["i"], "sizes": [3]},
    {"do": "interchange", "statement": "y", "order": ["it", "j", "i"]})";

TEST(Transform, PromotedResultIsStoredAtTheEndOfItsIteration) {
  const Program p = equations({"y[i, j] = sum[k](x[i, k] * x[k, j])"}, "y");
  const std::string text = body(
      p, std::string(kSumTile) + R"(, {"do": "promote", "array": "y", "statement": "y", "at": "j", "memory": "registers"})");
  EXPECT_NE(text.find("allocate y.tile: f32[3, 1] stack"), std::string::npos) << text;
  EXPECT_NE(text.find("y[i, j] = y.tile[i - 3 * it, 0]"), std::string::npos) << text;
  EXPECT_LT(text.find("y.tile[i - 3 * it, 0] sum= "), text.find("y[i, j] = y.tile")) << text;
}

TEST(Transform, PromotedResultRefusesSumsThatGoOnElsewhere) {
  const Program p = equations({"y[i, j] = sum[k](x[i, k] * x[k, j])"}, "y");
  const LegalReport r = judge(p, R"({"do": "distribute", "statement": "y", "loop": "i"},
      {"do": "interchange", "statement": "y", "order": ["k", "i", "j"]},
      {"do": "promote", "array": "y", "statement": "y", "at": "k"})");
  EXPECT_FALSE(r.legal);
  EXPECT_NE(r.message.find("needs values of it from outside"), std::string::npos) << r.message;
}

// What happens after a promotion is judged with its copies.
TEST(Transform, StepsAfterAPromotionKeepItsCopiesInPlace) {
  const Program p = equations({"y[i, j] = sum[k](x[i, k] * x[k, j])"}, "y");
  const LegalReport torn = judge(p, std::string(kSumTile) +
                                        R"(, {"do": "promote", "array": "y", "statement": "y", "at": "j"},
                                           {"do": "distribute", "statement": "y", "loop": "j"})");
  EXPECT_FALSE(torn.legal);
  EXPECT_NE(torn.message.find("would not find the value"), std::string::npos) << torn.message;
  const Program q = equations({"t[i, j] = x[i, j] + 1.0", "y[i, j] = x[i, 7 - j] + t[i, j]"}, "y");
  const LegalReport joined = judge(q, R"({"do": "promote", "array": "x", "statement": "y", "at": "j", "memory": "stack"},
      {"do": "fuse", "statements": ["y.t", "y"], "loops": ["i", "j"]})");
  EXPECT_TRUE(joined.legal) << joined.message;
}

// Who joins the loop of a part later goes past it: the part was not made for its elements.
TEST(Transform, APartServesThoseItWasMadeFor) {
  const Program p = equations({"t[i, j] = x[i, j] + 1.0", "y[i, j] = x[i, 7 - j] + t[i, j]"}, "y");
  const std::string text = body(p, R"({"do": "promote", "array": "x", "statement": "y", "at": "j", "memory": "stack"},
      {"do": "fuse", "statements": ["y.t", "y"], "loops": ["i", "j"]})");
  EXPECT_NE(text.find("y.t[i, j] = x[i, j] + 1.0"), std::string::npos) << text;
  EXPECT_NE(text.find("y[i, j] = x.tile["), std::string::npos) << text;
}

// A part inside another one's loop is copied from that one, and its readers take the nearest.
TEST(Transform, PartsStandInsideEachOther) {
  const Program p = equations({"y[i, j] = sum[k](x[i, k] * x[k, j])"}, "y");
  const std::string outer = R"({"do": "promote", "array": "x", "statement": "y", "at": "i", "memory": "stack"})";
  const std::string inner = R"({"do": "promote", "array": "x", "statement": "y", "at": "j", "memory": "stack"})";
  const std::string distributed = R"({"do": "distribute", "statement": "y", "loop": "i"}, )";
  const std::string text = body(p, distributed + outer + ", " + inner);
  EXPECT_NE(text.find("] = x.tile["), std::string::npos) << text;
  EXPECT_NE(text.find("sum= x.tile2["), std::string::npos) << text;
  const std::string other = body(p, distributed + inner + ", " + outer);
  EXPECT_NE(other.find("] = x.tile2["), std::string::npos) << other;
  EXPECT_NE(other.find("sum= x.tile["), std::string::npos) << other;
}

// Likewise result tiles, whichever is made first: the inner one is stored to the outer one, that one to the array.
TEST(Transform, ResultTilesStandInsideEachOther) {
  const Program p = equations({"y[i, j] = sum[k](x[i, k] * x[k, j])"}, "y");
  const std::string outer = R"({"do": "promote", "array": "y", "statement": "y", "at": "i"})";
  const std::string inner = R"({"do": "promote", "array": "y", "statement": "y", "at": "j"})";
  const std::string first = body(p, outer + ", " + inner);
  EXPECT_NE(first.find("] sum= x"), std::string::npos) << first;
  EXPECT_NE(first.find("y.tile2[0, 0] sum= "), std::string::npos) << first;
  EXPECT_NE(first.find("y.tile[0, j] = y.tile2["), std::string::npos) << first;
  EXPECT_NE(first.find("= y.tile[0, "), std::string::npos) << first;
  const std::string second = body(p, inner + ", " + outer);
  EXPECT_NE(second.find("y.tile[0, 0] sum= "), std::string::npos) << second;
  EXPECT_NE(second.find("y.tile2[0, j] = y.tile["), std::string::npos) << second;
}

// After an interchange the outer tile's store runs inside the inner loop: there is no place left for a tile between the two.
TEST(Transform, ATileIsNotMadeAroundTheStoreOfAnOuterOne) {
  const Program p = equations({"y[i, j] = sum[k](x[i, k] * x[k, j])"}, "y");
  const LegalReport r = judge(p, R"({"do": "promote", "array": "y", "statement": "y", "at": "j"},
      {"do": "interchange", "statement": "y.init", "order": ["j", "i"]},
      {"do": "promote", "array": "y", "statement": "y", "at": "i"})");
  EXPECT_FALSE(r.legal);
  EXPECT_NE(r.message.find("runs inside this loop, for a part at a loop around it"), std::string::npos) << r.message;
}

// isl puts the first iteration's S in front of the loop: the iteration's buffer cannot be declared in either piece of code, and
// what shares a buffer does not run on threads.
TEST(Transform, ABufferOfACutIterationIsShared) {
  const Program p = equations({"y[i] = sum[j](x[i, j])"}, "y");
  const std::string text = body(p, R"({"do": "parallelize", "loop": "i", "statement": "y.init"},
      {"do": "peel", "first": 1, "loop": "i", "statement": "y"},
      {"do": "fuse", "loops": ["i"], "statements": ["y.first", "y.init"]},
      {"do": "promote", "array": "y", "at": "i", "statement": "y.init.first"})");
  EXPECT_EQ(text.find("parallel"), std::string::npos) << text;
  EXPECT_EQ(text.find("allocate"), text.rfind("allocate")) << text;
}

TEST(Transform, MarksReachTheLoopTree) {
  const std::string text = body(
      scale(),
      R"({"do": "parallelize", "statement": "y", "loop": "i"}, {"do": "vectorize", "statement": "y", "loop": "j", "width": 8})");
  EXPECT_NE(text.find("for i in 0..8 parallel"), std::string::npos) << text;
  EXPECT_NE(text.find("for j in 0..8 vector(8)"), std::string::npos) << text;
}

TEST(Transform, EveryStepIsInTheReference) {
  const std::string text = recipe_reference();
  for (const char* step : {"fuse", "distribute", "tile", "interchange", "skew", "shift", "reverse", "reschedule", "parallelize",
                           "vectorize", "unroll", "contract", "promote"})
    EXPECT_NE(text.find("## `" + std::string(step) + "`"), std::string::npos) << step;
}

}  // namespace
}  // namespace facet
