// Packing of a contraction's operands: whole arrays in panels, copied in the order in which the panels lie.
#include "polyhedral/recipe/contraction.hpp"

#include <algorithm>

namespace facet {

namespace {

constexpr std::int64_t kCopyBlock = 256;    // of a panel of 14 four-byte rows: 14 KiB, well inside L1
constexpr double kCopyThreadsFrom = 32768;  // elements of a copy that earn the threads' start-up

Packing::Names operator+(Packing::Names a, const Packing::Names& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

// The operand's loops that walk one dimension alone, "dN" for the others: the names of promote's dimensions.
Packing::Names dimensions(const Expr& read) {
  Packing::Names names;
  for (std::size_t d = 0; d < read.args.size(); ++d) {
    const bool plain = read.args[d]->op == Op::kIndex && !std::count(names.begin(), names.end(), read.args[d]->name);
    names.push_back(plain ? read.args[d]->name : "d" + std::to_string(d));
  }
  return names;
}

}  // namespace

Step tile_loop(const std::string& statement, const std::string& loop, std::int64_t size, const std::string& name) {
  return make_step("tile", {{"statement", arg(statement)},
                            {"loops", arg(Packing::Names{loop})},
                            {"sizes", arg(std::vector<std::int64_t>{size})},
                            {"names", arg(Packing::Names{name})}});
}

double Packing::extent(const std::string& iterator) const {
  const int number = planner.schedule().find(statement);
  const Names& all = planner.schedule().statement(number).iterators;
  return planner.model().extent(number, static_cast<std::size_t>(std::find(all.begin(), all.end(), iterator) - all.begin()));
}

void Packing::pack(const Expr& operand, const std::string& axis, std::int64_t panel, bool worth,
                   const std::string& what) const {
  const std::string subject = "array " + operand.name;
  if (!worth) return planner.decline("promotion", subject, "too few tiles use its " + what + " to pay for a copy");
  const Names dims = dimensions(operand);
  const bool plain = std::count(dims.begin(), dims.end(), axis) > 0;
  Names outside, inside;
  for (const std::string& d : dims)
    if (d != axis) (std::count(reduction.begin(), reduction.end(), d) ? inside : outside).push_back(d);
  ArgumentMap layout;
  if (plain) {
    layout = {{"order", arg(outside + Names{axis} + inside)}, {"inner", arg(ArgumentMap{{axis, arg(panel)}})}};
  } else {
    layout = {{"room", arg(ArgumentMap{{dims.back(), arg(panel - 1)}})}};
  }
  if (!planner.attempt(
          make_step("promote", {{"array", arg(operand.name)}, {"statement", arg(statement)}, {"layout", arg(layout)}}),
          "promotion", subject,
          plain ? "packed in panels of " + std::to_string(panel) + " " + what
                : "laid out with its padding and room for whole tiles"))
    return;
  shape_copy(planner.schedule().copies.back().name, outside, plain ? axis : "", inside, panel, dims);
}

// The copy walks panel by panel; along the lanes where these are contiguous in the operand.
void Packing::shape_copy(std::string copy, const Names& outside, const std::string& axis, const Names& inside,
                         std::int64_t panel, const Names& dims) const {
  std::string first = dims.front();
  const bool lanes_follow = axis.empty() || axis == dims.back();
  if (!axis.empty()) {
    const std::string panels = axis + "p";
    std::vector<Step> steps{tile_loop(copy, axis, panel, panels)};
    Names walk = outside + Names{panels} + inside;
    if (lanes_follow || inside.empty()) {
      walk.push_back(axis);
    } else {
      // Row by row of the panel: the operand is read along its lines, and a block of the panel stays in L1 meanwhile.
      const std::string block = inside.back() + "p";
      if (extent(inside.back()) > 2 * kCopyBlock) {
        steps.push_back(tile_loop(copy, inside.back(), kCopyBlock, block));
        walk.insert(walk.end() - 1, block);
      }
      walk.insert(walk.end() - 1, axis);
    }
    steps.push_back(make_step("interchange", {{"statement", arg(copy)}, {"order", arg(walk)}}));
    planner.attempt_all(steps, "tile", "copy " + copy, "panel by panel");
    first = walk.front();
  }
  if (lanes_follow)
    planner.attempt(make_step("vectorize", {{"statement", arg(copy)}, {"loop", arg(dims.back())}, {"width", arg(lanes)}}),
                    "vector", "copy " + copy, "contiguous on both sides");
  const int number = planner.schedule().find(copy);
  const double elements = planner.model().instances(number);
  if (planner.threads() < 2 || elements < kCopyThreadsFrom) return;
  for (const TreePtr& loop : loops_around(planner.schedule().tree, number)) {
    if (loop->mark.kind != LoopKind::kSerial || planner.model().trips(*loop, number) < planner.threads()) continue;
    planner.attempt(make_step("parallelize", {{"statement", arg(copy)}, {"loop", arg(loop->names.at(number))}}), "parallel",
                    "copy " + copy, "panels on threads");
    return;
  }
}

}  // namespace facet
