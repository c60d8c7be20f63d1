// The library's verbs: what the command line does, as functions from values to values.
//
//   Result<CompiledProgram> kernel = compile_program("layer.json", {.sizes = {{"N", 128}}});
//   Result<HostTensors> outputs = kernel->run({{"x", x}});
//
// A Result holds the value or every complaint (facet/result.hpp): each with its code, its place in the file and a way out;
// to_text gives what the command line would print. Nothing here prints, exits or throws.
#pragma once

#include <memory>
#include <string>

#include "facet/host_tensor.hpp"
#include "facet/module.hpp"
#include "facet/program.hpp"
#include "facet/recipe.hpp"
#include "facet/result.hpp"

namespace facet {

// What the options of the command line say; the defaults are the same.
struct Settings {
  std::string target = "openmp";  // or openmp:ISA
  SymbolValues sizes;             // symbols off their defaults
  std::string schedule;           // a recipe file; "" plans one
  std::string machine;            // a machine description file; "" is this machine
  std::string compiler;           // a C++ compiler; "" is the in-process one where there is one
  int threads = 0;                // 0: all that this process may use
  double time_budget_s = 10;      // for analysis, planning and printing
};

// A program text, checked: every name, dtype, shape and subscript is right for all allowed sizes. `file` names the text in
// complaints and gives the folder of relative paths.
Result<Program> check_text(const std::string& text, const std::string& file);
Result<Program> check_file(const std::string& path);

// The recipe that the scheduler chooses (or completes, where settings.schedule names one with holes).
Result<Recipe> choose_recipe(const std::string& path, const Settings& settings = {});

// A program compiled for this process and one choice of sizes. Movable; calls of one object must not overlap.
class CompiledProgram {
 public:
  CompiledProgram(CompiledProgram&&) noexcept;
  CompiledProgram& operator=(CompiledProgram&&) noexcept;
  ~CompiledProgram();

  const Program& program() const;
  const SymbolValues& sizes() const;
  const Recipe& recipe() const;
  const Module& sources() const;  // the C++ that was compiled: source and header

  // One call: every input by name, with the declared dtype and the shape of sizes(). Gives every output; inputs stay as they
  // are, also where the program updates them in place.
  Result<HostTensors> run(const HostTensors& inputs);

 private:
  friend Result<CompiledProgram> compile_program(const std::string& path, const Settings& settings);
  struct State;
  explicit CompiledProgram(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

// Reads, checks, plans, prints and compiles the program of a file for the host.
Result<CompiledProgram> compile_program(const std::string& path, const Settings& settings = {});

// The outputs as the reference interpreter computes them: slow, exact up to the rounding of the outputs' dtypes.
Result<HostTensors> reference_outputs(const std::string& path, const HostTensors& inputs, const SymbolValues& sizes = {});

}  // namespace facet
