// One list behind a lock. A thread of its own waits for the signals: what a handler may do is too little to remove a folder,
// and a terminal's Ctrl-C does not reach compilers that have a group of their own.
#include "codegen/leftovers.hpp"

#include <csignal>
#include <filesystem>
#include <map>
#include <mutex>
#include <thread>

#include <unistd.h>

namespace facet {

namespace {

struct Entry {
  pid_t group = 0;
  std::string folder;
};

struct List {
  std::mutex mutex;
  std::map<int, Entry> entries;
  int last = 0;

  int add(Entry entry) {
    entries[++last] = std::move(entry);
    return last;
  }
};

// Never destroyed: the waiting thread may still read it while main returns.
List& list() {
  static List& the = *new List;
  return the;
}

constexpr int kEndSignals[] = {SIGINT, SIGTERM, SIGHUP};

sigset_t end_signals() {
  sigset_t set;
  sigemptyset(&set);
  for (const int s : kEndSignals) sigaddset(&set, s);
  return set;
}

extern "C" void end_at_once(int signal) { ::_exit(128 + signal); }

}  // namespace

Leftover::~Leftover() {
  if (id_ == 0) return;
  const std::lock_guard<std::mutex> lock(list().mutex);
  list().entries.erase(id_);
}

void Leftover::folder(const std::string& path) {
  if (path.empty()) return;
  const std::lock_guard<std::mutex> lock(list().mutex);
  id_ = list().add({0, path});
}

pid_t Leftover::process(const std::function<pid_t()>& start) {
  const std::lock_guard<std::mutex> lock(list().mutex);
  const pid_t group = start();
  if (group > 0) id_ = list().add({group, ""});
  return group;
}

void end_leftovers() {
  list().mutex.lock();  // for good
  for (const auto& [id, entry] : list().entries)
    if (entry.group > 0) ::kill(-entry.group, SIGKILL);
  for (const auto& [id, entry] : list().entries) {
    std::error_code ignored;
    if (!entry.folder.empty()) std::filesystem::remove_all(entry.folder, ignored);
  }
}

void end_on_signals() {
  const sigset_t set = end_signals();
  // A caller may have asked for SIGHUP or SIGINT to be ignored (nohup): that stays so, an ignored signal is never pending.
  ::pthread_sigmask(SIG_BLOCK, &set, nullptr);
  try {
    std::thread([set] {
      int signal = SIGINT;
      while (::sigwait(&set, &signal) != 0) {}
      end_leftovers();
      ::_exit(128 + signal);
    }).detach();
  } catch (const std::system_error&) {  // no thread to be had: end without tidying up
    for (const int s : kEndSignals) std::signal(s, end_at_once);
    ::pthread_sigmask(SIG_UNBLOCK, &set, nullptr);
  }
}

}  // namespace facet
