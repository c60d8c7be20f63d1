// Hexagons over time on a GPU: executed by the GPU-mode interpreter at sizes that fill no hexagon, that are smaller than one,
// and without any step of time; and that races between them, were they too narrow, would be found.
#include <gtest/gtest.h>

#include "codegen/passes/tree.hpp"
#include "src/driver/gpu_case.hpp"
#include "src/frontend/json.hpp"
#include "src/run/interpret/interpret.hpp"
#include "support/paths.hpp"

namespace facet {
namespace {

struct Stencil {
  const char* file;
  const char* ops;
  const char* steps;
};

// The two nests of a step of time, or four, a block a hexagon.
constexpr Stencil kHeat = {"examples/04_heat/program.json", R"("B")", R"(
    {"do": "hexagons", "statements": ["B.1", "A"], "time": "t", "loops": ["i"], "sizes": [2, 11]},
    {"do": "map_gpu", "statement": "A", "grid": ["ih"]},
    {"do": "map_gpu", "statement": "B.1", "block": ["i", "j"], "threads": [2, 16]},
    {"do": "map_gpu", "statement": "A", "block": ["i", "j"], "threads": [2, 16]},
    {"do": "map_gpu", "statement": "B", "grid": ["i", "j"], "block": ["j"], "threads": [32]})"};
constexpr Stencil kHeatInColumns = {"examples/04_heat/program.json", R"("B")", R"(
    {"do": "hexagons", "statements": ["B.1", "A"], "time": "t", "loops": ["i", "j"], "sizes": [3, 12, 5]},
    {"do": "map_gpu", "statement": "A", "grid": ["ih"]},
    {"do": "map_gpu", "statement": "B.1", "block": ["i", "j"], "threads": [4, 8], "points": [2, 1]},
    {"do": "map_gpu", "statement": "A", "block": ["i", "j"], "threads": [4, 8], "points": [2, 1]},
    {"do": "map_gpu", "statement": "B", "grid": ["i", "j"], "block": ["j"], "threads": [32]})"};
constexpr Stencil kFdtd = {"bench/polybench/fdtd-2d.json", R"("ex")", R"(
    {"do": "embed", "statement": "ey", "loop": "ib", "around": "j"},
    {"do": "hexagons", "statements": ["ey", "ey.1", "ex", "hz"], "time": "t", "names": ["tf", "ih", "tt"],
     "loops": {"ey": ["ib"], "ey.1": ["i"], "ex": ["i"], "hz": ["i"]}, "sizes": [3, 7]},
    {"do": "map_gpu", "statement": "ey", "grid": ["ih"]},
    {"do": "map_gpu", "statement": "ey", "block": ["ib", "j"], "threads": [2, 16]},
    {"do": "map_gpu", "statement": "ey.1", "block": ["i", "j"], "threads": [2, 16]},
    {"do": "map_gpu", "statement": "ex", "block": ["i", "j"], "threads": [2, 16]},
    {"do": "map_gpu", "statement": "hz", "block": ["i", "j"], "threads": [2, 16]})"};
constexpr Stencil kJacobi1d = {"bench/polybench/jacobi-1d.json", R"("A")", R"(
    {"do": "hexagons", "statements": ["B", "A"], "time": "t", "loops": ["i"], "sizes": [4, 16]},
    {"do": "map_gpu", "statement": "A", "grid": ["ih"]},
    {"do": "map_gpu", "statement": "B", "block": ["i"], "threads": [32]},
    {"do": "map_gpu", "statement": "A", "block": ["i"], "threads": [32]})"};
constexpr Stencil kHeat3d = {"bench/polybench/heat-3d.json", R"("A")", R"(
    {"do": "hexagons", "statements": ["B", "A"], "time": "t", "loops": ["i"], "sizes": [1, 5]},
    {"do": "map_gpu", "statement": "A", "grid": ["ih"]},
    {"do": "map_gpu", "statement": "B", "block": ["j", "k"], "threads": [4, 8]},
    {"do": "map_gpu", "statement": "A", "block": ["j", "k"], "threads": [4, 8]})"};

GpuCase made_of(const Stencil& stencil, SymbolValues sizes) {
  Result<GpuCase> read = file_case(test::source_path(stencil.file), 8);
  EXPECT_TRUE(read.ok());
  const std::string text =
      std::string(R"({"facet_recipe": 1, "target": "cuda", "variants": [{"groups": [{"name": "k0", "ops": [)") + stencil.ops +
      R"(], "steps": [)" + stencil.steps + "]}]}]}";
  Result<Recipe> recipe = read_recipe(text, "r.json");
  EXPECT_TRUE(recipe.ok()) << to_text(recipe.errors());
  read->symbols = std::move(sizes);
  read->recipe = std::move(*recipe);
  return std::move(*read);
}

void expect_right(const Stencil& stencil, const std::vector<SymbolValues>& all) {
  for (const SymbolValues& sizes : all) {
    std::string text;
    for (const auto& [name, value] : sizes) text += name + " = " + std::to_string(value) + " ";
    const GpuCaseResult r = check_in_interpreter(made_of(stencil, sizes), 3);
    EXPECT_TRUE(r.verified) << text << r.reason;
  }
}

TEST(GpuTimeTiles, Heat) {
  expect_right(kHeat, {{{"N", 3}, {"T", 5}}, {{"N", 18}, {"T", 0}}, {{"N", 27}, {"T", 5}}});
  expect_right(kHeatInColumns, {{{"N", 19}, {"T", 1}}, {{"N", 21}, {"T", 7}}});
}
TEST(GpuTimeTiles, FourNestsWithABorder) {
  expect_right(kFdtd, {{{"TMAX", 1}, {"NX", 3}, {"NY", 3}}, {{"TMAX", 7}, {"NX", 16}, {"NY", 13}}});
}
TEST(GpuTimeTiles, OneDimensionAndThree) {
  expect_right(kJacobi1d, {{{"N", 3}, {"T", 9}}, {{"N", 100}, {"T", 1}}, {{"N", 101}, {"T", 13}}});
  expect_right(kHeat3d, {{{"N", 3}, {"T", 3}}, {{"N", 13}, {"T", 4}}});
}

// The barriers that the mapping places between the nests of a block are needed: without them the interpreter sees a race.
TEST(GpuTimeTiles, WithoutItsBarriersARaceIsSeen) {
  Result<PreparedCase> made = prepare_case(made_of(kHeat, {{"N", 30}, {"T", 4}}), 3);
  ASSERT_TRUE(made.ok()) << to_text(made.errors());
  int dropped = 0;
  const auto drop = [&](const auto& self, const LoopList& body) -> LoopList {
    LoopList out;
    for (const LoopPtr& n : body) {
      if (passes::as<Barrier>(n)) {
        ++dropped;
        continue;
      }
      out.push_back(passes::rebuild(
          n, [](const ExprPtr& e) { return e; }, [&](const LoopList& b) { return self(self, b); }));
    }
    return out;
  };
  for (Kernel& k : made->loops.kernels) k.body = drop(drop, k.body);
  EXPECT_EQ(dropped, 2);
  EXPECT_FALSE(interpret_case(*made, 3).verified);
}

}  // namespace
}  // namespace facet
