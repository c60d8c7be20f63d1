// One walk over equations and nests for each fact. The kinds of a nest's arrays grow until nothing changes: the chain of kinds
// is short, so this ends after a few rounds.
#include "src/graph/op_facts.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "facet/expr_facts.hpp"
#include "src/graph/elaborate.hpp"
#include "src/ops/samples.hpp"

namespace facet {

namespace {

class Gradients {
 public:
  explicit Gradients(const Program& program) {
    for (const std::string& name : program.inputs)
      if (is_float(program.tensor(name).dtype)) {
        kinds_[name] = Gradient::kLinear;
        moving_.insert(name);
      }
  }

  void node(const Node& n) {
    for (const Equation& q : n.equations) assign(q.tensor, q.value);
    do {
      changed_ = false;
      nest(n.loops);
    } while (changed_);
  }
  Gradient kind(const std::string& tensor) const {
    const auto it = kinds_.find(tensor);
    return it == kinds_.end() ? Gradient::kNone : it->second;
  }

 private:
  void assign(const std::string& tensor, const ExprPtr& value) {
    Gradient& known = kinds_.emplace(tensor, Gradient::kNone).first->second;
    const Gradient g = of(value);
    changed_ = changed_ || g > known;
    known = std::max(known, g);
    if (depends(value)) changed_ = moving_.insert(tensor).second || changed_;
  }

  void nest(const LoopBody& body) {
    for (const LoopStatement& s : body) {
      if (s.kind == LoopStatement::Kind::kAssign) assign(s.target, s.value);
      if (s.kind == LoopStatement::Kind::kDeclare && s.value) assign(s.name, s.value);
      nest(s.body);
      nest(s.otherwise);
    }
  }

  // `g`, and at least `least` where it depends on an input at all.
  static Gradient at_least(Gradient g, Gradient least) { return g == Gradient::kNone ? g : std::max(g, least); }

  // Does the value, of any dtype, change with a float input?
  bool depends(const ExprPtr& e) const {
    bool found = false;
    walk(e, [&](const Expr& x) { found = found || (x.op == Op::kRead && moving_.count(x.name) > 0); });
    return found;
  }

  Gradient strongest(const Expr& e) const {
    Gradient g = Gradient::kNone;
    for (const ExprPtr& a : e.args) g = std::max(g, of(a));
    return g;
  }

  Gradient of(const ExprPtr& pointer) const {
    const Expr& e = *pointer;
    if (!is_float(e.type)) return Gradient::kNone;
    switch (e.op) {
      case Op::kRead: return read(e);
      case Op::kReduce: return reduction(*e.reduction);
      case Op::kFloor:
      case Op::kCeil:
      case Op::kRound:
      case Op::kTrunc:
      case Op::kSign: return Gradient::kNone;
      case Op::kAbs:
      case Op::kFMod:
      case Op::kMin:
      case Op::kMax:
      case Op::kCFMin:
      case Op::kCFMax: return at_least(strongest(e), Gradient::kPiecewise);
      case Op::kMul:
        return std::min(of(e.args[0]), of(e.args[1])) == Gradient::kNone ? strongest(e)
                                                                         : at_least(strongest(e), Gradient::kSmooth);
      case Op::kDiv: return of(e.args[1]) == Gradient::kNone ? of(e.args[0]) : at_least(strongest(e), Gradient::kSmooth);
      case Op::kSelect: {
        const Gradient g = std::max(of(e.args[1]), of(e.args[2]));
        return depends(e.args[0]) ? at_least(g, Gradient::kPiecewise) : g;
      }
      case Op::kCast:
      case Op::kNeg:
      case Op::kAdd:
      case Op::kSub: return strongest(e);
      default: return at_least(strongest(e), Gradient::kSmooth);
    }
  }

  Gradient read(const Expr& e) const {
    const bool chosen = std::any_of(e.args.begin(), e.args.end(), [](const ExprPtr& a) {
      bool data = false;
      walk(a, [&](const Expr& x) { data = data || x.op == Op::kRead; });
      return data;
    });
    if (!chosen) return kind(e.name);
    const bool by_value = std::any_of(e.args.begin(), e.args.end(), [&](const ExprPtr& a) { return depends(a); });
    return at_least(kind(e.name), by_value ? Gradient::kPiecewise : Gradient::kSelected);
  }

  Gradient reduction(const Reduction& r) const {
    const Gradient g = of(r.body);
    if (r.kind == ReduceKind::kSum) return g;
    return at_least(g, r.kind == ReduceKind::kProd ? Gradient::kSmooth : Gradient::kPiecewise);
  }

  std::map<std::string, Gradient> kinds_;
  std::set<std::string> moving_;  // tensors of any dtype that change with a float input
  bool changed_ = false;
};

// Counts with the text of how they come about.
struct Count {
  double total = 0;
  std::string text;

  void add(double number, const std::string& formula) {
    if (number == 0) return;
    total += number;
    text += (text.empty() ? "" : " + ") + formula;
  }
};

std::string number(double v) { return std::to_string(static_cast<long long>(std::llround(v))); }

class Flops {
 public:
  Count body(const LoopBody& statements) {
    Count c;
    for (const LoopStatement& s : statements) {
      if (s.kind == LoopStatement::Kind::kFor) {
        const bool up = s.step > 0;
        const double points =
            std::ceil(enter(s.name, up ? s.first : s.bound, up ? s.bound : s.first) / static_cast<double>(std::abs(s.step)));
        const Count inner = body(s.body);
        c.add(points * inner.total, number(points) + " * (" + inner.text + ")");
        continue;
      }
      if (s.value) {
        const Count value = of(s.value);
        c.add(value.total, value.text);
      }
      const Count inner = body(s.body), otherwise = body(s.otherwise);
      const Count& larger = inner.total < otherwise.total ? otherwise : inner;
      c.add(larger.total, larger.text);
    }
    return c;
  }

  Count equation(const Equation& q) {
    std::string text;
    double points = 1;
    for (const Range& r : q.indices) {
      const double n = enter(r.name, r.lower, r.upper);
      points *= n;
      text += number(n) + " * ";
    }
    const Count value = of(q.value);
    Count c;
    c.add(points * value.total, text + (text.empty() ? value.text : "(" + value.text + ")"));
    return c;
  }

 private:
  // The points of a range; its middle is what ranges inside it see.
  double enter(const std::string& name, const ExprPtr& lower, const ExprPtr& upper) {
    const std::int64_t low = evaluate_index(lower, at_), high = evaluate_index(upper, at_);
    at_[name] = low + std::max<std::int64_t>(high - low, 0) / 2;
    return static_cast<double>(std::max<std::int64_t>(high - low, 0));
  }

  Count of(const ExprPtr& e) {
    Count c;
    double own = 0;
    collect(e, &own, &c);
    Count whole;
    whole.add(own, number(own));
    whole.add(c.total, c.text);
    return whole;
  }

  void collect(const ExprPtr& e, double* own, Count* reductions) {
    if (e->op == Op::kRead) return;
    if (e->op == Op::kReduce) {
      const Reduction& r = *e->reduction;
      double points = 1;
      std::string text;
      for (const Range& range : r.ranges) {
        const double n = enter(range.name, range.lower, range.upper);
        points *= n;
        text += number(n) + " * ";
      }
      Count term;
      double inner = 1;  // the reduction's own operation
      collect(r.body, &inner, &term);
      Count whole;
      whole.add(inner, number(inner));
      whole.add(term.total, term.text);
      return reductions->add(points * whole.total, text + (term.total > 0 ? "(" + whole.text + ")" : whole.text));
    }
    bool data = false;  // index arithmetic has none
    walk(e, [&](const Expr& x) { data = data || x.op == Op::kRead || x.op == Op::kReduce; });
    if (data && e->op != Op::kCast) *own += is_function(e->op) ? kFunctionOperations : 1;
    for (const ExprPtr& a : e->args) collect(a, own, reductions);
  }

  SymbolValues at_;
};

}  // namespace

std::string to_text(Gradient gradient) {
  static const char* const names[] = {"none", "linear", "selected", "smooth", "piecewise"};
  return names[static_cast<int>(gradient)];
}

Gradient gradient_of(const Program& program) {
  Gradients gradients(program);
  for (const Node& n : program.nodes) gradients.node(n);
  Gradient strongest = Gradient::kNone;
  for (const std::string& name : program.outputs) strongest = std::max(strongest, gradients.kind(name));
  return strongest;
}

Gradient gradient_of(const OpDef& op) {
  if (op.gradient) return *op.gradient;
  Gradient strongest = Gradient::kNone;
  for (const OpSample& sample : op.samples) {
    const Result<Program> written = sample_program(op, sample);
    if (!written) continue;
    const Result<Program> program = elaborate(*written);
    if (program) strongest = std::max(strongest, gradient_of(*program));
  }
  return strongest;
}

FlopCount flops_of(const Program& program) {
  Flops flops;
  Count all;
  for (const Node& n : program.nodes) {
    for (const Equation& q : n.equations) {
      const Count c = flops.equation(q);
      all.add(c.total, c.text);
    }
    const Count nest = flops.body(n.loops);
    all.add(nest.total, nest.text);
  }
  return {all.text.empty() ? "0" : all.text, all.total};
}

}  // namespace facet
