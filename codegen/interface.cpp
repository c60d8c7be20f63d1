// Names and header of the C interface.
#include "codegen/interface.hpp"

#include <algorithm>

#include "codegen/c_family.hpp"

namespace facet {

namespace {

ArgumentInfo argument(const LoopProgram& program, const std::string& tensor, ArgumentInfo::Kind kind, NameTable& fields) {
  ArgumentInfo info;
  info.kind = kind;
  info.tensor = tensor;
  info.field = fields.of("field", tensor);
  if (const Buffer* b = program.find_buffer(tensor)) {
    info.dtype = b->dtype;
    info.shape = b->extents;
    info.in_out = b->role == BufferRole::kInOut;
  }
  return info;
}

std::string kind_text(const ArgumentInfo& a) {
  if (a.in_out) return a.kind == ArgumentInfo::Kind::kInput ? "input, updated in place" : "output, updated in place";
  switch (a.kind) {
    case ArgumentInfo::Kind::kInput: return "input";
    case ArgumentInfo::Kind::kOutput: return "output";
    case ArgumentInfo::Kind::kWeight: return "constant weight";
  }
  return "";
}

std::string storage_note(DType dtype) {
  if (dtype == DType::kF16) return ", IEEE binary16 bit patterns";
  if (dtype == DType::kBF16) return ", bfloat16 bit patterns";
  if (dtype == DType::kBool) return ", 0 or 1 in each byte";
  return "";
}

void write_args(TextWriter& w, const Interface& f, const InterfaceStyle& style) {
  w.comment("What one call works on. Dense arrays in C order, aligned to their elements; inputs and outputs may not overlap.");
  w.open("typedef struct " + f.args_type());
  for (const auto& [symbol, field] : f.symbols) {
    w.comment("symbol, " + std::to_string(symbol.min) + " to " + std::to_string(symbol.max));
    w.line("int64_t " + field + ";");
  }
  for (const ArgumentInfo& a : f.arguments) {
    const bool read_only = a.kind != ArgumentInfo::Kind::kOutput && !a.in_out;
    w.comment(kind_text(a) + ": " + shape_text(a.dtype, a.shape) + ", " + style.pointer_kind + " pointer, " +
              std::to_string(size_bytes(a.dtype)) + "-byte aligned" + storage_note(a.dtype));
    w.line((read_only ? "const " : "") + storage_type(a.dtype) + "* " + a.field + ";");
  }
  if (f.symbols.empty() && f.arguments.empty()) w.line("int64_t unused;");
  w.close("} " + f.args_type() + ";");
}

void write_functions(TextWriter& w, const Interface& f, const InterfaceStyle& style) {
  const std::string args = "const " + f.args_type() + "* args";
  w.comment("What every function that returns int answers.");
  w.open("enum");
  w.line("facet_" + f.name + "_ok = 0,");
  w.line("facet_" + f.name + "_bad_symbol = 1,      // a symbol is outside its range, or an assumption does not hold");
  w.line("facet_" + f.name + "_null_pointer = 2,    // args, or an array with elements, is null");
  w.line("facet_" + f.name + "_no_workspace = 3,    // the workspace is null but bytes are needed");
  w.line("facet_" + f.name + "_no_such_kernel = 4,  // run_kernel's index");
  w.line("facet_" + f.name + "_device_error = 5     // an accelerator refused (device targets only)");
  w.close("};");
  w.line("");
  w.comment("Bytes of workspace for these symbols; any alignment. One workspace serves one call at a time.");
  w.line("size_t " + f.function("workspace_bytes") + "(" + args + ");");
  w.line("");
  w.comment(
      "Packs constant weights into the workspace: once for each workspace, before the first run. Nothing allocates after it.");
  w.line("int " + f.function("prepare") + "(" + args + ", void* workspace" + style.stream_parameter + ");");
  w.line("");
  w.comment("Computes the outputs. Re-entrant with separate workspaces.");
  w.line("int " + f.function("run") + "(" + args + ", void* workspace" + style.stream_parameter + ");");
  w.line("");
  w.comment("Ends the use of a workspace; its memory stays the caller's.");
  w.line("int " + f.function("destroy") + "(" + args + ", void* workspace);");
  w.line("");
  w.comment(
      "For measuring: run is kernels 0 .. kernel_count - 1 in order. A single kernel may be repeated after one whole run.");
  w.line("int " + f.function("kernel_count") + "(void);");
  w.line("int " + f.function("run_kernel") + "(" + args + ", void* workspace, int kernel" + style.stream_parameter + ");");
}

}  // namespace

std::string shape_text(DType dtype, const std::vector<ExprPtr>& shape) {
  std::string text;
  for (const ExprPtr& e : shape) text += (text.empty() ? "" : ", ") + to_text(e);
  return to_text(dtype) + " [" + text + "]";
}

std::string Interface::field_of(const std::string& tensor) const {
  for (const ArgumentInfo& a : arguments)
    if (a.tensor == tensor) return a.field;
  return "";
}

Interface interface_of(const LoopProgram& program, const std::vector<std::string>& embedded) {
  Interface f;
  for (const char c : program.name) f.name += std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
  NameTable fields(c_family_words());
  for (const Symbol& s : program.symbols) f.symbols.emplace_back(s, fields.of("field", s.name));
  const auto has = [&](const std::string& tensor) { return !f.field_of(tensor).empty(); };
  for (const std::string& t : program.inputs)
    if (!has(t)) f.arguments.push_back(argument(program, t, ArgumentInfo::Kind::kInput, fields));
  for (const std::string& t : program.outputs) {
    if (!has(t))
      f.arguments.push_back(argument(program, t, ArgumentInfo::Kind::kOutput, fields));
    else
      for (ArgumentInfo& a : f.arguments) a.in_out = a.in_out || a.tensor == t;
  }
  for (const std::string& t : program.weights)
    if (!has(t) && std::find(embedded.begin(), embedded.end(), t) == embedded.end())
      f.arguments.push_back(argument(program, t, ArgumentInfo::Kind::kWeight, fields));
  return f;
}

std::string Interface::source_name() const {
  // The self-checking main of an exported folder is main.cpp; a program may be called main all the same.
  return (name == "main" ? "main_kernels" : name) + (version.empty() ? "" : "_" + version) + ".cpp";
}

const std::vector<InterfaceFunction>& interface_functions() {
  static const std::vector<InterfaceFunction> list = {
      {"workspace_bytes", "size_t", "", ""},
      {"prepare", "int", ", void* workspace", ", workspace"},
      {"run", "int", ", void* workspace", ", workspace"},
      {"destroy", "int", ", void* workspace", ", workspace"},
      {"run_kernel", "int", ", void* workspace, int kernel", ", workspace, kernel"}};
  return list;
}

std::string declarations_text(const Interface& f) {
  TextWriter w;
  w.comment("For " + f.version + "; the functions without that name call them where the processor can.");
  w.line("extern \"C\" {");
  for (const InterfaceFunction& c : interface_functions())
    w.line(std::string(c.result) + " " + f.function(c.verb) + "(const " + f.args_type() + "* args" + c.parameters + ");");
  w.line("int " + f.function("kernel_count") + "(void);");
  w.line("}");
  return w.text();
}

std::string header_text(const Interface& f, const InterfaceStyle& style) {
  TextWriter w;
  w.comment(f.name + ": how to call its kernels. Plain C; the functions are in the source file of the same name.");
  w.line("#ifndef FACET_" + f.name + "_H");
  w.line("#define FACET_" + f.name + "_H");
  w.line("");
  w.line("#include <stddef.h>");
  w.line("#include <stdint.h>");
  w.raw(style.includes);
  w.line("");
  w.raw("#ifdef __cplusplus\nextern \"C\" {\n#endif\n\n");
  write_args(w, f, style);
  w.line("");
  write_functions(w, f, style);
  if (style.versions) {
    w.line("");
    w.comment(
        "The instruction set of the version that runs here: the largest that the processor has, or FACET_ISA of the environment.");
    w.line("const char* " + f.function("isa") + "(void);");
  }
  w.raw("\n#ifdef __cplusplus\n}\n#endif\n\n#endif\n");
  return w.text();
}

}  // namespace facet
