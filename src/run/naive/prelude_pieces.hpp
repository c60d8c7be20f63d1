// The pieces of the prelude about single numbers; the others stand beside prelude_text.
#pragma once

namespace facet::naive {

extern const char* const kReal;
extern const char* const kFmaxFmin;
extern const char* const kMath;
extern const char* const kPower;
extern const char* const kRemainder;
extern const char* const kWhole;
extern const char* const kIntegers;

}  // namespace facet::naive
