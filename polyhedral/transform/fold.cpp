// Folding, and the turns that it asks for.
#include "polyhedral/transform/fold.hpp"

#include "polyhedral/affine.hpp"

namespace facet {

namespace {

// { A[e] -> A[e'] : e' later than e in the folded dimensions and in the same place }
isl::map same_place(const Array& array, const std::vector<std::int64_t>& places) {
  std::string from, to, same, later, equal_so_far;
  for (std::size_t d = 0; d < places.size(); ++d) {
    const std::string e = "e" + std::to_string(d), f = "f" + std::to_string(d), n = std::to_string(places[d]);
    from += (d ? ", " : "") + e;
    to += (d ? ", " : "") + f;
    same += (d ? " and " : "") + (places[d] > 0 ? "(" + f + " - " + e + ") mod " + n + " = 0" : f + " = " + e);
    if (places[d] <= 0) continue;
    later += (later.empty() ? "(" : " or (") + equal_so_far + e + " < " + f + ")";
    equal_so_far += e + " = " + f + " and ";
  }
  const std::string id = array_id(array.name);
  return read_map("{ " + id + "[" + from + "] -> " + id + "[" + to + "] : " + same + " and (" + later + ") }");
}

}  // namespace

// Whoever touches an element runs before the next ones in its place are written.
Dependences turns(const Schedule& schedule, const Array& array, const std::vector<std::int64_t>& places) {
  Dependences list;
  const isl::map next_ones = same_place(array, places);
  const std::vector<int> all = statements_of(schedule.tree);
  for (const int w : all) {
    const Statement& writer = schedule.statement(w);
    if (writer.target != array.name) continue;
    const isl::map to_writer = next_ones.apply_range(writer.write.relation.reverse());
    for (const int s : all) {
      const Statement& st = schedule.statement(s);
      if (st.target == array.name)
        list.push_back(make_dependence(DependenceKind::kOutput, s, w, array.name, st.write.relation.apply_range(to_writer)));
      for (const Access& a : st.reads)
        if (a.array == array.name)
          list.push_back(make_dependence(DependenceKind::kAnti, s, w, array.name, a.relation.apply_range(to_writer)));
    }
  }
  return list;
}

}  // namespace facet
