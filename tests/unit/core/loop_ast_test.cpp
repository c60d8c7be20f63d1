// The text of loop trees shows everything a reader or a test needs to see.
#include "facet/loop_ast.hpp"

#include <gtest/gtest.h>

namespace facet {
namespace {

TEST(LoopAstText, ShowsKindsWidthsMasksAndUpdates) {
  Store store;
  store.statement = "h0";
  store.buffer = "h0";
  store.subscripts = {index("i"), index("j")};
  store.value = binary(Op::kMul, read("a", DType::kF32, {index("i")}), read("b", DType::kF32, {index("j")}));
  store.update = ReduceKind::kSum;
  store.lanes = 16;
  For inner{"j", idx(0), index("N"), 16, LoopKind::kSerial, 0, 1, {}, {make_loop(store)}, "lanes", ""};
  For outer{"i", idx(0), index("M"), 1, LoopKind::kParallel, 0, 2, {}, {make_loop(inner)}, "", "h0.i"};
  EXPECT_EQ(to_text(LoopList{make_loop(outer)}),
            "for i in 0..M parallel collapse(2)  # h0.i\n"
            "  for j in 0..N step 16  # lanes\n"
            "    h0[i, j]:16 sum= a[i] * b[j]  # h0\n");
}

TEST(LoopAstText, IfLetSetAllocateBarrier) {
  Buffer tile{"tile", DType::kF32, {idx(4), idx(8)}, {}, MemorySpace::kShared, BufferRole::kLocal, 64, "copy of a"};
  If guard{binary(Op::kLt, index("i"), index("N")),
           {make_loop(Set{"acc", literal(DType::kF32, 1)})},
           {make_loop(Comment{"none"})},
           true};
  const LoopList body = {make_loop(Allocate{tile}), make_loop(Let{"acc", DType::kF32, 8, nullptr, true}), make_loop(guard),
                         make_loop(Barrier{Scope::kBlock, "copy -> h0"})};
  EXPECT_EQ(to_text(body),
            "allocate tile: f32[4, 8] shared  # copy of a\n"
            "var acc: f32x8\n"
            "if i < N  # tail\n"
            "  acc = 1.0\n"
            "else\n"
            "  # none\n"
            "barrier block  # copy -> h0\n");
}

TEST(LoopProgram, FindsBuffersByNameOnly) {
  LoopProgram p;
  p.buffers.push_back(Buffer{"x", DType::kF32, {}, {}, MemorySpace::kGlobal, BufferRole::kInput, 64, ""});
  ASSERT_NE(p.find_buffer("x"), nullptr);
  EXPECT_EQ(p.find_buffer("y"), nullptr);
}

}  // namespace
}  // namespace facet
