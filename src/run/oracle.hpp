// Chooses how the reference values of a program are computed: interpreted, compiled as plain loops, or sampled.
#pragma once

#include <string>

#include "src/run/reference.hpp"

namespace facet {

struct OracleOptions {
  // Scalar operations (predicted_operations). The interpreter does some 60 million a second, compiled plain loops some 500
  // million including bounds: so at most a second interpreted, at most a minute compiled.
  double interpret_limit = 6e7;
  double compile_limit = 3e10;
  std::int64_t samples = 10000;
  std::string compiler;  // for the plain loops; "" is any
  std::string cache_folder;
};

// ReferenceRun::method says which way was taken. Without a compiler larger programs are sampled where possible, else
// interpreted up to a few minutes; beyond that kOracleTooLarge.
Result<ReferenceRun> run_oracle(const Program& program, const SymbolValues& symbols, const HostTensors& tensors,
                                const OracleOptions& options);

// Compiles print_naive(program) and runs it.
Result<ReferenceRun> run_naive(const Program& program, const SymbolValues& symbols, const HostTensors& tensors,
                               const OracleOptions& options);

// Bytes that a full reference holds at most at one time, about: every tensor with value and bound.
double reference_bytes(const Program& program, const SymbolValues& symbols);

}  // namespace facet
