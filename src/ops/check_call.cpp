// Generic checks of an operator call against its record.
#include "src/ops/check_call.hpp"

#include <algorithm>
#include <map>

#include "facet/nearest.hpp"

namespace facet {

namespace {

Place at(const OpCall& call, const std::string& where) { return call.node.part(where); }

std::string counted(std::size_t low, std::size_t high, bool open, const std::string& noun) {
  std::string text = std::to_string(low);
  if (open) {
    text += " or more";
  } else if (high > low) {
    text += " to " + std::to_string(high);
  }
  return text + " " + noun + (text == "1" ? "" : "s");
}

const OperandDef& operand_def(const OpDef& def, std::size_t k) { return def.operands[std::min(k, def.operands.size() - 1)]; }

void check_counts(const OpCall& call, const OpDef& def, Diagnostics* list) {
  const auto required = static_cast<std::size_t>(
      std::count_if(def.operands.begin(), def.operands.end(), [](const OperandDef& o) { return !o.optional; }));
  const std::size_t n = call.operands.size();
  if (n < required || (!def.variadic && n > def.operands.size()))
    list->push_back(diagnose(Code::kOpOperandCount, at(call, "/in"),
                             {def.name, counted(required, def.operands.size(), def.variadic, "operand"), std::to_string(n)}));
  const std::size_t m = call.node.out.size();
  const auto low = static_cast<std::size_t>(def.required_outputs);
  if (m < low || (!def.variadic_outputs && m > def.outputs.size()))
    list->push_back(diagnose(Code::kOpOutputCount, at(call, "/out"),
                             {def.name, counted(low, def.outputs.size(), def.variadic_outputs, "output"), std::to_string(m)}));
  for (std::size_t k = 0; k < n && !def.operands.empty(); ++k)
    if (call.operands[k].name.empty() && !operand_def(def, k).optional)
      list->push_back(diagnose(Code::kOpOperandOmitted, at(call, "/in/" + std::to_string(k)),
                               {def.name, std::to_string(k), operand_def(def, k).name}));
}

bool allows(DTypes set, DType t) {
  switch (set) {
    case DTypes::kAny: return true;
    case DTypes::kNumber: return t != DType::kBool;
    case DTypes::kFloat: return is_float(t);
    case DTypes::kInteger: return is_integer(t);
    case DTypes::kSigned: return is_signed(t);
    case DTypes::kBool: return t == DType::kBool;
  }
  return false;
}

void check_dtypes(const OpCall& call, const OpDef& def, Diagnostics* list) {
  std::map<char, std::size_t> first_of;
  for (std::size_t k = 0; k < call.operands.size(); ++k) {
    const Tensor& t = call.operands[k];
    if (t.name.empty()) continue;
    const OperandDef& o = operand_def(def, k);
    if (!allows(o.dtypes, t.dtype)) {
      list->push_back(diagnose(Code::kOperandDtype, at(call, "/in/" + std::to_string(k)),
                               {def.name, t.name, to_text(t.dtype), to_text(o.dtypes)}, {"convert with the operator cast"}));
      continue;
    }
    const auto [it, is_first] = first_of.emplace(o.group, k);
    const Tensor& other = call.operands[it->second];
    if (!is_first && other.dtype != t.dtype)
      list->push_back(diagnose(Code::kOperandDtypesDiffer, at(call, "/in/" + std::to_string(k)),
                               {def.name, other.name, to_text(other.dtype), t.name, to_text(t.dtype)},
                               {"convert one of them with the operator cast"}));
  }
}

std::string kind_text(AttrKind kind) {
  switch (kind) {
    case AttrKind::kInt: return "an integer";
    case AttrKind::kFloat: return "a number";
    case AttrKind::kFlag: return "0 or 1";
    case AttrKind::kText: return "a text";
    case AttrKind::kInts: return "a list of integers";
    case AttrKind::kFloats: return "a list of numbers";
    case AttrKind::kTexts: return "a list of texts";
    case AttrKind::kDims: return "a list of integers or shape texts";
    case AttrKind::kDType: return "a dtype such as \"f32\"";
  }
  return "";
}

bool is_int(const Attribute& a) { return std::holds_alternative<std::int64_t>(a.value); }
bool is_number(const Attribute& a) { return is_int(a) || std::holds_alternative<double>(a.value); }
bool is_text(const Attribute& a) { return std::holds_alternative<std::string>(a.value); }

template <class F>
bool list_or_one(const Attribute& a, const F& fits) {
  const auto* items = std::get_if<std::vector<Attribute>>(&a.value);
  return items ? std::all_of(items->begin(), items->end(), fits) : fits(a);
}

bool fits(const Attribute& a, AttrKind kind) {
  switch (kind) {
    case AttrKind::kInt: return is_int(a);
    case AttrKind::kFloat: return is_number(a);
    case AttrKind::kFlag: {
      const auto* i = std::get_if<std::int64_t>(&a.value);
      return std::holds_alternative<bool>(a.value) || (i && (*i == 0 || *i == 1));
    }
    case AttrKind::kText: return is_text(a);
    case AttrKind::kInts: return list_or_one(a, is_int);
    case AttrKind::kFloats: return list_or_one(a, is_number);
    case AttrKind::kTexts: return std::holds_alternative<std::vector<Attribute>>(a.value) && list_or_one(a, is_text);
    case AttrKind::kDims: return list_or_one(a, [](const Attribute& x) { return is_int(x) || is_text(x); });
    case AttrKind::kDType: {
      DType dtype;
      return is_text(a) && dtype_from_text(std::get<std::string>(a.value), &dtype);
    }
  }
  return false;
}

void check_attributes(const OpCall& call, const OpDef& def, Diagnostics* list) {
  std::vector<std::string> names;
  for (const AttrDef& a : def.attributes) names.push_back(a.name);
  for (const auto& [name, value] : call.node.attrs) {
    const auto it = std::find(names.begin(), names.end(), name);
    const Place place = at(call, "/attrs/" + name);
    if (it == names.end()) {
      std::vector<std::string> notes = did_you_mean(name, names);
      std::string known;
      for (const std::string& n : names) known += (known.empty() ? "" : ", ") + n;
      notes.push_back(names.empty() ? def.name + " has no attributes" : "its attributes: " + known);
      list->push_back(diagnose(Code::kUnknownAttribute, place, {def.name, name}, notes));
      continue;
    }
    const AttrDef& a = def.attributes[static_cast<std::size_t>(it - names.begin())];
    if (!fits(value, a.kind)) {
      list->push_back(diagnose(Code::kBadAttributeKind, place, {def.name, name, kind_text(a.kind), to_text(value)}));
      continue;
    }
    if (a.choices.empty()) continue;
    const std::string& word = std::get<std::string>(value.value);
    if (std::find(a.choices.begin(), a.choices.end(), word) != a.choices.end()) continue;
    std::string choices;
    for (const std::string& c : a.choices) choices += (choices.empty() ? "" : ", ") + ("\"" + c + "\"");
    list->push_back(diagnose(Code::kBadAttributeValue, place, {def.name, name, "\"" + word + "\" is not one of " + choices}));
  }
  for (const AttrDef& a : def.attributes)
    if (!a.fallback && !a.optional && !call.node.attrs.count(a.name))
      list->push_back(diagnose(Code::kMissingAttribute, at(call, "/attrs"), {def.name, a.name, kind_text(a.kind)}));
}

}  // namespace

Diagnostics check_call(const OpCall& call, const OpDef& def) {
  Diagnostics list;
  check_counts(call, def, &list);
  if (!def.operands.empty()) check_dtypes(call, def, &list);
  check_attributes(call, def, &list);
  return list;
}

}  // namespace facet
