// The functions around the kernels. Workspace arrays are carved in one place, checked calls go through another.
#include "codegen/openmp/exports.hpp"

#include "codegen/arena.hpp"

namespace facet {

namespace {

std::string join(const std::vector<std::string>& items) {
  std::string text;
  for (const std::string& item : items) text += (text.empty() ? "" : ", ") + item;
  return text;
}

class InterfacePrinter {
 public:
  InterfacePrinter(const LoopProgram& program, const Interface& face, const std::map<std::string, std::string>& constants)
      : program_(program), face_(face), constants_(constants), sizes_(openmp_reserved_words()) {
    for (const Buffer& b : program.buffers)
      if (face.field_of(b.name).empty() && !constants.count(b.name)) workspace_.push_back(&b);
    for (const auto& [symbol, field] : face.symbols)
      if (symbol.min >= 0) sizes_.assume_non_negative(symbol.name);
  }

  std::string print(const std::vector<PrintedKernel>& prepare, const std::vector<PrintedKernel>& kernels) {
    print_carve();
    print_check();
    w_.line("}  // namespace");
    w_.line("");
    const std::string args = "const " + face_.args_type() + "* args";
    w_.open("size_t " + face_.function("workspace_bytes") + "(" + args + ")");
    if (workspace_.empty()) w_.line("(void)args;");
    w_.line(workspace_.empty() ? "return 0;" : "return args ? carve(*args, nullptr).bytes : 0;");
    w_.close();
    w_.line("");
    print_all("prepare", prepare);
    print_all("run", kernels);
    w_.open("int " + face_.function("destroy") + "(" + args + ", void*)");
    w_.line("return args ? facet_" + face_.name + "_ok : facet_" + face_.name + "_null_pointer;");
    w_.close();
    w_.line("");
    w_.open("int " + face_.function("kernel_count") + "(void)");
    w_.line("return " + std::to_string(kernels.size()) + ";");
    w_.close();
    w_.line("");
    print_single(kernels);
    return w_.text();
  }

  std::set<HelperUse> helpers() const { return sizes_.helpers; }

 private:
  class Sizes : public CPrinter {
   public:
    using CPrinter::CPrinter;
  };

  std::string size(const ExprPtr& e) { return sizes_.index_text(e, Level::kTerm); }

  ExprPtr elements(const std::vector<ExprPtr>& extents) {
    ExprPtr n = idx(1);
    for (const ExprPtr& e : extents) n = idx_mul(n, e);
    return n;
  }

  std::set<std::string> symbols_in(const std::vector<ExprPtr>& list) {
    std::set<std::string> found;
    for (const ExprPtr& e : list)
      walk(e, [&](const Expr& node) {
        if (node.op == Op::kIndex) found.insert(node.name);
      });
    return found;
  }

  // "const int64_t N = args.N;" for the symbols that follow needs.
  void symbol_lines(const std::set<std::string>& wanted, const std::string& args = "args.") {
    for (const auto& [symbol, field] : face_.symbols)
      if (wanted.count(symbol.name)) w_.line("const int64_t " + sizes_.index_name(symbol.name) + " = " + args + field + ";");
  }

  void print_carve() {
    if (workspace_.empty()) return;
    w_.comment(
        "The arrays between kernels in the caller's workspace, each on a 64-byte border; arrays that no kernel needs together");
    w_.comment("share their memory.");
    w_.open("struct Workspace");
    std::vector<ExprPtr> sizes;
    for (const Buffer* b : workspace_) {
      w_.line(storage_type(b->dtype) + "* " + fields_.of("buffer", b->name) + ";  // " + shape_text(b->dtype, b->extents));
      sizes.push_back(span_elements(*b));
    }
    w_.line("size_t bytes;");
    w_.close("};");
    w_.line("");
    const std::set<std::string> wanted = symbols_in(sizes);
    w_.open("Workspace carve(const " + face_.args_type() + "&" + (wanted.empty() ? "" : " args") + ", void* memory)");
    symbol_lines(wanted);
    w_.line("const uintptr_t base = ((uintptr_t)memory + 63) & ~(uintptr_t)63;");
    w_.line("uintptr_t offset = 0;");
    w_.line("Workspace arrays;");
    const ArenaSlots slots = plan_arena(program_, workspace_);
    if (slots.size() < workspace_.size()) w_.line("uintptr_t largest;");
    for (const std::vector<std::size_t>& slot : slots) {
      for (const std::size_t i : slot) {
        const Buffer& b = *workspace_[i];
        w_.line("arrays." + fields_.of("buffer", b.name) + " = (" + storage_type(b.dtype) + "*)(base + offset);");
        const std::string bytes =
            "(uintptr_t)(" +
            (size_bytes(b.dtype) == 1 ? size(sizes[i]) : size(sizes[i]) + " * " + std::to_string(size_bytes(b.dtype))) + ")";
        if (slot.size() == 1)
          w_.line("offset += (" + bytes + " + 63) & ~(uintptr_t)63;");
        else if (i == slot.front())
          w_.line("largest = " + bytes + ";");
        else
          w_.line("if (largest < " + bytes + ") largest = " + bytes + ";");
      }
      if (slot.size() > 1) w_.line("offset += (largest + 63) & ~(uintptr_t)63;");
    }
    w_.line("arrays.bytes = offset + 64;");
    w_.line("return arrays;");
    w_.close();
    w_.line("");
  }

  void print_check() {
    const std::string prefix = "facet_" + face_.name + "_";
    w_.open("int check(const " + face_.args_type() + "* pointer, const void* workspace)");
    w_.line("if (!pointer) return " + prefix + "null_pointer;");
    std::vector<ExprPtr> shapes;
    for (const ArgumentInfo& a : face_.arguments) shapes.push_back(elements(a.shape));
    w_.line("const " + face_.args_type() + "& args = *pointer;");
    w_.line("(void)args;");
    for (const auto& [symbol, field] : face_.symbols)
      w_.line("if (args." + field + " < " + size(idx(symbol.min)) + " || args." + field + " > " + size(idx(symbol.max)) +
              ") return " + prefix + "bad_symbol;");
    shapes.insert(shapes.end(), program_.assumptions.begin(), program_.assumptions.end());
    symbol_lines(symbols_in(shapes));
    for (const ExprPtr& a : program_.assumptions)
      w_.line("if (!(" + sizes_.index_text(a, Level::kTernary) + ")) return " + prefix + "bad_symbol;");
    for (const ArgumentInfo& a : face_.arguments) {
      const ExprPtr n = elements(a.shape);
      const bool known = n->op == Op::kLiteral;
      if (known && n->int_value == 0) continue;
      w_.line("if (!args." + a.field + (known ? "" : " && " + size(n) + " > 0") + ") return " + prefix + "null_pointer;");
    }
    w_.line(workspace_.empty() ? "(void)workspace;" : "if (!workspace) return " + prefix + "no_workspace;");
    w_.line("return " + prefix + "ok;");
    w_.close();
    w_.line("");
  }

  std::string call(const PrintedKernel& k) {
    std::vector<std::string> parameters;
    for (const std::string& b : k.uses.buffers) {
      const std::string field = face_.field_of(b);
      const auto constant = constants_.find(b);
      parameters.push_back(!field.empty()                 ? "args->" + field
                           : constant != constants_.end() ? constant->second
                                                          : "arrays." + fields_.of("buffer", b));
    }
    for (const auto& [symbol, field] : face_.symbols)
      if (k.uses.symbols.count(symbol.name)) parameters.push_back("args->" + field);
    return k.function + "(" + join(parameters) + ");";
  }

  void begin(const std::string& verb, const std::vector<PrintedKernel>& kernels, const std::string& more = "") {
    w_.open("int " + face_.function(verb) + "(const " + face_.args_type() + "* args, void* workspace" + more + ")");
    w_.line("const int status = check(args, workspace);");
    w_.line("if (status != facet_" + face_.name + "_ok) return status;");
    bool uses_workspace = false;
    for (const PrintedKernel& k : kernels)
      for (const std::string& b : k.uses.buffers)
        uses_workspace = uses_workspace || (face_.field_of(b).empty() && !constants_.count(b));
    if (uses_workspace) w_.line("const Workspace arrays = carve(*args, workspace);");
    std::vector<ExprPtr> conditions;
    for (const PrintedKernel& k : kernels)
      if (k.when) conditions.push_back(k.when);
    symbol_lines(symbols_in(conditions), "args->");
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
    w_.line("return facet_" + face_.name + "_ok;");
    w_.close();
    w_.line("");
  }

  void print_single(const std::vector<PrintedKernel>& kernels) {
    begin("run_kernel", kernels, ", int kernel");
    w_.open("switch (kernel)");
    for (std::size_t i = 0; i < kernels.size(); ++i)
      w_.line("case " + std::to_string(i) + ": " + (kernels[i].when ? condition(kernels[i]) + " " : "") + call(kernels[i]) +
              " break;");
    w_.line("default: return facet_" + face_.name + "_no_such_kernel;");
    w_.close();
    w_.line("return facet_" + face_.name + "_ok;");
    w_.close();
  }

  const LoopProgram& program_;
  const Interface& face_;
  const std::map<std::string, std::string>& constants_;
  std::vector<const Buffer*> workspace_;
  Sizes sizes_;
  NameTable fields_{openmp_reserved_words()};
  TextWriter w_;
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
