// Launches and their checks in plain CUDA runtime calls, for a reader who has only the exported folder.
#include "codegen/cuda/exports.hpp"

#include <algorithm>

#include "codegen/export_interface.hpp"
#include "codegen/openmp/prelude.hpp"

namespace facet {

namespace {

constexpr int kWorkspaceAlignment = 256;  // what cudaMalloc gives, so that every access width works

class ExportPrinter : ExportInterface {
 public:
  ExportPrinter(const LoopProgram& program, const Interface& face, const std::map<std::string, std::string>& embedded)
      : ExportInterface(program, face, embedded, cuda_reserved_words(),
                        {"inline ", "facet_" + face.name + "_host::",
                         "The arrays between kernels in the caller's workspace (device memory); arrays that no kernel needs "
                         "together share theirs.",
                         kWorkspaceAlignment}),
        host_(prefix_ + "host") {}

  std::string print(const std::vector<CudaLaunch>& prepare, const std::vector<CudaLaunch>& kernels) {
    print_carve();
    print_check();
    for (const CudaLaunch& l : prepare) print_launch(l);
    for (const CudaLaunch& l : kernels) print_launch(l);
    w_.line("}  // namespace " + host_);
    w_.line("");
    print_workspace_size();
    print_all("prepare", prepare);
    print_all("run", kernels);
    print_ends(kernels.size());
    print_single(kernels);
    // A named namespace: its size functions hide the device functions of the same names.
    PreludeDialect dialect;
    dialect.qualifier = "inline";
    dialect.tables = {&integer_helpers()};
    const std::string sizes = emit_helpers(sizes_.helpers, dialect, &sizes_.errors);
    return "#if defined(__NVCC__) && !defined(FACET_KERNELS_ONLY)\nnamespace " + host_ + " {\n\n" + sizes + w_.text() +
           "#endif\n";
  }

  const Diagnostics& errors() const { return sizes_.errors; }

 private:
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
      arguments.push_back(face_.field_of(b).empty() ? array(b) : "args." + face_.field_of(b));
    for (const std::string& s : l.symbols) {
      const auto symbol =
          std::find_if(face_.symbols.begin(), face_.symbols.end(), [&](const auto& f) { return f.first.name == s; });
      arguments.push_back(symbol != face_.symbols.end() ? "args." + symbol->second : sizes_.index_name(s));
    }
    w_.line(l.entry + "<<<dim3((unsigned)grid_x, (unsigned)grid_y, (unsigned)grid_z), dim3(" + std::to_string(l.block[0]) +
            ", " + std::to_string(l.block[1]) + ", " + std::to_string(l.block[2]) + "), " + std::to_string(l.shared_bytes) +
            ", stream>>>(" + comma_list(arguments) + ");");
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

  const std::string host_;  // the namespace of the helpers
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
