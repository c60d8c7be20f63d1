// Nodes of a naive program: equations as plain loops, reductions as loops before their use, loop nests as they were written.
#include "src/run/naive/printer.hpp"

#include "src/run/uses.hpp"

namespace facet::naive {

namespace {

std::set<std::string> reserved_words() {
  std::set<std::string> words = c_family_words();
  words.insert(prelude_words().begin(), prelude_words().end());
  return words;
}

std::string for_header(const std::string& name, const std::string& lower, const std::string& upper) {
  return "for (std::int64_t " + name + " = " + lower + "; " + name + " < " + upper + "; ++" + name + ")";
}

}  // namespace

Printer::Printer(const Program& program) : program_(program), names_(reserved_words()) {
  for (const Symbol& s : program.symbols) symbol_name(s.name);
  for (const std::string& name : program.tensor_order) tensor_name(name);
}

std::string Printer::method_name(std::size_t n) {
  const Node& node = program_.nodes[n];
  const std::string& what = node.out.empty() ? node.inout.empty() ? node.op : node.inout.front() : node.out.front();
  return names_.of("method " + std::to_string(n), "compute_" + what);
}

std::string Printer::shape_text(const Tensor& tensor) {
  std::string text;
  for (const ExprPtr& e : tensor.shape) text += (text.empty() ? "" : ", ") + index_text(e);
  return "{" + text + "}";
}

void Printer::print_node(std::size_t n) {
  const Node& node = program_.nodes[n];
  out.open("void " + method_name(n) + "()");
  for (const std::string& name : defined_by(node))
    out.line(tensor_name(name) + ".shape(" + shape_text(program_.tensor(name)) + ");");
  for (const Equation& q : node.equations) print_equation(q);
  element_ = "std::string(\"of a statement\")";
  print_loops(node.loops);
  out.close();
  out.line("");
}

void Printer::print_equation(const Equation& q) {
  out.comment(to_text(q));
  std::string indices;
  std::size_t opened = 0;
  for (const Range& r : q.indices) {
    const std::string name = index_name(r.name);
    out.open(for_header(name, index_text(r.lower), index_text(r.upper)));
    indices += (indices.empty() ? "" : ", ") + name;
    ++opened;
  }
  element_ = "element_name(\"" + q.tensor + "\", {" + indices + "})";
  if (q.indices.empty()) {
    out.open("");
    ++opened;
  }
  for (const ExprPtr& c : q.conditions) {
    out.open("if (" + condition_text(c) + ")");
    ++opened;
  }
  const std::string tensor = tensor_name(q.tensor);
  const std::string computed = value(q.value);  // prints its reductions first
  out.line(tensor + ".set(" + tensor + ".at(" + indices + "), " + computed + ");");
  for (; opened > 0; --opened) out.close();
}

// "Sum<24> sum" and so on: the type and start of an accumulator.
std::string Printer::accumulator(const Expr& e) {
  const Reduction& r = *e.reduction;
  const std::string bits = std::to_string(bits_of(e.type));
  const bool floats = is_float(e.type);
  const std::string type = c_type(e.type);
  const auto fold = [&](const std::string& f, const std::string& start) {
    use(Piece::kFold);
    use(Piece::kIntegers);
    return "fold([](Whole p, Whole q) { return " + f + "; }, " + start + ")";
  };
  const auto limit = [&](const char* which) {
    return "static_cast<std::int64_t>(std::numeric_limits<" + type + ">::" + which + "())";
  };
  switch (r.kind) {
    case ReduceKind::kSum:
      if (floats) return use(Piece::kSum), "Sum<" + bits + ">()";
      return fold("add<" + type + ">(p, q)", "0");
    case ReduceKind::kProd:
      if (floats) return use(Piece::kProduct), "Product<" + bits + ">()";
      return fold("mul<" + type + ">(p, q)", "1");
    case ReduceKind::kMax:
      if (floats) return use(Piece::kExtremum), "Extremum<" + bits + ", 1>()";
      return fold("calc<" + type + ">([](auto s, auto t) { return s > t ? s : t; }, p, q)", limit("min"));
    case ReduceKind::kMin:
      if (floats) return use(Piece::kExtremum), "Extremum<" + bits + ", -1>()";
      return fold("calc<" + type + ">([](auto s, auto t) { return s < t ? s : t; }, p, q)", limit("max"));
    case ReduceKind::kAny: return fold("either(p, q)", "0");
    case ReduceKind::kAll: return fold("both(p, q)", "1");
    default: break;
  }
  use(Piece::kArg);
  const DType body = r.body->type;
  const std::string sign = r.kind == ReduceKind::kArgMax ? "1" : "-1";
  if (is_float(body)) return "ArgReal<" + std::to_string(bits_of(body)) + ", " + sign + ">()";
  return std::string("ArgWhole<") + c_type(body) + ", " + sign + ">()";
}

std::string Printer::reduction_text(const ExprPtr& e) {
  const Reduction& r = *e->reduction;
  const std::string name =
      names_.of("reduction " + std::to_string(reductions_), to_text(r.kind) + "_" + std::to_string(reductions_));
  ++reductions_;
  out.line("auto " + name + " = " + accumulator(*e) + ";");
  std::size_t opened = 0;
  for (const Range& range : r.ranges) {
    out.open(for_header(index_name(range.name), index_text(range.lower), index_text(range.upper)));
    ++opened;
  }
  for (const ExprPtr& c : r.conditions) {
    out.open("if (" + condition_text(c) + ")");
    ++opened;
  }
  const bool arg = r.kind == ReduceKind::kArgMax || r.kind == ReduceKind::kArgMin;
  const std::string body = value(r.body);
  out.line(name + ".add(" + body + (arg ? ", " + index_name(r.ranges[0].name) : "") + ");");
  for (; opened > 0; --opened) out.close();
  return name + ".value()";
}

void Printer::print_assign(const LoopStatement& s) {
  use(Piece::kStores);
  const Tensor& target = program_.tensor(s.target);
  const bool adds = s.update == ReduceKind::kSum && s.operand && is_float(target.dtype);
  const std::string verb = adds ? "accumulate" : "store";
  const std::string text = value(adds ? s.operand : s.value);
  const std::string name = tensor_name(s.target);
  if (target.local && target.shape.empty()) return out.line(name + "." + verb + "(" + text + ");");
  out.line(verb + "(" + name + ", " + name + ".at(" + subscript_list(s.subscripts) + "), " + text + ");");
}

void Printer::print_loops(const LoopBody& body) {
  for (const LoopStatement& s : body) {
    switch (s.kind) {
      case LoopStatement::Kind::kFor: {
        const std::string name = index_name(s.name);
        out.open("for (std::int64_t " + name + " = " + index_text(s.first) + "; " + name + (s.step > 0 ? " < " : " > ") +
                 index_text(s.bound) + "; " + name + " += " + std::to_string(s.step) + ")");
        print_loops(s.body);
        out.close();
        break;
      }
      case LoopStatement::Kind::kIf:
        out.open("if (" + condition_text(s.condition) + ")");
        print_loops(s.body);
        out.close();
        if (s.otherwise.empty()) break;
        out.open("else");
        print_loops(s.otherwise);
        out.close();
        break;
      case LoopStatement::Kind::kBlock:
        out.open("");
        print_loops(s.body);
        out.close();
        break;
      case LoopStatement::Kind::kDeclare:
        use(Piece::kStores);
        out.line("Scalar<" + number_type(program_.tensor(s.name).dtype) + "> " + tensor_name(s.name) + ";");
        if (s.value) out.line(tensor_name(s.name) + ".store(" + value(s.value) + ");");
        break;
      case LoopStatement::Kind::kAssign: print_assign(s); break;
    }
  }
}

}  // namespace facet::naive
