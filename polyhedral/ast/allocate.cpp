// allocate: buffers of storage maps are declared in the loop tree (see allocate.hpp).
#include "polyhedral/ast/allocate.hpp"

#include <algorithm>
#include <set>

namespace facet {

namespace {

class Allocator {
 public:
  Allocator(const Schedule& schedule, LoopIds loop_ids) : schedule_(schedule), loop_ids_(std::move(loop_ids)) {}

  LoopList run(LoopList body) {
    for (const StorageMap& m : schedule_.storage) {
      std::set<int> around;  // the loops down to `at`: the buffer is one per iteration of these
      if (const TreePtr at = m.at >= 0 ? find_loop(schedule_.tree, m.at) : nullptr)
        for (const TreePtr& loop : loops_around(schedule_.tree, at->member.begin()->first)) {
          around.insert(loop->id);
          if (loop->id == m.at) break;
        }
      body = allocate_in(body, m, around);
    }
    return body;
  }

 private:
  Buffer buffer_of(const StorageMap& m) const {
    Buffer b;
    b.name = m.buffer;
    const auto it = schedule_.scop->arrays.find(m.array);
    b.dtype = it->second.dtype;
    b.space = m.space;
    b.role = BufferRole::kLocal;
    std::vector<ExprPtr> fast;
    for (const int d : m.order) {
      if (m.sizes.empty()) break;
      const std::size_t k = static_cast<std::size_t>(d);
      if (m.inner[k] > 0) {
        b.extents.push_back(idx_floordiv(idx_add(m.sizes[k], idx(m.inner[k] - 1)), m.inner[k]));
        fast.push_back(idx(m.inner[k]));
      } else {
        b.extents.push_back(m.sizes[k]);
      }
    }
    b.extents.insert(b.extents.end(), fast.begin(), fast.end());
    pad(m, &b);
    b.comment = (m.kind == StorageMap::Kind::kPromote ? "tile of " : "") + m.array;
    return b;
  }

  static void pad(const StorageMap& m, Buffer* b) {
    if (m.pad.empty() || b->extents.empty()) return;
    ExprPtr stride = idx(1);
    b->strides.resize(b->extents.size());
    for (std::size_t k = b->extents.size(); k-- > 0;) {
      b->strides[k] = stride;
      const std::int64_t free = k < m.order.size() ? m.pad[static_cast<std::size_t>(m.order[k])] : 0;
      stride = idx_mul(stride, idx_add(b->extents[k], idx(free)));
    }
  }

  static bool uses(const ExprPtr& e, const std::string& buffer) {
    bool found = false;
    walk(e, [&](const Expr& x) { found = found || (x.op == Op::kRead && x.name == buffer); });
    return found;
  }

  static bool uses(const LoopPtr& node, const std::string& buffer) {
    if (const auto* s = std::get_if<Store>(&node->node)) {
      const bool indexed =
          std::any_of(s->subscripts.begin(), s->subscripts.end(), [&](const ExprPtr& e) { return uses(e, buffer); });
      return s->buffer == buffer || indexed || uses(s->value, buffer);
    }
    const auto any = [&](const LoopList& list) {
      return std::any_of(list.begin(), list.end(), [&](const LoopPtr& l) { return uses(l, buffer); });
    };
    if (const auto* f = std::get_if<For>(&node->node)) return any(f->body);
    if (const auto* i = std::get_if<If>(&node->node)) return uses(i->condition, buffer) || any(i->then) || any(i->otherwise);
    return false;
  }

  // Is the node one of the loops `around`, or a condition over nothing else that uses the buffer?
  bool iterates(const LoopPtr& node, const StorageMap& m, const std::set<int>& around) const {
    if (std::holds_alternative<For>(node->node)) return loop_ids_.count(node.get()) && around.count(loop_ids_.at(node.get()));
    const auto* branch = std::get_if<If>(&node->node);
    if (!branch || uses(branch->condition, m.buffer)) return false;
    for (const LoopList* part : {&branch->then, &branch->otherwise})
      for (const LoopPtr& n : *part)
        if (uses(n, m.buffer) && !iterates(n, m, around)) return false;
    return true;
  }

  LoopPtr allocate_below(const LoopPtr& node, const StorageMap& m, const std::set<int>& around) {
    if (const auto* branch = std::get_if<If>(&node->node)) {
      If copy = *branch;
      copy.then = allocate_in(branch->then, m, around);
      copy.otherwise = allocate_in(branch->otherwise, m, around);
      return make_loop(std::move(copy));
    }
    For copy = std::get<For>(node->node);
    copy.body = allocate_in(copy.body, m, around);
    LoopPtr made = make_loop(std::move(copy));
    loop_ids_[made.get()] = loop_ids_.at(node.get());
    return made;
  }

  // The statements that use the buffer in these nodes.
  static void collect_users(const LoopPtr& node, const std::string& buffer, std::set<std::string>* names) {
    if (const auto* s = std::get_if<Store>(&node->node); s && uses(node, buffer)) names->insert(s->statement);
    const auto below = [&](const LoopList& list) {
      for (const LoopPtr& l : list) collect_users(l, buffer, names);
    };
    if (const auto* f = std::get_if<For>(&node->node)) below(f->body);
    if (const auto* i = std::get_if<If>(&node->node)) {
      below(i->then);
      below(i->otherwise);
    }
  }

  // May one iteration of the loops down to `at` be in both pieces of code? isl puts what runs before (after) all the rest in
  // front of (behind) the loop, even where that belongs to the loop's first (last) iteration.
  bool share_iterations(const std::set<std::string>& a, const std::set<std::string>& b, const StorageMap& m) const {
    const TreePtr at = m.at < 0 ? schedule_.tree : find_loop(schedule_.tree, m.at);
    const auto outside = [&](const std::string& s) { return !at || !contains(at, schedule_.find(s)); };
    if (std::any_of(a.begin(), a.end(), outside) || std::any_of(b.begin(), b.end(), outside)) return true;  // torn apart
    for (const std::string& s : a)
      for (const std::string& t : b) {
        if (s == t || (a.count(t) && b.count(s))) continue;
        const isl::set f = outer_schedule(schedule_, schedule_.find(s), m.at).range();
        const isl::set g = outer_schedule(schedule_, schedule_.find(t), m.at).range();
        if (!f.intersect(g).is_empty()) return true;
      }
    return false;
  }

  bool cut_through(const LoopList& block, const std::vector<std::size_t>& users, const StorageMap& m,
                   const std::set<int>& around) const {
    std::vector<std::set<std::string>> pieces(1);  // the first: what is left of loops that run once here
    for (const std::size_t u : users) {
      std::set<std::string> piece;
      collect_users(block[u], m.buffer, &piece);
      if (iterates(block[u], m, around)) {
        pieces.push_back(std::move(piece));
      } else {
        pieces[0].insert(piece.begin(), piece.end());
      }
    }
    for (std::size_t i = 0; i < pieces.size(); ++i)
      for (std::size_t k = i + 1; k < pieces.size(); ++k)
        if (share_iterations(pieces[i], pieces[k], m)) return true;
    return false;
  }

  // Iterations that share a buffer follow each other.
  LoopPtr one_after_another(const LoopPtr& node, const std::set<int>& around) {
    LoopNode copy = *node;
    const auto below = [&](LoopList& list) {
      for (LoopPtr& l : list) l = one_after_another(l, around);
    };
    if (auto* i = std::get_if<If>(&copy.node)) {
      below(i->then);
      below(i->otherwise);
    }
    const auto id = loop_ids_.find(node.get());
    if (auto* f = std::get_if<For>(&copy.node); f && id != loop_ids_.end() && around.count(id->second)) {
      if (f->kind != LoopKind::kUnroll) f->kind = LoopKind::kSerial;
      f->collapse = 1;
      f->gpu = GpuPlace{};
      below(f->body);
    }
    const LoopPtr made = std::make_shared<const LoopNode>(std::move(copy));
    if (id != loop_ids_.end()) loop_ids_[made.get()] = id->second;
    return made;
  }

  // Declares the buffer where each iteration of the loops `around` has its own, before its first use. isl may have removed any
  // of these loops because it runs once, so the place is found in the loops that are there.
  LoopList allocate_in(const LoopList& block, const StorageMap& m, const std::set<int>& around) {
    std::vector<std::size_t> users;
    for (std::size_t i = 0; i < block.size(); ++i)
      if (uses(block[i], m.buffer)) users.push_back(i);
    if (users.empty()) return block;
    LoopList out = block;
    const auto iterating = [&](std::size_t u) { return iterates(block[u], m, around); };
    if (users.size() > 1 && std::any_of(users.begin(), users.end(), iterating) && cut_through(block, users, m, around)) {
      for (const std::size_t u : users) out[u] = one_after_another(block[u], around);
    } else {
      for (const std::size_t u : users)
        if (iterating(u)) out[u] = allocate_below(block[u], m, around);
      std::erase_if(users, iterating);
      if (users.empty()) return out;
    }
    const LoopPtr& first = block[users[0]];
    const auto* branch = std::get_if<If>(&first->node);
    if (users.size() == 1 && branch && branch->otherwise.empty() && !uses(branch->condition, m.buffer)) {
      If copy = *branch;
      copy.then = allocate_in(branch->then, m, around);
      out[users[0]] = make_loop(std::move(copy));
      return out;
    }
    out.insert(out.begin() + static_cast<std::ptrdiff_t>(users[0]), make_loop(Allocate{buffer_of(m)}));
    return out;
  }

  const Schedule& schedule_;
  LoopIds loop_ids_;
};

}  // namespace

LoopList allocate_storage(const Schedule& schedule, const LoopList& body, const LoopIds& loop_ids) {
  return Allocator(schedule, loop_ids).run(body);
}

}  // namespace facet
