// The dispatcher's source: a table of versions, a choice made once, and one forwarding function for each of the header's.
#include "codegen/openmp/dispatch.hpp"

#include "codegen/interface.hpp"

namespace facet {

namespace {

// What the sets promise, as the compilers' run-time check spells it.
std::string features_of(const std::string& isa) {
  std::vector<const char*> names;
  if (isa != "generic") names = {"avx2", "fma", "bmi2"};
  if (isa == "avx512") names.insert(names.end(), {"avx512f", "avx512bw", "avx512dq", "avx512vl"});
  std::string text;
  for (const char* n : names) text += std::string(text.empty() ? "" : " && ") + "__builtin_cpu_supports(\"" + n + "\")";
  return text.empty() ? "true" : text;
}

struct Function {
  const char* verb;
  const char* result;
  const char* more;       // parameters after args and workspace
  const char* arguments;  // as passed on
  bool workspace;
};

constexpr Function kFunctions[] = {{"prepare", "int", "", "", true},
                                   {"run", "int", "", "", true},
                                   {"destroy", "int", "", "", true},
                                   {"run_kernel", "int", ", int kernel", ", kernel", true},
                                   {"workspace_bytes", "size_t", "", "", false}};

}  // namespace

SourceFile dispatcher(const std::string& name, const std::vector<ModuleVersion>& versions) {
  Interface face;
  face.name = name;
  const std::string args = "const " + face.args_type() + "*";
  TextWriter w;
  w.comment(name + ": calls the version of its kernels that this processor can run, written by Facet " FACET_VERSION ".");
  w.line("#include \"" + name + ".h\"");
  w.line("");
  w.line("#include <stdlib.h>");
  w.line("#include <string.h>");
  w.line("");
  for (const ModuleVersion& v : versions) {
    Interface of_version = face;
    of_version.version = v.isa;
    w.raw(declarations_text(of_version));
    w.line("");
  }
  w.line("namespace {");
  w.line("");
  w.open("struct Version");
  w.line("const char* isa;");
  w.line("bool (*runs_here)();");
  for (const Function& f : kFunctions)
    w.line(std::string(f.result) + " (*" + f.verb + ")(" + args + (f.workspace ? ", void*" : "") + (*f.more ? ", int" : "") +
           ");");
  w.line("int (*kernel_count)();");
  w.close("};");
  w.line("");
  w.comment("From the least instruction set to the largest.");
  w.open("const Version versions[] =");
  for (const ModuleVersion& v : versions) {
    Interface of_version = face;
    of_version.version = v.isa;
    w.line("{\"" + v.isa + "\", [] { return " + features_of(v.isa) + "; },");
    for (const Function& f : kFunctions) w.line(" " + of_version.function(f.verb) + ",");
    w.line(" " + of_version.function("kernel_count") + "},");
  }
  w.close("};");
  w.line("");
  w.comment("FACET_ISA names a version not to go beyond.");
  w.open("const Version& chosen()");
  w.open("static const Version* const best = []");
  w.line("__builtin_cpu_init();");
  w.line("const char* const most = getenv(\"FACET_ISA\");");
  w.line("const Version* found = &versions[0];");
  w.open("for (const Version& v : versions)");
  w.line("if (v.runs_here()) found = &v;");
  w.line("if (most && strcmp(most, v.isa) == 0) break;");
  w.close();
  w.line("return found;");
  w.close("}();");
  w.line("return *best;");
  w.close();
  w.line("");
  w.line("}  // namespace");
  w.line("");
  for (const Function& f : kFunctions) {
    w.open(std::string(f.result) + " " + face.function(f.verb) + "(" + args + " args" +
           (f.workspace ? ", void* workspace" : "") + f.more + ")");
    w.line(std::string("return chosen().") + f.verb + "(args" + (f.workspace ? ", workspace" : "") + f.arguments + ");");
    w.close();
    w.line("");
  }
  w.line("int " + face.function("kernel_count") + "(void) { return chosen().kernel_count(); }");
  w.line("");
  w.line("const char* " + face.function("isa") + "(void) { return chosen().isa; }");
  return {(name == "main" ? "main_kernels" : name) + ".cpp", w.text()};
}

}  // namespace facet
