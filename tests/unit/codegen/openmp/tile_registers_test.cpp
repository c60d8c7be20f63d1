// Which loads are kept in registers, and that both compilers take them.
#include "codegen/openmp/tile_registers.hpp"

#include "tests/unit/codegen/support.hpp"

namespace facet::test {
namespace {

ExprPtr vector_read(const std::string& name, std::vector<ExprPtr> s, int lanes, DType type) {
  return with_lanes(read(name, type, std::move(s)), lanes);
}

// sum += t[k, 0..lanes]; the sum starts outside of the loop, or inside where it is not `carried`.
LoopProgram sums(int lanes, bool carried, DType type = DType::kF32) {
  const LoopPtr start = make_loop(Let{"sum", type, lanes, vector_read("x", {idx(0), idx(0)}, lanes, type), true});
  LoopList inside{
      make_loop(Let{"v", type, lanes, vector_read("x", {index("k"), idx(0)}, lanes, type)}),
      make_loop(Set{"sum", with_lanes(binary(Op::kAdd, value_of("v", type, lanes), value_of("sum", type, lanes)), lanes)})};
  if (!carried) inside.insert(inside.begin(), start);
  LoopList body =
      carried ? LoopList{start, loop("k", idx(0), idx(9), inside), store("y", {idx(0)}, value_of("sum", type, lanes), lanes)}
              : LoopList{loop("k", idx(0), idx(9), inside)};
  return program(
      "p", {buffer("x", type, {idx(9), idx(lanes)}, BufferRole::kInput), buffer("y", type, {idx(lanes)}, BufferRole::kOutput)},
      body);
}

std::set<std::string> kept(const LoopProgram& p) { return tile_registers(p.kernels[0].body).loads; }

TEST(TileRegisters, VectorsThatLoopsSumUp) {
  EXPECT_EQ(kept(sums(8, true)), std::set<std::string>{"v"});
  EXPECT_EQ(kept(sums(4, true, DType::kF64)), std::set<std::string>{"v"});
  EXPECT_TRUE(kept(sums(8, false)).empty()) << "nothing is carried from iteration to iteration";
  EXPECT_TRUE(kept(sums(1, true)).empty()) << "scalars";
  EXPECT_TRUE(kept(sums(8, true, DType::kI32)).empty()) << "integers";
}

// Vectors wider than the processor's registers have no one register to stay in.
TEST(TileRegisters, CompilesAndSumsForEveryWidth) {
  for (const std::string& compiler : compilers())
    for (const char* march : {"x86-64", "x86-64-v3", "native"})
      for (const int lanes : {2, 4, 8, 16, 32}) {
        const LoopProgram p = sums(lanes, true);
        std::vector<double> values;
        for (int v = 0; v < 9 * lanes; ++v) values.push_back(v);
        HostTensors t = {{"x", tensor(DType::kF32, {9, lanes}, values)}, {"y", tensor(DType::kF32, {lanes}, {-1})}};
        run(p, compiler, &t, {}, {}, march);
        for (int l = 0; l < lanes; ++l) ASSERT_EQ(t["y"].get(l), 36 * lanes + 10 * l) << compiler << march << lanes;
      }
}

TEST(TileRegisters, IsPrintedOnlyThere) {
  const Result<Module> with = print_openmp(sums(8, true)), without = print_openmp(sums(8, false));
  ASSERT_TRUE(with && without);
  EXPECT_NE(with->source.text.find("const f32x8 v = keep_f32x8(load_f32x8(x + k * 8));"), std::string::npos);
  const std::size_t start = with->source.text.find("free_registers_f32x8();");
  EXPECT_LT(start, with->source.text.find("f32x8 sum = "));
  EXPECT_EQ(with->source.text.find("free_registers_f32x8();", start + 1), std::string::npos);
  EXPECT_EQ(without->source.text.find("keep_"), std::string::npos);
  EXPECT_EQ(without->source.text.find("free_registers"), std::string::npos);
}

}  // namespace
}  // namespace facet::test
