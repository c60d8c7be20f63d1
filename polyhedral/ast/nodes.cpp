// isl/cpp.h has no AST nodes by kind: the C interface, wrapped.
#include "polyhedral/ast/nodes.hpp"

#include "polyhedral/affine.hpp"

namespace facet {

namespace {

// min(a, b) + 1 is min(a + 1, b + 1)
ExprPtr exclusive(const ExprPtr& e) {
  if (e->op == Op::kMin) return idx_min(exclusive(e->args[0]), exclusive(e->args[1]));
  return idx_add(e, idx(1));
}

}  // namespace

std::optional<isl::ast_node> scan_order(const isl::set& context, const isl::schedule& order, std::string* why) {
  try {
    return isl::ast_build::from_context(context).node_from(order);
  } catch (const isl::exception& e) {
    if (cut_off()) throw;
    *why = e.what();
    return std::nullopt;
  }
}

std::vector<isl::ast_node> children_of(const isl::ast_node& block) {
  std::vector<isl::ast_node> children;
  isl_ast_node_list* list = isl_ast_node_block_get_children(block.get());
  for (int i = 0; i < static_cast<int>(isl_ast_node_list_size(list)); ++i)
    children.push_back(isl::manage(isl_ast_node_list_get_at(list, i)));
  isl_ast_node_list_free(list);
  return children;
}

LoopList block_of(const isl::ast_node& block, const AstWalk& walk) {
  LoopList all;
  for (const isl::ast_node& child : children_of(block)) {
    const LoopList part = walk(child);
    all.insert(all.end(), part.begin(), part.end());
  }
  return all;
}

LoopList branch_of(const isl::ast_node& branch, const AstExpression& expression, const AstWalk& walk) {
  If made;
  made.condition = expression(isl::manage(isl_ast_node_if_get_cond(branch.get())));
  made.then = walk(isl::manage(isl_ast_node_if_get_then_node(branch.get())));
  if (isl_ast_node_if_has_else_node(branch.get()) == isl_bool_true)
    made.otherwise = walk(isl::manage(isl_ast_node_if_get_else_node(branch.get())));
  return {make_loop(std::move(made))};
}

std::string iterator_of(const isl::ast_node& loop) {
  isl_ast_expr* iterator = isl_ast_node_for_get_iterator(loop.get());
  isl_id* id = isl_ast_expr_get_id(iterator);
  std::string name = isl_id_get_name(id);
  isl_id_free(id);
  isl_ast_expr_free(iterator);
  return name;
}

// The condition is `c <= e` or `c < e`.
ExprPtr upper_bound_of(const isl::ast_node& loop, const AstExpression& expression) {
  const isl::ast_expr condition = isl::manage(isl_ast_node_for_get_cond(loop.get()));
  const ExprPtr bound = expression(isl::manage(isl_ast_expr_get_op_arg(condition.get(), 1)));
  return isl_ast_expr_get_op_type(condition.get()) == isl_ast_expr_op_le ? exclusive(bound) : bound;
}

std::int64_t step_of(const isl::ast_node& loop) {
  isl_ast_expr* inc = isl_ast_node_for_get_inc(loop.get());
  isl_val* step = isl_ast_expr_get_val(inc);
  isl_ast_expr_free(inc);
  return take_int(step);
}

std::string callee_of(const isl::ast_node& user) {
  const isl::ast_expr call = isl::manage(isl_ast_node_user_get_expr(user.get()));
  isl_ast_expr* callee = isl_ast_expr_get_op_arg(call.get(), 0);
  isl_id* id = isl_ast_expr_get_id(callee);
  std::string name = isl_id_get_name(id);
  isl_id_free(id);
  isl_ast_expr_free(callee);
  return name;
}

std::vector<ExprPtr> arguments_of(const isl::ast_node& user, const AstExpression& expression) {
  const isl::ast_expr call = isl::manage(isl_ast_node_user_get_expr(user.get()));
  std::vector<ExprPtr> arguments;
  for (int i = 1; i < static_cast<int>(isl_ast_expr_get_op_n_arg(call.get())); ++i)
    arguments.push_back(expression(isl::manage(isl_ast_expr_get_op_arg(call.get(), i))));
  return arguments;
}

}  // namespace facet
