// A tensor defined by equations whose elements are computed when they are first read, and remembered.
#pragma once

#include <unordered_map>
#include <vector>

#include "src/run/reference/nodes.hpp"

namespace facet::reference {

class LazyTensor {
 public:
  explicit LazyTensor(const Storage& shape) : shape_(shape) {}
  void add(EquationCode code) { equations_.push_back(std::move(code)); }

  // The element at a row-major offset. Equations do not read their own tensor, so the recursion ends; each equation has slots
  // and registers of its own, so an element under computation is not disturbed.
  Value at(State& state, std::int64_t offset);

 private:
  bool covers(State& state, const EquationCode& code, std::int64_t offset) const;

  const Storage& shape_;
  std::vector<EquationCode> equations_;
  std::unordered_map<std::int64_t, Value> known_;
};

}  // namespace facet::reference
