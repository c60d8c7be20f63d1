// Winograd's matrices: exact, and told apart from wrong ones.
#include "polyhedral/rewrite/winograd.hpp"

#include <gtest/gtest.h>

namespace facet {
namespace {

TEST(WinogradForm, ComputesWindowsExactly) {
  for (const std::int64_t tile : {2, 4}) {
    const WinogradForm* form = winograd_form(tile);
    ASSERT_NE(form, nullptr);
    EXPECT_EQ(form->tile, tile);
    EXPECT_TRUE(computes_windows(*form)) << tile;
  }
  for (const std::int64_t tile : {0, 1, 3, 5, 6}) EXPECT_EQ(winograd_form(tile), nullptr) << tile;
}

TEST(WinogradForm, AWrongCoefficientIsSeen) {
  for (const std::int64_t tile : {2, 4})
    for (auto matrix : {&WinogradForm::input, &WinogradForm::filter, &WinogradForm::output}) {
      const std::vector<std::vector<std::int64_t>> rows = winograd_form(tile)->*matrix;
      for (std::size_t i = 0; i < rows.size(); ++i)
        for (std::size_t j = 0; j < rows[i].size(); ++j) {
          WinogradForm wrong = *winograd_form(tile);
          (wrong.*matrix)[i][j] += 1;
          EXPECT_FALSE(computes_windows(wrong)) << tile << ": " << i << ", " << j;
        }
    }
}

}  // namespace
}  // namespace facet
