// Stores past the caches: right values at every alignment, under both compilers; one fence a thread.
#include <gmock/gmock.h>

#include "unit/codegen/support.hpp"

namespace facet {
namespace {

using namespace facet::test;
using testing::HasSubstr;
using testing::Not;

constexpr int kRows = 6, kColumns = 67;  // rows begin at every alignment of 4-byte elements

// y[i, j] = x[i, j] + x[i, j] for j in 0..64, in vectors; the columns beyond stay as they are.
LoopProgram doubled(int lanes, LoopKind rows, bool stream) {
  const ExprPtr x = with_lanes(read("x", DType::kF32, {index("i"), index("j")}), lanes);
  Store s;
  s.statement = "y";
  s.buffer = "y";
  s.subscripts = {index("i"), index("j")};
  s.value = binary(Op::kAdd, x, x);
  s.lanes = lanes;
  s.stream = stream;
  return program("doubled",
                 {buffer("x", DType::kF32, {idx(kRows), idx(kColumns)}, BufferRole::kInput),
                  buffer("y", DType::kF32, {idx(kRows), idx(kColumns)}, BufferRole::kOutput)},
                 {loop("i", idx(0), idx(kRows), {loop("j", idx(0), idx(64), {make_loop(s)}, lanes)}, 1, rows)});
}

int count(const std::string& text, const std::string& what) {
  int n = 0;
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++n;
  return n;
}

TEST(StreamedStores, AreRightAtEveryAlignment) {
  std::vector<double> values;
  for (int i = 0; i < kRows * kColumns; ++i) values.push_back(i * 0.5 - 3);
  for (const std::string& compiler : compilers())
    for (const char* march : {"native", "x86-64", "x86-64-v3"})
      for (const int lanes : {4, 8, 16})
        for (const LoopKind rows : {LoopKind::kParallel, LoopKind::kSerial}) {
          HostTensors t = {{"x", tensor(DType::kF32, {kRows, kColumns}, values)}};
          run(doubled(lanes, rows, true), compiler, &t, {}, {}, march);
          for (int r = 0; r < kRows; ++r)
            for (int i = r * kColumns; i < r * kColumns + 64; ++i)
              ASSERT_EQ(t["y"].get(i), 2 * values[static_cast<std::size_t>(i)]) << compiler << march << lanes << " at " << i;
        }
}

TEST(StreamedStores, AreFencedOnceAThread) {
  const Result<Module> parallel = print_openmp(doubled(8, LoopKind::kParallel, true));
  ASSERT_TRUE(parallel);
  EXPECT_THAT(parallel->source.text, HasSubstr("stream_f32x8(y + "));
  EXPECT_THAT(parallel->source.text, HasSubstr("#pragma omp parallel firstprivate(y, x)\n"));
  EXPECT_THAT(parallel->source.text, HasSubstr("#pragma omp for nowait schedule(static)\n"));
  EXPECT_EQ(count(parallel->source.text, "__builtin_ia32_sfence();"), 1);
  const Result<Module> serial = print_openmp(doubled(8, LoopKind::kSerial, true));
  ASSERT_TRUE(serial);
  EXPECT_EQ(count(serial->source.text, "__builtin_ia32_sfence();"), 1);
  const Result<Module> plain = print_openmp(doubled(8, LoopKind::kParallel, false));
  ASSERT_TRUE(plain);
  EXPECT_THAT(plain->source.text, Not(HasSubstr("sfence")));
  EXPECT_THAT(plain->source.text, Not(HasSubstr("stream_")));
  EXPECT_THAT(plain->source.text, HasSubstr("#pragma omp parallel for schedule(static) firstprivate(y, x)\n"));
}

}  // namespace
}  // namespace facet
