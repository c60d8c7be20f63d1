// Equal extents of a sample are taken to belong together (the k of a[m, k] and b[k, n]), so they change together; a change that
// the operator refuses is not a case. Of each kind of shape the first candidates that are accepted are kept.
#include "src/ops/sweep.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "src/ops/sample_shapes.hpp"
#include "src/ops/samples.hpp"

namespace facet {

namespace {

constexpr std::int64_t kLargeExtents[] = {1025, 300, 130};
constexpr std::size_t kKept = 2;  // candidates of one kind

// Candidates of one kind, the most thorough first.
std::vector<Operands> candidates(const Operands& base, SweepShape kind) {
  std::vector<std::int64_t> extents;  // distinct ones, in order of appearance
  for (const Shaped& s : base)
    for (const std::int64_t e : s.extents)
      if (std::find(extents.begin(), extents.end(), e) == extents.end()) extents.push_back(e);
  std::vector<Operands> list;
  const auto one_by_one = [&](std::int64_t to) {
    for (const std::int64_t e : extents) list.push_back(mapped(base, {{e, to}}));
  };
  const auto all_to = [&](const std::vector<std::int64_t>& values) {
    std::map<std::int64_t, std::int64_t> to;
    for (std::size_t i = 0; i < extents.size(); ++i) to[extents[i]] = values[i % values.size()];
    list.push_back(mapped(base, to));
  };
  // An extent of one operand alone, so that what belongs together comes apart.
  const auto each_axis_to = [&](std::int64_t to) {
    for (std::size_t k = base.size(); k-- > 0;)
      for (std::size_t d = 0; d < base[k].extents.size(); ++d) {
        list.push_back(base);
        list.back()[k].extents[d] = to;
      }
  };
  switch (kind) {
    case SweepShape::kEmpty:
      one_by_one(0);
      each_axis_to(0);
      break;
    case SweepShape::kOne:
      all_to({1});
      one_by_one(1);
      each_axis_to(1);
      break;
    case SweepShape::kPrime:
      all_to({7, 13, 5, 11, 3});
      one_by_one(13);
      one_by_one(7);
      each_axis_to(13);
      break;
    case SweepShape::kRagged:
      all_to({33, 17, 9, 5});
      one_by_one(65);
      one_by_one(17);
      each_axis_to(33);
      break;
    case SweepShape::kBroadcast:
      for (std::size_t k = base.size(); k-- > 0;)
        if (!base[k].extents.empty() && base.size() > 1) {
          list.push_back(base);
          list.back()[k].extents.erase(list.back()[k].extents.begin());
        }
      each_axis_to(1);
      break;
    case SweepShape::kLarge:
      for (const std::int64_t e : kLargeExtents) {
        one_by_one(e);
        each_axis_to(e);
      }
      break;
  }
  return list;
}

bool takes(DTypes allowed, DType t) {
  switch (allowed) {
    case DTypes::kAny: return true;
    case DTypes::kNumber: return t != DType::kBool;
    case DTypes::kFloat: return is_float(t);
    case DTypes::kInteger: return t != DType::kBool && !is_float(t);
    case DTypes::kSigned: return t != DType::kBool && t != DType::kU8;
    case DTypes::kBool: return t == DType::kBool;
  }
  return false;
}

constexpr DType kSweepDTypes[] = {DType::kF32, DType::kF64, DType::kF16, DType::kBF16, DType::kI8,
                                  DType::kU8,  DType::kI16, DType::kI32, DType::kI64,  DType::kBool};

char group_of(const OpDef& op, std::size_t operand) { return op.operands[std::min(operand, op.operands.size() - 1)].group; }

// The base with every dtype of each group in turn; groups change together, the longest list decides how often.
std::vector<std::pair<Operands, std::string>> in_every_dtype(const OpDef& op, const Operands& base) {
  std::map<char, std::vector<DType>> allowed;
  for (std::size_t k = 0; k < base.size(); ++k) {
    const char g = group_of(op, k);
    if (base[k].omitted || allowed.count(g)) continue;
    for (const DType t : kSweepDTypes)
      if (takes(op.operands[std::min(k, op.operands.size() - 1)].dtypes, t)) allowed[g].push_back(t);
  }
  std::size_t longest = 1;
  for (const auto& [g, list] : allowed) longest = std::max(longest, list.size());
  std::vector<std::pair<Operands, std::string>> all;
  for (std::size_t i = 0; i < longest; ++i) {
    Operands changed = base;
    std::string text;
    for (const auto& [g, list] : allowed) {
      const std::string dtype = to_text(list[i % list.size()]);
      text += (text.empty() ? "" : ", ") + std::string(1, g) + "=" + dtype;
      for (std::size_t k = 0; k < base.size(); ++k)
        if (group_of(op, k) == g) changed[k].dtype = dtype;
    }
    all.emplace_back(std::move(changed), text);
  }
  return all;
}

}  // namespace

std::string to_text(SweepShape shape) {
  static const char* const names[] = {"empty", "one", "prime", "ragged", "broadcast", "large"};
  return names[static_cast<int>(shape)];
}

std::vector<SweepCase> sweep_cases(const OpDef& op, const std::function<bool(const Program&)>& too_large) {
  std::vector<SweepCase> cases;
  std::set<std::string> seen;
  const auto take = [&](const Operands& operands, const OpSample& base, SweepShape kind, const std::string& dtypes,
                        std::size_t keep) {
    std::size_t kept = 0;
    for (const Operands& candidate : candidates(operands, kind)) {
      if (kept == keep) return;
      SweepCase c{sample_of(candidate, base), kind, dtypes};
      const Result<Program> program = sample_program(op, c.sample);
      if (!program || !define(call_of(*program, program->nodes[0])) || too_large(*program)) continue;
      std::string key;
      for (const std::string& o : c.sample.operands) key += o + ";";
      for (const auto& [name, value] : base.attrs) key += name + "=" + to_text(value) + ";";
      if (!seen.insert(key).second) continue;
      cases.push_back(std::move(c));
      ++kept;
    }
  };
  for (std::size_t s = 0; s < op.samples.size(); ++s) {
    const Operands base = operands_of(op.samples[s]);
    std::vector<std::pair<Operands, std::string>> list = {{base, "as the sample"}};
    if (s == 0) list = in_every_dtype(op, base);
    for (std::size_t t = 0; t < list.size(); ++t)
      for (const SweepShape kind : kSweepShapes) take(list[t].first, op.samples[s], kind, list[t].second, t == 0 ? kKept : 1);
  }
  return cases;
}

}  // namespace facet
