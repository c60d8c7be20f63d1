// The JSON documents of the contract: programs, recipes and machine descriptions, read and written.
//
// Readers report every complaint they can at once, each with file, line, column and JSON pointer. Writers are canonical: the
// same value gives the same bytes, and what they write reads back to the same value.
#pragma once

#include <string>

#include "facet/machine.hpp"
#include "facet/program.hpp"
#include "facet/recipe.hpp"
#include "facet/result.hpp"

namespace facet {

// From here on every name is resolved (contract P1, P2), texts are kept unparsed in Node::text, data files are checked against
// their declarations. `file` names the text in messages and gives the folder of relative paths. A number N in "in" becomes a
// rank-0 constant "OUT.c0" with inferred = false, whose provisional dtype says how it was written: kI64 for an integer, kF64
// for a number with a fraction; elaboration gives it the dtype of the other operands.
Result<Program> read_program(const std::string& text, const std::string& file);

// As written by the user: declared tensors and texts only, so an elaborated program gives the same text as the one it came
// from.
std::string to_json(const Program& program);

// sha256 of to_json.
std::string program_hash(const Program& program);

Result<Recipe> read_recipe(const std::string& text, const std::string& file);
std::string to_json(const Recipe& recipe);

// Reads every variant's `when` as a condition on the program's symbols.
Result<Done> bind_conditions(const Program& program, Recipe* recipe);

// Members left out keep the values of `base`, so that a machine file needs to hold only what differs from this machine.
Result<Machine> read_machine(const std::string& text, const std::string& file, const Machine& base = {});
std::string to_json(const Machine& machine);

}  // namespace facet
