// tile: a chain of loops becomes tile loops around point loops.
//
// Loops t_1 .. t_n with members f_k and sizes s_k >= 1 become
//     tile loops    S[i] -> floor(f_k(i) / s_k)      outside, in the order of `loops`
//     point loops   S[i] -> f_k(i)                   inside, unchanged (a point loop keeps its name and its values)
//
//     for i in 0..M                      for it in 0..ceil(M/32)
//       for j in 0..N                      for jt in 0..ceil(N/8)
//         S(i, j)               -->          for i in 32*it..min(M, 32*it + 32)
//                                              for j in 8*jt..min(N, 8*jt + 8)
//                                                S(i, j)
//
// Known elsewhere as strip-mining plus interchange. A loop of size 1 stays a point loop of one iteration. With one loop it is
// plain strip-mining. Refuses: loops that do not stand directly inside each other; sizes below 1; names already used.
// Legal whenever the loops are permutable. Source: Irigoin and Triolet, Supernode partitioning, POPL 1988.
#include <algorithm>

#include "polyhedral/transform/transform.hpp"

namespace facet {

namespace {

std::string fresh_name(const Schedule& schedule, int statement, const std::string& base) {
  std::string name = base;
  for (int i = 2; find_loop(schedule.tree, statement, name); ++i) name = base + std::to_string(i);
  return name;
}

Schedule apply(const Schedule& schedule, Arguments& args) {
  const int s = args.statement();
  const std::vector<std::string> names = args.texts("loops");
  const std::vector<std::int64_t> sizes = args.integers("sizes", 1);
  std::vector<std::string> tile_names = args.texts("names");
  if (args.problem()) return schedule;
  if (names.empty()) args.bad("loops", "at least one loop", "none");
  if (sizes.size() != names.size()) args.bad("sizes", std::to_string(names.size()) + " sizes", std::to_string(sizes.size()));
  if (!tile_names.empty() && tile_names.size() != names.size())
    args.bad("names", std::to_string(names.size()) + " names", std::to_string(tile_names.size()));
  if (args.problem()) return schedule;
  for (const std::string& n : tile_names)
    if (find_loop(schedule.tree, s, n)) args.refuse("a loop named '" + n + "' exists already", {"choose other `names`"});
  const std::vector<TreePtr> chain = loop_chain(schedule, s, names, args);
  if (args.problem()) return schedule;
  Schedule next = schedule;
  std::vector<Tree> loops;
  for (std::size_t k = 0; k < names.size(); ++k) {
    const Tree& point = *find_loop(schedule.tree, s, names[k]);
    Tree tile = point;
    tile.id = next.next_loop++;
    tile.mark = LoopMark{};
    tile.comment = "tile of " + names[k] + ", " + std::to_string(sizes[k]);
    for (auto& [statement, f] : tile.member) f = floor_div(f, sizes[k]);
    const std::string name = tile_names.empty() ? fresh_name(schedule, s, names[k] + "t") : tile_names[k];
    for (auto& [statement, n] : tile.names) n = name;
    loops.push_back(std::move(tile));
  }
  for (const TreePtr& point : chain) loops.push_back(*point);
  return replace_chain(next, chain, std::move(loops));
}

}  // namespace

extern const Transform kTile;
const Transform kTile = {"tile",
                         "Loops become tile loops around point loops; a point loop keeps its name.",
                         {{"statement", "statement", true, "a statement inside the loops"},
                          {"loops", "loops", true, "the loops to tile, in the order the tile loops shall have"},
                          {"sizes", "ints", true, "iterations per tile, at least 1, one for each loop"},
                          {"names", "names", false, "names of the tile loops; otherwise NAMEt, NAMEt2, ..."}},
                         apply,
                         {"for i in 0..N\n  S(i)", "for it in 0..ceil(N/32)\n  for i in 32*it..min(N, 32*it + 32)\n    S(i)",
                          "split and reorder (Halide, TVM), blocking",
                          "loops that do not stand directly inside each other, sizes below 1, used names"}};

}  // namespace facet
