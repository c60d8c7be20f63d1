// join_lanes: two vector loops directly inside each other are one, whose vectors go on from row to row.
//
//   for d in 2*dr..2*dr + 2   vector(16)                     for da in 0..48   vector(16)
//     for a in 0..24   vector(16)                    -->       t[da] += p[dr, k, da] * b[k]
//       t[d - 2*dr, a] += p[dr, k, d - 2*dr, a] * b[k]
//
// 24 elements fill one vector and a half; two rows of them fill three. Every buffer that the iterators subscript does so by
// both, in its last two dimensions, of which the last is as long as the inner loop: these become one for all accesses of the
// kernel, [.., d, a] is [.., 24 d + a], which along both loops is one element after another. Global buffers get their
// dimensions back with those of join_rows. Where that is not so the outer loop is unrolled instead, with a note.
#include <optional>
#include <set>

#include "codegen/passes/context.hpp"
#include "facet/expr_walk.hpp"

namespace facet::passes {

namespace {

struct Joint {
  For outer, inner;
  std::int64_t rows = 0, row = 0;  // iterations of each
};

std::optional<std::int64_t> trips(const For& f) {
  const Linear extent = difference(f.upper, f.lower);
  if (!extent.is_constant() || extent.constant < 1 || f.step != 1) return std::nullopt;
  return extent.constant;
}

const For* vector_loop_inside(const For& f) {
  const For* inner = f.kind == LoopKind::kVector && f.body.size() == 1 ? as<For>(f.body[0]) : nullptr;
  return inner && inner->kind == LoopKind::kVector ? inner : nullptr;
}

// Do the iterators occur as subscripts of reads and stores alone, whole rows in buffers' last two dimensions?
class Question {
 public:
  Question(const Joint& joint, const Context& context, const std::set<std::string>& padded)
      : joint_(joint), context_(context), padded_(padded) {}

  // The buffers whose dimensions would become one; nullopt: no.
  std::optional<std::set<std::string>> ask() {
    if (mentions(joint_.inner.lower, joint_.outer.iterator) || mentions(joint_.inner.upper, joint_.outer.iterator))
      return std::nullopt;
    for (const LoopPtr& n : joint_.inner.body) {
      const Store* s = as<Store>(n);
      if (!s || s->mask || s->atomic) return std::nullopt;
      place(s->buffer, s->subscripts);
      value(s->value);
    }
    return good_ ? std::optional(buffers_) : std::nullopt;
  }

 private:
  const Joint& joint_;
  const Context& context_;
  const std::set<std::string>& padded_;
  std::set<std::string> buffers_;
  bool good_ = true;

  bool walked(const ExprPtr& e) const { return mentions(e, joint_.outer.iterator) || mentions(e, joint_.inner.iterator); }

  void value(const ExprPtr& e) {
    if (e->op == Op::kRead) return place(e->name, e->args);
    if (e->op == Op::kIndex && walked(e)) good_ = false;
    for (const ExprPtr& a : e->args) value(a);
  }

  void place(const std::string& name, const Subscripts& subscripts) {
    bool any = false;
    for (const ExprPtr& e : subscripts) any = any || walked(e);
    if (!any) return;
    const Buffer* buffer = context_.find(name);
    const std::size_t rank = subscripts.size();
    std::int64_t row = 0;
    good_ = good_ && padded_.count(name) == 0 && buffer && buffer->strides.empty() && rank >= 2 &&
            constant_value(buffer->extents[rank - 1], &row) && row == joint_.row;
    for (std::size_t d = 0; good_ && d < rank; ++d) {
      const Linear form = to_linear(subscripts[d]);
      const std::int64_t outer = form.coefficient_of(joint_.outer.iterator), inner = form.coefficient_of(joint_.inner.iterator);
      good_ = outer == (d + 2 == rank ? 1 : 0) && inner == (d + 1 == rank ? 1 : 0) && plain(form);
    }
    // A row begins where the inner loop does: elements go on across its end.
    if (good_) {
      const Linear first = difference(subscripts.back(), index(joint_.inner.iterator));
      const Linear start = sum(first, to_linear(joint_.inner.lower));
      good_ = start.is_constant() && start.constant == 0;
    }
    buffers_.insert(name);
  }

  bool plain(const Linear& form) const {
    for (const Term& t : form.terms)
      if (t.atom->op != Op::kIndex && walked(t.atom)) return false;
    return true;
  }
};

class JoinLanes {
 public:
  JoinLanes(Context& context, JoinedRows* rows) : context_(context), rows_(rows) {}

  LoopList run(const LoopList& body) {
    map_accesses(body, [&](const std::string& buffer, const Subscripts& subscripts, bool padded) {
      if (padded) padded_.insert(buffer);
      return subscripts;
    });
    judge(body);
    if (joints_.empty()) return body;
    LoopList out = loops(body);
    for (const auto& [name, row] : buffers_) out = joined(out, name, row);
    return out;
  }

 private:
  Context& context_;
  JoinedRows* rows_;
  std::set<std::string> padded_;                 // whose dimensions each have bounds of their own somewhere in the kernel
  std::map<std::string, bool> joints_;           // outer iterator -> joined
  std::map<std::string, std::int64_t> buffers_;  // -> the length of their rows

  void judge(const LoopList& body) {
    walk_nodes(body, [&](const LoopPtr& n) {
      const For* outer = as<For>(n);
      const For* inner = outer ? vector_loop_inside(*outer) : nullptr;
      if (!inner) return;
      const std::optional<std::int64_t> rows = trips(*outer), row = trips(*inner);
      std::optional<std::set<std::string>> names;
      if (rows && row) names = Question({*outer, *inner, *rows, *row}, context_, padded_).ask();
      for (const std::string& name : names.value_or(std::set<std::string>{}))
        if (const auto [at, fresh] = buffers_.emplace(name, *row); !fresh && at->second != *row) names.reset();
      joints_[outer->iterator] = names.has_value();
      context_.note("lanes", *outer, names.has_value(),
                    names ? "one with " + inner->iterator : "rows do not follow each other: unrolled");
    });
  }

  LoopList loops(const LoopList& body) {
    LoopList out;
    for (const LoopPtr& n : body) {
      const For* outer = as<For>(n);
      const For* inner = outer ? vector_loop_inside(*outer) : nullptr;
      if (!inner) {
        out.push_back(rebuild(
            n, [](const ExprPtr& e) { return e; }, [&](const LoopList& list) { return loops(list); }));
        continue;
      }
      For made = joints_.at(outer->iterator) ? *inner : *outer;
      if (!joints_.at(outer->iterator)) {
        made.kind = LoopKind::kUnroll;
        made.width = 0;
        made.asked_by = -1;
        out.push_back(make_loop(std::move(made)));
        continue;
      }
      // The inner iterator runs on over all rows, the outer one stays at the first.
      made.upper = to_expr(sum(to_linear(inner->lower), constant_form(*trips(*outer) * *trips(*inner))));
      made.body = substitute(inner->body, outer->iterator, outer->lower);
      out.push_back(make_loop(std::move(made)));
    }
    return out;
  }

  LoopList joined(const LoopList& body, const std::string& name, std::int64_t row) {
    const auto shorten = [&](Buffer& b) {
      b.extents[b.extents.size() - 2] = idx_mul(b.extents[b.extents.size() - 2], idx(row));
      b.extents.pop_back();
    };
    const bool global = context_.program->find_buffer(name) != nullptr;
    if (global) {
      std::vector<std::size_t>& counts = (*rows_)[name];
      if (counts.empty()) counts.assign(context_.buffers.at(name).extents.size(), 1);
      counts[counts.size() - 2] += counts.back();
      counts.pop_back();
    }
    shorten(context_.buffers.at(name));
    const LoopList accesses = map_accesses(body, [&](const std::string& buffer, const Subscripts& subscripts, bool) {
      if (buffer != name) return subscripts;
      Subscripts list = subscripts;
      list.pop_back();
      list.back() = idx_add(idx_mul(idx(row), list.back()), subscripts.back());
      return list;
    });
    return global ? accesses : allocations(accesses, name, shorten);
  }

  template <class Change>
  static LoopList allocations(const LoopList& body, const std::string& name, const Change& change) {
    LoopList out;
    for (const LoopPtr& n : body) {
      if (const Allocate* a = as<Allocate>(n); a && a->buffer.name == name) {
        Allocate copy = *a;
        change(copy.buffer);
        out.push_back(make_loop(std::move(copy)));
        continue;
      }
      out.push_back(rebuild(
          n, [](const ExprPtr& e) { return e; }, [&](const LoopList& list) { return allocations(list, name, change); }));
    }
    return out;
  }
};

}  // namespace

LoopList join_lanes(const LoopList& body, Context& context, JoinedRows* rows) { return JoinLanes(context, rows).run(body); }

}  // namespace facet::passes
