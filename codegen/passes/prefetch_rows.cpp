// prefetch_rows: while a row is computed, the next one is on its way.
//
//   for i                                       for i
//     for j  m = max(m, x[i, j..])                for j  m = max(m, x[i, j..])
//     for j  p[j..] = exp(x[i, j..] - m)   -->    for j  prefetch x[i + 1, j], y[i, j]
//                                                        p[j..] = exp(x[i, j..] - m)
//     for j  y[i, j..] = p[j..] * c               for j  y[i, j..] = p[j..] * c
//
// Several sweeps over a row take turns at waiting: the first for the row to come, the last for the lines that it stores to, and
// those between find the row in the cache and leave the memory idle. The one of them with most work for each line asks, line
// by line, for the same place in the next row and for the place in this row that a later sweep stores to, unless that is
// stored past the caches. The hardware's prefetcher does neither: it follows the sweep that runs, and ends at every page.
//
// Only arrays that no cache of one core holds, only rows of which two fit into half of it, only vectors in a row, unmasked. A
// prefetch never faults and changes nothing, so it needs no proof, and behind the last row it does no harm. Two cores of an
// Emerald Rapids, softmax of 512 x 4096 f32: 0.53 ms, with the next row 0.40 (stored past the caches), with the results 0.41.
#include "codegen/passes/context.hpp"
#include "codegen/passes/linear.hpp"
#include "codegen/passes/tree.hpp"
#include "facet/expr_facts.hpp"
#include "facet/expr_walk.hpp"

#include <algorithm>
#include <cstdlib>

namespace facet::passes {

namespace {

constexpr std::int64_t kLine = 64;           // bytes
constexpr std::int64_t kLeastRow = 2048;     // bytes: of shorter rows the hardware's prefetcher sees several in a page
constexpr std::int64_t kMostLines = 8;       // asked for in an iteration
constexpr std::int64_t kMostApart = 128;     // elements: loops by one or several vectors end so far apart on one row
constexpr double kFunctionWork = 10;         // of exp and the like, in operations
constexpr std::int64_t kOwnCache = 1 << 20;  // bytes, where the machine does not say

// A serial innermost loop with an extent that symbols decide.
struct Sweep {
  std::size_t at = 0;  // in its block
  const For* loop = nullptr;
  std::int64_t elements = 0;
  std::vector<Access> accesses;  // vectors in a row
  double work = 0;               // operations for each element of a step
};

double work_of(const LoopList& body) {
  double work = 0;
  walk_expressions(body, [&](const ExprPtr& e) {
    walk(e, [&](const Expr& x) {
      if (x.lanes > 1 && !x.args.empty() && x.op != Op::kRead) work += is_function(x.op) ? kFunctionWork : 1;
    });
  });
  return work;
}

class RowPrefetching {
 public:
  explicit RowPrefetching(Context& context) : context_(context) {
    const std::vector<CacheLevel>& caches = context.machine.caches;
    if (caches.size() > 1 && caches[1].size_bytes > 0) own_cache_ = caches[1].size_bytes;
  }

  LoopList in_block(const LoopList& block) {
    LoopList out;
    for (const LoopPtr& node : block) {
      LoopPtr next = rebuild(
          node, [](const ExprPtr& e) { return e; }, [&](const LoopList& inner) { return in_block(inner); });
      const For* f = as<For>(next);
      out.push_back(f && f->kind != LoopKind::kVector ? with_rows(*f) : next);
    }
    return out;
  }

 private:
  Context& context_;
  std::int64_t own_cache_ = kOwnCache;

  LoopPtr with_rows(const For& rows) {
    std::vector<Sweep> sweeps;
    for (std::size_t i = 0; i < rows.body.size(); ++i) add_sweep(rows.body[i], i, &sweeps);
    const Sweep* busy = nullptr;
    for (const Sweep& s : sweeps)
      if (&s != &sweeps[0] && (!busy || s.work > busy->work) && reads_again(sweeps, s)) busy = &s;
    if (!busy) return make_loop(rows);
    std::string what;
    const LoopList lines = lines_of(rows, sweeps, *busy, &what);
    if (lines.empty()) return make_loop(rows);
    context_.note("prefetch", rows.iterator, true, what + " while the row is computed");
    For sweep = *busy->loop, loop = rows;
    sweep.body.insert(sweep.body.begin(), lines.begin(), lines.end());
    loop.body[busy->at] = make_loop(std::move(sweep));
    return make_loop(std::move(loop));
  }

  void add_sweep(const LoopPtr& node, std::size_t at, std::vector<Sweep>* sweeps) const {
    const For* f = as<For>(node);
    if (!f || f->kind != LoopKind::kSerial) return;
    for (const LoopPtr& n : f->body)
      if (as<For>(n) || as<If>(n)) return;
    const std::int64_t extent = typical(to_expr(difference(f->upper, f->lower)));
    if (extent <= 0) return;
    Sweep s;
    s.at = at;
    s.loop = f;
    s.elements = (extent + f->step - 1) / f->step * f->step;
    s.work = work_of(f->body) / static_cast<double>(f->step);
    for (const Access& a : accesses_of(f->body))
      if (is_row(a, *f)) s.accesses.push_back(a);
    sweeps->push_back(std::move(s));
  }

  // The value at the symbols' default values; -1 where something else decides too.
  std::int64_t typical(const ExprPtr& e) const {
    SymbolValues values;
    for (const Symbol& s : context_.program->symbols) values[s.name] = s.value;
    bool known = is_index_arithmetic(e);
    walk(e, [&](const Expr& x) { known = known && (x.op != Op::kIndex || values.count(x.name) > 0) && x.op != Op::kValue; });
    return known ? evaluate_index(e, values) : -1;
  }

  // Vectors side by side of an array of the caller or the workspace.
  bool is_row(const Access& a, const For& sweep) const {
    const Buffer* buffer = context_.find(a.buffer);
    if (!buffer || buffer->space != MemorySpace::kGlobal || buffer->role == BufferRole::kLocal || !buffer->strides.empty() ||
        a.subscripts.empty() || a.lanes == 1 || a.lane_stride != 1 || a.mask || a.padded)
      return false;
    for (const ExprPtr& e : a.subscripts)
      if (e->lanes > 1 || !accesses_of(e).empty()) return false;
    for (std::size_t d = 0; d + 1 < a.subscripts.size(); ++d)
      if (mentions(a.subscripts[d], sweep.iterator)) return false;
    return to_linear(a.subscripts.back()).coefficient_of(sweep.iterator) == 1;
  }

  // The same array, and the same row of it whatever the place.
  static bool same_row(const Access& a, const For& in_a, const Access& b, const For& in_b) {
    if (a.buffer != b.buffer || a.subscripts.size() != b.subscripts.size()) return false;
    for (std::size_t d = 0; d + 1 < a.subscripts.size(); ++d)
      if (!same(a.subscripts[d], b.subscripts[d])) return false;
    return difference(facet::substitute(a.subscripts.back(), {{in_a.iterator, idx(0)}}),
                      facet::substitute(b.subscripts.back(), {{in_b.iterator, idx(0)}}))
        .is_constant();
  }

  // Does an earlier sweep read a row that this one reads?
  bool reads_again(const std::vector<Sweep>& sweeps, const Sweep& s) const {
    for (const Sweep& before : sweeps)
      if (before.at < s.at)
        for (const Access& a : before.accesses)
          for (const Access& b : s.accesses)
            if (!a.writes && !b.writes && fits(b, s) && same_row(a, *before.loop, b, *s.loop)) return true;
    return false;
  }

  bool is_large(const Access& a) const {
    double bytes = static_cast<double>(size_bytes(a.type));
    for (const ExprPtr& e : context_.find(a.buffer)->extents) {
      bytes *= static_cast<double>(std::max<std::int64_t>(typical(e), 1));
    }
    return bytes > static_cast<double>(own_cache_);
  }

  bool fits(const Access& a, const Sweep& s) const {
    const std::int64_t row = s.elements * size_bytes(a.type);
    return row >= kLeastRow && 4 * row <= own_cache_;
  }

  struct Wanted {
    Access place;  // for the busy sweep's iterator
    std::string name;
  };

  // The next row of each array that the busy sweep reads a row of.
  std::vector<Wanted> next_rows(const For& rows, const std::vector<Sweep>& sweeps, const Sweep& busy) const {
    std::vector<Wanted> wanted;
    const std::set<std::string> inside = introduced_names(busy.loop->body);
    for (const Access& a : busy.accesses) {
      if (a.writes || !fits(a, busy) || !is_large(a) || mentions_name(a, inside)) continue;
      Access next = a;
      bool moves = false;
      for (ExprPtr& e : next.subscripts) {
        moves = moves || to_linear(e).coefficient_of(rows.iterator) != 0;
        e = to_expr(to_linear(facet::substitute(e, {{rows.iterator, idx_add(index(rows.iterator), idx(rows.step))}})));
      }
      if (moves && !read_now(sweeps, next, *busy.loop))
        add_row(std::move(next), *busy.loop, "the next row of " + a.buffer, &wanted);
    }
    return wanted;
  }

  // Where sweeps behind the busy one store to, place by place as it walks.
  std::vector<Wanted> results(const For& rows, const std::vector<Sweep>& sweeps, const Sweep& busy) const {
    std::vector<Wanted> wanted;
    std::set<std::string> later_names =
        introduced_names({rows.body.begin() + static_cast<std::ptrdiff_t>(busy.at) + 1, rows.body.end()});
    later_names.erase(busy.loop->iterator);
    for (const Sweep& later : sweeps) {
      if (later.at <= busy.at || std::abs(later.elements - busy.elements) >= kMostApart ||
          !same(later.loop->lower, busy.loop->lower))
        continue;
      for (const Access& a : later.accesses) {
        if (!a.writes || streams(*later.loop, a.buffer) || !fits(a, later) || !is_large(a)) continue;
        Access place = a;
        for (ExprPtr& e : place.subscripts) e = facet::substitute(e, {{later.loop->iterator, index(busy.loop->iterator)}});
        if (!mentions_name(place, later_names)) add_row(std::move(place), *busy.loop, "the results " + a.buffer, &wanted);
      }
    }
    return wanted;
  }

  static bool mentions_name(const Access& a, const std::set<std::string>& names) {
    return std::any_of(a.subscripts.begin(), a.subscripts.end(), [&](const ExprPtr& e) { return mentions_any(e, names); });
  }

  // Once for each row.
  static void add_row(Access place, const For& busy, std::string name, std::vector<Wanted>* wanted) {
    for (const Wanted& w : *wanted)
      if (same_row(w.place, busy, place, busy)) return;
    wanted->push_back({std::move(place), std::move(name)});
  }

  // The prefetches of one iteration of the busy sweep, line by line; none where they are too many.
  LoopList lines_of(const For& rows, const std::vector<Sweep>& sweeps, const Sweep& busy, std::string* what) const {
    std::vector<Wanted> wanted = next_rows(rows, sweeps, busy);
    for (Wanted& w : results(rows, sweeps, busy)) wanted.push_back(std::move(w));
    LoopList lines;
    for (const Wanted& w : wanted) {
      const std::int64_t a_line = std::max<std::int64_t>(1, kLine / size_bytes(w.place.type));
      for (std::int64_t at = 0; at < busy.loop->step; at += a_line) {
        std::vector<ExprPtr> subscripts = w.place.subscripts;
        subscripts.back() = to_expr(to_linear(idx_add(subscripts.back(), idx(at))));
        lines.push_back(make_loop(Prefetch{w.place.buffer, std::move(subscripts)}));
      }
      *what += (what->empty() ? "" : ", ") + w.name;
    }
    return static_cast<std::int64_t>(lines.size()) <= kMostLines ? lines : LoopList{};
  }

  // Is the row read in this iteration already?
  static bool read_now(const std::vector<Sweep>& sweeps, const Access& row, const For& in) {
    for (const Sweep& s : sweeps)
      for (const Access& a : s.accesses)
        if (same_row(row, in, a, *s.loop)) return true;
    return false;
  }

  static bool streams(const For& sweep, const std::string& buffer) {
    return std::any_of(sweep.body.begin(), sweep.body.end(), [&](const LoopPtr& n) {
      const Store* s = as<Store>(n);
      return s && s->stream && s->buffer == buffer;
    });
  }
};

}  // namespace

LoopList prefetch_rows(const LoopList& body, Context& context) { return RowPrefetching(context).in_block(body); }

}  // namespace facet::passes
