// Tiles on the GPU by ordinary steps: a product tiled, promoted to shared memory and registers, and mapped nest by nest. The
// interpreter finds nothing at ragged sizes; and it does find what is broken on purpose.
#include <gtest/gtest.h>

#include <array>
#include <functional>
#include <set>

#include "codegen/cuda/compile.hpp"
#include "codegen/cuda/print.hpp"
#include "codegen/passes/tree.hpp"
#include "src/driver/gpu_case.hpp"
#include "src/frontend/json.hpp"
#include "src/run/interpret/interpret.hpp"

namespace facet {
namespace {

constexpr const char* kProgram = R"({"facet": 1, "name": "p",
  "symbols": {"M": {"min": 0, "max": 4096, "default": 40}, "N": {"min": 0, "max": 4096, "default": 50},
              "K": {"min": 0, "max": 4096, "default": 20}},
  "tensors": {"x": {"dtype": "f32", "shape": ["M", "K"]}, "w": {"dtype": "f32", "shape": ["K", "N"]},
              "b": {"dtype": "f32", "shape": ["N"]}},
  "inputs": ["x", "w", "b"],
  "ops": [{"op": "matmul", "in": ["x", "w"], "out": "c"}, {"op": "add", "in": ["c", "b"], "out": "s"},
          {"op": "relu", "in": "s", "out": "y"}], "outputs": ["y"]})";

constexpr const char* kRecipe = R"({"facet_recipe": 1, "target": "cuda", "variants": [{"groups": [
  {"name": "k0", "ops": ["c", "s", "y"], "steps": [
    {"do": "fuse", "loops": ["i", "j"], "statements": ["c.init", "s"]},
    {"do": "fuse", "loops": ["i", "j"], "statements": ["s", "y"]},
    {"do": "tile", "statement": "c", "loops": ["i", "j"], "sizes": [32, 32], "names": ["i0", "j0"]},
    {"do": "distribute", "statement": "c", "loop": "i"},
    {"do": "tile", "statement": "c", "loops": ["k"], "sizes": [8], "names": ["k0"]},
    {"do": "interchange", "statement": "c", "order": ["k0", "k", "i", "j"]},
    {"do": "unroll", "statement": "c", "loop": "k"},
    {"do": "contract", "array": "s"},
    {"do": "contract", "array": "c", "statement": "c", "at": "j0"},
    {"do": "promote", "array": "x", "statement": "c", "at": "k0", "memory": "shared", FILL
     "layout": {"order": ["k", "i"], "pad": {"i": 4}}},
    {"do": "promote", "array": "w", "statement": "c", "at": "k0", "memory": "shared", FILL "layout": {"order": ["k", "j"]}},
    {"do": "map_gpu", "statement": "c", "grid": ["i0", "j0"]},
    {"do": "map_gpu", "statement": "c.init", "block": ["i", "j"], POINTS},
    {"do": "map_gpu", "statement": "c", "block": ["i", "j"], POINTS},
    {"do": "map_gpu", "statement": "s", "block": ["i", "j"], POINTS},
    {"do": "map_gpu", "statement": "x.tile.copy", "block": ["i", "k"], "threads": [8, 8], "points": [4, 1]},
    {"do": "map_gpu", "statement": "w.tile.copy", "block": ["k", "j"], "threads": [2, 32], "points": [4, 1]}
  ]}]}], "memory": {"order": ["k0"], "arena": "auto"}})";

constexpr const char* kFill = R"("fill": true,)";
constexpr const char* kPoints = R"("threads": [8, 8], "points": [4, 4], "adjacent": [4, 2])";

std::string replaced(std::string text, const std::string& what, const std::string& by) {
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + by.size()))
    text.replace(at, what.size(), by);
  return text;
}

GpuCase tiled(const SymbolValues& symbols, const std::string& points = kPoints, const std::string& fill = kFill) {
  Result<Program> program = read_program(kProgram, "p.json");
  EXPECT_TRUE(program.ok()) << to_text(program.errors());
  Result<Recipe> recipe = read_recipe(replaced(replaced(kRecipe, "POINTS", points), "FILL", fill), "r.json");
  EXPECT_TRUE(recipe.ok()) << to_text(recipe.errors());
  return {"tiled", std::move(*program), symbols, {}, std::move(*recipe)};
}

SymbolValues sizes(std::int64_t m, std::int64_t n, std::int64_t k) { return {{"M", m}, {"N", n}, {"K", k}}; }

void expect_right(const GpuCase& test) {
  const GpuCaseResult r = check_in_interpreter(test, 3);
  EXPECT_TRUE(r.verified) << r.reason;
}

TEST(GpuTiles, RaggedSizesAreRight) {
  for (const auto& [m, n, k] : std::vector<std::array<std::int64_t, 3>>{
           {1, 1, 1}, {32, 32, 8}, {33, 31, 9}, {40, 50, 20}, {64, 5, 7}, {5, 64, 16}, {3, 4, 0}, {0, 4, 4}})
    expect_right(tiled(sizes(m, n, k)));
}

TEST(GpuTiles, EveryShapeOfPoints) {
  for (const char* points :
       {R"("threads": [8, 8], "points": [4, 4])", R"("threads": [4, 16], "points": [8, 2], "adjacent": [4, 2])",
        R"("threads": [2, 32])", R"("threads": [16, 4], "points": [1, 8], "adjacent": [1, 4])",
        R"("threads": [64, 1], "points": [1, 2])", R"("warps": [2, 1], "lanes": [4, 8], "points": [4, 4], "adjacent": [4, 4])",
        R"("warps": [1, 2], "lanes": [1, 32], "points": [8, 1])"})
    expect_right(tiled(sizes(40, 50, 20), points));
}

// Without zeros around it the product keeps its guards.
TEST(GpuTiles, UnfilledTilesAreGuarded) { expect_right(tiled(sizes(40, 50, 20), kPoints, "")); }

// As the planner makes them: other element types, operands in other orders, batches, sums over two loops, a result that starts
// from an input.
TEST(GpuTiles, PlannedProductsAreRight) {
  const auto program = [](const std::string& a, const std::string& b, const std::string& equation, const std::string& dtype) {
    return R"({"facet": 1, "name": "p", "symbols": {"M": {"min": 1, "max": 4096, "default": 40},
      "N": {"min": 1, "max": 4096, "default": 50}, "K": {"min": 1, "max": 4096, "default": 20}},
      "tensors": {"a": {"dtype": ")" +
           dtype + R"(", "shape": )" + a + R"(}, "b": {"dtype": ")" + dtype + R"(", "shape": )" + b +
           R"(}}, "inputs": ["a", "b"], "ops": [{"op": "compute", "in": ["a", "b"], "out": ["y"], "def": [")" + equation +
           R"("]}], "outputs": ["y"]})";
  };
  const char* const plain = "y[i, j] = sum[k](a[i, k] * b[k, j])";
  const std::string programs[] = {
      program(R"(["M", "K"])", R"(["K", "N"])", plain, "f16"),
      program(R"(["M", "K"])", R"(["K", "N"])", plain, "f64"),
      program(R"(["K", "M"])", R"(["N", "K"])", "y[i, j] = sum[k](a[k, i] * b[j, k])", "f32"),
      program(R"(["M", "K"])", R"(["K", "N"])", "y[j, i] = sum[k](a[i, k] * b[k, j])", "f32"),
      program(R"([2, "M", "K"])", R"([2, "K", "N"])", "y[n, i, j] = sum[k](a[n, i, k] * b[n, k, j])", "f32"),
      program(R"(["M", 3, "K"])", R"(["K", 3, "N"])", "y[i, j] = sum[l, k](a[i, l, k] * b[k, l, j])", "f32"),
  };
  for (const std::string& text : programs) {
    Result<Program> p = read_program(text, "p.json");
    ASSERT_TRUE(p.ok()) << to_text(p.errors());
    const GpuCase test{"planned", std::move(*p), sizes(40, 50, 20), {}};
    expect_right(test);
    const Result<PreparedCase> made = prepare_case(test, 3);
    ASSERT_TRUE(made.ok());
    EXPECT_NE(to_text(made->loops).find("b.tile"), std::string::npos) << text << to_text(made->loops);
  }
}

TEST(GpuTiles, ResultsLiveInRegistersOperandsInSharedMemory) {
  const Result<PreparedCase> made = prepare_case(tiled(sizes(40, 50, 20)), 3);
  ASSERT_TRUE(made.ok()) << to_text(made.errors());
  const std::string text = to_text(made->loops);
  EXPECT_NE(text.find("allocate c: f32[4, 4] register"), std::string::npos) << text;
  EXPECT_NE(text.find("allocate x.tile: f32[8, 32] strides [36, 1] shared"), std::string::npos) << text;
  int barriers = 0;
  passes::walk_nodes(made->loops.kernels[0].body, [&](const LoopPtr& n) { barriers += passes::as<Barrier>(n) != nullptr; });
  EXPECT_EQ(barriers, 2) << text;
}

using NodeMap = std::function<LoopList(const LoopPtr&)>;  // what comes in a node's place

LoopList mapped(const LoopList& body, const NodeMap& map) {
  LoopList out;
  for (const LoopPtr& n : body)
    for (const LoopPtr& m : map(passes::rebuild(
             n, [](const ExprPtr& e) { return e; }, [&](const LoopList& b) { return mapped(b, map); })))
      out.push_back(m);
  return out;
}

std::set<Finding::Kind> findings(const PreparedCase& made, const NodeMap& map, bool* same_results = nullptr) {
  LoopProgram broken = made.loops;
  broken.kernels[0].body = mapped(broken.kernels[0].body, map);
  HostTensors tensors = made.arguments;
  const Result<InterpretReport> report = interpret(broken, made.symbols, tensors);
  EXPECT_TRUE(report.ok());
  std::set<Finding::Kind> kinds;
  for (const Finding& f : report->findings) kinds.insert(f.kind);
  if (same_results) {
    GpuCaseResult result;
    compare_case(made, tensors, &result);
    *same_results = result.verified;
  }
  return kinds;
}

TEST(GpuTiles, EachRemovedBarrierIsARace) {
  const Result<PreparedCase> made = prepare_case(tiled(sizes(40, 50, 20)), 3);
  ASSERT_TRUE(made.ok()) << to_text(made.errors());
  for (int skip = 0; skip < 2; ++skip) {
    int seen = 0;
    const std::set<Finding::Kind> kinds =
        findings(*made, [&](const LoopPtr& n) { return passes::as<Barrier>(n) && seen++ == skip ? LoopList{} : LoopList{n}; });
    EXPECT_TRUE(kinds.count(Finding::Kind::kRace)) << "barrier " << skip;
  }
}

// A row of padding more in an access, and a row shorter than it is: the one leaves the row, the other lets rows overlap.
TEST(GpuTiles, PaddingOffByOneIsSeen) {
  const Result<PreparedCase> made = prepare_case(tiled(sizes(40, 50, 20)), 3);
  ASSERT_TRUE(made.ok()) << to_text(made.errors());
  const std::set<Finding::Kind> moved = findings(*made, [](const LoopPtr& n) {
    const Store* s = passes::as<Store>(n);
    if (!s || s->buffer != "x.tile") return LoopList{n};
    Store next = *s;
    next.subscripts[1] = idx_add(next.subscripts[1], idx(1));
    return LoopList{make_loop(std::move(next))};
  });
  EXPECT_TRUE(moved.count(Finding::Kind::kOutOfBounds));
  bool right = true;
  const std::set<Finding::Kind> overlapping = findings(
      *made,
      [](const LoopPtr& n) {
        const Allocate* a = passes::as<Allocate>(n);
        if (!a || a->buffer.name != "x.tile") return LoopList{n};
        Allocate shorter = *a;
        shorter.buffer.strides[0] = idx(31);
        return LoopList{make_loop(std::move(shorter))};
      },
      &right);
  EXPECT_TRUE(overlapping.count(Finding::Kind::kRace));
  EXPECT_FALSE(right);
}

// A copy that leaves out its last points does not cover the tile.
TEST(GpuTiles, AnUncoveredTileIsSeen) {
  const Result<PreparedCase> made = prepare_case(tiled(sizes(40, 50, 20)), 3);
  ASSERT_TRUE(made.ok()) << to_text(made.errors());
  const std::set<Finding::Kind> kinds = findings(*made, [](const LoopPtr& n) {
    const For* f = passes::as<For>(n);
    const Store* s = f && f->body.size() == 1 ? passes::as<Store>(f->body[0]) : nullptr;
    if (!s || s->buffer != "w.tile") return LoopList{n};
    For less = *f;
    less.upper = idx(3);
    return LoopList{make_loop(std::move(less))};
  });
  EXPECT_TRUE(kinds.count(Finding::Kind::kUninitialised));
}

// Planned for large sizes, copies move words of four: at run time only where the rows are whole words, and inside.
TEST(GpuTiles, NeighboursAreCopiedAsWords) {
  Result<Program> program = read_program(kProgram, "p.json");
  ASSERT_TRUE(program.ok());
  const SymbolValues large = sizes(4096, 4096, 4096);
  for (const auto& [m, n, k] : std::vector<std::array<std::int64_t, 3>>{
           {128, 128, 16}, {130, 132, 12}, {20, 132, 21}, {130, 37, 12}, {5, 7, 9}, {1, 4, 4}})
    expect_right({"words", *program, sizes(m, n, k), large, {}});
  const Result<PreparedCase> made = prepare_case({"words", *program, sizes(130, 132, 12), large, {}}, 3);
  ASSERT_TRUE(made.ok()) << to_text(made.errors());
  EXPECT_NE(to_text(made->loops).find("w.tile.part: f32[4] register"), std::string::npos) << to_text(made->loops);
  const Result<CudaModule> m = print_cuda(made->loops);
  ASSERT_TRUE(m.ok()) << to_text(m.errors());
  const std::string& text = m->module.source.text;
  EXPECT_NE(text.find("copy_word16_f32(x_tile_part, x + "), std::string::npos) << text;
  EXPECT_NE(text.find("copy_word16_f32(w_tile + "), std::string::npos) << text;
  CudaCompileOptions o;
  o.compiler = CudaCompiler::kNvrtc;
  const Result<CudaBinary> b = compile_cuda(text, m->module.source.name, o);
  if (!b && b.errors()[0].code == Code::kNoCudaCompiler) GTEST_SKIP() << "NVRTC is not installed";
  ASSERT_TRUE(b.ok()) << to_text(b.errors()) << text;
  EXPECT_EQ(b->log, "") << text;
}

// Of constant sizes every word is whole: no question is left.
TEST(GpuTiles, WholeWordsAreNotAskedFor) {
  Result<Program> program = read_program(
      replaced(replaced(replaced(kProgram, R"(["M", "K"])", "[256, 64]"), R"(["K", "N"])", "[64, 128]"), R"(["N"])", "[128]"),
      "p.json");
  ASSERT_TRUE(program.ok()) << to_text(program.errors());
  const GpuCase test{"whole", std::move(*program), sizes(1, 1, 1), {}, {}};
  expect_right(test);
  const Result<PreparedCase> made = prepare_case(test, 3);
  ASSERT_TRUE(made.ok()) << to_text(made.errors());
  EXPECT_EQ(to_text(made->loops).find("if "), std::string::npos) << to_text(made->loops);
  EXPECT_TRUE(print_cuda(made->loops).ok());
}

// A tile asked for in shared memory where each thread has a point, and so a tile, of its own (all wrote one; found by the
// fuzzer).
TEST(GpuTiles, ATileOfOneThreadIsItsOwn) {
  Result<Program> program = read_program(R"json({"facet": 1, "name": "p", "tensors": {"x": {"dtype": "f32", "shape": [5, 40]}},
    "inputs": ["x"], "ops": [{"op": "compute", "in": ["x"], "out": ["y"], "def": ["y[i, j] = x[i, j] * 2.0"]}], "outputs": ["y"]})json",
                                         "p.json");
  ASSERT_TRUE(program.ok()) << to_text(program.errors());
  for (const char* mapped :
       {R"("grid": ["i", "j"], "block": ["j"], "threads": [32])", R"("block": ["i", "j"], "threads": [4, 8])"}) {
    Result<Recipe> recipe =
        read_recipe(R"json({"facet_recipe": 1, "target": "cuda", "variants": [{"groups": [{"name": "k0", "ops": ["y"],
      "steps": [{"do": "promote", "array": "x", "statement": "y", "at": "j", "memory": "shared"},
                {"do": "map_gpu", "statement": "y", )json" +
                        std::string(mapped) + "}]}]}]}",
                    "r.json");
    ASSERT_TRUE(recipe.ok()) << to_text(recipe.errors());
    expect_right({"own", *program, {}, {}, std::move(*recipe)});
  }
}

// Rows with a warp each: y[i, j] = t[i, N - 1 - j] / sum of the row, t a row of shared memory for every warp.
GpuCase warp_rows(std::int64_t m) {
  Result<Program> program =
      read_program(R"json({"facet": 1, "name": "p", "symbols": {"M": {"min": 0, "max": 65536, "default": 4096}},
    "tensors": {"x": {"dtype": "f32", "shape": ["M", 70]}}, "inputs": ["x"], "ops": [{"op": "compute", "in": ["x"], "out": ["y"],
    "def": ["t[i, j] = tanh(x[i, j])", "s[i] = sum[j](t[i, j] * t[i, j])", "y[i, j] = t[i, 69 - j] / (s[i] + 1.0) for j in 0..70"]}],
    "outputs": ["y"]})json",
                   "p.json");
  EXPECT_TRUE(program.ok()) << to_text(program.errors());
  return {"rows", std::move(*program), {{"M", m}}, {{"M", 4096}}, {}};
}

TEST(GpuTiles, RowsOfWarpsAreRight) {
  for (const std::int64_t m : {0, 1, 7, 8, 21}) expect_right(warp_rows(m));
}

TEST(GpuTiles, WarpsWaitForTheirOwnLanesOnly) {
  const Result<PreparedCase> made = prepare_case(warp_rows(21), 3);
  ASSERT_TRUE(made.ok()) << to_text(made.errors());
  const std::string text = to_text(made->loops);
  EXPECT_NE(text.find("barrier warp"), std::string::npos) << text;
  EXPECT_EQ(text.find("barrier block"), std::string::npos) << text;
  EXPECT_NE(text.find("f32[8, 1, 70] shared"), std::string::npos) << text;
  const std::set<Finding::Kind> kinds =
      findings(*made, [](const LoopPtr& n) { return passes::as<Barrier>(n) ? LoopList{} : LoopList{n}; });
  EXPECT_TRUE(kinds.count(Finding::Kind::kRace));
}

}  // namespace
}  // namespace facet
