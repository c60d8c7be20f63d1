// CUDA C++ of hand-written trees: the lines that matter, and real compilers on the whole text where they are installed.
#include "codegen/cuda/print.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "codegen/cuda/assemble.hpp"
#include "codegen/cuda/compile.hpp"
#include "codegen/temporary.hpp"
#include "codegen/process.hpp"
#include "support/gpu_trees.hpp"

namespace facet::testing {
namespace {

CudaModule printed(const LoopProgram& p, const CudaPrintOptions& options = {}) {
  const Result<CudaModule> m = print_cuda(p, options);
  EXPECT_TRUE(m.ok()) << (m.ok() ? "" : to_text(m.errors()));
  return m.ok() ? *m : CudaModule{};
}

// The lines occur in this order.
void expect_lines(const std::string& text, const std::vector<std::string>& lines) {
  std::size_t at = 0;
  for (const std::string& line : lines) {
    const std::size_t found = text.find(line, at);
    ASSERT_NE(found, std::string::npos) << "missing: " << line << "\nin\n" << text;
    at = found + line.size();
  }
}

LoopProgram block_sum() {
  return in_block({mutable_value("s"), collective("s", get("x", {global_index()}), Scope::kBlock, 32), mutable_value("w"),
                   collective("w", get("x", {global_index()}), Scope::kWarp, 8, ReduceKind::kMax),
                   put("y", {global_index()}, binary(Op::kAdd, value_of("s", DType::kF32), value_of("w", DType::kF32)))});
}

LoopProgram big_shared(std::int64_t elements) {
  return in_block({local("tile", {idx(elements)}, MemorySpace::kShared), put("tile", {ix("t")}, get("x", {global_index()})),
                   barrier("tile -> y"), put("y", {global_index()}, get("tile", {idx_sub(idx(63), ix("t"))}))});
}

TEST(PrintCuda, TransposeHasLaunchTileAndCommentedBarriers) {
  const CudaModule m = printed(transpose(true, true));
  expect_lines(
      m.module.source.text,
      {"extern \"C\" __global__ void __launch_bounds__(64) facet_test_k0(const float* __restrict__ x, float* __restrict__ y, const int64_t M, const int64_t N) {",
       "const int64_t bt = (int64_t)blockIdx.y;", "const int64_t jt = (int64_t)blockIdx.x;", "__shared__ float tile[64];",
       "__syncthreads();  // copy of x -> y", "__syncthreads();  // y -> next copy of x", "facet_test_k0<<<dim3(",
       "cudaGetLastError() == cudaSuccess"});
  ASSERT_EQ(m.kernels.size(), 1u);
  EXPECT_EQ(m.kernels[0].block, (std::array<std::int64_t, 3>{8, 8, 1}));
  EXPECT_EQ(evaluate_index(m.kernels[0].grid[0], {{"M", 20}, {"N", 13}}), 2);
  EXPECT_EQ(m.kernels[0].buffers, (std::vector<std::string>{"x", "y"}));
  EXPECT_EQ(m.kernels[0].symbols, (std::vector<std::string>{"M", "N"}));
  EXPECT_NE(m.module.header.text.find("int facet_test_run(const facet_test_args* args, void* workspace, cudaStream_t stream);"),
            std::string::npos);
}

TEST(PrintCuda, SharedMemoryPastTheStaticLimitIsDynamicAndPastTheDeviceRefused) {
  const CudaModule small = printed(big_shared(12288));
  EXPECT_EQ(small.kernels[0].shared_bytes, 0);
  const CudaModule large = printed(big_shared(12289));
  EXPECT_EQ(large.kernels[0].shared_bytes, 49168);
  expect_lines(large.module.source.text, {"extern __shared__", "float* const tile = (float*)(shared_memory + 0);",
                                          "cudaFuncAttributeMaxDynamicSharedMemorySize, 49168"});
  const Result<CudaModule> huge = print_cuda(big_shared(60000));
  ASSERT_FALSE(huge.ok());
  EXPECT_EQ(huge.errors()[0].code, Code::kGpuLaunch);
}

TEST(PrintCuda, HostileNamesAreRenamed) {
  const LoopProgram p = program_of(
      {buffer("threadIdx", {ix("float")}, BufferRole::kInput), buffer("stream", {ix("float")}, BufferRole::kOutput)},
      {loop("blockIdx", ix("float"), {put("stream", {ix("blockIdx")}, get("threadIdx", {ix("blockIdx")}))}, LoopKind::kBlockX)},
      {symbol("float", 0, 100, 3)});
  const std::string text = printed(p).module.source.text;
  EXPECT_EQ(text.find("float* __restrict__ stream,"), std::string::npos);
  EXPECT_EQ(text.find("__restrict__ threadIdx,"), std::string::npos);
}

TEST(PrintCuda, EmbeddedConstantsAreNoArguments) {
  LoopProgram p = program_of({buffer("w", {idx(3)}, BufferRole::kWeight), buffer("y", {idx(3)}, BufferRole::kOutput)},
                             {loop("i", idx(3), {put("y", {ix("i")}, get("w", {ix("i")}))}, LoopKind::kThreadX)});
  CudaPrintOptions o;
  HostTensor w = make_host_tensor(DType::kF32, {3});
  for (int i = 0; i < 3; ++i) w.set(i, 0.5 + i);
  o.constants["w"] = w;
  const CudaModule m = printed(p, o);
  expect_lines(m.module.source.text,
               {"static __device__ const float w_data[3] = {", "0.5f, 1.5f, 2.5f,", "const float* const w = w_data;"});
  EXPECT_EQ(m.kernels[0].buffers, (std::vector<std::string>{"y"}));
  ASSERT_EQ(m.module.arguments.size(), 1u);
}

TEST(PrintCuda, CollectivesInCrookedBlocksAreRefused) {
  const LoopProgram p = in_block({mutable_value("s"), collective("s", get("x", {global_index()}), Scope::kBlock, 32),
                                  put("y", {global_index()}, value_of("s", DType::kF32))},
                                 48);
  EXPECT_FALSE(print_cuda(p).ok());
}

std::vector<LoopProgram> all_programs() { return {transpose(true, true), block_sum(), big_shared(20000), every_function()}; }

// nvcc, NVRTC and clang accept every program without a warning.
TEST(CompileCuda, Nvcc) {
  const std::string nvcc = find_cuda_tool("nvcc");
  if (nvcc.empty()) GTEST_SKIP() << "nvcc is not installed";
  const TemporaryFolder folder;
  for (const LoopProgram& p : {big_shared(20000), every_function()}) {  // the rest: NVRTC, which is ten times faster
    const CudaModule m = printed(p);
    std::ofstream(folder.path() + "/" + m.module.source.name) << m.module.source.text;
    std::ofstream(folder.path() + "/" + m.module.header.name) << m.module.header.text;
    const ProcessResult r = run_process(
        {nvcc, "-std=c++17", "-gencode=arch=compute_80,code=sm_80", "-gencode=arch=compute_90,code=sm_90", "-Xcompiler",
         "-Wall,-Wextra", "-c", folder.path() + "/" + m.module.source.name, "-o", folder.path() + "/out.o"},
        300);
    EXPECT_EQ(r.status, 0) << r.output;
    EXPECT_EQ(r.output, "");
  }
}

TEST(CompileCuda, Nvrtc) {
  for (const LoopProgram& p : all_programs()) {
    CudaCompileOptions o;
    o.compiler = CudaCompiler::kNvrtc;
    const CudaModule m = printed(p);
    const Result<CudaBinary> b = compile_cuda(m.module.source.text, m.module.source.name, o);
    if (!b && b.errors()[0].code == Code::kNoCudaCompiler) GTEST_SKIP() << "NVRTC is not installed";
    ASSERT_TRUE(b.ok()) << to_text(b.errors());
    EXPECT_EQ(b->log, "");
    EXPECT_GT(b->cubin.size(), 100u);
  }
}

TEST(CompileCuda, ClangToPtx) {
  const TemporaryFolder folder;
  for (const LoopProgram& p : all_programs()) {
    const CudaModule m = printed(p);
    const std::string file = folder.path() + "/" + m.module.source.name;
    std::ofstream(file) << m.module.source.text;
    const ProcessResult r =
        run_process({"clang++-19", "-x", "cuda", "-std=c++17", "--cuda-gpu-arch=sm_90", "--cuda-device-only", "-nocudainc",
                     "-nocudalib", "-Wall", "-Wno-unknown-cuda-version", "-O2", "-S", file, "-o", folder.path() + "/out.ptx"},
                    300);
    if (!r.started || r.status == 127) GTEST_SKIP() << "clang++-19 is not installed";
    EXPECT_EQ(r.status, 0) << r.output;
    EXPECT_EQ(r.output, "");
    EXPECT_TRUE(std::filesystem::exists(folder.path() + "/out.ptx"));
  }
}

TEST(CompileCuda, ResourceReport) {
  if (find_cuda_tool("ptxas").empty()) GTEST_SKIP() << "ptxas is not installed";
  const CudaModule m = printed(transpose(true, true));
  const Result<CudaPtx> ptx = compile_ptx(m.module.source.text, m.module.source.name, {});
  ASSERT_TRUE(ptx.ok()) << to_text(ptx.errors());
  const Result<CudaAssembly> assembly = assemble_ptx(ptx->text, "sm_90");
  ASSERT_TRUE(assembly.ok()) << to_text(assembly.errors());
  EXPECT_GT(assembly->cubin.size(), 100u);
  const std::vector<CudaResources>* r = &assembly->resources;
  ASSERT_EQ(r->size(), 1u);
  EXPECT_EQ((*r)[0].kernel, "facet_test_k0");
  EXPECT_GT((*r)[0].registers, 4);
  EXPECT_EQ((*r)[0].shared_bytes, 256);
  EXPECT_EQ((*r)[0].spill_store_bytes, 0);
}

TEST(CompileCuda, PtxasReportIsParsed) {
  const std::vector<CudaResources> r = parse_ptxas(
      "ptxas info    : Compiling entry function 'k' for 'sm_90'\nptxas info    : Function properties for k\n    24 bytes stack frame, 16 bytes spill stores, 8 bytes spill loads\n"
      "ptxas info    : Used 40 registers, used 1 barriers, 24 bytes cumulative stack size, 512 bytes smem, 400 bytes cmem[0]\n");
  ASSERT_EQ(r.size(), 1u);
  EXPECT_EQ(r[0].registers, 40);
  EXPECT_EQ(r[0].shared_bytes, 512);
  EXPECT_EQ(r[0].stack_bytes, 24);
  EXPECT_EQ(r[0].spill_store_bytes, 16);
  EXPECT_EQ(r[0].spill_load_bytes, 8);
}

TEST(CompileCuda, BrokenSourceGivesTheCompilersLines) {
  const Result<CudaBinary> b = compile_cuda("this is no program", "x.cu", {});
  ASSERT_FALSE(b.ok());
  if (b.errors()[0].code == Code::kNoCudaCompiler) GTEST_SKIP();
  EXPECT_EQ(b.errors()[0].code, Code::kCudaCompile);
  EXPECT_FALSE(b.errors()[0].notes.empty());
}

}  // namespace
}  // namespace facet::testing
