// prefetch_copies: while a panel is used, what the next one is copied from is on its way.
//
//   for jt                                            for jt
//     for k  t[k, 0..48] = x[k, 48*jt..]                for k  t[k, 0..48] = x[k, 48*jt..]
//     for i                                             for i
//       for k                                -->          for k
//         set y_0 = fma(.., t[k, 0..16], y_0)               prefetch x[(256*i + k) / 3, 48*(jt + 1) + 16*((256*i + k) mod 3)]
//         ..                                                set y_0 = fma(.., t[k, 0..16], y_0)
//
// A panel is copied from many short runs that lie far apart, which no hardware prefetcher follows: the copy waits for L3 at
// each of them. The loops that use the panel wait for nothing, and ask for the lines of the next one, a few an iteration: all
// at once they would hold up each other (a 1 x 1 layer of 56^2 256 -> 64 on Zen 4: 0.523 ms, 0.517 with all of them before each
// tile, 0.489 so). Runs of a page or more the hardware follows, but while they are copied nothing is computed: they are asked
// for as well (84 x 96 x 84 x 8064 f32 there: 71 ms, 59 so). The level is the outermost of the loops around the sums where the
// lines are few enough an iteration. A prefetch never faults and changes nothing, so it needs no proof; behind the last panel
// it does no harm.
//
// Only copies into arrays of the kernel's own from arrays of the caller, in one loop of runs, of which L2 holds two panels.
#include "codegen/passes/context.hpp"
#include "codegen/passes/visits.hpp"

#include <algorithm>
#include <optional>

namespace facet::passes {

namespace {

constexpr std::int64_t kFarRuns = 1024;      // bytes: runs nearer to each other are a stream to the hardware
constexpr std::int64_t kLeastLines = 64;     // of a panel: fewer are soon there
constexpr std::int64_t kOwnCache = 1 << 20;  // bytes, where the machine does not say

// The runs that a copy reads for one iteration of the loop around it.
struct Runs {
  std::string buffer;
  std::vector<ExprPtr> first;  // the place that the next iteration's first run begins at
  std::string row;             // the copy's loop over the runs
  ExprPtr lower;               // of it
  std::int64_t count = 0, lines = 0, line_elements = 0;

  std::int64_t all() const { return count * lines; }
};

class CopyPrefetching {
 public:
  explicit CopyPrefetching(Context& context) : context_(context) {
    const std::vector<CacheLevel>& caches = context.machine.caches;
    if (caches.size() > 1 && caches[1].size_bytes > 0) own_cache_ = caches[1].size_bytes;
  }

  LoopList in_block(const LoopList& block) {
    LoopList out;
    for (const LoopPtr& n : block) {
      const LoopPtr inner = rebuild(
          n, [](const ExprPtr& e) { return e; }, [&](const LoopList& body) { return in_block(body); });
      const For* f = as<For>(inner);
      out.push_back(f && f->kind == LoopKind::kSerial && f->step == 1 ? in_loop(*f) : inner);
    }
    return out;
  }

 private:
  Context& context_;
  std::int64_t own_cache_ = kOwnCache;

  LoopPtr in_loop(const For& f) const {
    For made = f;
    for (std::size_t i = 0; i < f.body.size(); ++i) {
      const For* copy = as<For>(f.body[i]);
      const std::optional<Runs> runs = copy ? runs_of(*copy, f.iterator) : std::nullopt;
      if (!runs) continue;
      for (std::size_t use = i + 1; use < f.body.size(); ++use) {
        const LoopPtr asking = asked_in(f.body[use], *runs, {});
        if (!asking) continue;
        made.body[use] = asking;
        context_.note("prefetch", f.iterator, true, "the next panel of " + runs->buffer + " while this one is used");
        break;
      }
    }
    return make_loop(std::move(made));
  }

  // By how many elements the place moves with the iterator; nullopt: not linearly.
  std::optional<std::int64_t> step_of(const Buffer& buffer, const std::vector<ExprPtr>& subscripts,
                                      const std::string& iterator) const {
    std::int64_t step = 0;
    for (std::size_t d = 0; d < subscripts.size(); ++d) {
      std::int64_t stride = 0;
      const std::int64_t coefficient = to_linear(subscripts[d]).coefficient_of(iterator);
      if (!constant_stride(buffer, d, &stride) || (coefficient == 0 && mentions(subscripts[d], iterator))) return std::nullopt;
      step += coefficient * stride;
    }
    return step;
  }

  // The loops of a copy directly inside each other; empty where anything else is among them.
  static std::vector<const For*> copy_loops(const For& f) {
    std::vector<const For*> loops{&f};
    while (loops.back()->body.size() == 1 && as<For>(loops.back()->body[0])) loops.push_back(as<For>(loops.back()->body[0]));
    for (const For* l : loops)
      if (!constant_trips(*l)) return {};
    for (const LoopPtr& n : loops.back()->body)
      if (!as<Store>(n) && !as<Let>(n) && !as<Comment>(n)) return {};
    return loops;
  }

  static bool same_row(const Access& a, const Access& b) {
    for (std::size_t d = 0; d + 1 < a.subscripts.size(); ++d)
      if (!same(a.subscripts[d], b.subscripts[d])) return false;
    return true;
  }

  std::optional<Runs> runs_of(const For& copy, const std::string& panels) const {
    const std::vector<const For*> loops = copy_loops(copy);
    std::optional<Access> first;
    std::int64_t span = 0;
    for (const Access& a : loops.empty() ? std::vector<Access>{} : accesses_of(loops.back()->body)) {
      const Buffer* buffer = context_.find(a.buffer);
      if (!buffer) return std::nullopt;
      const bool own = buffer->role == BufferRole::kLocal;
      if (a.writes != own || (!own && buffer->role == BufferRole::kWorkspace)) return std::nullopt;
      if (a.writes) continue;
      if (a.subscripts.empty()) return std::nullopt;  // a scalar is no run
      const Linear apart = first ? difference(a.subscripts.back(), first->subscripts.back()) : constant_form(0);
      const bool along = !first || (a.buffer == first->buffer && same_row(a, *first));
      if (!along || a.padded || a.lane_stride != 1 || !apart.is_constant() || apart.constant < 0) return std::nullopt;
      if (!first) first = a;
      span = std::max(span, apart.constant + a.lanes);
    }
    if (!first) return std::nullopt;
    return as_runs(*first, loops, span, panels);
  }

  std::optional<Runs> as_runs(const Access& first, const std::vector<const For*>& loops, std::int64_t span,
                              const std::string& panels) const {
    const Buffer& buffer = *context_.find(first.buffer);
    const std::int64_t bytes = size_bytes(buffer.dtype);
    Runs runs{first.buffer, first.subscripts, "", nullptr, 0, 0, kLineBytes / bytes};
    std::vector<std::pair<std::int64_t, const For*>> by_step;
    for (const For* l : loops) by_step.emplace_back(step_of(buffer, first.subscripts, l->iterator).value_or(-1), l);
    std::sort(by_step.begin(), by_step.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    for (const auto& [step, l] : by_step) {
      if (step < 1) return std::nullopt;
      if (step <= span) {
        span += step * (*constant_trips(*l) - 1);
      } else if (runs.row.empty() && step * bytes >= kFarRuns) {
        runs.row = l->iterator;
        runs.lower = l->lower;
        runs.count = *constant_trips(*l);
      } else {
        return std::nullopt;
      }
    }
    runs.lines = (span + runs.line_elements - 1) / runs.line_elements;
    if (runs.row.empty() || runs.all() < kLeastLines || 2 * runs.all() * kLineBytes > own_cache_) return std::nullopt;
    std::vector<ExprPtr> start;
    for (ExprPtr& e : runs.first) {
      for (const For* l : loops)
        if (l->iterator != runs.row) e = substitute(e, {{l->iterator, l->lower}});
      start.push_back(substitute(e, {{runs.row, runs.lower}}));
    }
    if (step_of(buffer, start, panels).value_or(0) < 1) return std::nullopt;  // every iteration copies the same
    const ExprPtr next = idx_add(index(panels), idx(1));
    for (ExprPtr& e : runs.first) e = substitute(e, {{panels, next}});
    runs.lower = substitute(runs.lower, {{panels, next}});
    return runs;
  }

  // The node with the lines asked for in the loops that sum vectors; null: it has none, or too few iterations.
  LoopPtr asked_in(const LoopPtr& node, const Runs& runs, const Visits& outside) const {
    if (const If* i = as<If>(node)) {
      If made = *i;
      const bool then = asked_among(&made.then, runs, outside), otherwise = asked_among(&made.otherwise, runs, outside);
      return then || otherwise ? make_loop(std::move(made)) : nullptr;
    }
    if (const Sequence* q = as<Sequence>(node)) {
      Sequence made = *q;
      return asked_among(&made.body, runs, outside) ? make_loop(std::move(made)) : nullptr;
    }
    const For* f = as<For>(node);
    const std::optional<std::int64_t> trips = f ? most_trips(*f) : std::nullopt;
    if (!trips) return nullptr;
    const Visits here = outside.inside(*f, *trips);
    For made = *f;
    if (sums_vectors(f->body)) {
      const std::int64_t at_once = lines_at_once(runs.lines, runs.all(), here.count);
      if (at_once > 0 && vectors_set(f->body, 1) >= kWorkALine * at_once) {
        const LoopList lines = asking(runs, here.before, at_once);
        made.body.insert(made.body.begin(), lines.begin(), lines.end());
        return make_loop(std::move(made));
      }
    }
    return asked_among(&made.body, runs, here) ? make_loop(std::move(made)) : nullptr;
  }

  bool asked_among(LoopList* block, const Runs& runs, const Visits& outside) const {
    bool any = false;
    for (LoopPtr& n : *block)
      if (const LoopPtr asking = asked_in(n, runs, outside)) {
        n = asking;
        any = true;
      }
    return any;
  }

  static LoopList asking(const Runs& runs, const ExprPtr& visit, std::int64_t at_once) {
    const std::int64_t parts = runs.lines / at_once;
    const ExprPtr run = idx_add(runs.lower, idx_min(idx_floordiv(visit, parts), idx(runs.count - 1)));
    LoopList list;
    for (std::int64_t l = 0; l < at_once; ++l) {
      std::vector<ExprPtr> place;
      for (const ExprPtr& e : runs.first) place.push_back(normal(substitute(e, {{runs.row, run}})));
      const ExprPtr line = idx_add(idx_mul(idx_mod(visit, parts), idx(at_once)), idx(l));
      place.back() = normal(idx_add(place.back(), idx_mul(line, idx(runs.line_elements))));
      list.push_back(make_loop(Prefetch{runs.buffer, std::move(place)}));
    }
    return list;
  }
};

}  // namespace

LoopList prefetch_copies(const LoopList& body, Context& context) { return CopyPrefetching(context).in_block(body); }

}  // namespace facet::passes
