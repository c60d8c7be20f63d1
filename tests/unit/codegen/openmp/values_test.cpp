// The undefined corners of C, made defined: every value here is the contract's, scalar and in lanes, under both compilers.
#include <cmath>

#include "unit/codegen/support.hpp"

namespace facet {
namespace {

using namespace facet::test;

const double kNan = NAN;
const double kInf = INFINITY;

// y[i] = e, scalar or with every read and index of i in lanes.
LoopProgram elementwise(const std::vector<Buffer>& inputs, const ExprPtr& e, std::int64_t n, int lanes) {
  const ExprPtr wide = lanes == 1 ? e : rewrite(e, [&](const ExprPtr& node) -> ExprPtr {
    if (node->op == Op::kRead) return with_lanes(node, lanes);
    Expr copy = *node;
    for (const ExprPtr& a : node->args) copy.lanes = std::max(copy.lanes, a->lanes);
    return std::make_shared<const Expr>(copy);
  });
  std::vector<Buffer> buffers = inputs;
  buffers.push_back(buffer("y", e->type, {idx(n)}, BufferRole::kOutput));
  return program("corner", buffers, {loop("i", idx(0), idx(n), {store("y", {index("i")}, wide, lanes)}, lanes)});
}

void expect_values(const std::string& what, const HostTensor& y, const std::vector<double>& expected) {
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const double got = y.get(static_cast<std::int64_t>(i));
    if (std::isnan(expected[i]))
      EXPECT_TRUE(std::isnan(got)) << what << " " << i;
    else
      EXPECT_EQ(got, expected[i]) << what << " element " << i;
  }
}

// a OP b on 4 elements, under both compilers and in lanes of 1 and 4.
void check_binary(Op op, DType type, const std::vector<double>& a, const std::vector<double>& b,
                  const std::vector<double>& expected) {
  for (const std::string& compiler : compilers())
    for (const int lanes : {1, 4}) {
      const ExprPtr e = binary(op, read("a", type, {index("i")}), read("b", type, {index("i")}));
      HostTensors t = {{"a", tensor(type, {4}, a)}, {"b", tensor(type, {4}, b)}};
      run(elementwise({buffer("a", type, {idx(4)}, BufferRole::kInput), buffer("b", type, {idx(4)}, BufferRole::kInput)}, e, 4,
                      lanes),
          compiler, &t);
      expect_values(compiler + " " + to_text(e) + " " + to_text(type) + " lanes " + std::to_string(lanes), t["y"], expected);
    }
}

void check_unary(const ExprPtr& e, DType type, const std::vector<double>& a, const std::vector<double>& expected) {
  for (const std::string& compiler : compilers())
    for (const int lanes : {1, 8}) {
      HostTensors t = {{"a", tensor(type, {8}, a)}};
      run(elementwise({buffer("a", type, {idx(8)}, BufferRole::kInput)}, e, 8, lanes), compiler, &t);
      expect_values(compiler + " " + to_text(e) + " lanes " + std::to_string(lanes), t["y"], expected);
    }
}

ExprPtr a_of(DType type) { return read("a", type, {index("i")}); }

TEST(GeneratedValues, IntegerDivision) {
  check_binary(Op::kFloorDiv, DType::kI32, {-7, 7, 5, -2147483648.0}, {2, -2, 0, -1}, {-4, -4, 0, -2147483648.0});
  check_binary(Op::kFloorMod, DType::kI32, {-7, 7, 5, -2147483648.0}, {2, -2, 0, -1}, {1, -1, 0, 0});
  check_binary(Op::kTruncDiv, DType::kI32, {-7, 7, 5, -2147483648.0}, {2, -2, 0, -1}, {-3, -3, 0, -2147483648.0});
  check_binary(Op::kTruncMod, DType::kI8, {-7, 7, 5, -128}, {2, -2, 0, -1}, {-1, 1, 0, 0});
  check_binary(Op::kFloorDiv, DType::kU8, {7, 255, 5, 0}, {2, 16, 0, 3}, {3, 15, 0, 0});
}

TEST(GeneratedValues, NarrowIntegersWrapInTheirType) {
  check_binary(Op::kAdd, DType::kU8, {128, 255, 0, 1}, {128, 1, 0, 2}, {0, 0, 0, 3});
  check_binary(Op::kMul, DType::kI8, {6, 100, -128, 3}, {25, 2, -1, 3}, {-106, -56, -128, 9});
  check_binary(Op::kMul, DType::kU16, {65535, 256, 3, 0}, {65535, 256, 5, 9}, {1, 0, 15, 0});
  check_binary(Op::kSub, DType::kI32, {-2147483648.0, 2147483647, 0, 5}, {1, -1, 0, 7}, {2147483647, -2147483648.0, 0, -2});
  check_unary(unary(Op::kAbs, a_of(DType::kI8)), DType::kI8, {-128, -1, 0, 1, 127, -5, 5, 3}, {-128, 1, 0, 1, 127, 5, 5, 3});
  check_unary(unary(Op::kNeg, a_of(DType::kI32)), DType::kI32, {-2147483648.0, 1, 0, -1, 2, -2, 3, -3},
              {-2147483648.0, -1, 0, 1, -2, 2, -3, 3});
}

TEST(GeneratedValues, Shifts) {
  check_binary(Op::kShl, DType::kI32, {1, 1, -1, 3}, {31, 33, 4, 0}, {-2147483648.0, 2, -16, 3});
  check_binary(Op::kShr, DType::kI32, {-8, -8, 255, 1}, {1, 33, 4, 32}, {-4, -4, 15, 1});
  check_binary(Op::kShl, DType::kU8, {1, 255, 3, 1}, {7, 4, 8, 1}, {128, 240, 3, 2});
}

TEST(GeneratedValues, NanInMinimumAndMaximum) {
  const std::vector<double> a = {kNan, 1, -0.5, kInf}, b = {2, kNan, 3, -kInf};
  check_binary(Op::kMax, DType::kF32, a, b, {kNan, kNan, 3, kInf});
  check_binary(Op::kMin, DType::kF64, a, b, {kNan, kNan, -0.5, -kInf});
  check_binary(Op::kCFMax, DType::kF32, a, b, {2, 1, 3, kInf});
  check_binary(Op::kCFMin, DType::kF32, a, b, {2, 1, -0.5, -kInf});
}

TEST(GeneratedValues, FloatToIntegerSaturates) {
  const std::vector<double> a = {kNan, kInf, -kInf, 3e9, -3e9, 2.9, -2.9, 300};
  check_unary(cast(DType::kI32, a_of(DType::kF32)), DType::kF32, a,
              {0, 2147483647, -2147483648.0, 2147483647, -2147483648.0, 2, -2, 300});
  check_unary(cast(DType::kU8, a_of(DType::kF64)), DType::kF64, a, {0, 255, 0, 255, 0, 2, 0, 255});
  check_unary(cast(DType::kI8, a_of(DType::kF32)), DType::kF32, a, {0, 127, -128, 127, -128, 2, -2, 127});
}

TEST(GeneratedValues, SixteenBitFloatsRoundHalfToEven) {
  check_unary(cast(DType::kBF16, a_of(DType::kF32)), DType::kF32,
              {0.2691408770292272, 3.14, 1 + 0x1p-8, 1 + 3 * 0x1p-8, kNan, 3.4e38, -0.0, 1e-40},
              {0.26953125, 3.140625, 1.0, 1.015625, kNan, kInf, -0.0, round_to(DType::kBF16, static_cast<float>(1e-40))});
  check_unary(cast(DType::kF16, a_of(DType::kF32)), DType::kF32,
              {65519, 65520, 1 + 0x1p-11, 1 + 3 * 0x1p-11, kNan, 0x1p-25, 0x1.8p-24, -6.1e-5},
              {65504, kInf, 1.0, 1 + 0x1p-9, kNan, 0, 0x1p-23, round_to(DType::kF16, -6.1e-5f)});
  // One rounding from f64: 1 + 2^-11 + 2^-40 is above the tie that f32 would see.
  check_unary(cast(DType::kF16, a_of(DType::kF64)), DType::kF64, {1 + 0x1p-11 + 0x1p-40, 1 + 0x1p-11, 0, 1, 2, 3, 4, 1e300},
              {1 + 0x1p-10, 1, 0, 1, 2, 3, 4, kInf});
}

TEST(GeneratedValues, EveryF16IsReadAndWrittenBack) {
  HostTensor all = make_host_tensor(DType::kF16, {65536});
  for (int i = 0; i < 65536; ++i) {
    all.bytes[static_cast<std::size_t>(2 * i)] = static_cast<std::byte>(i & 255);
    all.bytes[static_cast<std::size_t>(2 * i + 1)] = static_cast<std::byte>(i >> 8);
  }
  for (const std::string& compiler : compilers())
    for (const int lanes : {1, 16}) {
      HostTensors t = {{"a", all}};
      run(elementwise({buffer("a", DType::kF16, {idx(65536)}, BufferRole::kInput)}, a_of(DType::kF16), 65536, lanes), compiler,
          &t);
      for (int i = 0; i < 65536; ++i) {
        const double in = all.get(i), out = t["y"].get(i);
        ASSERT_TRUE(in == out || (std::isnan(in) && std::isnan(out))) << compiler << " " << i;
      }
    }
}

TEST(GeneratedValues, SelectIsAChoice) {
  const ExprPtr a = a_of(DType::kF32);
  const ExprPtr e = select(binary(Op::kGt, a, literal(DType::kF32, 0)), unary(Op::kLog, a), literal(DType::kF32, -1));
  check_unary(e, DType::kF32, {-1, 1, 0, kNan, 1, 1, -kInf, kInf}, {-1, 0, -1, -1, 0, 0, -1, kInf});
}

TEST(GeneratedValues, BooleansAreBytes) {
  const ExprPtr a = a_of(DType::kF32);
  const ExprPtr e =
      binary(Op::kOr, binary(Op::kAnd, binary(Op::kLt, a, literal(DType::kF32, 2)), unary(Op::kNot, unary(Op::kIsNan, a))),
             unary(Op::kIsInf, a));
  check_unary(e, DType::kF32, {1, 2, kNan, kInf, -kInf, 3, -5, 0}, {1, 0, 0, 1, 1, 0, 1, 1});
  check_unary(cast(DType::kI64, binary(Op::kNe, a_of(DType::kBool), literal(DType::kBool, 0))), DType::kBool,
              {0, 1, 1, 0, 0, 0, 1, 1}, {0, 1, 1, 0, 0, 0, 1, 1});
}

// y[i] = t[ids[i]]: clamped, or wrapped once first.
TEST(GeneratedValues, GathersStayInside) {
  for (const std::string& compiler : compilers())
    for (const int lanes : {1, 8})
      for (const bool wrap : {false, true}) {
        Expr gather = *read("t", DType::kF32, {read("ids", DType::kI64, {index("i")})});
        gather.wrap_gather = wrap;
        HostTensors t = {{"t", tensor(DType::kF32, {5}, {10, 11, 12, 13, 14})},
                         {"ids", tensor(DType::kI64, {8}, {4, -1, 5, 0, -5, -6, 1e18, -1e18})}};
        run(elementwise({buffer("t", DType::kF32, {idx(5)}, BufferRole::kInput),
                         buffer("ids", DType::kI64, {idx(8)}, BufferRole::kInput)},
                        std::make_shared<const Expr>(gather), 8, lanes),
            compiler, &t);
        expect_values(
            compiler, t["y"],
            wrap ? std::vector<double>{14, 14, 14, 10, 10, 10, 14, 10} : std::vector<double>{14, 10, 14, 10, 10, 10, 14, 10});
      }
}

// y[i] = x[i - 2 ? 7], in lanes too.
TEST(GeneratedValues, PaddedReads) {
  for (const std::string& compiler : compilers())
    for (const int lanes : {1, 8}) {
      HostTensors t = {{"x", tensor(DType::kF32, {4}, {1, 2, 3, 4})}};
      run(elementwise({buffer("x", DType::kF32, {idx(4)}, BufferRole::kInput)},
                      read("x", DType::kF32, {idx_sub(index("i"), idx(2))}, literal(DType::kF32, 7)), 8, lanes),
          compiler, &t);
      expect_values(compiler, t["y"], {7, 7, 1, 2, 3, 4, 7, 7});
    }
}

// Reversed, strided and transposed lanes, a scatter, and a lane reduction.
TEST(GeneratedValues, LaneDistances) {
  const ExprPtr lane = lanes_op(Op::kIota, DType::kI64, 8, idx(0));
  const auto vector = [&](const std::string& name, std::vector<ExprPtr> s) {
    return with_lanes(read(name, DType::kI32, std::move(s)), 8);
  };
  Expr sum = *lanes_op(Op::kLaneReduce, DType::kI32, 1, vector("x", {idx(0), idx(0)}));
  sum.reduce_kind = ReduceKind::kSum;
  Expr most = sum;
  most.reduce_kind = ReduceKind::kMax;
  Store strided;
  strided.buffer = "y";
  strided.subscripts = {idx(2), idx(0)};
  strided.value = vector("x", {lane, idx(3)});  // a column
  strided.lanes = 8;
  const LoopList body = {store("y", {idx(0), idx(0)}, vector("x", {idx(1), binary(Op::kSub, idx(7), lane)}), 8),
                         store("y", {lane, idx(1)}, vector("x", {idx(0), idx(0)}), 8), make_loop(strided),
                         store("z", {idx(0)}, std::make_shared<const Expr>(sum)),
                         store("z", {idx(1)}, std::make_shared<const Expr>(most))};
  const LoopProgram p = program("lanes",
                                {buffer("x", DType::kI32, {idx(8), idx(8)}, BufferRole::kInput),
                                 buffer("y", DType::kI32, {idx(8), idx(8)}, BufferRole::kOutput),
                                 buffer("z", DType::kI32, {idx(2)}, BufferRole::kOutput)},
                                body);
  for (const std::string& compiler : compilers()) {
    std::vector<double> values;
    for (int i = 0; i < 64; ++i) values.push_back(i);
    HostTensors t = {{"x", tensor(DType::kI32, {8, 8}, values)}, {"y", tensor(DType::kI32, {8, 8}, {-1})}};
    run(p, compiler, &t);
    expect_values(compiler, t["z"], {28, 7});
    EXPECT_EQ(t["y"].get(0), 15);
    EXPECT_EQ(t["y"].get(1), 0) << "row 0 is overwritten by the scatter at column 1";
    EXPECT_EQ(t["y"].get(7 * 8 + 1), 7);
    EXPECT_EQ(t["y"].get(2 * 8 + 5), 43);
  }
}

// Every word of C++ and of this generator is a valid name.
TEST(GeneratedValues, AnyNameWorks) {
  const char* const words[] = {"class",     "float",    "blockIdx", "exp",     "t0",   "linux",           "args",
                               "workspace", "exp_f32",  "f32x16",   "_Pragma", "main", "facet_class_run", "k0",
                               "check",     "INT64_MAX"};
  for (const char* const w : words) {
    const std::string name = w;
    const LoopProgram p = program(
        name == "main" ? "class" : "p",
        {buffer(name, DType::kF32, {index("for")}, BufferRole::kInput),
         buffer("int", DType::kF32, {index("for")}, BufferRole::kOutput)},
        {loop(name + "_i", idx(0), index("for"),
              {make_loop(Let{name, DType::kF32, 1, unary(Op::kExp, read(name, DType::kF32, {index(name + "_i")})), false}),
               store("int", {index(name + "_i")}, value_of(name, DType::kF32))})},
        {Symbol{"for", 0, 10, 3, {}}});
    for (const std::string& compiler : compilers()) {
      HostTensors t = {{name, tensor(DType::kF32, {2}, {0})}};
      run(p, compiler, &t, {{"for", 2}});
      expect_values(name, t["int"], {1, 1});
    }
  }
}

}  // namespace
}  // namespace facet
