// Walks and rebuilding of the schedule tree.
#include "polyhedral/tree/tree.hpp"

#include <algorithm>

namespace facet {

TreePtr make_leaf(int statement) {
  Tree t;
  t.kind = Tree::Kind::kLeaf;
  t.statement = statement;
  return std::make_shared<const Tree>(std::move(t));
}

TreePtr make_sequence(std::vector<TreePtr> children) {
  std::vector<TreePtr> flat;
  for (TreePtr& c : children) {
    if (!c) continue;
    if (c->kind == Tree::Kind::kSequence) {
      flat.insert(flat.end(), c->children.begin(), c->children.end());
    } else {
      flat.push_back(std::move(c));
    }
  }
  if (flat.size() == 1) return flat[0];
  Tree t;
  t.kind = Tree::Kind::kSequence;
  t.children = std::move(flat);
  return std::make_shared<const Tree>(std::move(t));
}

TreePtr make_loop_tree(Tree loop, TreePtr child) {
  loop.kind = Tree::Kind::kLoop;
  loop.children = {std::move(child)};
  return std::make_shared<const Tree>(std::move(loop));
}

std::vector<int> statements_of(const TreePtr& tree) {
  if (tree->kind == Tree::Kind::kLeaf) return {tree->statement};
  std::vector<int> all;
  for (const TreePtr& c : tree->children) {
    const std::vector<int> below = statements_of(c);
    all.insert(all.end(), below.begin(), below.end());
  }
  return all;
}

bool contains(const TreePtr& tree, int statement) {
  if (tree->kind == Tree::Kind::kLeaf) return tree->statement == statement;
  if (tree->kind == Tree::Kind::kLoop) return tree->member.count(statement) > 0;
  return std::any_of(tree->children.begin(), tree->children.end(), [&](const TreePtr& c) { return contains(c, statement); });
}

std::vector<TreePtr> loop_chain(const TreePtr& tree) {
  std::vector<TreePtr> loops;
  for (TreePtr t = tree; t->kind == Tree::Kind::kLoop; t = t->children[0]) loops.push_back(t);
  return loops;
}

std::vector<TreePtr> loops_around(const TreePtr& tree, int statement) {
  std::vector<TreePtr> loops;
  TreePtr node = tree;
  while (node && node->kind != Tree::Kind::kLeaf) {
    if (node->kind == Tree::Kind::kLoop) loops.push_back(node);
    TreePtr next;
    for (const TreePtr& c : node->children)
      if (contains(c, statement)) next = c;
    node = next;
  }
  return loops;
}

TreePtr find_loop(const TreePtr& tree, int statement, const std::string& name) {
  TreePtr found;
  for (const TreePtr& loop : loops_around(tree, statement))
    if (loop->names.at(statement) == name) found = loop;
  return found;
}

TreePtr find_loop(const TreePtr& tree, int id) {
  if (tree->kind == Tree::Kind::kLoop && tree->id == id) return tree;
  for (const TreePtr& c : tree->children)
    if (TreePtr found = find_loop(c, id)) return found;
  return nullptr;
}

TreePtr replace_node(const TreePtr& tree, const TreePtr& old_node, const TreePtr& new_node) {
  if (tree == old_node) return new_node;
  Tree copy = *tree;
  bool changed = false;
  for (TreePtr& c : copy.children) {
    TreePtr next = replace_node(c, old_node, new_node);
    changed = changed || next != c;
    c = std::move(next);
  }
  if (!changed) return tree;
  if (copy.kind == Tree::Kind::kSequence) return make_sequence(std::move(copy.children));
  return std::make_shared<const Tree>(std::move(copy));
}

void for_each_loop(const TreePtr& tree, const std::function<void(const Tree&)>& visit) {
  if (tree->kind == Tree::Kind::kLoop) visit(*tree);
  for (const TreePtr& c : tree->children) for_each_loop(c, visit);
}

isl::schedule to_isl(const TreePtr& tree, const std::map<int, isl::set>& domains) {
  if (tree->kind == Tree::Kind::kLeaf) return schedule_from_domain(isl::union_set(domains.at(tree->statement)));
  if (tree->kind == Tree::Kind::kSequence) {
    isl::schedule s = to_isl(tree->children[0], domains);
    for (std::size_t i = 1; i < tree->children.size(); ++i) s = schedule_sequence(s, to_isl(tree->children[i], domains));
    return s;
  }
  const isl::schedule below = to_isl(tree->children[0], domains);
  std::optional<isl::union_pw_aff> member;
  for (const auto& [statement, f] : tree->member) {
    const isl::union_pw_aff cut(f.intersect_domain(domains.at(statement)));
    member = member ? member->union_add(cut) : cut;
  }
  return schedule_insert_loop(below, isl::multi_union_pw_aff(*member), "loop:" + std::to_string(tree->id));
}

std::string to_text(const TreePtr& tree, const std::function<std::string(int)>& name_of, int indent) {
  const std::string pad(static_cast<std::size_t>(indent) * 2, ' ');
  if (tree->kind == Tree::Kind::kLeaf) return pad + name_of(tree->statement) + "\n";
  if (tree->kind == Tree::Kind::kSequence) {
    std::string text = pad + "sequence\n";
    for (const TreePtr& c : tree->children) text += to_text(c, name_of, indent + 1);
    return text;
  }
  static const char* const kinds[] = {"",         " parallel", " vector", " unroll",   " mapped",   " block.x",
                                      " block.y", " block.z",  " warp",   " thread.x", " thread.y", " thread.z"};
  std::string text = pad + "loop";
  for (const auto& [statement, name] : tree->names) {
    std::string f = text_of(tree->member.at(statement));
    const std::size_t open = f.find("-> [(");
    const std::size_t close = f.find(")]", open == std::string::npos ? 0 : open);
    text += " " + name_of(statement) + "." + name;
    if (open != std::string::npos && close != std::string::npos) text += "=" + f.substr(open + 5, close - open - 5);
  }
  text += kinds[static_cast<int>(tree->mark.kind)];
  if (tree->mark.kind == LoopKind::kMapped) text += " " + to_text(tree->mark.gpu);
  if (tree->mark.width > 0) text += " " + std::to_string(tree->mark.width);
  if (tree->mark.collapse > 1) text += " collapse " + std::to_string(tree->mark.collapse);
  if (tree->mark.updates == SharedUpdates::kAtomic) text += " atomic";
  if (tree->mark.updates == SharedUpdates::kParts) text += " in " + std::to_string(tree->mark.parts) + " parts";
  return text + "\n" + to_text(tree->children[0], name_of, indent + 1);
}

}  // namespace facet
