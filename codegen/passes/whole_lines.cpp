// whole_lines: parts of vectors that are stored one after another are stored as vectors.
//
//   c[96..104] = lanes8(t0, 0)                           c[96..112] = concat(lanes8(t0, 0), lanes8(t0, 8))
//   c[104..112] = lanes8(t0, 8)                   -->    c[112..128] = concat(lanes8(t1, 0), lanes8(t2, 0))
//   c[112..120] = lanes8(t1, 0)
//   c[120..128] = lanes8(t2, 0)
//
// A tile of 24 columns keeps them in vectors that reach into the next row; a line of the cache holds parts of two rows. Stores
// past the caches need it in one piece, and compilers order parts as they like. Of stores that follow each other in a block,
// plain ones of half a vector, two make one where the place of the first is a multiple of the vector for all iterations.
#include <algorithm>
#include <cstdlib>
#include <optional>

#include "codegen/passes/context.hpp"

namespace facet::passes {

namespace {

// A store that may be one half, and its place as a linear form.
struct Half {
  std::size_t at = 0;  // in the block
  Linear place;
};

class WholeLines {
 public:
  explicit WholeLines(const Context& context) : context_(context) {}

  LoopList in_block(const LoopList& block) const {
    LoopList out;
    for (std::size_t i = 0; i < block.size();) {
      std::size_t end = i;
      while (end < block.size() && half_of(block[end])) ++end;
      if (end - i >= 2) {
        const LoopList run =
            joined(LoopList(block.begin() + static_cast<std::ptrdiff_t>(i), block.begin() + static_cast<std::ptrdiff_t>(end)));
        out.insert(out.end(), run.begin(), run.end());
        i = end;
        continue;
      }
      out.push_back(rebuild(
          block[i], [](const ExprPtr& e) { return e; }, [&](const LoopList& inner) { return in_block(inner); }));
      ++i;
    }
    return out;
  }

 private:
  const Context& context_;

  static bool is_part(const ExprPtr& e) {
    return e->op == Op::kValue || (e->op == Op::kExtract && e->args[0]->op == Op::kValue);
  }

  std::optional<Linear> half_of(const LoopPtr& n) const {
    const Store* s = as<Store>(n);
    if (!s || s->lanes < 2 || s->update || s->mask || s->atomic || s->lane_stride != 1 || !is_part(s->value) ||
        2 * s->lanes * size_bytes(s->value->type) > context_.machine.vector_bytes)
      return std::nullopt;
    const Buffer* buffer = context_.find(s->buffer);
    Linear place = constant_form(0);
    for (std::size_t d = 0; d < s->subscripts.size(); ++d) {
      std::int64_t stride = 0;
      if (!buffer || s->subscripts[d]->lanes != 1 || !constant_stride(*buffer, d, &stride)) return std::nullopt;
      place = sum(place, to_linear(s->subscripts[d]), stride);
    }
    return place;
  }

  // Does the vector that begins there lie at a multiple of its length?
  static bool aligned(const Linear& place, std::int64_t lanes) {
    bool all = place.constant % lanes == 0;
    for (const Term& t : place.terms) all = all && t.coefficient % lanes == 0;
    return all;
  }

  static bool apart(const LoopList& run, const std::vector<Linear>& places) {
    for (std::size_t i = 0; i < run.size(); ++i)
      for (std::size_t j = 0; j < i; ++j) {
        const Store &a = *as<Store>(run[i]), &b = *as<Store>(run[j]);
        const Linear between = sum(places[i], places[j], -1);
        if (a.buffer != b.buffer) continue;
        if (!between.is_constant() || std::abs(between.constant) < std::max(a.lanes, b.lanes)) return false;
      }
    return true;
  }

  // A run of stores of named values, none of which meet: each may move to another's place.
  LoopList joined(const LoopList& run) const {
    std::vector<Linear> places;
    for (const LoopPtr& n : run) places.push_back(*half_of(n));
    if (!apart(run, places)) return run;
    std::vector<bool> gone(run.size(), false);
    LoopList out;
    for (std::size_t i = 0; i < run.size(); ++i) {
      if (gone[i]) continue;
      Store s = *as<Store>(run[i]);
      const std::optional<std::size_t> next = aligned(places[i], 2 * s.lanes) ? follower(run, places, gone, i) : std::nullopt;
      if (next) {
        gone[*next] = true;
        s.value = both(s.value, as<Store>(run[*next])->value);
        go_on(&s, *as<Store>(run[*next]));
        s.lanes *= 2;
      }
      // The half in front comes later in the block: it takes this one along.
      if (!next && leader(run, places, gone, i)) continue;
      out.push_back(make_loop(std::move(s)));
    }
    return out;
  }

  // A vector that goes on into the next row begins at a place of the rows as one: [.., 0, p].
  void go_on(Store* s, const Store& next) const {
    const std::size_t rank = s->subscripts.size();
    if (rank < 2) return;
    Subscripts& list = s->subscripts;
    const Linear apart = difference(next.subscripts[rank - 2], list[rank - 2]);
    if (apart.is_constant() && apart.constant == 0) return;
    std::int64_t row = 0;
    constant_stride(*context_.find(s->buffer), rank - 2, &row);
    list[rank - 1] = to_expr(sum(to_linear(list[rank - 1]), to_linear(list[rank - 2]), row));
    list[rank - 2] = idx(0);
    s->runs_on = true;
  }

  static bool pair(const Store& a, const Linear& at, const Store& b, const Linear& behind) {
    if (a.buffer != b.buffer || a.lanes != b.lanes || a.stream != b.stream || !aligned(at, 2 * a.lanes)) return false;
    const Linear apart = sum(behind, at, -1);
    return apart.is_constant() && apart.constant == a.lanes;
  }

  static std::optional<std::size_t> follower(const LoopList& run, const std::vector<Linear>& places,
                                             const std::vector<bool>& gone, std::size_t i) {
    for (std::size_t j = 0; j < run.size(); ++j)
      if (j != i && !gone[j] && pair(*as<Store>(run[i]), places[i], *as<Store>(run[j]), places[j])) return j;
    return std::nullopt;
  }

  static bool leader(const LoopList& run, const std::vector<Linear>& places, const std::vector<bool>& gone, std::size_t i) {
    for (std::size_t j = i + 1; j < run.size(); ++j)
      if (!gone[j] && pair(*as<Store>(run[j]), places[j], *as<Store>(run[i]), places[i])) return true;
    return false;
  }

  static ExprPtr both(const ExprPtr& a, const ExprPtr& b) {
    if (a->op == Op::kExtract && b->op == Op::kExtract && same(a->args[0], b->args[0]) && a->int_value == 0 &&
        b->int_value == a->lanes && a->args[0]->lanes == 2 * a->lanes)
      return a->args[0];
    Expr e;
    e.op = Op::kExtract;  // of both, from the first on
    e.type = a->type;
    e.lanes = a->lanes + b->lanes;
    e.args = {a, b};
    return std::make_shared<const Expr>(std::move(e));
  }
};

}  // namespace

LoopList whole_lines(const LoopList& body, const Context& context) { return WholeLines(context).in_block(body); }

}  // namespace facet::passes
