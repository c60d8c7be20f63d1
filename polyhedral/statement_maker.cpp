// StatementMaker: domains, access relations and the natural nest.
#include "polyhedral/statement_maker.hpp"

#include <algorithm>
#include <cassert>
#include <limits>
#include <set>

#include "facet/loop_walk.hpp"

#include "facet/dtype_range.hpp"
#include "polyhedral/affine.hpp"

namespace facet {

namespace {

// Does `value` read the array it writes (not through the update form)?
bool reads_itself(const Statement& s) { return s.reads_of(s.target); }

// Is an element that the statement writes among those that its value reads in the same instance?
bool reads_own_element(const Statement& s) {
  return std::any_of(s.reads.begin(), s.reads.end(), [&](const Access& a) {
    return a.array == s.target && !a.relation.intersect(s.write.relation).is_empty();
  });
}

}  // namespace

ExprPtr identity_of(ReduceKind kind, DType type) {
  switch (kind) {
    case ReduceKind::kSum: return int_literal(type, 0);
    case ReduceKind::kProd: return int_literal(type, 1);
    case ReduceKind::kAny: return int_literal(DType::kBool, 0);
    case ReduceKind::kAll: return int_literal(DType::kBool, 1);
    case ReduceKind::kMax:
      return is_float(type) ? literal(type, -std::numeric_limits<double>::infinity()) : int_literal(type, lowest_of(type));
    default:
      return is_float(type) ? literal(type, std::numeric_limits<double>::infinity()) : int_literal(type, highest_of(type));
  }
}

Access access_of(const Scop& scop, const Statement& s, const Array& a, const isl::set& inside,
                 const std::vector<ExprPtr>& subscripts, bool cut) {
  Access access;
  access.array = a.name;
  std::vector<std::string> elements;
  std::string constraints = "1 = 1";
  for (std::size_t d = 0; d < subscripts.size(); ++d) {
    const std::string e = "a" + std::to_string(d);
    elements.push_back(e);
    const std::optional<std::string> text = isl_text(subscripts[d], s.iterators);
    if (text) {
      constraints += " and " + e + " = " + *text;
    } else {
      access.exact = false;
      constraints += " and 0 <= " + e + " < " + *isl_text(a.extents[d], {});
    }
  }
  std::string range = "[";
  for (std::size_t d = 0; d < elements.size(); ++d) range += (d ? ", " : "") + elements[d];
  access.whole = read_map(parameter_prefix(scop.symbols), statement_id(s.name), tuple_text("", s.iterators.size()),
                          array_id(a.name), range + "]", constraints)
                     .intersect_domain(s.domain);
  // `scalar` arrays have no fixed extents: nothing to be inside of.
  access.relation = a.scalar ? access.whole : access.whole.intersect_range(inside);
  if (cut) {
    access.reach = access.whole;
    access.whole = access.relation;
  }
  return access;
}

void find_accesses(const Scop& scop, Statement& s) {
  const auto access = [&](const std::string& array, const std::vector<ExprPtr>& subscripts, bool cut) {
    const Array& a = scop.arrays.at(array);
    return access_of(scop, s, a, a.scalar ? isl::set() : array_set(scop, array), subscripts, cut);
  };
  s.write = access(s.target, s.subscripts, false);
  s.reads.clear();
  walk(s.value, [&](const Expr& e) {
    if (e.op == Op::kRead) s.reads.push_back(access(e.name, e.args, e.pad != nullptr));
  });
}

StatementMaker::StatementMaker(const Program& program, const std::string& name) : program_(program) {
  scop_.name = name;
  scop_.symbols = program.symbols;
  scop_.context = context_of(program.symbols, program.assumptions);
  scop_.reassociate = program.numerics.reassociate;
}

bool StatementMaker::is_symbol(const std::string& name) const {
  return std::any_of(program_.symbols.begin(), program_.symbols.end(), [&](const Symbol& s) { return s.name == name; });
}

void StatementMaker::declare_arrays(const ReaderIndex& readers, const std::vector<int>& nodes) {
  std::set<std::string> defined, used, in_place;
  std::set<int> inside(nodes.begin(), nodes.end());
  for (const int n : nodes) {
    const Node& node = program_.nodes[static_cast<std::size_t>(n)];
    for (const std::string& t : node.out) defined.insert(t);
    for (const Equation& q : node.equations) defined.insert(q.tensor);
    for (const std::string& t : node.in) used.insert(t);
    for (const std::string& t : node.inout) used.insert(t), in_place.insert(t);
    for (const std::string& t : assigned_arrays(node.loops)) {
      in_place.insert(t);
      if (!std::count(node.inout.begin(), node.inout.end(), t)) defined.insert(t);
    }
    if (!node.loops.empty()) in_place.insert(node.out.begin(), node.out.end());
  }
  const auto later = [&](const std::string& t) {
    if (readers.outputs.count(t)) return true;
    const auto it = readers.readers.find(t);
    return it != readers.readers.end() && std::any_of(it->second.begin(), it->second.end(), [&](int n) {
             return !inside.count(n) && (nodes.empty() || n >= nodes.front());
           });
  };
  used.insert(defined.begin(), defined.end());
  for (const std::string& name : used) {
    const auto it = program_.tensors.find(name);
    if (it == program_.tensors.end()) continue;  // a symbol among a loops node's inputs
    Array a;
    a.name = name;
    a.dtype = it->second.dtype;
    a.extents = it->second.shape;
    a.external = !defined.count(name);
    a.constant = it->second.data && !std::count(program_.inputs.begin(), program_.inputs.end(), name) && !in_place.count(name);
    a.live_out = later(name) || (a.external && in_place.count(name));
    a.in_place = in_place.count(name) > 0;
    scop_.arrays[name] = a;
  }
}

std::string StatementMaker::fresh_array(const std::string& base, DType type, const std::vector<Range>& ranges, bool scalar) {
  std::string name = base;
  for (int i = 2; scop_.arrays.count(name) || program_.tensors.count(name); ++i) name = base + std::to_string(i);
  Array a;
  a.name = name;
  a.dtype = type;
  a.scalar = scalar;
  for (const Range& r : ranges) a.extents.push_back(idx_sub(r.upper, r.lower));
  scop_.arrays[name] = a;
  return name;
}

std::vector<ExprPtr> StatementMaker::positions(const std::vector<Range>& ranges) const {
  std::vector<ExprPtr> subscripts;
  for (const Range& r : ranges) subscripts.push_back(idx_sub(index(r.name), r.lower));
  return subscripts;
}

std::string StatementMaker::unique_statement(const std::string& name) {
  std::string unique = name;
  for (int& i = next_number_[name]; statement_names_.count(unique); unique = name + "." + std::to_string(i)) ++i;
  statement_names_.insert(unique);
  return unique;
}

int StatementMaker::add(const Description& d) {
  Statement s;
  s.name = unique_statement(d.name);
  s.ranges = d.ranges;
  for (const Range& r : d.ranges) s.iterators.push_back(r.name);
  std::string constraints = "1 = 1";
  for (std::size_t k = 0; k < d.ranges.size(); ++k) {
    const std::string i = "i" + std::to_string(k);
    constraints +=
        " and " + *isl_text(d.ranges[k].lower, s.iterators) + " <= " + i + " < " + *isl_text(d.ranges[k].upper, s.iterators);
  }
  for (const ExprPtr& c : d.conditions) constraints += " and " + *isl_text(c, s.iterators);
  if (!d.extra_constraints.empty()) constraints += " and " + d.extra_constraints;
  s.domain = read_set(parameter_prefix(scop_.symbols), statement_id(s.name), tuple_text("", s.iterators.size()), constraints)
                 .intersect_params(scop_.context);
  s.target = d.target;
  s.subscripts = d.subscripts;
  s.value = d.value;
  s.update = d.update;
  s.place = d.place;
  s.write = access(s, s.target, s.subscripts, false);
  find_reads(s);
  // x[i] -= L[i, j] * x[j] is a sum where j is never i; s += 0.5 * s is none.
  if (s.update && d.plain && reads_own_element(s)) {
    s.update.reset();
    s.value = d.plain;
    find_reads(s);
  }
  s.kind = s.update ? StatementKind::kReduce : reads_itself(s) ? StatementKind::kRecurrence : StatementKind::kMap;
  scop_.statements.push_back(std::move(s));
  return static_cast<int>(scop_.statements.size()) - 1;
}

void StatementMaker::find_reads(Statement& s) const {
  s.reads.clear();
  walk(s.value, [&](const Expr& e) {
    if (e.op == Op::kRead) s.reads.push_back(access(s, e.name, e.args, e.pad != nullptr));
  });
}

const isl::set& StatementMaker::elements_of(const Array& a) const {
  const auto known = elements_.find(a.name);
  if (known != elements_.end()) return known->second;
  return elements_.emplace(a.name, array_set(scop_, a.name)).first->second;
}

Access StatementMaker::access(const Statement& s, const std::string& name, const std::vector<ExprPtr>& subscripts,
                              bool cut) const {
  const Array& a = scop_.arrays.at(name);
  return access_of(scop_, s, a, a.scalar ? isl::set() : elements_of(a), subscripts, cut);
}

TreePtr StatementMaker::loop(const std::vector<int>& statements, std::size_t dim, int sign, TreePtr body) {
  Tree t;
  t.id = next_loop_++;
  for (const int s : statements) {
    const Statement& st = statement(s);
    t.names[s] = st.iterators[dim];
    const isl::pw_aff plain = output_dimension(st.domain, static_cast<unsigned>(dim));
    t.member[s] = sign < 0 ? plain.neg() : plain;
  }
  return make_loop_tree(std::move(t), std::move(body));
}

TreePtr StatementMaker::nest(const std::vector<int>& statements, std::size_t shared) {
  std::vector<TreePtr> parts;
  for (const int s : statements) {
    TreePtr t = make_leaf(s);
    for (std::size_t d = statement(s).iterators.size(); d-- > shared;) t = loop({s}, d, 1, std::move(t));
    parts.push_back(std::move(t));
  }
  TreePtr t = make_sequence(std::move(parts));
  for (std::size_t d = shared; d-- > 0;) t = loop(statements, d, 1, std::move(t));
  return t;
}

Scop StatementMaker::finish(TreePtr original) {
  scop_.original = std::move(original);
  return std::move(scop_);
}

}  // namespace facet
