// Walking and rebuilding loop trees: the vocabulary the passes share.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "codegen/passes/linear.hpp"
#include "facet/loop_ast.hpp"

namespace facet::passes {

template <class T>
const T* as(const LoopPtr& node) {
  return std::get_if<T>(&node->node);
}

using ExprMap = std::function<ExprPtr(const ExprPtr&)>;
using BodyMap = std::function<LoopList(const LoopList&)>;

// The node with every expression of its own (bounds, condition, subscripts,
// value, mask) mapped, and every body mapped.
LoopPtr rebuild(const LoopPtr& node, const ExprMap& expression, const BodyMap& body);

// Every expression of a tree mapped.
LoopList map_expressions(const LoopList& body, const ExprMap& map);

// Index `name` replaced in every expression.
LoopList substitute(const LoopList& body, const std::string& name, const ExprPtr& by);

// Parents first, in textual order.
void walk_nodes(const LoopList& body, const std::function<void(const LoopPtr&)>& visit);
// The list itself and all lists below it.
void walk_blocks(const LoopList& body, const std::function<void(const LoopList&)>& visit);

// Every expression of the tree, in textual order (whole expressions, not their
// parts).
void walk_expressions(const LoopList& body, const std::function<void(const ExprPtr&)>& visit);

// Iterators, named values and local buffers that the tree introduces.
std::set<std::string> introduced_names(const LoopList& body);

bool mentions(const LoopList& body, const std::string& name);

// Any of `names` in e?
bool mentions_any(const ExprPtr& e, const std::set<std::string>& names);

// Named values and buffers of the tree get new names by `rename` (absent:
// unchanged), uses included.
LoopList rename(const LoopList& body, const std::map<std::string, std::string>& names);

// Identifiers in use within a kernel, so that new ones do not clash.
class Names {
 public:
  void take(const LoopList& body);  // every name that occurs in it
  void take(const std::string& name) { used_.insert(name); }
  std::string fresh(const std::string& base);  // base itself if free, else base_2, base_3, ...

 private:
  std::set<std::string> used_;
};

// One access to memory, as the alias tests see it.
struct Access {
  std::string buffer;
  std::vector<ExprPtr> subscripts;  // of lane 0; some may be vectors (gather)
  int lanes = 1;
  std::int64_t lane_stride = 1;
  ExprPtr mask;
  DType type = DType::kF32;
  bool writes = false;
  bool reads = true;    // false: plain store
  bool padded = false;  // may be outside the buffer
  bool atomic = false;
};

Access access_of(const Expr& read);
Access access_of(const Store& store, DType type);

// All accesses of the tree (subscripts' own reads included), in textual order.
std::vector<Access> accesses_of(const LoopList& body);
std::vector<Access> accesses_of(const ExprPtr& e);

bool same_place(const Access& a,
                const Access& b);  // certainly the same elements
bool disjoint(const Access& a,
              const Access& b);  // certainly no common element (different
                                 // buffers never overlap)

// Element stride of dimension d of a buffer; false when it is not a constant.
bool constant_stride(const Buffer& buffer, std::size_t d, std::int64_t* stride);

}  // namespace facet::passes
