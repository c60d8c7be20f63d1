// The domains' points come from isl; their times from the loops' members, their places from the statements' subscripts and the
// storage maps, evaluated number by number. Access relations, dependences and the scanned loops are not looked at.
#include <algorithm>

#include "polyhedral/affine.hpp"
#include "polyhedral/enumerate_schedule.hpp"
#include "polyhedral/isl/points.hpp"

namespace facet {

namespace {

using Numbers = std::vector<std::int64_t>;

bool at_once(const LoopMark& m) { return m.kind != LoopKind::kSerial && m.kind != LoopKind::kUnroll && m.gpu.stage == 0; }

class Enumerator {
 public:
  Enumerator(const Schedule& original, const Schedule& schedule, const SymbolValues& sizes, std::size_t most)
      : original_(original), schedule_(schedule), sizes_(sizes), most_(most) {}

  Enumeration run() {
    if (!schedule_.recomputed.empty() || !schedule_.reused.empty()) return without("recomputed or reused arrays");
    for (int s = 0; s < schedule_.statement_count(); ++s) out_.statements.push_back(described(s));
    mark_paths(schedule_.tree, {}, 0);
    for (const int s : statements_of(schedule_.tree))
      if (!add_instances(s)) return without(why_not_);
    std::stable_sort(out_.instances.begin(), out_.instances.end(),
                     [](const EnumeratedInstance& a, const EnumeratedInstance& b) { return a.when < b.when; });
    return std::move(out_);
  }

 private:
  static Enumeration without(const std::string& why) {
    Enumeration none;
    none.why_not = why;
    return none;
  }

  EnumeratedStatement described(int s) const {
    const Statement& st = schedule_.statement(s);
    EnumeratedStatement d;
    d.name = st.name;
    d.copy = st.kind == StatementKind::kCopy;
    d.stores =
        std::any_of(schedule_.storage.begin(), schedule_.storage.end(), [&](const StorageMap& m) { return m.copy_out == s; });
    for (const StorageMap& m : schedule_.storage)
      for (int r = 0; m.copy_in == s && r < schedule_.statement_count(); ++r)
        if (m.reader == r || schedule_.has_flow(s, r, m.buffer)) d.serves.push_back(r);
    d.update = st.update;
    d.ordered = st.update && schedule_.scop->keeps_order(st);
    d.repeats = st.repeats;
    std::string root = st.name;  // A.from, A.first.last: parts of A
    while (!d.copy && original_.find(root) < 0 && root.rfind('.') != std::string::npos) root.resize(root.rfind('.'));
    d.root = d.copy ? "" : root;
    return d;
  }

  // `shared`: how many loops from here on share the threads of one above.
  void mark_paths(const TreePtr& node, const std::vector<std::pair<int, Together>>& path, int shared) {
    if (node->kind == Tree::Kind::kLeaf) {
      out_.statements[static_cast<std::size_t>(node->statement)].path = path;
      return;
    }
    std::vector<std::pair<int, Together>> below = path;
    if (node->kind == Tree::Kind::kSequence) {
      below.emplace_back(-1, Together::kNo);
    } else {
      const LoopMark& m = node->mark;
      if (shared <= 0) shared_updates_ = m.updates != SharedUpdates::kNone;
      const bool partial = m.kind == LoopKind::kVector || (m.kind == LoopKind::kMapped && m.gpu.reduces);
      const bool together = at_once(m) || shared > 0;
      below.emplace_back(node->id, together && (partial || shared_updates_) ? Together::kPartial
                                   : together                               ? Together::kYes
                                                                            : Together::kNo);
      shared = m.kind == LoopKind::kParallel ? m.collapse - 1 : shared - 1;
    }
    for (const TreePtr& c : node->children) mark_paths(c, below, node->kind == Tree::Kind::kLoop ? shared : 0);
  }

  bool add_instances(int s) {
    const Statement& st = schedule_.statement(s);
    isl::set domain = st.domain;
    for (const auto& [name, value] : sizes_) domain = fix_parameter(domain, parameter_id(name), value);
    const std::optional<std::vector<Numbers>> points = points_of(domain, most_ - out_.instances.size());
    if (!points) return fail("more than " + std::to_string(most_) + " instances");
    const std::vector<Time> times = times_of(s);
    std::vector<const Expr*> reads;
    walk(st.value, [&](const Expr& e) {
      if (e.op == Op::kRead) reads.push_back(&e);
    });
    for (const Expr* r : reads)
      for (const ExprPtr& e : r->args)
        if (holds_data(e)) return fail("subscripts that hold data");
    for (const Numbers& p : *points) {
      EnumeratedInstance instance;
      instance.statement = s;
      instance.at = p;
      values_ = sizes_;
      for (std::size_t i = 0; i < p.size(); ++i) values_[st.iterators[i]] = p[i];
      std::map<int, std::int64_t> loops;
      for (const Time& t : times) {
        instance.when.push_back(t.loop < 0 ? t.position : value_of(t, st, p));
        if (t.loop >= 0) loops[t.loop] = instance.when.back();
      }
      for (const Expr* r : reads) instance.reads.push_back(cell_of(s, r->name, r->args, loops));
      instance.write = cell_of(s, st.target, st.subscripts, loops);
      out_.instances.push_back(std::move(instance));
    }
    return true;
  }

  static bool holds_data(const ExprPtr& e) {
    bool found = false;
    walk(e, [&](const Expr& x) { found = found || x.op == Op::kRead; });
    return found;
  }

  bool fail(const std::string& why) {
    why_not_ = why;
    return false;
  }

  // One entry of `when`.
  struct Time {
    int loop = -1;
    std::int64_t position = 0;                         // of a sequence
    std::vector<std::pair<isl::set, ExprPtr>> pieces;  // of a loop
  };

  std::vector<Time> times_of(int s) const {
    std::vector<Time> times;
    for (TreePtr node = schedule_.tree; node->kind != Tree::Kind::kLeaf;) {
      Time t;
      std::size_t next = 0;
      if (node->kind == Tree::Kind::kSequence) {
        while (!contains(node->children[next], s)) ++next;
        t.position = static_cast<std::int64_t>(next);
      } else {
        t.loop = node->id;
        std::vector<ExprPtr> dims;
        for (const std::string& i : schedule_.statement(s).iterators) dims.push_back(index(i));
        for (const auto& [set, aff] : pieces_of(node->member.at(s))) {
          isl::set fixed = set;
          for (const auto& [name, value] : sizes_) fixed = fix_parameter(fixed, parameter_id(name), value);
          t.pieces.emplace_back(fixed, expr_of(aff, dims));
        }
      }
      times.push_back(std::move(t));
      node = node->children[next];
    }
    return times;
  }

  std::int64_t value_of(const Time& t, const Statement&, const Numbers& p) const {
    for (const auto& [set, e] : t.pieces)
      if (t.pieces.size() == 1 || contains_point(set, p)) return evaluate_index(e, values_);
    return 0;
  }

  int cell_of(int s, const std::string& array, const std::vector<ExprPtr>& subscripts,
              const std::map<int, std::int64_t>& loops) {
    Numbers element;
    for (const ExprPtr& e : subscripts) element.push_back(evaluate_index(e, values_));
    const StorageMap* map = schedule_.storage_of(s, array);
    if (map) return interned(boxed(*map, element, s, loops));
    const auto known = schedule_.scop->arrays.find(array);
    for (std::size_t d = 0; known != schedule_.scop->arrays.end() && d < known->second.extents.size(); ++d)
      if (element[d] < 0 || element[d] >= evaluate_index(known->second.extents[d], sizes_)) return -1;
    return interned({array, true, false, {}, element});
  }

  EnumeratedCell boxed(const StorageMap& m, const Numbers& element, int s, const std::map<int, std::int64_t>& loops) const {
    EnumeratedCell cell{m.buffer, false, m.at >= 0 && loops.count(m.at) == 0, {}, {}};
    std::vector<ExprPtr> outer;
    if (m.at >= 0 && !cell.outside)
      for (const auto& [loop, together] : out_.statements[static_cast<std::size_t>(s)].path) {
        if (loop < 0) continue;
        cell.box.push_back(loops.at(loop));
        outer.push_back(idx(cell.box.back()));
        if (loop == m.at) break;
      }
    if (cell.outside) cell.element = element;
    for (std::size_t d = 0; !cell.outside && d < m.sizes.size(); ++d) {
      const std::int64_t places = m.folded(d);
      const std::int64_t at = places > 0 ? ((element[d] % places) + places) % places
                                         : element[d] - evaluate_index(expr_of(m.offsets[d], outer), sizes_);
      cell.element.push_back(at);
      // A box that holds padding, or room, may be larger than what it says here: `inner` rounds up.
      if (at < 0 || (at >= evaluate_index(m.sizes[d], sizes_) && m.inner[d] == 0)) cell.outside = true;
    }
    return cell;
  }

  int interned(EnumeratedCell cell) {
    const auto [it, fresh] = numbers_.emplace(std::move(cell), static_cast<int>(out_.cells.size()));
    if (fresh) out_.cells.push_back(it->first);
    return it->second;
  }

  const Schedule& original_;
  const Schedule& schedule_;
  const SymbolValues& sizes_;
  std::size_t most_;
  Enumeration out_;
  SymbolValues values_;  // sizes and the iterators of the instance at hand
  std::map<EnumeratedCell, int> numbers_;
  bool shared_updates_ = false;  // of the last loop that shares its threads with those inside
  std::string why_not_;
};

}  // namespace

Enumeration enumerate(const Schedule& original, const Schedule& schedule, const SymbolValues& sizes, std::size_t most) {
  return Enumerator(original, schedule, sizes, most).run();
}

}  // namespace facet
