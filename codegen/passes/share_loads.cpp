// share_loads: what a straight run of statements reads several times is read
// once, into a named value.
//
//   set h0_0_0 = fma(splat(a[i, k]), b[k, j..], h0_0_0)            let a_0 =
//   splat(a[i, k]) set h0_0_16 = fma(splat(a[i, k]), b[k, j + 16..], h0_0_16)
//   let b_0 = b[k, j..] set h0_1_0 = fma(splat(a[i + 1, k]), b[k, j..], h0_1_0)
//   -->   set h0_0_0 = fma(a_0, b_0, h0_0_0) ...
//
// Compilers would find these too while the register tile is small; with 28
// accumulators g++ reloads some and spills others, and a reader sees the tile's
// shape. Between the uses no statement may store to what is read. Reads in the
// operands of a select are lazy and stay; so do reads inside subscripts, which
// printers clamp where they stand.
#include "codegen/passes/context.hpp"

#include <cctype>
#include <optional>

#include "facet/expr_walk.hpp"

namespace facet::passes {

namespace {

bool is_unit(const Expr& e) { return e.op == Op::kRead || (e.op == Op::kSplat && e.args[0]->op == Op::kRead); }

const Expr& read_of(const Expr& unit) { return unit.op == Op::kRead ? unit : *unit.args[0]; }

// Reads (or splats of reads) that are certainly evaluated, outermost ones.
void strict_units(const ExprPtr& e, std::vector<ExprPtr>& into) {
  if (!e) return;
  if (is_unit(*e)) {
    into.push_back(e);
    return;
  }
  const std::size_t count = e->op == Op::kSelect && e->args[0]->lanes == 1 ? 1 : e->args.size();
  for (std::size_t i = 0; i < count; ++i) strict_units(e->args[i], into);
}

std::vector<ExprPtr> units_of(const LoopPtr& node) {
  std::vector<ExprPtr> units;
  if (const Store* s = as<Store>(node)) strict_units(s->value, units);
  if (const Let* l = as<Let>(node)) strict_units(l->value, units);
  if (const Set* s = as<Set>(node)) strict_units(s->value, units);
  return units;
}

bool is_straight(const LoopPtr& node) { return as<Store>(node) || as<Let>(node) || as<Set>(node) || as<Comment>(node); }

ExprPtr replace_strict(const ExprPtr& e, const ExprPtr& unit, const ExprPtr& by) {
  if (!e) return e;
  if (same(e, unit)) return by;
  if (is_unit(*e)) return e;
  Expr copy = *e;
  bool changed = false;
  const std::size_t count = e->op == Op::kSelect && e->args[0]->lanes == 1 ? 1 : e->args.size();
  for (std::size_t i = 0; i < count; ++i) {
    const ExprPtr next = replace_strict(e->args[i], unit, by);
    changed = changed || next != e->args[i];
    copy.args[i] = next;
  }
  return changed ? std::make_shared<const Expr>(std::move(copy)) : e;
}

LoopPtr replace_in(const LoopPtr& node, const ExprPtr& unit, const ExprPtr& by) {
  LoopNode copy = *node;
  if (Store* s = std::get_if<Store>(&copy.node)) s->value = replace_strict(s->value, unit, by);
  if (Let* l = std::get_if<Let>(&copy.node)) l->value = replace_strict(l->value, unit, by);
  if (Set* s = std::get_if<Set>(&copy.node)) s->value = replace_strict(s->value, unit, by);
  return std::make_shared<const LoopNode>(std::move(copy));
}

// Does the statement end the value of the read: by storing to its place or
// assigning a name in it?
bool ends(const LoopPtr& node, const Expr& read) {
  if (const Store* s = as<Store>(node)) return !disjoint(access_of(*s, s->value->type), access_of(read));
  if (const Set* s = as<Set>(node)) {
    for (const ExprPtr& a : read.args)
      if (mentions(a, s->name)) return true;
    return read.mask && mentions(read.mask, s->name);
  }
  return false;
}

class Sharing {
 public:
  explicit Sharing(Context& context) : context_(context) {}

  LoopList in_block(const LoopList& block) {
    LoopList list;
    for (const LoopPtr& node : block)
      list.push_back(rebuild(
          node, [](const ExprPtr& e) { return e; }, [&](const LoopList& inner) { return in_block(inner); }));
    for (std::size_t i = 0; i < list.size(); ++i) {
      for (const ExprPtr& unit : units_of(list[i])) {
        if (const std::size_t added = share(list, i, unit); added > 0) i += added;
      }
    }
    return list;
  }

 private:
  Context& context_;

  // Names `unit` before statement `at` if it is used again; gives how many
  // statements were inserted (0 or 1).
  std::size_t share(LoopList& list, std::size_t at, const ExprPtr& unit) {
    const Let* already = as<Let>(list[at]);
    if (already && same(already->value, unit)) return reuse(list, at, unit, *already);
    std::size_t uses = 0;
    std::size_t end = at;
    for (; end < list.size() && is_straight(list[end]); ++end) {
      for (const ExprPtr& other : units_of(list[end])) uses += same(other, unit);
      if (ends(list[end], read_of(*unit))) {
        ++end;
        break;
      }
    }
    if (uses < 2) return 0;
    const std::string name = context_.names.fresh(base_name(read_of(*unit).name));
    const ExprPtr by = value_of(name, unit->type, unit->lanes);
    for (std::size_t i = at; i < end; ++i) list[i] = replace_in(list[i], unit, by);
    list.insert(list.begin() + static_cast<std::ptrdiff_t>(at), make_loop(Let{name, unit->type, unit->lanes, unit, false}));
    return 1;
  }

  std::size_t reuse(LoopList& list, std::size_t at, const ExprPtr& unit, const Let let) {
    if (let.is_mutable) return 0;
    const ExprPtr by = value_of(let.name, unit->type, unit->lanes);
    for (std::size_t i = at + 1; i < list.size() && is_straight(list[i]); ++i) {
      list[i] = replace_in(list[i], unit, by);
      if (ends(list[i], read_of(*unit))) break;
    }
    return 0;
  }

  static std::string base_name(const std::string& buffer) {
    std::string name = buffer;
    for (char& c : name)
      if (!std::isalnum(static_cast<unsigned char>(c))) c = '_';
    return name + "_v";
  }
};

}  // namespace

LoopList share_loads(const LoopList& body, Context& context) { return Sharing(context).in_block(body); }

}  // namespace facet::passes
