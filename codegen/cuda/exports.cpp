// Launches and their checks in plain CUDA runtime calls, for a reader who has only the exported folder.
#include "codegen/cuda/exports.hpp"

#include <algorithm>

#include "codegen/arena.hpp"
#include "codegen/c_family.hpp"
#include "codegen/openmp/prelude.hpp"

namespace facet {

namespace {

constexpr int kWorkspaceAlignment = 256;  // what cudaMalloc gives, so that every access width works

std::string join(const std::vector<std::string>& items) {
  std::string text;
  for (const std::string& item : items) text += (text.empty() ? "" : ", ") + item;
  return text;
}

class ExportPrinter {
 public:
  ExportPrinter(const LoopProgram& program, const Interface& face, const std::map<std::string, std::string>& embedded)
      : program_(program),
        face_(face),
        prefix_("facet_" + face.name + "_"),
        host_(prefix_ + "host"),
        sizes_(cuda_reserved_words()) {
    for (const Buffer& b : program.buffers)
      if (face.field_of(b.name).empty() && !embedded.count(b.name)) workspace_.push_back(&b);
    for (const auto& [symbol, field] : face.symbols)
      if (symbol.min >= 0) sizes_.assume_non_negative(symbol.name);
  }

  std::string print(const std::vector<CudaLaunch>& prepare, const std::vector<CudaLaunch>& kernels) {
    print_carve();
    print_check();
    for (const CudaLaunch& l : prepare) print_launch(l);
    for (const CudaLaunch& l : kernels) print_launch(l);
    w_.line("}  // namespace " + host_);
    w_.line("");
    const std::string args = "const " + face_.args_type() + "* args";
    w_.open("size_t " + face_.function("workspace_bytes") + "(" + args + ")");
    w_.line(workspace_.empty() ? "(void)args;" : "if (args == nullptr) return 0;");
    w_.line(workspace_.empty() ? "return 0;" : "return " + host_ + "::carve(*args, nullptr).bytes;");
    w_.close();
    w_.line("");
    print_all("prepare", prepare);
    print_all("run", kernels);
    w_.open("int " + face_.function("destroy") + "(" + args + ", void*)");
    w_.line("return args != nullptr ? " + prefix_ + "ok : " + prefix_ + "null_pointer;");
    w_.close();
    w_.line("");
    w_.open("int " + face_.function("kernel_count") + "(void)");
    w_.line("return " + std::to_string(kernels.size()) + ";");
    w_.close();
    w_.line("");
    print_single(kernels);
    // A named namespace: its size functions hide the device functions of the same names.
    PreludeDialect dialect;
    dialect.qualifier = "inline";
    dialect.tables = {&integer_helpers()};
    const std::string sizes = emit_helpers(sizes_.helpers, dialect, &sizes_.errors);
    return "#if defined(__NVCC__) && !defined(FACET_KERNELS_ONLY)\nnamespace " + host_ + " {\n\n" + sizes + w_.text() +
           "#endif\n";
  }

  std::string size(const ExprPtr& e, Level level = Level::kTernary) { return sizes_.index_text(e, level); }
  const Diagnostics& errors() const { return sizes_.errors; }

 private:
  static ExprPtr elements(const std::vector<ExprPtr>& extents) {
    ExprPtr n = idx(1);
    for (const ExprPtr& e : extents) n = idx_mul(n, e);
    return n;
  }

  static std::set<std::string> names_in(const std::vector<ExprPtr>& list) {
    std::set<std::string> found;
    for (const ExprPtr& e : list)
      walk(e, [&](const Expr& node) {
        if (node.op == Op::kIndex) found.insert(node.name);
      });
    return found;
  }

  // "const int64_t N = args.N;" for the symbols that what follows needs.
  void symbol_lines(const std::set<std::string>& wanted, const std::string& args = "args.") {
    for (const auto& [symbol, field] : face_.symbols)
      if (wanted.count(symbol.name)) w_.line("const int64_t " + sizes_.index_name(symbol.name) + " = " + args + field + ";");
  }

  void print_carve() {
    if (workspace_.empty()) return;
    w_.comment(
        "The arrays between kernels in the caller's workspace (device memory); arrays that no kernel needs together share theirs.");
    w_.open("struct Workspace");
    std::vector<ExprPtr> sizes;
    for (const Buffer* b : workspace_) {
      w_.line(storage_type(b->dtype) + "* " + fields_.of("buffer", b->name) + ";  // " + shape_text(b->dtype, b->extents));
      sizes.push_back(span_elements(*b));
    }
    w_.line("size_t bytes;");
    w_.close("};");
    w_.line("");
    const std::set<std::string> wanted = names_in(sizes);
    w_.open("inline Workspace carve(const " + face_.args_type() + "&" + (wanted.empty() ? "" : " args") + ", void* memory)");
    symbol_lines(wanted);
    const std::string border = std::to_string(kWorkspaceAlignment - 1);
    w_.line("const uintptr_t base = ((uintptr_t)memory + " + border + ") & ~(uintptr_t)" + border + ";");
    w_.line("uintptr_t offset = 0;");
    w_.line("Workspace arrays;");
    const ArenaSlots slots = plan_arena(program_, workspace_);
    if (slots.size() < workspace_.size()) w_.line("uintptr_t largest;");
    for (const std::vector<std::size_t>& slot : slots) {
      for (const std::size_t i : slot) {
        const Buffer& b = *workspace_[i];
        w_.line("arrays." + fields_.of("buffer", b.name) + " = (" + storage_type(b.dtype) + "*)(base + offset);");
        const std::string bytes =
            "(uintptr_t)(" + size(sizes[i], Level::kTerm) + " * " + std::to_string(size_bytes(b.dtype)) + ")";
        if (slot.size() == 1)
          w_.line("offset += (" + bytes + " + " + border + ") & ~(uintptr_t)" + border + ";");
        else if (i == slot.front())
          w_.line("largest = " + bytes + ";");
        else
          w_.line("if (largest < " + bytes + ") largest = " + bytes + ";");
      }
      if (slot.size() > 1) w_.line("offset += (largest + " + border + ") & ~(uintptr_t)" + border + ";");
    }
    w_.line("arrays.bytes = offset + " + std::to_string(kWorkspaceAlignment) + ";");
    w_.line("return arrays;");
    w_.close();
    w_.line("");
  }

  void print_check() {
    w_.open("inline int check(const " + face_.args_type() + "* pointer, const void* workspace)");
    w_.line("if (pointer == nullptr) return " + prefix_ + "null_pointer;");
    std::vector<ExprPtr> shapes;
    for (const ArgumentInfo& a : face_.arguments) shapes.push_back(elements(a.shape));
    w_.line("const " + face_.args_type() + "& args = *pointer;");
    w_.line("(void)args;");
    for (const auto& [symbol, field] : face_.symbols)
      w_.line("if (args." + field + " < " + size(idx(symbol.min)) + " || args." + field + " > " + size(idx(symbol.max)) +
              ") return " + prefix_ + "bad_symbol;");
    shapes.insert(shapes.end(), program_.assumptions.begin(), program_.assumptions.end());
    symbol_lines(names_in(shapes));
    for (const ExprPtr& a : program_.assumptions) w_.line("if (!(" + size(a) + ")) return " + prefix_ + "bad_symbol;");
    for (const ArgumentInfo& a : face_.arguments) {
      const ExprPtr n = elements(a.shape);
      const bool known = n->op == Op::kLiteral;
      if (known && n->int_value == 0) continue;
      w_.line("if (args." + a.field + " == nullptr" + (known ? "" : " && " + size(n, Level::kShift) + " > 0") + ") return " +
              prefix_ + "null_pointer;");
    }
    w_.line(workspace_.empty() ? "(void)workspace;" : "if (workspace == nullptr) return " + prefix_ + "no_workspace;");
    w_.line("return " + prefix_ + "ok;");
    w_.close();
    w_.line("");
  }

  bool uses_workspace(const CudaLaunch& l) const {
    for (const std::string& b : l.buffers)
      if (face_.field_of(b).empty()) return true;
    return false;
  }

  std::string launcher(const CudaLaunch& l) const { return "launch_" + l.entry.substr(prefix_.size()); }

  // A kernel's launch: sizes, the opt-in for large shared memory, the arguments, the error.
  void print_launch(const CudaLaunch& l) {
    const bool workspace = uses_workspace(l);
    std::string host;
    for (const For& f : l.host) host += "int64_t " + sizes_.index_name(f.iterator) + ", ";
    w_.open("inline int " + launcher(l) + "(const " + face_.args_type() + "& args, " +
            (workspace ? "const Workspace& arrays, " : "") + host + "cudaStream_t stream)");
    w_.line("(void)args;");
    for (const For& f : l.host) w_.line("(void)" + sizes_.index_name(f.iterator) + ";");
    std::set<std::string> wanted = names_in({l.grid[0], l.grid[1], l.grid[2]});
    symbol_lines(wanted);
    for (std::size_t a = 0; a < 3; ++a) w_.line(std::string("const int64_t grid_") + "xyz"[a] + " = " + size(l.grid[a]) + ";");
    w_.line("if (grid_x <= 0 || grid_y <= 0 || grid_z <= 0) return " + prefix_ + "ok;");
    if (l.shared_bytes > 0) {
      w_.line("const cudaError_t opted_in = cudaFuncSetAttribute(" + l.entry +
              ", cudaFuncAttributeMaxDynamicSharedMemorySize, " + std::to_string(l.shared_bytes) + ");");
      w_.line("if (opted_in != cudaSuccess) return " + prefix_ + "device_error;");
    }
    std::vector<std::string> arguments;
    for (const std::string& b : l.buffers)
      arguments.push_back(face_.field_of(b).empty() ? "arrays." + fields_.of("buffer", b) : "args." + face_.field_of(b));
    for (const std::string& s : l.symbols) {
      const auto symbol =
          std::find_if(face_.symbols.begin(), face_.symbols.end(), [&](const auto& f) { return f.first.name == s; });
      arguments.push_back(symbol != face_.symbols.end() ? "args." + symbol->second : sizes_.index_name(s));
    }
    w_.line(l.entry + "<<<dim3((unsigned)grid_x, (unsigned)grid_y, (unsigned)grid_z), dim3(" + std::to_string(l.block[0]) +
            ", " + std::to_string(l.block[1]) + ", " + std::to_string(l.block[2]) + "), " + std::to_string(l.shared_bytes) +
            ", stream>>>(" + join(arguments) + ");");
    w_.line("return cudaGetLastError() == cudaSuccess ? " + prefix_ + "ok : " + prefix_ + "device_error;");
    w_.close();
    w_.line("");
  }

  std::string call(const CudaLaunch& l) {
    std::string host;
    for (const For& f : l.host) host += sizes_.index_name(f.iterator) + ", ";
    return host_ + "::" + launcher(l) + "(*args, " + (uses_workspace(l) ? "arrays, " : "") + host + "stream)";
  }

  // Calls in order inside their host loops; neighbours with the same loop share it.
  void print_calls(const CudaLaunch* first, const CudaLaunch* last, std::size_t depth = 0) {
    while (first != last) {
      if (first->host.size() <= depth) {
        w_.line("status = " + call(*first) + ";");
        w_.line("if (status != " + prefix_ + "ok) return status;");
        ++first;
        continue;
      }
      const For& f = first->host[depth];
      const CudaLaunch* end = first + 1;
      while (end != last && end->host.size() > depth && end->host[depth].iterator == f.iterator) ++end;
      const std::string name = sizes_.index_name(f.iterator);
      w_.open("for (int64_t " + name + " = " + size(f.lower) + "; " + name + " < " + size(f.upper, Level::kShift) + "; " +
              name + " += " + std::to_string(f.step) + ")");
      print_calls(first, end, depth + 1);
      w_.close();
      first = end;
    }
  }

  static std::set<std::string> host_names(const std::vector<CudaLaunch>& list) {
    std::vector<ExprPtr> bounds;
    for (const CudaLaunch& l : list)
      for (const For& f : l.host) {
        bounds.push_back(f.lower);
        bounds.push_back(f.upper);
      }
    return names_in(bounds);
  }

  void begin(const std::string& verb, const std::vector<CudaLaunch>& list, const std::string& more) {
    w_.open("int " + face_.function(verb) + "(const " + face_.args_type() + "* args, void* workspace" + more +
            ", cudaStream_t stream)");
    w_.line((list.empty() ? "const int status = " : "int status = ") + host_ + "::check(args, workspace);");
    w_.line("if (status != " + prefix_ + "ok) return status;");
    w_.line("(void)stream;");
    for (const CudaLaunch& l : list) {
      if (!uses_workspace(l)) continue;
      w_.line("const " + host_ + "::Workspace arrays = " + host_ + "::carve(*args, workspace);");
      return;
    }
  }

  void print_all(const std::string& verb, const std::vector<CudaLaunch>& list) {
    begin(verb, list, "");
    symbol_lines(host_names(list), "args->");
    print_calls(list.data(), list.data() + list.size());
    w_.line("return " + prefix_ + "ok;");
    w_.close();
    w_.line("");
  }

  void print_single(const std::vector<CudaLaunch>& list) {
    begin("run_kernel", list, ", int kernel");
    symbol_lines(host_names(list), "args->");
    w_.open("switch (kernel)");
    for (std::size_t i = 0; i < list.size(); ++i) {
      if (list[i].host.empty()) {
        w_.line("case " + std::to_string(i) + ": status = " + call(list[i]) + "; break;");
        continue;
      }
      w_.open("case " + std::to_string(i) + ":");
      print_calls(&list[i], &list[i] + 1);
      w_.line("break;");
      w_.close();
    }
    w_.line("default: return " + prefix_ + "no_such_kernel;");
    w_.close();
    w_.line(list.empty() ? "" : "return status;");
    w_.close();
  }

  class Sizes : public CPrinter {
   public:
    using CPrinter::CPrinter;
  };

  const LoopProgram& program_;
  const Interface& face_;
  std::string prefix_, host_;
  std::vector<const Buffer*> workspace_;
  Sizes sizes_;
  NameTable fields_{cuda_reserved_words()};
  TextWriter w_;
};

}  // namespace

std::set<std::string> cuda_reserved_words() {
  std::set<std::string> words = c_family_words();
  for (const char* w : {"args",
                        "workspace",
                        "largest",
                        "Workspace",
                        "carve",
                        "arrays",
                        "check",
                        "memory",
                        "offset",
                        "base",
                        "pointer",
                        "status",
                        "bytes",
                        "kernel",
                        "stream",
                        "grid_x",
                        "grid_y",
                        "grid_z",
                        "opted_in",
                        "shared_memory",
                        "partial",
                        "Coordinates",
                        "block_coordinates",
                        "thread_coordinates",
                        "threadIdx",
                        "blockIdx",
                        "blockDim",
                        "gridDim",
                        "warpSize",
                        "dim3",
                        "half",
                        "assert",
                        "printf",
                        "clock",
                        "clock64",
                        "__host__",
                        "__device__",
                        "__global__",
                        "__shared__",
                        "__constant__",
                        "__launch_bounds__"})
    words.insert(w);
  return words;
}

std::string print_cuda_exports(const LoopProgram& program, const Interface& face,
                               const std::map<std::string, std::string>& embedded, const std::vector<CudaLaunch>& prepare,
                               const std::vector<CudaLaunch>& kernels, Diagnostics* errors) {
  ExportPrinter printer(program, face, embedded);
  const std::string text = printer.print(prepare, kernels);
  errors->insert(errors->end(), printer.errors().begin(), printer.errors().end());
  return text;
}

}  // namespace facet
