// The command line tool: parses, runs the verb, prints, and says the exit status. Nothing is thrown out of it.
#pragma once

namespace facet {

int run_tool(int argc, const char* const* argv);

}  // namespace facet
