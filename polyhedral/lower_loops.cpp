// lower_loops: assignments under affine control become statements; the loops around each give its domain.
//
// A loop `for (i = a; i < b; i += c)` gives a <= i < b and, for c > 1, (i - a) mod c = 0; a descending loop the mirror image
// and a schedule that runs backwards. Both branches of an `if` become domain conditions. A scalar declared inside loops i, j is
// the array s[i, j]: one value per execution of its block, so that no false dependence between iterations appears. A scalar of
// an outer block that each iteration of a loop writes before it reads, and nobody reads after the loop before writing it,
// counts as declared in the loop (scalar_flow).
#include "polyhedral/lower_loops.hpp"

#include <map>
#include <span>
#include <utility>

#include "polyhedral/affine.hpp"
#include "polyhedral/scalar_flow.hpp"

namespace facet {

namespace {

class LoopLowering {
 public:
  LoopLowering(StatementMaker& maker, const Node& node) : maker_(maker), node_(node) {}

  TreePtr body(const LoopBody& statements) {
    std::vector<TreePtr> parts;
    rest_.push_back({});
    for (std::size_t k = 0; k < statements.size(); ++k) {
      rest_.back() = std::span<const LoopStatement>(statements).subspan(k + 1);
      if (TreePtr t = one(statements[k])) parts.push_back(std::move(t));
    }
    rest_.pop_back();
    return parts.empty() ? nullptr : make_sequence(std::move(parts));
  }

 private:
  TreePtr one(const LoopStatement& s) {
    switch (s.kind) {
      case LoopStatement::Kind::kFor: return loop(s);
      case LoopStatement::Kind::kIf: return branch(s);
      case LoopStatement::Kind::kBlock: return body(s.body);
      case LoopStatement::Kind::kDeclare: return declare(s);
      case LoopStatement::Kind::kAssign: break;
    }
    return assign(s.target, s.subscripts, s.value, s.update, s.operand, s.place);
  }

  TreePtr loop(const LoopStatement& s) {
    const std::size_t depth = ranges_.size();
    const std::string kept_strides = strides_;
    if (s.step > 0) {
      ranges_.push_back({s.name, s.first, s.bound});
    } else {
      ranges_.push_back({s.name, idx_add(s.bound, idx(1)), idx_add(s.first, idx(1))});
    }
    if (s.step != 1 && s.step != -1) {
      std::vector<std::string> names;
      for (const Range& r : ranges_) names.push_back(r.name);
      const std::string step = std::to_string(s.step > 0 ? s.step : -s.step);
      strides_ += (strides_.empty() ? "" : " and ") + std::string("(i") + std::to_string(depth) + " - (" +
                  *isl_text(s.first, names) + ")) mod " + step + " = 0";
    }
    const std::map<std::string, Scalar> kept_scalars = scalars_;
    for (auto& [name, scalar] : scalars_)
      if (scalar.around.size() == depth && is_own(s.body, name)) scalar = {"", scalar.type, ranges_};
    const std::vector<std::span<const LoopStatement>> kept_rest = std::exchange(rest_, {});
    TreePtr below = body(s.body);
    rest_ = kept_rest;
    for (auto& [name, scalar] : scalars_)
      if (const auto it = kept_scalars.find(name); it != kept_scalars.end() && scalar.around.size() > depth)
        scalar = it->second;
    ranges_.pop_back();
    strides_ = kept_strides;
    return below ? maker_.loop(statements_of(below), depth, s.step > 0 ? 1 : -1, below) : nullptr;
  }

  TreePtr branch(const LoopStatement& s) {
    conditions_.push_back(s.condition);
    TreePtr then = body(s.body);
    conditions_.back() = unary(Op::kNot, s.condition);
    TreePtr otherwise = body(s.otherwise);
    conditions_.pop_back();
    if (!then) return otherwise;
    if (!otherwise) return then;
    return make_sequence({then, otherwise});
  }

  TreePtr declare(const LoopStatement& s) {
    const auto known = maker_.program().tensors.find(s.name);
    const DType type = known != maker_.program().tensors.end() ? known->second.dtype : s.value->type;
    scalars_[s.name] = {"", type, ranges_};
    return s.value ? assign(s.name, {}, s.value, {}, nullptr, s.place) : nullptr;
  }

  // Reads and writes of block-scope scalars become accesses of their expanded arrays.
  struct Scalar {
    std::string array;  // "" before the first access
    DType type = DType::kF32;
    std::vector<Range> around;  // the loops around the declaration
  };

  // Has each iteration a value of its own of a scalar declared outside of the loop? What follows the loop is known up to the
  // end of the loop around or of the scalar's block.
  bool is_own(const LoopBody& iteration, const std::string& scalar) const {
    if (scalar_flow(iteration, scalar) == ScalarFlow::kRead) return false;
    for (std::size_t k = rest_.size(); k-- > 0;) {
      const ScalarFlow after = scalar_flow(rest_[k], scalar);
      if (after == ScalarFlow::kRead) return false;
      if (after == ScalarFlow::kWritten) return true;
    }
    return true;
  }

  const std::string& array_of(const std::string& name, Scalar& scalar) {
    if (scalar.array.empty()) scalar.array = maker_.fresh_array(name + ".each", scalar.type, scalar.around, true);
    return scalar.array;
  }

  std::vector<ExprPtr> scalar_subscripts(const Scalar& scalar) const {
    std::vector<ExprPtr> subscripts;
    for (const Range& r : scalar.around) subscripts.push_back(index(r.name));
    return subscripts;
  }

  TreePtr assign(const std::string& target, std::vector<ExprPtr> subscripts, ExprPtr value, std::optional<ReduceKind> update,
                 ExprPtr operand, const Place& place) {
    const auto expand = [&](const ExprPtr& e) -> ExprPtr {
      if (e->op != Op::kRead) return e;
      const auto it = scalars_.find(e->name);
      return it == scalars_.end() ? e : read(array_of(e->name, it->second), e->type, scalar_subscripts(it->second));
    };
    value = rewrite(value, expand);
    operand = rewrite(operand, expand);
    std::string array = target;
    if (const auto it = scalars_.find(target); it != scalars_.end()) {
      array = array_of(target, it->second);
      subscripts = scalar_subscripts(it->second);
    }
    const int s = maker_.add({target, ranges_, conditions_, array, std::move(subscripts), update ? std::move(operand) : value,
                              update, place, strides_, value});
    return make_leaf(s);
  }

  StatementMaker& maker_;
  const Node& node_;
  std::vector<Range> ranges_;
  std::vector<ExprPtr> conditions_;
  std::string strides_;
  std::map<std::string, Scalar> scalars_;
  std::vector<std::span<const LoopStatement>> rest_;  // what follows, innermost block last, up to the loop around
};

}  // namespace

TreePtr lower_loops(StatementMaker& maker, const Node& node) { return LoopLowering(maker, node).body(node.loops); }

}  // namespace facet
