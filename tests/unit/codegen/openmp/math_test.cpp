// The mathematics of generated code against long double libm: the stated bounds hold on dense samples, special values are
// right.
#include <cfloat>
#include <cmath>

#include "unit/codegen/support.hpp"

namespace facet {
namespace {

using namespace facet::test;

struct Function {
  Op op;
  const char* name;
  long double (*exact)(long double);
  double low, high;             // samples; beside them the special values
  double bound_f32, bound_f64;  // ulp, as the comments in the prelude state
};

long double sigmoid(long double x) { return x >= 0 ? 1 / (1 + expl(-x)) : expl(x) / (1 + expl(x)); }
long double rsqrt(long double x) { return 1 / sqrtl(x); }
long double round_even(long double x) { return rintl(x); }

const Function kFunctions[] = {
    {Op::kExp, "exp", expl, -110, 95, 1, 1},        {Op::kLog, "log", logl, 0, 3, 1, 1},
    {Op::kTanh, "tanh", tanhl, -12, 12, 2, 2},      {Op::kSigmoid, "sigmoid", sigmoid, -105, 40, 2.5, 2},
    {Op::kErf, "erf", erfl, -6, 6, 2, 2},           {Op::kSqrt, "sqrt", sqrtl, 0, 10, 0.5, 0.5},
    {Op::kRsqrt, "rsqrt", rsqrt, 0, 10, 1.5, 1.5},  {Op::kSin, "sin", sinl, -30, 30, 1, 1},
    {Op::kCos, "cos", cosl, -30, 30, 1, 1},         {Op::kTan, "tan", tanl, -10, 10, 1, 3},
    {Op::kAsin, "asin", asinl, -1, 1, 1, 2},        {Op::kAcos, "acos", acosl, -1, 1, 1, 2},
    {Op::kAtan, "atan", atanl, -10, 10, 1, 2},      {Op::kSinh, "sinh", sinhl, -80, 80, 1, 3},
    {Op::kCosh, "cosh", coshl, -80, 80, 1, 3},      {Op::kAsinh, "asinh", asinhl, -10, 10, 1, 3},
    {Op::kAcosh, "acosh", acoshl, 1, 20, 1, 3},     {Op::kAtanh, "atanh", atanhl, -1, 1, 1, 3},
    {Op::kLog1p, "log1p", log1pl, -1, 3, 1, 2},     {Op::kExpm1, "expm1", expm1l, -10, 10, 1, 2},
    {Op::kFloor, "floor", floorl, -5, 5, 0, 0},     {Op::kCeil, "ceil", ceill, -5, 5, 0, 0},
    {Op::kRound, "round", round_even, -5, 5, 0, 0}, {Op::kTrunc, "trunc", truncl, -5, 5, 0, 0}};

constexpr int kSamples = 4096;

std::vector<double> samples(const Function& f, DType type) {
  const double inf = INFINITY;
  std::vector<double> v = {0.0,  -0.0,  inf,    -inf,  NAN,       1,    -1,    0.5,         -0.5,  1.5,    2.5,      -2.5,
                           1e-3, -1e-3, 1e-7,   1e-30, -1e-30,    1e30, -1e30, 3.4e38,      1e-40, -1e-40, 87.5,     88.72,
                           88.8, -87.4, -103.9, 1e6,   1048576.5, -3e7, 5e15,  12345678.25, 710.1, -745,   0.999999, -0.999999};
  if (type == DType::kF64)
    v.insert(v.end(), {1e-310, 1e300, -1e300, 1e22, 0x1p-1074, 709.7, 709.8, -708.5, 6381956970095103.0 * 0x1p797});
  while (v.size() < kSamples) {
    const double u = static_cast<double>(v.size()) / kSamples;
    v.push_back(v.size() % 3 ? f.low + (f.high - f.low) * u
                             : std::ldexp(1 + u, static_cast<int>(v.size() * 7 % 60) - 40) * (v.size() % 2 ? 1 : -1));
  }
  for (double& x : v) x = round_to(type, x);
  return v;
}

// Units of the last place of the correctly rounded result.
double ulps(double got, long double exact, DType type) {
  const double right = type == DType::kF32 ? static_cast<double>(static_cast<float>(exact)) : static_cast<double>(exact);
  if (std::isnan(right) || std::isnan(got)) return std::isnan(right) == std::isnan(got) ? 0 : 1e9;
  if (std::isinf(right) || std::isinf(got)) {
    // A result that rounds to infinity may be the largest number, within the bound; nothing else may.
    const double largest = type == DType::kF32 ? FLT_MAX : DBL_MAX;
    return right == got || std::fabs(std::isinf(right) ? got : right) == largest ? 0 : 1e9;
  }
  int e;
  std::frexp(right, &e);
  const double ulp = type == DType::kF32 ? std::ldexp(1.0, std::max(e - 24, -149)) : std::ldexp(1.0, std::max(e - 53, -1074));
  return static_cast<double>(fabsl(static_cast<long double>(got) - exact) / ulp);
}

// y_f[i] = f(x_f[i]) for every function, over `lanes` lanes.
LoopProgram all_functions(DType type, int lanes) {
  std::vector<Buffer> buffers;
  LoopList body;
  for (const Function& f : kFunctions) {
    const std::string x = std::string("x_") + f.name, y = std::string("y_") + f.name;
    buffers.push_back(buffer(x, type, {idx(kSamples)}, BufferRole::kInput));
    buffers.push_back(buffer(y, type, {idx(kSamples)}, BufferRole::kOutput));
    const ExprPtr in = with_lanes(read(x, type, {index("i")}), lanes);
    body.push_back(loop("i", idx(0), idx(kSamples), {store(y, {index("i")}, unary(f.op, in), lanes)}, lanes));
  }
  return program("functions", buffers, body);
}

class MathOfGeneratedCode : public testing::TestWithParam<std::tuple<std::string, DType, int, std::string>> {};

TEST_P(MathOfGeneratedCode, KeepsItsBounds) {
  const auto& [compiler, type, lanes, march] = GetParam();
  HostTensors t;
  for (const Function& f : kFunctions) t[std::string("x_") + f.name] = tensor(type, {kSamples}, samples(f, type));
  run(all_functions(type, lanes), compiler, &t, {}, {}, march);
  for (const Function& f : kFunctions) {
    double worst = 0, where = 0;
    const HostTensor& x = t[std::string("x_") + f.name];
    const HostTensor& y = t[std::string("y_") + f.name];
    for (int i = 0; i < kSamples; ++i) {
      const double error = ulps(y.get(i), f.exact(x.get(i)), type);
      if (error > worst) worst = error, where = x.get(i);
    }
    EXPECT_LE(worst, type == DType::kF32 ? f.bound_f32 : f.bound_f64) << f.name << "(" << std::hexfloat << where << ")";
    RecordProperty(f.name, std::to_string(worst));
  }
}

INSTANTIATE_TEST_SUITE_P(
    All, MathOfGeneratedCode,
    testing::Values(std::tuple{"g++", DType::kF32, 1, "native"}, std::tuple{"g++", DType::kF32, 16, "native"},
                    std::tuple{"g++", DType::kF64, 8, "native"}, std::tuple{"clang++-19", DType::kF32, 16, "native"},
                    std::tuple{"clang++-19", DType::kF64, 1, "native"}, std::tuple{"g++", DType::kF32, 8, "x86-64-v3"},
                    std::tuple{"clang++-19", DType::kF32, 4, "x86-64"}, std::tuple{"g++", DType::kF64, 1, "x86-64"}));

}  // namespace
}  // namespace facet
