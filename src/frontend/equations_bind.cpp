// Binding of indices (C6), reach of clauses (C4) and ranges (C2, C3) of one equation.
#include <algorithm>
#include <set>

#include "facet/nearest.hpp"
#include "src/frontend/equations_line.hpp"

namespace facet {

std::nullptr_t LineCompiler::fail(Code code, int offset, std::vector<std::string> args, std::vector<std::string> notes) {
  errors_.push_back(diagnose(code, line_.source.at(offset), std::move(args), std::move(notes)));
  return nullptr;
}

BoundIndex* LineCompiler::bound(const std::string& name) const {
  for (auto it = scope_.rbegin(); it != scope_.rend(); ++it)
    if ((*it)->name == name) return *it;
  return nullptr;
}

bool LineCompiler::is_symbol(const std::string& name) const {
  const std::vector<Symbol>& symbols = context_.program->symbols;
  return std::any_of(symbols.begin(), symbols.end(), [&](const Symbol& s) { return s.name == name; });
}

bool LineCompiler::is_tensor(const std::string& name) const {
  return context_.tensors.count(name) > 0 || definitions_.count(name) > 0;
}

std::vector<std::string> LineCompiler::visible_names() const {
  std::vector<std::string> names;
  for (const BoundIndex* index : scope_) names.push_back(index->name);
  for (const auto& [name, tensor] : context_.tensors) names.push_back(name);
  for (const auto& [name, definition] : definitions_) names.push_back(name);
  for (const Symbol& s : context_.program->symbols) names.push_back(s.name);
  return names;
}

void LineCompiler::enter(ReductionInfo& info) {
  for (BoundIndex& index : info.indices) scope_.push_back(&index);
}

void LineCompiler::leave(const ReductionInfo& info) { scope_.resize(scope_.size() - info.indices.size()); }

bool LineCompiler::check_index_name(const std::string& name, int offset) {
  if (is_tensor(name)) return fail(Code::kIndexNameTaken, offset, {name, "tensor of this op"}), false;
  if (is_symbol(name)) return fail(Code::kIndexNameTaken, offset, {name, "symbol"}), false;
  if (bound(name)) return fail(Code::kIndexBoundTwice, offset, {name}, {"give this one another name"}), false;
  return true;
}

bool LineCompiler::bind() {
  const std::size_t before = errors_.size();
  for (BoundIndex& index : line_.left) {
    check_index_name(index.name, index.offset);
    scope_.push_back(&index);
  }
  bind_node(*line_.value);
  if (errors_.size() > before) return false;
  attach_ranges(line_.clauses, nullptr);
  for (const SyntaxPtr& condition : line_.clauses.conditions) attach_condition(*condition);
  return errors_.size() == before;
}

void LineCompiler::bind_node(const Syntax& s) {
  if (s.kind == Syntax::Kind::kReduction) return bind_reduction(s);
  if (s.kind == Syntax::Kind::kElement) note_extents(s);
  for (const SyntaxPtr& a : s.args) bind_node(*a);
}

void LineCompiler::bind_reduction(const Syntax& s) {
  ReductionInfo fresh;
  for (const auto& [name, offset] : s.indices) {
    check_index_name(name, offset);
    for (const BoundIndex& other : fresh.indices)
      if (other.name == name) fail(Code::kIndexBoundTwice, offset, {name});
    BoundIndex index;
    index.name = name;
    index.offset = offset;
    fresh.indices.push_back(std::move(index));
  }
  fresh.outer = scope_;
  line_.reduction_at[&s] = line_.reductions.size();
  line_.reductions.emplace_back(&s, std::move(fresh));
  // The indices lie on the heap: pointers to them stay valid when `reductions` grows below.
  enter(info_of(s));
  bind_node(*s.args[0]);
  leave(info_of(s));
  attach_ranges(s.clauses, &info_of(s));
  for (const SyntaxPtr& condition : s.clauses.conditions) info_of(s).conditions.push_back(condition.get());
}

// Remembers the extent of every axis that an index subscripts alone.
void LineCompiler::note_extents(const Syntax& element) {
  const Tensor* tensor = readable(element.name, element.offset, true);
  if (!tensor) reads_broken_ = true;
  if (!tensor || tensor->shape.size() != element.args.size()) return;
  for (std::size_t axis = 0; axis < element.args.size(); ++axis) {
    const Syntax& subscript = *element.args[axis];
    if (subscript.kind != Syntax::Kind::kName) continue;
    if (BoundIndex* index = bound(subscript.name)) index->extents.push_back(tensor->shape[axis]);
  }
}

// Hands each range to its index: of one reduction, or (at the end of the line) of the left side and of all reductions.
void LineCompiler::attach_ranges(const Clauses& clauses, ReductionInfo* only) {
  for (const RangeSyntax& range : clauses.ranges) {
    int found = 0;
    const auto offer = [&](BoundIndex& index) {
      if (index.name != range.name) return;
      ++found;
      if (index.given) {
        fail(Code::kRangeTwice, range.offset, {range.name});
      } else {
        index.given = &range;
      }
    };
    if (only) {
      for (BoundIndex& index : only->indices) offer(index);
    } else {
      for (BoundIndex& index : line_.left) offer(index);
      for (auto& [syntax, info] : line_.reductions)
        for (BoundIndex& index : info.indices) offer(index);
    }
    if (found) continue;
    std::vector<std::string> names;
    for (const BoundIndex& index : line_.left) names.push_back(index.name);
    for (const auto& [syntax, info] : line_.reductions)
      for (const BoundIndex& index : info.indices) names.push_back(index.name);
    fail(Code::kRangeWithoutIndex, range.offset, {range.name}, did_you_mean(range.name, names));
  }
}

namespace {

void collect_names(const Syntax& s, std::set<std::string>* names) {
  if (s.kind == Syntax::Kind::kName) names->insert(s.name);
  for (const SyntaxPtr& a : s.args) collect_names(*a, names);
}

}  // namespace

// C4: a condition that names a reduction index belongs to that reduction, one of left indices only to the equation.
void LineCompiler::attach_condition(const Syntax& condition) {
  std::set<std::string> names;
  collect_names(condition, &names);
  for (const BoundIndex& index : line_.left) names.erase(index.name);
  for (const Symbol& symbol : context_.program->symbols) names.erase(symbol.name);
  const auto binds = [](const std::vector<BoundIndex>& list, const std::string& name) {
    return std::any_of(list.begin(), list.end(), [&](const BoundIndex& i) { return i.name == name; });
  };
  bool anywhere = false;  // a reduction binds one of the names
  bool attached = false;
  for (auto& [syntax, info] : line_.reductions) {
    bool own = false;
    bool all = true;
    for (const std::string& name : names) {
      const bool mine = binds(info.indices, name);
      own |= mine;
      all &= mine || std::any_of(info.outer.begin(), info.outer.end(), [&](const BoundIndex* i) { return i->name == name; });
    }
    anywhere |= own;
    if (!own || !all) continue;
    info.conditions.push_back(&condition);
    attached = true;
  }
  if (attached) return;
  if (anywhere) {
    fail(Code::kConditionScope, condition.begin, {quote(condition)},
         {"write the condition inside the reduction: sum[k](... where ...)"});
  } else {
    line_.conditions.push_back(&condition);  // of left indices, or with a name that its building will complain about
  }
}

// An index expression or a condition of the indices in scope and the symbols.
ExprPtr LineCompiler::affine(const Syntax& s, bool condition) {
  IndexBuilder builder(
      line_.source, Language::kEquation,
      [&](const Syntax& leaf) -> ExprPtr {
        if (leaf.kind == Syntax::Kind::kName && (bound(leaf.name) || is_symbol(leaf.name))) return index(leaf.name);
        if (is_tensor(leaf.name)) {
          return fail(Code::kNotAffine, leaf.begin, {quote(leaf), "it reads a tensor"},
                      {"bounds and conditions are of indices and symbols; choose by data with select(condition, a, b)"});
        }
        if (leaf.kind == Syntax::Kind::kCall) return fail(Code::kNotAffine, leaf.begin, {quote(leaf), "it calls a function"});
        return fail(Code::kUnknownNameInText, leaf.offset, {leaf.name, "an index or symbol that can be used here"},
                    did_you_mean(leaf.name, visible_names()));
      },
      &errors_);
  return condition ? builder.condition(s) : builder.index(s);
}

bool LineCompiler::bounds_from(const RangeSyntax& given, BoundIndex* index) {
  index->range.lower = affine(*given.lower, false);
  index->range.upper = affine(*given.upper, false);
  return index->range.lower && index->range.upper;
}

bool LineCompiler::extent_from_reads(BoundIndex* index) {
  if (reads_broken_) return false;  // a complaint about what it reads has been made
  const std::vector<std::string> hint = {"add: for " + index->name + " in 0..EXTENT"};
  if (index->extents.empty()) {
    fail(Code::kRangeUnknown, index->offset, {index->name, "it subscripts no axis alone"}, hint);
    return false;
  }
  for (const ExprPtr& extent : index->extents) {
    if (constant_difference(index->extents[0], extent) == 0) continue;
    fail(Code::kRangeUnknown, index->offset,
         {index->name, "it subscripts axes of extents " + to_text(index->extents[0]) + " and " + to_text(extent)}, hint);
    return false;
  }
  index->range.lower = idx(0);
  index->range.upper = index->extents[0];
  return true;
}

bool LineCompiler::find_ranges() {
  const std::size_t before = errors_.size();
  scope_.clear();
  find_left_ranges();
  if (errors_.size() > before || reads_broken_) return false;
  for (BoundIndex& index : line_.left) scope_.push_back(&index);
  for (auto& [syntax, info] : line_.reductions) find_reduction_ranges(&info);
  scope_.clear();
  return errors_.size() == before;
}

void LineCompiler::find_left_ranges() {
  Definition& d = definitions_.at(line_.target);
  if (d.shape_known && d.tensor.shape.size() != line_.left.size()) {
    fail(Code::kSubscriptCount, line_.target_offset,
         {line_.target, std::to_string(d.tensor.shape.size()), std::to_string(line_.left.size())});
    return;
  }
  std::vector<ExprPtr> shape;
  for (std::size_t axis = 0; axis < line_.left.size(); ++axis) {
    BoundIndex& index = line_.left[axis];
    index.range.name = index.name;
    index.range.lower = idx(0);
    const ExprPtr known = d.shape_known ? d.tensor.shape[axis] : nullptr;
    if (index.given) {
      if (!bounds_from(*index.given, &index)) continue;
      if (constant_difference(index.range.lower, idx(0)) != 0)
        fail(Code::kRangeStart, index.given->offset, {index.name, to_text(index.range.lower)},
             {"leave elements out with: where " + index.name + " >= " + to_text(index.range.lower)});
      if (known && constant_difference(known, index.range.upper) != 0)
        fail(Code::kExtentDiffers, index.given->offset,
             {std::to_string(axis), line_.target, to_text(index.range.upper), to_text(known)});
      index.range.lower = idx(0);
    } else if (known) {
      index.range.upper = known;
    } else if (!extent_from_reads(&index)) {
      return;
    }
    shape.push_back(index.range.upper);
  }
  if (d.shape_known || shape.size() != line_.left.size()) return;
  d.tensor.shape = std::move(shape);
  d.shape_known = true;
}

void LineCompiler::find_reduction_ranges(ReductionInfo* info) {
  const std::vector<BoundIndex*> saved = scope_;
  scope_ = info->outer;
  for (BoundIndex& index : info->indices) {
    index.range.name = index.name;
    if (index.given) {
      bounds_from(*index.given, &index);
    } else {
      extent_from_reads(&index);
    }
    scope_.push_back(&index);
  }
  scope_ = saved;
}

}  // namespace facet
