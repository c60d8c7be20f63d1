// Markdown of the operator table: families, then one section per operator with operands, attributes and the equations of a
// sample.
#include "src/ops/docs.hpp"

#include <map>

#include "src/graph/elaborate.hpp"
#include "src/graph/op_facts.hpp"
#include "src/ops/samples.hpp"

namespace facet {

namespace {

constexpr const char* kIntroduction =
    "# Operators\n"
    "\n"
    "This page is written from the operator table; a test compares the two (`FACET_BLESS=1` writes it anew).\n"
    "\n"
    "An operator is a function from operand shapes, dtypes and attributes to equations. The equations below are those of the sample\n"
    "shown: `a0`, `a1`, ... are the operands, `y0`, `y1`, ... the outputs, other names are local arrays. Every other stage (shapes,\n"
    "reference, schedule, generated code) reads only the equations.\n"
    "\n"
    "Rules for all operators:\n"
    "\n"
    "- Names, attributes and defaults are ONNX's in snake_case; what ONNX passes as a constant input is an attribute.\n"
    "- Operands of one letter have one dtype; nothing converts silently. Shapes broadcast as numpy's where the operator is elementwise.\n"
    "- Negative axes count from the end. `\"\"` stands for an omitted optional operand; trailing outputs may be left out.\n"
    "- Sums and products accumulate in at least f32, sums of 8-bit integers in i32 (and give i32); `acc` names another accumulator.\n"
    "- f16 and bf16 are computed in f32 where an operator has constants or functions, and rounded once at the end.\n"
    "- Integers wrap. Division by zero gives 0. Indices of gathers wrap once when negative and are then clamped.\n"
    "- Gradient says how the outputs depend on float operands: *none* (not at all, or flat almost everywhere), *linear* (the gradient\n"
    "  needs no values), *selected* (linear in elements that integer operands choose), *smooth*, *piecewise* (smooth but at the edges\n"
    "  of max, min, abs or a choice by value). It and the operations of the sample (functions count as 10) follow from the equations.\n"
    "- Accuracy says how far a kernel may be from the reference: *exact*, *map* (a few roundings of one element) or *sum* (roundings\n"
    "  that grow with the number of terms).\n";

std::string kind_text(AttrKind kind) {
  switch (kind) {
    case AttrKind::kInt: return "integer";
    case AttrKind::kFloat: return "number";
    case AttrKind::kFlag: return "0 or 1";
    case AttrKind::kText: return "text";
    case AttrKind::kInts: return "integers";
    case AttrKind::kFloats: return "numbers";
    case AttrKind::kTexts: return "texts";
    case AttrKind::kDims: return "integers or shape texts";
    case AttrKind::kDType: return "dtype";
  }
  return "";
}

std::string tolerance_text(Tolerance t) { return t == Tolerance::kExact ? "exact" : t == Tolerance::kMap ? "map" : "sum"; }

std::string fallback_text(const AttrDef& a) {
  if (a.fallback) return "`" + to_text(*a.fallback) + "`";
  return a.optional ? "absent" : "required";
}

std::string attributes_text(const OpDef& op) {
  if (op.attributes.empty()) return "";
  std::string text = "\n| attribute | value | default | meaning |\n| --- | --- | --- | --- |\n";
  for (const AttrDef& a : op.attributes) {
    std::string doc = a.doc;
    for (std::size_t i = 0; i < a.choices.size(); ++i) doc += (i ? ", " : ": ") + ("`" + a.choices[i] + "`");
    text += "| `" + a.name + "` | " + kind_text(a.kind) + " | " + fallback_text(a) + " | " + doc + " |\n";
  }
  return text;
}

std::string operands_text(const OpDef& op) {
  std::string text;
  for (const OperandDef& o : op.operands)
    text += (text.empty() ? "" : "; ") + ("`" + o.name + "`" + (o.optional ? " (optional)" : "") + ": " + to_text(o.dtypes) +
                                          ", " + std::string(1, o.group));
  if (op.variadic) text += "; the last one may repeat";
  return text;
}

// "`4 * 3 * (5 * 2)` = 120", or the number alone where the formula is long.
std::string flops_text(const OpDef& op) {
  constexpr std::size_t kLongest = 90;
  const Result<Program> written = sample_program(op, op.samples[0]);
  const Result<Program> program = written ? elaborate(*written) : written;
  if (!program) return "";
  const FlopCount count = flops_of(*program);
  const std::string total = std::to_string(static_cast<long long>(count.total));
  return count.formula.size() > kLongest || count.formula == total ? total : "`" + count.formula + "` = " + total;
}

// A node of a program that uses the sample.
std::string usage_text(const OpDef& op) {
  const OpSample& sample = op.samples[0];
  std::string in, out, attrs;
  for (std::size_t k = 0; k < sample.operands.size(); ++k)
    in += (in.empty() ? "" : ", ") + (sample.operands[k].empty() ? "\"\"" : "\"x" + std::to_string(k) + "\"");
  for (int k = 0; k < outputs_of(op, sample); ++k) out += (k ? ", " : "") + ("\"z" + std::to_string(k) + "\"");
  for (const auto& [name, value] : sample.attrs) attrs += (attrs.empty() ? "" : ", ") + ("\"" + name + "\": " + to_text(value));
  return "{\"op\": \"" + op.name + "\", \"in\": [" + in + "], \"out\": [" + out + "]" +
         (attrs.empty() ? "" : ", \"attrs\": {" + attrs + "}") + "}";
}

std::string example_text(const OpDef& op, const OpSample& sample) {
  const Result<Program> program = sample_program(op, sample);
  if (!program) return "";
  const Result<OpDefinition> d = define(call_of(*program, program->nodes[0]));
  if (!d) return "";
  std::string in;
  for (const std::string& o : sample.operands) in += (in.empty() ? "" : ", ") + (o.empty() ? "omitted" : o);
  std::string text = "\n`" + usage_text(op) + "` on " + in + ":\n\n```\n";
  constexpr std::size_t kMostLines = 30;  // selections of many have many alike
  std::vector<std::string> lines = d->lines;
  lines.insert(lines.end(), d->nest.begin(), d->nest.end());
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (i == kMostLines) {
      text += "... " + std::to_string(lines.size() - i) + " more\n";
      break;
    }
    text += lines[i] + "\n";
  }
  return text + "```\n";
}

std::string section(const OpDef& op) {
  std::string text = "\n### `" + op.name + "`\n\n" + op.summary + "\n";
  if (!op.aliases.empty()) {
    text += "Also called";
    for (std::size_t i = 0; i < op.aliases.size(); ++i) text += (i ? ", `" : " `") + op.aliases[i] + "`";
    text += ".\n";
  }
  text += "\n- Operands: " + operands_text(op) + "\n- Outputs:";
  for (std::size_t i = 0; i < op.outputs.size(); ++i)
    text += (i ? ", `" : " `") + op.outputs[i] + "`" + (static_cast<int>(i) >= op.required_outputs ? " (optional)" : "");
  text += std::string(op.variadic_outputs ? ", as many as named" : "") + "\n- Accuracy: " + tolerance_text(op.tolerance) +
          "\n- Gradient: " + to_text(gradient_of(op)) + "\n- Operations of the sample: " + flops_text(op) + "\n";
  return text + attributes_text(op) + (op.samples.empty() ? "" : example_text(op, op.samples[0]));
}

}  // namespace

std::string operators_markdown() {
  std::map<std::string, std::vector<const OpDef*>> families;
  for (const OpDef* op : all_ops()) families[op->family].push_back(op);
  std::string text = kIntroduction;
  text += "\n| family | operators |\n| --- | --- |\n";
  for (const auto& [family, ops] : families) {
    text += "| " + family + " |";
    for (const OpDef* op : ops) text += " [`" + op->name + "`](#" + op->name + ")";
    text += " |\n";
  }
  for (const auto& [family, ops] : families) {
    text += "\n## Family " + family + "\n";
    for (const OpDef* op : ops) text += section(*op);
  }
  return text;
}

}  // namespace facet
