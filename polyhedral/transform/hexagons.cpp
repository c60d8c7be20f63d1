// hexagons: a loop over time and the space loops of the nests in it become tiles of which a whole front starts at once.
//
//     for t {                                  for tf                      fronts, one after the other
//       for i for j  B[i,j] = f(A)               for ih  (parallel)        hexagons of a front: they share nothing
//       for i for j  A[i,j] = g(B) }    -->        for jt                  parallelograms inside, each needs those before it
//                                                    for tt for t {        two tiles of time: a hexagon widens, then narrows
//                                                      for i in ih, t {for j in jt, t  B[i,j] = ..}
//                                                      for i in ih, t {for j in jt, t  A[i,j] = ..} }
//
// Tiles of skewed loops must start one after the other, so that a front has few of them. In hexagons space is cut twice, along
// the lines on which data run forwards and along those on which they run backwards. With height H, width W and
// t' = t - H floor(t / H), the time inside a tile of time tt,
//     u = i + c + f t' + a + d tt     f, a: the least skew and shifts with which no dependence reaches back along i,
//     v = i - c - g t' - b + d tt     g, b: and along -i
//     ih = floor(u / W)     tf = tt + ih - floor(v / W)
// Between the two lines through a multiple of W lies what needs both of its neighbours (ih - floor(v / W) = 1: it widens), the
// rest needs itself only (0: it narrows), and d carries the wide end of the one to the wide end of the other, with which it
// shares a front. c makes the narrow ends equally wide. Every further loop j is cut at floor((j + f_j t + a_j) / size).
//
// No statement is run twice and no array changes its place: only the order is another one. The near twin is `tile` after
// `skew`, tiles that start one after the other and whose sizes are free, and `compute_at`, which runs instances again instead.
// Refuses: nests without the loops, which `embed` can give them; dependences that reach back without a bound or, along the
// first loop, run within one iteration of time (sweeps in place); widths below what data run in one tile of time, both ways
// together: hexagons of a front would need each other.
// Source: Grosser, Cohen, Holewinski, Sadayappan, Verdoolaege: Hybrid hexagonal/classical tiling for GPUs, CGO 2014, sections
// 3.2 to 3.5; the two cuts with a shift between tiles of time are their phases in two quotients.
#include <algorithm>

#include "polyhedral/alignment.hpp"
#include "polyhedral/transform/transform.hpp"

namespace facet {

namespace {

constexpr std::int64_t kMostFactor = 16;

std::int64_t half(std::int64_t n) { return n >= 0 ? n / 2 : -((1 - n) / 2); }

class Hexagons {
 public:
  Hexagons(const Schedule& schedule, Arguments& args) : schedule_(schedule), args_(args) {}

  Schedule run() {
    sizes_ = args_.integers("sizes", 1);
    if (ok()) find_time();
    if (ok()) find_parts();
    if (ok()) name_loops();
    if (ok()) find_slopes();
    return ok() ? tiled() : schedule_;
  }

 private:
  using Members = std::map<int, isl::pw_aff>;
  struct Part {
    TreePtr nest;
    std::vector<TreePtr> loops;
  };

  bool ok() const { return !args_.problem(); }
  std::size_t depth() const { return sizes_.size() - 1; }
  const std::string& name_of(int s) const { return schedule_.statement(s).name; }

  void find_time() {
    statements_ = args_.statements();
    if (ok() && statements_.empty()) args_.bad("statements", "a statement of each nest in the loop over time", "none");
    if (sizes_.size() < 2) args_.bad("sizes", "iterations of time, then a size for each loop", std::to_string(sizes_.size()));
    if (ok()) time_ = args_.loop(statements_[0], args_.text("time"));
    if (!ok()) return;
    for_each_loop(time_, [&](const Tree& l) {
      if (l.mark.kind != LoopKind::kSerial)
        args_.refuse("loop '" + l.names.begin()->second + "' is marked by " + marker_of(l.mark) + " already",
                     {"hexagons come before marks"});
      for (const StorageMap& m : schedule_.storage)
        if (m.kind == StorageMap::Kind::kPromote && m.at == l.id)
          args_.refuse("'" + m.array + "' is promoted inside the loop over time", {"promote afterwards"});
    });
  }

  // Every child of the loop over time is one nest, with the named loops around all of it.
  void find_parts() {
    const TreePtr& body = time_->children[0];
    for (const TreePtr& child : body->kind == Tree::Kind::kSequence ? body->children : std::vector<TreePtr>{body}) {
      const auto s = std::find_if(statements_.begin(), statements_.end(), [&](int x) { return contains(child, x); });
      if (s == statements_.end())
        return args_.refuse("the loop over time holds '" + name_of(statements_of(child).front()) + "' too",
                            {"name a statement of each of its nests"});
      Part part{child, {}};
      TreePtr next = child;
      for (const std::string& name : args_.loops_for(*s)) {
        if (next->kind != Tree::Kind::kLoop || next->names.at(*s) != name)
          return args_.refuse("loop '" + name + "' of '" + name_of(*s) + "' does not stand directly inside the one before it",
                              {"interchange first, or `embed` a nest that has no such loop"});
        part.loops.push_back(next);
        next = next->children[0];
      }
      if (part.loops.size() != depth())
        return args_.bad("loops",
                         std::to_string(depth()) + " loops of '" + name_of(*s) + "', one for each size after the first",
                         std::to_string(part.loops.size()));
      parts_.push_back(std::move(part));
    }
  }

  // Of the front, the hexagons, the tiles of further loops, the tiles of time.
  void name_loops() {
    names_ = args_.texts("names");
    const std::string time = time_->names.at(statements_[0]);
    const auto of_loop = [&](std::size_t k) { return parts_[0].loops[k]->names.begin()->second; };
    if (names_.empty()) {
      names_ = {time + "f", of_loop(0) + "h"};
      for (std::size_t k = 1; k < depth(); ++k) names_.push_back(of_loop(k) + "t");
      names_.push_back(time + "t");
    }
    if (names_.size() != depth() + 2)
      return args_.bad("names", std::to_string(depth() + 2) + " names: front, hexagon, further tiles, tile of time",
                       std::to_string(names_.size()));
    for (std::size_t k = 0; k < names_.size(); ++k)
      for (const int s : statements_of(time_))
        if (find_loop(schedule_.tree, s, names_[k]) || std::count(names_.begin(), names_.end(), names_[k]) > 1)
          return args_.refuse("a loop named '" + names_[k] + "' exists already", {"choose other `names`"});
  }

  std::vector<AlignedPart> members(std::size_t k) const {
    std::vector<AlignedPart> list;
    for (const Part& p : parts_) list.push_back(p.loops[k]->member);
    return list;
  }

  void find_slopes() {
    cut_.forwards = slope(members(0), 0);
    if (ok()) cut_.backwards = slope(backwards(members(0)), 0);
    for (std::size_t k = 1; k < depth() && ok(); ++k) further_.push_back(slope(members(k), k));
    if (!ok()) return;
    const std::int64_t least = cut_.least_width(sizes_[0]);
    if (sizes_[1] < least)
      args_.refuse("hexagons " + std::to_string(sizes_[1]) + " wide would need each other: data run over " +
                       std::to_string(least) + " iterations of '" + parts_[0].loops[0]->names.begin()->second + "' in " +
                       std::to_string(sizes_[0]) + " of time",
                   {"make them at least that wide, or lower"});
  }

  Alignment slope(const std::vector<AlignedPart>& parts, std::size_t k) {
    if (const std::optional<Alignment> found = align(*schedule_.dependences, parts, time_->member, kMostFactor)) return *found;
    args_.refuse("data run both forwards and back along '" + parts_[0].loops[k]->names.begin()->second +
                     "' in one iteration of '" + time_->names.begin()->second +
                     "', or without bound: no skew by time makes up for that",
                 {"leave that loop out of `loops`"});
    return {};
  }

  Schedule tiled() const {
    const std::int64_t height = sizes_[0], width = sizes_[1];
    const Alignment &on = cut_.forwards, &back = cut_.backwards;
    const std::int64_t apart = (width - cut_.spread(height)) / 4, drift = half(width - (back.factor - on.factor) * height);
    Members time_tile, front, hexagon;
    std::vector<Members> further(depth() - 1);
    for (std::size_t p = 0; p < parts_.size(); ++p)
      for (const int s : statements_of(parts_[p].nest)) {
        const isl::pw_aff& t = time_->member.at(s);
        const isl::pw_aff tt = floor_div(t, height), within = t.sub(multiply(tt, height));
        const isl::pw_aff i = parts_[p].loops[0]->member.at(s).add(multiply(tt, drift));
        const isl::pw_aff u = add_constant(i.add(multiply(within, on.factor)), apart + on.shifts[p]),
                          v = add_constant(i.sub(multiply(within, back.factor)), -apart - back.shifts[p]);
        time_tile.emplace(s, tt);
        hexagon.emplace(s, floor_div(u, width));
        front.emplace(s, tt.add(hexagon.at(s)).sub(floor_div(v, width)));
        for (std::size_t k = 1; k < depth(); ++k) {
          const isl::pw_aff skewed = parts_[p].loops[k]->member.at(s).add(multiply(t, further_[k - 1].factor));
          further[k - 1].emplace(s, floor_div(add_constant(skewed, further_[k - 1].shifts[p]), sizes_[k + 1]));
        }
      }
    Schedule next = schedule_;
    std::vector<Tree> loops{loop(next, 0, std::move(front), "fronts"),
                            loop(next, 1, std::move(hexagon), "hexagons " + std::to_string(width) + " wide")};
    for (std::size_t k = 1; k < depth(); ++k)
      loops.push_back(loop(next, k + 1, std::move(further[k - 1]), "tile, " + std::to_string(sizes_[k + 1])));
    loops.push_back(loop(next, depth() + 1, std::move(time_tile), "tile of time, " + std::to_string(height)));
    TreePtr nest = time_;
    for (auto l = loops.rbegin(); l != loops.rend(); ++l) nest = make_loop_tree(std::move(*l), nest);
    next.tree = replace_node(schedule_.tree, time_, nest);
    return next;
  }

  Tree loop(Schedule& next, std::size_t number, Members members, const std::string& comment) const {
    Tree l;
    l.kind = Tree::Kind::kLoop;
    l.id = next.next_loop++;
    l.comment = comment;
    for (const auto& [s, f] : members) l.names[s] = names_[number];
    l.member = std::move(members);
    return l;
  }

  const Schedule& schedule_;
  Arguments& args_;
  std::vector<int> statements_;
  std::vector<std::int64_t> sizes_;
  TreePtr time_;
  std::vector<Part> parts_;
  std::vector<std::string> names_;
  HexagonSlopes cut_;               // along the first loop
  std::vector<Alignment> further_;  // of each other
};

Schedule apply(const Schedule& schedule, Arguments& args) { return Hexagons(schedule, args).run(); }

}  // namespace

extern const Transform kHexagons;
const Transform kHexagons = {
    "hexagons",
    "A loop over time and the space loops of the nests in it become tiles: hexagons in time and the first loop, of which a "
    "whole front starts at once, parallelograms in the others.",
    {{"statements", "statements", true, "a statement of each nest in the loop over time"},
     {"time", "loop", true, "the loop over time, as the first of them calls it"},
     {"loops", "loops", true,
      "the space loops, outermost first, directly inside; or an object statement -> list where the names differ"},
     {"sizes", "ints", true, "iterations of time in a tile, width of the hexagons, then a size for each further loop"},
     {"names", "names", false,
      "names of the fronts, the hexagons, the further tiles and the tiles of time; otherwise tf, ih, jt, .., tt"}},
    apply,
    {"for t {\n  for i  B[i] = A[i-1] + A[i+1]\n  for i  A[i] = B[i] }",
     "for tf  for ih (parallel)\n  for tt  for t {\n    for i in ih, t  B[i] = A[i-1] + A[i+1]\n"
     "    for i in ih, t  A[i] = B[i] }",
     "hybrid hexagonal tiling (PPCG), diamond tiling (Pluto) with flat ends",
     "nests without the loops, data that run back without bound or within one iteration of time, widths below what they run "
     "in a tile of time"}};

}  // namespace facet
