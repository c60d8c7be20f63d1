// Policy: the order of loops that a GPU wants. Parallel loops stand outside of others in a perfect nest, and nests that share
// outer loops but have parallel loops of their own are separated: every parallel loop can then go to the grid.
#include <algorithm>
#include <set>

#include "polyhedral/recipe/gpu_nest.hpp"

namespace facet {

namespace {

class Orderer {
 public:
  explicit Orderer(GroupPlanner& planner) : planner_(planner) {}

  void run() {
    while (change(planner_.schedule().tree)) {}
  }

 private:
  // One step somewhere in the tree; false when nothing is left to do.
  bool change(const TreePtr& node) {
    if (node->kind == Tree::Kind::kLeaf) return false;
    if (node->kind == Tree::Kind::kSequence)
      return std::any_of(node->children.begin(), node->children.end(), [&](const TreePtr& c) { return change(c); });
    if (is_mapped(node)) return false;
    const GpuNest nest(planner_, node);
    if (!nest.known()) return false;
    if (interchanged(nest, node) || distributed(nest)) return true;
    return nest.chain().empty() && (change(node->children[0]) || hoisted(nest, node));
  }

  bool interchanged(const GpuNest& nest, const TreePtr& node) {
    const std::vector<TreePtr> loops = loop_chain(node);
    std::vector<TreePtr> order = loops;
    std::stable_partition(order.begin(), order.end(), [&](const TreePtr& l) { return nest.parallel(*l); });
    if (order == loops || !tried_.insert(node->id).second) return false;
    const std::optional<std::pair<int, std::vector<std::string>>> names = nest.addressed(order);
    if (!names) return false;
    const Step step = make_step("interchange", {{"statement", arg(statement(names->first))}, {"order", arg(names->second)}});
    return parallel_outside({step}, order.front()->id, nest, "parallel loops outermost: they can go to the grid");
  }

  // Parallel inside a sequential loop is not parallel around it: a wavefront's loops would lose what it gave them. The steps
  // are taken where loop `outer` stands outermost afterwards and more loops of its chain are parallel than were.
  bool parallel_outside(const std::vector<Step>& steps, int outer, const GpuNest& nest, const std::string& why) {
    Ledger refusal;
    GroupPlanner trial(planner_.schedule(), planner_.options(), planner_.budget(), refusal);
    if (trial.attempt_all(steps, "gpu", nest.subject(), "")) {
      const GpuNest moved(trial, find_loop(trial.schedule().tree, outer));
      if (!moved.known() || moved.chain().size() <= nest.chain().size()) return false;
    }
    return planner_.attempt_all(steps, "gpu", nest.subject(), why);
  }

  // for t { for j A; for j B }, j parallel in both and in both parts alike: for j { for t { A; B } }.
  bool hoisted(const GpuNest& nest, const TreePtr& node) {
    std::vector<std::string> order;
    TreePtr body = node;
    const int first = statements_of(node).front();
    for (; body->kind == Tree::Kind::kLoop; body = body->children[0]) order.push_back(body->names.at(first));
    if (body->kind != Tree::Kind::kSequence || !tried_hoisting_.insert(node->id).second) return false;
    std::vector<Step> steps;
    for (std::size_t k = 0; k < body->children.size(); ++k) {
      const TreePtr& c = body->children[k];
      if (c->kind != Tree::Kind::kLoop || !nest.parallel(*c)) return false;
      if (k == 0) continue;
      const int s = statements_of(c).front();
      const std::string a = statement(first), b = statement(s);
      steps.push_back(
          make_step("fuse", {{"statements", arg(std::vector<std::string>{a, b})},
                             {"loops", arg(ArgumentMap{{a, arg(std::vector<std::string>{body->children[0]->names.at(first)})},
                                                       {b, arg(std::vector<std::string>{c->names.at(s)})}})}}));
    }
    order.insert(order.begin(), body->children[0]->names.at(first));
    steps.push_back(make_step("interchange", {{"statement", arg(statement(first))}, {"order", arg(order)}}));
    return parallel_outside(steps, body->children[0]->id, nest, "a parallel loop of all its nests is outermost now");
  }

  // Statements that stand alone go with the loop that follows them, the last ones with the last loop.
  static std::vector<std::vector<int>> groups_of(const TreePtr& sequence) {
    std::vector<std::vector<int>> groups(1);
    bool loop = false;
    for (const TreePtr& c : sequence->children) {
      if (loop && (c->kind != Tree::Kind::kLeaf)) {
        groups.emplace_back();
        loop = false;
      }
      const std::vector<int> all = statements_of(c);
      groups.back().insert(groups.back().end(), all.begin(), all.end());
      loop = loop || c->kind != Tree::Kind::kLeaf;
    }
    return groups;
  }

  bool distributed(const GpuNest& nest) {
    if (nest.chain().empty() || nest.body()->kind != Tree::Kind::kSequence) return false;
    std::size_t deep = 0;
    for (const TreePtr& c : nest.body()->children) deep = std::max(deep, nest.parallel_depth(c));
    const std::vector<std::vector<int>> groups = groups_of(nest.body());
    if (groups.size() < 2 || deep < 2 || !tried_apart_.insert(nest.chain().front()->id).second) return false;
    const int s = groups.front().front();
    const std::optional<std::vector<std::string>> loop = nest.names({nest.chain().front()}, s);
    if (!loop) return false;
    ArgumentMap arguments{{"statement", arg(statement(s))}, {"loop", arg(loop->front())}};
    std::vector<std::string> with;
    for (std::size_t k = 1; k < groups.front().size(); ++k) with.push_back(statement(groups.front()[k]));
    if (!with.empty()) arguments["with"] = arg(with);
    return planner_.attempt(make_step("distribute", std::move(arguments)), "gpu", nest.subject(),
                            "the nests have further parallel loops for the grid");
  }

  const std::string& statement(int s) const { return planner_.schedule().statement(s).name; }

  GroupPlanner& planner_;
  std::set<int> tried_, tried_apart_, tried_hoisting_;  // by loop id
};

}  // namespace

void plan_gpu_order(GroupPlanner& planner) { Orderer(planner).run(); }

}  // namespace facet
