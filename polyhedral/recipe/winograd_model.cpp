// Does the rewrite to Winograd's tiles pay, and with which?
//
// The estimate counts multiply-adds and what the stages make, element by element: kElementCycles is 56^2 64 filters on two
// Sapphire Rapids cores (0.289 ms, of which 0.13 are products; the direct form took 0.68).
#include <algorithm>
#include <cmath>

#include "facet/expr_facts.hpp"
#include "polyhedral/recipe/winograd.hpp"
#include "polyhedral/rewrite/winograd.hpp"

namespace facet {

namespace {

constexpr double kElementCycles = 0.7;  // an element of any stage
constexpr double kPeakShare = 0.85;     // of the multiply-adds' rate, in the products
constexpr double kDirectShare = 0.75;   // in the sum as it is
constexpr double kGhz = 3;              // where the machine's rate is not measured
constexpr double kGain = 1.15;          // the least that pays for other rounding

double peak_flops_per_us(const GroupPlanner& planner, double element) {
  const CpuMachine& cpu = planner.options().machine.cpu;
  const double measured = cpu.peak_f32_gflop_s * 4 / element;
  const double counted = 2 * kGhz * cpu.fma_per_cycle * static_cast<double>(cpu.vector_bytes) / element;
  return 1000 * (measured > 0 ? measured : counted) * planner.threads();
}

}  // namespace

std::int64_t winograd_tile(const GroupPlanner& planner, int statement) {
  std::string why;
  const Scop& scop = *planner.schedule().scop;
  if (scop.reassociate != Numerics::Reassociate::kFree) return 0;
  const std::optional<WindowProduct> found = window_product(scop, statement, &why);
  if (!found) return 0;
  const Statement& s = planner.schedule().statement(statement);
  const Model model = planner.model();
  double outputs = 1, channels = 1, batch = 1, place = 1, filters = 1;
  for (std::size_t at = 0; at < s.iterators.size(); ++at) {
    const std::string& name = s.iterators[at];
    const double extent = model.extent(statement, at);
    if (name == found->tap[0] || name == found->tap[1]) continue;
    const bool output = mentions_index(s.subscripts, name);
    (!output                                              ? channels
     : name == found->lanes                               ? filters
     : name == found->place[0] || name == found->place[1] ? place
                                                          : batch) *= extent;
    if (output) outputs *= extent;
  }
  const double element = static_cast<double>(size_bytes(s.value->type)), flops = peak_flops_per_us(planner, element);
  const double cycle = kElementCycles / (1000 * kGhz) / planner.threads();  // us an element
  double best = 2 * 9 * outputs * channels / (flops * kDirectShare) / kGain;
  std::int64_t chosen = 0;
  for (const std::int64_t m : {2, 4}) {
    const auto up = [&](int k) {
      const auto at =
          std::find(s.iterators.begin(), s.iterators.end(), found->place[static_cast<std::size_t>(k)]) - s.iterators.begin();
      return std::ceil(model.extent(statement, static_cast<std::size_t>(at)) / static_cast<double>(m));
    };
    const double tiles = batch * up(0) * up(1), points = static_cast<double>((m + 2) * (m + 2));
    const double elements = points * (tiles * (channels + filters) + channels * filters) + 9 * channels * filters +
                            batch * place * (channels + filters);
    const double us = 2 * points * tiles * channels * filters / (flops * kPeakShare) + elements * cycle;
    if (us >= best) continue;
    best = us;
    chosen = m;
  }
  return chosen;
}

}  // namespace facet
