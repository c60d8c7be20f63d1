// explain, as a user reads it: the recipe's own steps, every line under its kernel and variant, GPU kernels with their work.
#include <algorithm>
#include <set>
#include <sstream>
#include <vector>

#include "unit/tool/tool.hpp"

namespace facet {
namespace {

class Explain : public Tool {
 protected:
  void SetUp() override {
    Tool::SetUp();
    write("p.json", R"({"facet": 1, "name": "p", "symbols": {"N": {"min": 1, "max": 500, "default": 100}}, "tensors": {"x":
      {"dtype": "f32", "shape": ["N", 64]}, "w": {"dtype": "f32", "shape": [64, 64]}}, "inputs": ["x", "w"],
      "ops": [{"op": "matmul", "in": ["x", "w"], "out": "h"}, {"op": "relu", "in": "h", "out": "y"}], "outputs": ["y"]})");
  }
  // The lines under the one that starts with `head`.
  std::vector<std::string> below(const std::string& text, const std::string& head) {
    std::vector<std::string> lines;
    std::istringstream in(text);
    bool inside = false;
    for (std::string line; std::getline(in, line);) {
      if (line.rfind("  ", 0) != 0)
        inside = line.rfind(head, 0) == 0;
      else if (inside)
        lines.push_back(line);
    }
    return lines;
  }
  static bool any(const std::vector<std::string>& lines, const std::string& words) {
    for (const std::string& l : lines)
      if (l.find(words) != std::string::npos) return true;
    return false;
  }
};

TEST_F(Explain, TheRecipesOwnStepsAreTold) {
  write("r.json", R"({"facet_recipe": 1, "variants": [{"groups": [{"name": "k0", "ops": ["h"], "steps": [
    {"do": "skew", "statement": "h", "loop": "j", "by": "i"}, {"do": "tile", "statement": "h", "loops": ["i"], "sizes": ["?"]}]},
    {"ops": ["y"], "steps": []}]}]})");
  const std::string text = facet("explain p.json --schedule r.json").out;
  const std::vector<std::string> lines = below(text, "kernel k0 (h)");
  EXPECT_TRUE(any(lines, R"(+ step: {"do":"skew")")) << text;
  EXPECT_TRUE(any(lines, R"(+ step: {"do":"tile")")) << text;
  EXPECT_TRUE(any(lines, "+ hole: step 1 (tile)")) << text;
  EXPECT_FALSE(any(below(text, "kernel k1 (y)"), "step:")) << text;
  bool skew = false;
  const Json whole = Json::parse(facet("explain p.json --schedule r.json --json").out);
  for (const Json& l : whole["loops"])
    skew = skew || (l["kind"] == "step" && l["subject"].get<std::string>().find("skew") != std::string::npos);
  EXPECT_TRUE(skew);
}

TEST_F(Explain, LinesOfVariantsStandUnderThem) {
  write("r.json", R"({"facet_recipe": 1, "variants": [{"when": "N < 8"}, {"when": "N % 8 == 0"}, {}]})");
  const std::string text = facet("explain p.json --schedule r.json").out;
  for (const std::string head : {"variant 0 (N < 8), k0 (h, y): for other sizes",
                                 "variant 1 (N % 8 == 0), k0 (h, y): for other", "variant 2, k0 (h, y): "}) {
    EXPECT_NE(text.find(head), std::string::npos) << head << "\n" << text;
    const std::vector<std::string> lines = below(text, head);
    EXPECT_FALSE(lines.empty()) << head << "\n" << text;
    for (std::size_t i = 0; i < lines.size(); ++i)
      EXPECT_EQ(std::count(lines.begin() + static_cast<long>(i) + 1, lines.end(), lines[i]), 0) << lines[i] << "\n" << text;
  }
  EXPECT_NE(text.find("MFLOP", text.find("variant 2, k0")), std::string::npos) << text;
}

TEST_F(Explain, KernelsOfAGpuHaveTheirWork) {
  write("r.json",
        R"({"facet_recipe": 1, "target": "cuda", "variants": [{"groups": [{"name": "k0", "ops": ["h", "y"], "steps": []}]}]})");
  const Answer a = facet("explain p.json --target cuda --schedule r.json --json");
  ASSERT_EQ(a.status, 0) << a.out;
  const Json j = Json::parse(a.out);
  ASSERT_EQ(j["kernels"].size(), 1U) << j["kernels"];
  EXPECT_GE(j["kernels"][0]["flops"].get<double>(), 2.0 * 100 * 64 * 64);
  EXPECT_GE(j["kernels"][0]["bytes"].get<double>(), 4.0 * (2 * 100 * 64 + 64 * 64));
  EXPECT_GT(j["kernels"][0]["bound_ms"].get<double>(), 0);
  EXPECT_GE(j["kernels"][0]["launches"].size(), 1U);
  std::set<std::string> unmapped;
  for (const Json& l : j["loops"])
    if (l["kind"] == "map") { EXPECT_TRUE(unmapped.insert(l["subject"]).second) << "of which nest? " << j["loops"]; }
  EXPECT_TRUE(unmapped.count("the nest of h") || unmapped.count("the nest of h, y")) << j["loops"];
}

// A part that `compute_at` made is the whole work of every thread until its loops are mapped: told, with the step that does it.
TEST_F(Explain, PartsThatABlockDoesNotShareAreTold) {
  write("q.json", R"({"facet": 1, "name": "q", "symbols": {"N": {"min": 64, "max": 5000, "default": 1000}}, "tensors": {"a":
    {"dtype": "f32", "shape": ["N"]}}, "inputs": ["a"], "ops": [{"op": "compute", "in": "a", "out": "q",
    "def": ["p[x] = exp(a[x]) for x in 0..N", "q[y] = p[y] + p[y + 1] for y in 0..N-1"]}], "outputs": ["q"]})");
  const auto map = [&](const std::string& more) {
    write("r.json", R"({"facet_recipe": 1, "variants": [{"groups": [{"ops": ["q"], "steps": [
      {"do": "tile", "statement": "q", "loops": ["y"], "sizes": [32]},
      {"do": "compute_at", "array": "q.p", "statement": "q", "at": "yt"},
      {"do": "map_gpu", "statement": "q", "grid": ["yt"], "block": ["y"], "threads": [32]})" +
                        more + "]}]}]}");
    return facet("explain q.json --schedule r.json --target cuda").out;
  };
  const std::string told = "every thread of the block computes all of it: map_gpu with \"statement\": \"q.p.at\"";
  const std::string alone = map("");
  EXPECT_NE(alone.find("- map: x of q.p.at: " + told), std::string::npos) << alone;
  const std::string shared = map(R"(, {"do": "map_gpu", "statement": "q.p.at", "block": ["x"], "threads": [32]})");
  EXPECT_EQ(shared.find("computes all of it"), std::string::npos) << shared;
  EXPECT_NE(facet("show q.json --stage ast --schedule r.json --target cuda").out.find("allocate q.p.at: f32[1, 33] shared"),
            std::string::npos);
}

}  // namespace
}  // namespace facet
