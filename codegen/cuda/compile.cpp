// NVRTC first (no process, no files, about half a second), nvcc as the fallback.
#include "codegen/cuda/compile.hpp"

#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include "codegen/cuda/driver_api.hpp"
#include "codegen/cuda/temporary.hpp"
#include "codegen/process.hpp"

namespace facet {

namespace {

constexpr double kCompileTimeoutS = 300;
constexpr std::size_t kMostDisassembly = std::size_t{64} << 20;

using Clock = std::chrono::steady_clock;

double ms_since(Clock::time_point start) { return std::chrono::duration<double, std::milli>(Clock::now() - start).count(); }

std::vector<std::string> numeric_flags(const CudaCompileOptions& o) {
  return {std::string("--fmad=") + (o.contract ? "true" : "false"),
          std::string("--ftz=") + (o.flush_denormals ? "true" : "false"), "--prec-div=true", "--prec-sqrt=true"};
}

Diagnostic refused(const std::string& compiler, const std::string& log) {
  std::istringstream lines(log);
  std::vector<std::string> notes;
  for (std::string line; notes.size() < 12 && std::getline(lines, line);) notes.push_back(line);
  return diagnose(Code::kCudaCompile, Place{}, {compiler}, std::move(notes));
}

struct NvrtcResult {
  std::string image, log;
};

Result<NvrtcResult> by_nvrtc(const NvrtcApi& api, const std::string& source, const std::string& name, const std::string& arch,
                             const CudaCompileOptions& o, bool ptx) {
  CudaHandle program = nullptr;
  if (const int status = api.create(&program, source.c_str(), name.c_str(), 0, nullptr, nullptr); status != 0)
    return refused("NVRTC", api.error_text(status));
  std::vector<std::string> flags = numeric_flags(o);
  flags.push_back("--gpu-architecture=" + arch);
  flags.push_back("--std=c++17");
  std::vector<const char*> arguments;
  for (const std::string& f : flags) arguments.push_back(f.c_str());
  const int status = api.compile(program, static_cast<int>(arguments.size()), arguments.data());
  NvrtcResult result;
  std::size_t size = 0;
  if (api.log_size(program, &size) == 0 && size > 1) {
    result.log.resize(size);
    api.log(program, result.log.data());
    result.log.resize(size - 1);
  }
  if (status == 0 && (ptx ? api.ptx_size : api.cubin_size)(program, &size) == 0) {
    result.image.resize(size);
    (ptx ? api.ptx : api.cubin)(program, result.image.data());
  }
  api.destroy(&program);
  if (status != 0) return refused("NVRTC", result.log.empty() ? api.error_text(status) : result.log);
  return result;
}

struct NvccResult {
  std::string image, log, path;
};

// Compiles `source` with the given output kind ("-cubin", "-ptx") and further flags.
Result<NvccResult> by_nvcc(const std::string& source, const std::string& arch, const CudaCompileOptions& o,
                           const std::string& kind, const std::vector<std::string>& more) {
  const std::string nvcc = o.nvcc.empty() ? find_cuda_tool("nvcc") : o.nvcc;
  if (nvcc.empty()) return diagnose(Code::kNoCudaCompiler, Place{}, {"nvcc is not found"});
  const TemporaryFolder folder;
  const std::string in = folder.path() + "/kernel.cu", out = folder.path() + "/kernel.out";
  std::ofstream(in) << source;
  std::vector<std::string> argv = {nvcc, "-std=c++17", "-DFACET_KERNELS_ONLY", "-arch=" + arch, kind, in, "-o", out};
  for (const std::string& f : numeric_flags(o)) argv.push_back(f);
  argv.insert(argv.end(), more.begin(), more.end());
  const ProcessResult run = run_process(argv, kCompileTimeoutS);
  if (!run.started || run.timed_out)
    return diagnose(Code::kProcessFailed, Place{}, {nvcc, run.timed_out ? "it did not end in time" : "it does not start"});
  if (run.status != 0) return refused(nvcc, run.output);
  std::ifstream file(out, std::ios::binary);
  std::stringstream image;
  image << file.rdbuf();
  return NvccResult{image.str(), run.output, nvcc};
}

}  // namespace

std::string find_cuda_tool(const std::string& name) {
  std::vector<std::string> folders;
  for (const char* variable : {"CUDA_HOME", "CUDA_PATH"})
    if (const char* home = std::getenv(variable)) folders.push_back(std::string(home) + "/bin");
  if (const char* path = std::getenv("PATH")) {
    std::istringstream parts(path);
    for (std::string part; std::getline(parts, part, ':');)
      if (!part.empty()) folders.push_back(part);
  }
  folders.push_back("/usr/local/cuda/bin");
  for (const std::string& folder : folders)
    if (const std::string file = folder + "/" + name; access(file.c_str(), X_OK) == 0) return file;
  return "";
}

Result<CudaBinary> compile_cuda(const std::string& source, const std::string& file_name, const CudaCompileOptions& options) {
  const Clock::time_point start = Clock::now();
  CudaBinary binary;
  if (options.compiler != CudaCompiler::kNvcc) {
    const Result<const NvrtcApi*> api = nvrtc_api();
    if (api) {
      Result<NvrtcResult> r = by_nvrtc(**api, source, file_name, options.arch, options, false);
      if (!r) return r.errors();
      int major = 0, minor = 0;
      (*api)->version(&major, &minor);
      binary = {std::move(r->image), "nvrtc " + std::to_string(major) + "." + std::to_string(minor), std::move(r->log),
                ms_since(start)};
      return binary;
    }
    if (options.compiler == CudaCompiler::kNvrtc) return api.errors();
  }
  Result<NvccResult> r = by_nvcc(source, options.arch, options, "-cubin", {});
  if (!r) return r.errors();
  binary = {std::move(r->image), "nvcc " + r->path, std::move(r->log), ms_since(start)};
  return binary;
}

Result<std::string> compile_ptx(const std::string& source, const std::string& file_name, const CudaCompileOptions& options) {
  std::string arch = options.arch;
  if (arch.rfind("sm_", 0) == 0) arch.replace(0, 2, "compute");
  if (const Result<const NvrtcApi*> api = nvrtc_api(); api && options.compiler != CudaCompiler::kNvcc) {
    Result<NvrtcResult> r = by_nvrtc(**api, source, file_name, arch, options, true);
    if (!r) return r.errors();
    while (!r->image.empty() && r->image.back() == '\0') r->image.pop_back();
    return std::move(r->image);
  }
  Result<NvccResult> r = by_nvcc(source, options.arch, options, "-ptx", {});
  if (!r) return r.errors();
  return std::move(r->image);
}

Result<std::string> disassemble(const std::string& cubin) {
  const TemporaryFolder folder;
  const std::string file = folder.path() + "/kernel.cubin";
  std::ofstream(file, std::ios::binary) << cubin;
  std::vector<std::string> argv;
  if (const std::string tool = find_cuda_tool("cuobjdump"); !tool.empty())
    argv = {tool, "--dump-sass", file};
  else if (const std::string other = find_cuda_tool("nvdisasm"); !other.empty())
    argv = {other, file};
  else
    return diagnose(Code::kNoCudaCompiler, Place{}, {"neither cuobjdump nor nvdisasm is found"});
  ProcessResult run = run_process(argv, kCompileTimeoutS, kMostDisassembly);
  if (!run.started || run.timed_out || run.status != 0) return diagnose(Code::kProcessFailed, Place{}, {argv[0], run.output});
  return std::move(run.output);
}

Result<std::vector<CudaResources>> cuda_resources(const std::string& source, const CudaCompileOptions& options) {
  Result<NvccResult> r = by_nvcc(source, options.arch, options, "-cubin", {"-Xptxas", "-v"});
  if (!r) return r.errors();
  return parse_ptxas(r->log);
}

namespace {

// The integer in front of `unit` in the line, 0 when it is not there.
std::int64_t number_before(const std::string& line, const std::string& unit) {
  const std::size_t end = line.find(unit);
  if (end == std::string::npos) return 0;
  std::size_t start = end;
  while (start > 0 && line[start - 1] >= '0' && line[start - 1] <= '9') --start;
  return start == end ? 0 : std::stoll(line.substr(start, end - start));
}

}  // namespace

std::vector<CudaResources> parse_ptxas(const std::string& log) {
  std::vector<CudaResources> kernels;
  std::istringstream lines(log);
  for (std::string line; std::getline(lines, line);) {
    const std::string mark = "Compiling entry function '";
    if (const std::size_t at = line.find(mark); at != std::string::npos) {
      const std::size_t start = at + mark.size();
      kernels.emplace_back();
      kernels.back().kernel = line.substr(start, line.find('\'', start) - start);
    }
    if (kernels.empty()) continue;
    CudaResources& k = kernels.back();
    if (line.find("bytes stack frame") != std::string::npos) {
      k.stack_bytes = number_before(line, " bytes stack frame");
      k.spill_store_bytes = number_before(line, " bytes spill stores");
      k.spill_load_bytes = number_before(line, " bytes spill loads");
    }
    if (line.find(" registers") != std::string::npos && line.find("Used ") != std::string::npos) {
      k.registers = static_cast<int>(number_before(line, " registers"));
      k.shared_bytes = number_before(line, " bytes smem");
    }
  }
  return kernels;
}

}  // namespace facet
