// compute_at: a producer is computed again, for each iteration of a loop around its readers, as far as that iteration needs it.
//
//     for x        p[x] = f(a[x])                     for xt {
//     for xt for x q[x] = p[x] + p[x + 1]      -->      for x in 32*xt .. 32*xt + 33   p.at[x - 32*xt] = f(a[x])
//                                                       for x in 32*xt .. 32*xt + 32   q[x] = p.at[..] + p.at[.. + 1]
//                                                     }                                                  compute_at p at xt
//
// The tiles of a stencil's stages overlap: what two of them need is computed twice, the intermediate never leaves the cache (or
// the block), and tiles wait for nobody. The part is what the reads below `at` name (a hull of it, where they leave holes),
// over all writers of the array: initialisation and updates of a reduction are repeated together. Chains of producers go one
// after another, the last one first: p for the tile of q, then what p reads for p.at.
//
// The writers get twins W.at, with the values of the loops down to `at` before their own iterators; they write T.at, which has
// these values as dimensions, too, and is contracted at the loop: one part an iteration. A twin owes its operands what the
// writer owed them: the dependences through them are carried over, so a producer whose operand is overwritten before the loop
// is refused, with that pair. When nobody else reads the array and it does not leave the group, its own writers are gone.
//
// Known elsewhere as compute_at (Halide, TVM, Tiramisu), post-tiling fusion, overlapped tiling. Refuses: an array that comes
// from outside or whose writers read other elements of it (a scan's part is all that came before); padded reads with several
// values. The part of an iteration holds the padding value, too, where its reads leave the array: a statement T.at.pad.
// Source: Ragan-Kelley et al., Halide, PLDI 2013, section 4; Zhao and Di, Optimizing the memory hierarchy by compositing
// automatic transformations on computations and data, MICRO 2020, section 4.
#include <algorithm>
#include <numeric>

#include "polyhedral/affine.hpp"
#include "polyhedral/storage.hpp"
#include "polyhedral/transform/memory_steps.hpp"
#include "polyhedral/transform/part_array.hpp"
#include "polyhedral/transform/promote_parts.hpp"

namespace facet {

namespace {

class ComputeAt {
 public:
  ComputeAt(const Schedule& schedule, Arguments& args, const Array& array, int reader, TreePtr at)
      : schedule_(schedule), args_(args), array_(array), reader_(reader), at_(std::move(at)), next_(schedule) {}

  Schedule run() {
    find_statements();
    if (ok()) check_array();
    if (ok()) check_writers();
    if (!ok()) return schedule_;
    name_ = array_.name + ".at";
    for (int i = 2; schedule_.scop->arrays.count(name_); ++i) name_ = array_.name + ".at" + std::to_string(i);
    around_ = loops_down_to(schedule_, reader_, at_->id);
    part_.emplace(schedule_, args_, array_.name, name_, around_, served_);
    if (!ok()) return schedule_;
    const isl::map all = needed();
    make_twins(all);
    next_.dependences = std::make_shared<const Dependences>(carried_over());
    make_padding(all);
    declare();
    add_padding_flows();
    place_twins();
    next_.storage.push_back(contracted(next_, name_, at_->id));
    check_box(next_.storage.back());
    return std::move(next_);
  }

 private:
  bool ok() const { return !args_.problem(); }
  bool writes(int s) const { return std::count(writers_.begin(), writers_.end(), s) > 0; }
  bool is_served(int s) const { return std::count(served_.begin(), served_.end(), s) > 0; }
  std::string quoted() const { return "'" + array_.name + "'"; }
  std::string where() const { return "loop '" + at_->names.at(reader_) + "'"; }

  // A scan's part would need all that came before; what works on its own element needs that alone.
  bool reads_others(const Statement& st) const {
    return std::any_of(st.reads.begin(), st.reads.end(),
                       [&](const Access& a) { return a.array == array_.name && !a.relation.is_subset(st.write.relation); });
  }

  void find_statements() {
    for (const int s : statements_of(schedule_.tree)) {
      const Statement& st = schedule_.statement(s);
      if (st.target == array_.name) writers_.push_back(s);
      if (!st.reads_of(array_.name)) continue;
      if (contains(at_, s)) {
        served_.push_back(s);
      } else if (st.target != array_.name) {
        others_ = true;
      }
    }
  }

  void check_array() {
    if (array_.external || writers_.empty())
      return args_.refuse(quoted() + " is not computed in this group",
                          {"`promote` copies a part of an array that comes from outside"});
    if (served_.empty())
      return args_.refuse(quoted() + " is not read inside " + where(), {"name a loop around a statement that reads it"});
    if (is_stored_otherwise(schedule_, array_.name))
      return args_.refuse(quoted() + " is contracted, promoted or out of memory already", {"compute_at first"});
    padding_ = fill_of(schedule_, served_, array_);
    if (!padding_)
      args_.refuse(quoted() + " is read with different padding values inside " + where(),
                   {"leave the array whole: fuse its nest with the reader's instead"});
    for (const Dependence& d : *schedule_.dependences)
      if (d.array == array_.name && d.kind == DependenceKind::kAnti && is_served(d.source))
        return args_.refuse("'" + schedule_.statement(d.source).name + "' reads " + quoted() + " before '" +
                                schedule_.statement(d.sink).name + "' has changed it for the last time",
                            {"fuse the two nests instead"});
  }

  // A dimension without a constant size is the array's own, which has no room beside its elements.
  void check_box(const StorageMap& part) const {
    const auto constant = [](const ExprPtr& e) { return e->op == Op::kLiteral; };
    if (!paddings_.empty() && !std::all_of(part.sizes.begin(), part.sizes.end(), constant))
      args_.refuse(quoted() + " is read with a padding value, and what " + where() + " needs of it has no constant size",
                   {"tile the loops that walk its elements first"});
  }

  void check_writers() {
    for (const int w : writers_) {
      const Statement& st = schedule_.statement(w);
      const std::string named = "'" + st.name + "'";
      if (contains(at_, w))
        return args_.refuse(named + " computes " + quoted() + " inside " + where() + " already",
                            {"choose a loop further inside"});
      if (reads_others(st))
        return args_.refuse(named + " reads other elements of " + quoted() + " than it writes",
                            {"its elements cannot be computed one without the other: fuse the nests instead"});
      for (const TreePtr& l : loops_around(schedule_.tree, w))
        if (l->mark.kind == LoopKind::kParallel || l->mark.kind == LoopKind::kMapped)
          return args_.refuse("loop '" + l->names.at(w) + "' of " + named + " runs on threads already",
                              {"compute_at first, then parallelize " + where()});
      for (const StorageMap& m : schedule_.storage) {
        const bool served = m.reader == w || (m.copy_in >= 0 && schedule_.has_flow(m.copy_in, w, m.buffer));
        if (served) return args_.refuse(named + " reads '" + m.array + "' from a buffer", {"compute_at first, then promote"});
      }
    }
  }

  // { [o] -> T[e] }: what an iteration reads, where reads have a padding value elements that the array does not have included.
  isl::map needed() const {
    isl::map exactly = footprint(schedule_, array_.name, at_->id);
    for (const int s : served_)
      for (const Access& a : schedule_.statement(s).reads)
        if (a.array == array_.name && a.reach)
          exactly = exactly.unite(outer_schedule(schedule_, s, at_->id).reverse().apply_range(*a.reach));
    return exactly;
  }

  // { W[w] -> W.at[o.., w..] } for the instances that write what iteration o reads.
  void make_twins(const isl::map& exactly) {
    // Without holes: a few elements more, and loops without conditions.
    const isl::map needed = simple_hull(exactly).intersect_domain(exactly.domain());
    for (const int w : writers_) {
      const Statement& st = schedule_.statement(w);
      std::string twin = st.name + ".at";
      for (int i = 2; next_.find(twin) >= 0; ++i) twin = st.name + ".at" + std::to_string(i);
      const std::string id = statement_id(twin);
      std::vector<isl::pw_aff> own;
      for (std::size_t d = 0; d < st.iterators.size(); ++d)
        own.push_back(output_dimension(st.domain, static_cast<unsigned>(d)));
      const isl::map at_which = needed.apply_range(st.write.relation.reverse());  // { [o] -> W[w] }
      const isl::set domain = flat_domain(at_which, id);
      to_twin_.push_back(with_flat_range(at_which.reverse(), map_to_values(st.domain, own), id).intersect_range(domain));
      twins_.push_back(next_.statement_count());
      next_.copies.push_back(twin_of(st, twin, domain, to_twin_.back().reverse()));
    }
  }

  // T.at.pad[o.., e..]: the padding value, for the elements of an iteration's part that the array does not have. A statement
  // for each side, so that its loops walk that side alone.
  void make_padding(const isl::map& needed) {
    for (const isl::set& side : sets_beside(*schedule_.scop, array_.name))
      if (const isl::map part = needed.intersect_range(side).coalesce(); !part.is_empty()) make_padding_of(part);
  }

  void make_padding_of(const isl::map& outside) {
    Statement fill;
    fill.name = name_ + ".pad";
    for (int i = 2; next_.find(fill.name) >= 0; ++i) fill.name = name_ + ".pad" + std::to_string(i);
    fill.domain = flat_domain(outside, statement_id(fill.name));
    fill.kind = StatementKind::kMap;
    fill.target = array_.name;
    fill.value = padding_;
    fill.repeats = static_cast<int>(around_.size());
    fill.place = schedule_.statement(reader_).place;
    for (std::size_t k = 0; k < around_.size(); ++k)
      fill.iterators.push_back("o" + std::to_string(k) + "." + around_[k]->names.at(reader_));
    std::vector<isl::pw_aff> element;
    for (std::size_t d = 0; d < array_.extents.size(); ++d) {
      fill.iterators.push_back("e" + std::to_string(d));
      fill.subscripts.push_back(index(fill.iterators.back()));
      element.push_back(output_dimension(fill.domain, static_cast<unsigned>(around_.size() + d)));
    }
    const isl::map which = with_range_tuple(map_to_values(fill.domain, element), array_id(array_.name));
    fill.write = {array_.name, which, which, true, {}};
    part_->move_write(fill, part_->of_iterators(fill));
    paddings_.push_back(next_.statement_count());
    next_.copies.push_back(std::move(fill));
  }

  // Readers find the padding in the part.
  void add_padding_flows() {
    Dependences flows;
    for (const int padding : paddings_)
      for (const int s : served_)
        for (const Access& a : next_.statement(s).reads)
          if (a.array == name_)
            flows.push_back({DependenceKind::kFlow, padding, s, name_,
                             next_.statement(padding).write.relation.apply_range(a.relation.reverse())});
    add_dependences(next_, std::move(flows));
  }

  Statement twin_of(const Statement& st, const std::string& name, const isl::set& domain, const isl::map& to_writer) const {
    Statement t = st;
    t.name = name;
    t.domain = domain;
    t.repeats = static_cast<int>(around_.size());
    t.iterators.clear();
    for (std::size_t k = 0; k < around_.size(); ++k)
      t.iterators.push_back("o" + std::to_string(k) + "." + around_[k]->names.at(reader_));
    for (const std::string& i : st.iterators) t.iterators.push_back(i);
    const auto moved = [&](Access& a) {
      a.relation = to_writer.apply_range(a.relation);
      a.whole = to_writer.apply_range(a.whole);
      if (a.reach) a.reach = to_writer.apply_range(*a.reach);
    };
    moved(t.write);
    for (Access& a : t.reads) moved(a);
    const PartArray::Iteration at = part_->of_iterators(t);
    part_->move_write(t, at);
    part_->move_reads(t, at);
    return t;
  }

  // { W.at[o.., w..] -> [o] }
  isl::map iteration_of(std::size_t w) const {
    const isl::set& domain = schedule_of_twin(w).domain;
    return map_to_values(domain, part_->of_iterators(schedule_of_twin(w)).values);
  }
  const Statement& schedule_of_twin(std::size_t w) const { return next_.statement(twins_[w]); }

  bool stays() const { return others_ || array_.live_out; }

  Dependences carried_over() const {
    Dependences all;
    const auto add = [&](DependenceKind kind, int source, int sink, const std::string& array, const isl::map& pairs) {
      if (!pairs.is_empty()) all.push_back(make_dependence(kind, source, sink, array, pairs));
    };
    for (const Dependence& d : *schedule_.dependences) {
      const auto source = std::find(writers_.begin(), writers_.end(), d.source);
      const auto sink = std::find(writers_.begin(), writers_.end(), d.sink);
      const bool from = source != writers_.end(), to = sink != writers_.end();
      const bool served = d.array == array_.name && is_served(d.sink);
      if (!(from && served) && (stays() || !(from || to))) all.push_back(d);
      if (!from && !to) continue;
      const std::size_t a = static_cast<std::size_t>(source - writers_.begin());
      const std::size_t b = static_cast<std::size_t>(sink - writers_.begin());
      if (from && to) {
        add(d.kind, twins_[a], twins_[b], name_,
            to_twin_[a]
                .reverse()
                .apply_range(d.relation)
                .apply_range(to_twin_[b])
                .intersect(iteration_of(a).apply_range(iteration_of(b).reverse())));
      } else if (from && served) {
        add(d.kind, twins_[a], d.sink, name_,
            to_twin_[a]
                .reverse()
                .apply_range(d.relation)
                .intersect(iteration_of(a).apply_range(outer_schedule(schedule_, d.sink, at_->id).reverse())));
      } else if (d.array != array_.name && schedule_.scop->arrays.count(d.array)) {
        if (from) add(d.kind, twins_[a], d.sink, d.array, to_twin_[a].reverse().apply_range(d.relation));
        if (to) add(d.kind, d.source, twins_[b], d.array, d.relation.apply_range(to_twin_[b]));
      }
    }
    return all;
  }

  void declare() {
    auto scop = std::make_shared<Scop>(*schedule_.scop);
    Array a = array_;
    a.name = name_;
    a.declared.clear();  // memory of its own, laid out as it is subscripted
    a.joined.clear();
    a.live_out = false;
    a.in_place = false;
    a.extents.insert(a.extents.begin(), part_->extents().begin(), part_->extents().end());
    scop->arrays[name_] = std::move(a);
    const int n = static_cast<int>(scop->statements.size());
    for (const int s : served_)
      part_->move_reads(s < n ? scop->statements[static_cast<std::size_t>(s)] : next_.copies[static_cast<std::size_t>(s - n)],
                        part_->of_member(s));
    next_.scop = std::move(scop);
  }

  // The writers' nest as it stands, of their twins: right before the first reader below `at`.
  void place_twins() {
    const TreePtr nest = nest_of_twins(restrict_tree(schedule_.tree, writers_, &next_.next_loop), true);
    const TreePtr& body = at_->children[0];
    std::vector<TreePtr> order = body->kind == Tree::Kind::kSequence ? body->children : std::vector<TreePtr>{body};
    const auto first = std::find_if(order.begin(), order.end(), [&](const TreePtr& part) {
      return std::any_of(served_.begin(), served_.end(), [&](int s) { return contains(part, s); });
    });
    order.insert(first, nest);
    for (const int padding : paddings_) order.insert(std::find(order.begin(), order.end(), nest), nest_of_padding(padding));
    next_.tree = replace_node(schedule_.tree, body, make_sequence(std::move(order)));
    for (const int padding : paddings_)
      next_.tree = with_outer_loops(next_.tree, around_, reader_, next_.statement(padding), padding);
    for (std::size_t w = 0; w < twins_.size(); ++w)
      next_.tree = with_outer_loops(next_.tree, around_, reader_, schedule_of_twin(w), twins_[w]);
    if (stays()) return;
    std::vector<int> rest = statements_of(next_.tree);
    std::erase_if(rest, [&](int s) { return writes(s); });
    next_.tree = restrict_tree(next_.tree, rest, nullptr);
    for (const StorageMap& m : next_.storage)
      if (m.at >= 0 && find_loop(schedule_.tree, m.at) && !find_loop(next_.tree, m.at))
        args_.refuse("'" + m.array + "' lives in a buffer of the loops that compute " + quoted(), {"compute_at first"});
  }

  TreePtr nest_of_padding(int padding) {
    std::vector<int> order(array_.extents.size());
    std::iota(order.begin(), order.end(), 0);
    return copy_nest(next_, next_.statement(padding), padding, around_.size(), order);
  }

  TreePtr nest_of_twins(const TreePtr& tree, bool top) const {
    if (tree->kind == Tree::Kind::kLeaf) return make_leaf(twin_number(tree->statement));
    std::vector<TreePtr> below;
    for (const TreePtr& c : tree->children) below.push_back(nest_of_twins(c, false));
    if (tree->kind == Tree::Kind::kSequence) return make_sequence(std::move(below));
    Tree loop = *tree;
    loop.names.clear();
    loop.member.clear();
    for (const auto& [w, name] : tree->names) {
      const int twin = twin_number(w);
      loop.names[twin] = free_name(name);
      loop.member[twin] = with_leading_dimensions(tree->member.at(w), static_cast<unsigned>(around_.size()),
                                                  statement_id(next_.statement(twin).name));
    }
    if (top) loop.comment = array_.name + " again, as one iteration of " + at_->names.at(reader_) + " needs it";
    return make_loop_tree(std::move(loop), below[0]);
  }

  int twin_number(int writer) const {
    return twins_[static_cast<std::size_t>(std::find(writers_.begin(), writers_.end(), writer) - writers_.begin())];
  }

  // A loop around has the name already: the inner one is called otherwise, so that both can be named.
  std::string free_name(const std::string& name) const {
    std::string free = name;
    const auto used = [&](const std::string& n) {
      return std::any_of(around_.begin(), around_.end(), [&](const TreePtr& l) { return l->names.at(reader_) == n; });
    };
    for (int i = 2; used(free); ++i) free = name + std::to_string(i);
    return free;
  }

  const Schedule& schedule_;
  Arguments& args_;
  const Array& array_;
  int reader_;
  TreePtr at_;
  Schedule next_;
  std::vector<int> writers_, served_;
  bool others_ = false;  // somebody else reads the array
  std::string name_;
  std::vector<TreePtr> around_;
  std::optional<PartArray> part_;
  ExprPtr padding_;                // what reads outside the array give
  std::vector<int> paddings_;      // numbers of the statements that write it, if there are such reads
  std::vector<int> twins_;         // statement numbers, by writer
  std::vector<isl::map> to_twin_;  // by writer
};

Schedule apply(const Schedule& schedule, Arguments& args) {
  const Array* const array = args.array();
  const int s = args.statement();
  const TreePtr at = args.loop(s, args.text("at"));
  if (args.problem() || !at) return schedule;
  return ComputeAt(schedule, args, *array, s, at).run();
}

}  // namespace

extern const Transform kComputeAt;
const Transform kComputeAt = {
    "compute_at",
    "An array of the group is computed again for each iteration of a loop around its readers, as far as that iteration needs it: "
    "overlapped tiles.",
    {{"array", "array", true,
      "the array; T.at takes its place inside the loop, W.at the place of the statement W that writes it"},
     {"statement", "statement", true, "a statement that reads it"},
     {"at", "loop", true, "the loop around the reader, a tile loop as a rule"}},
    apply,
    {"for x  p[x] = f(a[x])\nfor xt for x  q[x] = p[x] + p[x + 1]",
     "for xt {\n  for x in 32*xt..32*xt + 33  p.at[x] = f(a[x])\n  for x in 32*xt..32*xt + 32  q[x] = p.at[x] + p.at[x + 1] }",
     "compute_at (Halide, TVM, Tiramisu), post-tiling fusion, overlapped tiling",
     "arrays from outside, writers that read other elements of it, reads with different padding values, writers on threads; illegal where an operand of the writer "
     "has changed by then"}};

}  // namespace facet
