// Small programs, recipes and schedules for the polyhedral tests.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "polyhedral/facet_polyhedral.hpp"
#include "src/frontend/json.hpp"
#include "src/graph/elaborate.hpp"

namespace facet {

inline Program program_of(const std::string& text) {
  Result<Program> read = read_program(text, "test.json");
  EXPECT_TRUE(read.ok()) << (read.ok() ? "" : to_text(read.errors()));
  Result<Program> made = elaborate(*read);
  EXPECT_TRUE(made.ok()) << (made.ok() ? "" : to_text(made.errors()));
  return *made;
}

// A `loops` program over N with one in-place f64 array of the given shape.
inline Program in_place(const std::string& shape, const std::string& code) {
  return program_of(R"({"facet": 1, "name": "p", "symbols": {"N": {"min": 1, "max": 100, "default": 10}},
    "tensors": {"A": {"dtype": "f64", "shape": )" +
                    shape + R"(}}, "inputs": ["A"],
    "ops": [{"op": "loops", "in": ["N"], "inout": ["A"], "code": ")" +
                    code + R"("}], "outputs": ["A"]})");
}

// f32 x[N, M] in, the equations' last name out.
inline Program equations(const std::vector<std::string>& lines, const std::string& out) {
  std::string def;
  for (const std::string& l : lines) def += (def.empty() ? "\"" : ", \"") + l + "\"";
  return program_of(R"({"facet": 1, "name": "p", "tensors": {"x": {"dtype": "f32", "shape": [8, 8]}}, "inputs": ["x"],
    "ops": [{"op": "compute", "in": ["x"], "out": [")" +
                    out + R"("], "def": [)" + def + R"(]}], "outputs": [")" + out + R"("]})");
}

// p[i] = x[i] * 2 over N, and q[i] = p[i] + p[i + 2]: two stages of a stencil.
inline Program blur() {
  return program_of(R"({"facet": 1, "name": "p", "symbols": {"N": {"min": 3, "max": 100, "default": 10}},
    "tensors": {"x": {"dtype": "f32", "shape": ["N"]}, "p": {"dtype": "f32", "shape": ["N"]},
                "q": {"dtype": "f32", "shape": ["N - 2"]}}, "inputs": ["x"],
    "ops": [{"op": "compute", "in": ["x"], "out": "p", "def": ["p[i] = x[i] * 2.0"]},
            {"op": "compute", "in": ["p"], "out": "q", "def": ["q[i] = p[i] + p[i + 2]"]}],
    "outputs": ["q"]})");
}

// A recipe of one group over all nodes with these steps (JSON objects without braces' list brackets).
inline Recipe recipe_of(const Program& p, const std::string& steps) {
  std::string ops;
  for (const Node& n : p.nodes) ops += (ops.empty() ? "\"" : ", \"") + (n.out.empty() ? n.inout[0] : n.out[0]) + "\"";
  const std::string text =
      R"({"facet_recipe": 1, "program": null, "target": "openmp", "variants": [{"groups": [{"name": "k0", "ops": [)" + ops +
      R"(], "steps": [)" + steps + R"(]}]}]})";
  Result<Recipe> r = read_recipe(text, "recipe.json");
  EXPECT_TRUE(r.ok()) << (r.ok() ? "" : to_text(r.errors()));
  return *r;
}

inline LegalReport judge(const Program& p, const std::string& steps) {
  Result<LegalReport> r = check_recipe(p, recipe_of(p, steps), ScheduleOptions{});
  EXPECT_TRUE(r.ok()) << (r.ok() ? "" : to_text(r.errors()));
  return r.ok() ? *r : LegalReport{};
}

inline std::string loops_text(const Program& p, const std::string& steps) {
  Result<Scheduled> s = schedule_program(p, recipe_of(p, steps), ScheduleOptions{});
  EXPECT_TRUE(s.ok()) << (s.ok() ? "" : to_text(s.errors()));
  return s.ok() ? to_text(s->loops) : "";
}

// The lines of the last kernel, without comments: copies of updated inputs stand before it.
inline std::string last_kernel(const std::string& text) {
  std::string out;
  std::size_t at = text.find('\n', text.rfind("kernel ")) + 1;
  while (at < text.size()) {
    const std::size_t end = text.find('\n', at);
    std::string line = text.substr(at, end - at);
    if (const std::size_t hash = line.find("  #"); hash != std::string::npos) line.resize(hash);
    out += line + "\n";
    at = end + 1;
  }
  return out;
}

// The loops of the group under these steps and rewrites, without comments.
inline std::string kernel_loops(const Program& p, const std::string& steps, const std::string& rewrites = "") {
  Recipe recipe = recipe_of(p, steps);
  if (!rewrites.empty()) recipe.variants[0].groups[0].rewrites = recipe_of(p, rewrites).variants[0].groups[0].steps;
  const Result<Scheduled> s = schedule_program(p, recipe, ScheduleOptions{});
  EXPECT_TRUE(s.ok()) << (s.ok() ? "" : to_text(s.errors()));
  return s ? last_kernel(to_text(s->loops)) : "";
}

// What plan() makes: the steps of the last group, which computes; the whole recipe; the ledger, or its entries of one kind.
struct Planned {
  std::size_t groups = 0;
  std::vector<Step> steps;
  std::string recipe;
  Ledger decisions;

  int count(const std::string& verb) const {
    return static_cast<int>(std::count_if(steps.begin(), steps.end(), [&](const Step& s) { return s.verb == verb; }));
  }
  std::string told() const {
    std::string text;
    for (const LedgerEntry& e : decisions) text += e.kind + " " + e.subject + ": " + e.reason + "\n";
    return text;
  }
};

inline Planned plan_of(const Program& p, const ScheduleOptions& options, const std::string& kind = "") {
  Ledger ledger;
  const Result<Recipe> recipe = plan(p, Recipe{}, options, ledger);
  EXPECT_TRUE(recipe.ok()) << (recipe.ok() ? "" : to_text(recipe.errors()));
  Planned made;
  if (recipe) {
    made.groups = recipe->variants[0].groups.size();
    made.steps = recipe->variants[0].groups.back().steps;
    made.recipe = to_json(*recipe);
  }
  for (const LedgerEntry& e : ledger)
    if (kind.empty() || e.kind == kind) made.decisions.push_back(e);
  return made;
}

// Two threads with 512-bit vectors, whatever the machine of the test.
inline ScheduleOptions two_wide_threads() {
  ScheduleOptions options;
  options.threads = 2;
  options.machine.cpu.isa = "avx512";
  options.machine.cpu.vector_bytes = 64;
  options.machine.cpu.vector_registers = 32;
  options.machine.cpu.caches = {{48 << 10}, {2 << 20}, {32 << 20}};
  return options;
}

}  // namespace facet
