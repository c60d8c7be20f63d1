// Text of a Scop.
#include "polyhedral/scop.hpp"

#include <algorithm>

#include "polyhedral/affine.hpp"

namespace facet {

std::string to_text(StatementKind kind) {
  static const char* const names[] = {"map", "reduce", "recurrence", "copy"};
  return names[static_cast<int>(kind)];
}

bool Statement::reads_of(const std::string& array) const {
  return std::any_of(reads.begin(), reads.end(), [&](const Access& a) { return a.array == array; });
}

bool Statement::touches(const std::string& array) const { return target == array || reads_of(array); }

int Scop::find(const std::string& statement) const {
  for (std::size_t i = 0; i < statements.size(); ++i)
    if (statements[i].name == statement) return static_cast<int>(i);
  return -1;
}

bool Statement::rounds() const { return is_float(value->type) && (update == ReduceKind::kSum || update == ReduceKind::kProd); }

bool Scop::keeps_order(const Statement& update) const {
  return reassociate == Numerics::Reassociate::kStrict && update.rounds();
}

namespace {

// { A_x[e] : the first `dimensions` of e lie within the array, and `more` }
isl::set elements_set(const Scop& scop, const std::string& array, std::size_t dimensions, const std::string& more) {
  const Array& a = scop.arrays.at(array);
  std::string constraints = more;
  for (std::size_t d = 0; d < dimensions; ++d)
    constraints += " and 0 <= i" + std::to_string(d) + " < " + *isl_text(a.extents[d], {});
  return read_set(parameter_prefix(scop.symbols), array_id(array), tuple_text("", a.extents.size()), constraints);
}

}  // namespace

isl::set array_set(const Scop& scop, const std::string& array) {
  return elements_set(scop, array, scop.arrays.at(array).extents.size(), "1 = 1");
}

std::vector<isl::set> sets_beside(const Scop& scop, const std::string& array) {
  const std::vector<ExprPtr>& extents = scop.arrays.at(array).extents;
  std::vector<isl::set> sides;
  for (std::size_t d = 0; d < extents.size(); ++d)
    for (const std::string& side : {std::string(" < 0"), " >= " + *isl_text(extents[d], {})})
      sides.push_back(elements_set(scop, array, d, "i" + std::to_string(d) + side));
  return sides;
}

const std::vector<ExprPtr>& extents_in_memory(const Array& a) { return a.declared.empty() ? a.extents : a.declared; }

std::vector<ExprPtr> subscripts_in_memory(const Array& a, std::vector<ExprPtr> subscripts) {
  if (a.declared.empty()) return subscripts;
  std::vector<ExprPtr> all;
  for (std::size_t d = 0; d < subscripts.size(); ++d) {
    const std::size_t from = all.size(), count = static_cast<std::size_t>(a.joined[d]);
    all.resize(from + count);
    ExprPtr position = subscripts[d];
    for (std::size_t k = count; k-- > 1; position = idx_floordiv(position, a.declared[from + k]->int_value))
      all[from + k] = idx_mod(position, a.declared[from + k]->int_value);
    all[from] = position;
  }
  return all;
}

std::string to_text(const Scop& scop) {
  std::string text = "group " + scop.name + "\n";
  for (const Statement& s : scop.statements) {
    text += "statement " + s.name + " (" + to_text(s.kind) + (s.update ? " " + to_text(*s.update) : "") + ")\n";
    text += "  domain " + text_of(s.domain) + "\n";
    text += "  write  " + text_of(s.write.relation) + "\n";
    for (const Access& a : s.reads) text += std::string("  read   ") + (a.exact ? "" : "may ") + text_of(a.relation) + "\n";
    text += "  value  " + to_text(s.value) + "\n";
  }
  return text;
}

}  // namespace facet
