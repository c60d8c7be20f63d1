// GpuNest: what the GPU policy asks of a nest: its parallel outer loops, reductions, products, accesses along memory.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "polyhedral/recipe/planner.hpp"

namespace facet {

// A sum of products with its loops in their roles; trip counts at the typical sizes.
struct GpuProduct {
  int statement = -1;
  DType type = DType::kF32;
  std::vector<std::string> grid, block, sum;  // all parallel loops; those that one factor depends on; the reduction's
  double batch = 1, left = 1, right = 1, depth = 1;
  bool worthwhile() const { return left >= 32 && right >= 32 && depth >= 16; }
};

// A reduction nest of one statement.
struct GpuReduction {
  int statement = -1;
  std::vector<TreePtr> loops;  // outermost first
};

// An inner loop for the threads of a block.
struct GpuSpread {
  int statement = -1;
  TreePtr loop;
  std::string name;
  bool reduces = false;
};

class GpuNest {
 public:
  // `nest` is a loop of the planner's schedule, which must not change while this is used.
  GpuNest(const GroupPlanner& planner, const TreePtr& nest);
  // Another nest of the same schedule, its dependences asked for once only.
  GpuNest(const GpuNest& other, const TreePtr& nest);

  bool known() const { return known_; }                         // false: the budget was used up by asking for dependences
  std::string subject() const;                                  // "loops i, j of h0"
  const std::vector<TreePtr>& chain() const { return chain_; }  // the parallel loops around everything, outermost first
  const TreePtr& body() const { return body_; }                 // what lies inside them

  bool parallel(const Tree& loop) const;  // carries no dependence

  double trips(const Tree& loop, int statement) const { return model_.trips(loop, statement); }
  double points() const;                                  // of the chain
  double parallel_points(const TreePtr& tree) const;      // most instances of parallel loops at once
  std::size_t parallel_depth(const TreePtr& tree) const;  // directly nested parallel loops from here
  double coalesced(const Tree& loop) const;               // accesses of one iteration of the chain with memory along the loop
  bool has_inner_loops() const;
  std::int64_t elements_a_thread() const;  // 16 bytes of the widest element
  bool prefers_rows(double few_points) const;

  // The body is one reduction nest and statements done once a point; without a chain, the nest is a reduction.
  std::optional<GpuReduction> single_reduction() const;
  std::optional<GpuProduct> product() const;
  std::optional<GpuProduct> product_of(int statement) const;  // over the parallel loops around the statement, wherever they are
  std::vector<GpuSpread> spreads() const;
  const TreePtr& best_along_memory(const std::vector<TreePtr>& loops, int statement) const;

  // The loops' names for a statement, or nothing when it calls an inner loop the same.
  std::optional<std::vector<std::string>> names(const std::vector<TreePtr>& loops, int statement) const;
  std::optional<std::pair<int, std::vector<std::string>>> addressed(const std::vector<TreePtr>& loops) const;

  bool reduces(const Tree& loop) const;               // carries a reduction only
  bool is_reduction_nest(const TreePtr& tree) const;  // of one statement, whose place stands still in it

 private:
  void find_chain();
  void collect(const TreePtr& node, std::vector<GpuSpread>* spreads) const;

  const Schedule& schedule_;
  Model model_;
  TreePtr nest_, body_;
  std::shared_ptr<const std::map<int, Carried>> carried_;
  std::vector<TreePtr> chain_;
  bool known_ = false;
};

// Has a policy mapped loops of it already?
bool is_mapped(const TreePtr& tree);

// Is this fusion a loss on a GPU? Each nest wants all its parallel loops on the grid: "" or the reason. `fused`: the loop that
// now holds both.
std::string gpu_fusion_loss(const GroupPlanner& planner, const Schedule& fused, int loop);

}  // namespace facet
