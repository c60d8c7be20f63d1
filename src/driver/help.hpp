// The command line as data: what completion scripts and the reference page are written from.
#pragma once

#include <string>
#include <vector>

namespace facet {

struct OptionHelp {
  std::string names;                 // "-o,--output"
  std::string form;                  // "FILE"; "" for a switch
  std::string text;                  // one line
  std::vector<std::string> choices;  // the words it takes, where they are fixed
};

struct VerbHelp {
  std::string name, summary, example;
  std::string arguments;  // "PROGRAM", "R1 R2", ""
  std::vector<OptionHelp> options;
};

std::vector<VerbHelp> command_help();

// A completion script for "bash" or "zsh"; "" for other shells.
std::string completion_script(const std::string& shell, const std::vector<VerbHelp>& verbs);

// docs/commands.md.
std::string commands_markdown(const std::vector<VerbHelp>& verbs);

}  // namespace facet
