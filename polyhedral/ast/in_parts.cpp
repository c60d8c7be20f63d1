// The loops over elements are isl's scan of the set of elements, the values of the loops around being its parameters.
#include "polyhedral/ast/in_parts.hpp"

#include <map>

#include "polyhedral/affine.hpp"
#include "polyhedral/ast/nodes.hpp"
#include "polyhedral/statement_maker.hpp"

namespace facet {

namespace {

using MakeStore = std::function<Store(const std::vector<ExprPtr>& element)>;

class ElementScan {
 public:
  ElementScan(const PartRequest& request, const CopiedArray& array) : request_(request), array_(array) {}

  LoopList run(const MakeStore& make) {
    make_ = make;
    std::vector<std::string> names;
    for (std::size_t k = 0; k < request_.outer.size(); ++k) {
      names.push_back("o_" + std::to_string(k));
      values_[names.back()] = request_.outer[k];
    }
    const isl::set elements = range_by_parameters(array_.elements, names);
    TreePtr tree = make_leaf(0);
    for (unsigned d = dimensions(elements); d-- > 0;) {
      Tree loop;
      loop.id = static_cast<int>(d);
      loop.member[0] = output_dimension(elements, d);
      tree = make_loop_tree(std::move(loop), tree);
    }
    const isl::set context = request_.schedule.scop->context;
    return node(isl::ast_build::from_context(context).node_from(to_isl(tree, {{0, elements}})));
  }

 private:
  LoopList node(const isl::ast_node& n) {
    switch (isl_ast_node_get_type(n.get())) {
      case isl_ast_node_for: return loop(n);
      case isl_ast_node_if: return branch_of(n, expression_, [this](const isl::ast_node& x) { return node(x); });
      case isl_ast_node_block: return block_of(n, [this](const isl::ast_node& x) { return node(x); });
      case isl_ast_node_mark: return node(isl::manage(isl_ast_node_mark_get_node(n.get())));
      case isl_ast_node_user: return {element(arguments_of(n, expression_))};
      default: return {};
    }
  }

  LoopList loop(const isl::ast_node& n) {
    const std::string scanned = iterator_of(n);
    const ExprPtr lower = expression_(isl::manage(isl_ast_node_for_get_init(n.get())));
    const bool once = isl_ast_node_for_is_degenerate(n.get()) == isl_bool_true;
    For made;
    made.iterator = request_.part + "_" + scanned;  // no loop around has this name: they are named before `part`
    values_[scanned] = once ? lower : index(made.iterator);
    made.lower = lower;
    if (!once) made.upper = upper_bound_of(n, expression_);
    if (!once) made.step = step_of(n);
    LoopList body = node(isl::manage(isl_ast_node_for_get_body(n.get())));
    if (once) return body;
    made.body = std::move(body);
    return {make_loop(std::move(made))};
  }

  LoopPtr element(const std::vector<ExprPtr>& at) {
    Store store = make_(at);
    store.statement = request_.schedule.statement(*array_.updates.begin()).name;
    return make_loop(std::move(store));
  }

  const PartRequest& request_;
  const CopiedArray& array_;
  MakeStore make_;
  std::map<std::string, ExprPtr> values_;  // of isl's iterators and of the parameters that stand for loops around
  const AstExpression expression_ = [this](const isl::ast_expr& e) {
    return expr_of(e, [this](const std::string& name) -> ExprPtr {
      const auto it = values_.find(name);
      return it != values_.end() ? it->second : index(name.substr(2));
    });
  };
};

LoopList filled(const PartRequest& request, const CopiedArray& p) {
  return ElementScan(request, p).run([&](const std::vector<ExprPtr>& element) {
    Store store;
    std::tie(store.buffer, store.subscripts) = in_part(p, request.part, element, request.outer);
    store.value = identity_of(p.kind, p.buffer.dtype);
    return store;
  });
}

LoopList combined(const PartRequest& request, const CopiedArray& p) {
  return ElementScan(request, p).run([&](const std::vector<ExprPtr>& element) {
    const auto [buffer, subscripts] = in_part(p, request.part, element, request.outer);
    Store store;
    std::tie(store.buffer, store.subscripts) = request.place(*p.updates.begin(), p.array, element);
    store.value = read(buffer, p.buffer.dtype, subscripts);
    store.update = p.kind;
    return store;
  });
}

void append(LoopList& to, const LoopList& more) { to.insert(to.end(), more.begin(), more.end()); }

// The piece `part` of the loop's iterations: as many in each, the last ones shorter or empty.
For piece_of(For whole, const std::string& part, std::int64_t parts) {
  const ExprPtr trips = idx_floordiv(idx_add(idx_sub(whole.upper, whole.lower), idx(whole.step - 1)), whole.step);
  const ExprPtr length = idx_mul(idx_floordiv(idx_add(trips, idx(parts - 1)), parts), idx(whole.step));
  whole.kind = LoopKind::kSerial;
  whole.asked_by = -1;  // the loop over the pieces is what was asked for
  const ExprPtr first = idx_add(whole.lower, idx_mul(length, index(part)));
  whole.upper = idx_min(whole.upper, idx_add(first, length));
  whole.lower = first;
  return whole;
}

}  // namespace

PartLoop in_parts(const PartRequest& request, For whole) {
  const std::int64_t parts = request.loop.mark.parts;
  For pieces;
  pieces.iterator = request.part;
  pieces.lower = idx(0);
  pieces.upper = idx(parts);
  For combine = pieces;
  pieces.kind = LoopKind::kParallel;
  pieces.asked_by = whole.asked_by;
  pieces.comment = "pieces of " + whole.iterator + ", each updates a copy of its own";
  combine.comment = "the copies, in the order of the pieces";
  PartLoop made;
  for (const CopiedArray& p : request.arrays) {
    made.code.push_back(make_loop(Allocate{p.buffer}));
    append(pieces.body, filled(request, p));
    append(combine.body, combined(request, p));
  }
  made.pieces.push_back(make_loop(piece_of(std::move(whole), request.part, parts)));
  pieces.body.push_back(made.pieces[0]);
  made.pieces.push_back(make_loop(std::move(pieces)));
  made.code.push_back(made.pieces[1]);
  made.code.push_back(make_loop(std::move(combine)));
  return made;
}

}  // namespace facet
