// forward_stores: a value that was just stored is used directly, and stores
// that nothing reads go.
//
//   h0[i, j] = 0                                  let h0_acc = 0
//   let h0_acc = h0[i, j]                         for k
//   for k                                           set h0_acc = ...
//     set h0_acc = ...                    -->     let h1_value = h0_acc + b[j]
//   h0[i, j] = h0_acc                             h2[i, j] = max(h1_value, 0)
//   h1[i, j] = h0[i, j] + b[j]
//   h2[i, j] = max(h1[i, j], 0)
//
// (h0 and h1 being local arrays.) Within a block, what each place holds is
// tracked from its last plain store; stores that may overlap, and assignments
// of the named value, end the knowledge. Loops and ifs see what holds at their
// start and is not written in them. A read in some lanes, for a store in the
// same lanes, may take the value of all. A store is dead when the same place
// is stored again in the same block with no read that may overlap in between;
// a local array without reads goes as a whole.
#include "codegen/passes/context.hpp"

#include <algorithm>
#include <optional>

#include "facet/expr_walk.hpp"

namespace facet::passes {

namespace {

struct Known {
  Access place;
  ExprPtr value;
};

// Literals and named values can be repeated; anything else is named first.
bool is_simple(const ExprPtr& e) {
  if (e->op == Op::kLiteral || e->op == Op::kValue) return true;
  if (e->op == Op::kExtract && e->lanes > 1) return is_simple(e->args[0]);
  return e->op == Op::kSplat && is_simple(e->args[0]);
}

void forget_writes(std::vector<Known>& known, const LoopList& body) {
  const std::vector<Access> all = accesses_of(body);
  std::set<std::string> assigned;
  walk_nodes(body, [&](const LoopPtr& n) {
    if (const Set* s = as<Set>(n)) assigned.insert(s->name);
    if (const Collective* c = as<Collective>(n)) assigned.insert(c->target);
    if (as<Barrier>(n) || as<AsyncWait>(n)) known.clear();
  });
  std::erase_if(known, [&](const Known& k) {
    if (mentions_any(k.value, assigned)) return true;
    return std::any_of(all.begin(), all.end(), [&](const Access& a) { return a.writes && !disjoint(a, k.place); });
  });
}

bool reads_place(const LoopList& rest, const Access& place) {
  for (const Access& a : accesses_of(rest))
    if (a.reads && same_place(a, place)) return true;
  return false;
}

class Forward {
 public:
  explicit Forward(Context& context) : context_(context) {}

  LoopList in_block(const LoopList& block, std::vector<Known> known) {
    LoopList out;
    for (std::size_t i = 0; i < block.size(); ++i) {
      const LoopPtr node = block[i];
      if (as<For>(node) || as<If>(node) || as<Sequence>(node) || as<Role>(node)) {
        std::vector<Known> inside = known;
        const bool repeats = as<For>(node) != nullptr;
        if (repeats) forget_writes(inside, {node});
        out.push_back(rebuild(
            node, [&](const ExprPtr& e) { return used(e, inside); },
            [&](const LoopList& inner) { return in_block(inner, inside); }));
        forget_writes(known, {node});
        continue;
      }
      const ExprPtr lanes = as<Store>(node) ? as<Store>(node)->mask : nullptr;
      const LoopPtr next = rebuild(
          node, [&](const ExprPtr& e) { return used(e, known, lanes); }, [](const LoopList& inner) { return inner; });
      if (const Store* s = as<Store>(next)) {
        const LoopList rest(block.begin() + static_cast<std::ptrdiff_t>(i) + 1, block.end());
        store(*s, rest, known, out);
        continue;
      }
      forget_writes(known, {next});
      const Let* l = as<Let>(next);
      if (l && l->value && l->value->op == Op::kRead && !l->value->pad) {
        std::erase_if(known, [&](const Known& k) { return same_place(k.place, access_of(*l->value)); });
        known.push_back({access_of(*l->value), value_of(l->name, l->type, l->lanes)});
      }
      out.push_back(next);
    }
    return out;
  }

 private:
  Context& context_;

  // The lanes of a known vector that a shorter one reads; null: not of this one.
  static ExprPtr part_of(const Known& k, const Access& a) {
    if (a.lanes < 2 || a.lanes >= k.place.lanes || k.value->lanes != k.place.lanes || a.mask || a.lane_stride != 1 ||
        a.padded || k.place.lane_stride != 1 || k.place.mask || k.value->op != Op::kValue || k.value->type != a.type ||
        a.subscripts.empty())
      return nullptr;
    Access start = k.place;
    start.lanes = a.lanes;
    const ExprPtr last = start.subscripts.back();
    if (last->lanes != 1 || a.subscripts.back()->lanes != 1) return nullptr;
    const Linear apart = difference(a.subscripts.back(), last);
    if (!apart.is_constant() || apart.constant < 0 || apart.constant + a.lanes > k.place.lanes) return nullptr;
    start.subscripts.back() = a.subscripts.back();
    if (!same_place(start, a)) return nullptr;
    Expr part;
    part.op = Op::kExtract;
    part.type = a.type;
    part.lanes = a.lanes;
    part.args = {k.value};
    part.int_value = apart.constant;
    return std::make_shared<const Expr>(std::move(part));
  }

  // `lanes`: the only ones whose values count; null: all.
  static ExprPtr used(const ExprPtr& e, const std::vector<Known>& known, const ExprPtr& lanes = nullptr) {
    if (!e || known.empty()) return e;
    return rewrite(e, [&](const ExprPtr& n) -> ExprPtr {
      if (n->op != Op::kRead) return n;
      const Access a = access_of(*n);
      Access all = a;
      if (lanes && same(a.mask, lanes)) all.mask = nullptr;
      for (const Known& k : known)
        if ((same_place(k.place, a) || same_place(k.place, all)) && k.value->lanes == n->lanes) return k.value;
      for (const Known& k : known)
        if (const ExprPtr part = part_of(k, a)) return part;
      return n;
    });
  }

  // An update of a known value is a plain store: top[0] = -inf; top[0] max= x  is  top[0] = x.
  static void resolve_update(Store& s, const std::vector<Known>& known) {
    if (!s.update || s.atomic || operator_of(*s.update) == Op::kReduce) return;
    const Access place = access_of(s, s.value->type);
    for (const Known& k : known) {
      if (!same_place(k.place, place) || k.value->lanes != s.value->lanes) continue;
      const bool starts = *s.update == ReduceKind::kMax || *s.update == ReduceKind::kMin;
      if (!starts || !same(k.value, identity_of(*s.update, s.value->type)))
        s.value = binary(operator_of(*s.update), k.value, s.value);
      s.update.reset();
      return;
    }
  }

  void store(Store s, const LoopList& rest, std::vector<Known>& known, LoopList& out) {
    resolve_update(s, known);
    const Access place = access_of(s, s.value->type);
    const bool plain = !s.update && !s.atomic && s.lane_stride == 1;
    if (plain && !is_simple(s.value) && reads_place(rest, place)) {
      std::string base = s.buffer;
      std::replace(base.begin(), base.end(), '.', '_');
      const std::string name = context_.names.fresh(base + "_value");
      out.push_back(make_loop(Let{name, s.value->type, s.lanes, s.value, false}));
      s.value = value_of(name, s.value->type, s.lanes);
    }
    const LoopPtr node = make_loop(Store(s));
    forget_writes(known, {node});
    bool fixed = true;
    for (const ExprPtr& e : s.subscripts) fixed = fixed && accesses_of(e).empty();
    if (plain && fixed && is_simple(s.value) && s.value->lanes == s.lanes) known.push_back({place, s.value});
    out.push_back(node);
  }
};

bool is_dead(const LoopList& block, std::size_t at) {
  const Store& s = *as<Store>(block[at]);
  if (s.update || s.atomic) return false;
  const Access place = access_of(s, s.value->type);
  for (std::size_t i = at + 1; i < block.size(); ++i) {
    for (const Access& a : accesses_of(LoopList{block[i]}))
      if (a.reads && !disjoint(a, place)) return false;
    if (as<Barrier>(block[i])) return false;
    const Store* next = as<Store>(block[i]);
    if (next && !next->update && same_place(access_of(*next, next->value->type), place)) return true;
  }
  return false;
}

LoopList without_stores_to(const LoopList& body, const std::string& buffer) {
  LoopList out;
  for (const LoopPtr& node : body) {
    const Store* s = as<Store>(node);
    if (s && s->buffer == buffer) continue;
    out.push_back(rebuild(
        node, [](const ExprPtr& e) { return e; }, [&](const LoopList& inner) { return without_stores_to(inner, buffer); }));
  }
  return out;
}

LoopList without_dead(const LoopList& body, Context& context) {
  LoopList out;
  for (std::size_t i = 0; i < body.size(); ++i) {
    if (as<Store>(body[i]) && is_dead(body, i)) continue;
    out.push_back(rebuild(
        body[i], [](const ExprPtr& e) { return e; }, [&](const LoopList& inner) { return without_dead(inner, context); }));
  }
  for (std::size_t i = 0; i < out.size(); ++i) {
    const Allocate* a = as<Allocate>(out[i]);
    if (!a) continue;
    const std::string name = a->buffer.name;
    LoopList rest(out.begin() + static_cast<std::ptrdiff_t>(i) + 1, out.end());
    const std::vector<Access> all = accesses_of(rest);
    if (std::any_of(all.begin(), all.end(), [&](const Access& x) { return x.buffer == name && (x.reads || x.atomic); }))
      continue;
    context.note("registers", name, true, "the local array is not needed: its values have names");
    rest = without_stores_to(rest, name);
    out.resize(i);
    out.insert(out.end(), rest.begin(), rest.end());
    --i;
  }
  return out;
}

}  // namespace

LoopList forward_stores(const LoopList& body, Context& context) {
  return without_dead(Forward(context).in_block(body, {}), context);
}

}  // namespace facet::passes
