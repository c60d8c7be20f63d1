// The CMake file of an exported folder, for the host compiler or for CUDA.
#include "codegen/export.hpp"
#include "codegen/text_writer.hpp"

namespace facet {

namespace {

// The program that checks the library, the same for every target.
void check_program(TextWriter& w, const ExportRequest& request, const std::string& target) {
  const std::string check = "check_" + request.module->name;
  w.line("add_executable(" + check + " main.cpp)");
  w.line("target_compile_options(" + check + " PRIVATE -O2)");
  w.line("target_compile_definitions(" + check + " PRIVATE FACET_FOLDER=\"${CMAKE_CURRENT_SOURCE_DIR}\")");
  w.line("target_link_libraries(" + check + " PRIVATE " + target + ")");
  w.line("");
  w.line("enable_testing()");
  w.line("add_test(NAME " + check + " COMMAND " + check + ")");
  for (const ModuleVersion& v : request.versions) {
    w.line("add_test(NAME " + check + "_" + v.isa + " COMMAND " + check + ")");
    w.line("set_tests_properties(" + check + "_" + v.isa + " PROPERTIES ENVIRONMENT FACET_ISA=" + v.isa + ")");
  }
}

std::string device_cmake_text(const ExportRequest& request) {
  const std::string target = "facet_" + request.module->name;
  TextWriter w;
  w.line("# " + request.program->name + ": kernels as a library, and a program that checks and times them.");
  w.line("cmake_minimum_required(VERSION 3.18)");
  w.line("if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES)");
  w.line("  set(CMAKE_CUDA_ARCHITECTURES 80 90)");
  w.line("endif()");
  w.line("project(" + target + " LANGUAGES CXX CUDA)");
  w.line("");
  for (const char* language : {"CXX", "CUDA"}) {
    w.line(std::string("set(CMAKE_") + language + "_STANDARD 17)");
    w.line(std::string("set(CMAKE_") + language + "_STANDARD_REQUIRED ON)");
  }
  w.line("find_package(CUDAToolkit REQUIRED)");
  w.line("");
  w.line("add_library(" + target + " STATIC " + request.module->source.name + " " + request.module->header.name + ")");
  w.line("target_include_directories(" + target + " PUBLIC ${CMAKE_CURRENT_SOURCE_DIR})");
  w.line("# The program's own policy: may a product and a sum be rounded once?");
  w.line("target_compile_options(" + target + " PRIVATE --fmad=" + (request.program->numerics.contract ? "true" : "false") +
         ")");
  w.line("target_link_libraries(" + target + " PUBLIC CUDA::cudart)");
  w.line("");
  check_program(w, request, target);
  return w.text();
}

void native_options(TextWriter& w, const std::string& target) {
  w.line("if(FACET_NATIVE)");
  w.line("  target_compile_options(" + target + " PRIVATE -march=native)");
  w.line("  # On processors with AVX10 Clang 19 says it in two ways, and warns of that in every file.");
  w.line("  if(CMAKE_CXX_COMPILER_ID STREQUAL \"Clang\")");
  w.line("    include(CheckCXXCompilerFlag)");
  w.line("    check_cxx_compiler_flag(-mno-avx10.1-256 FACET_ONE_AVX10)");
  w.line("    if(FACET_ONE_AVX10)");
  w.line("      target_compile_options(" + target + " PRIVATE -mno-avx10.1-256)");
  w.line("    endif()");
  w.line("  endif()");
  w.line("endif()");
}

}  // namespace

std::string export_cmake_text(const ExportRequest& request) {
  if (request.module->target == "cuda") return device_cmake_text(request);
  const std::string target = "facet_" + request.module->name;
  TextWriter w;
  w.line("# " + request.program->name + ": kernels as a library, and a program that checks and times them.");
  w.line("cmake_minimum_required(VERSION 3.16)");
  w.line("project(" + target + " LANGUAGES CXX)");
  w.line("");
  w.line("set(CMAKE_CXX_STANDARD 17)");
  w.line("set(CMAKE_CXX_STANDARD_REQUIRED ON)");
  w.line("set(CMAKE_CXX_EXTENSIONS OFF)");
  if (request.versions.empty()) w.line("option(FACET_NATIVE \"Build for this machine's instruction set\" ON)");
  w.line("");
  std::string sources;
  for (const SourceFile& s : export_sources(request)) sources += s.name + " ";
  w.line("add_library(" + target + " STATIC " + sources + request.module->header.name + ")");
  w.line("target_include_directories(" + target + " PUBLIC ${CMAKE_CURRENT_SOURCE_DIR})");
  w.line("# None of these changes a result: contraction is the program's own policy, errno and traps are not observed.");
  w.line("target_compile_options(" + target + " PRIVATE " + request.compile_flags + " -Wno-psabi)");
  if (!request.versions.empty()) {
    w.line("# Each version is built for its own processors; the first one runs anywhere.");
    for (const ModuleVersion& v : request.versions)
      w.line("set_source_files_properties(" + v.module.source.name + " PROPERTIES COMPILE_OPTIONS -march=" + v.march + ")");
  } else {
    native_options(w, target);
  }
  w.line("find_package(OpenMP)");
  w.line("if(OpenMP_CXX_FOUND)");
  w.line("  target_link_libraries(" + target + " PUBLIC OpenMP::OpenMP_CXX)");
  w.line("endif()");
  w.line("");
  check_program(w, request, target);
  return w.text();
}

}  // namespace facet
