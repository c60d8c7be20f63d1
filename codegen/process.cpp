// posix_spawn, one pipe for output, a poll loop for the limit.
#include "codegen/process.hpp"

#include <cerrno>
#include <chrono>
#include <csignal>
#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "codegen/leftovers.hpp"

extern char** environ;

namespace facet {

namespace {

// Reads until the child closes its end or the time is over; true when it is over.
bool collect(int fd, double timeout_s, std::size_t most_output, std::string* output) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(timeout_s);
  char buffer[4096];
  for (;;) {
    const double left_s = std::chrono::duration<double>(end - std::chrono::steady_clock::now()).count();
    if (left_s <= 0) return true;
    pollfd wait = {fd, POLLIN, 0};
    const int ready = poll(&wait, 1, static_cast<int>(left_s * 1000) + 1);
    if (ready < 0 && errno == EINTR) continue;
    if (ready <= 0) continue;
    const ssize_t count = read(fd, buffer, sizeof buffer);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    if (output->size() < most_output) output->append(buffer, static_cast<std::size_t>(count));
  }
}

}  // namespace

ProcessResult run_process(const std::vector<std::string>& arguments, double timeout_s, std::size_t most_output) {
  ProcessResult result;
  int pipe_ends[2];
  if (arguments.empty() || pipe2(pipe_ends, O_CLOEXEC) != 0) return result;
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, pipe_ends[1], 1);
  posix_spawn_file_actions_adddup2(&actions, pipe_ends[1], 2);
  posix_spawnattr_t attributes;  // a group of its own, so that the compiler's children end with it
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK);
  sigset_t none;  // what the tool blocks is its own affair
  sigemptyset(&none);
  posix_spawnattr_setsigmask(&attributes, &none);
  std::vector<char*> argv;
  for (const std::string& a : arguments) argv.push_back(const_cast<char*>(a.c_str()));
  argv.push_back(nullptr);
  Leftover leftover;
  const pid_t child = leftover.process([&] {
    pid_t id = 0;
    return posix_spawnp(&id, argv[0], &actions, &attributes, argv.data(), environ) == 0 ? id : 0;
  });
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  close(pipe_ends[1]);
  if (child > 0) {
    result.started = true;
    result.timed_out = collect(pipe_ends[0], timeout_s, most_output, &result.output);
    if (result.timed_out) kill(-child, SIGKILL);
    int status = 0;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {}
    result.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }
  close(pipe_ends[0]);
  return result;
}

}  // namespace facet
