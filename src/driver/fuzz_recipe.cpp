// Random recipes over a random program: most steps name existing loops, so that legality, not spelling, is what is tried.
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

Step tile(const FuzzStatement& s, FuzzRandom& random) {
  const int count = 1 + random.below(static_cast<int>(s.loops.size()));
  const int first = random.below(static_cast<int>(s.loops.size()) - count + 1);
  const std::vector<std::string> loops(s.loops.begin() + first, s.loops.begin() + first + count);
  ArgumentList sizes;
  for (int i = 0; i < count; ++i) sizes.push_back(number(1 + random.below(9)));
  Step step{"tile", {}, {}};
  step.arguments["statement"] = text(s.name);
  step.arguments["loops"] = texts(loops);
  step.arguments["sizes"] = Argument{std::move(sizes)};
  return step;
}

Step loop_step(const std::string& verb, const FuzzStatement& s, FuzzRandom& random) {
  Step step{verb, {}, {}};
  step.arguments["statement"] = text(s.name);
  step.arguments["loop"] = text(random.chance(25) ? random.pick(s.loops) + "t" : random.pick(s.loops));
  return step;
}

Step reschedule(const std::vector<FuzzStatement>& group, FuzzRandom& random) {
  std::vector<std::string> names;
  for (const FuzzStatement& s : group)
    if (names.empty() || random.chance(60)) names.push_back(s.name);
  Step step{"reschedule", {}, {}};
  step.arguments["statements"] = texts(names);
  if (random.chance(60)) step.arguments["fusion"] = text(random.chance(50) ? "maximal" : "minimal");
  if (random.chance(30)) step.arguments["outer_coincidence"] = Argument{true};
  return step;
}

Step storage_step(const std::vector<FuzzStatement>& group, FuzzRandom& random) {
  const FuzzStatement& s = random.pick(group);
  if (random.chance(50)) {
    Step step{"contract", {}, {}};
    step.arguments["array"] = text(s.name);
    return step;
  }
  Step step{"promote", {}, {}};
  step.arguments["array"] = text(random.chance(50) ? random.pick(group).name : "x" + std::to_string(random.below(3)));
  step.arguments["statement"] = text(s.name);
  step.arguments["at"] = text(random.chance(30) ? random.pick(s.loops) + "t" : random.pick(s.loops));
  if (random.chance(50)) step.arguments["memory"] = text("stack");
  return step;
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

// Steps that older seeds do not know.
Step later_step(const std::vector<FuzzStatement>& group, FuzzRandom& random) {
  const int kind = random.below(10);
  if (kind < 4) return reschedule(group, random);
  if (kind < 8) return storage_step(group, random);
  return loop_step("distribute", random.pick(group), random);
}

Step random_step(const std::vector<FuzzStatement>& group, FuzzRandom& random) {
  const FuzzStatement& s = random.pick(group);
  switch (random.below(9)) {
    case 0:
    case 1: return tile(s, random);
    case 2: {
      Step step{"interchange", {}, {}};
      step.arguments["statement"] = text(s.name);
      step.arguments["order"] = texts(shuffled(s.loops, random));
      return step;
    }
    case 3: return loop_step("parallelize", s, random);
    case 4: {
      Step step = loop_step("vectorize", s, random);
      step.arguments["width"] = number(1 << (1 + random.below(4)));
      return step;
    }
    case 5: {
      Step step = loop_step("unroll", s, random);
      if (random.chance(70)) step.arguments["factor"] = number(random.below(5));
      return step;
    }
    case 6: {
      Step step = loop_step("skew", s, random);
      step.arguments["by"] = text(random.pick(s.loops));
      step.arguments["factor"] = number(random.below(5) - 2);
      return step;
    }
    case 7: {
      Step step = loop_step(random.chance(50) ? "reverse" : "shift", s, random);
      if (step.verb == "shift") step.arguments["offset"] = number(random.below(7) - 3);
      return step;
    }
    default: {
      std::vector<std::string> names;
      std::size_t shared = s.loops.size();
      for (const FuzzStatement& other : group) {
        names.push_back(other.name);
        shared = std::min(shared, other.loops.size());
      }
      Step step{"fuse", {}, {}};
      step.arguments["statements"] = texts(names);
      const int count = 1 + random.below(static_cast<int>(shared));
      step.arguments["loops"] = texts(std::vector<std::string>(s.loops.begin(), s.loops.begin() + count));
      return step;
    }
  }
}

Variant random_variant(const FuzzProgram& program, FuzzRandom& random, FuzzRandom& more, FuzzRandom& gpu) {
  Variant variant;
  variant.groups_hole = false;
  for (std::size_t at = 0; at < program.statements.size();) {
    const std::size_t count =
        std::min<std::size_t>(static_cast<std::size_t>(1 + random.below(3)), program.statements.size() - at);
    const std::vector<FuzzStatement> members(program.statements.begin() + static_cast<long>(at),
                                             program.statements.begin() + static_cast<long>(at + count));
    Group group;
    group.name = "k" + std::to_string(variant.groups.size());
    for (const FuzzStatement& s : members) group.ops.push_back(s.name);
    group.steps_hole = random.chance(25);
    std::vector<FuzzStatement> nests;  // scalars have no loop to name
    for (const FuzzStatement& s : members)
      if (!s.loops.empty()) nests.push_back(s);
    const int steps = group.steps_hole || nests.empty() ? 0 : random.below(5);
    for (int i = 0; i < steps; ++i) {
      Step step = random_step(nests, random);
      group.steps.push_back(more.chance(20) ? later_step(nests, more) : std::move(step));
    }
    for (int i = group.steps_hole || nests.empty() ? 0 : gpu.below(6) - 3; i > 0; --i)
      group.steps.push_back(map_gpu(gpu.pick(nests), gpu));
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

Recipe random_recipe(const FuzzProgram& program, FuzzRandom& random, FuzzRandom& more, FuzzRandom& gpu) {
  Recipe recipe;
  if (random.chance(15)) return recipe;  // all left to the scheduler
  recipe.variants_hole = false;
  recipe.variants.push_back(random_variant(program, random, more, gpu));
  if (!more.chance(20)) return recipe;
  recipe.variants.back().when = random_condition(more);
  if (more.chance(50)) recipe.variants.push_back(random_variant(program, more, more, gpu));
  return recipe;
}

}  // namespace facet
