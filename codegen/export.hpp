// The text files of an exported kernel folder: sources as they are, a CMake file, and a main that checks and times them.
//
// The folder builds with a stock compiler alone. manifest.json, which needs JSON, and the weights' .npy files are the caller's.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "codegen/openmp/dispatch.hpp"
#include "facet/module.hpp"
#include "facet/program.hpp"

namespace facet {

struct ExportRequest {
  const Program* program = nullptr;  // elaborated
  const Module* module = nullptr;
  std::string naive_text;                           // print_naive(program): declares naive_NAME
  std::string compile_flags;                        // openmp_flags(numerics)
  std::map<std::string, std::string> weight_files;  // every constant with file data -> its .npy, relative to the folder
  std::vector<ModuleVersion> versions;              // of several instruction sets: `module` is one of them
};

// NAME.cpp (with versions: the dispatcher and NAME_ISA.cpp), NAME.h, CMakeLists.txt, main.cpp. main.cpp fills the inputs by
// their sample rules (or with `--seed N`), sizes by SYMBOL=value, runs, compares every output element with the plain loops,
// prints a line per output and the time; exit status 0 right, 1 wrong, 2 bad command line, 3 a weight file is missing.
std::vector<SourceFile> export_files(const ExportRequest& request);

// The kernels' sources: one, or the dispatcher and one for each version.
std::vector<SourceFile> export_sources(const ExportRequest& request);

// The parts, for tests.
std::string export_cmake_text(const ExportRequest& request);
std::string export_main_text(const ExportRequest& request);
extern const char* const kExportSupport;  // the part of main.cpp that is the same for all programs

}  // namespace facet
