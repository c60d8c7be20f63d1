#include "polyhedral/recipe/time_parts.hpp"

#include <algorithm>

namespace facet {

std::optional<TimeParts> TimeParts::of(const TreePtr& time) {
  if (time->kind != Tree::Kind::kLoop) return std::nullopt;
  bool plain = true;
  for_each_loop(time,
                [&](const Tree& l) { plain = plain && l.mark.kind == LoopKind::kSerial && !l.comment.starts_with("tile"); });
  if (!plain) return std::nullopt;
  TimeParts made;
  made.time_ = time;
  const TreePtr& body = time->children[0];
  for (const TreePtr& child : body->kind == Tree::Kind::kSequence ? body->children : std::vector<TreePtr>{body}) {
    TimePart part;
    TreePtr t = child;
    for (; t->kind == Tree::Kind::kLoop; t = t->children[0]) part.loops.push_back(t);
    if (t->kind != Tree::Kind::kLeaf || part.loops.empty()) return std::nullopt;
    part.statement = t->statement;
    made.depth_ = std::max(made.depth_, part.loops.size());
    made.parts_.push_back(std::move(part));
  }
  for (TimePart& part : made.parts_) part.missing = made.depth_ - part.loops.size();
  return made;
}

const TimePart& TimeParts::full() const {
  return *std::find_if(parts_.begin(), parts_.end(), [](const TimePart& p) { return p.missing == 0; });
}

std::string TimeParts::loop_name(std::size_t p, std::size_t k) const {
  const TimePart& part = parts_[p];
  if (k >= part.missing) return part.loops[k - part.missing]->names.at(part.statement);
  return full().loops[k]->names.at(full().statement) + "_border";
}

bool TimeParts::shares_no_name_with_time() const {
  for (const TimePart& part : parts_)
    for (const TreePtr& l : part.loops)
      if (l->names.at(part.statement) == time_->names.at(part.statement)) return false;
  return true;
}

isl::pw_aff TimeParts::member(const TimePart& part, std::size_t k) const {
  if (k < part.missing) return multiply(time_->member.at(part.statement), 0);
  return part.loops[k - part.missing]->member.at(part.statement);
}

std::vector<AlignedPart> TimeParts::members(std::size_t k) const {
  std::vector<AlignedPart> list;
  for (const TimePart& p : parts_) list.push_back({{p.statement, member(p, k)}});
  return list;
}

std::optional<Step> TimeParts::embed(const Schedule& schedule, std::size_t p, std::size_t k) const {
  const TimePart& part = parts_[p];
  if (k >= part.missing) return std::nullopt;
  return make_step("embed", {{"statement", arg(schedule.statement(part.statement).name)},
                             {"loop", arg(loop_name(p, k))},
                             {"around", arg(part.loops[0]->names.at(part.statement))}});
}

}  // namespace facet
