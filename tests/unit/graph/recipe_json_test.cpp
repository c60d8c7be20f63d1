// Recipes and machines as JSON: holes, round trips, refusals.
#include "src/frontend/json.hpp"

#include <gtest/gtest.h>

namespace facet {
namespace {

const char* const kRecipe = R"({"facet_recipe": 1, "program": null, "target": "openmp",
  "variants": [{"when": "N < 32", "groups": [
    {"name": "k0", "ops": ["h0", "h"], "rewrites": [{"do": "rfactor", "statement": "h0", "by": "k % 8"}],
     "steps": [{"do": "tile", "statement": "h0", "loops": ["i", "j"], "sizes": [64, "?"], "names": ["it", "jt"]},
               {"do": "promote", "array": "w", "at": "kt", "layout": {"order": ["j", "k"], "inner": {"j": 32}}, "keep": true}]},
    {"ops": ["p"], "steps": []}, {"ops": ["q"]}, {"ops": ["r"], "steps": "?"}]}],
  "memory": {"order": ["k0"], "arena": "auto"}})";

TEST(RecipeJson, HolesAreKept) {
  const Result<Recipe> r = read_recipe(kRecipe, "r.json");
  ASSERT_TRUE(r) << to_text(r.errors());
  const std::vector<Group>& groups = r->variants[0].groups;
  EXPECT_FALSE(groups[0].steps_hole);
  EXPECT_TRUE(std::holds_alternative<Hole>(std::get<ArgumentList>(groups[0].steps[0].arguments.at("sizes").value)[1].value));
  EXPECT_FALSE(groups[1].steps_hole);  // [] is the original order, not a hole
  EXPECT_TRUE(groups[2].steps_hole);
  EXPECT_TRUE(groups[3].steps_hole);
  EXPECT_EQ(groups[0].steps[1].place.pointer, "/variants/0/groups/0/steps/1");
  EXPECT_TRUE(read_recipe("{\"facet_recipe\": 1}", "")->variants_hole);
}

TEST(RecipeJson, RoundTrips) {
  const Result<Recipe> r = read_recipe(kRecipe, "r.json");
  ASSERT_TRUE(r);
  const std::string text = to_json(*r);
  const Result<Recipe> again = read_recipe(text, "r.json");
  ASSERT_TRUE(again) << to_text(again.errors());
  EXPECT_EQ(to_json(*again), text);
}

struct Complaint {
  Code code;
  std::string pointer, words;
};
Complaint complaint_about(const std::string& group, const std::string& head = "") {
  const Result<Recipe> r = read_recipe(
      "{\"facet_recipe\": 1, " + head + "\"variants\": [{\"groups\": [{\"ops\": [\"t\"], " + group + "}]}]}", "r.json");
  if (r) return {Code::kUnknownStep, "", "accepted"};
  return {r.errors()[0].code, r.errors()[0].place.pointer, to_text(r.errors()[0])};
}

TEST(RecipeJson, HolesStandWhereTheyAreCompleted) {
  const Complaint early = complaint_about(R"("steps": ["?", {"do": "unroll", "statement": "t", "loop": "i"}])");
  EXPECT_EQ(early.code, Code::kWrongType) << early.words;
  EXPECT_EQ(early.pointer, "/variants/0/groups/0/steps/0");
  EXPECT_NE(early.words.find("move it to the end"), std::string::npos) << early.words;
  EXPECT_EQ(complaint_about(R"("steps": ["?", "?"])").code, Code::kWrongType);
  EXPECT_EQ(complaint_about(R"("steps": [{"do": "unroll", "statement": "t", "loop": "i"}, "?"])").words, "accepted");
  const Complaint rewrite = complaint_about(R"("rewrites": [{"do": "rfactor", "statement": "t", "by": "?"}])");
  EXPECT_EQ(rewrite.code, Code::kBadStepArgument) << rewrite.words;
  EXPECT_EQ(rewrite.pointer, "/variants/0/groups/0/rewrites/0/by");
  EXPECT_EQ(complaint_about(R"("rewrites": "?")").words, "accepted");
}

// What nothing obeys is not read in silence.
TEST(RecipeJson, WhatNothingObeysIsRefused) {
  const Complaint graph = complaint_about(R"("steps": [])", R"("graph": [{"do": "fold_constants"}], )");
  EXPECT_EQ(graph.code, Code::kNotInThisVersion) << graph.words;
  EXPECT_EQ(graph.pointer, "/graph");
  const Complaint arena = complaint_about(R"("steps": [])", R"("memory": {"arena": "none"}, )");
  EXPECT_EQ(arena.code, Code::kNotInThisVersion) << arena.words;
  EXPECT_EQ(arena.pointer, "/memory/arena");
}

TEST(RecipeJson, ArgumentsKnowTheirPlace) {
  const Result<Recipe> r = read_recipe(kRecipe, "r.json");
  ASSERT_TRUE(r) << to_text(r.errors());
  const Step& tile = r->variants[0].groups[0].steps[0];
  const Place place = place_of(tile, "sizes/1");
  EXPECT_EQ(place.line, tile.place.line);
  EXPECT_EQ(place.excerpt.substr(static_cast<std::size_t>(place.column) - 1, 3), "\"?\"");
  EXPECT_EQ(place.pointer, "/variants/0/groups/0/steps/0/sizes/1");
  EXPECT_EQ(place_of(tile, "absent").pointer, tile.place.pointer + "/absent");
}

TEST(MachineJson, RoundTripsAndFillsFromBase) {
  Machine base;
  base.cpu.cores = 7;
  base.cpu.caches = {{32768}, {1048576}};
  const Result<Machine> m = read_machine("{\"cpu\": {\"vector_bytes\": 64}}", "m.json", base);
  ASSERT_TRUE(m);
  EXPECT_EQ(m->cpu.cores, 7);
  EXPECT_EQ(m->cpu.vector_bytes, 64);
  EXPECT_EQ(m->cpu.caches.size(), 2u);
  EXPECT_EQ(to_json(*read_machine(to_json(*m), "")), to_json(*m));
  EXPECT_EQ(read_machine("{\"cpu\": {\"cores\": -1}}", "").errors()[0].code, Code::kWrongType);
  EXPECT_EQ(read_machine("{\"cpu\": {\"core\": 1}}", "").errors()[0].code, Code::kUnknownField);
}

// A step in the form of other tools, named by its key: the message shows how it is written here.
TEST(RecipeJson, AStepWithoutDoIsShownTheForm) {
  const Result<Recipe> r = read_recipe(
      R"({"facet_recipe": 1, "variants": [{"groups": [{"name": "k0", "ops": ["t"], "steps": [{"tile": {"loops": ["i"]}}]}]}]})",
      "r.json");
  ASSERT_FALSE(r.ok());
  EXPECT_EQ(r.errors()[0].code, Code::kMissingField);
  EXPECT_NE(to_text(r.errors()).find(R"({"do": "tile", ...})"), std::string::npos) << to_text(r.errors());
}

}  // namespace
}  // namespace facet
