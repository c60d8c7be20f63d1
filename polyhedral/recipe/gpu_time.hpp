// gpu_time_us: about how long a nest takes on a GPU as the policy maps it. For comparing orders of one nest, not for forecasts.
#pragma once

#include "polyhedral/recipe/gpu_nest.hpp"

namespace facet {

constexpr double kLaunchUs = 3;     // between the starts of two short kernels of one stream (H200, driver 570: 2.5 to 3.5)
constexpr double kResident = 2048;  // threads of a multiprocessor, sm_80 and sm_90

// `nest` gives the dependences; `tree` is any part of its schedule. Microseconds at the typical sizes.
double gpu_time_us(const GpuNest& nest, const TreePtr& tree);

// A nest whose outer loop carries dependences: are kernels launched once an iteration faster than one block for all of it?
bool launches_pay(const GpuNest& nest, const TreePtr& tree);

}  // namespace facet
