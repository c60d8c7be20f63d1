// Every rule of the contract from both sides: accepted programs give the stated values in the reference, in the loop trees and
// in compiled kernels; refused ones are answered with the stated code at the stated place.
#include "tests/unit/tool/rules.hpp"

#include <cmath>
#include <cstdio>
#include <set>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <sys/wait.h>
#include <unistd.h>

#include "src/driver/execute.hpp"
#include "src/driver/fuzz_compiled.hpp"
#include "src/driver/fuzz_try.hpp"
#include "src/frontend/npy.hpp"
#include "src/machine/detect.hpp"
#include "src/run/inputs.hpp"
#include "src/run/interpret/interpret.hpp"
#include "src/run/reference.hpp"
#include "support/paths.hpp"

namespace facet {
namespace {

constexpr std::size_t kMostQuoted = 200;  // characters of input in a message (P3)

double value_of(const std::string& text) {
  return text == "nan"    ? std::nan("")
         : text == "inf"  ? HUGE_VAL
         : text == "-inf" ? -HUGE_VAL
                          : std::strtod(text.c_str(), nullptr);
}

std::string type_of(const HostTensor& t) {
  std::string text = to_text(t.dtype) + "[";
  for (std::size_t d = 0; d < t.shape.size(); ++d) text += (d ? "," : "") + std::to_string(t.shape[d]);
  return text + "]";
}

// "" or the first difference.
std::string differs(const HostTensor& got, const RuleValues& want) {
  if (type_of(got) != want.type) return want.name + " is " + type_of(got) + ", stated " + want.type;
  if (static_cast<std::size_t>(got.element_count()) != want.values.size())
    return want.name + ": another number of values is stated";
  const double relative = !want.rounded ? 0 : got.dtype == DType::kF64 ? 1e-12 : got.dtype == DType::kF32 ? 2e-6 : 1e-2;
  for (std::int64_t i = 0; i < got.element_count(); ++i) {
    const std::string& text = want.values[static_cast<std::size_t>(i)];
    bool same = false;
    if (is_float(got.dtype)) {
      const double x = got.get(i), y = value_of(text);
      same = std::isnan(y) ? std::isnan(x) : x == y || std::abs(x - y) <= relative * std::abs(y);
    } else {
      same = got.get_int(i) == static_cast<std::int64_t>(std::stoll(text));
    }
    if (!same)
      return want.name + " at " + std::to_string(i) + " is " +
             (is_float(got.dtype) ? std::to_string(got.get(i)) : std::to_string(got.get_int(i))) + ", stated " + text;
  }
  return "";
}

std::string differ(const HostTensors& got, const RuleEntry& e) {
  for (const RuleValues& want : e.results) {
    const auto it = got.find(want.name);
    const std::string wrong = it == got.end() ? want.name + " is missing" : differs(it->second, want);
    if (!wrong.empty()) return wrong;
  }
  return "";
}

Machine two_cores() {
  Machine machine;
  machine.cpu = detect_cpu();
  machine.cpu.cores = 2;
  return machine;
}

// The program with the entry's sizes and inputs, and what the reference makes of it.
Result<FuzzPair> pair_of(const RuleEntry& e, std::uint64_t seed) {
  FuzzPair pair;
  pair.seed = seed;
  Result<Program> program = check_text(e.text, test::source_path("tests/rules/case.json"));
  if (!program) return program.errors();
  pair.loaded.program = std::move(*program);
  const Result<SymbolValues> sizes = sizes_in_force(pair.loaded.program, e.set);
  if (!sizes) return sizes.errors();
  pair.loaded.sizes = pair.options.sizes = *sizes;
  pair.options.machine = two_cores();
  Result<HostTensors> drawn = make_inputs(pair.loaded.program, *sizes, seed, {});
  if (!drawn) return drawn.errors();
  for (const RuleValues& g : e.given) {
    HostTensor& t = drawn->at(g.name);
    EXPECT_EQ(static_cast<std::size_t>(t.element_count()), g.values.size()) << e.where;
    for (std::int64_t i = 0; i < t.element_count(); ++i)
      is_float(t.dtype) ? t.set(i, value_of(g.values[static_cast<std::size_t>(i)]))
                        : t.set_int(i, std::stoll(g.values[static_cast<std::size_t>(i)]));
  }
  pair.tensors = std::move(*drawn);
  const Result<ReferenceRun> reference = run_reference(pair.loaded.program, *sizes, pair.tensors);
  if (!reference) return reference.errors();
  pair.expected = outputs_of(*reference);
  return pair;
}

// The trees against the stated values; "" when all are right.
std::string run_trees(const RuleEntry& e, const FuzzPair& pair, const FuzzTrees& trees) {
  for (const LoopProgram* tree : {&trees.scanned, &trees.cpu, &trees.gpu}) {
    HostTensors buffers = argument_values(pair.loaded, tree->inputs, pair.tensors);
    const Result<InterpretReport> report = interpret(*tree, pair.loaded.sizes, buffers, {});
    if (!report) return to_text(report.errors());
    if (!report->clean()) return to_text(*report);
    const std::string wrong = differ(buffers, e);
    if (!wrong.empty()) return (tree == &trees.gpu ? "GPU tree: " : "CPU tree: ") + wrong;
  }
  return "";
}

struct Answer {
  int status = -1;
  std::string out;
};

class Rules : public testing::TestWithParam<RuleTable> {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::temp_directory_path() / ("facet_rules_" + std::to_string(::getpid()));
    std::filesystem::create_directories(folder_);
    std::filesystem::copy(test::source_path("tests/rules/files"), folder_ / "files", std::filesystem::copy_options::recursive);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  Answer run_tool(const RuleEntry& e) {
    std::ofstream(folder_ / "p.json") << e.text;
    std::string command = "cd " + folder_.string();
    for (const std::string& t : e.tool) command += " && " + test::tool_path() + " " + t + " --json 2>/dev/null";
    std::FILE* pipe = ::popen(command.c_str(), "r");
    Answer answer;
    char buffer[4096];
    for (std::size_t n; (n = std::fread(buffer, 1, sizeof buffer, pipe)) > 0;) answer.out.append(buffer, n);
    const int status = ::pclose(pipe);
    answer.status = WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
    return answer;
  }

  void accept_tool(const RuleEntry& e) {
    std::filesystem::remove_all(folder_ / "out");
    const Answer a = run_tool(e);
    ASSERT_EQ(a.status, 0) << e.where << ": " << a.out;
    HostTensors got;
    for (const RuleValues& v : e.results) {
      const Result<HostTensor> t = read_npy(folder_ / "out" / (v.name + ".npy"), {});
      ASSERT_TRUE(t) << e.where << to_text(t.errors());
      got[v.name] = *t;
    }
    EXPECT_EQ(differ(got, e), "") << e.where << ": " << e.rule;
  }

  void refuse_tool(const RuleEntry& e) {
    const Answer a = run_tool(e);
    if (e.code == "exit-1") {
      EXPECT_EQ(a.status, 1) << e.where << ": " << a.out;
      return;
    }
    EXPECT_EQ(a.status, 2) << e.where << ": " << a.out;
    const nlohmann::json j = nlohmann::json::parse(a.out, nullptr, false);
    ASSERT_FALSE(j.is_discarded()) << e.where << ": " << a.out;
    for (const char* field : {"code", "message", "file", "line", "column", "pointer"})
      ASSERT_TRUE(j["error"].contains(field)) << e.where << ": " << field;
    EXPECT_EQ(j["error"]["code"], e.code) << e.where << ": " << a.out;
    if (e.pointer != "-") { EXPECT_EQ(j["error"]["pointer"], e.pointer) << e.where; }
  }

  std::filesystem::path folder_;
};

TEST_P(Rules, AcceptedProgramsGiveTheStatedValues) {
  FuzzBatch batch;
  std::map<std::uint64_t, std::string> names;
  std::uint64_t seed = 0;
  for (const RuleEntry& e : GetParam().entries) {
    if (!e.accepted) continue;
    EXPECT_FALSE(e.results.empty()) << e.where << " states no values";
    if (!e.tool.empty()) {
      accept_tool(e);
      continue;
    }
    const std::string name = e.where + ": " + e.rule;
    const Result<FuzzPair> pair = pair_of(e, ++seed);
    if (!pair) {
      ADD_FAILURE() << name << ": " << to_text(pair.errors());
      continue;
    }
    EXPECT_EQ(differ(pair->expected, e), "") << name << ", reference";
    const Result<FuzzTrees> trees = fuzz_trees(*pair);
    if (!trees) {
      ADD_FAILURE() << name << ": " << to_text(trees.errors());
      continue;
    }
    EXPECT_EQ(run_trees(e, *pair, *trees), "") << name;
    // The batch compares bytes: NaN has many, rounded values have neighbours.
    bool exact = true;
    for (const RuleValues& v : e.results)
      exact = exact && !v.rounded && std::count(v.values.begin(), v.values.end(), "nan") == 0;
    if (exact) {
      names[seed] = name;
      EXPECT_EQ(batch.add(*pair, trees->cpu), "") << name;
    }
  }
  const Result<FuzzBatch::Misses> misses = batch.run({}, two_cores());
  if (!misses && failure_of(misses.errors()[0].code) == Failure::kMissing) GTEST_SKIP() << to_text(misses.errors());
  ASSERT_TRUE(misses) << to_text(misses.errors());
  for (const auto& [pair, what] : *misses) ADD_FAILURE() << names[pair.seed] << ": " << what;
}

TEST_P(Rules, RefusedProgramsAreAnsweredWithCodeAndPlace) {
  for (const RuleEntry& e : GetParam().entries) {
    if (e.accepted) continue;
    if (!e.tool.empty()) {
      refuse_tool(e);
      continue;
    }
    const Result<Program> program = check_text(e.text, test::source_path("tests/rules/case.json"));
    if (program) {
      ADD_FAILURE() << e.where << ": " << e.rule << " is accepted";
      continue;
    }
    std::string found;
    bool hit = false;
    for (const Diagnostic& d : program.errors()) {
      found += to_text(d) + " at " + d.place.pointer + "\n";
      hit = hit || (code_name(d.code) == e.code && (e.pointer == "-" || d.place.pointer == e.pointer));
      EXPECT_GT(d.place.line, 0) << e.where << to_text(d);
      EXPECT_EQ(d.message.find(std::string(kMostQuoted + 1, 'a')), std::string::npos) << e.where << " quotes too much";
    }
    EXPECT_TRUE(hit) << e.where << ": " << e.rule << ": expected " << e.code << " at " << e.pointer << ", found\n" << found;
  }
}

INSTANTIATE_TEST_SUITE_P(Table, Rules, testing::ValuesIn(all_rule_tables(test::source_path("tests/rules"))),
                         [](const testing::TestParamInfo<RuleTable>& info) { return info.param.name; });

// The numbered rules of the contract; a sentence of one is named after it: P1.a, P1.b, ...
TEST(RuleTables, EveryRuleHasBothSides) {
  std::set<std::string> numbered, accepted, refused, stated;
  for (const auto& [letter, count] : std::map<std::string, int>{{"P", 10}, {"C", 12}, {"L", 5}, {"F", 3}, {"V", 11}})
    for (int k = 1; k <= count; ++k) numbered.insert(letter + std::to_string(k));
  for (const RuleTable& t : all_rule_tables(test::source_path("tests/rules"))) {
    for (const auto& [id, sentence] : t.rules) {
      EXPECT_FALSE(sentence.empty()) << id;
      EXPECT_TRUE(stated.insert(id).second) << id << " is stated twice";
      numbered.erase(id.substr(0, id.find('.')));
    }
    for (const RuleEntry& e : t.entries) (e.accepted ? accepted : refused).insert(e.rule);
  }
  for (const std::string& id : numbered) ADD_FAILURE() << id << " is not stated";
  for (const std::string& id : stated) {
    EXPECT_TRUE(accepted.count(id)) << id << " has no accepted program";
    EXPECT_TRUE(refused.count(id)) << id << " has no refused program";
  }
  for (const std::set<std::string>* side : {&accepted, &refused})
    for (const std::string& id : *side) EXPECT_TRUE(stated.count(id)) << id << " is not stated";
}

}  // namespace
}  // namespace facet
