// The command line tool; the only place that exits.
#include <csignal>

#include "codegen/leftovers.hpp"
#include "src/driver/cli.hpp"

int main(int argc, char** argv) {
  facet::end_on_signals();  // files appear whole or not at all (write_file): compilers and their folders are all that is left
  std::signal(SIGXFSZ, SIG_IGN);  // a file over the limit is an error of the write, like a full disk
  return facet::run_tool(argc, argv);
}
