// Copies that turn rows into columns, known by their shape: the printer spells them as one call.
#pragma once

#include <functional>
#include <optional>

#include "facet/loop_ast.hpp"

namespace facet {

// to[c * to_step + r] = from[r * from_step + c] for r < rows, c < columns; `to` and `from` are subscripts of the first element.
struct AcrossCopy {
  const Store* store = nullptr;  // of the tree that was asked about
  std::vector<ExprPtr> to, from;
  std::int64_t to_step = 0, from_step = 0;
  ExprPtr rows, columns;
};

// Of loops around one plain copy between different buffers of 4 or 8-byte floats: one walks the target by ones, the others
// together the source.
std::optional<AcrossCopy> across_copy(const For& f, const std::function<const Buffer&(const std::string&)>& buffer_of);

}  // namespace facet
