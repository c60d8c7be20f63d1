// unroll (and jam): copies of a loop's body for its iterations, side by side.
//
//   for i in 0..2   unroll                     init(0)  init(1)
//     init(i)                                  for k
//     for k                     -->              update(0, k)  update(1, k)
//       update(i, k)
//
// Copies one after another are always right. Merging their inner loops (jam)
// interleaves iterations of the unrolled loop, so it is done only where these
// are independent (each written buffer has a dimension that tells them apart, or is only added to)
// and the inner loops have equal bounds. Named values and local arrays of a
// copy get names of their own. Refused: no constant extent and no factor; more
// than kMaxCopies copies.
#include <algorithm>
#include <optional>

#include "codegen/passes/apart.hpp"
#include "codegen/passes/tiles.hpp"

namespace facet::passes {

namespace {

constexpr std::int64_t kMaxStatements =
    600;                                 // of all copies together: compilers take a second for about so many vector statements
constexpr std::int64_t kMaxCopies = 64;  // as many accumulators as two files of 32 registers hold

// The form of subscript d without its iterator, if it is c * iterator + fixed.
struct Distinguished {
  std::int64_t coefficient = 0;
  Linear rest;
};

bool distinguish(const ExprPtr& subscript, const std::set<std::string>& iterators, const std::set<std::string>& inner,
                 Distinguished* out) {
  if (subscript->lanes != 1) return false;
  const Linear form = to_linear(subscript);
  out->coefficient = 0;
  out->rest = constant_form(form.constant);
  for (const Term& t : form.terms) {
    if (t.atom->op == Op::kIndex && iterators.count(t.atom->name)) {
      if (out->coefficient != 0) return false;
      out->coefficient = t.coefficient;
    } else if (mentions_any(t.atom, iterators) || mentions_any(t.atom, inner) || !is_index_arithmetic(t.atom)) {
      return false;
    } else {
      out->rest.terms.push_back(t);
    }
  }
  return out->coefficient != 0;
}

bool tells_apart(const std::vector<Access>& all, std::size_t d, const std::set<std::string>& iterators,
                 const std::set<std::string>& inner) {
  bool first = true;
  Distinguished reference;
  for (const Access& a : all) {
    Distinguished here;
    if (d >= a.subscripts.size() || !distinguish(a.subscripts[d], iterators, inner, &here)) return false;
    // Lanes spread over the innermost dimension.
    if (a.lanes > 1 && d + 1 == a.subscripts.size()) return false;
    if (first) reference = here;
    first = false;
    const Linear apart = sum(here.rest, reference.rest, -1);
    if (here.coefficient != reference.coefficient || !apart.is_constant() || apart.constant != 0) return false;
  }
  return !first;
}

// The accesses to the buffer without the reads of what the region does not write.
std::vector<Access> meeting_writes(const std::vector<PlacedAccess>& all, const std::string& buffer, const Facts& facts) {
  std::vector<Access> meeting;
  for (const PlacedAccess& a : all) {
    if (a.access.buffer != buffer) continue;
    const bool meets = a.access.writes || std::any_of(all.begin(), all.end(), [&](const PlacedAccess& w) {
                         return w.access.writes && !never_meet(w, a, facts);
                       });
    if (meets) meeting.push_back(a.access);
  }
  return meeting;
}

std::set<std::string> private_buffers(const LoopList& region, const std::set<std::string>& iterators) {
  std::set<std::string> names;
  walk_nodes(region, [&](const LoopPtr& node) {
    const For* f = as<For>(node);
    if (!f || !iterators.count(f->iterator)) return;
    walk_nodes(f->body, [&](const LoopPtr& inner) {
      if (const Allocate* a = as<Allocate>(inner)) names.insert(a->buffer.name);
    });
  });
  return names;
}

// Named values assigned in the region but living outside it would carry values
// across iterations.
bool sets_outer_values(const LoopList& region) {
  const std::set<std::string> own = introduced_names(region);
  bool found = false;
  walk_nodes(region, [&](const LoopPtr& node) {
    if (const Set* s = as<Set>(node)) found = found || !own.count(s->name);
  });
  return found;
}

LoopList renamed_copy(const LoopList& body, Context& context) {
  std::map<std::string, std::string> names;
  walk_nodes(body, [&](const LoopPtr& node) {
    if (const Let* l = as<Let>(node)) names[l->name] = context.names.fresh(l->name);
    if (const Allocate* a = as<Allocate>(node)) {
      names[a->buffer.name] = context.names.fresh(a->buffer.name);
      Buffer copy = a->buffer;
      copy.name = names[a->buffer.name];
      context.buffers[copy.name] = copy;
    }
  });
  return rename(body, names);
}

bool loops_match(const std::vector<LoopList>& copies, std::size_t at) {
  const For* first = as<For>(copies[0][at]);
  for (const LoopList& copy : copies) {
    const For* f = as<For>(copy[at]);
    if (!f || f->kind != LoopKind::kSerial || f->step != first->step || f->iterator != first->iterator ||
        !same(f->lower, first->lower) || !same(f->upper, first->upper))
      return false;
  }
  return true;
}

LoopList zipped(const std::vector<LoopList>& copies) {
  LoopList out;
  for (std::size_t at = 0; at < copies[0].size(); ++at) {
    if (as<For>(copies[0][at]) && loops_match(copies, at)) {
      For merged = *as<For>(copies[0][at]);
      std::vector<LoopList> bodies;
      for (const LoopList& copy : copies) bodies.push_back(as<For>(copy[at])->body);
      merged.body = zipped(bodies);
      out.push_back(make_loop(std::move(merged)));
      continue;
    }
    if (as<Comment>(copies[0][at])) {
      out.push_back(copies[0][at]);
      continue;
    }
    for (const LoopList& copy : copies) out.push_back(copy[at]);
  }
  return out;
}

std::int64_t statements_in(const LoopList& body) {
  std::int64_t count = 0;
  walk_nodes(body, [&](const LoopPtr& n) { count += !as<For>(n) && !as<If>(n) && !as<Sequence>(n) && !as<Comment>(n); });
  return count;
}

LoopPtr plain(For f) {
  f.kind = LoopKind::kSerial;
  f.width = 0;
  return make_loop(std::move(f));
}

// Is everything that the region does to the buffer one kind of update, whose order the numerics leave open?
bool updates_alike(const LoopList& region, const std::vector<PlacedAccess>& all, const std::string& buffer,
                   const Context& context) {
  for (const PlacedAccess& a : all)
    if (a.access.buffer == buffer && (!a.access.writes || a.access.atomic || !context.allows_reassociation(a.access.type)))
      return false;
  std::set<std::optional<ReduceKind>> kinds;
  walk_nodes(region, [&](const LoopPtr& n) {
    const Store* s = as<Store>(n);
    if (s && s->buffer == buffer) kinds.insert(s->update);
  });
  const std::optional<ReduceKind> kind = kinds.size() == 1 ? *kinds.begin() : std::nullopt;
  return kind && *kind != ReduceKind::kArgMax && *kind != ReduceKind::kArgMin;
}

LoopList copies_of(const For& f, const ExprPtr& from, std::int64_t count, const Facts& facts, Context& context) {
  bool has_loop = false;
  walk_nodes(f.body, [&](const LoopPtr& node) { has_loop = has_loop || as<For>(node); });
  const bool jam = has_loop && independent({make_loop(For(f))}, {f.iterator}, facts, &context);
  std::vector<LoopList> copies;
  for (std::int64_t c = 0; c < count; ++c) copies.push_back(substitute(f.body, f.iterator, idx_add(from, idx(c * f.step))));
  if (has_loop && !jam)
    context.note("jam", f.iterator, false, "iterations are not provably independent; copies follow each other");
  context.obey(f);
  return side_by_side(std::move(copies), jam, context);
}

}  // namespace

bool independent(const LoopList& region, const std::set<std::string>& iterators, const Facts& facts, const Context* sums) {
  if (sets_outer_values(region)) return false;
  const std::vector<PlacedAccess> all = placed_accesses(region);
  std::set<std::string> inner = introduced_names(region);
  for (const std::string& i : iterators) inner.erase(i);
  const std::set<std::string> own = private_buffers(region, iterators);
  std::set<std::string> written;
  for (const PlacedAccess& a : all)
    if (a.access.writes && !own.count(a.access.buffer)) written.insert(a.access.buffer);
  for (const std::string& buffer : written) {
    const std::vector<Access> meeting = meeting_writes(all, buffer, facts);
    bool apart = sums && updates_alike(region, all, buffer, *sums);
    for (std::size_t d = 0; d < meeting[0].subscripts.size() && !apart; ++d) apart = tells_apart(meeting, d, iterators, inner);
    if (!apart) return false;
  }
  return true;
}

LoopList side_by_side(std::vector<LoopList> copies, bool jam, Context& context) {
  if (copies.empty()) return {};
  for (std::size_t c = 1; c < copies.size(); ++c) copies[c] = renamed_copy(copies[c], context);
  bool alike = true;
  for (const LoopList& copy : copies) alike = alike && copy.size() == copies[0].size();
  if (jam && alike) return zipped(copies);
  LoopList out;
  for (const LoopList& copy : copies) out.insert(out.end(), copy.begin(), copy.end());
  return out;
}

LoopList unroll(const For& f, const Facts& facts, Context& context) {
  const Linear extent = difference(f.upper, f.lower);
  if (extent.is_constant() && f.step == 1 && (f.width == 0 || f.width >= extent.constant)) {
    if (extent.constant <= 0) {
      context.obey(f);
      return {};
    }
    if (extent.constant > kMaxCopies) {
      context.note("unroll", f, false, std::to_string(extent.constant) + " copies are more than " + std::to_string(kMaxCopies));
      return {plain(f)};
    }
    if (statements_in(f.body) * extent.constant > kMaxStatements) {
      context.note("unroll", f, false, "more than " + std::to_string(kMaxStatements) + " statements");
      return {plain(f)};
    }
    return copies_of(f, f.lower, extent.constant, facts, context);
  }
  if (f.width == 1) {  // one copy
    context.obey(f);
    return {plain(f)};
  }
  if (f.step != 1 || f.width < 1 || f.width > kMaxCopies) {
    context.note("unroll", f, false,
                 f.step != 1 ? "it runs in steps of " + std::to_string(f.step)
                             : "its extent " + to_text(idx_sub(f.upper, f.lower)) + " is not constant");
    return {plain(f)};
  }
  // By a factor: whole groups, then the rest one by one.
  For groups = f;
  groups.kind = LoopKind::kSerial;
  groups.width = 0;
  groups.step = f.width;
  groups.upper = idx_sub(f.upper, idx(f.width - 1));
  groups.body = copies_of(f, index(f.iterator), f.width, facts, context);
  const ExprPtr whole = binary(Op::kTruncDiv, idx_max(idx_sub(f.upper, f.lower), idx(0)), idx(f.width));
  For rest = f;
  rest.kind = LoopKind::kSerial;
  rest.width = 0;
  rest.lower = idx_add(f.lower, idx_mul(idx(f.width), whole));
  rest.body = renamed_copy(f.body, context);
  LoopList out{make_loop(std::move(groups))};
  if (!facts.at_most(rest.upper, rest.lower)) out.push_back(make_loop(std::move(rest)));
  return out;
}

}  // namespace facet::passes
