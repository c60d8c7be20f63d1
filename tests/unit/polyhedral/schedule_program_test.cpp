// From JSON text to loop trees: the layer's verbs on small whole programs.
#include "tests/unit/polyhedral/program_support.hpp"

namespace facet {
namespace {

Scheduled scheduled(const Program& p, const Recipe& partial, Ledger* ledger = nullptr) {
  ScheduleOptions options;
  options.machine.cpu.cores = 2;
  Ledger own;
  Result<Recipe> recipe = plan(p, partial, options, ledger ? *ledger : own);
  EXPECT_TRUE(recipe.ok()) << (recipe.ok() ? "" : to_text(recipe.errors()));
  Result<Scheduled> s = schedule_program(p, *recipe, options);
  EXPECT_TRUE(s.ok()) << (s.ok() ? "" : to_text(s.errors()));
  return *s;
}

const char* const kMatmul =
    R"({"facet": 1, "name": "mm", "tensors": {"a": {"dtype": "f32", "shape": [100, 200]}, "b": {"dtype": "f32", "shape": [200, 300]}},
 "inputs": ["a", "b"], "ops": [{"op": "matmul", "in": ["a", "b"], "out": "c"}], "outputs": ["c"]})";

TEST(ScheduleProgram, EmptyStepsGiveTheOriginalOrderWithoutTilesVectorsOrThreads) {
  Recipe r;
  r.variants_hole = false;
  Variant v;
  v.groups_hole = false;
  Group g;
  g.name = "k0";
  g.ops = {"c"};
  g.steps_hole = false;
  v.groups = {g};
  r.variants = {v};
  const std::string text = to_text(scheduled(program_of(kMatmul), r).loops);
  EXPECT_EQ(text.find("parallel"), std::string::npos) << text;
  EXPECT_EQ(text.find("vector"), std::string::npos) << text;
  EXPECT_EQ(text.find("tile"), std::string::npos) << text;
}

// The copy of an updated input is a group of the recipe like others: planned, named in it, without threads where it has no
// steps.
TEST(ScheduleProgram, TheCopyOfAnUpdatedInputIsInTheRecipe) {
  const Program p = in_place("[\"N\"]", "for (int i = 0; i < N; i++) A[i] = A[i] + 1.0;");
  ScheduleOptions options;
  options.target = "cuda";
  Recipe partial;
  partial.target = "cuda";
  Ledger ledger;
  Result<Recipe> recipe = plan(p, partial, options, ledger);
  ASSERT_TRUE(recipe.ok());
  std::vector<Group>& groups = recipe->variants[0].groups;
  ASSERT_EQ(groups.size(), 2u);
  EXPECT_EQ(groups[0].name, "copy_A");
  EXPECT_EQ(groups[0].ops, std::vector<std::string>{"A.copy"});
  ASSERT_EQ(groups[0].steps.size(), 1u);
  EXPECT_EQ(groups[0].steps[0].verb, "map_gpu");
  EXPECT_EQ(groups[1].name, "k0");
  EXPECT_EQ(groups[1].ops, std::vector<std::string>{"A"});
  const auto kernel = [&](const Recipe& r) {
    const Result<Scheduled> s = schedule_program(p, r, options);
    EXPECT_TRUE(s.ok());
    LoopProgram one = s->loops;
    EXPECT_EQ(one.kernels[0].name, "copy_A");
    EXPECT_EQ(one.inputs, std::vector<std::string>{"A.given"});
    one.kernels.resize(1);
    return to_text(one);
  };
  EXPECT_NE(kernel(*recipe).find("mapped grid"), std::string::npos);
  groups[0].steps.clear();
  EXPECT_EQ(kernel(*recipe).find("mapped"), std::string::npos);
  // A recipe that says nothing of the copy leaves it to the scheduler, and is judged without it.
  groups.erase(groups.begin());
  EXPECT_TRUE(check_recipe(p, *recipe, options)->legal);
  Result<Recipe> completed = plan(p, *recipe, options, ledger);
  ASSERT_TRUE(completed.ok());
  ASSERT_EQ(completed->variants[0].groups.size(), 2u);
  EXPECT_EQ(completed->variants[0].groups[0].steps.size(), 1u);
}

TEST(ScheduleProgram, MatmulIsTiledPackedVectorisedAndParallel) {
  Ledger ledger;
  const Scheduled s = scheduled(program_of(kMatmul), {}, &ledger);
  const std::string text = to_text(s.loops);
  std::string log;
  for (const LedgerEntry& e : ledger) log += e.kind + " " + e.subject + (e.done ? " done: " : " not done: ") + e.reason + "\n";
  EXPECT_NE(text.find("parallel"), std::string::npos) << text << log;
  EXPECT_NE(text.find("vector"), std::string::npos) << text << log;
  EXPECT_NE(text.find("allocate c.tile"), std::string::npos) << text << log << s.schedule_text;
  // Both operands lie in the second cache: they are read where they are.
  EXPECT_EQ(text.find("packed"), std::string::npos) << text << log << s.schedule_text;
}

std::string planned(const Program& p, const ScheduleOptions& options) {
  Ledger ledger;
  const Result<Recipe> recipe = plan(p, Recipe{}, options, ledger);
  EXPECT_TRUE(recipe.ok());
  const Result<Scheduled> s = schedule_program(p, *recipe, options);
  EXPECT_TRUE(s.ok());
  return s.ok() ? to_text(s->loops) : "";
}

// On a machine with 32 vectors of 16 lanes.
ScheduleOptions wide() {
  ScheduleOptions options;
  options.machine.cpu.vector_bytes = 64;
  options.machine.cpu.vector_registers = 32;
  return options;
}
std::string scheduled_wide(const Program& p) { return planned(p, wide()); }

// On two such cores with 2 MiB of second cache each.
std::string scheduled_on_two(const Program& p) {
  ScheduleOptions options = wide();
  options.machine.cpu.cores = 2;
  options.machine.cpu.caches = {{48 << 10}, {2 << 20}, {32 << 20}};
  return planned(p, options);
}

// On two whose vectors of 64 bytes are done in two halves, so that halves are as fast.
std::string scheduled_in_halves(const Program& p, int fma_per_cycle = 1) {
  ScheduleOptions options = wide();
  options.machine.cpu.cores = 2;
  options.machine.cpu.fma_per_cycle = fma_per_cycle;
  options.machine.cpu.caches = {{32 << 10}, {1 << 20}, {32 << 20}};
  return planned(p, options);
}

Program product_of(std::int64_t m, std::int64_t n, std::int64_t k, bool transposed = false) {
  const std::string a =
      transposed ? std::to_string(k) + ", " + std::to_string(m) : std::to_string(m) + ", " + std::to_string(k);
  return program_of(
      R"({"facet": 1, "name": "mm", "tensors": {"a": {"dtype": "f32", "shape": [)" + a +
      R"(]}, "b": {"dtype": "f32", "shape": [)" + std::to_string(k) + ", " + std::to_string(n) +
      R"(]}}, "inputs": ["a", "b"], "ops": [{"op": "einsum", "in": ["a", "b"], "out": "c", "attrs": {"equation": ")" +
      (transposed ? "km,kn->mn" : "mk,kn->mn") + R"("}}], "outputs": ["c"]})");
}

// Threads take columns: each packs the panels of b that it uses, just before; rows of a are read where they lie, element by
// element. Columns of a, which lie apart along the reduction, are packed.
TEST(ScheduleProgram, PanelsArePackedByTheirUser) {
  const std::string text = scheduled_on_two(product_of(512, 512, 512));
  EXPECT_NE(text.find("for nt in 0..2 parallel"), std::string::npos) << text;
  EXPECT_NE(text.find("allocate b.tile"), std::string::npos) << text;
  EXPECT_EQ(text.find("a.packed"), std::string::npos) << text;
  EXPECT_NE(scheduled_on_two(product_of(512, 512, 512, true)).find("a.packed"), std::string::npos);
}

// y = x * w with w given by the program.
// in L1 until all tiles have met them. More rows pay for panels.
TEST(ScheduleProgram, FewRowsReadColumnsInPlaceInBlocksOfTheReduction) {
  const std::string text = scheduled_on_two(product_of(20, 2577, 1200));
  EXPECT_NE(text.find("for nt in 0..2 parallel"), std::string::npos) << text;
  EXPECT_NE(text.find("tile of k"), std::string::npos) << text;
  EXPECT_NE(text.find("* b[k, n]"), std::string::npos) << text;
  EXPECT_NE(scheduled_on_two(product_of(96, 2577, 1200)).find("allocate b.tile"), std::string::npos);
}

// A tile that is stored across holds its sums until the end: blocks of the reduction would add up across in memory.
TEST(ScheduleProgram, TilesStoredAcrossKeepTheWholeReduction) {
  const std::string text = scheduled_on_two(product_of(3487, 38, 3626));
  EXPECT_EQ(text.find("c.kt"), std::string::npos) << text;
  EXPECT_NE(text.find("allocate c.tile"), std::string::npos) << text;
}

// Few rows and a long reduction whose rows of b lie on pages of their own: blocks of k, so that panels share pages.
TEST(ScheduleProgram, RowsOnPagesOfTheirOwnCutTheReduction) {
  EXPECT_NE(scheduled_on_two(product_of(64, 4096, 4096)).find("tile of k"), std::string::npos);
  EXPECT_EQ(scheduled_on_two(product_of(2048, 2048, 2048)).find("tile of k"), std::string::npos);
}

// Wide results of short sums are written row by row.
TEST(ScheduleProgram, WideResultsAreWrittenAlongTheirRows) {
  const auto order = [](const std::string& text) { return text.find("for mr in") < text.find("for nr in"); };
  EXPECT_TRUE(order(scheduled_on_two(product_of(4096, 4096, 64))));
  EXPECT_FALSE(order(scheduled_on_two(product_of(512, 512, 512))));
}

Program convolution_of(const std::string& x, const std::string& w, const std::string& attributes) {
  return program_of(R"({"facet": 1, "name": "c", "tensors": {"x": {"dtype": "f32", "shape": )" + x +
                    R"(}, "w": {"dtype": "f32", "shape": )" + w + R"(}}, "inputs": ["x", "w"],
      "ops": [{"op": "conv", "in": ["x", "w"], "out": "y", "attrs": )" +
                    attributes + R"(}], "outputs": ["y"]})");
}

// One product over all points, although its result is larger than L2: panels are packed just before use, as its few rows need
// no more pages than the tables hold; filters, whose last two dimensions have one element, are read where they lie.
TEST(ScheduleProgram, PointwiseConvolutionsPackPanelsAlone) {
  const std::string text = scheduled_on_two(convolution_of("[1, 64, 56, 56]", "[256, 64, 1, 1]", "{}"));
  EXPECT_NE(text.find("allocate x.tile"), std::string::npos) << text;
  EXPECT_EQ(text.find("packed"), std::string::npos) << text;
  EXPECT_LT(text.find("for pqr in"), text.find("for mr in")) << text;
}

// Rows of 7 would fill less than half a vector: the lanes are filters. Each block of channels is packed once and met by all 49
// points of the panel, which are stored across the lanes at the end.
TEST(ScheduleProgram, LanesOfShortRowsAreFilters) {
  const std::string text = scheduled_wide(convolution_of("[1, 64, 7, 7]", "[64, 64, 3, 3]", R"({"pads": [1, 1, 1, 1]})"));
  const std::size_t tile = text.find("y.tile: f32[1, 7, 7, "), block = text.find("for ct in 0..4");
  ASSERT_NE(tile, std::string::npos) << text;
  ASSERT_NE(block, std::string::npos) << text;
  EXPECT_EQ(text.find("w.tile.copy.cp"), std::string::npos) << text;
  EXPECT_LT(text.find("w.tile.copy.m", block), text.find("# y.p", block)) << text;
  EXPECT_NE(text.find("vector(16)  # y.m", block), std::string::npos) << text;
  EXPECT_LT(text.find("for m in", text.find("y.tile.store.p")), text.find("y.tile.store.q")) << text;
}

// What is used up in such a tile lives in it with the lanes last, and the consumer walks its own rows.
TEST(ScheduleProgram, TilesAcrossAreContractedWithTheirLanesLast) {
  const Program p = program_of(R"({"facet": 1, "name": "c", "tensors": {"x": {"dtype": "f32", "shape": [1, 64, 7, 7]},
      "w": {"dtype": "f32", "shape": [64, 64, 3, 3]}}, "inputs": ["x", "w"], "ops": [
      {"op": "conv", "in": ["x", "w"], "out": "s", "attrs": {"pads": [1, 1, 1, 1]}}, {"op": "relu", "in": "s", "out": "y"}],
      "outputs": ["y"]})");
  const std::string text = scheduled_wide(p);
  const std::size_t tile = text.find("allocate s: f32[1, 1, 7, ");
  ASSERT_NE(tile, std::string::npos) << text;
  EXPECT_NE(text.find("= max(s[", tile), std::string::npos) << text;
}

// One channel a group leaves no contraction: the taps are unrolled inside the vectors of a row.
TEST(ScheduleProgram, TapsOfDepthwiseConvolutionsAreInsideTheVectors) {
  const Program p = convolution_of("[1, 32, 40, 40]", "[32, 1, 3, 3]", R"({"pads": [1, 1, 1, 1], "group": 32})");
  Ledger ledger;
  const std::string text = to_text(scheduled(p, {}, &ledger).loops);
  const std::size_t row = text.find("for q in 0..40 vector(");
  ASSERT_NE(row, std::string::npos) << text;
  EXPECT_NE(text.find("for r in 0..3 unroll", row), std::string::npos) << text;
}

std::string log_of(const Ledger& ledger) {
  std::string log;
  for (const LedgerEntry& e : ledger) log += e.kind + " " + e.subject + (e.done ? " done: " : " not done: ") + e.reason + "\n";
  return log;
}

// Every operand whose strides differ is laid out for the tile, whatever the order of indices: nothing is declined.
TEST(ScheduleProgram, AnyIndexOrderIsPackedAndTiled) {
  for (const char* def :
       {"r[a, b, c, d] = sum[e, f](x[a, e, b, f] * y[d, f, c, e])", "r[a, b, c, d] = sum[e, f](x[e, d, f, a] * y[f, b, e, c])",
        "r[a, b, c, d] = sum[e, f](x[d, c, e, f] * y[b, f, a, e])"}) {
    const Program p =
        program_of(std::string(R"({"facet": 1, "name": "c", "symbols": {"N": {"min": 1, "max": 64, "default": 24}},
        "tensors": {"x": {"dtype": "f32", "shape": ["N", "N", "N", "N"]}, "y": {"dtype": "f32", "shape": ["N", "N", "N", "N"]}},
        "inputs": ["x", "y"], "ops": [{"op": "compute", "in": ["x", "y"], "out": "r", "def": [")") +
                   def + R"("]}], "outputs": ["r"]})");
    Ledger ledger;
    const std::string text = to_text(scheduled(p, {}, &ledger).loops);
    for (const char* part : {"packed", "allocate r.tile", "vector", "unroll"})
      EXPECT_NE(text.find(part), std::string::npos) << def << "\n" << part << "\n" << text << log_of(ledger);
  }
}

Program einsum_of(const std::string& equation, const std::string& x, const std::string& y) {
  return program_of(R"({"facet": 1, "name": "e", "tensors": {"x": {"dtype": "f32", "shape": )" + x +
                    R"(}, "y": {"dtype": "f32", "shape": )" + y + R"(}}, "inputs": ["x", "y"],
      "ops": [{"op": "einsum", "in": ["x", "y"], "out": "c", "attrs": {"equation": ")" +
                    equation + R"("}}], "outputs": ["c"]})");
}

// A large operand of few rows is read along its lines; blocks of the result are turned as they are stored, lines along the
// lanes of the tile or along its rows.
TEST(ScheduleProgram, SmallerResultsAreTurnedInsteadOfOperands) {
  const std::string lines = scheduled_on_two(einsum_of("adb,cd->cba", "[96, 200, 80]", "[24, 200]"));
  EXPECT_EQ(lines.find("x.tile"), std::string::npos) << lines;
  EXPECT_NE(lines.find("allocate c.tile: f32[24, 16, 80]"), std::string::npos) << lines;
  EXPECT_NE(lines.find("vector(16)  # c.b\n                c.tile[c, a - 16 * at, b] sum= x[a, d, b] * y[c, d]"),
            std::string::npos)
      << lines;
  const std::string rows = scheduled_on_two(einsum_of("acd,db->cba", "[96, 40, 200]", "[200, 24]"));
  EXPECT_EQ(rows.find("x.packed"), std::string::npos) << rows;
  EXPECT_LT(rows.find("for at in"), rows.find("for c in")) << rows;
  // Blocks that L2 does not hold over all columns are cut into parts of them.
  const std::string parts = scheduled_on_two(einsum_of("adb,cd->cba", "[96, 200, 1600]", "[24, 200]"));
  EXPECT_EQ(parts.find("x.tile"), std::string::npos) << parts;
  EXPECT_LT(parts.find("for at in"), parts.find("for bt in")) << parts;
  EXPECT_NE(parts.find("allocate c.tile: f32[24, 16, "), std::string::npos) << parts;
  // They are stored as lines, squares of them innermost.
  const std::size_t store = lines.find("c.tile.store");
  ASSERT_NE(store, std::string::npos) << lines;
  EXPECT_NE(lines.find("vector(16)", lines.rfind("for a in")), std::string::npos) << lines;
  EXPECT_GT(lines.rfind("for a in"), lines.rfind("for b in")) << lines;
  // As many rows as pay for turning the operand.
  EXPECT_EQ(scheduled_on_two(einsum_of("adb,cd->cba", "[96, 200, 80]", "[2000, 200]")).find("allocate c.tile: f32[2000"),
            std::string::npos);
}

// Rows of 24 elements fill a vector of 16 and a half: two of them, of another loop of the same operand, fill three. Rows of the
// tile are those that follow each other in the result.
TEST(ScheduleProgram, ShortRowsShareVectors) {
  const std::string text = scheduled_on_two(einsum_of("bged,cafg->fedcba", "[20, 24, 20, 24]", "[20, 24, 20, 24]"));
  EXPECT_NE(text.find("for c in 2 * cr..2 * cr + 2 vector(16)"), std::string::npos) << text;
  EXPECT_NE(text.find("allocate c.tile"), std::string::npos) << text;
  EXPECT_LT(text.find("for cr in"), text.find("for br in")) << text;
  // Also where half vectors would be as fast: their half lines are not.
  const std::string halves = scheduled_in_halves(einsum_of("bged,cafg->fedcba", "[20, 24, 20, 24]", "[20, 24, 20, 24]"));
  EXPECT_NE(halves.find("for c in 2 * cr..2 * cr + 2 vector(16)"), std::string::npos) << halves;
  // Whole vectors need no other row.
  const std::string whole = scheduled_on_two(einsum_of("bged,cafg->fedcba", "[20, 24, 20, 24]", "[20, 32, 20, 24]"));
  EXPECT_EQ(whole.find("for c in 2 * cr"), std::string::npos) << whole;
}

// Results larger than the last cache are stored past it where the sums hide the stores: not where they come too fast for the
// buffers and memory is not what binds; nor half lines of rows that lie apart.
TEST(ScheduleProgram, TilesStorePastTheCaches) {
  const auto streams = [](const std::string& text) { return text.find("stream") != std::string::npos; };
  EXPECT_TRUE(streams(scheduled_in_halves(product_of(4096, 4096, 512))));
  EXPECT_FALSE(streams(scheduled_in_halves(product_of(512, 512, 256))));
  EXPECT_TRUE(streams(scheduled_in_halves(einsum_of("aebd,ce->dcba", "[96, 96, 84, 96]", "[24, 96]"))));
  EXPECT_FALSE(streams(scheduled_in_halves(einsum_of("adb,cd->cba", "[384, 384, 384]", "[24, 384]"))));  // 14 MB
  EXPECT_FALSE(streams(scheduled_in_halves(einsum_of("bged,cafg->fedcba", "[21, 24, 20, 24]", "[21, 24, 21, 24]"))));
}

// A sum over two loops: the one along A's lines is innermost, blocks of both are met by all tiles while they are near.
TEST(ScheduleProgram, BlocksOfTwoLoopsOfAReduction) {
  const std::string text = scheduled_on_two(einsum_of("dca,cbd->ba", "[384, 376, 384]", "[376, 376, 384]"));
  EXPECT_LT(text.find("for ct in"), text.find("for dt in")) << text;
  EXPECT_NE(text.find("tile of d, 64"), std::string::npos) << text;
  EXPECT_EQ(text.find("y.packed"), std::string::npos) << text;
}

// B fits into L2 and A does not: a tile's rows meet all columns at once, and A is fetched once.
TEST(ScheduleProgram, TallOperandsPassOnce) {
  const std::string text = scheduled_on_two(einsum_of("ae,dcbe->dcba", "[96, 96]", "[84, 84, 84, 96]"));
  EXPECT_LT(text.find("for dcbr in"), text.find("for ar in")) << text;
}

// Rows of B lie pages apart: panels are copied eight at a time, just before use, with an outer loop fixed.
TEST(ScheduleProgram, PanelsOfAnOuterLoopArePackedTogether) {
  const std::string text = scheduled_on_two(einsum_of("ce,deba->dcba", "[84, 96]", "[84, 96, 84, 96]"));
  EXPECT_EQ(text.find("y.packed"), std::string::npos) << text;
  EXPECT_LT(text.find("for bat in"), text.find("allocate y.tile")) << text;
}

// Bias and activation run on the register tile: the sum has no array of its own, y is written once.
TEST(ScheduleProgram, EpilogueRunsInTheTile) {
  const Program p = program_of(R"({"facet": 1, "name": "mm", "tensors": {"a": {"dtype": "f32", "shape": [100, 200]},
      "b": {"dtype": "f32", "shape": [200, 300]}, "c": {"dtype": "f32", "shape": [300]}}, "inputs": ["a", "b", "c"],
      "ops": [{"op": "matmul", "in": ["a", "b"], "out": "s"}, {"op": "add", "in": ["s", "c"], "out": "t"},
              {"op": "relu", "in": "t", "out": "y"}], "outputs": ["y"]})");
  Ledger ledger;
  const Scheduled s = scheduled(p, {}, &ledger);
  const std::string text = to_text(s.loops);
  EXPECT_NE(text.find("allocate s: f32["), std::string::npos) << text << log_of(ledger);
  for (const Buffer& b : s.loops.buffers) EXPECT_NE(b.name, "s") << log_of(ledger);
  for (const Buffer& b : s.loops.buffers) EXPECT_NE(b.name, "t") << log_of(ledger);
}

// A convolution is a contraction with affine windows: the padded input is laid out with its padding, once.
TEST(ScheduleProgram, PaddedConvolutionIsPackedAndTiled) {
  const Program p = program_of(R"({"facet": 1, "name": "cv", "tensors": {"x": {"dtype": "f32", "shape": [1, 32, 28, 28]},
      "w": {"dtype": "f32", "shape": [48, 32, 3, 3]}}, "inputs": ["x", "w"],
      "ops": [{"op": "conv", "in": ["x", "w"], "out": "y", "attrs": {"pads": [1, 1, 1, 1]}}], "outputs": ["y"]})");
  Ledger ledger;
  const std::string text = to_text(scheduled(p, {}, &ledger).loops);
  EXPECT_NE(text.find("x.tile"), std::string::npos) << text << log_of(ledger);
  EXPECT_NE(text.find("w.packed"), std::string::npos) << text << log_of(ledger);
  EXPECT_NE(text.find("y.tile"), std::string::npos) << text << log_of(ledger);
}

// What was planned is obeyed when no time is left (a busy machine lost the whole program: "refused[budget-exhausted]").
TEST(ScheduleProgram, APlannedRecipeNeedsNoTime) {
  const Program program = program_of(kMatmul);
  ScheduleOptions options;
  options.machine.cpu.cores = 2;
  Ledger ledger;
  const Result<Recipe> recipe = plan(program, {}, options, ledger);
  ASSERT_TRUE(recipe) << to_text(recipe.errors());
  options.time_budget_s = 0;
  const Result<Scheduled> late = schedule_program(program, *recipe, options);
  ASSERT_TRUE(late) << to_text(late.errors());
  EXPECT_NE(to_text(late->loops).find("parallel"), std::string::npos);
}

}  // namespace
}  // namespace facet
