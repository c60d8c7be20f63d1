// Text of a Scop.
#include "polyhedral/scop.hpp"

#include "polyhedral/affine.hpp"

namespace facet {

std::string to_text(StatementKind kind) {
  static const char* const names[] = {"map", "reduce", "recurrence", "copy"};
  return names[static_cast<int>(kind)];
}

int Scop::find(const std::string& statement) const {
  for (std::size_t i = 0; i < statements.size(); ++i)
    if (statements[i].name == statement) return static_cast<int>(i);
  return -1;
}

isl::set array_set(const Scop& scop, const std::string& array) {
  const Array& a = scop.arrays.at(array);
  std::string constraints = "1 = 1";
  for (std::size_t d = 0; d < a.extents.size(); ++d)
    constraints += " and 0 <= i" + std::to_string(d) + " < " + *isl_text(a.extents[d], {});
  return read_set(parameter_prefix(scop.symbols), array_id(array), tuple_text("", a.extents.size()), constraints);
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
