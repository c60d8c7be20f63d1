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

}  // namespace

SourceFile dispatcher(const std::string& name, const std::vector<ModuleVersion>& versions) {
  Interface face;
  face.name = name;
  std::vector<Interface> faces;
  for (const ModuleVersion& v : versions) {
    faces.push_back(face);
    faces.back().version = v.isa;
  }
  const std::string args = "const " + face.args_type() + "* args";
  TextWriter w;
  w.comment(name + ": calls the version of its kernels that this processor can run, written by Facet " FACET_VERSION ".");
  w.line("#include \"" + name + ".h\"");
  w.line("");
  w.line("#include <stdlib.h>");
  w.line("#include <string.h>");
  w.line("");
  for (const Interface& f : faces) {
    w.raw(declarations_text(f));
    w.line("");
  }
  w.line("namespace {");
  w.line("");
  w.open("struct Version");
  w.line("const char* isa;");
  w.line("bool (*runs_here)();");
  for (const InterfaceFunction& c : interface_functions())
    w.line(std::string(c.result) + " (*" + c.verb + ")(" + args + c.parameters + ");");
  w.line("int (*kernel_count)();");
  w.close("};");
  w.line("");
  w.comment("From the least instruction set to the largest.");
  w.open("const Version versions[] =");
  for (const Interface& f : faces) {
    w.line("{\"" + f.version + "\", [] { return " + features_of(f.version) + "; },");
    for (const InterfaceFunction& c : interface_functions()) w.line(" " + f.function(c.verb) + ",");
    w.line(" " + f.function("kernel_count") + "},");
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
  for (const InterfaceFunction& c : interface_functions()) {
    w.open(std::string(c.result) + " " + face.function(c.verb) + "(" + args + c.parameters + ")");
    w.line(std::string("return chosen().") + c.verb + "(args" + c.arguments + ");");
    w.close();
    w.line("");
  }
  w.line("int " + face.function("kernel_count") + "(void) { return chosen().kernel_count(); }");
  w.line("");
  w.line("const char* " + face.function("isa") + "(void) { return chosen().isa; }");
  return {face.source_name(), w.text()};
}

}  // namespace facet
