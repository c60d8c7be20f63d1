// Equations: what each rule of the contract accepts, with the exact typed text, and what it refuses, with code and column.
#include "src/frontend/equations.hpp"

#include <gtest/gtest.h>

#include "src/frontend/affine.hpp"

namespace facet {
namespace {

struct Fixture {
  Program program;
  EquationContext context;
  std::vector<std::unique_ptr<Tensor>> owned;

  Fixture() {
    program.symbols = {{"N", 1, 4096, 64, {}}, {"M", 1, 64, 8, {}}};
    context.program = &program;
    context.local_prefix = "c";
    context.place = Place{"p.json", 3, 5, "/ops/0", ""};
    context.outs = {"c"};
    add("a", DType::kF32, {"N", "784"});
    add("b", DType::kF32, {"784", "M"});
    add("v", DType::kF32, {"N"});
    add("w", DType::kF32, {"M"});
    add("x", DType::kF32, {"4", "8", "9"});
    add("s", DType::kF32, {});
    add("h", DType::kF16, {"8", "9"});
    add("q", DType::kI8, {"8"});
    add("u", DType::kU8, {"8"});
    add("n", DType::kI32, {"8"});
    add("ids", DType::kI32, {"8"});
    add("d", DType::kF64, {"8"});
    add("flag", DType::kBool, {"8"});
    add("class", DType::kF32, {"8"});
    add("sum", DType::kF32, {"8"});
    add("exp", DType::kF32, {});
    add("empty", DType::kF32, {"0"});
  }

  void add(const std::string& name, DType dtype, const std::vector<std::string>& shape) {
    owned.push_back(std::make_unique<Tensor>());
    Tensor& t = *owned.back();
    t.name = name;
    t.dtype = dtype;
    for (const std::string& e : shape) t.shape.push_back(*parse_affine(e, {"N", "M"}, Place{}));
    context.tensors[name] = &t;
  }

  void declare(const std::string& name, DType dtype, const std::vector<std::string>& shape) {
    add(name, dtype, shape);
    context.declared[name] = context.tensors[name];
    context.tensors.erase(name);
  }
};

// The equations' texts, or "code:line/column" of every complaint ("/ops/0/def/1" gives line 1).
std::string parse(Fixture& f, const std::vector<std::string>& lines) {
  const Result<ParsedEquations> r = parse_equations(lines, f.context);
  std::string text;
  if (r) {
    for (const Equation& q : r->equations) text += (text.empty() ? "" : "; ") + to_text(q);
    return text;
  }
  for (const Diagnostic& e : r.errors()) {
    text += (text.empty() ? "" : " ") + code_name(e.code) + ":";
    text += lines.size() > 1 ? e.place.pointer.substr(e.place.pointer.rfind('/') + 1) + "/" : "";
    text += std::to_string(e.place.column);
  }
  return text;
}

std::string parse(const std::vector<std::string>& lines) {
  Fixture f;
  return parse(f, lines);
}

TEST(Equations, GrammarC1) {
  EXPECT_EQ(parse({"t[i, j] = sum[k](a[i, k] * b[k, j])", "c[i, j] = max(t[i, j], 0.0) where i < 100"}),
            "c.t[i, j] = sum[k](a[i, k] * b[k, j] for k in 0..784) for i in 0..N, j in 0..M; "
            "c[i, j] = max(c.t[i, j], 0.0) where i < 100 for i in 0..N, j in 0..M");
  EXPECT_EQ(parse({"c[] = s + s[]"}), "c[] = s[] + s[]");
  EXPECT_EQ(parse({"c[] = sum[i](v[i])"}), "c[] = sum[i](v[i] for i in 0..N)");
  EXPECT_EQ(parse({"c[i] = v[i] for i in 0..N where i < 3"}), "c[i] = v[i] where i < 3 for i in 0..N");
  EXPECT_EQ(parse({"c[i] = v[i] where i < 3 where i > 1"}), "syntax:25");
  EXPECT_EQ(parse({"c[i] = v[i] for i in 0..N for i in 0..N"}), "syntax:27");
  EXPECT_EQ(parse({"c[i+1] = v[i]"}), "left-not-plain:3");
  EXPECT_EQ(parse({"c[0] = v[0]"}), "left-not-plain:3");
  EXPECT_EQ(parse({"c[i"}), "syntax:4");
  EXPECT_EQ(parse({"c[i, i] = a[i, i]"}), "index-bound-twice:6");
  EXPECT_EQ(parse({"c[i] = "}), "syntax:8");
  EXPECT_EQ(parse({"c[i] v[i]"}), "syntax:6");
  EXPECT_EQ(parse({"c[i] = v[i] v[i]"}), "syntax:13");
  EXPECT_EQ(parse({""}), "syntax:1");
  EXPECT_EQ(parse({}), "no-equations:5");
  EXPECT_EQ(parse({"c[i] = v[i)"}), "syntax:11");
  EXPECT_EQ(parse({"c[i] = v[i] && v[i]"}), "syntax:13");
}

TEST(Equations, RangesC2C3) {
  EXPECT_EQ(parse({"c[i] = v[i + 1] for i in 0..N-1"}), "c[i] = v[i + 1] for i in 0..N - 1");
  EXPECT_EQ(parse({"c[i] = v[i + 1]"}), "range-unknown:3");
  EXPECT_EQ(parse({"c[i] = v[i] + w[i]"}), "range-unknown:3");
  EXPECT_EQ(parse({"c[i] = sum[k](v[i])"}), "range-unknown:12");
  EXPECT_EQ(parse({"c[i] = sum[k](v[i]) for k in 0..M"}), "c[i] = sum[k](v[i] for k in 0..M) for i in 0..N");
  EXPECT_EQ(parse({"c[i] = sum[j](v[j]) for i in 0..N, j in i..N"}), "c[i] = sum[j](v[j] for j in i..N) for i in 0..N");
  EXPECT_EQ(parse({"c[i] = v[i] for i in 1..N"}), "range-start:17");
  EXPECT_EQ(parse({"c[i] = v[i] for j in 0..N"}), "range-without-index:17");
  EXPECT_EQ(parse({"c[i] = v[i] for i in 0..N, i in 0..N"}), "range-twice:28");
  EXPECT_EQ(parse({"c[i, j] = v[i] + w[j] for i in 0..j"}), "unknown-name-in-text:35");
  EXPECT_EQ(parse({"c[i] = v[i] for i in 0..N*M"}), "not-affine:25");
  EXPECT_EQ(parse({"c[p] = x[0, 0, p ? 0.0]"}), "c[p] = x[0, 0, p ? 0.0] for p in 0..9");
  Fixture f;
  f.declare("c", DType::kF32, {"10"});
  EXPECT_EQ(parse(f, {"c[i] = v[i + 1]"}), "c[i] = v[i + 1] for i in 0..10");
  EXPECT_EQ(parse(f, {"c[i] = v[i + 1] for i in 0..9"}), "extent-differs:21");
  EXPECT_EQ(parse(f, {"c[i, j] = a[i, j]"}), "subscript-count:1");
}

TEST(Equations, ClausesReachReductionsC4) {
  EXPECT_EQ(parse({"c[i] = max[j](a[i, j]) where j <= i"}),
            "c[i] = max[j](a[i, j] where j <= i for j in 0..784) for i in 0..N");
  EXPECT_EQ(parse({"c[i] = max[j](a[i, j]) where j <= i and i < 5"}),
            "c[i] = max[j](a[i, j] where j <= i for j in 0..784) where i < 5 for i in 0..N");
  EXPECT_EQ(parse({"c[] = sum[i](v[i]) + sum[i](v[i]) where i > 2"}),
            "c[] = sum[i](v[i] where i > 2 for i in 0..N) + sum[i](v[i] where i > 2 for i in 0..N)");
  EXPECT_EQ(parse({"c[] = sum[i](max[j](a[i, j])) where j < i and i < 7"}),
            "c[] = sum[i](max[j](a[i, j] where j < i for j in 0..784) where i < 7 for i in 0..N)");
  EXPECT_EQ(parse({"c[] = sum[i](v[i]) + sum[j](w[j]) where i < j"}), "condition-scope:41");
  EXPECT_EQ(parse({"c[i] = v[i] where k < 2"}), "unknown-name-in-text:19");
  EXPECT_EQ(parse({"c[i] = v[i] where v[i] < 2"}), "not-affine:19");
  EXPECT_EQ(parse({"c[i] = v[i] where i"}), "not-affine:19");
  EXPECT_EQ(parse({"c[i] = v[i] where i % 2 == 0 and i / 3 < N"}), "c[i] = v[i] where i % 2 == 0 and i / 3 < N for i in 0..N");
}

TEST(Equations, BindingC6) {
  EXPECT_EQ(parse({"c[] = sum[i](v[i]) * sum[i](v[i])"}), "c[] = sum[i](v[i] for i in 0..N) * sum[i](v[i] for i in 0..N)");
  EXPECT_EQ(parse({"c[i] = sum[i](v[i])"}), "index-bound-twice:12");
  EXPECT_EQ(parse({"c[] = sum[i](v[i] * sum[i](v[i]))"}), "index-bound-twice:25");
  EXPECT_EQ(parse({"c[] = sum[i, i](v[i])"}), "index-bound-twice:14");
  EXPECT_EQ(parse({"c[i] = c[i - 1] + v[i]"}), "self-read:8");
  EXPECT_EQ(parse({"c[i] = t[i]", "t[i] = v[i]"}), "read-above-definition:0/8");
  EXPECT_EQ(parse({"c[i] = t[i] + v[i]", "t[i] = v[i]"}), "read-above-definition:0/8");
  EXPECT_EQ(parse({"c[v] = v[v]"}), "index-name-taken:3");
  EXPECT_EQ(parse({"c[N] = a[N, 0]"}), "index-name-taken:3");
  EXPECT_EQ(parse({"c[t] = v[t]", "t[i] = v[i]"}), "index-name-taken:0/3");
  EXPECT_EQ(parse({"v[i] = w[i]", "c[i] = w[i]"}), "assigns-operand:0/1");
  EXPECT_EQ(parse({"t[i] = v[i]"}), "output-undefined:5");
  EXPECT_EQ(parse({"c[i] = v[j]"}), "range-unknown:3");
  EXPECT_EQ(parse({"c[i] = v[i] + w[j]"}), "unknown-name-in-text:17");
  EXPECT_EQ(parse({"c[i] = y[i] + v[i]"}), "unknown-name-in-text:8");
  EXPECT_EQ(parse({"c[i] = i[i] + v[i]"}), "unknown-name-in-text:8");
  EXPECT_EQ(parse({"c[i] = y[i]"}), "unknown-name-in-text:8");
}

TEST(Equations, LiteralsAndIndicesAdaptC7) {
  EXPECT_EQ(parse({"c[i] = 2 * v[i] + 0.5"}), "c[i] = 2.0 * v[i] + 0.5 for i in 0..N");
  EXPECT_EQ(parse({"c[i] = 1/2 * v[i]"}), "c[i] = 1.0 / 2.0 * v[i] for i in 0..N");
  EXPECT_EQ(parse({"c[i] = n[i] + i"}), "c[i] = n[i] + cast(i32, i) for i in 0..8");
  EXPECT_EQ(parse({"c[i] = n[i] + 2*i + N"}), "c[i] = n[i] + cast(i32, 2 * i) + cast(i32, N) for i in 0..8");
  EXPECT_EQ(parse({"c[i] = v[i] + cast(f32, i)"}), "c[i] = v[i] + cast(f32, i) for i in 0..N");
  EXPECT_EQ(parse({"c[i] = v[i] + i"}), "mixed-dtypes:15");
  EXPECT_EQ(parse({"c[i] = v[i] * N"}), "mixed-dtypes:15");
  EXPECT_EQ(parse({"c[i] = 1.5 * n[i]"}), "mixed-dtypes:14");
  EXPECT_EQ(parse({"c[i] = select(i < n[i], v[i], 0) for i in 0..8"}),
            "c[i] = select(i < cast(i64, n[i]), v[i], 0.0) for i in 0..8");
  EXPECT_EQ(parse({"c[i] = 1 for i in 0..N"}), "open-dtype:8");
  EXPECT_EQ(parse({"c[i] = i for i in 0..N"}), "open-dtype:8");
  EXPECT_EQ(parse({"c[i] = cast(f32, 1) for i in 0..N"}), "c[i] = 1.0 for i in 0..N");
  EXPECT_EQ(parse({"c[i] = cast(i32, 7) + cast(i32, i) for i in 0..N"}), "c[i] = 7 + cast(i32, i) for i in 0..N");
  EXPECT_EQ(parse({"c[i] = 0 where i > 2 for i in 0..N", "c[i] = v[i] where i <= 2"}),
            "c[i] = 0.0 where i > 2 for i in 0..N; c[i] = v[i] where i <= 2 for i in 0..N");
  EXPECT_EQ(parse({"c[i] = q[i] + 127"}), "c[i] = q[i] + 127 for i in 0..8");
  EXPECT_EQ(parse({"c[i] = q[i] + 128"}), "literal-range:15");
  EXPECT_EQ(parse({"c[i] = q[i] + -128"}), "c[i] = q[i] + (-128) for i in 0..8");
  EXPECT_EQ(parse({"c[i] = u[i] - 256"}), "literal-range:15");
  EXPECT_EQ(parse({"c[i] = u[i] + -1"}), "literal-range:16");
  EXPECT_EQ(parse({"c[i] = h[i, 0] * 1e6"}), "literal-range:18");
  EXPECT_EQ(parse({"c[i] = v[i] * 1e39"}), "literal-range:15");
  EXPECT_EQ(parse({"c[i] = v[i] * 1e400"}), "bad-number:15");
  EXPECT_EQ(parse({"c[i] = flag[i] == 1"}), "mixed-dtypes:19");
  EXPECT_EQ(parse({"c[i] = flag[i] == true"}), "c[i] = flag[i] == true for i in 0..8");
  Fixture f;
  f.declare("c", DType::kF32, {"N"});
  EXPECT_EQ(parse(f, {"c[i] = 1"}), "c[i] = 1.0 for i in 0..N");
  EXPECT_EQ(parse(f, {"c[i] = i"}), "dtype-differs:8");
  EXPECT_EQ(parse(f, {"c[i] = n[i]"}), "dtype-differs:8");
}

TEST(Equations, DtypesNeverMixP4) {
  EXPECT_EQ(parse({"c[i] = d[i] + cast(f64, n[i])"}), "c[i] = d[i] + cast(f64, n[i]) for i in 0..8");
  EXPECT_EQ(parse({"c[i] = d[i] + n[i]"}), "mixed-dtypes:15");
  EXPECT_EQ(parse({"c[i] = select(d[i] < 0, n[i], d[i])"}), "mixed-dtypes:31");
  EXPECT_EQ(parse({"c[i] = select(d[i], n[i], n[i])"}), "wrong-operand-dtype:15");
  EXPECT_EQ(parse({"c[i] = max(d[i], 1, n[i])"}), "mixed-dtypes:21");
  EXPECT_EQ(parse({"c[i] = max(1, d[i], 2)"}), "c[i] = max(max(1.0, d[i]), 2.0) for i in 0..8");
  EXPECT_EQ(parse({"c[i] = exp(n[i])"}), "wrong-operand-dtype:12");
  EXPECT_EQ(parse({"c[i] = exp(i)"}), "range-unknown:3");
  EXPECT_EQ(parse({"c[i] = d[i] + flag[i]"}), "mixed-dtypes:15");
  EXPECT_EQ(parse({"c[i] = -flag[i]"}), "wrong-operand-dtype:9");
  EXPECT_EQ(parse({"c[i] = d[i] and flag[i]"}), "wrong-operand-dtype:8");
  EXPECT_EQ(parse({"c[i] = cast(f33, d[i])"}), "unknown-name-in-text:13");
}

TEST(Equations, AccumulatorsP10) {
  EXPECT_EQ(parse({"c[i] = sum[j](h[i, j] * h[i, j])"}),
            "c[i] = cast(f16, sum[j](cast(f32, h[i, j]) * cast(f32, h[i, j]) for j in 0..9)) for i in 0..8");
  EXPECT_EQ(parse({"c[] = sum[i](q[i] * q[i])"}), "c[] = sum[i](cast(i32, q[i] * q[i]) for i in 0..8)");
  EXPECT_EQ(parse({"c[] = sum[i](n[i])"}), "c[] = sum[i](n[i] for i in 0..8)");
  EXPECT_EQ(parse({"c[] = max[i](h[i, 0])"}), "c[] = max[i](h[i, 0] for i in 0..8)");
  EXPECT_EQ(parse({"c[] = argmax[i](v[i])"}), "c[] = argmax[i](v[i] for i in 0..N)");
  EXPECT_EQ(parse({"c[] = argmax[i, j](a[i, j])"}), "argument-count:7");
  EXPECT_EQ(parse({"c[] = argmax[i](empty[i])"}), "arg-reduction-empty:7");
  EXPECT_EQ(parse({"c[] = any[i](flag[i])"}), "c[] = any[i](flag[i] for i in 0..8)");
  EXPECT_EQ(parse({"c[] = any[i](v[i])"}), "wrong-operand-dtype:14");
  EXPECT_EQ(parse({"c[] = sum[i](flag[i])"}), "wrong-operand-dtype:14");
  Fixture f;
  f.context.accumulate = DType::kF64;
  EXPECT_EQ(parse(f, {"c[] = sum[i](v[i] * v[i])"}),
            "c[] = cast(f32, sum[i](cast(f64, v[i]) * cast(f64, v[i]) for i in 0..N))");
}

TEST(Equations, IntegersAndFunctions) {
  EXPECT_EQ(parse({"c[i] = n[i]--1"}), "c[i] = n[i] - (-1) for i in 0..8");
  const Result<ParsedEquations> r = [] {
    static Fixture f;
    return parse_equations({"c[i] = n[i] / 3 % 2 + tdiv(n[i], 3) + (n[i] & 7) + (n[i] << 2) + ~n[i]"}, f.context);
  }();
  ASSERT_TRUE(r);
  EXPECT_EQ(to_text(r->equations[0].value), "n[i] / 3 % 2 + tdiv(n[i], 3) + (n[i] & 7) + (n[i] << 2) + ~n[i]");
  bool floor_div = false;
  walk(r->equations[0].value, [&](const Expr& e) { floor_div |= e.op == Op::kFloorDiv; });
  EXPECT_TRUE(floor_div);
  EXPECT_EQ(parse({"c[i] = pow(n[i], 2)"}), "c[i] = pow(n[i], 2) for i in 0..8");
  EXPECT_EQ(parse({"c[i] = floor(n[i])"}), "c[i] = n[i] for i in 0..8");
  EXPECT_EQ(parse({"c[i] = fmod(n[i], 3)"}), "c[i] = tmod(n[i], 3) for i in 0..8");
  EXPECT_EQ(parse({"c[i] = d[i] % 2"}), "wrong-operand-dtype:8");
  EXPECT_EQ(parse({"c[i] = d[i] ^ 2"}), "wrong-operand-dtype:8");
  EXPECT_EQ(parse({"c[i] = isnan(d[i]) or not d[i] < inf and flag[i]"}),
            "c[i] = isnan(d[i]) or not(d[i] < inf) and flag[i] for i in 0..8");
  EXPECT_EQ(parse({"c[i] = expp(d[i])"}), "unknown-function:8");
  EXPECT_EQ(parse({"c[i] = exp(d[i], 2)"}), "argument-count:8");
  EXPECT_EQ(parse({"c[i] = log1p(d[i]) + expm1(d[i]) + sign(d[i]) + round(d[i])"}),
            "c[i] = log1p(d[i]) + expm1(d[i]) + sign(d[i]) + round(d[i]) for i in 0..8");
}

TEST(Equations, SubscriptsC11C12) {
  EXPECT_EQ(parse({"c[i] = v[ids[i]]"}), "c[i] = v[cast(i64, ids[i])] for i in 0..8");
  EXPECT_EQ(parse({"c[i] = v[2*ids[i] + i - 1]"}), "c[i] = v[2 * cast(i64, ids[i]) + i - 1] for i in 0..8");
  EXPECT_EQ(parse({"c[i] = v[min(max(i - 1, 0), N - 1)] for i in 0..N"}), "c[i] = v[min(max(i - 1, 0), N - 1)] for i in 0..N");
  EXPECT_EQ(parse({"c[i] = v[d[i]]"}), "wrong-operand-dtype:10");
  EXPECT_EQ(parse({"c[i] = v[i*i] for i in 0..8"}), "not-affine:10");
  EXPECT_EQ(parse({"c[i] = v[abs(i)] for i in 0..8"}), "not-affine:10");
  EXPECT_EQ(parse({"c[i] = v[wrap(ids[i])]"}), "not-affine:10");
  EXPECT_EQ(parse({"c[i] = a[i]"}), "range-unknown:3");
  EXPECT_EQ(parse({"c[i] = a[i] + v[i]"}), "subscript-count:8");
  EXPECT_EQ(parse({"c[i] = v + v[i]"}), "subscript-count:8");
  EXPECT_EQ(parse({"c[i] = v[i - 1 ? s] for i in 0..N"}), "pad-not-constant:18");
  EXPECT_EQ(parse({"c[i] = v[i - 1 ? sum[k](1)] for i in 0..N"}), "pad-not-constant:18");
  EXPECT_EQ(parse({"c[i] = v[cast(i64, sum[k](n[k]))] for i in 0..N"}), "not-affine:10");
  EXPECT_EQ(parse({"c[i] = n[i - 1 ? 1.5] for i in 0..8"}), "mixed-dtypes:18");
  EXPECT_EQ(parse({"c[i] = n[i - 1 ? -2147483648] for i in 0..8"}), "c[i] = n[i - 1 ? -2147483648] for i in 0..8");
  Fixture f;
  f.context.operator_text = true;
  const Result<ParsedEquations> r = parse_equations({"c[i] = v[wrap(ids[i])]"}, f.context);
  ASSERT_TRUE(r);
  EXPECT_TRUE(r->equations[0].value->wrap_gather);
}

TEST(Equations, EveryNameIsAllowedP2) {
  EXPECT_EQ(parse({"c[for] = class[for] + exp for for in 0..8"}), "c[for] = class[for] + exp[] for for in 0..8");
  EXPECT_EQ(parse({"c[i] = sum[i] + exp(class[i]) where i < 3"}), "c[i] = sum[i] + exp(class[i]) where i < 3 for i in 0..8");
  EXPECT_EQ(parse({"c[where] = sum[k](sum[k] * class[where]) where where < 3"}),
            "c[where] = sum[k](sum[k] * class[where] for k in 0..8) where where < 3 for where in 0..8");
}

TEST(Equations, TextReadsBackAsTheSameEquation) {
  for (const char* line :
       {"c[i] = sum[j](h[i, j] * h[i, j]) where i < 3", "c[i] = n[i] + 2*i + N", "c[i] = v[ids[i]] - -0.1",
        "c[i] = select(i < n[i], v[i + 1 ? -inf], 3e-7) for i in 0..8", "c[i] = n[i] / 3 % 2 - (n[i] - 1)"}) {
    Fixture f;
    const Result<ParsedEquations> first = parse_equations({line}, f.context);
    ASSERT_TRUE(first) << line << to_text(first.errors());
    const Result<ParsedEquations> second = parse_equations({to_text(first->equations[0])}, f.context);
    ASSERT_TRUE(second) << to_text(second.errors());
    EXPECT_TRUE(same(first->equations[0].value, second->equations[0].value)) << to_text(first->equations[0]);
  }
}

TEST(Equations, SeveralComplaintsAndTheirWords) {
  EXPECT_EQ(parse({"t[i] = y[i] + v[i]", "c[i] = t[i] * z[i]", "e[i] = v[i] +"}),
            "syntax:2/14 unknown-name-in-text:0/8 unknown-name-in-text:1/15");
  Fixture f;
  const Result<ParsedEquations> r = parse_equations({"c[i] = tabel[i] + v[i]"}, f.context);
  ASSERT_FALSE(r);
  f.add("table", DType::kF32, {"N"});
  const Result<ParsedEquations> again = parse_equations({"c[i] = tabel[i] + v[i]"}, f.context);
  EXPECT_EQ(to_text(again.errors()),
            "p.json:1:8: error[unknown-name-in-text]: 'tabel' is not an operand, a local defined above, an index or a symbol "
            "(at /ops/0/def/0)\n  c[i] = tabel[i] + v[i]\n         ^\n  note: did you mean \"table\"?\n");
}

TEST(Equations, HostileTextsAreRefused) {
  EXPECT_EQ(parse({"c[i] = " + std::string(100000, '(')}), "text-too-deep:265");
  EXPECT_EQ(parse({"c[i] = " + std::string(100000, '-') + "v[i]"}), "text-too-deep:1007");
  std::string chain = "c[i] = v[i]";
  for (int k = 0; k < 5000; ++k) chain += " + v[i]";
  EXPECT_EQ(parse({chain}), "text-too-deep:6999");
  EXPECT_EQ(parse({"c[i] = v[i] + \x01"}), "bad-character:15");
  EXPECT_EQ(parse({"c[i] = v[i] + \xc3\xa9"}), "bad-character:15");
}

TEST(Equations, NoLinesAreRefused) {
  Fixture f;
  const Result<ParsedEquations> r = parse_equations({}, f.context);
  ASSERT_FALSE(r);
  EXPECT_EQ(r.errors()[0].code, Code::kNoEquations);
}

}  // namespace
}  // namespace facet
