// The binary utilities of the CUDA toolkit, as outside processes.
#include "codegen/cuda/assemble.hpp"

#include <fstream>
#include <sstream>

#include "codegen/cuda/compile.hpp"
#include "codegen/temporary.hpp"
#include "codegen/process.hpp"

namespace facet {

namespace {

constexpr double kTimeoutS = 300;
constexpr std::size_t kMostDisassembly = std::size_t{64} << 20;

// The integer in front of `unit` in the line, 0 when it is not there.
std::int64_t number_before(const std::string& line, const std::string& unit) {
  const std::size_t end = line.find(unit);
  if (end == std::string::npos) return 0;
  std::size_t start = end;
  while (start > 0 && line[start - 1] >= '0' && line[start - 1] <= '9') --start;
  return start == end ? 0 : std::stoll(line.substr(start, end - start));
}

}  // namespace

Result<CudaAssembly> assemble_ptx(const std::string& ptx, const std::string& arch) {
  const std::string tool = find_cuda_tool("ptxas");
  if (tool.empty())
    return diagnose(Code::kNoCudaCompiler, Place{}, {"ptxas is not found"}, {"install the CUDA toolkit, or set CUDA_HOME"});
  const TemporaryFolder folder;
  const std::string in = folder.path() + "/kernel.ptx", out = folder.path() + "/kernel.cubin";
  std::ofstream(in, std::ios::binary) << ptx;
  const ProcessResult run = run_process({tool, "-v", "-arch=" + arch, in, "-o", out}, kTimeoutS);
  if (!run.started || run.timed_out || run.status != 0) return diagnose(Code::kProcessFailed, Place{}, {tool, run.output});
  std::ifstream file(out, std::ios::binary);
  std::stringstream cubin;
  cubin << file.rdbuf();
  return CudaAssembly{cubin.str(), parse_ptxas(run.output)};
}

Result<std::string> disassemble(const std::string& cubin) {
  const TemporaryFolder folder;
  const std::string file = folder.path() + "/kernel.cubin";
  std::ofstream(file, std::ios::binary) << cubin;
  const std::string tool = find_cuda_tool("nvdisasm");
  if (tool.empty())
    return diagnose(Code::kNoCudaCompiler, Place{}, {"nvdisasm is not found"},
                    {"it is a part of the CUDA toolkit (the package cuda-nvdisasm); CUDA_HOME may name its folder"});
  ProcessResult run = run_process({tool, file}, kTimeoutS, kMostDisassembly);
  if (!run.started || run.timed_out || run.status != 0) return diagnose(Code::kProcessFailed, Place{}, {tool, run.output});
  return std::move(run.output);
}

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
