// Building steps and picking from a trial's view: what the makers of random steps share.
#pragma once

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "facet/recipe.hpp"
#include "polyhedral/trial.hpp"
#include "src/driver/fuzz_maker.hpp"

namespace facet {

inline Argument text(const std::string& v) { return Argument{v}; }
inline Argument number(std::int64_t v) { return Argument{v}; }
inline Argument texts(const std::vector<std::string>& list) {
  ArgumentList out;
  for (const std::string& v : list) out.push_back(text(v));
  return Argument{std::move(out)};
}
inline Argument numbers(const std::vector<std::int64_t>& list) {
  ArgumentList out;
  for (const std::int64_t v : list) out.push_back(number(v));
  return Argument{std::move(out)};
}

template <class T>
std::vector<T> shuffled(std::vector<T> list, FuzzRandom& random) {
  for (std::size_t i = list.size(); i > 1; --i)
    std::swap(list[i - 1], list[static_cast<std::size_t>(random.below(static_cast<int>(i)))]);
  return list;
}

template <class T>
bool holds(const std::vector<T>& list, const T& item) {
  return std::find(list.begin(), list.end(), item) != list.end();
}

inline Step step_for(const std::string& verb, const TrialStatement& s) {
  Step step{verb, {}, {}};
  step.arguments["statement"] = text(s.name);
  return step;
}

inline std::string name_for(const TrialStatement& s, int loop) {
  return s.names[static_cast<std::size_t>(std::find(s.loops.begin(), s.loops.end(), loop) - s.loops.begin())];
}

}  // namespace facet
