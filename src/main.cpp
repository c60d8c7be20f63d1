// The command line tool; the only place that exits.
#include <cstdio>

#include "facet/program.hpp"

int main() {
  std::printf("facet %s\n", FACET_VERSION);
  return 0;
}
