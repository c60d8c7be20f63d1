// The list of transforms, their reference text, and what they share.
#include "polyhedral/transform/transform.hpp"

#include "facet/nearest.hpp"
#include "polyhedral/facet_polyhedral.hpp"
#include "polyhedral/rewrite/rewrite.hpp"

#include <algorithm>

namespace facet {

extern const Transform kFuse, kDistribute, kTile, kInterchange, kSkew, kShift, kReverse, kReschedule, kParallelize, kVectorize,
    kUnroll, kContract, kPromote, kMapGpu, kRecompute, kReuse, kIndexSetSplit, kPeel, kStripMine, kUnrollAndJam, kStream,
    kEmbed, kExpand, kComputeAt, kHexagons;

const std::vector<const Transform*>& all_transforms() {
  static const std::vector<const Transform*> list = {&kFuse,          &kDistribute, &kTile,      &kInterchange,  &kSkew,
                                                     &kShift,         &kReverse,    &kEmbed,     &kReschedule,   &kHexagons,
                                                     &kParallelize,   &kVectorize,  &kUnroll,    &kUnrollAndJam, &kStripMine,
                                                     &kIndexSetSplit, &kPeel,       &kContract,  &kExpand,       &kPromote,
                                                     &kComputeAt,     &kMapGpu,     &kRecompute, &kReuse,        &kStream};
  return list;
}

const Transform* find_transform(const std::string& name) {
  for (const Transform* t : all_transforms())
    if (name == t->name) return t;
  return nullptr;
}

namespace {

std::string indented(const std::string& text) {
  std::string out = "    ";
  for (const char c : text) {
    out += c;
    if (c == '\n') out += "    ";
  }
  return out + "\n";
}

std::string target_of(const Transform& t) { return *t.target ? std::string("For the target ") + t.target + " only. " : ""; }
std::string target_of(const Rewrite&) { return ""; }

template <class Record>
void describe(const Record& record, std::string* text) {
  *text += "\n## `" + std::string(record.name) + "`\n\n" + record.summary + "\n\n" + indented(record.page.before) +
           "\nbecomes\n\n" + indented(record.page.after) + "\n" + target_of(record) + "Elsewhere: " + record.page.elsewhere +
           ". Refuses: " + record.page.refuses + ".\n\n| argument | kind | | meaning |\n| --- | --- | --- | --- |\n";
  for (const Parameter& p : record.parameters)
    *text +=
        "| `" + std::string(p.name) + "` | " + p.kind + " | " + (p.required ? "required" : "optional") + " | " + p.doc + " |\n";
}

}  // namespace

std::string recipe_reference() {
  std::string text =
      "# Recipe steps\n\nGenerated from the records in `polyhedral/transform/`; do not edit.\n"
      "\nA recipe's `variants` are tried in order: the first whose `when` (an affine condition on symbols) holds for the sizes at\n"
      "hand is taken, at run time, in exported code too. When the last one has a condition, the scheduler adds a variant of its own\n"
      "for the sizes that are left. Within a variant its condition counts as an assumption; one that no allowed sizes satisfy is an\n"
      "error.\n"
      "\nAny argument, or an entry of a list, may be `\"?\"`: the scheduler completes it by its model, keeps what is fixed and chooses\n"
      "nothing that would make the step or the fixed steps after it illegal. `\"?\"` as the last entry of `steps` stands for the whole\n"
      "rest; it may stand nowhere else, and the arguments of rewrites have no holes. Holes are completed step by step, and the\n"
      "completed recipe is what every verb judges and obeys: `schedule` prints it, `legal` judges it, `run` takes it, and what one\n"
      "refuses all refuse, a step that the target's code would not obey among them: the loop that it names, or the array, stays as it\n"
      "is, and the message says why. (Steps of the scheduler's own that the code does not obey are not in the recipe that it prints;\n"
      "`explain` tells of them.) On stderr `facet schedule P --schedule R.json`\n"
      "tells what was chosen, and which fixed step keeps the predicted time well above the scheduler's own.\n";
  text +=
      "\nA recipe that names its `target` is for that one, whatever the instruction set or the architecture: `openmp:avx2` runs with\n"
      "`--target openmp:avx512`, `cuda` does not. Without `target` it serves every target that has all its steps. The `order` of\n"
      "`memory` is that of the groups as they run, which decides what arrays share memory; all or some of them may be named.\n";
  for (const Transform* t : all_transforms()) describe(*t, &text);
  text += "\n# Rewrites\n\nSteps of a group's `rewrites`, before its `steps`: they change the statements that are scheduled.\n";
  for (const Rewrite* r : all_rewrites()) describe(*r, &text);
  return text;
}

Result<Done> check_target(const Recipe& recipe, const std::string& target) {
  for (const Variant& v : recipe.variants)
    for (const Group& g : v.groups)
      for (const Step& s : g.steps) {
        const auto memory = s.arguments.find("memory");
        if (memory != s.arguments.end() && memory->second == Argument{std::string("shared")} && target != "cuda")
          return diagnose(Code::kStepPrecondition, place_of(s, "memory"),
                          {s.verb, "memory 'shared' is a GPU's, this target is " + target},
                          {"\"stack\", \"l1\" and \"l2\" are a processor's", "or take the recipe with --target cuda"});
        const Transform* t = find_transform(s.verb);
        if (!t || !*t->target || t->target == target) continue;
        const std::string note = *t->target == 'c' ? "a processor's threads and lanes: `parallelize` and `vectorize`"
                                                   : "a GPU's blocks and threads: `map_gpu`";
        return diagnose(Code::kStepPrecondition, place_of(s, "do"),
                        {s.verb, "it is for the target " + std::string(t->target) + ", this one is " + target},
                        {note, "or take the recipe with --target " + std::string(t->target)});
      }
  return Done{};
}

std::optional<Diagnostic> check_arguments(const std::vector<Parameter>& parameters, const Step& step) {
  std::vector<std::string> known;
  for (const Parameter& p : parameters) known.push_back(p.name);
  for (const auto& [name, value] : step.arguments) {
    if (std::count(known.begin(), known.end(), name)) continue;
    std::vector<std::string> notes = did_you_mean(name, known);
    std::string list;
    for (const std::string& k : known) list += (list.empty() ? "" : ", ") + k;
    notes.push_back("its arguments: " + list);
    return diagnose(Code::kUnknownStepArgument, place_of(step, name), {step.verb, name}, std::move(notes));
  }
  for (const Parameter& p : parameters)
    if (p.required && !step.arguments.count(p.name))
      return diagnose(Code::kMissingStepArgument, step.place, {step.verb, p.name, p.doc});
  return std::nullopt;
}

namespace {

// What makes loops below `loop` stand directly inside it, though other statements share it. A statement that gives values to
// the others and takes values from them cannot leave the loop: every iteration needs both.
std::vector<std::string> ways_apart(const Schedule& schedule, int statement, const TreePtr& loop) {
  const TreePtr& parts = loop->children[0];
  const auto own = std::find_if(parts->children.begin(), parts->children.end(),
                                [&](const TreePtr& part) { return contains(part, statement); });
  bool gives = false, takes = false;
  std::string other;
  for (const Dependence& d : *schedule.dependences) {
    if (!contains(loop, d.source) || !contains(loop, d.sink) || contains(*own, d.source) == contains(*own, d.sink)) continue;
    (contains(*own, d.source) ? gives : takes) = true;
    other = schedule.statement(contains(*own, d.source) ? d.sink : d.source).name;
  }
  const std::string name = schedule.statement(statement).name, shared = loop->names.at(statement);
  if (!gives || !takes) return {"distribute '" + name + "' first"};
  return {"'" + name + "' and '" + other + "' need each other's values: `hexagons` tiles '" + shared +
              "' together with the loops inside",
          "or fuse the nests inside '" + shared + "' first, after `shift` where a value comes too late"};
}

}  // namespace

std::vector<TreePtr> loop_chain(const Schedule& schedule, int statement, const std::vector<std::string>& names,
                                Arguments& args) {
  std::vector<int> ids;
  for (const std::string& name : names) {
    const TreePtr loop = args.loop(statement, name);
    if (!loop) return {};
    if (std::find(ids.begin(), ids.end(), loop->id) != ids.end()) {
      args.refuse("loop '" + name + "' is named twice", {"name each loop once"});
      return {};
    }
    ids.push_back(loop->id);
  }
  std::vector<TreePtr> chain;
  for (const TreePtr& loop : loops_around(schedule.tree, statement))
    if (std::find(ids.begin(), ids.end(), loop->id) != ids.end()) chain.push_back(loop);
  for (std::size_t i = 0; i + 1 < chain.size(); ++i) {
    if (chain[i]->children[0] == chain[i + 1]) continue;
    const TreePtr& between = chain[i]->children[0];
    const std::string what = between->kind == Tree::Kind::kLoop
                                 ? "loop '" + between->names.at(statement) + "' stands between them"
                                 : "other statements share loop '" + chain[i]->names.at(statement) + "'";
    args.refuse("loops '" + chain[i]->names.at(statement) + "' and '" + chain[i + 1]->names.at(statement) +
                    "' do not stand directly inside each other: " + what,
                between->kind == Tree::Kind::kLoop
                    ? std::vector<std::string>{"name the loop between them too, or interchange first"}
                    : ways_apart(schedule, statement, chain[i]));
    return {};
  }
  return chain;
}

Schedule replace_chain(const Schedule& schedule, const std::vector<TreePtr>& chain, std::vector<Tree> loops) {
  TreePtr body = chain.back()->children[0];
  for (auto it = loops.rbegin(); it != loops.rend(); ++it) body = make_loop_tree(std::move(*it), std::move(body));
  Schedule next = schedule;
  next.tree = replace_node(schedule.tree, chain.front(), body);
  return next;
}

TreePtr restrict_tree(const TreePtr& tree, const std::vector<int>& statements, int* fresh, std::map<int, int>* renamed) {
  const auto wanted = [&](int s) { return std::find(statements.begin(), statements.end(), s) != statements.end(); };
  if (tree->kind == Tree::Kind::kLeaf) return wanted(tree->statement) ? tree : nullptr;
  std::vector<TreePtr> parts;
  for (const TreePtr& c : tree->children)
    if (TreePtr part = restrict_tree(c, statements, fresh, renamed)) parts.push_back(std::move(part));
  if (parts.empty()) return nullptr;
  if (tree->kind == Tree::Kind::kSequence) return make_sequence(std::move(parts));
  Tree loop = *tree;
  if (fresh) {
    if (renamed) (*renamed)[loop.id] = *fresh;
    loop.id = (*fresh)++;
  }
  std::erase_if(loop.names, [&](const auto& entry) { return !wanted(entry.first); });
  std::erase_if(loop.member, [&](const auto& entry) { return !wanted(entry.first); });
  return make_loop_tree(std::move(loop), parts[0]);
}

}  // namespace facet
