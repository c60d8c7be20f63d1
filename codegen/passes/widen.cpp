// widen: register tiles whose results stay in a local tile need no code for partial tiles.
//
//   allocate t[14, 32]                                    allocate t[14, 32]
//   for i in 14*ir..min(M, 14*ir + 14)   unroll           for i in 14*ir..14*ir + 14   unroll
//     for j in 32*jr..min(N, 32*jr + 32)   vector   -->     for j in 32*jr..32*jr + 32   vector
//       t[i - 14*ir, j - 32*jr] += a[ir, k, i - 14*ir] * b[jr, k, j - 32*jr]
//   for i in 14*ir..min(M, 14*ir + 14)                    for i in 14*ir..min(M, 14*ir + 14)
//     for j ..  c[i, j] = t[i - 14*ir, j - 32*jr]           for j ..  c[i, j] = t[i - 14*ir, j - 32*jr]
//
// A requested loop runs to its full constant extent, past the end of the domain, where that cannot be seen: it stores to local
// tiles only, and reads none that only a loop over the domain itself fills; every access to such a tile in the kernel stands in
// a loop of the same bounds and names the same place from its iterator, so that what lies past the end is touched by widened
// iterations alone; and all its stores and reads, packed buffers with room to the full extent say, stay inside their buffers.
// In a loop of a GPU block a plain store's reads that may leave their buffers are padded: a tile of the block starts
// everywhere, then its updates need no guards. Without it a tile has up to five versions (full, partial in either axis,
// remainder rows), which cost compile time and run the edges at a fraction of the speed. peel takes what is refused here. Known
// elsewhere as padding of partial tiles in BLIS micro-kernels, overcomputation.
#include "codegen/passes/tiles.hpp"

#include <algorithm>
#include <functional>

#include "facet/expr_walk.hpp"

namespace facet::passes {

namespace {

// Where a tile is met: the subscript in dimension d is iterator + rest, the loop of the axis around it.
struct Meeting {
  std::string buffer;
  std::vector<ExprPtr> subscripts;
  std::vector<For> around;  // without bodies
};

void collect(const LoopList& body, std::vector<For>& around, const std::set<std::string>& tiles, std::vector<Meeting>& found) {
  for (const LoopPtr& node : body) {
    std::vector<Access> here;
    LoopList nested;
    rebuild(
        node,
        [&](const ExprPtr& e) {
          for (Access& a : accesses_of(e)) here.push_back(std::move(a));
          return e;
        },
        [&](const LoopList& inner) {
          nested.insert(nested.end(), inner.begin(), inner.end());
          return inner;
        });
    if (const Store* s = as<Store>(node)) here.push_back(access_of(*s, s->value->type));
    for (const Access& a : here)
      if (tiles.count(a.buffer)) found.push_back({a.buffer, a.subscripts, around});
    const For* f = as<For>(node);
    if (f) {
      For bare = *f;
      bare.body.clear();
      around.push_back(bare);
    }
    collect(nested, around, tiles, found);
    if (f) around.pop_back();
  }
}

std::set<std::string> local_tiles(const LoopList& body) {
  std::set<std::string> names;
  walk_nodes(body, [&](const LoopPtr& node) {
    const Allocate* a = as<Allocate>(node);
    if (!a || a->buffer.space == MemorySpace::kGlobal) return;
    bool constant = true;
    std::int64_t value = 0;
    for (const ExprPtr& e : a->buffer.extents) constant = constant && constant_value(e, &value);
    if (constant) names.insert(a->buffer.name);
  });
  return names;
}

class Widening {
 public:
  Widening(const LoopList& body, Context& context) : context_(context), tiles_(local_tiles(body)) {
    std::vector<For> around;
    collect(body, around, tiles_, meetings_);
  }

  LoopList run(const LoopList& body, const Facts& facts) {
    for (std::size_t known = partial_.size() + 1; known != partial_.size();) {
      known = partial_.size();
      whole_.clear();
      in_block(body, facts);
    }
    noting_ = true;
    whole_.clear();
    return in_block(body, facts);
  }

 private:
  LoopList in_block(const LoopList& body, const Facts& facts) {
    LoopList out;
    for (const LoopPtr& node : body) {
      Facts inner = facts;
      const For* f = as<For>(node);
      LoopPtr next = node;
      if (f) {
        const std::optional<Axis> axis = axis_of(*f);
        if (axis && fits(*f, *axis, facts) && !uses_partial(f->body)) {
          next = widened(*f, *axis);
          note_fillers(f->body, f->iterator, &whole_);
        } else if (axis || (keeps_to_domain(*f) && !goes_on(*f, after(body, node)))) {
          note_fillers(f->body, f->iterator, &partial_);
        }
        inner.add_range(f->iterator, as<For>(next)->lower, as<For>(next)->upper);
      }
      if (const If* i = as<If>(node)) inner.add_condition(i->condition);  // of no use to `otherwise`, which is left alone
      const bool branches = as<If>(node) && !as<If>(node)->otherwise.empty();
      out.push_back(branches ? node
                             : rebuild(
                                   next, [](const ExprPtr& e) { return e; },
                                   [&](const LoopList& list) { return in_block(list, inner); }));
    }
    return out;
  }

  Context& context_;
  std::set<std::string> tiles_;
  std::vector<Meeting> meetings_;
  // Tiles that a loop fills which keeps to its domain, and those that a widened loop fills first. What lies past the end of the
  // domain in one of the former alone has never been written: nobody may go there for it.
  std::set<std::string> partial_, whole_;
  bool noting_ = false;

  static LoopPtr after(const LoopList& body, const LoopPtr& node) {
    const auto next = std::next(std::find(body.begin(), body.end(), node));
    return next == body.end() ? nullptr : *next;
  }

  // Does the next loop begin where this one ends? A copy and the zeros behind it (split_padding) fill the tile together.
  static bool goes_on(const For& f, const LoopPtr& next) {
    const For* rest = next ? as<For>(next) : nullptr;
    return rest && same(rest->lower, f.upper);
  }

  // A loop of a tile, requested or not, that ends with the domain.
  static bool keeps_to_domain(const For& f) {
    return operands_of(Op::kMin, f.upper).size() > 1 || operands_of(Op::kMax, f.lower).size() > 1;
  }

  // An array between statements, wherever it lies: what nobody has written there is nobody's to read.
  bool is_own(const std::string& name) const {
    const Buffer* b = context_.find(name);
    return tiles_.count(name) || (b && (b->role == BufferRole::kLocal || b->role == BufferRole::kWorkspace));
  }

  void note_fillers(const LoopList& body, const std::string& axis, std::set<std::string>* names) {
    for_each_store(body, [&](const Store& s) {
      const auto along = [&](const ExprPtr& e) { return to_linear(e).coefficient_of(axis) != 0; };
      if (!s.update && is_own(s.buffer) && std::any_of(s.subscripts.begin(), s.subscripts.end(), along))
        names->insert(s.buffer);
    });
  }

  bool uses_partial(const LoopList& body) const {
    const auto partial = [&](const std::string& name) { return partial_.count(name) && !whole_.count(name); };
    bool uses = false;
    for_each_store(body, [&](const Store& s) {
      uses = uses || (s.update && partial(s.buffer));
      walk(s.value, [&](const Expr& e) { uses = uses || (e.op == Op::kRead && partial(e.name)); });
    });
    return uses;
  }

  static void for_each_store(const LoopList& body, const std::function<void(const Store&)>& visit) {
    walk_nodes(body, [&](const LoopPtr& n) {
      if (const Store* s = as<Store>(n)) visit(*s);
    });
  }

  LoopPtr widened(const For& f, const Axis& axis) {
    For full = f;
    full.lower = axis.lower;
    full.upper = to_expr(sum(to_linear(axis.lower), constant_form(axis.extent)));
    if (f.kind == LoopKind::kMapped) full.body = padded(full.body);
    if (noting_)
      context_.note("widen", f.iterator, true, "full tiles of " + std::to_string(axis.extent) + " past the end of the domain");
    return make_loop(std::move(full));
  }

  // simplify takes away what is not needed.
  LoopList padded(const LoopList& body) const {
    LoopList out;
    for (const LoopPtr& node : body) {
      const Store* s = as<Store>(node);
      if (!s || s->update) {
        out.push_back(rebuild(
            node, [](const ExprPtr& e) { return e; }, [&](const LoopList& list) { return padded(list); }));
        continue;
      }
      Store copy = *s;
      copy.value = rewrite(s->value, [&](const ExprPtr& e) {
        if (e->op != Op::kRead || e->pad || tiles_.count(e->name)) return e;
        Expr read = *e;
        read.pad = is_float(e->type) ? literal(e->type, 0) : int_literal(e->type, 0);
        return ExprPtr(std::make_shared<const Expr>(std::move(read)));
      });
      out.push_back(make_loop(std::move(copy)));
    }
    return out;
  }

  bool can_pad(const Expr& e, const For& axis, const Store& s) const {
    if (axis.kind != LoopKind::kMapped || s.update || e.mask || e.lanes > 1 || tiles_.count(e.name)) return false;
    return std::all_of(e.args.begin(), e.args.end(), [](const ExprPtr& a) { return accesses_of(a).empty(); });
  }

  bool fits(const For& f, const Axis& axis, const Facts& facts) const {
    Facts inside = facts;
    inside.add_range(f.iterator, axis.lower, to_expr(sum(to_linear(axis.lower), constant_form(axis.extent))));
    return body_fits(f.body, f, inside);
  }

  bool body_fits(const LoopList& body, const For& axis, const Facts& facts) const {
    for (const LoopPtr& node : body) {
      if (as<Comment>(node)) continue;
      if (const For* f = as<For>(node)) {
        // The extent of a requested loop inside may be widened too: its own facts are those of its bounds as they are.
        if (f->kind == LoopKind::kParallel || mentions(f->lower, axis.iterator) || mentions(f->upper, axis.iterator))
          return false;
        Facts inner = facts;
        inner.add_range(f->iterator, f->lower, f->upper);
        if (!body_fits(f->body, axis, inner)) return false;
        continue;
      }
      const Store* s = as<Store>(node);
      if (!s || s->atomic || s->mask || !stays_in_tile(*s, axis) || !is_inside(s->buffer, s->subscripts, facts) ||
          !reads_fit(*s, axis, facts))
        return false;
    }
    return true;
  }

  bool reads_fit(const Store& s, const For& axis, const Facts& facts) const {
    bool good = true;
    walk(s.value, [&](const Expr& e) {
      if (e.op != Op::kRead) return;
      if (can_pad(e, axis, s)) return;
      good = good && !e.pad && !e.mask && is_inside(e.name, e.args, facts);
    });
    return good;
  }

  bool is_inside(const std::string& name, const std::vector<ExprPtr>& subscripts, const Facts& facts) const {
    const Buffer* buffer = context_.find(name);
    return buffer && facts.inside(subscripts, extents_of(*buffer));
  }

  // In the words of the simplified tree.
  std::vector<ExprPtr> extents_of(const Buffer& buffer) const {
    std::vector<ExprPtr> extents = buffer.extents;
    for (ExprPtr& e : extents) e = simplify_expr(e, context_.symbol_facts(), context_);
    return extents;
  }

  // The dimension of the tile that the axis walks, the same for everyone who touches the tile.
  bool stays_in_tile(const Store& s, const For& axis) const {
    if (!tiles_.count(s.buffer)) return false;
    for (std::size_t d = 0; d < s.subscripts.size(); ++d) {
      if (to_linear(s.subscripts[d]).coefficient_of(axis.iterator) != 1) continue;
      return std::all_of(meetings_.begin(), meetings_.end(), [&](const Meeting& m) {
        return m.buffer != s.buffer || walks(m, d, axis, difference(s.subscripts[d], index(axis.iterator)));
      });
    }
    return false;
  }

  static bool walks(const Meeting& m, std::size_t d, const For& axis, const Linear& rest) {
    for (const For& f : m.around) {
      if (!same_extent(f, axis)) continue;
      const Linear apart = sum(difference(m.subscripts[d], index(f.iterator)), rest, -1);
      if (apart.is_constant() && apart.constant == 0) return true;
    }
    return false;
  }
};

}  // namespace

LoopList widen(const LoopList& body, Context& context) { return Widening(body, context).run(body, context.symbol_facts()); }

}  // namespace facet::passes
