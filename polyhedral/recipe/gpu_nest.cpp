// Facts of a nest by its dependences and its statements' subscripts.

#include "polyhedral/recipe/gpu_nest.hpp"

#include <algorithm>

#include "facet/expr_facts.hpp"

namespace facet {

namespace {

// Accesses whose memory runs along the iterator, each `times(subscripts)`; contracted arrays stay near the threads.
template <class Times>
double along_memory(const Schedule& schedule, const Statement& s, const std::string& iterator, const Times& times) {
  const auto count = [&](const std::string& array, const std::vector<ExprPtr>& subscripts) {
    for (const StorageMap& m : schedule.storage)
      if (m.array == array && m.kind == StorageMap::Kind::kContract) return 0.0;
    return Model::stride(subscripts, iterator) == Model::Stride::kUnit ? static_cast<double>(times(subscripts)) : 0.0;
  };
  double n = count(s.target, s.subscripts);
  walk(s.value, [&](const Expr& e) {
    if (e.op == Op::kRead) n += count(e.name, e.args);
  });
  return n;
}

}  // namespace

GpuNest::GpuNest(const GroupPlanner& planner, const TreePtr& nest)
    : schedule_(planner.schedule()), model_(planner.model()), nest_(nest), body_(nest) {
  auto carried = std::make_shared<std::map<int, Carried>>();
  known_ = guarded("GPU policy", planner.budget(), [&] { *carried = carried_dependences(schedule_); }).ok();
  carried_ = std::move(carried);
  find_chain();
}

GpuNest::GpuNest(const GpuNest& other, const TreePtr& nest)
    : schedule_(other.schedule_),
      model_(other.model_),
      nest_(nest),
      body_(nest),
      carried_(other.carried_),
      known_(other.known_) {
  find_chain();
}

void GpuNest::find_chain() {
  while (known_ && body_->kind == Tree::Kind::kLoop && parallel(*body_)) {
    chain_.push_back(body_);
    body_ = body_->children[0];
  }
}

bool GpuNest::parallel(const Tree& loop) const {
  const auto it = carried_->find(loop.id);
  return it != carried_->end() && it->second.none();
}

bool GpuNest::reduces(const Tree& loop) const {
  const auto it = carried_->find(loop.id);
  return it != carried_->end() && it->second.reduction && !it->second.other;
}

std::string GpuNest::subject() const {
  const int s = statements_of(nest_).front();
  std::string text = chain_.size() > 1 ? "loops " : "loop ";
  if (chain_.empty()) text += nest_->names.at(s);
  for (const TreePtr& l : chain_) text += (l == chain_.front() ? "" : ", ") + l->names.at(s);
  return text + " of " + schedule_.statement(s).name;
}

double GpuNest::points() const {
  double n = 1;
  for (const TreePtr& l : chain_) n *= std::max(1.0, trips(*l, statements_of(body_).front()));
  return n;
}

double GpuNest::parallel_points(const TreePtr& tree) const {
  if (tree->kind == Tree::Kind::kLeaf) return 1;
  double most = 1;
  for (const TreePtr& c : tree->children) most = std::max(most, parallel_points(c));
  if (tree->kind == Tree::Kind::kLoop && parallel(*tree)) most *= std::max(1.0, trips(*tree, statements_of(tree).front()));
  return most;
}

std::size_t GpuNest::parallel_depth(const TreePtr& tree) const {
  std::size_t n = 0;
  for (TreePtr t = tree; t->kind == Tree::Kind::kLoop && parallel(*t); t = t->children[0]) ++n;
  return n;
}

bool is_mapped(const TreePtr& tree) {
  bool mapped = false;
  for_each_loop(tree, [&](const Tree& l) { mapped = mapped || l.mark.kind == LoopKind::kMapped; });
  return mapped;
}

double GpuNest::coalesced(const Tree& loop) const {
  double total = 0;
  for (const int s : statements_of(body_)) {
    if (!loop.member.count(s)) continue;
    const std::string iterator = walked_iterator(schedule_, loop, s);
    if (iterator.empty()) continue;
    // An access that a loop does not move is made once for all its iterations: a reduction's target stays in a register.
    const auto times = [&](const std::vector<ExprPtr>& subscripts) {
      double n = 1;
      for (const TreePtr& l : loops_around(body_, s)) {
        const std::string walked = walked_iterator(schedule_, *l, s);
        const bool moves = walked.empty() || std::any_of(subscripts.begin(), subscripts.end(),
                                                         [&](const ExprPtr& e) { return mentions_index(e, walked); });
        if (moves) n *= std::max(1.0, trips(*l, s));
      }
      return n;
    };
    total += along_memory(schedule_, schedule_.statement(s), iterator, times);
  }
  return total;
}

bool GpuNest::has_inner_loops() const {
  bool found = false;
  for_each_loop(body_, [&](const Tree&) { found = true; });
  return found;
}

std::int64_t GpuNest::elements_a_thread() const {
  std::int64_t widest = 1;
  for (const int s : statements_of(body_)) {
    const Statement& st = schedule_.statement(s);
    widest = std::max(widest, static_cast<std::int64_t>(size_bytes(schedule_.scop->arrays.at(st.target).dtype)));
    walk(st.value, [&](const Expr& e) {
      if (e.op == Op::kRead) widest = std::max(widest, static_cast<std::int64_t>(size_bytes(e.type)));
    });
  }
  return 16 / widest;
}

bool GpuNest::prefers_rows(double few_points) const {
  double outer = 0, inner = 0, inner_trips = 0;
  for (const TreePtr& l : chain_) outer = std::max(outer, coalesced(*l));
  for_each_loop(body_, [&](const Tree& l) {
    if (!parallel(l) && !reduces(l)) return;
    inner = std::max(inner, coalesced(l));
    inner_trips = std::max(inner_trips, trips(l, l.names.begin()->first));
  });
  if (inner_trips == 0) return false;
  return inner > outer || (points() < few_points && inner_trips > 64 && inner > 0);
}

bool GpuNest::is_reduction_nest(const TreePtr& tree) const {
  const std::vector<int> all = statements_of(tree);
  if (tree->kind != Tree::Kind::kLoop || all.size() != 1 || !reduces(*tree)) return false;
  const Statement& s = schedule_.statement(all[0]);
  if (!s.update || *s.update >= ReduceKind::kArgMax) return false;
  // Threads that share a sum of elements of its own array would have to see each other's results in between.
  const auto own = [&](const Access& read) { return read.array == s.target; };
  if (std::any_of(s.reads.begin(), s.reads.end(), own)) return false;
  for (const TreePtr& l : loops_around(tree, all[0])) {
    const std::string iterator = walked_iterator(schedule_, *l, all[0]);
    if (iterator.empty() || mentions_index(s.subscripts, iterator)) return false;
  }
  return true;
}

std::optional<GpuReduction> GpuNest::single_reduction() const {
  if (chain_.empty())
    return is_reduction_nest(nest_)
               ? std::optional<GpuReduction>({statements_of(nest_)[0], loops_around(nest_, statements_of(nest_)[0])})
               : std::nullopt;
  std::optional<GpuReduction> found;
  const std::vector<TreePtr> parts = body_->kind == Tree::Kind::kSequence ? body_->children : std::vector<TreePtr>{body_};
  for (const TreePtr& part : parts) {
    if (part->kind == Tree::Kind::kLeaf) continue;
    if (found || !is_reduction_nest(part)) return std::nullopt;
    const int s = statements_of(part)[0];
    found = GpuReduction{s, loops_around(part, s)};
  }
  return found;
}

std::optional<GpuProduct> GpuNest::product_of(int statement) const {
  const Statement& s = schedule_.statement(statement);
  if (!s.update || *s.update != ReduceKind::kSum || s.value->op != Op::kMul || !is_float(s.value->type)) return std::nullopt;
  GpuProduct p;
  p.statement = statement;
  p.type = s.value->type;
  for (const TreePtr& l : loops_around(nest_, statement)) {
    const std::string iterator = walked_iterator(schedule_, *l, statement), name = l->names.at(statement);
    if (iterator.empty() || find_loop(schedule_.tree, statement, name) != l) return std::nullopt;
    const double n = trips(*l, statement);
    if (!mentions_index(s.subscripts, iterator)) {
      p.sum.push_back(name);
      p.depth *= n;
      continue;
    }
    if (!parallel(*l)) return std::nullopt;
    const bool left = mentions_index(s.value->args[0], iterator), right = mentions_index(s.value->args[1], iterator);
    p.grid.push_back(name);
    if (left != right) p.block.push_back(name);
    (left == right ? p.batch : left ? p.left : p.right) *= n;
  }
  return p.sum.empty() ? std::nullopt : std::optional<GpuProduct>(std::move(p));
}

std::optional<GpuProduct> GpuNest::product() const {
  const std::optional<GpuReduction> r = single_reduction();
  if (!r || chain_.empty()) return std::nullopt;
  std::optional<GpuProduct> p = product_of(r->statement);
  return p && p->grid.size() == chain_.size() ? p : std::nullopt;
}

const TreePtr& GpuNest::best_along_memory(const std::vector<TreePtr>& loops, int statement) const {
  const TreePtr* best = &loops.back();
  double best_score = -1;
  for (const TreePtr& l : loops) {
    const double n = trips(*l, statement);
    const double score = (n >= 32 ? 1e18 : n) + coalesced(*l);
    if (score < best_score) continue;
    best_score = score;
    best = &l;
  }
  return *best;
}

void GpuNest::collect(const TreePtr& node, std::vector<GpuSpread>* spreads) const {
  if (node->kind == Tree::Kind::kSequence)
    for (const TreePtr& c : node->children) collect(c, spreads);
  if (node->kind != Tree::Kind::kLoop) return;
  const bool reduction = is_reduction_nest(node);
  if (!reduction && !parallel(*node)) return collect(node->children[0], spreads);
  const int s = statements_of(node).front();
  const TreePtr loop = reduction ? best_along_memory(loops_around(node, s), s) : node;
  const std::pair<int, std::string> address = address_of(schedule_, loop);
  if (address.first >= 0) spreads->push_back({address.first, loop, address.second, reduction});
}

std::vector<GpuSpread> GpuNest::spreads() const {
  std::vector<GpuSpread> list;
  collect(body_, &list);
  return list;
}

std::optional<std::vector<std::string>> GpuNest::names(const std::vector<TreePtr>& loops, int statement) const {
  std::vector<std::string> list;
  for (const TreePtr& l : loops) {
    list.push_back(l->names.at(statement));
    const TreePtr found = find_loop(schedule_.tree, statement, list.back());
    if (!found || found->id != l->id) return std::nullopt;
  }
  return list;
}

std::optional<std::pair<int, std::vector<std::string>>> GpuNest::addressed(const std::vector<TreePtr>& loops) const {
  for (const int s : statements_of(body_))
    if (std::optional<std::vector<std::string>> list = names(loops, s)) return std::make_pair(s, std::move(*list));
  return std::nullopt;
}

std::string gpu_fusion_loss(const GroupPlanner& planner, const Schedule& fused, int loop) {
  Ledger none;
  const GroupPlanner trial(fused, planner.options(), planner.budget(), none);
  const TreePtr top = find_loop(fused.tree, loop);
  const GpuNest nest(trial, top);
  if (!nest.known() || nest.body()->kind != Tree::Kind::kSequence) return "";
  std::size_t loops = 0, deep = 0;
  double inside = 1;
  for (const TreePtr& c : nest.body()->children) {
    if (c->kind != Tree::Kind::kLoop) continue;
    ++loops;
    deep = std::max(deep, nest.parallel_depth(c));
    inside = std::max(inside, nest.parallel_points(c));
  }
  const auto whole = [](double n) { return std::to_string(static_cast<std::int64_t>(n)); };
  if (loops >= 2 && deep >= 2)
    return "its nests have further parallel loops for the grid: " + whole(nest.points()) + " iterations at once fused, up to " +
           whole(nest.points() * inside) + " apart";
  for (const int s : statements_of(nest.body())) {
    const std::optional<GpuProduct> p = nest.product_of(s);
    if (p && p->worthwhile() && p->grid.size() > nest.chain().size())
      return "the product '" + fused.statement(s).name +
             "' would lose a loop of its tiles: " + std::to_string(nest.chain().size()) + " of " +
             std::to_string(p->grid.size()) + " would be left for the grid";
  }
  return "";
}

}  // namespace facet
