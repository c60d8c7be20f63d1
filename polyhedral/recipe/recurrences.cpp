// Policy: recurrences along rows or columns, several of them at once.
//
// A loop inside that carries a dependence has no lanes, and each of its steps waits for the one before. Where the loop around
// it carries nothing, its iterations fill the time: as lanes where they lie side by side in memory, else some of them unrolled.
//
//     for j (free)                        for j0 (threads)                   for i (free)             for it (threads)
//       for i  y[i,j] = f(y[i-1,j])  -->    for j in j0 (lanes) around   or    for j ..          -->    for j for i in it
//                                             for i  y[i,j] = f(y[i-1,j])        y[i,j] = f(y[i,j-1])     y[i,j] = ..
//
// Several loops inside that walk the same columns one after the other, one of them reducing, only get a tile of columns that
// stays in cache between them; each of them is ordered for lanes by itself. Not handled: recurrences whose outer loops all
// carry something (time_tiles). Source: Allen and Kennedy, Optimizing Compilers for Modern Architectures, 2001, ch. 5 (outer
// loop vectorization) and 8.
#include <algorithm>

#include "polyhedral/legality.hpp"
#include "polyhedral/recipe/lane_axis.hpp"
#include "polyhedral/recipe/planner.hpp"
#include "polyhedral/recipe/time_tiles.hpp"

namespace facet {

namespace {

constexpr double kLeastUs = 50;       // of work: below, it is no matter
constexpr std::int64_t kVectors = 2;  // of columns at once: a latency of 4 for each of two starts in a cycle is half hidden
constexpr std::int64_t kRows = 8;
constexpr std::int64_t kPanel = 8;     // vectors: rows of a tile long enough for whole lines to be fetched ahead
constexpr double kShareOfCache = 0.5;  // for it

class Recurrences {
 public:
  explicit Recurrences(GroupPlanner& planner) : planner_(planner) {}

  void run() {
    const Result<Done> asked = guarded("recurrences", planner_.budget().part(0.3), [&] {
      carried_ = carried_dependences(now());
      visit(now().tree);
    });
    if (!asked) return planner_.decline("budget", "recurrences", asked.errors()[0].message);
    for (const Found& f : found_) f.vectors == 0 ? rows(f) : columns(f);
  }

 private:
  struct Found {
    std::string statement, loop;
    std::int64_t width = 0, vectors = 0;  // of columns in a tile; none: rows
    bool in_lanes = false;                // else each loop inside sees to its own
  };

  const Schedule& now() const { return planner_.schedule(); }

  void visit(const TreePtr& tree) {
    if (tree->kind == Tree::Kind::kLoop && consider(tree)) return;
    for (const TreePtr& c : tree->children) visit(c);
  }

  // The outermost loops below a loop.
  static void loops_below(const TreePtr& tree, std::vector<TreePtr>* loops) {
    for (const TreePtr& c : tree->children) c->kind == Tree::Kind::kLoop ? loops->push_back(c) : loops_below(c, loops);
  }

  bool consider(const TreePtr& loop) {
    bool plain = true;
    for_each_loop(loop,
                  [&](const Tree& l) { plain = plain && l.mark.kind == LoopKind::kSerial && !l.comment.starts_with("tile"); });
    std::vector<TreePtr> inner;
    loops_below(loop, &inner);
    if (!plain || inner.empty() || !carried_.at(loop->id).none()) return false;
    bool waits = false, reduces = false;
    for (const TreePtr& l : inner) {
      waits = waits || carried_.at(l->id).other;
      reduces = reduces || carried_.at(l->id).reduction;
    }
    const auto [statement, name] = address_of(now(), loop);
    if (statement < 0 || (!waits && (!reduces || inner.size() < 2))) return false;
    Found f{now().statement(statement).name, name, lanes_of(loop), 0, waits};
    double work = 0, longest = 0;
    for (const int s : statements_of(loop))
      work += instances_us(planner_, now().statement(s), planner_.model().instances(s), waits);
    for (const TreePtr& l : inner) longest = std::max(longest, planner_.model().trips(*l, statements_of(l).front()));
    const double trips = planner_.model().trips_inside(*loop, statement) / planner_.threads();
    if (work < kLeastUs) return false;
    if (f.width > 1) f.vectors = waits ? kVectors : panel(longest * planner_.options().machine.cpu.vector_bytes);
    if (trips < static_cast<double>(f.vectors * f.width)) f.vectors = 0;
    if (f.vectors == 0 && (!waits || trips < static_cast<double>(kRows))) return false;
    found_.push_back(f);
    return true;
  }

  // So many vectors side by side, of `bytes` each over all rows, stay in the second cache; 0: none.
  std::int64_t panel(double bytes) const {
    const double cache = static_cast<double>(second_cache_bytes(planner_.options().machine.cpu));
    return static_cast<double>(kPanel) * bytes <= kShareOfCache * cache ? kPanel : 0;
  }

  // Lanes along the loop where all statements inside lie side by side along it; 0 where one does not.
  std::int64_t lanes_of(const TreePtr& loop) const {
    std::int64_t width = planner_.options().machine.cpu.vector_bytes;
    for (const int s : statements_of(loop)) {
      const Statement& st = now().statement(s);
      const std::string name = walked_iterator(now(), *loop, s);
      std::string why;
      if (name.empty() || !good_lanes(st, name, &why) || gathers(st, name) > 0) return 0;
      const int bytes = static_cast<int>(size_bytes(widest_type(st)));
      width = std::min<std::int64_t>(width, planner_.options().machine.cpu.vector_bytes / bytes);
    }
    return width;
  }

  static std::string subject(const Found& f) { return "loop " + f.loop + " of " + f.statement; }

  void columns(const Found& f) {
    const Argument statement = arg(f.statement);
    std::vector<Step> steps{make_step("tile", {{"statement", statement},
                                               {"loops", arg(std::vector<std::string>{f.loop})},
                                               {"names", arg(std::vector<std::string>{f.loop + "0"})},
                                               {"sizes", arg(std::vector<std::int64_t>{f.vectors * f.width})}})};
    if (f.in_lanes)
      steps.push_back(make_step("vectorize", {{"statement", statement}, {"loop", arg(f.loop)}, {"width", arg(f.width)}}));
    planner_.attempt_all(steps, f.in_lanes ? "vector" : "tile", subject(f),
                         f.in_lanes ? "columns in lanes: the loops inside carry dependences, and columns lie side by side"
                                    : "columns that stay in cache from one loop inside to the next");
  }

  void rows(const Found& f) {
    planner_.attempt(
        make_step("unroll_and_jam", {{"statement", arg(f.statement)}, {"loop", arg(f.loop)}, {"factor", arg(kRows)}}),
        "registers", subject(f), std::to_string(kRows) + " rows at once: the loop inside waits for itself");
  }

  GroupPlanner& planner_;
  std::map<int, Carried> carried_;
  std::vector<Found> found_;
};

}  // namespace

void plan_recurrences(GroupPlanner& planner) { Recurrences(planner).run(); }

}  // namespace facet
