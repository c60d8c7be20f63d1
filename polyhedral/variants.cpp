// The sizes of a variant are an isl set of symbol values:
//     { : ranges, assumptions, its condition }  minus the same of the variants before it.
// The negated conditions stay out of the assumptions: they are unions, and unions make every later question dearer.
#include "polyhedral/variants.hpp"

#include <algorithm>

#include "facet/expr_facts.hpp"
#include "polyhedral/affine.hpp"
#include "polyhedral/facet_polyhedral.hpp"

namespace facet {

namespace {

ExprPtr both(const ExprPtr& a, const ExprPtr& b) { return !a ? b : !b ? a : binary(Op::kAnd, a, b); }

isl::set sizes_with(const Program& p, const ExprPtr& condition) {
  std::vector<ExprPtr> all = p.assumptions;
  if (condition) all.push_back(condition);
  return context_of(p.symbols, all);
}

// Symbol by symbol the value nearest to the typical one.
SymbolValues nearest_sizes(const Program& p, isl::set sizes, const SymbolValues& typical) {
  SymbolValues values;
  for (const Symbol& s : p.symbols) {
    const auto it = typical.find(s.name);
    const std::string id = parameter_id(s.name);
    const auto [low, high] = parameter_range(sizes, id);
    std::int64_t value = std::clamp(it == typical.end() ? s.value : it->second, low, std::max(low, high));
    isl::set fixed = fix_parameter(sizes, id, value);
    if (fixed.is_empty()) {  // a hole in the set, as N % 4 == 0 leaves them
      value = low;
      fixed = fix_parameter(sizes, id, value);
    }
    values[s.name] = value;
    sizes = fixed;
  }
  return values;
}

}  // namespace

Result<Done> check_conditions(const Program& program, const Recipe& recipe) {
  for (const Variant& v : recipe.variants) {
    if (!v.condition) continue;
    bool never = false;
    const Result<Done> told =
        guarded("condition of a variant", Budget{0, {}}, [&] { never = sizes_with(program, v.condition).is_empty(); });
    if (!told) return told.errors();
    if (!never) continue;
    std::vector<std::string> notes;
    for (const Symbol& s : program.symbols)
      if (mentions_index(v.condition, s.name))
        notes.push_back("symbol " + s.name + " is in " + std::to_string(s.min) + ".." + std::to_string(s.max));
    notes.push_back("correct it, or leave the variant out: nothing would ever take it");
    return diagnose(Code::kWrongType, v.when_place,
                    {"\"when\"", "a condition that some allowed sizes satisfy", "\"" + v.when + "\""}, std::move(notes));
  }
  return Done{};
}

std::vector<VariantCase> cases_of(const Program& program, const Recipe& recipe, const SymbolValues& given) {
  SymbolValues typical = given;  // where nothing is said the defaults
  for (const Symbol& s : program.symbols) typical.emplace(s.name, s.value);
  std::vector<VariantCase> cases;
  isl::set left = sizes_with(program, nullptr);
  ExprPtr none_before;
  for (std::size_t v = 0; v < recipe.variants.size(); ++v) {
    const ExprPtr& condition = recipe.variants[v].condition;
    VariantCase c;
    c.index = static_cast<int>(v);
    c.when = both(none_before, condition);
    c.sizes = typical;
    const isl::set own = sizes_with(program, condition);
    const isl::set served = own.intersect(left);
    if (own.is_empty()) {
      c.never = "no allowed sizes satisfy its condition";
    } else if (served.is_empty()) {
      c.never = "the variants before it serve all its sizes";
    }
    if (condition && c.never.empty()) {
      Program assumed = program;
      assumed.assumptions.push_back(condition);
      c.program = std::make_shared<const Program>(std::move(assumed));
    } else {
      c.program = std::shared_ptr<const Program>(std::shared_ptr<const Program>(), &program);  // the caller's
    }
    if (c.never.empty() && recipe.variants.size() > 1) c.sizes = nearest_sizes(program, served, typical);
    left = left.subtract(own);
    none_before = both(none_before, condition ? unary(Op::kNot, condition) : int_literal(DType::kBool, 0));
    cases.push_back(std::move(c));
  }
  return cases;
}

}  // namespace facet
