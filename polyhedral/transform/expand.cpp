// expand: an intermediate array gets a copy for each iteration of a loop, as one more dimension.
//
//     for i { t = a[i];                          for i { t.each[i] = a[i];
//             b[i] = t * 2 }          -->                b[i] = t.each[i] * 2 }                     expand t at i
//
// Iterations that write one place one after another need not wait for each other any more: the loop may be distributed, fused
// with others, run backwards or in parallel. The inverse, with less memory and the same effect on order as long as all uses
// stay in one iteration, is `contract`. Known elsewhere as scalar expansion, array expansion, privatisation by renaming.
//
// A scalar of a block has a value for each iteration already, of which one place keeps the last: it gets a place for each
// iteration of the loop, and its name stays.
//
// With f the loop's value for a statement, low and high its bounds over all uses, the array's accesses become
// t.each[f - low, ..] in an array of high - low + 1 copies. Dependences through the array hold between instances with the same
// f only; a flow, or a reduction, between different ones has lost its value, and legality refuses it with these instances.
// With no loop given, a scalar or an array contracted at a loop gets all its elements, one for each value it ever has: the
// extents are the hull of what the group touches, expressions of the symbols. Its making and its uses may then be distributed,
// rescheduled and tiled; `contract` at another loop shrinks it to what one iteration of that loop needs. No two values share a
// place that did not before, so this is always legal.
// Refuses arrays that exist outside the group, uses outside the loop, arrays in buffers, bounds that are no single expression.
// Source: Feautrier, Array expansion, ICS 1988.
#include <algorithm>

#include "polyhedral/affine.hpp"
#include "polyhedral/storage.hpp"
#include "polyhedral/transform/bounds_text.hpp"
#include "polyhedral/transform/part_array.hpp"
#include "polyhedral/transform/transform.hpp"

namespace facet {

namespace {

class Expander {
 public:
  Expander(const Schedule& schedule, Arguments& args, const Array& array, TreePtr loop)
      : schedule_(schedule), args_(args), array_(array), loop_(std::move(loop)), next_(schedule) {}

  Schedule run() {
    check();
    if (ok() && array_.scalar) return with_places();
    if (!ok()) return schedule_;
    name_ = array_.name + ".each";
    for (int i = 2; schedule_.scop->arrays.count(name_); ++i) name_ = array_.name + ".each" + std::to_string(i);
    const PartArray copies(schedule_, args_, array_.name, name_, {loop_}, users_);
    if (!ok()) return schedule_;
    scop_ = std::make_shared<Scop>(*schedule_.scop);
    declare(copies);
    for (const int s : users_) {
      const PartArray::Iteration at = copies.of_member(s);
      if (statement(s).target == array_.name) copies.move_write(statement(s), at);
      copies.move_reads(statement(s), at);
    }
    next_.scop = scop_;
    next_.dependences = std::make_shared<const Dependences>(divided());
    std::erase_if(next_.storage, [&](const StorageMap& m) { return m.array == array_.name; });
    return std::move(next_);
  }

 private:
  bool ok() const { return !args_.problem(); }

  void check() {
    const std::string quoted = "'" + array_.name + "'";
    if (array_.external || array_.live_out)
      args_.refuse(quoted + " exists outside the group: " + (array_.external ? "it is an input of it" : "it is used after it"),
                   {"only arrays that the group makes and uses alone get other dimensions; `promote` copies a part"});
    for (const StorageMap& m : schedule_.storage)
      if (m.array == array_.name && (m.kind == StorageMap::Kind::kPromote || !m.sizes.empty()))
        args_.refuse(quoted + " is contracted or promoted already", {"expand first"});
    if (padded_reads(schedule_, array_.name, -1))
      args_.refuse(quoted + " is read with a padding value, which needs the whole array's bounds", {"leave it as it is"});
    for (const int s : statements_of(schedule_.tree)) {
      const Statement& st = schedule_.statement(s);
      if (!st.touches(array_.name)) continue;
      users_.push_back(s);
      if (!contains(loop_, s))
        return args_.refuse("'" + st.name + "' uses " + quoted + " outside the loop", {"choose a loop around all its uses"});
    }
    if (users_.empty()) args_.refuse(quoted + " is not used in the loop", {"choose a loop around its uses"});
  }

  Schedule with_places() {
    std::erase_if(next_.storage, [&](const StorageMap& m) { return m.array == array_.name; });
    int outer = -1;
    for (const TreePtr& l : loops_around(schedule_.tree, users_[0])) {
      if (l == loop_) break;
      outer = l->id;
    }
    if (outer >= 0) next_.storage.push_back(contracted(schedule_, array_.name, outer));
    return std::move(next_);
  }

  void declare(const PartArray& copies) {
    Array a = array_;
    a.name = name_;
    a.declared.clear();  // memory of its own, laid out as it is subscripted
    a.joined.clear();
    a.extents.insert(a.extents.begin(), copies.extents().begin(), copies.extents().end());
    scop_->arrays.erase(array_.name);
    scop_->arrays[name_] = std::move(a);
  }

  Statement& statement(int s) {
    const int n = static_cast<int>(scop_->statements.size());
    return s < n ? scop_->statements[static_cast<std::size_t>(s)] : next_.copies[static_cast<std::size_t>(s - n)];
  }

  Dependences divided() {
    Dependences kept;
    for (const Dependence& d : *schedule_.dependences) {
      if (d.array != array_.name) {
        kept.push_back(d);
        continue;
      }
      const isl::map same =
          d.relation.intersect(compare_map(loop_->member.at(d.source), Compare::kEqual, loop_->member.at(d.sink)));
      if (!same.is_empty()) kept.push_back(make_dependence(d.kind, d.source, d.sink, name_, same));
      if (d.kind != DependenceKind::kFlow && d.kind != DependenceKind::kReduction) continue;
      const isl::map lost = d.relation.subtract(same);
      if (!lost.is_empty()) next_.lost.push_back(make_dependence(d.kind, d.source, d.sink, d.array, lost));
    }
    return kept;
  }

  const Schedule& schedule_;
  Arguments& args_;
  const Array& array_;
  TreePtr loop_;
  Schedule next_;
  std::shared_ptr<Scop> scop_;
  std::vector<int> users_;
  std::string name_;
};

// Without a loop: the scalar or contracted array gets room for the hull of all elements that the group touches.
Schedule with_all_elements(const Schedule& schedule, Arguments& args, const Array& found) {
  const std::string& array = found.name;
  Schedule next = schedule;
  const auto contracted = std::find_if(next.storage.begin(), next.storage.end(), [&](const StorageMap& m) {
    return m.array == array && m.kind == StorageMap::Kind::kContract;
  });
  const auto parts = std::count_if(next.storage.begin(), next.storage.end(), [&](const StorageMap& m) {
    return m.array == array && m.kind == StorageMap::Kind::kPromote;
  });
  if (contracted == next.storage.end() || (contracted->at < 0 && !contracted->sizes.empty()))

    args.refuse("'" + array + "' has room for all its elements already",
                {"give `statement` and `at` for a copy per iteration"});
  if (parts > 0) args.refuse("a part of '" + array + "' is promoted", {"expand before promote"});
  if (args.problem()) return schedule;
  const isl::map all = footprint(schedule, array, -1);  // { [] -> A[e] }
  StorageMap m;
  m.array = array;
  m.buffer = array;
  m.space = MemorySpace::kGlobal;
  for (std::size_t d = 0; d < found.extents.size(); ++d) {
    const std::optional<DimensionBounds> bounds =
        all.is_null() ? std::nullopt : dimension_bounds(all, static_cast<unsigned>(d));
    if (!bounds) {
      args.refuse("the elements of '" + array + "' that the group uses go " +
                      (all.is_null() ? "nowhere" : bounds_text(all, static_cast<unsigned>(d))) + " along dimension " +
                      std::to_string(d) + ", as the sizes are: its room has one first element and one last",
                  {"give `statement` and `at`: a copy for each iteration of a loop"});
      return schedule;
    }
    m.offsets.push_back(bounds->low);
    m.sizes.push_back(extent_of(*bounds, schedule.scop->context));
    m.order.push_back(static_cast<int>(d));
    m.inner.push_back(0);
  }
  if (m.sizes.empty()) args.refuse("'" + array + "' has one element in the whole group", {"give `statement` and `at`"});
  if (args.problem()) return schedule;
  *contracted = std::move(m);
  return next;
}

Schedule apply(const Schedule& schedule, Arguments& args) {
  const Array* const array = args.array();
  if (args.problem()) return schedule;
  if (!args.has("at")) return with_all_elements(schedule, args, *array);
  const int s = args.statement();
  const TreePtr loop = args.loop(s, args.text("at"));
  if (args.problem() || !loop) return schedule;
  return Expander(schedule, args, *array, loop).run();
}

}  // namespace

extern const Transform kExpand;
const Transform kExpand = {
    "expand",
    "An intermediate array gets a copy for each iteration of a loop: T becomes T.each, with one more dimension. A scalar of a "
    "block gets a place for each iteration.",
    {{"array", "array", true, "the array, used inside the loop only"},
     {"statement", "statement", false, "with `at`: a statement inside the loop"},
     {"at", "loop", false,
      "the loop whose iterations get copies of their own; otherwise a scalar or contracted array gets all its elements"}},
    apply,
    {"for i { t = a[i]; b[i] = t * 2 }", "for i { t.each[i] = a[i]; b[i] = t.each[i] * 2 }",
     "scalar and array expansion, privatisation by renaming; `contract` is the inverse",
     "arrays that exist outside the group, uses outside the loop, arrays in buffers; illegal where a value reaches another "
     "iteration"}};

}  // namespace facet
