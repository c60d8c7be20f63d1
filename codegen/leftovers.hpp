// What would stay behind when the tool is ended by a signal: running compilers and the folders they write into.
#pragma once

#include <functional>
#include <string>

#include <sys/types.h>

namespace facet {

// A process group or a folder that an interrupted tool takes away; forgotten when the value goes.
class Leftover {
 public:
  Leftover() = default;
  ~Leftover();
  Leftover(const Leftover&) = delete;
  Leftover& operator=(const Leftover&) = delete;

  void folder(const std::string& path);  // "" is none
  // Calls `start`, which starts a process that leads its own group and gives its id, 0 when it failed. No interruption falls
  // between the start and the note of it.
  pid_t process(const std::function<pid_t()>& start);

 private:
  int id_ = 0;
};

// Kills the groups, then removes the folders. Nothing starts afterwards: for a tool about to end.
void end_leftovers();

// The signals that ask a tool to end (SIGINT, SIGTERM, SIGHUP) end this one with 128 and their number, leaving nothing behind.
// To be called first in main: threads that exist already would still take the signals.
void end_on_signals();

}  // namespace facet
