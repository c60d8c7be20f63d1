// guarded(): an operation that the quota cuts off leaves nothing that is believed, whether isl's C++ or its C functions meet
// it.
#include <gtest/gtest.h>

#include "polyhedral/isl/isl.hpp"

namespace facet {
namespace {

isl::set triangle() { return read_set("[n] -> { S[i, j, k] : 0 <= i < n and i <= 2 j < n and j <= 3 k < i + n }"); }

TEST(Guarded, WhatACutLeavesIsNotBelieved) {
  const isl::set set = triangle();
  const Result<Done> cut = guarded("test", Budget{3, {}}, [&] {
    isl_val* most = isl_set_dim_max_val(isl_set_project_out(set.copy(), isl_dim_param, 0, 1), 1);
    isl_val_free(most);  // none: isl's C functions take that for 0
  });
  ASSERT_FALSE(cut.ok());
  EXPECT_EQ(cut.errors()[0].code, Code::kBudgetExhausted);
  EXPECT_TRUE(guarded("test", Budget{0, {}}, [&] { isl_val_free(isl_set_dim_max_val(set.copy(), 1)); }).ok());
}

TEST(Guarded, NoValueIsNoNumber) {
  const Result<Done> none = guarded("test", Budget{3, {}}, [&] {
    take_int(isl_set_dim_max_val(isl_set_project_out(triangle().release(), isl_dim_param, 0, 1), 1));
  });
  EXPECT_FALSE(none.ok());
}

}  // namespace
}  // namespace facet
