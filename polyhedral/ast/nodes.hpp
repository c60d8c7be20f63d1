// nodes: what isl's AST nodes say, for those who walk them.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "facet/expr.hpp"
#include "facet/loop_ast.hpp"
#include "polyhedral/isl/isl.hpp"

namespace facet {

// isl's AST of the order. Nothing where isl gives up, and why; what a used-up budget cuts off is thrown, for guarded().
std::optional<isl::ast_node> scan_order(const isl::set& context, const isl::schedule& order, std::string* why);

using AstExpression = std::function<ExprPtr(const isl::ast_expr&)>;

std::vector<isl::ast_node> children_of(const isl::ast_node& block);

// What `walk` makes of the parts of a block, one after the other, and of the branches of an `if`.
using AstWalk = std::function<LoopList(const isl::ast_node&)>;
LoopList block_of(const isl::ast_node& block, const AstWalk& walk);
LoopList branch_of(const isl::ast_node& branch, const AstExpression& expression, const AstWalk& walk);

// Of a `for` node.
std::string iterator_of(const isl::ast_node& loop);
ExprPtr upper_bound_of(const isl::ast_node& loop, const AstExpression& expression);  // exclusive
std::int64_t step_of(const isl::ast_node& loop);

// Of a `user` node, a call: who is called, with what.
std::string callee_of(const isl::ast_node& user);
std::vector<ExprPtr> arguments_of(const isl::ast_node& user, const AstExpression& expression);

}  // namespace facet
