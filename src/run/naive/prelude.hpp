// The helper text of a naive program, in pieces.
#pragma once

#include <cstdint>
#include <set>
#include <string>

namespace facet::naive {

enum class Piece : std::uint8_t {
  kReal,
  kFmaxFmin,
  kMath,
  kPower,
  kRemainder,
  kWhole,
  kIntegers,
  kIndex,
  kArray,
  kStores,
  kSum,
  kSpread,
  kProduct,
  kExtremum,
  kFold,
  kArg,
  kGather,
  kHalf,
  kBrain
};

// C++17 text of the pieces in `used` and of those every program needs, in an order in which they compile.
std::string prelude_text(const std::set<Piece>& used);

// Names the prelude and the printed program use themselves.
const std::set<std::string>& prelude_words();

}  // namespace facet::naive
