// map_gpu: loops of a statement go to the grid and to the threads of a block. Their order in the tree stays.
//
//     for i in 0..M                      blocks (x, y) of the grid, threads (tx, ty) of a block:
//       for j in 0..N           -->        i = 4*y + ty,  j = 64*x + tx:  S(i, j)
//         S(i, j)                          map_gpu S: grid [i, j], block [i, j], threads [4, 64]
//
// In every list the last loop runs along x, the one before along y, further ones share z. What a thread block does depends on
// where its loops stand:
//   points   block loops are grid loops: a block takes a piece of each, a thread `points` iterations of it
//   block    the block loops lie inside the grid's: each such nest is spread over the block's threads by its own shape, with
//            `points` iterations a thread, groups of `adjacent` of them neighbours; a reduction is partial results and their
//            combination; every nest gets a step of its own, barriers stand between them where needed. A thread's linear number
//            is the nest's digits: `threads` [4, 64] is t / 64, t mod 64. With `warps` and `lanes` instead its warp and its
//            lane are: a warp's lanes form a rectangle. `lanes` [1] gives each iteration to a warp, whose lanes share loops
//            inside that have `warps` [1], `lanes` [32]: rows without a barrier, several a block
//   columns  [r, j], r a reduction inside grid loop j: threads along y share the reduction of each of the points along x
//   stage    a sum of products: [i.., j..] tiles of 16 x 16 threads, `points` squared results a thread, the operands of `depth`
//            iterations of the reduction through shared memory
//   split    a reduction cut into `parts`, each a block's; a second kernel combines the partial results
//   atomic   `reduction`: grid loops that carry reductions, each update of a shared place one action
// Loops around the grid's run on the processor, one launch an iteration; a nest without grid loops is one block; what has no
// mapped loop at all is one thread.
//
// Refused here: what these forms cannot express, and blocks beyond the hardware's limits. Legality refuses a mapped loop that
// carries a dependence, reductions excepted where the numerics leave their order free. It comes after all other steps.
// Sources: the mapping of Verdoolaege et al., PPCG, TACO 2013; block reductions of Harris, Optimizing parallel reduction, 2007.
#include <algorithm>

#include "facet/expr_facts.hpp"
#include "polyhedral/legality.hpp"
#include "polyhedral/transform/map_gpu_parts.hpp"
#include "polyhedral/transform/shared_updates.hpp"
#include "polyhedral/transform/transform.hpp"

namespace facet {

namespace {

// CUDA C++ Programming Guide, "Compute Capabilities": the same for every device since 3.0.
constexpr std::int64_t kMostThreads = 1024, kWarp = map_gpu::kWarpLanes, kSharedBytes = 49152;
constexpr std::int64_t kTileSide = 16;  // threads along each side of a staged tile

using map_gpu::listed, map_gpu::position, map_gpu::threads_of;

class MapGpu {
 public:
  MapGpu(const Schedule& schedule, Arguments& args) : schedule_(schedule), args_(args) {}

  Schedule run() {
    statement_ = args_.statement();
    read();
    if (ok()) place_grid();
    if (ok()) check_sizes();
    if (ok()) check_form();
    if (!ok()) return schedule_;
    const Schedule next = marked();
    if (atomic_) check_shared_updates(next, grid_, args_);
    return next;
  }

 private:
  bool ok() const { return !args_.problem(); }
  const Statement& statement() const { return schedule_.statement(statement_); }
  std::string name_of(const TreePtr& loop) const { return loop->names.at(statement_); }

  std::vector<TreePtr> loops(const std::string& argument) {
    std::vector<TreePtr> list;
    for (const std::string& name : args_.texts(argument)) {
      const TreePtr loop = args_.loop(statement_, name);
      if (!loop) return {};
      if (listed(list, loop)) args_.refuse("loop '" + name + "' is named twice in `" + argument + "`", {"name it once"});
      if (loop->mark.kind != LoopKind::kSerial)
        args_.refuse("loop '" + name + "' is marked by " + marker_of(loop->mark) + " already",
                     {"leave that step out: grid and block say how the loop runs"});
      list.push_back(loop);
    }
    return list;
  }

  void read() {
    grid_ = loops("grid");
    block_ = loops("block");
    stage_ = loops("stage");
    split_ = loops("split");
    threads_ = args_.integers("threads", 1);
    points_ = args_.integers("points", 1, map_gpu::kMostPoints);
    adjacent_ = args_.integers("adjacent", 1);
    read_warps();
    depth_ = args_.integer("depth", 8, 1);
    parts_ = args_.integer("parts", 0, 1, map_gpu::kMostParts);
    if (!ok()) return;
    if (grid_.empty() && block_.empty() && split_.empty())
      args_.refuse("it names no loop for the grid or the block", {"give `grid`"});
    if (!split_.empty() && parts_ == 0)
      args_.refuse("`split` needs `parts`: how many blocks share the reduction", {"give `parts`"});
    if (args_.has("reduction") && args_.text("reduction") != "atomic")
      args_.bad("reduction", "\"atomic\"", "\"" + args_.text("reduction") + "\"");
    atomic_ = args_.has("reduction");
    if (atomic_ && grid_.empty()) args_.refuse("atomic updates are for loops of the grid", {"give `grid`"});
    if (points_.empty()) points_.assign(threads_.size(), 1);
    if (adjacent_.empty()) adjacent_.assign(threads_.size(), 1);
  }

  // Threads along each loop as warps x lanes.
  void read_warps() {
    const std::vector<std::int64_t> warps = args_.integers("warps", 1);
    lanes_ = args_.integers("lanes", 1);
    if (!ok() || (warps.empty() && lanes_.empty())) return;
    if (!threads_.empty()) return args_.refuse("`threads` are `warps` times `lanes` here", {"leave `threads` out"});
    if (warps.size() != lanes_.size())
      return args_.bad("lanes", std::to_string(warps.size()) + " numbers, as `warps`", std::to_string(lanes_.size()));
    std::int64_t lanes = 1;
    for (std::size_t k = 0; k < warps.size(); ++k) {
      lanes *= std::min(lanes_[k], kMostThreads);
      threads_.push_back(std::min(warps[k], kMostThreads) * std::min(lanes_[k], kMostThreads));
    }
    a_warp_each_ = lanes_ == std::vector<std::int64_t>{1};
    if (lanes != kWarp && !a_warp_each_) args_.bad("lanes", "32 together, or [1]: an iteration a warp", std::to_string(lanes));
  }

  // The grid loops stand directly inside each other; those of an earlier step count.
  void place_grid() {
    std::vector<std::string> names;
    for (const TreePtr& l : grid_) names.push_back(name_of(l));
    if (!names.empty()) chain_ = loop_chain(schedule_, statement_, names, args_);
    if (!ok()) return;
    bool inside = false;
    for (const TreePtr& l : loops_around(schedule_.tree, statement_)) {
      if (listed(grid_, l)) inside = true;
      if (l->mark.kind != LoopKind::kMapped) continue;
      if (l->mark.gpu.warp && !a_warp_each_ && grid_.empty()) {
        in_warp_ = true;
        continue;
      }
      if (l->mark.gpu.block >= 0)
        return args_.refuse("the threads are taken by loop '" + name_of(l) + "'", {"map both in one step"});
      if (!grid_.empty() && !inside)
        return args_.refuse("loop '" + name_of(l) + "' around is on the grid already", {"map both in one step"});
      if (grid_.empty()) chain_.push_back(l);
    }
    if (grid_.empty()) return;
    for_each_loop(chain_.back()->children[0], [&](const Tree& l) {
      if (l.mark.kind == LoopKind::kMapped)
        args_.refuse("a loop inside '" + name_of(chain_.back()) + "' is mapped already", {"map the grid's loops first"});
    });
  }

  std::int64_t block_threads() const {
    std::int64_t n = a_warp_each_ ? kWarp : 1;
    for (const std::int64_t t : threads_) n = n > kMostThreads ? n : n * t;
    return n;
  }

  void check_sizes() {
    const std::size_t wanted = stage_.empty() ? block_.size() : 2;
    if (threads_.size() != wanted)
      return args_.bad("threads", std::to_string(wanted) + " numbers", std::to_string(threads_.size()));
    if (points_.size() != wanted)
      return args_.bad("points", std::to_string(wanted) + " numbers", std::to_string(points_.size()));
    if (adjacent_.size() != wanted)
      return args_.bad("adjacent", std::to_string(wanted) + " numbers", std::to_string(adjacent_.size()));
    for (std::size_t k = 0; k < wanted; ++k)
      if (points_[k] % adjacent_[k] != 0)
        return args_.bad("adjacent", "divisors of `points`",
                         std::to_string(adjacent_[k]) + " of " + std::to_string(points_[k]));
    if (block_threads() > kMostThreads)
      args_.refuse("a block would have more than " + std::to_string(kMostThreads) + " threads",
                   {"lower `threads`, and raise `points` for the iterations that are left"});
  }

  void check_form() {
    for (const TreePtr& l : stage_)
      if (listed(grid_, l) || listed(block_, l))
        args_.refuse("loop '" + name_of(l) + "' is staged, not mapped", {"map others"});
    std::size_t inner = 0;
    for (const TreePtr& l : block_) inner += !listed(grid_, l);
    if (atomic_ && (inner > 0 || !stage_.empty() || !split_.empty()))
      return args_.refuse("atomic updates are for loops of the grid: a block that shares a reduction combines it once",
                          {"leave `reduction` out, or take the block's loops from the grid"});
    if (!split_.empty()) check_split();
    if (!stage_.empty()) return check_stage(inner);
    const auto several = [](const std::vector<std::int64_t>& list) {
      return std::any_of(list.begin(), list.end(), [](std::int64_t p) { return p != 1; });
    };
    if (inner < block_.size() && (several(adjacent_) || !lanes_.empty()))
      return args_.refuse("`adjacent`, `warps` and `lanes` are for loops of the block alone", {"give `threads` and `points`"});
    if (inner == 0) {
      if (block_.size() > 2) args_.refuse("`points` use at most two loops of the block", {"name two"});
      return;
    }
    if (inner == block_.size()) return check_nest(several(points_));
    if (several(points_))
      return args_.refuse("a reduction that a block's threads share has no `points`", {"leave `points` out"});
    if (block_.size() == 2 && !listed(grid_, block_[0]) && listed(grid_, block_[1])) return check_columns();
    args_.refuse("the loops of `block` are the grid's, or inside them, or a reduction before a loop of the grid",
                 {"take all of `block` from `grid`, or all from the loops inside"});
  }

  // Several nests share the block: they must mean the same threads.
  void check_nest(bool points) {
    std::vector<std::string> names;
    for (const TreePtr& l : block_) names.push_back(name_of(l));
    const std::vector<TreePtr> nest = loop_chain(schedule_, statement_, names, args_);
    if (!ok()) return;
    const std::int64_t threads = block_threads();
    const TreePtr scope = chain_.empty() ? map_gpu::kernel_around(schedule_, statement_, block_.front()) : chain_.front();
    std::int64_t others = 0;
    const auto look = [&](const auto& self, const TreePtr& t) -> void {
      const bool root = t->kind == Tree::Kind::kLoop && t->mark.kind == LoopKind::kMapped && t->mark.gpu.block >= 0;
      if (root && t->mark.gpu.grid < 0) others = threads_of(*t);
      if (root) return;
      for (const TreePtr& c : t->children) self(self, c);
    };
    if (!in_warp_) look(look, scope);
    if (in_warp_ && (lanes_.empty() || threads != kWarp))
      return args_.refuse("the loops inside a warp's iteration have `warps` of 1 and `lanes` of 32 together",
                          {"write \"warps\": [1], \"lanes\": [32]"});
    if (others > 0 && others != threads)
      args_.refuse("other loops of the block have " + std::to_string(others) + " threads, not " + std::to_string(threads),
                   {"give all nests of a block as many `threads`"});
    for_each_loop(nest.back()->children[0], [&](const Tree& l) {
      if (l.mark.kind == LoopKind::kMapped)
        args_.refuse("a loop inside '" + name_of(nest.back()) + "' has the block's threads", {"map one of the two"});
    });
    if (threads > kWarp ? threads % kWarp != 0 : (threads & (threads - 1)) != 0)
      args_.bad("threads", "a power of two up to 32, or a multiple of 32", std::to_string(threads));
    for (const TreePtr& loop : nest) {
      if (!ok() || !statement().update || !carries_dependence(schedule_, loop->id, true)) continue;  // legality names the pair
      if (nest.size() > 1 || points || a_warp_each_)
        return args_.refuse("loop '" + name_of(loop) +
                                "' carries a dependence: alone, and without `points`, its threads could "
                                "share a reduction",
                            {"map it in a step of its own without `points`, or leave it serial"});
      check_reduction(loop);
    }
  }

  // What carries a reduction must be that statement's alone, and its place must stand still below.
  void check_reduction(const TreePtr& loop) {
    const Statement& s = statement();
    const std::string what = "loop '" + name_of(loop) + "' carries a dependence";
    if (!s.update || *s.update >= ReduceKind::kArgMax)
      return args_.refuse(what + " that is no reduction", {"only loops without dependences and reductions go to threads"});
    if (statements_of(loop).size() > 1)
      return args_.refuse(what + " and is shared with other statements", {"distribute '" + s.name + "' first"});
    for (const TreePtr& l : loops_around(schedule_.tree, statement_))
      if (l->mark.updates == SharedUpdates::kAtomic)
        return args_.refuse("each update of '" + s.name + "' is atomic: a block's threads do not combine them before",
                            {"leave \"reduction\": \"atomic\" out where the grid is mapped"});
    std::vector<TreePtr> below{loop};
    for_each_loop(loop->children[0], [&](const Tree& l) { below.push_back(find_loop(schedule_.tree, l.id)); });
    for (const TreePtr& l : below)
      for (std::size_t i = 0; i < s.iterators.size(); ++i)
        if (involves(l->member.at(statement_), static_cast<unsigned>(i)) && mentions_index(s.subscripts, s.iterators[i]))
          return args_.refuse(
              "the place that '" + s.name + "' updates moves with loop '" + name_of(l) + "' inside the reduction",
              {"interchange it to the outside first"});
    if (reduction_ == nullptr) reduction_ = loop;
  }

  // Below the grid's loops: one reduction nest of the statement, other statements once a point and without part in it.
  void check_single(const TreePtr& reduction) {
    TreePtr body = chain_.empty() ? reduction : chain_.back()->children[0];
    const std::vector<TreePtr> parts = body->kind == Tree::Kind::kSequence ? body->children : std::vector<TreePtr>{body};
    for (const TreePtr& part : parts) {
      if (part->id == reduction->id && part->kind == Tree::Kind::kLoop) continue;
      if (part->kind != Tree::Kind::kLeaf)
        return args_.refuse("other loops stand beside the reduction '" + statement().name + "'",
                            {"distribute '" + statement().name + "' first"});
      for (const Access& a : statement().reads)
        if (a.array == schedule_.statement(part->statement).target)
          return args_.refuse("'" + statement().name + "' reads what '" + schedule_.statement(part->statement).name +
                                  "' computes at the same point",
                              {"distribute '" + statement().name + "' first"});
    }
    if (!contains(body, statement_) ||
        std::none_of(parts.begin(), parts.end(), [&](const TreePtr& p) { return p == reduction; }))
      return args_.refuse("loop '" + name_of(reduction) + "' does not stand directly inside the grid's loops",
                          {"put the loops between on the grid, or interchange"});
    check_reduction(reduction);
    if (ok() && !is_box(statement().domain)) args_.refuse("the reduction's bounds depend on other loops", {"map those around"});
  }

  void check_columns() {
    if (threads_[1] % kWarp != 0) args_.bad("threads", "a multiple of 32 along x", std::to_string(threads_[1]));
    const TreePtr outer = reduction_root();
    if (!outer)
      return args_.refuse("loop '" + name_of(block_[0]) + "' is no loop of a reduction", {"name one first in `block`"});
    check_single(outer);
  }

  // The outermost loop below the grid's.
  TreePtr reduction_root() const {
    for (const TreePtr& l : loops_around(schedule_.tree, statement_))
      if (!listed(chain_, l) && (chain_.empty() || !is_around(l))) return l;
    return nullptr;
  }
  bool is_around(const TreePtr& l) const {  // of the grid's loops
    return find_loop(l, chain_.front()->id) != nullptr;
  }

  void check_split() {
    if (split_.size() > 1) return args_.refuse("one loop can be split", {"name one loop in `split`"});
    check_single(split_[0]);
  }

  void check_stage(std::size_t inner) {
    const Statement& s = statement();
    if (inner > 0 || !split_.empty())
      return args_.refuse("staged tiles take their block's loops from the grid",
                          {"leave `split` out, and name loops of `grid` in `block`"});
    if (!s.update || *s.update != ReduceKind::kSum || s.value->op != Op::kMul || !is_float(s.value->type))
      return args_.refuse("'" + s.name + "' is no sum of products", {"leave `stage` and `depth` out"});
    const std::int64_t p = points_[0];
    if (threads_ != std::vector<std::int64_t>{kTileSide, kTileSide}) args_.bad("threads", "[16, 16]", "others");
    if (points_[1] != p || (p != 2 && p != 4 && p != 8)) args_.bad("points", "[2, 2], [4, 4] or [8, 8]", "others");
    if (depth_ != 8 && depth_ != 16 && depth_ != 32) args_.bad("depth", "8, 16 or 32", std::to_string(depth_));
    const std::int64_t row = kTileSide * p + 16 / static_cast<std::int64_t>(size_bytes(s.value->type));
    if (2 * depth_ * row * static_cast<std::int64_t>(size_bytes(s.value->type)) > kSharedBytes)
      args_.refuse("the staged tiles take more than " + std::to_string(kSharedBytes) + " bytes of shared memory",
                   {"lower `depth` or `points`"});
    const TreePtr root = reduction_root();
    if (!root) return args_.refuse("there is no loop to stage", {"leave it out"});
    if (ok()) check_single(root);
    std::size_t below = 0;
    for_each_loop(root, [&](const Tree&) { ++below; });
    if (ok() && below != stage_.size())
      args_.refuse("`stage` names all loops of the reduction", {"name " + std::to_string(below) + " loops"});
    if (ok()) check_roles();
  }

  // Some loop moves the left factor only, another the right one only; these are the block's.
  void check_roles() {
    std::size_t left = 0, right = 0;
    for (const TreePtr& l : chain_) {
      const std::string name = walked_iterator(schedule_, *l, statement_);
      if (name.empty())
        return args_.refuse("loop '" + name_of(l) + "' does not walk an index of '" + statement().name + "'",
                            {"leave `stage` out, or undo the skew of that loop"});
      const bool a = mentions_index(statement().value->args[0], name), b = mentions_index(statement().value->args[1], name);
      left += a && !b;
      right += b && !a;
      if ((a != b) != listed(block_, l))
        return args_.refuse("the block's loops are those that one factor depends on; '" + name_of(l) + "' is " +
                                (a != b ? "one" : "none") + " of them",
                            {"name the loops of the result's two dimensions in `block`"});
    }
    if (left == 0 || right == 0)
      args_.refuse("no loop moves one factor of '" + statement().name + "' alone", {"leave `stage` out"});
  }

  Schedule marked() const {
    Schedule next = schedule_;
    std::vector<TreePtr> all = grid_;
    for (const std::vector<TreePtr>* list : {&block_, &stage_, &split_})
      for (const TreePtr& l : *list)
        if (!listed(all, l)) all.push_back(l);
    for (const TreePtr& l : all) {
      const TreePtr now = find_loop(next.tree, l->id);
      Tree changed = *now;
      changed.mark.kind = LoopKind::kMapped;
      GpuPlace& g = changed.mark.gpu;
      g.grid = position(grid_, *l);
      g.block = position(block_, *l);
      const std::size_t at = stage_.empty() && g.block >= 0 ? block_.size() - 1 - static_cast<std::size_t>(g.block) : 0;
      if (g.block >= 0) {
        g.threads = threads_[at];
        g.points = points_[at];
        g.adjacent = adjacent_[at];
        g.lanes = lanes_.empty() || a_warp_each_ ? 0 : lanes_[at];
        g.warp = a_warp_each_;
      }
      if (listed(stage_, l)) g.stage = depth_;
      if (listed(split_, l)) g.parts = parts_;
      g.reduces = atomic_ || (reduction_ && !listed(grid_, l));
      if (atomic_) changed.mark.updates = SharedUpdates::kAtomic;
      next.tree = replace_node(next.tree, now, make_loop_tree(std::move(changed), now->children[0]));
    }
    return next;
  }

  const Schedule& schedule_;
  Arguments& args_;
  int statement_ = -1;
  std::vector<TreePtr> grid_, block_, stage_, split_, chain_;
  std::vector<std::int64_t> threads_, points_, adjacent_, lanes_;
  bool a_warp_each_ = false;  // `lanes` is [1]
  bool in_warp_ = false;      // a loop around gives its iterations to warps
  bool atomic_ = false;       // updates of one place by several blocks or threads
  std::int64_t depth_ = 8, parts_ = 0;
  TreePtr reduction_;  // the loop whose iterations update one place
};

}  // namespace

Schedule apply_map_gpu(const Schedule& schedule, Arguments& args) { return MapGpu(schedule, args).run(); }

}  // namespace facet
