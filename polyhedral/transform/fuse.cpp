// fuse: several nests become one loop nest around their bodies.
//
//     for i { for j  S(i, j) }                 for i {
//     for i { for j  T(i, j) }      -->          for j { S(i, j);  T(i, j) } }         fuse S, T at loops i, j
//
// The nests must be neighbours in one sequence (what stands between them stays before them) and each must have the named loops
// outermost, in that order. Known elsewhere as loop fusion (Pluto, Halide compute_with). The near twin that moves a producer
// inside a consumer's tile by footprint is compute-at. Refuses: fewer than two nests; a nest without such a loop.
// Loops that are marked (parallel, vectors, unrolled) need the same mark. Illegal where a sink would overtake its source;
// `shift` one of the loops first.
#include <algorithm>

#include "polyhedral/transform/transform.hpp"

namespace facet {

namespace {

// The deepest sequence with the statements in different children; null when one leaf or loop holds them all.
TreePtr common_sequence(const TreePtr& tree, const std::vector<int>& statements) {
  TreePtr node = tree;
  while (node->kind != Tree::Kind::kLeaf) {
    TreePtr only;
    for (const TreePtr& c : node->children)
      if (std::all_of(statements.begin(), statements.end(), [&](int s) { return contains(c, s); })) only = c;
    if (!only) return node->kind == Tree::Kind::kSequence ? node : nullptr;
    node = only;
  }
  return nullptr;
}

// The loops to share of the nest of `statement`, outermost first.
std::vector<std::string> loop_names(const Schedule& schedule, Arguments& args, int statement) {
  std::vector<std::string> names = args.loops_for(statement);
  if (names.empty())
    args.bad("loops", "a list of loop names for statement '" + schedule.statement(statement).name + "'", "none");
  return names;
}

// Loop `name` is not the next one of the statement's nest, of which `rest` is left.
void refuse_loop(const Schedule& schedule, int statement, const std::string& name, const TreePtr& rest, Arguments& args) {
  const std::string& s = schedule.statement(statement).name;
  const TreePtr loop = find_loop(schedule.tree, statement, name);
  if (loop && !find_loop(rest, loop->id) && contains(loop, statement))
    return args.refuse("loop '" + name + "' is shared by the nests already", {"name the loops inside it only"});
  std::string inside;
  for (const TreePtr& l : loops_around(rest, statement)) inside += (inside.empty() ? "" : ", ") + l->names.at(statement);
  args.refuse(
      "'" + name + "' is not the next loop of '" + s + "': " + (inside.empty() ? "no loop is" : "its loops are " + inside),
      {"interchange or distribute it first"});
}

struct Nest {
  TreePtr tree;
  std::vector<std::string> loops;
  int statement = -1;
};

bool same_mark(const LoopMark& a, const LoopMark& b) {
  return a.kind == b.kind && a.width == b.width && a.collapse == b.collapse && a.updates == b.updates && a.parts == b.parts;
}

// The loop of another nest becomes one with `loop`: a loop runs in one way, so both have the same mark or none.
void join_loops(const Nest& other, const std::string& name, const std::string& statement, const std::string& first, Tree* loop,
                Arguments& args) {
  const Tree& joined = *other.tree;
  if (!same_mark(joined.mark, loop->mark)) {
    const bool alike = joined.mark.kind == loop->mark.kind;
    return args.refuse("loop '" + first + "' is marked by " + marker_of(loop->mark) + ", loop '" + name + "' of '" + statement +
                           "' by " + (alike ? "the same with other arguments" : marker_of(joined.mark)) +
                           ": the loop that they become runs in one way",
                       {"fuse before the steps that mark the loops, then mark the fused one"});
  }
  if (loop->comment.find(joined.comment) == std::string::npos)
    loop->comment += (loop->comment.empty() ? "" : ", ") + joined.comment;
  loop->names.insert(joined.names.begin(), joined.names.end());
  loop->member.insert(joined.member.begin(), joined.member.end());
}

// The loops that the nests become, outermost first; each nest is left with what stands inside them.
std::vector<Tree> fused_loops(const Schedule& schedule, Arguments& args, std::vector<Nest>& nests, std::size_t depth,
                              Schedule* next) {
  std::vector<Tree> fused;
  for (std::size_t d = 0; d < depth && !args.problem(); ++d) {
    Tree loop;
    for (Nest& n : nests) {
      if (n.tree->kind != Tree::Kind::kLoop || n.tree->names.at(n.statement) != n.loops[d]) {
        refuse_loop(schedule, n.statement, n.loops[d], n.tree, args);
        return {};
      }
      if (n.tree->mark.kind == LoopKind::kMapped) {
        args.refuse("loop '" + n.loops[d] + "' is mapped to the GPU", {"map_gpu comes after all other steps"});
        return {};
      }
      if (loop.id < 0) {
        loop = *n.tree;
      } else {
        join_loops(n, n.loops[d], schedule.statement(n.statement).name, nests.front().loops[d], &loop, args);
        for (StorageMap& m : next->storage)
          if (m.at == n.tree->id) m.at = loop.id;
      }
      n.tree = n.tree->children[0];
    }
    fused.push_back(std::move(loop));
  }
  return fused;
}

Schedule apply(const Schedule& schedule, Arguments& args) {
  const std::vector<int> statements = args.statements();
  if (args.problem()) return schedule;
  const TreePtr sequence = statements.size() < 2 ? nullptr : common_sequence(schedule.tree, statements);
  if (!sequence) {
    args.refuse("the statements do not stand in different nests of one sequence",
                {"name one statement of each nest; nests inside a shared loop are neighbours there"});
    return schedule;
  }
  std::vector<Nest> nests;
  std::size_t depth = 0;
  for (const TreePtr& c : sequence->children) {
    const auto s = std::find_if(statements.begin(), statements.end(), [&](int x) { return contains(c, x); });
    if (s == statements.end()) continue;
    Nest nest{c, loop_names(schedule, args, *s), *s};
    if (nests.empty()) depth = nest.loops.size();
    if (nest.loops.size() != depth)
      args.bad("loops", "equally many loops for every statement", std::to_string(nest.loops.size()));
    nests.push_back(std::move(nest));
  }
  Schedule next = schedule;
  std::vector<Tree> fused = fused_loops(schedule, args, nests, depth, &next);
  if (args.problem()) return schedule;
  std::vector<TreePtr> bodies;
  for (const Nest& n : nests) bodies.push_back(n.tree);
  TreePtr body = make_sequence(std::move(bodies));
  for (auto it = fused.rbegin(); it != fused.rend(); ++it) body = make_loop_tree(std::move(*it), std::move(body));
  // The fused nest takes the place of its last member; neighbours that stood between stay before it.
  std::vector<TreePtr> order;
  std::size_t seen = 0;
  for (const TreePtr& c : sequence->children) {
    const bool member = std::any_of(statements.begin(), statements.end(), [&](int x) { return contains(c, x); });
    if (!member) order.push_back(c);
    if (member && ++seen == nests.size()) order.push_back(body);
  }
  next.tree = replace_node(schedule.tree, sequence, make_sequence(std::move(order)));
  return next;
}

}  // namespace

extern const Transform kFuse;
const Transform kFuse = {
    "fuse",
    "Several neighbouring nests become one: their named outer loops are shared.",
    {{"statements", "statements", true, "one statement of each nest, in any order"},
     {"loops", "loops", true, "the loops to share, outermost first; or an object statement -> list where the names differ"}},
    apply,
    {"for i  S(i)\nfor i  T(i)", "for i { S(i); T(i) }", "compute_with (Halide), loop fusion",
     "fewer than two nests, nests in different sequences, loops with different marks; where a sink would overtake its source, `shift` one nest first"}};

}  // namespace facet
