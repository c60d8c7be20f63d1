// Evaluation of index expressions, and the text of an elaborated program (stage "graph").
#include "facet/program.hpp"

#include <algorithm>
#include <cassert>

#include "src/core/saturate.hpp"

namespace facet {

namespace {

std::int64_t floor_div(std::int64_t a, std::int64_t b) {
  if (b == 0) return 0;
  const std::int64_t q = a / b;
  return (a % b != 0 && ((a < 0) != (b < 0))) ? q - 1 : q;
}

std::string join(const std::vector<std::string>& items) {
  std::string text;
  for (const std::string& item : items) text += (text.empty() ? "" : ", ") + item;
  return text;
}

std::string shape_text(const Tensor& t) {
  std::string text;
  for (const ExprPtr& e : t.shape) text += (text.empty() ? "" : ", ") + to_text(e);
  return to_text(t.dtype) + "[" + text + "]";
}

std::string loop_text(const LoopStatement& s, int indent) {
  const std::string pad(static_cast<std::size_t>(indent) * 2, ' ');
  switch (s.kind) {
    case LoopStatement::Kind::kFor:
      return pad + "for " + s.name + " from " + to_text(s.first) + (s.step > 0 ? " below " : " above ") + to_text(s.bound) +
             (s.step == 1 ? "" : " step " + std::to_string(s.step)) + "\n" + to_text(s.body, indent + 1);
    case LoopStatement::Kind::kIf:
      return pad + "if " + to_text(s.condition) + "\n" + to_text(s.body, indent + 1) +
             (s.otherwise.empty() ? "" : pad + "else\n" + to_text(s.otherwise, indent + 1));
    case LoopStatement::Kind::kDeclare: return pad + "scalar " + s.name + (s.value ? " = " + to_text(s.value) : "") + "\n";
    case LoopStatement::Kind::kBlock: return pad + "block\n" + to_text(s.body, indent + 1);
    case LoopStatement::Kind::kAssign: break;
  }
  std::string subscripts;
  for (const ExprPtr& e : s.subscripts) subscripts += (subscripts.empty() ? "" : ", ") + to_text(e);
  return pad + s.target + "[" + subscripts + "] = " + to_text(s.value) + "\n";
}

}  // namespace

Place Node::part(const std::string& where) const {
  if (parts.empty()) {  // not read from a text
    Place at = place;
    if (!at.pointer.empty()) at.pointer += where;
    return at;
  }
  for (std::string prefix = where; !prefix.empty(); prefix.resize(prefix.rfind('/')))
    if (const auto it = parts.find(prefix); it != parts.end()) return it->second;
  return place;
}

std::int64_t evaluate_index(const ExprPtr& e, const SymbolValues& values) {
  const auto arg = [&](int i) { return evaluate_index(e->args[static_cast<std::size_t>(i)], values); };
  const auto wide = [&](int i) { return WideInt{arg(i)}; };
  switch (e->op) {
    case Op::kLiteral: return is_float(e->type) ? static_cast<std::int64_t>(e->float_value) : e->int_value;
    case Op::kIndex: {
      const auto it = values.find(e->name);
      assert(it != values.end() && "index without a value");
      return it == values.end() ? 0 : it->second;
    }
    case Op::kNeg: return saturated(-wide(0));
    case Op::kNot: return !arg(0);
    case Op::kAbs: return saturated(wide(0) < 0 ? -wide(0) : wide(0));
    case Op::kCast: return arg(0);
    case Op::kAdd: return saturated(wide(0) + wide(1));
    case Op::kSub: return saturated(wide(0) - wide(1));
    case Op::kMul: return saturated(wide(0) * wide(1));
    case Op::kFloorDiv: return arg(1) == -1 ? saturated(-wide(0)) : floor_div(arg(0), arg(1));
    case Op::kFloorMod: {
      const std::int64_t b = arg(1);
      return b == 0 || b == -1 ? 0 : arg(0) - b * floor_div(arg(0), b);
    }
    case Op::kTruncDiv: return arg(1) == 0 ? 0 : arg(1) == -1 ? saturated(-wide(0)) : arg(0) / arg(1);
    case Op::kTruncMod: return arg(1) == 0 || arg(1) == -1 ? 0 : arg(0) % arg(1);
    case Op::kMin: return std::min(arg(0), arg(1));
    case Op::kMax: return std::max(arg(0), arg(1));
    case Op::kLt: return arg(0) < arg(1);
    case Op::kLe: return arg(0) <= arg(1);
    case Op::kGt: return arg(0) > arg(1);
    case Op::kGe: return arg(0) >= arg(1);
    case Op::kEq: return arg(0) == arg(1);
    case Op::kNe: return arg(0) != arg(1);
    case Op::kAnd: return arg(0) && arg(1);
    case Op::kOr: return arg(0) || arg(1);
    case Op::kXor: return (arg(0) != 0) != (arg(1) != 0);
    case Op::kSelect: return arg(0) ? arg(1) : arg(2);
    default: assert(false && "not an index expression"); return 0;
  }
}

std::vector<std::int64_t> extents_of(const Tensor& tensor, const SymbolValues& values) {
  std::vector<std::int64_t> extents;
  for (const ExprPtr& e : tensor.shape) extents.push_back(evaluate_index(e, values));
  return extents;
}

std::string to_text(const Equation& q) {
  std::string names, ranges, where;
  for (const Range& r : q.indices) {
    names += (names.empty() ? "" : ", ") + r.name;
    ranges += (ranges.empty() ? " for " : ", ") + r.name + " in " + to_text(r.lower) + ".." + to_text(r.upper);
  }
  for (const ExprPtr& c : q.conditions) where += (where.empty() ? " where " : " and ") + to_text(c);
  return q.tensor + "[" + names + "] = " + to_text(q.value) + where + ranges;
}

std::string to_text(const LoopBody& body, int indent) {
  std::string text;
  for (const LoopStatement& s : body) text += loop_text(s, indent);
  return text;
}

std::string to_text(const Program& p) {
  std::string text = "program " + p.name + "\n";
  for (const Symbol& s : p.symbols)
    text += "symbol " + s.name + " in " + std::to_string(s.min) + ".." + std::to_string(s.max) + " default " +
            std::to_string(s.value) + "\n";
  for (const ExprPtr& a : p.assumptions) text += "assume " + to_text(a) + "\n";
  for (const std::string& name : p.tensor_order) {
    const Tensor& t = p.tensor(name);
    text += (t.data ? "constant " : t.local ? "local " : "tensor ") + name + ": " + shape_text(t) + "\n";
  }
  text += "inputs " + join(p.inputs) + "\n";
  for (const Node& n : p.nodes) {
    text += n.op + "(" + join(n.in) + ") -> " + join(n.out.empty() ? n.inout : n.out) + "\n";
    for (const Equation& q : n.equations) text += "  " + to_text(q) + "\n";
    text += to_text(n.loops, 1);
  }
  return text + "outputs " + join(p.outputs) + "\n";
}

}  // namespace facet
