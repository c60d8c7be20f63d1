// prefetch_tiles: while register tiles are computed, what later ones read in place is on its way.
//
//   for a                                             for a
//     for cr                                            for cr
//       for e                                             for e
//         set y_0 = fma(x[a, e, 0..16], .., y_0)   -->      prefetch x[a + 1, 96*cr + e, 0]
//         ..                                                set y_0 = fma(x[a, e, 0..16], .., y_0)
//
// An operand of the caller that is not copied comes from memory in the middle of the sums, row by row, each on a page of its
// own: they wait at every tile, and what the hardware could fetch meanwhile it does not know. So the sums ask for what the next
// iteration of a loop around them reads: the outermost such loop of which a small part of the second cache holds an iteration.
// The lines are dealt out evenly; more than a part of the first cache go to the second only (on two Zen 4 cores 96 x 84 x 96
// over 96 columns of 24 rows f32: 34 ms so, 26 then; products of 96 columns over 592704 rows of 96: 70 ms, 52 then).
//
// Not where the same lines have been read just before, in the iteration before of a loop around: then they are in the second
// cache. Not small arrays. Only places that constants and loops decide, of one array all at the same distance. A prefetch never
// faults and changes nothing, so it needs no proof; behind the last iteration it does no harm.
#include "codegen/passes/context.hpp"
#include "codegen/passes/visits.hpp"

#include <algorithm>
#include <optional>

namespace facet::passes {

namespace {

constexpr std::int64_t kOwnCache = 1 << 20, kFirstCache = 32 << 10;  // bytes, where the machine does not say
constexpr std::int64_t kPart = 2;                                    // of the first cache, for an iteration's lines
constexpr std::int64_t kNear = 4;         // of the first, up to which they are put there; and of the second, for a small array
constexpr std::int64_t kLeastLines = 16;  // of an iteration: fewer are soon there
constexpr std::int64_t kFewPasses = 2;    // over the same lines: more find them in the cache too often
constexpr std::int64_t kLeastTrips = 4;   // of the loop: what the last iteration asks for is not the next

// One loop, or one distance between accesses: so many steps of so many elements.
struct Dimension {
  std::int64_t step = 0, count = 1;
};

// An array's elements that one iteration of the sums reads.
struct Operand {
  std::string buffer;
  std::vector<ExprPtr> first;  // the subscripts of the first of them
  Linear place;                // of that, in elements
  Dimension apart;             // the others
  std::int64_t lanes = 1;
};

// Runs of lines that lie evenly apart.
struct Lines {
  std::int64_t runs = 1, apart = 0;  // elements from one to the next
  std::int64_t of_run = 1;

  std::int64_t all() const { return runs * of_run; }
};

class TilePrefetching {
 public:
  explicit TilePrefetching(Context& context) : context_(context) {
    const std::vector<CacheLevel>& caches = context.machine.caches;
    if (!caches.empty() && caches[0].size_bytes > 0) first_cache_ = caches[0].size_bytes;
    if (caches.size() > 1 && caches[1].size_bytes > 0) own_cache_ = caches[1].size_bytes;
  }

  LoopList in_block(const LoopList& block) {
    LoopList out;
    for (const LoopPtr& n : block) {
      const For* f = as<For>(n);
      if (f) around_.push_back(f);
      const LoopPtr inner = rebuild(
          n, [](const ExprPtr& e) { return e; }, [&](const LoopList& body) { return in_block(body); });
      out.push_back(f && innermost(*f) && sums_vectors(f->body) ? with_lines(*as<For>(inner)) : inner);
      if (f) around_.pop_back();
    }
    return out;
  }

 private:
  // The loop whose next iteration is asked for.
  struct Choice {
    std::size_t loop = 0;  // in around_
    Visits visits;
    Lines lines;
  };

  Context& context_;
  std::int64_t first_cache_ = kFirstCache, own_cache_ = kOwnCache;
  std::vector<const For*> around_;  // outermost first, the sums' own last

  static bool innermost(const For& f) {
    return std::none_of(f.body.begin(), f.body.end(), [](const LoopPtr& n) { return as<For>(n) || as<If>(n); });
  }

  LoopPtr with_lines(For sums) {
    LoopList lines;
    for (const Operand& o : operands_of_sums(sums)) {
      const std::optional<Choice> chosen = choose(o);
      if (!chosen) continue;
      const std::int64_t at_once = lines_at_once(chosen->lines.of_run, chosen->lines.all(), chosen->visits.count);
      if (at_once == 0 || vectors_set(sums.body, 1) < kWorkALine * (at_once + static_cast<std::int64_t>(lines.size())))
        continue;
      for (LoopPtr& l : asking(o, *chosen, at_once)) lines.push_back(std::move(l));
      context_.note("prefetch", around_[chosen->loop]->iterator, true,
                    "what the next iteration reads of " + o.buffer + " while this one is computed");
    }
    sums.body.insert(sums.body.begin(), lines.begin(), lines.end());
    return make_loop(std::move(sums));
  }

  // The arrays of the caller that the sums read in place, those whose accesses lie evenly apart.
  std::vector<Operand> operands_of_sums(const For& sums) const {
    std::map<std::string, std::vector<Access>> reads;
    for (const Access& a : accesses_of(sums.body)) reads[a.buffer].push_back(a);
    const std::set<std::string> inside = introduced_names(sums.body);
    std::vector<Operand> operands;
    for (const auto& [name, all] : reads)
      if (const std::optional<Operand> o = operand_of(name, all, inside)) operands.push_back(*o);
    return operands;
  }

  std::optional<Operand> operand_of(const std::string& name, const std::vector<Access>& reads,
                                    const std::set<std::string>& inside) const {
    const Buffer* buffer = context_.find(name);
    if (!buffer || buffer->role != BufferRole::kInput || buffer->space != MemorySpace::kGlobal || is_small(*buffer))
      return std::nullopt;
    std::optional<Operand> made;
    std::vector<std::int64_t> offsets;
    for (const Access& a : reads) {
      const std::optional<Linear> place = place_of(*buffer, a, inside);
      if (!place) return std::nullopt;
      if (!made) made = Operand{name, a.subscripts, *place, {}, a.lanes};
      const Linear from = sum(*place, made->place, -1);
      if (!from.is_constant() || a.lanes != made->lanes || from.constant < 0) return std::nullopt;
      offsets.push_back(from.constant);
    }
    std::sort(offsets.begin(), offsets.end());
    offsets.erase(std::unique(offsets.begin(), offsets.end()), offsets.end());
    if (offsets.size() > 1) made->apart = {offsets[1] - offsets[0], static_cast<std::int64_t>(offsets.size())};
    for (std::size_t i = 1; i < offsets.size(); ++i)
      if (offsets[i] - offsets[i - 1] != made->apart.step) return std::nullopt;
    return made;
  }

  bool is_small(const Buffer& buffer) const {
    std::int64_t bytes = size_bytes(buffer.dtype), extent = 0;
    for (const ExprPtr& e : buffer.extents) {
      if (!constant_value(e, &extent)) return true;
      bytes *= extent;
    }
    return bytes <= own_cache_ / kNear;
  }

  // The access as a linear form of elements, over loops alone.
  std::optional<Linear> place_of(const Buffer& buffer, const Access& a, const std::set<std::string>& inside) const {
    if (a.writes || a.mask || a.padded || (a.lanes > 1 && a.lane_stride != 1)) return std::nullopt;
    Linear place = constant_form(0);
    for (std::size_t d = 0; d < a.subscripts.size(); ++d) {
      std::int64_t stride = 0;
      if (a.subscripts[d]->lanes > 1 || mentions_any(a.subscripts[d], inside) || !constant_stride(buffer, d, &stride))
        return std::nullopt;
      place = sum(place, to_linear(a.subscripts[d]), stride);
    }
    for (const Term& t : place.terms)
      if (t.atom->op != Op::kIndex) return std::nullopt;
    return place;
  }

  // By how many elements each loop moves the first place, those of tiles by way of the loops inside that begin with them.
  std::vector<std::int64_t> steps_of(const Operand& o) const {
    std::vector<std::int64_t> steps(around_.size(), 0);
    Linear place = o.place;
    for (std::size_t at = around_.size(); at-- > 0;) {
      const For& f = *around_[at];
      steps[at] = place.coefficient_of(f.iterator);
      place = sum(place, difference(f.lower, index(f.iterator)), steps[at]);
    }
    return steps;
  }

  // The outermost loop of which a part of the cache holds an iteration; nullopt: none, or its lines are there already.
  std::optional<Choice> choose(const Operand& o) const {
    std::optional<Choice> best;
    const std::vector<std::int64_t> steps = steps_of(o);
    std::vector<Dimension> inside{{1, o.lanes}, o.apart};
    Visits visits;
    const std::int64_t bytes = size_bytes(context_.find(o.buffer)->dtype);
    for (std::size_t at = around_.size(); at-- > 0;) {
      const For& f = *around_[at];
      const std::int64_t step = steps[at];
      const std::optional<std::int64_t> trips = most_trips(f);
      if (at + 1 < around_.size() && step != 0 && trips.value_or(kLeastTrips) >= kLeastTrips && f.kind == LoopKind::kSerial &&
          f.step == 1) {
        const std::optional<Lines> lines = lines_of(inside, bytes);
        if (!lines || lines->all() * kLineBytes * kPart > first_cache_) break;
        if (lines->all() >= kLeastLines) best = Choice{at, visits, *lines};
      }
      if (!trips || step < 0) break;
      visits = {visits.before, visits.count * *trips};
      if (step > 0) inside.push_back({step, *trips});
    }
    if (!best || read_before(steps, best->loop, best->lines.all() * kLineBytes)) return std::nullopt;
    best->visits = {};
    for (std::size_t at = best->loop + 1; at < around_.size(); ++at)
      best->visits = best->visits.inside(*around_[at], *most_trips(*around_[at]));
    return best;
  }

  // Does a loop further out come by the same lines often, before the cache has lost them?
  bool read_before(const std::vector<std::int64_t>& steps, std::size_t loop, std::int64_t bytes) const {
    bytes *= most_trips(*around_[loop]).value_or(1);
    for (std::size_t at = loop; at-- > 0 && bytes <= own_cache_;) {
      const std::int64_t trips = most_trips(*around_[at]).value_or(own_cache_);
      if (steps[at] != 0)
        bytes *= trips;
      else if (trips > kFewPasses)
        return true;
    }
    return false;
  }

  // What the dimensions cover as runs that lie evenly apart; nullopt: otherwise.
  static std::optional<Lines> lines_of(std::vector<Dimension> dimensions, std::int64_t bytes) {
    std::sort(dimensions.begin(), dimensions.end(), [](const Dimension& a, const Dimension& b) { return a.step < b.step; });
    std::int64_t span = 1;
    Lines lines;
    for (const Dimension& d : dimensions) {
      if (d.count == 1) continue;
      if (lines.runs == 1 && d.step <= std::max(span, kLineBytes / bytes)) {
        span += d.step * (d.count - 1);
      } else if (lines.runs == 1) {
        lines.runs = d.count;
        lines.apart = d.step;
      } else if (d.step == lines.apart * lines.runs) {
        lines.runs *= d.count;
      } else {
        return std::nullopt;
      }
    }
    lines.of_run = (span * bytes + kLineBytes - 1) / kLineBytes;
    return lines;
  }

  LoopList asking(const Operand& o, const Choice& chosen, std::int64_t at_once) const {
    const std::int64_t line = kLineBytes / size_bytes(context_.find(o.buffer)->dtype), parts = chosen.lines.of_run / at_once;
    const ExprPtr visit = spread(chosen.visits, (chosen.lines.all() + at_once - 1) / at_once);
    // Visits behind the last line ask for it again.
    const ExprPtr run = idx_min(idx_floordiv(visit, parts), idx(chosen.lines.runs - 1));
    std::vector<ExprPtr> first;
    const std::string& next = around_[chosen.loop]->iterator;
    for (ExprPtr e : o.first) {
      for (std::size_t at = around_.size(); --at > chosen.loop;)
        e = substitute(e, {{around_[at]->iterator, around_[at]->lower}});
      first.push_back(normal(substitute(e, {{next, idx_add(index(next), idx(1))}})));
    }
    LoopList list;
    for (std::int64_t l = 0; l < at_once; ++l) {
      std::vector<ExprPtr> place = first;
      const ExprPtr within = idx_mul(idx_add(idx_mul(idx_mod(visit, parts), idx(at_once)), idx(l)), idx(line));
      place.back() = normal(idx_add(idx_add(place.back(), idx_mul(run, idx(chosen.lines.apart))), within));
      list.push_back(make_loop(Prefetch{o.buffer, std::move(place)}));
    }
    return list;
  }
};

}  // namespace

LoopList prefetch_tiles(const LoopList& body, Context& context) { return TilePrefetching(context).in_block(body); }

}  // namespace facet::passes
