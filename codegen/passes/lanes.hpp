// Lanes: one loop body for `lanes` consecutive iterations at once.
//
// The iterator becomes base + {0, 1, ..}. Each expression is invariant (stays
// scalar, splat where it meets a vector) or varies.
//   read, lane coefficient 1 in the innermost subscript, stride 1     one
//   contiguous vector read read, other subscripts that vary gather: those
//   subscripts are vectors store, likewise; constant step in the innermost
//   subscript         store with lane_stride store, other one scalar store a
//   lane, in lane order store with `update` to one element a vector
//   accumulator, reduced after the loop if with a varying condition mask on the
//   stores, reads and assignments of its branches loop with varying bounds loop
//   over the hull of the lanes' bounds, masked select with a varying condition
//   vector select; its operands' reads are masked by it local array allocated
//   in the body                                 one more, innermost, dimension
//   of `lanes`
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "codegen/passes/context.hpp"

namespace facet::passes {

struct LaneReduction {
  Store store;              // the scalar update, subscripts fixed during the loop
  std::string accumulator;  // vector, mutable
};

class Lanes {
 public:
  // Iterations base .. base + lanes - 1 of loop f; `mask` (kBool vector, or
  // null) says which of them exist.
  Lanes(const For& f, ExprPtr base, int lanes, ExprPtr mask, const Facts& facts, Context& context);

  LoopList body();                                         // vectorises f.body
  const std::string& refusal() const { return refusal_; }  // "" if body() is good
  const std::vector<LaneReduction>& reductions() const { return reductions_; }

 private:
  const For& loop_;
  ExprPtr base_;
  int lanes_;
  Context& context_;
  std::string refusal_;
  std::map<std::string, DType> vectors_;  // named values that are vectors here
  std::vector<LaneReduction> reductions_;
  std::set<std::string> inside_;  // names introduced by the loop

  struct Place {
    Facts facts;        // of the lanes that run here
    Facts sure;         // whichever lanes run: what one read for all of them may rely on
    ExprPtr mask;       // lanes that run here
    ExprPtr branch;     // the part of it that comes from varying conditions; null
                        // if none
    bool lazy = false;  // inside an operand of a varying select or branch: reads
                        // may be invalid in other lanes
  };
  Place top_;

  void refuse(const std::string& why);
  LoopList list(const LoopList& body, Place place);
  void node(const LoopPtr& node, const Place& place, LoopList& out);
  void store(const Store& s, const Place& place, LoopList& out);
  void contiguous_store(const Store& s, std::int64_t lane_stride, const Place& place, LoopList& out);
  void lane_stores(const Store& s, const Place& place, LoopList& out);
  void reduction(const Store& s, const Place& place, LoopList& out);
  bool is_used_besides(const Store& s) const;
  void nested(const For& f, const Place& place, LoopList& out);
  void branch(const If& f, const Place& place, LoopList& out);
  void let(const Let& l, const Place& place, LoopList& out);
  void set(const Set& s, const Place& place, LoopList& out);
  ExprPtr bind_mask(const ExprPtr& mask, const std::string& name, LoopList& out);

  bool varies(const ExprPtr& e) const;
  ExprPtr expression(const ExprPtr& e, const Place& place);
  ExprPtr read(const ExprPtr& e, const Place& place);
  ExprPtr pad_condition(const ExprPtr& e, const std::vector<ExprPtr>& subscripts, const Place& place);
  ExprPtr choose(const ExprPtr& e, const Place& place);
  ExprPtr in_lane(const ExprPtr& e, int lane) const;
  ExprPtr splat(const ExprPtr& e) const;
  ExprPtr at_base(const ExprPtr& e, int lane = 0) const;
  std::vector<ExprPtr> over_lanes(const std::vector<ExprPtr>& subscripts, const Place& place) const;
  bool innermost_step(const std::string& buffer, const std::vector<ExprPtr>& over_lanes, std::int64_t* step) const;
  bool varies_by_lane(const ExprPtr& over_lanes) const;
  ExprPtr lane_vector(const ExprPtr& subscript, const ExprPtr& over_lanes, const Place& place);
  std::vector<ExprPtr> first_lane(const std::vector<ExprPtr>& over_lanes, const Place& place) const;
};

// The store that ends a reduction. A point without iterations may have no place of its own (j in 0..i+1 at i = -2): where
// `facts` do not tell that it has, the store asks.
LoopPtr stored_inside(const Store& store, const Facts& facts, const Context& context);

// Vector constructors. A null mask is "all lanes".
ExprPtr splat_to(const ExprPtr& e, int lanes);
ExprPtr iota_from(const ExprPtr& base, int lanes);
ExprPtr both(const ExprPtr& a, const ExprPtr& b);  // conjunction of masks
ExprPtr lane_reduce(ReduceKind kind, const ExprPtr& vector);
ExprPtr extract(const ExprPtr& vector, int lane);
// acc OP value, as one fma where the policy allows it.
ExprPtr combine(ReduceKind kind, const ExprPtr& accumulator, const ExprPtr& value, const Context& context);

}  // namespace facet::passes
