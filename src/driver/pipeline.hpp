// The spine: a program file to a running kernel, stage by stage. What is fixed after each stage is said in pipeline.cpp.
#pragma once

#include <string>

#include "facet/facet.hpp"
#include "facet/machine.hpp"
#include "facet/program.hpp"
#include "facet/recipe.hpp"
#include "polyhedral/facet_polyhedral.hpp"
#include "src/driver/options.hpp"

namespace facet {

// A program ready to be lowered, with what the command line says about it.
struct Loaded {
  Program program;     // elaborated, --numerics applied
  std::string hash;    // of the program as written
  SymbolValues sizes;  // defaults and --set
  Ledger ledger;       // what the time budget left unproven
};

// read -> elaborate -> validate.
Result<Loaded> load_program(const Options& options);

// check_text under a time budget; what that leaves unproven goes to the ledger.
Result<Program> check_text(const std::string& text, const std::string& file, double time_budget_s, Ledger* ledger);

// Default sizes changed by --set, checked against ranges and assumptions.
Result<SymbolValues> sizes_in_force(const Program& program, const std::vector<std::string>& set);

}  // namespace facet
