// Sharing of workspace: who may share, who may not, and what that saves.
#include "codegen/arena.hpp"

#include "support.hpp"

namespace facet {
namespace {

using test::buffer;
using test::loop;
using test::store;

// Kernel k: to[i] = from[i] + 1 over N elements.
Kernel step(const std::string& name, const std::string& from, const std::string& to) {
  Kernel k;
  k.name = name;
  k.body = {
      loop("i", idx(0), index("N"),
           {store(to, {index("i")}, binary(Op::kAdd, read(from, DType::kF32, {index("i")}), literal(DType::kF32, 1.0)))})};
  return k;
}

LoopProgram chain() {
  LoopProgram p;
  p.name = "chain";
  p.symbols = {{"N", 0, 1000, 100, {}}};
  p.inputs = {"x"};
  p.outputs = {"y"};
  p.buffers = {buffer("x", DType::kF32, {index("N")}, BufferRole::kInput),
               buffer("y", DType::kF32, {index("N")}, BufferRole::kOutput)};
  for (const char* name : {"a", "b", "c", "d"})
    p.buffers.push_back(buffer(name, DType::kF32, {index("N")}, BufferRole::kWorkspace));
  p.kernels = {step("k0", "x", "a"), step("k1", "a", "b"), step("k2", "b", "c"), step("k3", "c", "d"), step("k4", "d", "y")};
  return p;
}

std::vector<const Buffer*> workspace_of(const LoopProgram& p) {
  std::vector<const Buffer*> list;
  for (const Buffer& b : p.buffers)
    if (b.role == BufferRole::kWorkspace) list.push_back(&b);
  return list;
}

TEST(Arena, AChainNeedsTwoArrays) {
  const LoopProgram p = chain();
  const ArenaSlots expected = {{0, 2}, {1, 3}};
  EXPECT_EQ(plan_arena(p, workspace_of(p)), expected);
  EXPECT_EQ(arena_bytes(p, {{"N", 100}}), 2 * 400);
  EXPECT_EQ(arena_bytes(p, {{"N", 0}}), 0);
}

TEST(Arena, WhatIsReadLateIsNotOverwritten) {
  LoopProgram p = chain();
  p.kernels.push_back(step("k5", "a", "y"));
  const ArenaSlots expected = {{0}, {1, 3}, {2}};
  EXPECT_EQ(plan_arena(p, workspace_of(p)), expected);
}

TEST(Arena, ArraysOfAHostLoopLiveThroughIt) {
  LoopProgram p = chain();
  For t;
  t.iterator = "t";
  t.lower = idx(0);
  t.upper = idx(3);
  for (const std::size_t k : {1, 2, 3}) p.kernels[k].host = {t};
  EXPECT_EQ(plan_arena(p, workspace_of(p)).size(), 4u);
}

TEST(Arena, PreparedArraysStay) {
  LoopProgram p = chain();
  p.prepare = {step("p0", "x", "b")};
  p.kernels[1] = step("k1", "a", "c");
  p.kernels[2] = step("k2", "b", "c");
  for (const std::vector<std::size_t>& slot : plan_arena(p, workspace_of(p)))
    EXPECT_TRUE(slot.size() == 1u || !std::count(slot.begin(), slot.end(), 1u));
}

// The kernels give the right result in the shared workspace, and the interface asks for no more than it needs.
TEST(Arena, SharedMemoryIsRight) {
  const LoopProgram p = chain();
  const Result<Module> module = print_openmp(p, {});
  ASSERT_TRUE(module) << to_text(module.errors());
  EXPECT_NE(module->source.text.find("largest"), std::string::npos);
  CompileOptions how;
  how.flags = host_flags(openmp_flags({}), "");
  const Result<CompiledModule> library = compile_module(*module, how);
  if (!library && library.errors()[0].code == Code::kCompilerMissing) GTEST_SKIP() << "no compiler";
  ASSERT_TRUE(library) << to_text(library.errors());
  Result<OpenmpRunner> runner = OpenmpRunner::load(*module, library->path);
  ASSERT_TRUE(runner) << to_text(runner.errors());
  HostTensors tensors;
  tensors["x"] = make_host_tensor(DType::kF32, {100});
  for (int i = 0; i < 100; ++i) tensors["x"].set(i, i);
  ASSERT_TRUE(runner->bind({{"N", 100}}, &tensors));
  EXPECT_LE(runner->workspace_bytes(), 2 * (400 + 64) + 64);
  ASSERT_TRUE(runner->run());
  for (int i = 0; i < 100; ++i) EXPECT_EQ(tensors.at("y").get(i), i + 5);
}

}  // namespace
}  // namespace facet
