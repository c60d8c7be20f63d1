// A record with one operand x and one output y: the common start of most tables.
#pragma once

#include <string>
#include <vector>

#include "src/ops/op_table.hpp"

namespace facet {

inline OpDef simple_def(const std::string& family, const std::string& name, const std::string& summary, DTypes dtypes,
                        std::vector<AttrDef> attributes, std::function<void(OpBuilder&)> define) {
  OpDef def;
  def.name = name;
  def.family = family;
  def.summary = summary;
  def.operands = {{"x", dtypes, 'T', false}};
  def.outputs = {"y"};
  def.attributes = std::move(attributes);
  def.tolerance = Tolerance::kExact;
  def.define = std::move(define);
  return def;
}

}  // namespace facet
