// Random map_gpu steps: loops of one statement for the grid, for a block's threads, for both. What a block's threads share must
// agree, so the nests inside the grid's loops of one group all take the same number of threads.
#include "src/driver/fuzz_arguments.hpp"
#include "src/driver/fuzz_steps.hpp"

namespace facet {

namespace {

class MapMaker {
 public:
  MapMaker(const Trial& trial, FuzzRandom& random) : trial_(trial), view_(trial.view()), random_(random) {}

  std::optional<Step> make() {
    for (const TrialStatement& s : shuffled(view_.statements, random_))
      if (std::optional<Step> step = mapped(s)) return step;
    return std::nullopt;
  }

 private:
  bool free(int loop) const { return view_.loop(loop).kind == LoopKind::kSerial && !view_.loop(loop).shares_threads; }

  // No loop that the loop's statements have inside it is mapped.
  bool plain_inside(int loop) const {
    for (const int x : view_.loop(loop).statements) {
      const std::vector<int>& loops = view_.statement(x).loops;
      for (auto l = std::find(loops.begin(), loops.end(), loop) + 1; l != loops.end(); ++l)
        if (view_.loop(*l).kind == LoopKind::kMapped) return false;
    }
    return true;
  }

  std::optional<Step> mapped(const TrialStatement& s) {
    bool grids = false, threads = false;
    for (const int l : s.loops) {
      threads = threads || view_.loop(l).threads;
      grids = grids || view_.loop(l).kind == LoopKind::kMapped;
    }
    if (threads || s.loops.empty()) return std::nullopt;
    std::vector<std::size_t> grid;
    if (!grids && random_.chance(75)) grid = grid_loops(s);
    Step step = step_for("map_gpu", s);
    if (!grid.empty()) step.arguments["grid"] = texts(names(s, random_.chance(70) ? grid : shuffled(grid, random_)));
    const std::optional<std::size_t> inner = inner_loop(s, grid);
    if (inner && (grid.empty() || random_.chance(50))) {
      step.arguments["block"] = texts({s.names[*inner]});
      step.arguments["threads"] = numbers({16 << (trial_.group() % 3)});
      if (!s.update && random_.chance(25)) step.arguments["points"] = numbers({1 + random_.below(4)});
    } else if (!grid.empty() && random_.chance(85)) {
      block_of_grid(s, grid, &step);
    }
    if (grid.empty() && !step.arguments.count("block")) return std::nullopt;
    return step;
  }

  static std::vector<std::string> names(const TrialStatement& s, const std::vector<std::size_t>& loops) {
    std::vector<std::string> list;
    for (const std::size_t k : loops) list.push_back(s.names[k]);
    return list;
  }

  // Free loops directly inside each other, none of them mapped inside.
  std::vector<std::size_t> grid_loops(const TrialStatement& s) {
    const std::size_t count = 1 + static_cast<std::size_t>(random_.below(static_cast<int>(s.loops.size())));
    std::vector<std::size_t> grid;
    for (std::size_t k = random_.chance(20) ? 1 : 0; k < s.loops.size() && grid.size() < count; ++k) {
      if (!free(s.loops[k]) || !plain_inside(s.loops[k])) break;
      if (!grid.empty() && view_.loop(s.loops[k]).outer != s.loops[k - 1]) break;
      grid.push_back(k);
    }
    return grid;
  }

  // A loop inside the grid's for the block's threads. A reduction that threads share is the statement's own.
  std::optional<std::size_t> inner_loop(const TrialStatement& s, const std::vector<std::size_t>& grid) {
    std::vector<std::size_t> fitting;
    for (std::size_t k = grid.empty() ? 0 : grid.back() + 1; k < s.loops.size(); ++k) {
      const TrialLoop& l = view_.loop(s.loops[k]);
      const bool alone = l.leaf && l.statements.size() == 1;
      if (free(l.id) && plain_inside(l.id) && (alone || !s.update)) fitting.push_back(k);
    }
    if (fitting.empty()) return std::nullopt;
    return random_.pick(fitting);
  }

  void block_of_grid(const TrialStatement& s, const std::vector<std::size_t>& grid, Step* step) {
    const std::size_t count = grid.size() > 1 && random_.chance(40) ? 2 : 1;
    std::vector<std::size_t> block = shuffled(grid, random_);
    block.resize(count);
    std::vector<std::int64_t> threads, points;
    for (std::size_t i = 0; i < count; ++i) {
      threads.push_back(random_.chance(80) ? 8 << random_.below(2) : 1 + random_.below(30));
      points.push_back(1 + random_.below(4));
    }
    step->arguments["block"] = texts(names(s, block));
    step->arguments["threads"] = numbers(threads);
    if (random_.chance(25)) step->arguments["points"] = numbers(points);
  }

  const Trial& trial_;
  const TrialView view_;
  FuzzRandom& random_;
};

}  // namespace

std::optional<Step> random_map_gpu(const Trial& trial, FuzzRandom& random) {
  std::optional<Step> step = MapMaker(trial, random).make();
  if (step && step->arguments.count("grid")) share_updates(trial, random, &*step);
  return step;
}

bool share_updates(const Trial& trial, FuzzRandom& random, Step* step) {
  if (!random.chance(60)) return false;
  Step shared = *step;
  const bool clause = step->verb == "parallelize" && random.chance(60);
  shared.arguments["reduction"] = text(clause ? "clause" : "atomic");
  if (clause) shared.arguments["parts"] = number(2 + random.below(6));
  if (!trial.applies(shared)) return false;
  *step = std::move(shared);
  return clause;
}

}  // namespace facet
