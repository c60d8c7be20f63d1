// OpBuilder: names, attribute access, outputs and complaints.
#include "src/ops/builder.hpp"

#include <algorithm>
#include <cassert>

#include "src/frontend/affine.hpp"

namespace facet {

namespace {

bool as_integer(const Attribute& a, std::int64_t* value) {
  if (const auto* i = std::get_if<std::int64_t>(&a.value)) return *value = *i, true;
  if (const auto* f = std::get_if<bool>(&a.value)) return *value = *f, true;
  if (const auto* d = std::get_if<double>(&a.value)) return *value = static_cast<std::int64_t>(*d), true;
  return false;
}

double as_number(const Attribute& a) {
  if (const auto* d = std::get_if<double>(&a.value)) return *d;
  std::int64_t i = 0;
  as_integer(a, &i);
  return static_cast<double>(i);
}

}  // namespace

void OpBuilder::reserve_names() {
  for (const Symbol& s : call_.program.symbols) names_.insert(s.name);
}

const Attribute* OpBuilder::attribute(const std::string& name) const {
  const auto it = call_.node.attrs.find(name);
  if (it != call_.node.attrs.end()) return &it->second;
  for (const AttrDef& a : def_.attributes)
    if (a.name == name) return a.fallback ? &*a.fallback : nullptr;
  assert(false && "definition asks for an attribute it does not declare");
  return nullptr;
}

bool OpBuilder::has(int k) const { return k < operand_count() && !operand(k).name.empty(); }

std::int64_t OpBuilder::integer(const std::string& name) const {
  std::int64_t value = 0;
  if (const Attribute* a = attribute(name)) as_integer(*a, &value);
  return value;
}

double OpBuilder::number(const std::string& name) const {
  const Attribute* a = attribute(name);
  return a ? as_number(*a) : 0;
}

std::string OpBuilder::word(const std::string& name) const {
  const Attribute* a = attribute(name);
  const auto* text = a ? std::get_if<std::string>(&a->value) : nullptr;
  return text ? *text : "";
}

std::vector<std::int64_t> OpBuilder::integers(const std::string& name) const {
  std::vector<std::int64_t> list;
  const Attribute* a = attribute(name);
  if (!a) return list;
  std::int64_t value = 0;
  if (const auto* items = std::get_if<std::vector<Attribute>>(&a->value)) {
    for (const Attribute& item : *items)
      if (as_integer(item, &value)) list.push_back(value);
  } else if (as_integer(*a, &value)) {
    list.push_back(value);
  }
  return list;
}

std::vector<double> OpBuilder::numbers(const std::string& name) const {
  std::vector<double> list;
  const Attribute* a = attribute(name);
  if (!a) return list;
  if (const auto* items = std::get_if<std::vector<Attribute>>(&a->value)) {
    for (const Attribute& item : *items) list.push_back(as_number(item));
  } else {
    list.push_back(as_number(*a));
  }
  return list;
}

std::vector<std::string> OpBuilder::words(const std::string& name) const {
  std::vector<std::string> list;
  const Attribute* a = attribute(name);
  const auto* items = a ? std::get_if<std::vector<Attribute>>(&a->value) : nullptr;
  if (items)
    for (const Attribute& item : *items) list.push_back(std::get<std::string>(item.value));
  return list;
}

Shape OpBuilder::dims(const std::string& name) {
  Shape shape;
  const Attribute* a = attribute(name);
  if (!a) return shape;
  std::vector<Attribute> items;
  if (const auto* list = std::get_if<std::vector<Attribute>>(&a->value)) {
    items = *list;
  } else {
    items.push_back(*a);
  }
  for (std::size_t i = 0; i < items.size(); ++i) {
    std::int64_t value = 0;
    if (as_integer(items[i], &value)) {
      shape.push_back(idx(value));
      continue;
    }
    const Place place = call_.node.part("/attrs/" + name + "/" + std::to_string(i));
    std::vector<std::string> symbols;
    for (const Symbol& s : call_.program.symbols) symbols.push_back(s.name);
    Result<ExprPtr> parsed = parse_affine(std::get<std::string>(items[i].value), symbols, place);
    if (!parsed) {
      diagnostics_.insert(diagnostics_.end(), parsed.errors().begin(), parsed.errors().end());
      shape.push_back(idx(1));
    } else {
      shape.push_back(normal(*parsed));
    }
  }
  return shape;
}

DType OpBuilder::dtype_attr(const std::string& name, DType fallback) const {
  DType dtype = fallback;
  dtype_from_text(word(name), &dtype);
  return dtype;
}

int OpBuilder::wrapped_axis(const std::string& name, std::int64_t axis, int rank) {
  if (axis >= -rank && axis < rank) return static_cast<int>(axis < 0 ? axis + rank : axis);
  const std::string allowed = rank == 0 ? "none" : std::to_string(-rank) + ".." + std::to_string(rank - 1);
  fail(Code::kAxisOutOfRange, "/attrs/" + name, {call_.node.op, std::to_string(axis), std::to_string(rank), allowed});
  return 0;
}

int OpBuilder::axis(const std::string& name, int rank) { return wrapped_axis(name, integer(name), rank); }

std::vector<int> OpBuilder::axes(const std::string& name, int rank) {
  std::vector<int> list;
  for (const std::int64_t a : integers(name)) {
    const int w = wrapped_axis(name, a, rank);
    if (failed()) return {};
    if (std::find(list.begin(), list.end(), w) != list.end()) {
      fail(Code::kRepeatedAxis, "/attrs/" + name, {call_.node.op, std::to_string(a), name});
      return {};
    }
    list.push_back(w);
  }
  return list;
}

std::string OpBuilder::fresh(const std::string& hint) {
  std::string name = hint;
  for (int n = 2; !names_.insert(name).second; ++n) name = hint + std::to_string(n);
  return name;
}

Loops OpBuilder::loops(const Shape& shape) {
  static const char* const letters[] = {"i", "j", "k", "l", "m", "n", "o", "p"};
  Loops list;
  for (std::size_t a = 0; a < shape.size(); ++a) list.push_back(loop(a < 8 ? letters[a] : "q", shape[a]));
  return list;
}

void OpBuilder::out(int k, DType dtype, const Shape& shape) {
  Tensor t;
  t.name = "y" + std::to_string(k);
  t.dtype = dtype;
  for (const ExprPtr& e : shape) t.shape.push_back(normal(e));
  t.inferred = true;
  assert(static_cast<std::size_t>(k) == result_.outs.size() && "outputs are declared in order");
  result_.outs.push_back(std::move(t));
}

void OpBuilder::line(const std::string& target, const Loops& left, const std::string& value, const Loops& reduced,
                     const std::vector<std::string>& conditions) {
  std::string text = ref(target, indices_of(left)) + " = " + value;
  for (std::size_t i = 0; i < conditions.size(); ++i) text += (i ? " and " : " where ") + conditions[i];
  bool first = true;
  for (const Loops* list : {&left, &reduced})
    for (const Loop& l : *list) {
      text += (first ? " for " : ", ") + l.name + " in 0.." + to_text(l.extent);
      first = false;
    }
  result_.lines.push_back(std::move(text));
}

std::string OpBuilder::nest_array(const std::string& hint, DType dtype, const Shape& shape) {
  Tensor t;
  t.name = fresh(hint);
  t.dtype = dtype;
  for (const ExprPtr& e : shape) t.shape.push_back(normal(e));
  t.local = t.inferred = true;
  result_.nest_arrays.push_back(t);
  return t.name;
}

void OpBuilder::fail(Code code, const std::string& where, std::vector<std::string> args, std::vector<std::string> notes) {
  diagnostics_.push_back(diagnose(code, call_.node.part(where), std::move(args), std::move(notes)));
}

void OpBuilder::bad_value(const std::string& attribute, const std::string& what) {
  fail(Code::kBadAttributeValue, "/attrs/" + attribute, {call_.node.op, attribute, what});
}

void OpBuilder::bad_shapes(int operand, const std::string& what) {
  fail(Code::kOperandShapes, "/in/" + std::to_string(operand), {call_.node.op, what});
}
void OpBuilder::not_affine(const std::string& what) { fail(Code::kNotAffineOp, "", {call_.node.op, what}); }

bool OpBuilder::expect_rank(int k, int low, int high) {
  const int r = rank(k);
  if (r >= low && (high < 0 || r <= high)) return true;
  std::string expected = std::to_string(low);
  if (high < 0) expected += " or more";
  if (high > low) expected += " to " + std::to_string(high);
  fail(Code::kOperandRank, "/in/" + std::to_string(k), {call_.node.op, operand(k).name, std::to_string(r), expected});
  return false;
}

Result<OpDefinition> OpBuilder::finish() {
  if (failed()) return std::move(diagnostics_);
  // A trailing output that the user left out is not defined at all; an output in the middle keeps its formal name.
  assert(static_cast<int>(result_.outs.size()) >= output_count() && "every named output is declared");
  return std::move(result_);
}

}  // namespace facet
