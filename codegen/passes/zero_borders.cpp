// zero_borders: padded copies leave known zeros, and sums that read them have terms that add nothing.
//
//   t[c, r + 1] = a[c, r] ? 0        -->      t[., d] is zero unless 0 <= d - 1 < the extent of a
//
// An array counts when every store to it in the kernel is a copy of a padded read, the padding zero, and a subscript of the
// read is the array's own plus a `shift` that does not change in the copy. The shift holds wherever the array is in reach, so
// it may mention symbols and, for a local array, the loops around its declaration.
#include "codegen/passes/zeros.hpp"

#include <algorithm>

namespace facet::passes {

namespace {

bool is_zero(const ExprPtr& e) { return e->op == Op::kLiteral && e->int_value == 0 && e->float_value == 0; }

class Borders {
 public:
  explicit Borders(const Context& context) : context_(context) {}

  void in_block(const LoopList& block, std::set<std::string> loops) {
    for (const LoopPtr& n : block) {
      if (const Allocate* a = as<Allocate>(n)) around_[a->buffer.name] = loops;
      if (const Store* s = as<Store>(n)) note(*s);
      std::set<std::string> inner = loops;
      if (const For* f = as<For>(n)) inner.insert(f->iterator);
      rebuild(
          n, [](const ExprPtr& e) { return e; },
          [&](const LoopList& list) {
            in_block(list, inner);
            return list;
          });
    }
  }

  std::vector<ZeroBorder> list() const {
    std::vector<ZeroBorder> out;
    for (const auto& [name, borders] : found_) out.insert(out.end(), borders.begin(), borders.end());
    return out;
  }

 private:
  const Context& context_;
  std::map<std::string, std::set<std::string>> around_;  // local array -> loops around its declaration
  std::map<std::string, std::vector<ZeroBorder>> found_;

  void note(const Store& s) {
    std::vector<ZeroBorder> here = borders_of(s);
    const auto [at, first] = found_.try_emplace(s.buffer, here);
    if (first) return;
    std::vector<ZeroBorder>& all = at->second;  // what every store agrees on
    all.erase(std::remove_if(all.begin(), all.end(),
                             [&](const ZeroBorder& a) {
                               return std::none_of(here.begin(), here.end(), [&](const ZeroBorder& b) {
                                 return a.dim == b.dim && same(a.shift, b.shift) && same(a.extent, b.extent);
                               });
                             }),
              all.end());
  }

  bool holds_everywhere(const Store& s, const ExprPtr& shift) const {
    const auto local = around_.find(s.buffer);
    bool good = true;
    walk(shift, [&](const Expr& e) {
      if (e.op != Op::kIndex && e.op != Op::kLiteral && e.op != Op::kAdd && e.op != Op::kSub && e.op != Op::kMul) good = false;
      if (e.op != Op::kIndex) return;
      const auto is_symbol = [&](const Symbol& symbol) { return symbol.name == e.name; };
      const std::vector<Symbol>& symbols = context_.program->symbols;
      good = good && (std::any_of(symbols.begin(), symbols.end(), is_symbol) ||
                      (local != around_.end() && local->second.count(e.name)));
    });
    return good;
  }

  bool only_here(const Buffer& buffer) const {
    if (buffer.role == BufferRole::kLocal) return true;
    if (buffer.role != BufferRole::kWorkspace) return false;
    const auto uses = [&](const std::vector<Kernel>& kernels) {
      return std::count_if(kernels.begin(), kernels.end(), [&](const Kernel& k) {
        return std::find(k.buffers.begin(), k.buffers.end(), buffer.name) != k.buffers.end();
      });
    };
    return uses(context_.program->kernels) + uses(context_.program->prepare) <= 1;
  }

  std::vector<ZeroBorder> borders_of(const Store& s) const {
    const ExprPtr& v = s.value;
    const Buffer *to = context_.find(s.buffer), *from = v->op == Op::kRead ? context_.find(v->name) : nullptr;
    if (!to || !from || !only_here(*to) || s.update || s.mask || s.lanes > 1 || v->mask || !v->pad || !is_zero(v->pad))
      return {};
    std::vector<ZeroBorder> out;
    for (std::size_t d = 0; d < s.subscripts.size(); ++d) {
      if (to_linear(s.subscripts[d]).is_constant()) continue;
      for (std::size_t e = 0; e < v->args.size(); ++e) {
        const Linear shift = difference(v->args[e], s.subscripts[d]);
        if (to_linear(v->args[e]).is_constant() || !holds_everywhere(s, to_expr(shift))) continue;
        out.push_back({s.buffer, d, to_expr(shift), from->extents[e]});
        break;
      }
    }
    return out;
  }
};

// The read behind names and splats.
const Expr* resolved(const ExprPtr& e, const TermScope& scope) {
  const Expr* at = e.get();
  for (int step = 0; step < 4; ++step) {
    if (at->op == Op::kSplat) {
      at = at->args[0].get();
    } else if (at->op == Op::kValue && scope.lets.count(at->name)) {
      at = scope.lets.at(at->name).get();
    }
  }
  return at->op == Op::kRead && !at->pad ? at : nullptr;
}

std::vector<BorderTest> tests_of(const Expr& read, const TermScope& scope, const std::vector<ZeroBorder>& borders) {
  std::vector<BorderTest> tests;
  for (const ZeroBorder& b : borders) {
    if (b.buffer != read.name || (read.lanes > 1 && b.dim + 1 == read.args.size()) || read.args[b.dim]->lanes > 1) continue;
    const Linear form = sum(to_linear(read.args[b.dim]), to_linear(b.shift));
    BorderTest t{to_expr(form), b.extent};
    t.before = !scope.facts.at_most(idx(0), t.position);
    t.behind = !scope.facts.less(t.position, t.extent);
    if (t.before || t.behind) tests.push_back(t);
  }
  return tests;
}

}  // namespace

std::vector<ZeroBorder> zero_borders(const LoopList& body, const Context& context) {
  Borders borders(context);
  borders.in_block(body, {});
  return borders.list();
}

void TermScope::enter(const For& f) {
  facts.add_range(f.iterator, f.lower, f.upper);
  path.push_back(&f);
}

void TermScope::see(const LoopPtr& node) {
  const Let* l = as<Let>(node);
  if (l && l->value && !l->is_mutable) lets[l->name] = l->value;
}

bool term_of(const LoopPtr& node, const TermScope& scope, const std::vector<ZeroBorder>& borders, PaddedTerm* term) {
  const Set* s = as<Set>(node);
  if (!s) return false;
  const Expr& v = *s->value;
  const auto is_sum = [&](const ExprPtr& e) { return e->op == Op::kValue && e->name == s->name; };
  std::vector<ExprPtr> factors;
  if (v.op == Op::kFma && is_sum(v.args[2])) {
    factors = {v.args[0], v.args[1]};
  } else if (v.op == Op::kAdd) {
    for (std::size_t i = 0; i < 2; ++i)
      if (is_sum(v.args[i]) && v.args[1 - i]->op == Op::kMul) factors = v.args[1 - i]->args;
  }
  for (std::size_t i = 0; i < factors.size(); ++i) {
    const Expr* read = resolved(factors[i], scope);
    const Expr* other = resolved(factors[1 - i], scope);
    if (!read || !other || other->mask || !(is_float(v.type) || is_integer(v.type))) continue;
    *term = {s->name, std::make_shared<const Expr>(*other), tests_of(*read, scope, borders), scope.path};
    if (!term->tests.empty()) return true;
  }
  return false;
}

std::vector<PaddedTerm> terms_in(const LoopList& block, const TermScope& scope, const std::vector<ZeroBorder>& borders) {
  std::vector<PaddedTerm> out;
  TermScope here = scope;
  for (const LoopPtr& n : block) {
    PaddedTerm term;
    if (term_of(n, here, borders, &term)) out.push_back(term);
    here.see(n);
    TermScope inner = here;
    if (const For* f = as<For>(n)) inner.enter(*f);
    rebuild(
        n, [](const ExprPtr& e) { return e; },
        [&](const LoopList& list) {
          const std::vector<PaddedTerm> below = terms_in(list, inner, borders);
          out.insert(out.end(), below.begin(), below.end());
          return list;
        });
  }
  return out;
}

std::vector<const For*> loops_of(std::vector<ExprPtr> asks, const std::vector<const For*>& path) {
  std::vector<const For*> loops;
  for (std::size_t i = path.size(); i-- > 0;) {
    const For* f = path[i];
    if (std::none_of(asks.begin(), asks.end(), [&](const ExprPtr& e) { return mentions(e, f->iterator); })) continue;
    loops.insert(loops.begin(), f);
    asks.push_back(f->lower);
    asks.push_back(f->upper);
  }
  return loops;
}

}  // namespace facet::passes
