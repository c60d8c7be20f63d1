// The functions around the kernels. Workspace arrays are carved in one place, checked calls go through another.
#include "codegen/openmp/exports.hpp"

#include "codegen/export_interface.hpp"

namespace facet {

namespace {

class InterfacePrinter : ExportInterface {
 public:
  InterfacePrinter(const LoopProgram& program, const Interface& face, const std::map<std::string, std::string>& constants)
      : ExportInterface(
            program, face, constants, openmp_reserved_words(),
            {"", "",
             "The arrays between kernels in the caller's workspace, each on a 64-byte border; arrays that no kernel "
             "needs together share theirs.",
             64}) {}

  std::string print(const std::vector<PrintedKernel>& prepare, const std::vector<PrintedKernel>& kernels) {
    print_carve();
    print_check();
    w_.line("}  // namespace");
    w_.line("");
    print_workspace_size();
    print_all("prepare", prepare);
    print_all("run", kernels);
    print_ends(kernels.size());
    print_single(kernels);
    return w_.text();
  }

  std::set<HelperUse> helpers() const { return sizes_.helpers; }

 private:
  std::string call(const PrintedKernel& k) {
    std::vector<std::string> parameters;
    for (const std::string& b : k.uses.buffers) {
      const std::string field = face_.field_of(b);
      const auto constant = embedded_.find(b);
      parameters.push_back(!field.empty() ? "args->" + field : constant != embedded_.end() ? constant->second : array(b));
    }
    for (const auto& [symbol, field] : face_.symbols)
      if (k.uses.symbols.count(symbol.name)) parameters.push_back("args->" + field);
    return k.function + "(" + comma_list(parameters) + ");";
  }

  void begin(const std::string& verb, const std::vector<PrintedKernel>& kernels, const std::string& more = "") {
    w_.open("int " + face_.function(verb) + "(const " + face_.args_type() + "* args, void* workspace" + more + ")");
    w_.line("const int status = check(args, workspace);");
    w_.line("if (status != " + prefix_ + "ok) return status;");
    bool uses_workspace = false;
    for (const PrintedKernel& k : kernels)
      for (const std::string& b : k.uses.buffers)
        uses_workspace = uses_workspace || (face_.field_of(b).empty() && !embedded_.count(b));
    if (uses_workspace) w_.line("const Workspace arrays = carve(*args, workspace);");
    std::vector<ExprPtr> conditions;
    for (const PrintedKernel& k : kernels)
      if (k.when) conditions.push_back(k.when);
    symbol_lines(names_in(conditions), "args->");
  }

  std::string condition(const PrintedKernel& k) { return "if (" + sizes_.index_text(k.when, Level::kTernary) + ")"; }

  void print_all(const std::string& verb, const std::vector<PrintedKernel>& kernels) {
    begin(verb, kernels);
    for (std::size_t i = 0; i < kernels.size(); ++i) {
      const ExprPtr& when = kernels[i].when;
      if (when && (i == 0 || kernels[i - 1].when != when)) w_.open(condition(kernels[i]));
      w_.line(call(kernels[i]));
      if (when && (i + 1 == kernels.size() || kernels[i + 1].when != when)) w_.close();
    }
    w_.line("return " + prefix_ + "ok;");
    w_.close();
    w_.line("");
  }

  void print_single(const std::vector<PrintedKernel>& kernels) {
    begin("run_kernel", kernels, ", int kernel");
    w_.open("switch (kernel)");
    for (std::size_t i = 0; i < kernels.size(); ++i)
      w_.line("case " + std::to_string(i) + ": " + (kernels[i].when ? condition(kernels[i]) + " " : "") + call(kernels[i]) +
              " break;");
    w_.line("default: return " + prefix_ + "no_such_kernel;");
    w_.close();
    w_.line("return " + prefix_ + "ok;");
    w_.close();
  }
};

}  // namespace

std::set<std::string> openmp_reserved_words() {
  std::set<std::string> words = c_family_words();
  for (const char* w : {"args", "workspace", "Workspace", "carve", "arrays", "check", "memory", "offset", "base", "pointer",
                        "status", "bytes", "kernel", "largest"})
    words.insert(w);
  return words;
}

Exports print_exports(const LoopProgram& program, const Interface& face, const std::map<std::string, std::string>& constants,
                      const std::vector<PrintedKernel>& prepare, const std::vector<PrintedKernel>& kernels) {
  InterfacePrinter printer(program, face, constants);
  const std::string text = printer.print(prepare, kernels);
  return {text, printer.helpers()};
}

}  // namespace facet
