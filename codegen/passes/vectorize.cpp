// vectorize: a loop whose iterations are independent (or reduce) runs in
// vectors.
//
//   for j in 0..N   vector(16)                for j in 0..N - 15 step 16
//     s[i] += x[i, j] * x[i, j]      -->        s_sum = fma(x[i, j..j+16], x[i,
//     j..j+16], s_sum)
//                                             if 16*(N/16) < N   (tail)
//                                               s_sum = select(active,
//                                               fma(masked read ...), s_sum)
//                                             s[i] += lane_reduce(s_sum)
//
// Shapes, by the extent (upper - lower):
//   constant, at most kMaxVectors vectors        copies side by side (register
//   tile), the last one masked if it does not divide at most a constant (a
//   partial tile)          as many copies, each masked by lane < remaining
//   otherwise                                    a loop over whole vectors,
//   then one masked vector; reductions run in
//                                                kAccumulators independent
//                                                vectors together first, those
//                                                of one joined in a fixed tree
// That the iterations are independent was judged by whoever made the request;
// what a body holds that has no vector form is a refusal with its reason, and
// the loop stays scalar. lanes.hpp says what becomes of each statement.
#include "codegen/passes/lanes.hpp"
#include "codegen/passes/tiles.hpp"

#include <algorithm>
#include <optional>

#include "facet/expr_walk.hpp"

namespace facet::passes {

namespace {

constexpr std::int64_t kMaxVectors = 8;       // copies side by side; more would not fit the register files with their
                                              // operands
constexpr std::int64_t kMaxMasked = 4;        // of them masked, for partial tiles
constexpr std::int64_t kAccumulators = 4;     // latency 4 at one or two fused multiply-adds
                                              // a cycle (Zen 4, Intel: 4 x 0.5..1)
constexpr std::int64_t kAllAccumulators = 8;  // of all reductions of a body together: that latency at two a cycle

struct Part {
  ExprPtr base;
  ExprPtr mask;  // kBool vector or null
};

// Vector code of one or several parts side by side, and the accumulators of its
// reductions.
struct Piece {
  LoopList body;
  std::vector<std::vector<LaneReduction>> reductions;  // per part
};

class Vectorization {
 public:
  Vectorization(const For& f, const Facts& facts, Context& context, std::int64_t copies)
      : loop_(f), facts_(facts), context_(context), copies_(copies) {
    width_ = f.width > 0 ? f.width : widest();
  }

  // Empty: refused, see refusal().
  std::optional<LoopList> run() {
    if (loop_.step != 1) return refuse("it runs in steps of " + std::to_string(loop_.step));
    if (width_ < 2) return refuse("vectors of one lane");
    const Linear extent = difference(loop_.upper, loop_.lower);
    if (extent.is_constant() && extent.constant <= kMaxVectors * width_) return constant(extent.constant);
    if (const std::int64_t most = at_most(); most > 0) return partial(most);
    return open();
  }
  const std::string& refusal() const { return refusal_; }
  int width() const { return width_; }

 private:
  const For& loop_;
  Facts facts_;
  Context& context_;
  std::int64_t copies_;
  int width_ = 0;
  std::string refusal_;
  std::vector<LoopPtr> accumulators_;                   // Lets, before everything
  std::vector<std::vector<LaneReduction>> reductions_;  // of all parts so far

  std::optional<LoopList> refuse(const std::string& why) {
    refusal_ = why;
    return std::nullopt;
  }

  int widest() const {
    std::int64_t bytes = 1;
    for (const Access& a : accesses_of(loop_.body)) bytes = std::max(bytes, size_bytes(a.type));
    return static_cast<int>(context_.machine.vector_bytes / bytes);
  }

  // The least multiple of the width, up to kMaxMasked vectors, that the extent
  // never exceeds. 0 if none.
  std::int64_t at_most() const {
    // An extent of symbols alone is no tile's rest: one loop serves small and large sizes better than masked copies.
    const std::int64_t most = mentions_iterator(idx_sub(loop_.upper, loop_.lower)) ? kMaxMasked : 1;
    for (std::int64_t vectors = 1; vectors <= most; ++vectors)
      for (const ExprPtr& u : operands_of(Op::kMin, loop_.upper))
        if (facts_.at_most(idx_sub(u, loop_.lower), idx(vectors * width_))) return vectors * width_;
    return 0;
  }

  bool mentions_iterator(const ExprPtr& e) const {
    bool found = false;
    walk(e, [&](const Expr& n) {
      if (n.op != Op::kIndex && n.op != Op::kValue) return;
      bool symbol = false;
      for (const Symbol& s : context_.program->symbols) symbol = symbol || s.name == n.name;
      found = found || !symbol;
    });
    return found;
  }

  // Lanes of the vector at `base` that lie below the loop's upper bound.
  ExprPtr lanes_left(const ExprPtr& base) const {
    ExprPtr bound;
    for (const ExprPtr& u : operands_of(Op::kMin, loop_.upper)) {
      if (facts_.at_most(idx(width_), idx_sub(u, base))) continue;  // cuts no lane of this vector
      const ExprPtr left = idx_sub(u, base);
      bound = bound ? idx_min(bound, left) : left;
    }
    if (!bound) return nullptr;
    return binary(Op::kLt, iota_from(idx(0), width_), splat_to(simplify_expr(bound, facts_, context_), width_));
  }

  // Vectorises the parts; the accumulators of part p of the first call are
  // shared with part p of later ones.
  std::optional<LoopList> parts(const std::vector<Part>& all, bool jam, const Facts& facts) {
    std::vector<LoopList> copies;
    for (std::size_t p = 0; p < all.size(); ++p) {
      Lanes lanes(loop_, all[p].base, width_, all[p].mask, facts, context_);
      LoopList body = lanes.body();
      if (!lanes.refusal().empty()) return refuse(lanes.refusal());
      body = adopt(body, p, lanes.reductions());
      copies.push_back(std::move(body));
    }
    return side_by_side(std::move(copies), jam, context_);
  }

  // Declares the accumulators of a new part, or renames them to those that part
  // p has already.
  LoopList adopt(const LoopList& body, std::size_t p, const std::vector<LaneReduction>& found) {
    if (p < reductions_.size()) {
      std::map<std::string, std::string> names;
      for (std::size_t r = 0; r < found.size(); ++r) names[found[r].accumulator] = reductions_[p][r].accumulator;
      LoopList renamed = rename(body, names);
      return renamed;
    }
    reductions_.push_back(found);
    for (const LaneReduction& r : found) {
      const DType type = r.store.value->type;
      accumulators_.push_back(
          make_loop(Let{r.accumulator, type, width_, splat_to(identity_of(*r.store.update, type), width_), true}));
    }
    return body;
  }

  // The stores that finish the reductions: parts joined pairwise, then over the
  // lanes.
  LoopList finish() {
    LoopList out;
    for (std::size_t r = 0; !reductions_.empty() && r < reductions_[0].size(); ++r) {
      const Store& store = reductions_[0][r].store;
      const DType type = store.value->type;
      std::vector<ExprPtr> level;
      for (const std::vector<LaneReduction>& part : reductions_) level.push_back(value_of(part[r].accumulator, type, width_));
      while (level.size() > 1) {
        std::vector<ExprPtr> next;
        for (std::size_t i = 0; i < level.size(); i += 2)
          next.push_back(i + 1 < level.size() ? binary(operator_of(*store.update), level[i], level[i + 1]) : level[i]);
        level = std::move(next);
      }
      Store last = store;
      last.value = lane_reduce(*store.update, level[0]);
      out.push_back(where_iterated(last));
    }
    return out;
  }

  // Of a loop without iterations the reduction has no place: what the subscripts name may be another's, who is at it now. (A
  // thread's own array has no others.)
  LoopPtr where_iterated(const Store& store) const {
    const LoopPtr stored = stored_inside(store, facts_, context_);
    const Buffer* buffer = context_.find(store.buffer);
    if (!buffer || buffer->role == BufferRole::kLocal || facts_.less(loop_.lower, loop_.upper)) return stored;
    return make_loop(If{binary(Op::kLt, loop_.lower, loop_.upper), {stored}, {}, false});
  }

  LoopList assembled(const LoopList& middle) {
    LoopList all(accumulators_.begin(), accumulators_.end());
    all.insert(all.end(), middle.begin(), middle.end());
    for (const LoopPtr& n : finish()) all.push_back(n);
    return all;
  }

  std::optional<LoopList> constant(std::int64_t extent) {
    if (extent <= 0) return LoopList{};
    LoopList before;
    std::vector<Part> all;
    for (std::int64_t done = 0; done < extent; done += width_) {
      const ExprPtr base = idx_add(loop_.lower, idx(done));
      all.push_back({base, extent - done < width_ ? named_mask(lanes_left(base), before) : nullptr});
    }
    std::optional<LoopList> body = parts(all, true, facts_);
    if (!body) return body;
    before.insert(before.end(), body->begin(), body->end());
    return assembled(before);
  }

  std::optional<LoopList> partial(std::int64_t most) {
    LoopList before;
    std::vector<Part> all;
    for (std::int64_t done = 0; done < most; done += width_) {
      const ExprPtr base = idx_add(loop_.lower, idx(done));
      all.push_back({base, named_mask(lanes_left(base), before)});
    }
    std::optional<LoopList> body = parts(all, true, facts_);
    if (!body) return body;
    before.insert(before.end(), body->begin(), body->end());
    return assembled(before);
  }

  ExprPtr named_mask(const ExprPtr& mask, LoopList& before) {
    if (!mask) return mask;
    const std::string name = context_.names.fresh(loop_.iterator + "_active");
    before.push_back(make_loop(Let{name, DType::kBool, width_, mask, false}));
    return value_of(name, DType::kBool, width_);
  }

  // A loop over groups of `count` whole vectors from `lower`; *first is lane 0 of the group. It steps by the group's size, or
  // counts groups where the body divides the iterator: only then can j/32 be resolved.
  For whole_vectors(const ExprPtr& lower, std::int64_t count, ExprPtr* first) {
    For f = loop_;
    f.kind = LoopKind::kSerial;
    f.width = 0;
    if (!divides()) {
      f.lower = lower;
      f.step = count * width_;
      f.upper = idx_sub(loop_.upper, idx(f.step - 1));
      *first = index(loop_.iterator);
      return f;
    }
    f.iterator = context_.names.fresh(loop_.iterator + "v");
    f.lower = idx(0);
    f.upper = groups(lower, count);
    *first = idx_add(lower, idx_mul(idx(count * width_), index(f.iterator)));
    return f;
  }

  Facts inside(const For& f) const {
    Facts facts = facts_;
    facts.add_range(f.iterator, f.lower, f.upper);
    return facts;
  }

  // Is the iterator divided by something in the body?
  bool divides() const {
    bool found = false;
    walk_expressions(loop_.body, [&](const ExprPtr& e) {
      walk(e, [&](const Expr& n) {
        if (n.op == Op::kFloorDiv || n.op == Op::kFloorMod || n.op == Op::kTruncDiv || n.op == Op::kTruncMod)
          found = found || mentions(n.args[0], loop_.iterator);
      });
    });
    return found;
  }

  ExprPtr groups(const ExprPtr& lower, std::int64_t count) const {
    const ExprPtr extent = idx_max(idx_sub(loop_.upper, lower), idx(0));
    return simplify_expr(binary(Op::kTruncDiv, extent, idx(count * width_)), facts_, context_);
  }

  ExprPtr after_whole(const ExprPtr& lower, std::int64_t count) const {
    return simplify_expr(idx_add(lower, idx_mul(idx(count * width_), groups(lower, count))), facts_, context_);
  }

  std::optional<LoopList> open() {
    LoopList all;
    ExprPtr lower = loop_.lower;
    ExprPtr here;
    if (const std::int64_t each = accumulators_each(); each > 1) {
      For wide = whole_vectors(lower, each, &here);
      std::vector<Part> many;
      for (std::int64_t p = 0; p < each; ++p) many.push_back({idx_add(here, idx(p * width_)), nullptr});
      std::optional<LoopList> body = parts(many, true, inside(wide));
      if (!body) return body;
      wide.body = *body;
      all.push_back(make_loop(std::move(wide)));
      lower = named_index(after_whole(lower, each), all);
    }
    if (const ExprPtr border = divides() ? nullptr : to_line_border(loop_, width_, context_)) {
      if (!start_of_row(border, all)) return std::nullopt;
      lower = named_index(idx_add(loop_.lower, border), all);
      facts_.add_range(lower->name, idx_add(loop_.lower, idx(1)), idx_add(loop_.lower, idx(width_ + 1)));
    }
    For whole = whole_vectors(lower, 1, &here);
    std::optional<LoopList> body = parts({{here, nullptr}}, false, inside(whole));
    if (!body) return body;
    whole.body = *body;
    all.push_back(make_loop(std::move(whole)));
    const ExprPtr tail = after_whole(lower, 1);
    if (!facts_.at_most(loop_.upper, tail)) {
      If rest{binary(Op::kLt, tail, loop_.upper), {}, {}, true};
      LoopList scope;
      ExprPtr first;
      Facts here_facts = facts_;
      if (divides()) {
        const ExprPtr count = groups(lower, 1);
        const ExprPtr group = named_index(count, scope);
        if (group->op == Op::kValue) here_facts.add_range(group->name, count, idx_add(count, idx(1)));
        first = idx_add(lower, idx_mul(idx(width_), group));
      } else {
        first = named_index(tail, scope);
      }
      here_facts.add_condition(binary(Op::kLt, first, loop_.upper));
      const ExprPtr mask = named_mask(lanes_left(first), scope);
      std::optional<LoopList> last = parts({{first, mask}}, false, here_facts);
      if (!last) return last;
      scope.insert(scope.end(), last->begin(), last->end());
      rest.then = scope;
      all.push_back(make_loop(std::move(rest)));
    }
    return assembled(all);
  }

  // The iterations up to a border between lines, in one masked vector.
  bool start_of_row(const ExprPtr& border, LoopList& all) {
    const ExprPtr left = simplify_expr(idx_min(border, idx_sub(loop_.upper, loop_.lower)), facts_, context_);
    const ExprPtr mask = named_mask(binary(Op::kLt, iota_from(idx(0), width_), splat_to(left, width_)), all);
    const std::optional<LoopList> start = parts({{loop_.lower, mask}}, false, facts_);
    if (start) all.insert(all.end(), start->begin(), start->end());
    return start.has_value();
  }

  ExprPtr named_index(const ExprPtr& value, LoopList& before) {
    if (value->op == Op::kLiteral || value->op == Op::kIndex) return value;
    const std::string name = context_.names.fresh(loop_.iterator + "_rest");
    before.push_back(make_loop(Let{name, DType::kI64, 1, value, false}));
    return index_value(name);
  }

  // Vectors that each reduction of the body runs in, so that all of them together hide the latency; 1: there is none.
  std::int64_t accumulators_each() {
    const Names saved = context_.names;
    Lanes probe(loop_, index(loop_.iterator), width_, nullptr, facts_, context_);
    probe.body();
    context_.names = saved;
    const std::int64_t reductions = static_cast<std::int64_t>(probe.reductions().size());
    if (reductions == 0) return 1;
    return std::max<std::int64_t>(1, std::min(kAccumulators, kAllAccumulators / reductions) / copies_);
  }
};

}  // namespace

LoopList vectorize(const For& f, const Facts& facts, Context& context, std::int64_t copies) {
  Vectorization v(f, facts, context, copies);
  const std::optional<LoopList> vectors = v.run();
  if (vectors) {
    context.note("vectorize", f, true, "vectors of " + std::to_string(v.width()));
    return *vectors;
  }
  context.note("vectorize", f, false, v.refusal());
  For plain = f;
  plain.kind = LoopKind::kSerial;
  plain.width = 0;
  return {make_loop(std::move(plain))};
}

}  // namespace facet::passes
