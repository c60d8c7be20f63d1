// Random recipes over a random program. Names are right as far as that can be known without scheduling (loops that earlier
// steps made are followed), so that legality, not spelling, is what is tried.
#include <algorithm>

#include "src/driver/fuzz_maker.hpp"

namespace facet {

namespace {

Argument text(const std::string& v) { return Argument{v}; }
Argument number(std::int64_t v) { return Argument{v}; }
Argument texts(const std::vector<std::string>& list) {
  ArgumentList out;
  for (const std::string& v : list) out.push_back(text(v));
  return Argument{std::move(out)};
}

std::vector<std::string> shuffled(std::vector<std::string> list, FuzzRandom& random) {
  for (std::size_t i = list.size(); i > 1; --i)
    std::swap(list[i - 1], list[static_cast<std::size_t>(random.below(static_cast<int>(i)))]);
  return list;
}

// Loops of one statement in a random form of map_gpu.
Step map_gpu(const FuzzStatement& s, FuzzRandom& random) {
  Step step{"map_gpu", {}, {}};
  step.arguments["statement"] = text(s.name);
  const int depth = static_cast<int>(s.loops.size()), count = random.below(depth + 1);
  const std::vector<std::string> grid(s.loops.begin(), s.loops.begin() + count);
  const std::vector<std::string> inner(s.loops.begin() + count, s.loops.end());
  if (!grid.empty()) step.arguments["grid"] = texts(random.chance(70) ? grid : shuffled(grid, random));
  std::vector<std::string> block;
  if (!inner.empty() && random.chance(60)) block.push_back(random.pick(inner));
  if (!grid.empty() && (block.empty() ? random.chance(80) : random.chance(25))) block.push_back(random.pick(grid));
  ArgumentList threads, points;
  for (std::size_t i = 0; i < block.size(); ++i) {
    threads.push_back(number(random.chance(80) ? 8 << random.below(3) : 1 + random.below(40)));
    points.push_back(number(1 + random.below(4)));
  }
  if (!block.empty()) {
    step.arguments["block"] = texts(block);
    step.arguments["threads"] = Argument{std::move(threads)};
  }
  if (!block.empty() && random.chance(25)) step.arguments["points"] = Argument{std::move(points)};
  if (!inner.empty() && random.chance(20)) {
    step.arguments["split"] = texts({inner.front()});
    step.arguments["parts"] = number(1 + random.below(5));
  }
  return step;
}

// A statement's loops as the steps so far leave them, if all were accepted.
struct Nest {
  FuzzStatement statement;
  std::vector<std::string> chain;  // stand directly inside each other, outermost first
  std::vector<std::string> inner;  // the loops below them
  std::vector<std::string> tiles;

  std::vector<std::string> loops() const {
    std::vector<std::string> all = chain;
    all.insert(all.end(), inner.begin(), inner.end());
    return all;
  }
};

Nest nest_of(const FuzzStatement& s) {
  const auto border = s.loops.begin() + static_cast<long>(s.perfect);
  return {s, {s.loops.begin(), border}, {border, s.loops.end()}, {}};
}

class RecipeMaker {
 public:
  RecipeMaker(std::vector<Nest> nests, FuzzRandom& random) : nests_(std::move(nests)), random_(random) {}

  std::vector<Step> make(int count) {
    for (int i = 0; i < count; ++i) one();
    return std::move(steps_);
  }

 private:
  using Make = void (RecipeMaker::*)(Nest&);

  void one() {
    static constexpr Make kKinds[] = {&RecipeMaker::tile,      &RecipeMaker::interchange, &RecipeMaker::parallelize,
                                      &RecipeMaker::vectorize, &RecipeMaker::unroll,      &RecipeMaker::skew,
                                      &RecipeMaker::reverse,   &RecipeMaker::shift,       &RecipeMaker::promote,
                                      &RecipeMaker::fuse,      &RecipeMaker::distribute,  &RecipeMaker::contract,
                                      &RecipeMaker::reschedule};
    Nest& nest = nests_[static_cast<std::size_t>(random_.below(static_cast<int>(nests_.size())))];
    (this->*kKinds[random_.below(static_cast<int>(std::size(kKinds)))])(nest);
  }

  Step& add(const std::string& verb, const Nest& nest) {
    steps_.push_back({verb, {}, {}});
    steps_.back().arguments["statement"] = text(nest.statement.name);
    return steps_.back();
  }
  Step& on_loop(const std::string& verb, const Nest& nest) {
    Step& step = add(verb, nest);
    step.arguments["loop"] = text(random_.pick(nest.loops()));
    return step;
  }

  void tile(Nest& nest) { tile_loops(nest, 1 + random_.below(static_cast<int>(std::max<std::size_t>(nest.chain.size(), 1)))); }

  void tile_loops(Nest& nest, int count) {
    const std::vector<std::string>& from = nest.chain.empty() ? nest.inner : nest.chain;
    const int first = random_.below(static_cast<int>(from.size()) - count + 1);
    const std::vector<std::string> loops(from.begin() + first, from.begin() + first + count);
    ArgumentList sizes;
    std::vector<std::string> names;
    for (const std::string& loop : loops) {
      sizes.push_back(number(1 + random_.below(9)));
      names.push_back(loop + "_" + std::to_string(made_++));
    }
    Step& step = add("tile", nest);
    step.arguments["loops"] = texts(loops);
    step.arguments["sizes"] = Argument{std::move(sizes)};
    step.arguments["names"] = texts(names);
    nest.tiles.insert(nest.tiles.end(), names.begin(), names.end());
    if (!nest.chain.empty()) nest.chain.insert(nest.chain.begin() + first, names.begin(), names.end());
  }

  void interchange(Nest& nest) {
    if (nest.chain.size() < 2) return tile(nest);
    const auto at = static_cast<std::size_t>(random_.below(static_cast<int>(nest.chain.size()) - 1));
    std::vector<std::string> order = {nest.chain[at + 1], nest.chain[at]};
    if (random_.chance(30)) order = shuffled(nest.chain, random_);
    add("interchange", nest).arguments["order"] = texts(order);
    if (order.size() == nest.chain.size()) {
      nest.chain = order;
    } else {
      std::swap(nest.chain[at], nest.chain[at + 1]);
    }
  }

  void parallelize(Nest& nest) { on_loop("parallelize", nest); }

  void vectorize(Nest& nest) { on_loop("vectorize", nest).arguments["width"] = number(1 << (1 + random_.below(4))); }

  void unroll(Nest& nest) {
    Step& step = on_loop("unroll", nest);
    if (random_.chance(70)) step.arguments["factor"] = number(random_.below(5));
  }

  void skew(Nest& nest) {
    const std::vector<std::string> loops = nest.loops();
    if (loops.size() < 2) return tile(nest);
    const std::vector<std::string> two = shuffled(loops, random_);
    Step& step = add("skew", nest);
    step.arguments["loop"] = text(two[0]);
    step.arguments["by"] = text(two[1]);
    step.arguments["factor"] = number(random_.below(5) - 2);
  }

  void reverse(Nest& nest) { on_loop("reverse", nest); }

  void shift(Nest& nest) { on_loop("shift", nest).arguments["offset"] = number(random_.below(7) - 3); }

  // A copied part needs a constant size: mostly below tiles of all loops.
  void promote(Nest& nest) {
    if (nest.statement.arrays.empty()) return tile(nest);
    if (random_.chance(70) && !nest.chain.empty() && nest.tiles.empty()) tile_loops(nest, static_cast<int>(nest.chain.size()));
    Step& step = add("promote", nest);
    step.arguments["array"] = text(random_.pick(nest.statement.arrays));
    step.arguments["at"] = text(nest.tiles.empty() ? random_.pick(nest.loops()) : nest.tiles.back());
    static const std::vector<std::string> kMemories = {"stack", "l1", "l2"};
    if (random_.chance(60)) step.arguments["memory"] = text(random_.pick(kMemories));
  }

  void fuse(Nest& nest) {
    if (nests_.size() < 2) return tile(nest);
    std::vector<std::string> names;
    std::size_t shared = nest.chain.size();
    for (const Nest& other : nests_) {
      names.push_back(other.statement.name);
      std::size_t common = 0;
      while (common < shared && common < other.chain.size() && other.chain[common] == nest.chain[common]) ++common;
      shared = common;
    }
    if (shared == 0) return tile(nest);
    Step step{"fuse", {}, {}};
    step.arguments["statements"] = texts(names);
    const int count = 1 + random_.below(static_cast<int>(shared));
    step.arguments["loops"] = texts(std::vector<std::string>(nest.chain.begin(), nest.chain.begin() + count));
    steps_.push_back(std::move(step));
  }

  void distribute(Nest& nest) { on_loop("distribute", nest); }

  void contract(Nest& nest) {
    Step step{"contract", {}, {}};
    step.arguments["array"] = text(nest.statement.name);
    steps_.push_back(std::move(step));
  }

  void reschedule(Nest& nest) {
    std::vector<std::string> names = {nest.statement.name};
    for (const Nest& other : nests_)
      if (other.statement.name != names[0] && random_.chance(60)) names.push_back(other.statement.name);
    Step step{"reschedule", {}, {}};
    step.arguments["statements"] = texts(names);
    if (random_.chance(60)) step.arguments["fusion"] = text(random_.chance(50) ? "maximal" : "minimal");
    if (random_.chance(30)) step.arguments["outer_coincidence"] = Argument{true};
    steps_.push_back(std::move(step));
  }

  std::vector<Nest> nests_;
  FuzzRandom& random_;
  std::vector<Step> steps_;
  int made_ = 0;
};

Variant random_variant(const FuzzProgram& program, FuzzRandom& random) {
  Variant variant;
  variant.groups_hole = false;
  for (std::size_t at = 0; at < program.statements.size();) {
    const std::size_t count =
        std::min<std::size_t>(static_cast<std::size_t>(1 + random.below(3)), program.statements.size() - at);
    Group group;
    group.name = "k" + std::to_string(variant.groups.size());
    std::vector<Nest> nests;  // scalars have no loop to name
    for (std::size_t i = at; i < at + count; ++i) {
      group.ops.push_back(program.statements[i].name);
      if (!program.statements[i].loops.empty()) nests.push_back(nest_of(program.statements[i]));
    }
    group.steps_hole = random.chance(20);
    if (!group.steps_hole && !nests.empty()) {
      group.steps = RecipeMaker(nests, random).make(1 + random.below(8));
      for (int i = random.below(6) - 3; i > 0; --i) group.steps.push_back(map_gpu(random.pick(nests).statement, random));
    }
    variant.groups.push_back(std::move(group));
    at += count;
  }
  return variant;
}

std::string random_condition(FuzzRandom& random) {
  const std::string c = std::to_string(1 + random.below(20));
  switch (random.below(4)) {
    case 0: return "N < " + c;
    case 1: return "N % 4 == 0";
    case 2: return "N > " + c + " and N % 2 == 1";
    default: return "N == " + c;
  }
}

}  // namespace

Recipe random_recipe(const FuzzProgram& program, FuzzRandom& random) {
  Recipe recipe;
  if (random.chance(15)) return recipe;  // all left to the scheduler
  recipe.variants_hole = false;
  recipe.variants.push_back(random_variant(program, random));
  if (!random.chance(20)) return recipe;
  recipe.variants.back().when = random_condition(random);
  if (random.chance(50)) recipe.variants.push_back(random_variant(program, random));
  return recipe;
}

}  // namespace facet
