// Loops, vectors and spills read from assembly as Clang and g++ write it.
#include "codegen/openmp/object_code.hpp"

#include <gtest/gtest.h>

namespace facet {
namespace {

Module module_of(const std::vector<std::string>& functions) {
  Module m;
  m.name = "p";
  for (const std::string& f : functions) {
    KernelInfo k;
    k.name = k.function = f;
    m.kernels.push_back(k);
  }
  return m;
}

std::string function(const std::string& name, const std::string& body) {
  return "\t.type\t" + name + ",@function\n" + name + ":\n\t.cfi_startproc\n" + body + "\tretq\n\t.size\t" + name + ", .-" +
         name + "\n";
}

const char* const kSpilling =
    "# %bb.0:\n"
    "\tvmovups\t%zmm3, 64(%rsp)                # 64-byte Spill\n"  // outside the loops
    ".LBB0_1:\n"
    "\tmovq\t%rax, 8(%rsp)                     # 8-byte Spill\n"  // no vector
    ".LBB0_2:\n"
    "\tvfmadd231ps\t64(%rsp), %zmm1, %zmm2     # 64-byte Folded Reload\n"
    "\tvmovups\t%ymm2, 128(%rsp)               # 32-byte Spill\n"
    "\tvmovups\t%ymm2, 256(%rsp)\n"  // an array of the kernel's own
    "\tjne\t.LBB0_2\n"
    "\tjl\t.LBB0_1\n";

TEST(ObjectCode, SpillsOfClangAreThoseItMarks) {
  const auto codes = object_code(module_of({"k0_y"}), function("_ZN12_GLOBAL__N_14k0_yEPKfPf.omp_outlined", kSpilling));
  ASSERT_TRUE(codes[0]);
  EXPECT_EQ(codes[0]->loops, 1) << "the loop around is not innermost";
  EXPECT_EQ(codes[0]->vector_loops, 1);
  EXPECT_EQ(codes[0]->vector_bytes, 64);
  EXPECT_EQ(codes[0]->spill_store_bytes, 32);
  EXPECT_EQ(codes[0]->spill_load_bytes, 64);
  EXPECT_EQ(to_text(*codes[0]), "512-bit vectors in 1 of 1 innermost loops, 32 bytes of spill stores, 64 of loads");
}

TEST(ObjectCode, SpillsOfGccAreStoredAndLoadedAtOnePlace) {
  const std::string body =
      ".L3:\n"
      "\tvmovaps\t%ymm1, -72(%rbp)\n"
      "\tvaddps\t-72(%rbp), %ymm2, %ymm3\n"
      "\tvmovaps\t%ymm3, 40(%rsp,%rax,4)\n"  // an array
      "\tvmovaps\t%ymm3, -200(%rbp)\n"       // stored only
      "\tcmpq\t%rax, %rdx\n"
      "\tjne\t.L3\n";
  const auto codes =
      object_code(module_of({"k0_y"}), function("_ZN12_GLOBAL__N_14k0_yEPKfPf._omp_fn.0", body) + "\tmovq %rsp, %rbp\n");
  ASSERT_TRUE(codes[0]);
  EXPECT_EQ(codes[0]->spill_store_bytes, 32);
  EXPECT_EQ(codes[0]->spill_load_bytes, 32);
}

TEST(ObjectCode, ScalarsInVectorRegistersAreNoVectors) {
  const std::string body =
      "# %bb.0:\n.LBB0_1:\n\tvxorps\t%xmm0, %xmm0, %xmm0\n\tvaddss\t(%rdi), %xmm1, %xmm1\n\tvmovss\t%xmm1, (%rsi)\n"
      "\tvmovaps\t%xmm1, %xmm2\n\tvfmadd213sd\t(%rdi), %xmm1, %xmm2\n\tjne\t.LBB0_1\n";
  const auto codes = object_code(module_of({"k0_y"}), function("_ZN12_GLOBAL__N_14k0_yEPKfPf", body));
  ASSERT_TRUE(codes[0]);
  EXPECT_EQ(codes[0]->vector_loops, 0);
  EXPECT_EQ(codes[0]->vector_bytes, 0);
  EXPECT_EQ(to_text(*codes[0]), "1 innermost loops, scalar, no spills");
}

TEST(ObjectCode, ThePackedFormsOfSmallRegistersAre) {
  for (const char* line :
       {"vaddps\t%xmm0, %xmm1, %xmm1", "paddd\t%xmm0, %xmm1", "movups\t%xmm1, (%rdi)", "vfmadd231pd\t%xmm0, %xmm1, %xmm2"}) {
    const std::string body = std::string("# %bb.0:\n.LBB0_1:\n\t") + line + "\n\tmovq\t%rdi, %rax\n\tjne\t.LBB0_1\n";
    const auto codes = object_code(module_of({"k0_y"}), function("_ZN12_GLOBAL__N_14k0_yEPKfPf", body));
    ASSERT_TRUE(codes[0]) << line;
    EXPECT_EQ(codes[0]->vector_bytes, 16) << line;
  }
}

TEST(ObjectCode, AKernelThatWasInlinedIsFoundWhereItIsAlone) {
  const std::string vectors = "# %bb.0:\n.LBB0_1:\n\tvaddps\t(%rdi), %ymm1, %ymm1\n\tjne\t.LBB0_1\n";
  const std::string text = function("_ZN12_GLOBAL__N_14k0_yEPKfPf", "# %bb.0:\n") + function("facet_p_run", vectors);
  const auto one = object_code(module_of({"k0_y", "k1_z"}), text);
  ASSERT_TRUE(one[0] && one[1]);
  EXPECT_EQ(one[0]->loops, 0);
  EXPECT_EQ(one[1]->vector_bytes, 32);
  const auto two = object_code(module_of({"k0_y", "k1_z", "k2_w"}), text);
  EXPECT_TRUE(two[0]);
  EXPECT_FALSE(two[1] || two[2]) << "whose loop it is cannot be told";
}

TEST(ObjectCode, NothingIsReadFromOtherProcessors) {
  EXPECT_FALSE(object_code(module_of({"k0_y"}), function("_ZN12_GLOBAL__N_14k0_yEPKfPf", "\tfmla\tv0.4s, v1.4s, v2.4s\n"))[0]);
}

}  // namespace
}  // namespace facet
