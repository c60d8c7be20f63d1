// Policy: matrix-product-like nests get cache tiles, packed operands and a register tile.
//
// A statement  C[..] += A[..] * B[..]  with loops i (in C and A, not in B), j (in C and B, not in A, the lane axis) and k (in A
// and B, not in C) is a contraction, whatever produced it: matmul, a convolution, an equation or a loop nest. The register tile
// mr x nr keeps mr * nr / lanes accumulators in registers, leaving room for one row of B vectors and one broadcast of A; kc is
// chosen so that a kc x nr panel of B stays in L1, nc and mc so that the packed blocks fit L2 and L3. Source: Low, Igual, Smith
// and Quintana-Orti, Analytical modeling is enough for high-performance BLIS, TOMS 2016.
#include <algorithm>
#include <cmath>

#include "polyhedral/recipe/planner.hpp"

namespace facet {

namespace {

struct Contraction {
  int statement = -1;
  std::vector<std::string> outer;  // further loops of C
  std::string i, j;
  std::vector<std::string> k;  // reduction loops
  const Expr* a = nullptr;     // the read with i
  const Expr* b = nullptr;     // the read with j
};

bool uses(const Expr& read, const std::string& name) {
  bool found = false;
  for (const ExprPtr& s : read.args) walk(s, [&](const Expr& x) { found = found || (x.op == Op::kIndex && x.name == name); });
  return found;
}

bool written(const Statement& s, const std::string& name) {
  bool found = false;
  for (const ExprPtr& e : s.subscripts)
    walk(e, [&](const Expr& x) { found = found || (x.op == Op::kIndex && x.name == name); });
  return found;
}

// The product's two reads when the value is read * read (conversions allowed around them).
bool product_of_reads(const ExprPtr& value, std::vector<const Expr*>* reads) {
  const auto plain = [](ExprPtr e) {
    while (e->op == Op::kCast) e = e->args[0];
    return e;
  };
  const ExprPtr v = plain(value);
  if (v->op != Op::kMul) return false;
  for (const ExprPtr& a : v->args) {
    const ExprPtr r = plain(a);
    if (r->op != Op::kRead) return false;
    reads->push_back(r.get());
  }
  return true;
}

std::optional<Contraction> recognise(const Statement& s, int number, const Model& model) {
  std::vector<const Expr*> reads;
  if (!s.update || *s.update != ReduceKind::kSum || !product_of_reads(s.value, &reads)) return std::nullopt;
  Contraction c;
  c.statement = number;
  double best_i = 0;
  for (int swap = 0; swap < 2; ++swap) {
    const Expr* a = reads[static_cast<std::size_t>(swap)];
    const Expr* b = reads[static_cast<std::size_t>(1 - swap)];
    std::string j;
    for (const std::string& name : s.iterators)
      if (written(s, name) && uses(*b, name) && !uses(*a, name) && Model::stride(s.subscripts, name) == Model::Stride::kUnit)
        j = name;
    if (j.empty()) continue;
    for (std::size_t n = 0; n < s.iterators.size(); ++n) {
      const std::string& name = s.iterators[n];
      if (!written(s, name) || !uses(*a, name) || uses(*b, name)) continue;
      if (model.extent(number, n) <= best_i) continue;
      best_i = model.extent(number, n);
      c.i = name;
      c.j = j;
      c.a = a;
      c.b = b;
    }
  }
  if (c.i.empty()) return std::nullopt;
  for (const std::string& name : s.iterators) {
    if (!written(s, name)) {
      c.k.push_back(name);
    } else if (name != c.i && name != c.j) {
      c.outer.push_back(name);
    }
  }
  return c.k.empty() ? std::nullopt : std::optional<Contraction>(c);
}

struct Tile {
  std::int64_t lanes, mr, nr, kc, mc, nc;
};

std::int64_t round_up(std::int64_t x, std::int64_t to) { return (x + to - 1) / to * to; }

Tile choose_tile(const CpuMachine& cpu, std::int64_t element_bytes, double m, double n, double k, int threads) {
  Tile t{};
  t.lanes = std::max<std::int64_t>(1, cpu.vector_bytes / element_bytes);
  while (t.lanes > 4 && n < static_cast<double>(t.lanes)) t.lanes /= 2;  // short rows (small images) take narrower vectors
  const std::int64_t columns = n >= static_cast<double>(2 * t.lanes) ? 2 : 1;  // two vectors of B a row hide the FMA latency
  t.nr = columns * t.lanes;
  t.mr = std::max<std::int64_t>(
      1, std::min<std::int64_t>((cpu.vector_registers - columns - 1) / columns, static_cast<std::int64_t>(m)));
  const std::int64_t l1 = cpu.caches.empty() ? 32768 : cpu.caches[0].size_bytes;
  const std::int64_t l2 = cpu.caches.size() > 1 ? cpu.caches[1].size_bytes : 1 << 20;
  const std::int64_t l3 = cpu.caches.size() > 2 ? cpu.caches[2].size_bytes : 8 << 20;
  t.kc = std::clamp<std::int64_t>(l1 / 2 / (t.nr * element_bytes), 64, 512);
  if (k < 1.5 * static_cast<double>(t.kc)) t.kc = std::max<std::int64_t>(1, static_cast<std::int64_t>(k));
  t.mc = std::max(t.mr, l2 / 2 / (t.kc * element_bytes) / t.mr * t.mr);
  const std::int64_t share = static_cast<std::int64_t>(std::ceil(m / threads));
  t.mc = std::min(t.mc, round_up(std::max<std::int64_t>(share, 1), t.mr));
  t.nc = std::max(t.nr, l3 / 4 / (t.kc * element_bytes) / t.nr * t.nr);
  t.nc = std::min(t.nc, round_up(static_cast<std::int64_t>(n), t.nr));
  return t;
}

std::vector<std::string> joined(std::vector<std::string> a, const std::vector<std::string>& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

// Tiles, orders, packs B and marks the register tile.
std::vector<Step> contraction_steps(const Schedule& schedule, const Contraction& c, const Tile& t, bool shared_nest) {
  const std::string name = schedule.statement(c.statement).name;
  const std::string k = c.k.back();
  const std::vector<std::string> rest(c.k.begin(), c.k.end() - 1);
  std::vector<Step> steps;
  const std::vector<TreePtr> loops = loops_around(schedule.tree, c.statement);
  if (shared_nest)
    steps.push_back(make_step("distribute", {{"statement", arg(name)}, {"loop", arg(loops.front()->names.at(c.statement))}}));
  const std::vector<std::string> inner{c.i, c.j};
  steps.push_back(
      make_step("interchange", {{"statement", arg(name)}, {"order", arg(joined(joined(joined(c.outer, rest), inner), {k}))}}));
  steps.push_back(make_step("tile", {{"statement", arg(name)},
                                     {"loops", arg(std::vector<std::string>{c.i, c.j, k})},
                                     {"sizes", arg(std::vector<std::int64_t>{t.mc, t.nc, t.kc})},
                                     {"names", arg(std::vector<std::string>{c.i + "t", c.j + "t", k + "t"})}}));
  steps.push_back(make_step("tile", {{"statement", arg(name)},
                                     {"loops", arg(inner)},
                                     {"sizes", arg(std::vector<std::int64_t>{t.mr, t.nr})},
                                     {"names", arg(std::vector<std::string>{c.i + "r", c.j + "r"})}}));
  steps.push_back(make_step("interchange", {{"statement", arg(name)},
                                            {"order", arg(joined(joined(joined(c.outer, {c.j + "t", k + "t"}), rest),
                                                                 {c.i + "t", c.j + "r", c.i + "r", k, c.i, c.j}))}}));
  return steps;
}

// B's dimensions with the lane axis slowest: panel by panel, within a panel row by row.
std::vector<std::string> panel_order(const Contraction& c) {
  std::vector<std::string> order{c.j};
  for (std::size_t d = 0; d < c.b->args.size(); ++d) {
    const ExprPtr& e = c.b->args[d];
    const std::string name = e->op == Op::kIndex ? e->name : "d" + std::to_string(d);
    if (name != c.j) order.push_back(name);
  }
  return order;
}

}  // namespace

void plan_contractions(GroupPlanner& planner) {
  for (const int s : statements_of(planner.schedule().tree)) {
    const Model model = planner.model();
    const Statement& st = planner.schedule().statement(s);
    const std::optional<Contraction> c = recognise(st, s, model);
    if (!c) continue;
    const auto extent = [&](const std::string& name) {
      return model.extent(
          s, static_cast<std::size_t>(std::find(st.iterators.begin(), st.iterators.end(), name) - st.iterators.begin()));
    };
    double k = 1;
    for (const std::string& name : c->k) k *= extent(name);
    const double m = extent(c->i), n = extent(c->j);
    const std::string subject = "contraction " + st.name;
    const int bytes = static_cast<int>(size_bytes(st.value->type));
    const Tile t = choose_tile(planner.options().machine.cpu, bytes, m, n, extent(c->k.back()), planner.threads());
    if (n < static_cast<double>(t.lanes) || m < 2 || m * n * k < 32768) {
      planner.decline("tile", subject,
                      "too small for a register tile: m " + std::to_string(static_cast<long>(m)) + ", n " +
                          std::to_string(static_cast<long>(n)) + ", k " + std::to_string(static_cast<long>(k)));
      continue;
    }
    const bool shared = statements_of(loops_around(planner.schedule().tree, s).front()).size() > 1;
    const std::string sizes = std::to_string(t.mc) + " x " + std::to_string(t.nc) + " x " + std::to_string(t.kc) +
                              " in cache, " + std::to_string(t.mr) + " x " + std::to_string(t.nr) + " in registers";
    if (!planner.attempt_all(contraction_steps(planner.schedule(), *c, t, shared), "tile", subject, sizes)) continue;
    const std::string name = planner.schedule().statement(s).name;
    if (m > 2 * static_cast<double>(t.mr)) {
      ArgumentMap layout{{"order", arg(panel_order(*c))}, {"inner", arg(ArgumentMap{{c->j, arg(t.nr)}})}};
      const bool packed = planner.attempt(
          make_step("promote", {{"array", arg(c->b->name)},
                                {"statement", arg(name)},
                                {"at", arg(c->k.back() + "t")},
                                {"memory", arg(std::string("l2"))},
                                {"layout", arg(layout)}}),
          "promotion", "array " + c->b->name,
          "packed in panels of " + std::to_string(t.nr) + ": read once per " + std::to_string(t.mc) + " rows, contiguous");
      const Schedule& now = planner.schedule();
      if (packed && planner.threads() > 1 &&
          n * static_cast<double>(t.kc) > 65536) {  // below, the threads' start-up is not earned
        const Statement& copy = now.copies.back();
        const TreePtr loop = loops_around(
            now.tree, now.statement_count() - 1)[loops_around(now.tree, now.statement_count() - 1).size() - c->b->args.size()];
        planner.attempt(
            make_step("parallelize", {{"statement", arg(copy.name)}, {"loop", arg(loop->names.at(now.statement_count() - 1))}}),
            "parallel", "packing of " + c->b->name, "panels on threads");
      }
    } else {
      planner.decline("promotion", "array " + c->b->name,
                      "only " + std::to_string(static_cast<long>(m)) + " rows use it: packing costs more than it saves");
    }
    // Rows of A a power of two apart fall into the same cache sets; packed, the mr values of one k stand side by side. The copy
    // pays once a block of A meets several panels of B.
    if (m >= 4 * static_cast<double>(t.mr) && n >= 8 * static_cast<double>(t.nr) && t.mc * t.kc * bytes <= 512 * 1024)
      planner.attempt(make_step("promote", {{"array", arg(c->a->name)},
                                            {"statement", arg(name)},
                                            {"at", arg(c->i + "t")},
                                            {"memory", arg(std::string("stack"))},
                                            {"layout", arg(ArgumentMap{{"inner", arg(ArgumentMap{{c->i, arg(t.mr)}})}})}}),
                      "promotion", "array " + c->a->name,
                      "packed in rows of " + std::to_string(t.mr) + ": contiguous for " + std::to_string(static_cast<long>(n)) +
                          " columns");
    planner.attempt(make_step("vectorize", {{"statement", arg(name)}, {"loop", arg(c->j)}, {"width", arg(t.lanes)}}), "vector",
                    "loop " + c->j + " of " + name, "lane axis of the register tile");
    planner.attempt(make_step("unroll", {{"statement", arg(name)}, {"loop", arg(c->i)}}), "unroll",
                    "loop " + c->i + " of " + name, "rows of the register tile");
    if (planner.threads() > 1 && m * n * k > 1e6)
      planner.attempt(make_step("parallelize", {{"statement", arg(name)}, {"loop", arg(c->i + "t")}}), "parallel",
                      "loop " + c->i + "t of " + name, "row blocks on threads");
  }
}

}  // namespace facet
