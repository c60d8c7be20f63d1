// The clock that predictions count with, for who tells them in cycles.
#pragma once

namespace facet {

inline constexpr double kModelCyclesPerUs = 3000;  // 3 GHz: nothing measures the clock under load

}  // namespace facet
