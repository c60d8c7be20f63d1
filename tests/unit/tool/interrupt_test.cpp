// A tool that is interrupted takes its compilers with it, and the folders they write into.
#include <chrono>
#include <csignal>
#include <thread>

#include "unit/tool/tool.hpp"

namespace facet {
namespace {

class Interrupt : public Tool {
 protected:
  void SetUp() override {
    Tool::SetUp();
    std::filesystem::create_directories(path("tmp"));
    // A compiler that answers --version, and else waits with a child of its own, as g++ waits for cc1plus.
    write("clang++-slow", "#!/bin/sh\n[ \"$1\" = --version ] && { echo slow 1; exit 0; }\nsleep 300 &\necho $$ $! > " +
                              path("pids.new") + "\nmv " + path("pids.new") + " " + path("pids") + "\nwait\n");
    std::filesystem::permissions(path("clang++-slow"), std::filesystem::perms::owner_all);
  }

  static bool runs(pid_t id) {  // a zombie does not
    std::ifstream stat("/proc/" + std::to_string(id) + "/stat");
    std::string text{std::istreambuf_iterator<char>(stat), {}};
    const std::size_t end = text.rfind(')');
    return end != std::string::npos && end + 2 < text.size() && text[end + 2] != 'Z';
  }

  template <class Condition>
  static bool soon(const Condition& condition) {
    for (int i = 0; i < 2000; ++i) {
      if (condition()) return true;
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    return false;
  }

  // Starts the tool, waits for its compiler, sends the signal.
  void end_with(int signal, const std::string& arguments) {
    std::filesystem::remove(path("pids"));
    const pid_t tool = ::fork();
    if (tool == 0) {
      const std::string command = "cd " + folder_.string() + " && TMPDIR=" + path("tmp") + " XDG_CACHE_HOME=" + path("cache") +
                                  " exec " + test::tool_path() + " " + arguments + " >/dev/null 2>&1";
      ::execl("/bin/sh", "sh", "-c", command.c_str(), nullptr);
      ::_exit(127);
    }
    ASSERT_TRUE(soon([&] { return std::filesystem::exists(path("pids")); })) << "the compiler was not started";
    pid_t compiler = 0, child = 0;
    std::ifstream(path("pids")) >> compiler >> child;
    ASSERT_TRUE(runs(compiler) && runs(child));
    ::kill(tool, signal);
    int status = 0;
    ::waitpid(tool, &status, 0);
    ASSERT_TRUE(WIFEXITED(status));
    EXPECT_EQ(WEXITSTATUS(status), 128 + signal);
    EXPECT_TRUE(soon([&] { return !runs(compiler) && !runs(child); })) << "the compiler goes on";
    if (runs(child)) ::kill(child, SIGKILL);
    if (runs(compiler)) ::kill(compiler, SIGKILL);
    EXPECT_TRUE(std::filesystem::is_empty(path("tmp")));
    if (!std::filesystem::exists(path("cache/facet"))) return;
    for (const auto& entry : std::filesystem::directory_iterator(path("cache/facet")))
      EXPECT_FALSE(entry.is_directory()) << entry.path();
  }
};

TEST_F(Interrupt, TheCppCompilerEndsToo) {
  end_with(SIGINT, "run p.json --compiler ./clang++-slow");
  end_with(SIGTERM, "run p.json --compiler ./clang++-slow");
}

TEST_F(Interrupt, TheCudaCompilerEndsToo) {
  end_with(SIGINT, "compile p.json --target cuda --emit ptx -o out --compiler ./clang++-slow");
  EXPECT_TRUE(std::filesystem::is_empty(path("out")));
}

}  // namespace
}  // namespace facet
