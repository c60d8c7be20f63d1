// Statements, nests and written-out sums of stages.
#include "polyhedral/rewrite/stage_maker.hpp"

#include <algorithm>

#include "facet/expr_walk.hpp"
#include "polyhedral/affine.hpp"
#include "polyhedral/statement_maker.hpp"

namespace facet {

StageMaker::StageMaker(const Scop& old, int replaced)
    : scop_(std::make_shared<Scop>(old)),
      original_(old),
      type_(old.statements[static_cast<std::size_t>(replaced)].value->type),
      place_(old.statements[static_cast<std::size_t>(replaced)].place) {
  for_each_loop(old.original, [&](const Tree& l) { fresh_ = std::max(fresh_, l.id + 1); });
}

std::string StageMaker::id(std::string name) const {
  const auto is_symbol = [&](const Symbol& x) { return x.name == name; };
  while (original_.arrays.count(name) > 0 || std::any_of(original_.symbols.begin(), original_.symbols.end(), is_symbol))
    name += "_";
  return name;
}
void StageMaker::declare(const std::string& name, const Exprs& extents) {
  Array a;
  a.name = name;
  a.dtype = type();
  a.extents = extents;
  scop_->arrays[name] = std::move(a);
}

int StageMaker::add(const std::string& name, const std::vector<Range>& ranges, const std::string& target,
                    const Exprs& subscripts, const ExprPtr& value, std::optional<ReduceKind> update, int number) {
  Statement made;
  made.name = name;
  made.ranges = ranges;
  std::string bounds = "1 = 1";
  for (std::size_t k = 0; k < ranges.size(); ++k) {
    made.iterators.push_back(ranges[k].name);
    bounds += " and 0 <= i" + std::to_string(k) + " < " + *isl_text(ranges[k].upper, {});
  }
  made.domain = read_set(parameter_prefix(original_.symbols), statement_id(name), tuple_text("", ranges.size()), bounds)
                    .intersect_params(original_.context);
  made.kind = update ? StatementKind::kReduce : StatementKind::kMap;
  made.target = target;
  made.subscripts = subscripts;
  made.value = value;
  made.update = update;
  made.place = place_;
  const auto access = [&](const std::string& array, const Exprs& list, bool cut) {
    return access_of(*scop_, made, scop_->arrays.at(array), array_set(*scop_, array), list, cut);
  };
  made.write = access(target, subscripts, false);
  walk(value, [&](const Expr& e) {
    if (e.op == Op::kRead) made.reads.push_back(access(e.name, e.args, e.pad != nullptr));
  });
  if (number < 0) {
    scop_->statements.push_back(std::move(made));
    return static_cast<int>(scop_->statements.size()) - 1;
  }
  scop_->statements[static_cast<std::size_t>(number)] = std::move(made);
  return number;
}

TreePtr StageMaker::nest(int number, std::size_t from) {
  const Statement& st = scop_->statements[static_cast<std::size_t>(number)];
  TreePtr tree = make_leaf(number);
  for (std::size_t d = st.iterators.size(); d-- > from;) {
    Tree loop;
    loop.id = fresh_++;
    loop.names[number] = st.iterators[d];
    loop.member[number] = output_dimension(st.domain, static_cast<unsigned>(d));
    tree = make_loop_tree(std::move(loop), tree);
  }
  return tree;
}

void StageMaker::add_nest(const std::string& target, const std::vector<Range>& ranges, const Exprs& subscripts,
                          const ExprPtr& value) {
  nests_.push_back(nest(add(target, ranges, target, subscripts, value)));
}

// Zeros are left out, ones do not multiply.
ExprPtr StageMaker::combination(const std::vector<std::int64_t>& row, const Exprs& elements, std::int64_t denominator) const {
  ExprPtr sum;
  for (std::size_t i = 0; i < row.size(); ++i) {
    if (row[i] == 0) continue;
    const double factor = static_cast<double>(row[i]) / static_cast<double>(denominator), size = factor < 0 ? -factor : factor;
    const ExprPtr term = size == 1 ? elements[i] : binary(Op::kMul, literal(type(), size), elements[i]);
    if (!sum)
      sum = factor < 0 ? unary(Op::kNeg, term) : term;
    else
      sum = binary(factor < 0 ? Op::kSub : Op::kAdd, sum, term);
  }
  return sum;
}

ExprPtr StageMaker::combinations(const Rows& rows, const std::string& which, const Exprs& elements,
                                 std::int64_t denominator) const {
  ExprPtr value = combination(rows.back(), elements, denominator);
  for (std::size_t a = rows.size() - 1; a-- > 0;)
    value = select(binary(Op::kEq, ix(which), int_literal(DType::kI64, static_cast<std::int64_t>(a))),
                   combination(rows[a], elements, denominator), value);
  return value;
}

TreePtr StageMaker::shared_nest(int init, int update, std::size_t shared) {
  const Statement &first = scop_->statements[static_cast<std::size_t>(init)],
                  &then = scop_->statements[static_cast<std::size_t>(update)];
  TreePtr tree = make_sequence({make_leaf(init), nest(update, shared)});
  for (std::size_t d = shared; d-- > 0;) {
    Tree loop;
    loop.id = fresh_++;
    loop.names = {{init, first.iterators[d]}, {update, then.iterators[d]}};
    loop.member = {{init, output_dimension(first.domain, static_cast<unsigned>(d))},
                   {update, output_dimension(then.domain, static_cast<unsigned>(d))}};
    tree = make_loop_tree(std::move(loop), tree);
  }
  return tree;
}

}  // namespace facet
