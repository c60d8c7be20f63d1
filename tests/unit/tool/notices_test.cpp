// What the tool says beside its results: which ceilings a plan was made by, and that the time for planning ended.
#include "src/driver/machines.hpp"
#include "src/machine/detect.hpp"
#include "unit/tool/tool.hpp"

namespace facet {
namespace {

class Notices : public Tool {
 protected:
  // stdout and stderr together, with caches of its own.
  Answer told(const std::string& arguments) {
    const std::string command =
        "cd " + folder_.string() + " && XDG_CACHE_HOME=" + path("cache") + " " + test::tool_path() + " " + arguments + " 2>&1";
    std::FILE* pipe = ::popen(command.c_str(), "r");
    Answer answer;
    std::array<char, 4096> buffer;
    for (std::size_t n; (n = std::fread(buffer.data(), 1, buffer.size(), pipe)) > 0;) answer.out.append(buffer.data(), n);
    answer.status = WEXITSTATUS(::pclose(pipe));
    return answer;
  }
  // As if the machine had been measured.
  void remember(const std::string& ceilings) {
    const CpuMachine cpu = detect_cpu();
    std::string key;
    for (const char c : cpu.name) key += std::isalnum(static_cast<unsigned char>(c)) ? c : '-';
    std::filesystem::create_directories(path("cache/facet"));
    write("cache/facet/ceilings-3-" + key + "-" + cpu.isa + "-" + std::to_string(cpu.cores) + ".txt", ceilings);
  }
};

bool says(const Answer& a, const std::string& words) { return a.out.find(words) != std::string::npos; }

// `run --time` planned by what it measured, the others by typical ceilings: two plans on one machine.
TEST_F(Notices, AllVerbsPlanByTheSameCeilings) {
  EXPECT_TRUE(says(told("schedule p.json"), "with typical ceilings: none is known of this machine"));
  remember("77.5 12.25\n");
  const std::string measured = "77.5 GFLOP/s f32 a core, 12.25 GB/s copy, as measured";
  EXPECT_TRUE(says(told("schedule p.json"), measured));
  EXPECT_TRUE(says(told("run p.json --time"), measured));
  EXPECT_TRUE(says(told("explain p.json"), "planned with " + measured));
  EXPECT_EQ(Json::parse(told("explain p.json --json").out)["planned_with"], measured);
  write("m.json", R"({"cpu": {"peak_f32_gflop_s": 50, "copy_gb_s": 9}})");
  for (const std::string verb : {"schedule", "run --time", "explain"}) {
    const Answer a = told(verb + " p.json --machine m.json");
    EXPECT_TRUE(says(a, "50 GFLOP/s f32 a core, 9 GB/s copy, as m.json says")) << verb << a.out;
  }
  write("m.json", R"({"cpu": {"cores": 3}})");
  EXPECT_TRUE(says(told("schedule p.json --machine m.json"), "typical ceilings")) << "a described machine was not measured";
}

TEST_F(Notices, TheEndOfTheTimeIsTold) {
  const std::string warning = "warning: the time budget of 0 s ended before k0 was planned";
  for (const std::string verb : {"schedule", "run", "show --stage source", "explain", "compile -o out"}) {
    const Answer late = told(verb + " p.json --time-budget 0");
    EXPECT_EQ(late.status, 0) << verb << late.out;
    EXPECT_TRUE(says(late, warning)) << verb << late.out;
    EXPECT_FALSE(says(told(verb + " p.json --time-budget 100"), "warning: ")) << verb;
  }
}

}  // namespace
}  // namespace facet
