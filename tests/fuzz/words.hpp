// The words that mean something in the JSON documents: operators with their attributes, fields, dtypes, verbs of recipes.
#pragma once

#include <string>
#include <vector>

#include "src/ops/op_table.hpp"

namespace facet {

inline const std::vector<std::string>& fuzz_words() {
  static const std::vector<std::string> words = [] {
    std::vector<std::string> list = {
        "op",     "in",          "out",        "inout",    "attrs",       "def",      "code",        "file",      "dtype",
        "shape",  "data",        "fill",       "values",   "iota",        "sample",   "uniform",     "normal",    "integers",
        "spd",    "permutation", "assume",     "numerics", "reassociate", "contract", "approximate", "denormals", "tree",
        "strict", "free",        "keep",       "flush",    "min",         "max",      "default",     "compute",   "loops",
        "bool",   "i8",          "u8",         "i16",      "u16",         "i32",      "u32",         "i64",       "u64",
        "f16",    "bf16",        "f32",        "f64",      "inf",         "-inf",     "nan",         "",          "?",
        "N",      "N + 1",       "N / 2",      "N % 3",    "2*N",         "-N",       "do",          "graph",     "variants",
        "when",   "groups",      "name",       "ops",      "rewrites",    "steps",    "memory",      "order",     "arena",
        "auto",   "statement",   "statements", "loop",     "loops",       "sizes",    "names",       "array",     "at",
        "layout", "inner",       "factor",     "width",    "target",      "program",  "cpu",         "gpu",       "caches",
        "acc"};
    for (const OpDef* op : all_ops()) {
      list.push_back(op->name);
      for (const AttrDef& attribute : op->attributes) list.push_back(attribute.name);
    }
    return list;
  }();
  return words;
}

}  // namespace facet
