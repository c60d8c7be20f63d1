// The walk over the nodes: operators by the table, compute and loops by their texts.
#include "src/graph/elaborate.hpp"

#include <algorithm>
#include <set>

#include "facet/loop_walk.hpp"
#include "src/frontend/affine.hpp"
#include "src/frontend/equations.hpp"
#include "src/frontend/loops.hpp"
#include "src/frontend/shape_bounds.hpp"
#include "src/graph/depth.hpp"
#include "src/graph/scalar_operands.hpp"
#include "src/ops/op_table.hpp"

namespace facet {

namespace {

std::string shape_text(const Tensor& t) {
  std::string text;
  for (const ExprPtr& e : t.shape) text += (text.empty() ? "" : ", ") + to_text(e);
  return to_text(t.dtype) + "[" + text + "]";
}

bool same_shape(const Tensor& a, const Tensor& b) {
  if (a.shape.size() != b.shape.size()) return false;
  for (std::size_t i = 0; i < a.shape.size(); ++i)
    if (constant_difference(a.shape[i], b.shape[i]) != 0) return false;
  return true;
}

class Elaborator {
 public:
  explicit Elaborator(const Program& program) : program_(program) {}

  Result<Program> run() {
    for (Node& node : program_.nodes) {
      const bool passed_over = reads_broken(node);
      const std::size_t before = errors_.size();
      if (passed_over)
        known_op(node);
      else
        visit(&node);
      if (!passed_over && errors_.size() == before) check_depth(node);
      if (!passed_over && errors_.size() == before) continue;
      broken_.insert(node.out.begin(), node.out.end());
    }
    if (!errors_.empty()) return std::move(errors_);
    return std::move(program_);
  }

 private:
  bool reads_broken(const Node& node) const {
    const auto broken = [&](const std::string& name) { return broken_.count(name) > 0; };
    return std::any_of(node.in.begin(), node.in.end(), broken) || std::any_of(node.inout.begin(), node.inout.end(), broken);
  }

  void visit(Node* node) {
    if (node->op == "compute") return compute(node);
    if (node->op == "loops") return loops(node);
    operation(node);
  }

  void check_depth(const Node& node) {
    const std::size_t depth = loop_depth(node);
    if (depth <= kMostLoops) return;
    errors_.push_back(diagnose(Code::kTooManyLoops, node.place,
                               {"op \"" + node.op + "\"", std::to_string(depth), std::to_string(kMostLoops)},
                               {"do it in parts: several nests, or dimensions joined by a reshape before it"}));
  }

  void complain(const Diagnostics& list) { errors_.insert(errors_.end(), list.begin(), list.end()); }

  static std::string prefix_of(const Node& node) {
    if (!node.out.empty()) return node.out[0];
    return node.inout.empty() ? "op" : node.inout[0];
  }

  void compute(Node* node) {
    EquationContext context;
    context.program = &program_;
    for (const std::string& name : node->in) {
      const auto it = program_.tensors.find(name);
      if (it != program_.tensors.end()) context.tensors[name] = &it->second;
    }
    context.outs = node->out;
    for (const std::string& name : node->out)
      if (program_.tensors.at(name).declared) context.declared[name] = &program_.tensors.at(name);
    context.local_prefix = prefix_of(*node);
    context.place = node->place;
    context.line_places = node->text_places;
    if (!accumulator(*node, &context.accumulate)) return;
    Result<ParsedEquations> parsed = parse_equations(node->text, context);
    if (!parsed) return complain(parsed.errors());
    for (auto& [name, tensor] : parsed->outs) define_out(*node, tensor.name, tensor.dtype, tensor.shape);
    keep_locals(*node, std::move(parsed->locals));
    node->equations = std::move(parsed->equations);
  }

  // attrs of compute: only "acc", the dtype of accumulators.
  bool accumulator(const Node& node, std::optional<DType>* out) {
    for (const auto& [name, attribute] : node.attrs) {
      DType dtype = DType::kF32;
      const std::string* text = std::get_if<std::string>(&attribute.value);
      if (name != "acc") {
        errors_.push_back(
            diagnose(Code::kUnknownAttribute, node.part("/attrs/" + name), {node.op, name}, {"compute takes \"acc\" only"}));
        return false;
      }
      if (!text || !dtype_from_text(*text, &dtype) || dtype == DType::kBool) {
        errors_.push_back(
            diagnose(Code::kBadAttributeValue, node.part("/attrs/acc"), {node.op, name, "expected a dtype like \"f64\""}));
        return false;
      }
      *out = dtype;
    }
    return true;
  }

  void loops(Node* node) {
    LoopContext context;
    context.program = &program_;
    context.in = node->in;
    context.inout = node->inout;
    context.out = node->out;
    context.local_prefix = prefix_of(*node);
    context.place = node->place;
    context.line_places = node->text_places;
    Result<ParsedLoops> parsed = parse_loops(node->text, context);
    if (!parsed) return complain(parsed.errors());
    for (const std::string& name : node->out) program_.tensors.at(name).inferred = true;
    keep_locals(*node, std::move(parsed->locals));
    node->loops = std::move(parsed->body);
  }

  // A misspelt name is said also where nothing else can be.
  const OpDef* known_op(const Node& node) {
    if (node.op == "compute" || node.op == "loops") return nullptr;
    const OpDef* op = find_op(node.op);
    if (!op) errors_.push_back(unknown_op(node.op, node.part("/op")));
    return op;
  }

  void operation(Node* node) {
    const OpDef* op = known_op(*node);
    if (!op) return;
    if (const Result<Done> r = give_scalars_dtypes(*node, *op, &program_); !r) return complain(r.errors());
    OpCall call{*node, {}, program_};
    for (const std::string& name : node->in) call.operands.push_back(name.empty() ? Tensor{} : program_.tensors.at(name));
    Result<OpDefinition> definition = define(call);
    if (!definition) return complain(definition.errors());
    expand(node, *definition);
  }

  // The operator's equations, with the program's names for a0, a1, ... and y0, y1, ...
  void expand(Node* node, const OpDefinition& definition) {
    EquationContext context;
    context.program = &program_;
    for (std::size_t k = 0; k < node->in.size(); ++k)
      if (!node->in[k].empty()) context.tensors["a" + std::to_string(k)] = &program_.tensors.at(node->in[k]);
    const std::size_t before = errors_.size();
    std::vector<Tensor> outs(node->out.size());
    std::map<std::string, std::string> by_nest;  // formal -> name
    for (std::size_t k = 0; k < node->out.size() && k < definition.outs.size(); ++k) {
      const std::string formal = "y" + std::to_string(k);
      if (node->out[k].empty()) continue;
      define_out(*node, node->out[k], definition.outs[k].dtype, definition.outs[k].shape);
      outs[k] = definition.outs[k];
      outs[k].name = node->out[k];
      if (std::count(definition.nest_outs.begin(), definition.nest_outs.end(), formal)) {
        by_nest[formal] = node->out[k];
        continue;
      }
      context.outs.push_back(formal);
      context.declared[formal] = &outs[k];
    }
    if (errors_.size() > before) return;
    context.local_prefix = prefix_of(*node);
    context.place = node->place;
    context.operator_text = true;
    if (!definition.lines.empty()) {
      Result<ParsedEquations> parsed = parse_equations(definition.lines, context);
      if (!parsed) return broken_operator(*node, "equations", parsed.errors()[0]);
      keep_locals(*node, std::move(parsed->locals));
      node->equations = std::move(parsed->equations);
      for (Equation& equation : node->equations) equation.place = node->place;
    }
    if (!definition.nest.empty()) expand_nest(node, definition, by_nest);
  }

  void broken_operator(const Node& node, const std::string& what, const Diagnostic& why) {
    errors_.push_back(diagnose(Code::kInternalError, node.place, {"the " + what + " of operator " + node.op, why.message},
                               {why.place.excerpt}));
  }

  // The operator's nest, read over the formals in a program of its own, then given the names of this one.
  void expand_nest(Node* node, const OpDefinition& definition, std::map<std::string, std::string> actual) {
    Program formals;
    formals.symbols = program_.symbols;
    formals.assumptions = program_.assumptions;
    LoopContext context;
    context.program = &formals;
    const std::string prefix = prefix_of(*node) + ".";
    const auto add = [&](const std::string& formal, const std::string& name, std::vector<std::string>* role) {
      actual[formal] = name;
      formals.tensors[formal] = program_.tensors.at(name);
      formals.tensors[formal].name = formal;
      role->push_back(formal);
    };
    for (const auto& [formal, name] : std::map(actual)) add(formal, name, &context.out);
    for (std::size_t k = 0; k < node->in.size(); ++k)
      if (!node->in[k].empty()) add("a" + std::to_string(k), node->in[k], &context.in);
    for (const Equation& q : node->equations)
      if (q.tensor.rfind(prefix, 0) == 0 && !actual.count(q.tensor.substr(prefix.size())))
        add(q.tensor.substr(prefix.size()), q.tensor, &context.in);
    std::vector<Tensor> arrays = definition.nest_arrays;
    for (Tensor& array : arrays) array.name = prefix + array.name;
    keep_locals(*node, arrays);
    for (const Tensor& array : arrays) add(array.name.substr(prefix.size()), array.name, &context.out);
    for (const Symbol& s : program_.symbols) context.in.push_back(s.name);
    context.local_prefix = prefix_of(*node);
    context.place = node->place;
    Result<ParsedLoops> parsed = parse_loops(definition.nest, context);
    if (!parsed) return broken_operator(*node, "nest", parsed.errors()[0]);
    keep_locals(*node, std::move(parsed->locals));
    node->loops = std::move(parsed->body);
    place_all(node->place, &node->loops);
    rename_tensors(&node->loops, [&](const std::string& name) {
      const auto it = actual.find(name);
      return it == actual.end() ? name : it->second;
    });
  }

  static void place_all(const Place& place, LoopBody* body) {
    for (LoopStatement& s : *body) {
      s.place = place;
      place_all(place, &s.body);
      place_all(place, &s.otherwise);
    }
  }

  // A declared intermediate is an assertion; others take what was inferred.
  void define_out(const Node& node, const std::string& name, DType dtype, const std::vector<ExprPtr>& shape) {
    Tensor& tensor = program_.tensors.at(name);
    Tensor found = tensor;
    found.dtype = dtype;
    found.shape = shape;
    if (tensor.declared && (tensor.dtype != dtype || !same_shape(tensor, found))) {
      errors_.push_back(diagnose(
          Code::kDeclarationDiffers, tensor.place, {name, shape_text(tensor), node.op, shape_text(found)},
          {"the op is at " + node.place.pointer, "the declaration of an intermediate is checked; it may be left out"}));
      return;
    }
    check_size(node, found);
    if (!tensor.declared) {
      tensor.dtype = dtype;
      tensor.shape = shape;
    }
    tensor.inferred = true;
  }

  // Contract P7, for inferred shapes.
  void check_size(const Node& node, const Tensor& tensor) {
    std::string shape;
    for (const ExprPtr& e : tensor.shape) shape += to_text(e) + ", ";
    if (sound_shapes_.count(shape)) return;
    const std::size_t before = errors_.size();
    if (const std::string witness = negative_extent(tensor, program_); !witness.empty())
      errors_.push_back(diagnose(Code::kShapeNegative, node.place, {tensor.name, witness},
                                 {"raise the symbol's min, or state it in \"assume\""}));
    else if (const std::string size = excessive_size(tensor, program_); !size.empty())
      errors_.push_back(diagnose(Code::kShapeTooLarge, node.place, {tensor.name, size}));
    if (errors_.size() == before) sound_shapes_.insert(shape);
  }

  void keep_locals(const Node& node, std::vector<Tensor> locals) {
    for (Tensor& local : locals) {
      check_size(node, local);
      local.inferred = true;
      program_.tensor_order.push_back(local.name);
      const std::string name = local.name;
      program_.tensors.insert_or_assign(name, std::move(local));
    }
  }

  Program program_;
  std::set<std::string> broken_;        // outputs of nodes with complaints
  std::set<std::string> sound_shapes_;  // texts of shapes that passed: most tensors of a program share a few
  Diagnostics errors_;
};

}  // namespace

Result<Program> elaborate(const Program& program) { return Elaborator(program).run(); }

}  // namespace facet
