// Points of the symbol box are tried: all of them when they are few, else corners, values next to corners and the defaults.
// An extent that is linear in each symbol takes its extremes at corners, so that the trial is a proof there.
#include "src/frontend/shape_bounds.hpp"

#include <functional>
#include <set>

namespace facet {

namespace {

constexpr std::int64_t kMaxTrials = 20000;  // a few milliseconds for a tensor

// Symbols that occur in the shape or share an assumption with one that does.
std::vector<const Symbol*> involved(const Tensor& tensor, const Program& program) {
  std::set<std::string> names;
  const auto collect = [&](const Expr& e) {
    if (e.op == Op::kIndex) names.insert(e.name);
  };
  for (const ExprPtr& e : tensor.shape) walk(e, collect);
  if (!names.empty())
    for (const ExprPtr& a : program.assumptions) walk(a, collect);
  std::vector<const Symbol*> list;
  for (const Symbol& s : program.symbols)
    if (names.count(s.name)) list.push_back(&s);
  return list;
}

std::vector<std::int64_t> trial_values(const Symbol& s, bool all) {
  std::set<std::int64_t> values;
  if (s.max < s.min) return {s.value};  // refused elsewhere
  const std::uint64_t width = static_cast<std::uint64_t>(s.max) - static_cast<std::uint64_t>(s.min);
  for (std::uint64_t step = 0; step <= (all ? width : 3) && step <= width; ++step) {
    values.insert(static_cast<std::int64_t>(static_cast<std::uint64_t>(s.min) + step));
    values.insert(static_cast<std::int64_t>(static_cast<std::uint64_t>(s.max) - step));
  }
  values.insert(s.value);
  return {values.begin(), values.end()};
}

// Calls `visit` for trial points that satisfy the assumptions until it returns true or the trials are used up.
void for_trials(const Tensor& tensor, const Program& program, const std::function<bool(const SymbolValues&)>& visit) {
  const std::vector<const Symbol*> symbols = involved(tensor, program);
  unsigned __int128 points = 1;
  for (const Symbol* s : symbols) {
    points *= static_cast<unsigned __int128>(static_cast<__int128>(s->max) - s->min + 1);
    if (points > kMaxTrials) points = kMaxTrials + 1;
  }
  std::vector<std::vector<std::int64_t>> values;
  for (const Symbol* s : symbols) values.push_back(trial_values(*s, points <= kMaxTrials));
  SymbolValues at;
  std::int64_t left = kMaxTrials;
  const std::function<bool(std::size_t)> level = [&](std::size_t k) {
    if (k == symbols.size()) {
      for (const ExprPtr& a : program.assumptions) {
        bool known = true;
        walk(a, [&](const Expr& e) { known = known && (e.op != Op::kIndex || at.count(e.name)); });
        if (known && evaluate_index(a, at) == 0) return --left <= 0;
      }
      return visit(at) || --left <= 0;
    }
    for (const std::int64_t v : values[k]) {
      at[symbols[k]->name] = v;
      if (level(k + 1)) return true;
    }
    return false;
  };
  level(0);
}

std::string point_text(const SymbolValues& at) {
  std::string text;
  for (const auto& [name, value] : at) text += (text.empty() ? " at " : ", ") + name + " = " + std::to_string(value);
  return text;
}

}  // namespace

std::string negative_extent(const Tensor& tensor, const Program& program) {
  std::string witness;
  for_trials(tensor, program, [&](const SymbolValues& at) {
    for (const ExprPtr& e : tensor.shape) {
      const std::int64_t extent = evaluate_index(e, at);
      if (extent >= 0) continue;
      witness = to_text(e) + " is " + std::to_string(extent) + point_text(at);
      return true;
    }
    return false;
  });
  return witness;
}

std::string excessive_size(const Tensor& tensor, const Program& program) {
  std::string witness;
  for_trials(tensor, program, [&](const SymbolValues& at) {
    std::int64_t count = 1;
    bool overflow = false, empty = false;
    for (const ExprPtr& e : tensor.shape) {
      const std::int64_t extent = evaluate_index(e, at);
      empty = empty || extent == 0;
      overflow = overflow || __builtin_mul_overflow(count, extent, &count);
    }
    if (!overflow || empty) return false;
    std::string product;
    for (const ExprPtr& e : tensor.shape) product += (product.empty() ? "" : " * ") + std::to_string(evaluate_index(e, at));
    witness = product + point_text(at);
    return true;
  });
  return witness;
}

}  // namespace facet
