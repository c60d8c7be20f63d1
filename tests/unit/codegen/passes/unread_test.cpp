// Named values that nothing reads: what goes, and what must stay.
#include <gmock/gmock.h>

#include "codegen/passes/context.hpp"
#include "unit/codegen/passes/trees.hpp"

namespace facet::test {
namespace {

LoopPtr let(const std::string& name, ExprPtr value, bool is_mutable = false) {
  return make_loop(Let{name, DType::kF32, 1, std::move(value), is_mutable});
}
ExprPtr named(const std::string& name) { return value_of(name, DType::kF32); }

std::set<std::string> left(const LoopList& body) { return passes::introduced_names(passes::drop_unread(body)); }

TEST(DropUnread, ChainsGoFromTheirEnd) {
  // An LSTM's last state left `y_value` behind, which g++ -Wall refuses.
  const LoopList body = {loop("i", idx(0), idx(8),
                              {let("a", rd("x", {ix("i")})), let("b", named("a")), let("c", named("b")), let("d", f32(1)),
                               put("y", {ix("i")}, named("d"))})};
  EXPECT_EQ(left(body), (std::set<std::string>{"i", "d"}));
}

TEST(DropUnread, AssignedOnlyGoes) {
  const LoopList body = {let("a", nullptr, true), make_loop(Set{"a", f32(2)}), put("y", {idx(0)}, f32(1))};
  EXPECT_EQ(passes::drop_unread(body).size(), 1U);
}

TEST(DropUnread, AccumulatorsSubscriptsAndCollectivesStay) {
  Collective all;
  all.scope = Scope::kBlock;
  all.kind = ReduceKind::kSum;
  all.target = "total";
  all.value = named("part");
  const LoopList body = {
      let("part", f32(0), true),
      loop("i", idx(0), idx(8), {make_loop(Set{"part", binary(Op::kAdd, named("part"), rd("x", {ix("i")}))})}),
      let("total", nullptr, true), make_loop(std::move(all))};
  EXPECT_EQ(left(body), (std::set<std::string>{"i", "part", "total"}));
  EXPECT_EQ(passes::drop_unread(body).size(), body.size());
}

}  // namespace
}  // namespace facet::test
