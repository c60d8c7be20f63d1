// The command line tool; the only place that exits.
#include <csignal>

#include <unistd.h>

#include "src/driver/cli.hpp"

namespace {

// Files appear whole or not at all (write_file), so there is nothing to clean up.
void interrupted(int) { ::_exit(130); }

}  // namespace

int main(int argc, char** argv) {
  std::signal(SIGINT, interrupted);
  std::signal(SIGXFSZ, SIG_IGN);  // a file over the limit is an error of the write, like a full disk
  return facet::run_tool(argc, argv);
}
