// Module: printed source and what is needed to build, load and call it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "facet/expr.hpp"
#include "facet/program.hpp"

namespace facet {

struct SourceFile {
  std::string name;  // "mlp.cpp"
  std::string text;
};

struct ArgumentInfo {  // a pointer field of facet_NAME_args
  enum class Kind { kInput, kOutput, kWeight };
  Kind kind = Kind::kInput;
  std::string tensor;  // name in the program
  std::string field;   // identifier in the struct
  DType dtype = DType::kF32;
  std::vector<ExprPtr> shape;
  bool in_out = false;  // an output that is also updated in place
};

struct KernelInfo {
  std::string name;
  std::vector<std::string> ops;
  ExprPtr flops, bytes;             // of symbols; null unknown
  ExprPtr when;                     // of symbols: the sizes it runs for; null: all
  std::vector<std::string> arrays;  // openmp: the arrays it takes
  std::string function;             // openmp: its name in the source
  int flop_bytes = 4;               // the widest floating type that it works with
};

// The kernel file exports (plain C, prefix facet_NAME_): workspace_bytes, prepare, run, destroy, and for measuring
// kernel_count / run_kernel(args, workspace, index).
struct Module {
  std::string name;    // program name; prefix of every exported symbol
  std::string target;  // "openmp"
  std::vector<Symbol> symbols;
  std::vector<ArgumentInfo> arguments;  // inputs, outputs, weights, each in program order
  std::vector<KernelInfo> kernels;
  SourceFile source;  // NAME.cpp or NAME.cu: self-contained
  SourceFile header;  // NAME.h
};

}  // namespace facet
