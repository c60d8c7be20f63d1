// The marks of a register tile: which loops are lanes, which are unrolled.
//
//     for i (unroll)  for j (vector)         sums, and what starts them
//     for i (unroll)  for j (vector)         C = C.tile along C's rows, element by element of the same tile
//     for j  for i                           C = C.tile across the lanes: along the rows of the memory, from the tile's own
//
// Where two loops share vectors both are marked, and the store of each row goes in halves of vectors, which the passes put
// together as lines.
#include <algorithm>

#include "polyhedral/recipe/contraction.hpp"

namespace facet {

namespace {

using Names = std::vector<std::string>;

class Marks {
 public:
  Marks(GroupPlanner& planner, const MarkedTile& marked)
      : planner_(planner),
        c_(marked.contraction),
        tile_(marked.tile),
        statement_(marked.statement),
        joined_(marked.joined),
        deep_(marked.deep) {}

  void run(const TreePtr& tile) {
    for (const int s : statements_of(tile)) {
      const Statement& st = now().statement(s);
      const bool copies = st.kind == StatementKind::kCopy;
      const bool computes = st.target == now().statement(statement_).target && !copies;
      if (!joined_.empty()) {
        mark_joined(s, computes);
        continue;
      }
      if (c_.across && !computes) {
        mark_across(s);
      } else {
        mark_lanes(s, tile_.lanes);
      }
      // What only carries the tile to memory takes it from its registers.
      if (!computes && (c_.across || !copies || deep_)) continue;
      const std::vector<TreePtr> loops = loops_around(now().tree, s);
      unroll(s, loops[loops.size() - 2]);
    }
  }

 private:
  GroupPlanner& planner_;
  const Contraction& c_;
  const ContractionTile& tile_;
  int statement_;
  std::string joined_;
  bool deep_;

  const Schedule& now() const { return planner_.schedule(); }

  void unroll(int s, const TreePtr& loop) {
    const std::string rows = loop->names.at(s), name = now().statement(s).name;
    planner_.attempt(make_step("unroll", {{"statement", arg(name)}, {"loop", arg(rows)}}), "unroll",
                     "loop " + rows + " of " + name, "rows of the register tile");
  }

  void mark_joined(int s, bool computes) {
    mark_lanes(s, computes ? tile_.lanes : tile_.lanes / 2);
    const std::string name = now().statement(s).name;
    const std::vector<TreePtr> loops = loops_around(now().tree, s);
    if (computes) {
      const std::string loop = loops[loops.size() - 2]->names.at(s);
      planner_.attempt(make_step("vectorize", {{"statement", arg(name)}, {"loop", arg(loop)}, {"width", arg(tile_.lanes)}}),
                       "vector", "loop " + loop + " of " + name, "shares vectors with the lanes");
      return unroll(s, loops[loops.size() - 3]);
    }
    const std::vector<ExprPtr> walked = now().statement(statement_).subscripts;
    for (std::size_t d = 0; d < walked.size(); ++d)
      if (walked[d]->name == c_.i || walked[d]->name == joined_) unroll(s, loops[loops.size() - walked.size() + d]);
  }

  void mark_lanes(int s, std::int64_t width) {
    const TreePtr lanes = loops_around(now().tree, s).back();
    const std::string loop = lanes->names.at(s), name = now().statement(s).name;
    if (lanes->mark.kind != LoopKind::kSerial) return;
    planner_.attempt(make_step("vectorize", {{"statement", arg(name)}, {"loop", arg(loop)}, {"width", arg(width)}}), "vector",
                     "loop " + loop + " of " + name, "lane axis of the register tile");
  }

  // What takes the tile to memory walks along the memory's rows.
  void mark_across(int s) {
    const std::vector<TreePtr> loops = loops_around(now().tree, s);
    const std::string name = now().statement(s).name;
    if (now().statement(s).kind == StatementKind::kCopy || loops.size() < 2) return;
    const std::string rows = loops[loops.size() - 2]->names.at(s), lanes = loops.back()->names.at(s);
    const std::optional<unsigned> walked = involved_dimension(loops[loops.size() - 2]->member.at(s));
    const std::string index = walked ? now().statement(s).iterators[*walked] : rows;
    if (Model::stride(now().statement(s).subscripts, index) != Model::Stride::kUnit) return;
    planner_.attempt(make_step("interchange", {{"statement", arg(name)}, {"order", arg(Names{lanes, rows})}}), "tile",
                     "loops of " + name, "along the rows of what it writes");
    if (tile_.mr >= tile_.lanes / 2 && index == rows) mark_lanes(s, tile_.lanes);
  }
};

}  // namespace

void order_store(GroupPlanner& planner, const std::string& copy, const std::string& rows, const std::string& lanes) {
  const int number = planner.schedule().find(copy);
  Names order, tile;
  for (const TreePtr& l : loops_around(planner.schedule().tree, number)) {
    const std::string loop = l->names.at(number);
    if (statements_of(l).size() == 1) (loop == rows || loop == lanes ? tile : order).push_back(loop);
  }
  if (tile.size() != 2) return;
  order.insert(order.end(), {lanes, rows});
  planner.attempt(make_step("interchange", {{"statement", arg(copy)}, {"order", arg(order)}}), "tile", "copy " + copy,
                  "squares of lanes and rows are turned");
}

void turn_store(GroupPlanner& planner, const std::string& copy, const Contraction& c, const TurnedResult& turned) {
  order_store(planner, copy, turned.loop, c.j);
  const Schedule& now = planner.schedule();
  const std::int64_t width = planner.options().machine.cpu.vector_bytes /
                             static_cast<std::int64_t>(size_bytes(now.statement(c.statement).value->type));
  if (width != turned.size) return;
  planner.attempt(make_step("vectorize", {{"statement", arg(copy)}, {"loop", arg(turned.loop)}, {"width", arg(width)}}),
                  "vector", "copy " + copy, "whole lines of what it writes");
}

void mark_tile(GroupPlanner& planner, const MarkedTile& marked) {
  Marks(planner, marked).run(find_loop(planner.schedule().tree, marked.statement, marked.loop));
}

}  // namespace facet
