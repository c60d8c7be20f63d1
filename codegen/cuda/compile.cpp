// NVRTC first (no process, no files, about half a second), nvcc as the fallback; clang to PTX where neither is there.
#include "codegen/cuda/compile.hpp"

#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include "codegen/cuda/assemble.hpp"
#include "codegen/cuda/driver_api.hpp"
#include "codegen/temporary.hpp"
#include "codegen/process.hpp"

namespace facet {

namespace {

constexpr double kCompileTimeoutS = 300;

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

constexpr const char* kWayOut =
    "install the CUDA toolkit, or clang-19 for PTX alone; `facet doctor` lists what this machine has";

// Runs a compiler on `source` in a folder of its own: `argv`, then the source's and the output's name.
Result<std::string> by_process(std::vector<std::string> argv, const std::string& source, std::string* log) {
  const TemporaryFolder folder;
  const std::string in = folder.path() + "/kernel.cu", out = folder.path() + "/kernel.out";
  std::ofstream(in) << source;
  argv.insert(argv.end(), {in, "-o", out});
  const ProcessResult run = run_process(argv, kCompileTimeoutS);
  if (!run.started || run.status == 127)
    return diagnose(Code::kNoCudaCompiler, Place{}, {argv[0] + " does not start"}, {kWayOut});
  if (run.timed_out) return diagnose(Code::kProcessFailed, Place{}, {argv[0], "it did not end in time"});
  if (run.status != 0) return refused(argv[0], run.output);
  std::ifstream file(out, std::ios::binary);
  std::stringstream image;
  image << file.rdbuf();
  *log = run.output;
  return image.str();
}

// The first of the names that is somewhere; fails with kNoCudaCompiler.
Result<std::string> command_of(const CudaCompileOptions& o, const std::vector<std::string>& names) {
  if (!o.command.empty()) return o.command;
  for (const std::string& name : names)
    if (const std::string file = find_cuda_tool(name); !file.empty()) return file;
  return diagnose(Code::kNoCudaCompiler, Place{}, {names[0] + " is not found"}, {kWayOut});
}

struct OutsideResult {
  std::string image, log, compiler;
};

// `kind`: "-cubin" or "-ptx".
Result<OutsideResult> by_nvcc(const std::string& source, const CudaCompileOptions& o, const std::string& kind) {
  const Result<std::string> nvcc = command_of(o, {"nvcc"});
  if (!nvcc) return nvcc.errors();
  std::vector<std::string> argv = {*nvcc, "-std=c++17", "-DFACET_KERNELS_ONLY", "-arch=" + o.arch, kind};
  for (const std::string& f : numeric_flags(o)) argv.push_back(f);
  OutsideResult result;
  Result<std::string> image = by_process(std::move(argv), source, &result.log);
  if (!image) return image.errors();
  result.image = std::move(*image);
  result.compiler = "nvcc " + *nvcc;
  return result;
}

// PTX alone; clang's own headers for the device are not used, so no CUDA installation is asked for.
Result<OutsideResult> by_clang(const std::string& source, const CudaCompileOptions& o) {
  const Result<std::string> clang = command_of(o, {"clang++-19", "clang++"});
  if (!clang) return clang.errors();
  std::vector<std::string> argv = {*clang, "-x", "cuda", "-std=c++17", "-DFACET_KERNELS_ONLY", "--cuda-gpu-arch=" + o.arch};
  argv.insert(argv.end(), {"--cuda-device-only", "-nocudainc", "-nocudalib", "-O3", "-S", "-Wno-unknown-cuda-version"});
  argv.push_back("-Wno-pass-failed");  // a pragma unroll is a wish: clang does not unroll around barriers and says so
  argv.push_back(o.contract ? "-ffp-contract=fast" : "-ffp-contract=off");
  if (o.flush_denormals) argv.push_back("-fgpu-flush-denormals-to-zero");
  OutsideResult result;
  Result<std::string> image = by_process(std::move(argv), source, &result.log);
  if (!image) return image.errors();
  result.image = std::move(*image);
  result.compiler = "clang " + *clang;
  return result;
}

std::string nvrtc_name(const NvrtcApi& api) {
  int major = 0, minor = 0;
  api.version(&major, &minor);
  return "nvrtc " + std::to_string(major) + "." + std::to_string(minor);
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

Result<CudaCompileOptions> cuda_compiler(const std::string& text) {
  CudaCompileOptions options;
  if (text.empty()) return options;
  const std::string last = text.substr(text.rfind('/') == std::string::npos ? 0 : text.rfind('/') + 1);
  options.compiler = last == "nvrtc"               ? CudaCompiler::kNvrtc
                     : last.rfind("nvcc", 0) == 0  ? CudaCompiler::kNvcc
                     : last.rfind("clang", 0) == 0 ? CudaCompiler::kClang
                                                   : CudaCompiler::kAny;
  if (options.compiler == CudaCompiler::kAny)
    return diagnose(Code::kBadCommandLine, Place{},
                    {"--compiler takes nvrtc, nvcc or clang++ for the target cuda, found \"" + text + "\""});
  if (options.compiler != CudaCompiler::kNvrtc && text != "nvcc") options.command = text;
  return options;
}

Result<CudaBinary> compile_cuda(const std::string& source, const std::string& file_name, const CudaCompileOptions& options) {
  const Clock::time_point start = Clock::now();
  if (options.compiler == CudaCompiler::kClang) {
    const Result<OutsideResult> ptx = by_clang(source, options);
    if (!ptx) return ptx.errors();
    Result<CudaAssembly> assembly = assemble_ptx(ptx->image, options.arch);
    if (!assembly) return assembly.errors();
    return CudaBinary{std::move(assembly->cubin), ptx->compiler, ptx->log, ms_since(start)};
  }
  if (options.compiler != CudaCompiler::kNvcc) {
    const Result<const NvrtcApi*> api = nvrtc_api();
    if (api) {
      Result<NvrtcResult> r = by_nvrtc(**api, source, file_name, options.arch, options, false);
      if (!r) return r.errors();
      return CudaBinary{std::move(r->image), nvrtc_name(**api), std::move(r->log), ms_since(start)};
    }
    if (options.compiler == CudaCompiler::kNvrtc) return api.errors();
  }
  Result<OutsideResult> r = by_nvcc(source, options, "-cubin");
  if (!r) return r.errors();
  return CudaBinary{std::move(r->image), std::move(r->compiler), std::move(r->log), ms_since(start)};
}

Result<CudaPtx> compile_ptx(const std::string& source, const std::string& file_name, const CudaCompileOptions& options) {
  const bool any = options.compiler == CudaCompiler::kAny;
  if (any || options.compiler == CudaCompiler::kNvrtc) {
    const Result<const NvrtcApi*> api = nvrtc_api();
    if (!api && !any) return api.errors();
    if (api) {
      std::string arch = options.arch;
      if (arch.rfind("sm_", 0) == 0) arch.replace(0, 2, "compute");
      Result<NvrtcResult> r = by_nvrtc(**api, source, file_name, arch, options, true);
      if (!r) return r.errors();
      while (!r->image.empty() && r->image.back() == '\0') r->image.pop_back();
      return CudaPtx{std::move(r->image), nvrtc_name(**api)};
    }
  }
  const bool nvcc = options.compiler == CudaCompiler::kNvcc || (any && !find_cuda_tool("nvcc").empty());
  Result<OutsideResult> r = nvcc ? by_nvcc(source, options, "-ptx") : by_clang(source, options);
  if (!r) return r.errors();
  return CudaPtx{std::move(r->image), std::move(r->compiler)};
}

}  // namespace facet
