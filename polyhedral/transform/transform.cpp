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

template <class Record>
void describe(const Record& record, std::string* text) {
  *text += "\n## `" + std::string(record.name) + "`\n\n" + record.summary + "\n\n" + indented(record.page.before) +
           "\nbecomes\n\n" + indented(record.page.after) + "\nElsewhere: " + record.page.elsewhere +
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
      "for the sizes that are left. Within a variant its condition counts as an assumption.\n"
      "\nAny argument, or an entry of a list, may be `\"?\"`: the scheduler completes it by its model, keeps what is fixed and chooses\n"
      "nothing that would make the step or the fixed steps after it illegal. `\"?\"` as the last entry of `steps` stands for the whole\n"
      "rest. `facet schedule P --schedule R.json` prints the completed recipe; on stderr, what was chosen, and which fixed step keeps\n"
      "the predicted time well above the scheduler's own.\n";
  for (const Transform* t : all_transforms()) describe(*t, &text);
  text += "\n# Rewrites\n\nSteps of a group's `rewrites`, before its `steps`: they change the statements that are scheduled.\n";
  for (const Rewrite* r : all_rewrites()) describe(*r, &text);
  return text;
}

std::optional<Diagnostic> check_arguments(const std::vector<Parameter>& parameters, const Step& step) {
  std::vector<std::string> known;
  for (const Parameter& p : parameters) known.push_back(p.name);
  for (const auto& [name, value] : step.arguments) {
    if (std::count(known.begin(), known.end(), name)) continue;
    Place place = step.place;
    place.pointer += "/" + name;
    return diagnose(Code::kUnknownStepArgument, place, {step.verb, name}, did_you_mean(name, known));
  }
  for (const Parameter& p : parameters)
    if (p.required && !step.arguments.count(p.name))
      return diagnose(Code::kMissingStepArgument, step.place, {step.verb, p.name, p.doc});
  return std::nullopt;
}

std::vector<TreePtr> loop_chain(const Schedule& schedule, int statement, const std::vector<std::string>& names,
                                Arguments& args) {
  std::vector<int> ids;
  for (const std::string& name : names) {
    const TreePtr loop = args.loop(statement, name);
    if (!loop) return {};
    if (std::find(ids.begin(), ids.end(), loop->id) != ids.end()) {
      args.refuse("loop '" + name + "' is named twice");
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
                {between->kind == Tree::Kind::kLoop ? "name the loop between them too, or interchange first"
                                                    : "distribute '" + schedule.statement(statement).name + "' first"});
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
