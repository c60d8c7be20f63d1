// Many modules in one translation unit and one compile: random pairs and sweeps have hundreds, and starting a compiler costs
// more than their code.
#pragma once

#include <string>
#include <vector>

#include "codegen/openmp/jit_client.hpp"
#include "codegen/openmp/runner.hpp"
#include "facet/machine.hpp"
#include "facet/module.hpp"
#include "src/driver/options.hpp"

namespace facet {

class CompiledBatch {
 public:
  // The modules' names differ. `folder` keeps the library of an outside compiler. An error is a missing compiler, or a source
  // that is not accepted.
  static Result<CompiledBatch> compile(const std::vector<const Module*>& modules, const Options& options,
                                       const Machine& machine, const std::string& folder);
  // Of one of the modules; the batch must outlive it.
  Result<OpenmpRunner> runner(const Module& module) const;

 private:
  JitModule jit_;
  std::string library_;
};

}  // namespace facet
