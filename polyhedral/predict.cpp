// Bytes by footprints, time by the slower of arithmetic and of each memory level.
//
// Every loop is looked at where the loops around it are in the middle of their ranges: that gives a statement below it trips
// and, for each of its iterators, a width w (how many values it still takes). A subscript sum_i c_i x_i + c then spans 1 +
// sum_i |c_i| (w_i - 1) elements, an access the product over its dimensions, in whole cache lines along the last one. Accesses
// of one array whose subscripts have the same coefficients overlap, others count side by side, up to the array's size.
//
// For a cache of C bytes the lines that a piece of the tree brings in are, array by array,
//
//     loop, or sequence     lines of all its iterations together    if what one iteration (or the whole sequence) touches fits
//     C:
//                                                                   the next one finds it there
//                           n x lines of the body, sum of the parts otherwise
//
// A written line goes back as well. Arithmetic runs at the machine's rate divided by the lanes that are not used; an update
// that waits for its own last result costs the latency of the unit. Threads share the iterations of a parallel loop as far as
// these divide, and cost their start each time. Sources: Wolf and Lam, A data locality optimizing algorithm, PLDI 1991 (reuse);
// Datta et al., Optimization and performance modeling of stencil computations, SIAM Review 2009 (time as the slowest level).
//
// What it leaves out: conflicts in a cache, prefetchers, guards of partial tiles, what the compiler does.
#include "polyhedral/predict.hpp"

#include <algorithm>
#include <cmath>

#include "polyhedral/affine.hpp"
#include "polyhedral/model.hpp"

namespace facet {

namespace {

using Fixed = std::vector<std::pair<std::string, std::int64_t>>;
using Footprint = std::map<std::string, double>;  // bytes of lines by buffer

constexpr double kLine = 64;
constexpr double kCyclesPerUs = 3000;                     // 3 GHz where nothing was measured
constexpr double kFmaLatency = 4;                         // cycles (Zen 4, Intel cores since 2015)
constexpr double kL2 = 64e3, kL3 = 24e3, kMemory = 12e3;  // bytes a us and core where the machine does not say
constexpr double kAnyExtent = 1e18;                       // what is touched is smaller
constexpr double kLoopCycles = 1;                         // counting and branching of one iteration

// One access: its buffer, linear coefficients by dimension and iterator, constants.
struct LinearAccess {
  std::string array;
  double element_bytes = 4;
  std::vector<std::vector<double>> coefficients;  // per dimension, per iterator; empty: data decides
  std::vector<double> extents;
  bool write = false;
};

// What a statement still does below k of its loops, k = 0 .. all.
struct StatementView {
  std::vector<double> trips;                // of each loop around it
  std::vector<std::vector<double>> widths;  // widths[k][iterator]
  std::vector<LinearAccess> accesses;
  double operations = 0;
};

bool holds_data(const ExprPtr& e) {
  bool found = false;
  walk(e, [&](const Expr& x) { found = found || x.op == Op::kRead; });
  return found;
}

class Predictor {
 public:
  Predictor(const Schedule& schedule, const ScheduleOptions& options)
      : schedule_(schedule), options_(options), cpu_(options.machine.cpu), model_(schedule, options.sizes) {
    for (const Symbol& s : schedule.scop->symbols) fixed_.emplace_back(parameter_id(s.name), model_.sizes().at(s.name));
    for (const int s : statements_of(schedule.tree)) views_[s] = view(s);
  }

  Prediction run() {
    Prediction p;
    p.levels = {"L2", "L3", "memory"};
    const double capacities[] = {cache(0, 32 << 10), cache(1, 1 << 20), cache(2, 16 << 20)};
    for (const double c : capacities) p.bytes.push_back(total(traffic(schedule_.tree, 0, c)));
    work(schedule_.tree, 0, 1, &p);
    const double threads = std::max(1.0, p.busy_threads);
    const double lines[] = {rate(1, kL2) * threads, rate(2, kL3) * threads,
                            cpu_.copy_gb_s > 0 ? std::min(cpu_.copy_gb_s * 1e3, 2 * kMemory * threads) : kMemory * threads};
    p.time_us = compute_us_;
    p.bound = "arithmetic";
    for (std::size_t l = 0; l < p.bytes.size(); ++l)
      if (p.bytes[l] / lines[l] > p.time_us) {
        p.time_us = p.bytes[l] / lines[l];
        p.bound = p.levels[l];
      }
    p.time_us += start_us_;
    if (p.busy_threads == 0) p.busy_threads = 1;
    return p;
  }

 private:
  double cache(std::size_t level, double otherwise) const {
    if (level >= cpu_.caches.size() || cpu_.caches[level].size_bytes == 0) return otherwise;
    return 0.8 * static_cast<double>(cpu_.caches[level].size_bytes);
  }
  double rate(std::size_t level, double otherwise) const {
    return level < cpu_.caches.size() && cpu_.caches[level].read_gb_s > 0 ? cpu_.caches[level].read_gb_s * 1e3 : otherwise;
  }

  static double total(const Footprint& f) {
    double sum = 0;
    for (const auto& [array, bytes] : f) sum += bytes;
    return sum;
  }

  StatementView view(int s) const {
    const Statement& st = schedule_.statement(s);
    StatementView v;
    v.operations = Model::operations(st);
    isl::set left = st.domain;
    for (const auto& [name, value] : fixed_) left = fix_parameter(left, name, value);
    const auto widths = [&] {
      std::vector<double> w;
      for (std::size_t i = 0; i < st.iterators.size(); ++i) {
        const auto [low, high] = value_range(output_dimension(left, static_cast<unsigned>(i)), left, fixed_);
        w.push_back(std::max(0.0, static_cast<double>(high - low + 1)));
      }
      return w;
    };
    v.widths.push_back(widths());
    for (const TreePtr& l : loops_around(schedule_.tree, s)) {
      const isl::pw_aff& f = l->member.at(s);
      const auto [low, high] = value_range(f, left, fixed_);
      v.trips.push_back(std::max(0.0, static_cast<double>(high - low + 1)));
      if (high >= low) {
        isl::set middle = at_value(left, f, low + (high - low) / 2);
        left = middle.is_empty() ? at_value(left, f, low) : middle;
      }
      v.widths.push_back(widths());
    }
    collect_accesses(st, s, &v);
    return v;
  }

  static isl::set at_value(const isl::set& set, const isl::pw_aff& f, std::int64_t value) {
    const isl::pw_aff zero = multiply(f, 0);
    return set.intersect(f.eq_set(add_constant(zero, value)));
  }

  void collect_accesses(const Statement& st, int s, StatementView* v) const {
    const auto add = [&](const std::string& array, const std::vector<ExprPtr>& subscripts, DType type, bool write) {
      LinearAccess a;
      a.array = array;
      a.element_bytes = static_cast<double>(size_bytes(type));
      a.write = write;
      for (const ExprPtr& e : subscripts) {
        std::vector<double> row;
        for (const std::string& name : st.iterators) {
          if (holds_data(e)) break;
          const std::optional<Slope> c = slope_of(e, name);
          row.push_back(c ? c->value : kAnyExtent);  // a remainder: anywhere, where the iterator moves at all
        }
        a.coefficients.push_back(std::move(row));
      }
      resolve(s, &a);
      v->accesses.push_back(std::move(a));
    };
    add(st.target, st.subscripts, st.value->type, true);
    walk(st.value, [&](const Expr& e) {
      if (e.op == Op::kRead) add(e.name, e.args, e.type, false);
    });
  }

  // The buffer and its extents under the storage maps.
  void resolve(int s, LinearAccess* a) const {
    if (const auto it = schedule_.scop->arrays.find(a->array); it != schedule_.scop->arrays.end())
      for (const ExprPtr& e : it->second.extents) a->extents.push_back(model_.value(e).value_or(kAnyExtent));
    const StorageMap* m = schedule_.storage_of(s, a->array);
    if (!m) return;
    a->array = "." + m->buffer;  // not to be taken for the array
    a->extents.clear();
    for (const ExprPtr& e : m->sizes) a->extents.push_back(model_.value(e).value_or(kAnyExtent));
    if (m->sizes.empty()) a->coefficients.clear();
    lay_out(*m, a);
  }

  // The dimensions in the order that the buffer has them in; what is split off a dimension comes last.
  static void lay_out(const StorageMap& m, LinearAccess* a) {
    if (m.order.size() != a->coefficients.size()) return;
    std::vector<int> order = m.order;
    std::stable_partition(order.begin(), order.end(), [&](int d) {
      return static_cast<std::size_t>(d) >= m.inner.size() || m.inner[static_cast<std::size_t>(d)] == 0;
    });
    LinearAccess placed = *a;
    for (std::size_t k = 0; k < order.size(); ++k) {
      placed.coefficients[k] = a->coefficients[static_cast<std::size_t>(order[k])];
      placed.extents[k] = a->extents[static_cast<std::size_t>(order[k])];
    }
    *a = std::move(placed);
  }

  // Does the access go from element to element as the iterator goes up, or stay?
  static bool follows(const LinearAccess& a, std::size_t iterator) {
    for (std::size_t d = 0; d < a.coefficients.size(); ++d) {
      if (iterator >= a.coefficients[d].size()) return false;  // data decide
      const double step = std::abs(a.coefficients[d][iterator]);
      if (step != 0 && (step != 1 || d + 1 < a.coefficients.size())) return false;
    }
    return true;
  }

  // Lines of one access where its statement's iterators have these widths.
  static double lines_of(const LinearAccess& a, const std::vector<double>& widths) {
    double rows = 1, row = 1;
    for (std::size_t d = 0; d < a.coefficients.size(); ++d) {
      const double extent = d < a.extents.size() ? a.extents[d] : kAnyExtent;
      double span = extent;
      if (a.coefficients[d].size() == widths.size()) {
        span = 1;
        for (std::size_t i = 0; i < widths.size(); ++i) span += std::abs(a.coefficients[d][i]) * std::max(0.0, widths[i] - 1);
      }
      span = std::min(span, extent);
      if (d + 1 < a.coefficients.size()) {
        rows *= span;
      } else {
        row = span;
      }
    }
    return rows * std::max(kLine, std::ceil(row * a.element_bytes / kLine) * kLine);
  }

  // Bytes of lines that the statements below touch, the loops down to `depth` at one value each.
  Footprint touched(const TreePtr& tree, std::size_t depth) const {
    std::map<std::string, std::map<std::vector<std::vector<double>>, double>> kinds;
    std::map<std::string, double> whole;
    std::map<std::string, bool> written;
    for (const int s : statements_of(tree)) {
      const StatementView& v = views_.at(s);
      for (const LinearAccess& a : v.accesses) {
        double& lines = kinds[a.array][a.coefficients];
        lines = std::max(lines, lines_of(a, v.widths[depth]));
        double all = a.element_bytes;
        for (const double e : a.extents) all *= e;
        whole[a.array] = std::max(whole[a.array], std::max(kLine, all));
        written[a.array] = written[a.array] || a.write;
      }
    }
    Footprint f;
    for (const auto& [array, list] : kinds) {
      double sum = 0;
      for (const auto& [form, lines] : list) sum += lines;
      f[array] = std::min(sum, whole[array]) * (written[array] ? 2 : 1);
    }
    return f;
  }

  double trips(const Tree& loop, std::size_t depth) const {
    double most = 0;
    for (const auto& [s, f] : loop.member) most = std::max(most, views_.at(s).trips[depth]);
    return most;
  }

  Footprint traffic(const TreePtr& tree, std::size_t depth, double capacity) const {
    if (tree->kind == Tree::Kind::kLeaf) return touched(tree, depth);
    if (tree->kind == Tree::Kind::kLoop) {
      if (total(touched(tree->children[0], depth + 1)) <= capacity) return touched(tree, depth);
      Footprint f = traffic(tree->children[0], depth + 1, capacity);
      for (auto& [array, bytes] : f) bytes *= trips(*tree, depth);
      return f;
    }
    if (total(touched(tree, depth)) <= capacity) return touched(tree, depth);
    Footprint sum;
    for (const TreePtr& c : tree->children)
      for (const auto& [array, bytes] : traffic(c, depth, capacity)) sum[array] += bytes;
    return sum;
  }

  // Arithmetic of a piece that runs `times` times on one thread, in us.
  void work(const TreePtr& tree, std::size_t depth, double times, Prediction* p) {
    if (tree->kind == Tree::Kind::kSequence) {
      for (const TreePtr& c : tree->children) work(c, depth, times, p);
      return;
    }
    if (tree->kind == Tree::Kind::kLeaf) return leaf(tree->statement, times, p);
    const double n = trips(*tree, depth);
    const double outer_share = share_;
    if (is_parallel(tree->mark) && share_ == 1) {
      const double threads = std::max(1, options_.used_threads());
      share_ = n > 0 ? std::ceil(n / threads) / n : 1;
      start_us_ += times * cpu_.thread_start_us;
      p->busy_threads = std::max(p->busy_threads, std::min(n, threads));
      p->parallel_iterations = std::max(p->parallel_iterations, n);
    }
    work(tree->children[0], depth + 1, times * n, p);
    share_ = outer_share;
  }

  static bool is_parallel(const LoopMark& m) {
    return m.kind == LoopKind::kParallel || (m.kind == LoopKind::kMapped && m.gpu.grid >= 0);
  }

  void leaf(int s, double instances, Prediction* p) {
    const Statement& st = schedule_.statement(s);
    const StatementView& v = views_.at(s);
    const std::vector<TreePtr> loops = loops_around(schedule_.tree, s);
    double lanes = 1, copies = 1;
    for (const TreePtr& l : loops) {
      if (l->mark.kind == LoopKind::kVector) lanes = lanes_along(s, *l);
      if (l->mark.kind == LoopKind::kUnroll) copies *= l->mark.width > 0 ? l->mark.width : 8;
    }
    const bool waits = st.update && !loops.empty() && loops.back()->mark.kind != LoopKind::kUnroll && copies == 1 &&
                       Model::stride(st.subscripts, walked_iterator(schedule_, *loops.back(), s)) == Model::Stride::kNone;
    const double accesses = static_cast<double>(v.accesses.size());
    const double slots = std::max(v.operations / std::max(1, cpu_.fma_per_cycle), accesses / 2);
    double cycles = std::max(slots, 1.0) + kLoopCycles / copies;
    if (waits) cycles = std::max(cycles, kFmaLatency);
    p->instances += instances;
    p->flops += instances * v.operations;
    p->lanes = std::max(p->lanes, lanes);
    compute_us_ += instances * cycles / lanes * share_ / kCyclesPerUs;
  }

  // Lanes that work at once: none where most accesses along the loop are gathers.
  double lanes_along(int s, const Tree& loop) const {
    const Statement& st = schedule_.statement(s);
    const std::string name = walked_iterator(schedule_, loop, s);
    const auto at = std::find(st.iterators.begin(), st.iterators.end(), name) - st.iterators.begin();
    int gathers = 0, plain = 0;
    for (const LinearAccess& a : views_.at(s).accesses) ++(follows(a, static_cast<std::size_t>(at)) ? plain : gathers);
    if (name.empty() || gathers > plain) return 1;
    return std::min<double>(loop.mark.width, std::max<double>(1, static_cast<double>(cpu_.vector_bytes) /
                                                                     static_cast<double>(size_bytes(st.value->type))));
  }

  const Schedule& schedule_;
  const ScheduleOptions& options_;
  const CpuMachine& cpu_;
  Model model_;
  Fixed fixed_;
  std::map<int, StatementView> views_;
  double share_ = 1;
  double compute_us_ = 0, start_us_ = 0;
};

}  // namespace

Prediction predict(const Schedule& schedule, const ScheduleOptions& options) { return Predictor(schedule, options).run(); }

}  // namespace facet
