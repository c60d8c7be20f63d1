// einsum: a product of any number of operands in index notation, summed over the indices the result lacks.
//
// Three or more operands are contracted two at a time through local arrays. The order is the cheapest one by multiplications
// (symbols count with their default), found by dynamic programming over subsets of operands; of more than ten operands the
// cheapest pair is contracted first, again and again. An intermediate keeps just the indices that the result or an operand
// outside the subset still needs.
#include <algorithm>
#include <map>
#include <set>

#include "src/ops/builder.hpp"

namespace facet {

namespace {

// A term of the equation: one index name per axis. Ellipsis axes are "0", "1", ... counted from the right.
using Term = std::vector<std::string>;

struct Einsum {
  std::vector<Term> operands;
  Term result;
  std::map<std::string, ExprPtr> extents;
};

std::string without_spaces(const std::string& text) {
  std::string r;
  for (const char c : text)
    if (c != ' ') r += c;
  return r;
}

bool read_term(OpBuilder& b, const std::string& text, int rank, Term* term) {
  const std::size_t dots = text.find("...");
  const std::string letters = dots == std::string::npos ? text : text.substr(0, dots) + text.substr(dots + 3);
  for (const char c : letters)
    if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'))) {
      b.bad_value("equation", "'" + std::string(1, c) + "' is not an index letter");
      return false;
    }
  const int rest = rank - static_cast<int>(letters.size());
  if (rest < 0 || (rest > 0 && dots == std::string::npos)) {
    b.bad_value("equation", "the term \"" + text + "\" names " + std::to_string(letters.size()) +
                                " axes of an operand of rank " + std::to_string(rank));
    return false;
  }
  for (std::size_t i = 0; i < letters.size() + 1; ++i) {
    if (dots != std::string::npos && i == dots)
      for (int e = rest; e-- > 0;) term->push_back(std::to_string(e));
    if (i < letters.size()) term->push_back(std::string(1, letters[i]));
  }
  return true;
}

std::vector<std::string> split(const std::string& text, char by) {
  std::vector<std::string> parts(1);
  for (const char c : text) {
    if (c == by)
      parts.emplace_back();
    else
      parts.back() += c;
  }
  return parts;
}

// Without "->" the result has the ellipsis and the letters that occur once, in alphabetical order.
Term implicit_result(const std::vector<Term>& operands) {
  std::map<std::string, int> count;
  std::set<std::string> dots;
  for (const Term& t : operands)
    for (const std::string& i : t) {
      if (i[0] >= '0' && i[0] <= '9')
        dots.insert(i);
      else
        ++count[i];
    }
  Term result(dots.rbegin(), dots.rend());
  for (const auto& [letter, n] : count)
    if (n == 1) result.push_back(letter);
  return result;
}

bool bind_extents(OpBuilder& b, Einsum* e) {
  for (std::size_t k = 0; k < e->operands.size(); ++k)
    for (std::size_t a = 0; a < e->operands[k].size(); ++a) {
      const ExprPtr extent = normal(b.dim(static_cast<int>(k), static_cast<int>(a)));
      const auto [it, is_new] = e->extents.emplace(e->operands[k][a], extent);
      if (is_new || same_dim(it->second, extent) || constant_of(extent) == 1) continue;
      if (constant_of(it->second) == 1) {
        it->second = extent;
        continue;
      }
      b.bad_shapes(static_cast<int>(k),
                   "index '" + e->operands[k][a] + "' has extent " + to_text(it->second) + " and " + to_text(extent));
      return false;
    }
  return true;
}

bool read_equation(OpBuilder& b, Einsum* e) {
  const std::string text = without_spaces(b.word("equation"));
  const std::size_t arrow = text.find("->");
  const std::vector<std::string> terms = split(text.substr(0, arrow), ',');
  if (static_cast<int>(terms.size()) != b.operand_count()) {
    b.bad_value("equation",
                "has " + std::to_string(terms.size()) + " terms for " + std::to_string(b.operand_count()) + " operands");
    return false;
  }
  std::size_t ellipsis = 0;
  for (std::size_t k = 0; k < terms.size(); ++k) {
    e->operands.emplace_back();
    if (!read_term(b, terms[k], b.rank(static_cast<int>(k)), &e->operands.back())) return false;
    for (const std::string& i : e->operands.back())
      if (i[0] >= '0' && i[0] <= '9') ellipsis = std::max(ellipsis, static_cast<std::size_t>(std::stoul(i)) + 1);
  }
  if (arrow == std::string::npos) {
    e->result = implicit_result(e->operands);
  } else {
    const std::string right = text.substr(arrow + 2);
    const bool dots = right.find("...") != std::string::npos;
    if (!read_term(b, right, static_cast<int>(right.size()) - (dots ? 3 : 0) + static_cast<int>(dots ? ellipsis : 0),
                   &e->result))
      return false;
  }
  if (!bind_extents(b, e)) return false;
  std::set<std::string> seen;
  for (const std::string& i : e->result)
    if (!e->extents.count(i) || !seen.insert(i).second) {
      b.bad_value("equation", "the result's index '" + i + "' " + (e->extents.count(i) ? "occurs twice" : "is in no operand"));
      return false;
    }
  return true;
}

// A tensor during contraction: a text to index, its dtype and its indices.
struct Part {
  std::string name;
  DType dtype;
  Term term;
  Shape shape;  // of an operand, to see stretched axes; empty for locals
};

constexpr std::size_t kMostCuts = 10;  // operands of which all orders are looked at: 3^10 cuts

class Contractor {
 public:
  Contractor(OpBuilder& b, const Einsum& e) : b_(b), e_(e), acc_(accumulator(b, b.dtype())) {
    for (const auto& [letter, extent] : e.extents)
      loops_.emplace(letter, b.loop(letter[0] >= '0' && letter[0] <= '9' ? "b" + letter : letter, extent));
  }

  void run() {
    std::vector<Part> parts;
    for (std::size_t k = 0; k < e_.operands.size(); ++k)
      parts.push_back({formal(static_cast<int>(k)), b_.dtype(), e_.operands[k], b_.shape(static_cast<int>(k))});
    Shape shape;
    for (const std::string& i : e_.result) shape.push_back(e_.extents.at(i));
    b_.out(0, sum_result(b_.dtype()), shape);
    if (parts.size() > kMostCuts) parts = contract_greedily(std::move(parts));
    if (parts.size() <= 2) return emit("y0", sum_result(b_.dtype()), e_.result, parts);
    plan(parts);
    contract((1u << parts.size()) - 1, parts);
  }

 private:
  SymbolValues symbol_values() const {
    SymbolValues values;
    for (const Symbol& s : b_.program().symbols) values[s.name] = s.value;
    return values;
  }

  double size(const std::set<std::string>& indices) const {
    double n = 1;
    for (const std::string& i : indices)
      n *= std::max<double>(1, static_cast<double>(evaluate_index(e_.extents.at(i), symbol_values())));
    return n;
  }

  // Indices of a subset that are still needed outside it.
  std::set<std::string> kept(unsigned subset) const {
    std::set<std::string> inside, outside(e_.result.begin(), e_.result.end()), both;
    for (std::size_t k = 0; k < e_.operands.size(); ++k)
      (subset >> k & 1 ? inside : outside).insert(e_.operands[k].begin(), e_.operands[k].end());
    std::set_intersection(inside.begin(), inside.end(), outside.begin(), outside.end(), std::inserter(both, both.end()));
    return both;
  }

  std::set<std::string> indices(unsigned subset) const {
    if ((subset & (subset - 1)) != 0) return kept(subset);
    for (std::size_t k = 0; k < e_.operands.size(); ++k)
      if (subset == 1u << k) return {e_.operands[k].begin(), e_.operands[k].end()};
    return {};
  }

  void plan(const std::vector<Part>& parts) {
    const unsigned all = (1u << parts.size()) - 1;
    cost_.assign(all + 1, 0);
    cut_.assign(all + 1, 0);
    for (unsigned s = 1; s <= all; ++s) {
      if ((s & (s - 1)) == 0) continue;
      cost_[s] = -1;
      for (unsigned a = (s - 1) & s; a > 0; a = (a - 1) & s) {
        const unsigned c = s & ~a;
        if (a < c) continue;  // each cut once
        std::set<std::string> used = indices(a);
        const std::set<std::string> other = indices(c);
        used.insert(other.begin(), other.end());
        const double cost = cost_[a] + cost_[c] + size(used);
        if (cost_[s] < 0 || cost < cost_[s]) cost_[s] = cost, cut_[s] = a;
      }
    }
  }

  // Many operands: the pair whose product is the cheapest, again and again, until two are left.
  std::vector<Part> contract_greedily(std::vector<Part> live) {
    const auto together = [&](const Part& x, const Part& y) {
      std::set<std::string> used(x.term.begin(), x.term.end());
      used.insert(y.term.begin(), y.term.end());
      return used;
    };
    std::vector<std::vector<double>> cost(live.size(), std::vector<double>(live.size()));
    for (std::size_t x = 0; x < live.size(); ++x)
      for (std::size_t y = 0; y < x; ++y) cost[x][y] = size(together(live[x], live[y]));
    while (live.size() > 2) {
      std::size_t i = 1, j = 0;
      for (std::size_t x = 1; x < live.size(); ++x)
        for (std::size_t y = 0; y < x; ++y)
          if (cost[x][y] < cost[i][j]) i = x, j = y;
      std::set<std::string> outside(e_.result.begin(), e_.result.end());
      for (std::size_t x = 0; x < live.size(); ++x)
        if (x != i && x != j) outside.insert(live[x].term.begin(), live[x].term.end());
      Part made{b_.local("part"), acc_, {}, {}};
      for (const std::string& index : together(live[i], live[j]))
        if (outside.count(index)) made.term.push_back(index);
      emit(made.name, made.dtype, made.term, {live[i], live[j]});
      live[j] = made;
      live.erase(live.begin() + static_cast<std::ptrdiff_t>(i));
      cost.erase(cost.begin() + static_cast<std::ptrdiff_t>(i));
      for (std::vector<double>& row : cost) row.erase(row.begin() + static_cast<std::ptrdiff_t>(i));
      for (std::size_t x = 0; x < live.size(); ++x)
        if (x != j) cost[std::max(x, j)][std::min(x, j)] = size(together(live[x], live[j]));
    }
    return live;
  }

  Part contract(unsigned subset, const std::vector<Part>& parts) {
    if ((subset & (subset - 1)) == 0)
      for (std::size_t k = 0; k < parts.size(); ++k)
        if (subset == 1u << k) return parts[k];
    const Part x = contract(cut_[subset], parts), y = contract(subset & ~cut_[subset], parts);
    const bool last = subset == (1u << parts.size()) - 1;
    const std::set<std::string> keep = kept(subset);
    Part made{last ? "y0" : b_.local("part"),
              last ? sum_result(b_.dtype()) : acc_,
              last ? e_.result : Term(keep.begin(), keep.end()),
              {}};
    emit(made.name, made.dtype, made.term, {x, y});
    return made;
  }

  std::string read(const Part& p) const {
    Subscripts s;
    for (std::size_t a = 0; a < p.term.size(); ++a) {
      const Loop& l = loops_.at(p.term[a]);
      s.push_back(!p.shape.empty() && !same_dim(p.shape[a], l.extent) ? idx(0) : l.index());
    }
    return cast_text(acc_, p.dtype, ref(p.name, s));
  }

  void emit(const std::string& target, DType dtype, const Term& result, const std::vector<Part>& parts) {
    Loops left, reduced;
    std::set<std::string> seen(result.begin(), result.end());
    for (const std::string& i : result) left.push_back(loops_.at(i));
    std::string product;
    for (const Part& p : parts) {
      for (const std::string& i : p.term)
        if (seen.insert(i).second) reduced.push_back(loops_.at(i));
      product += (product.empty() ? "" : " * ") + read(p);
    }
    b_.line(target, left, cast_text(dtype, acc_, reduction("sum", reduced, product)), reduced);
  }

  OpBuilder& b_;
  const Einsum& e_;
  DType acc_;
  std::map<std::string, Loop> loops_;
  std::vector<double> cost_;
  std::vector<unsigned> cut_;
};

void define_einsum(OpBuilder& b) {
  Einsum e;
  if (!read_equation(b, &e)) return;
  Contractor(b, e).run();
}

}  // namespace

void add_einsum(std::vector<OpDef>& table) {
  OpDef def;
  def.name = "einsum";
  def.family = "contraction";
  def.summary = "products of the operands in index notation, summed over the indices the result lacks";
  def.operands = {{"a", DTypes::kNumber, 'T', false}};
  def.variadic = true;
  def.outputs = {"y"};
  def.attributes = {required_attr("equation", AttrKind::kText, "such as \"bij,bjk->bik\"; \"...\" stands for broadcast axes"),
                    acc_attribute()};
  def.tolerance = Tolerance::kSum;
  const auto eq = [](const char* text) { return Attributes{{"equation", as_attribute(text)}}; };
  def.samples = {{{"f32[3, 4]", "f32[4, 5]"}, eq("ij,jk->ik")},
                 {{"f32[3, 3]"}, eq("ii->i")},
                 {{"f32[3, 4]"}, eq("ij->ji")},
                 {{"f32[2, 3]", "f32[3, 40]", "f32[40, 2]"}, eq("ab,bc,cd->ad")},
                 {{"f32[2, 3]", "f32[3, 4]", "f32[4, 2]", "f32[2, 5]", "f32[5, 2]", "f32[2, 3]", "f32[3, 2]", "f32[2, 4]",
                   "f32[4]", "f32[2]", "f32[4, 3]", "f32[3]"},
                  eq("ab,bc,cd,de,ef,fg,gh,hi,i,h,ij,j->a")},
                 {{"f32[2, 3, 4]", "f32[4, 5]"}, eq("...ij,jk->...ik")},
                 {{"f32[3, 4]", "f32[4]"}, eq("ij,j")},
                 {{"bf16[3, 4]", "bf16[3, 4]"}, eq("ij,ij->")}};
  def.define = define_einsum;
  table.push_back(std::move(def));
}

}  // namespace facet
