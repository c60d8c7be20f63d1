// An operand with heads, read by batch, head, position and feature whichever of its two layouts it has.
#pragma once

#include <string>

#include "src/ops/builder.hpp"

namespace facet {

// An operand [b, heads, s, d], or [b, s, heads * d]: element (batch, head, position, feature).
struct HeadView {
  int operand = 0;
  bool packed = false;
  ExprPtr batch, heads, length, features;

  std::string at(const ExprPtr& n, const ExprPtr& h, const ExprPtr& s, const ExprPtr& d) const;
};

// Complains about a wrong rank and, of a packed operand, about the attribute with the number of heads.
HeadView view_of(OpBuilder& b, int operand, const std::string& attribute);

}  // namespace facet
