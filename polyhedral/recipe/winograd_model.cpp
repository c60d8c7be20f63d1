// Does the rewrite to Winograd's tiles pay, and with which?
//
// Cycles: of the products, at their share of the multiply-adds that the unit does; of what the stages make, element by element;
// and of filters. These are transformed where they are inputs, and the plain sum lays them out as well. Constant ones are there
// before any run: they only pass by from the third cache while the products run, whichever takes longer.
//
// The constants are those of 3 x 3 layers of 7^2 512 to 56^2 64 filters on two Sapphire Rapids cores, inputs and constants,
// with tiles of 2 and of 4: 0.8 to 1.2 of the times measured, but for 28^2 with tiles of 4 (0.65). There 14^2 256 took 0.54 ms
// with tiles of 2, 0.48 with 4 (constant filters: 0.46, 0.35), 7^2 512 0.78 and 1.07 (0.50, 0.74), the plain sums 0.75 and
// 0.99.
#include <algorithm>
#include <cmath>

#include "facet/expr_facts.hpp"
#include "polyhedral/recipe/contraction.hpp"
#include "polyhedral/recipe/winograd.hpp"
#include "polyhedral/rewrite/winograd.hpp"

namespace facet {

namespace {

constexpr double kElementCycles = 0.5;  // an element of x, y or what is made of them
constexpr double kFilterCycles = 0.3;   // of w or what is made of it
constexpr double kPeakShare = 0.9;      // of the multiply-adds' rate, in the products
constexpr double kDirectShare = 0.92;   // in the sum as it is, filters apart (Zen 4: 0.89 of 56^2, 0.95 of the other three)
constexpr double kGhz = 3;              // where the machine's rate is not measured
constexpr double kL3GbS = 20;           // of one core, likewise
constexpr double kGain = 1.15;          // the least that pays for other rounding
constexpr double kTaps = 9;
constexpr double kFilterShare = 1.0 / 3;    // of the second cache: beside it pass transformed windows and products
constexpr std::int64_t kChannelBlock = 16;  // a line of four-byte elements

// What the estimate asks of a sum, at the typical sizes of the symbols.
struct Sum {
  double batch = 1, channels = 1, filters = 1;
  double rows = 1, columns = 1;  // of places
  double element = 4;
  bool constant = false;  // filters

  double points() const { return batch * rows * columns; }
  double weights() const { return channels * filters; }
};

Sum sum_of(const GroupPlanner& planner, int statement, const WindowProduct& found) {
  const Statement& s = planner.schedule().statement(statement);
  const Model model = planner.model();
  Sum sum;
  for (std::size_t at = 0; at < s.iterators.size(); ++at) {
    const std::string& name = s.iterators[at];
    if (name == found.tap[0] || name == found.tap[1]) continue;
    double& part = !mentions_index(s.subscripts, name) ? sum.channels
                   : name == found.lanes               ? sum.filters
                   : name == found.place[0]            ? sum.rows
                   : name == found.place[1]            ? sum.columns
                                                       : sum.batch;
    part *= model.extent(statement, at);
  }
  sum.element = static_cast<double>(size_bytes(s.value->type));
  sum.constant = planner.schedule().scop->arrays.at(found.w->name).constant;
  return sum;
}

// Of all threads, in cycles.
class Estimate {
 public:
  Estimate(const CpuMachine& cpu, int threads, const Sum& sum) : cpu_(cpu), threads_(threads), sum_(sum) {}

  double direct() const {
    const double weights = sum_.constant ? 0 : kTaps * sum_.weights();
    return products(kTaps * sum_.points()) / kDirectShare + weights * kFilterCycles / threads_;
  }

  double tiles_of(std::int64_t m) const {
    const double side = static_cast<double>(m), points = (side + 2) * (side + 2);
    const double tiles = sum_.batch * std::ceil(sum_.rows / side) * std::ceil(sum_.columns / side);
    const double elements = (points * tiles + sum_.points()) * (sum_.channels + sum_.filters) * kElementCycles / threads_;
    const double sums = products(points * tiles) / kPeakShare, filters = points * sum_.weights();
    if (sum_.constant) return elements + std::max(sums, filters * sum_.element / bytes_per_cycle());
    return elements + sums + (filters + kTaps * sum_.weights()) * kFilterCycles / threads_;
  }

 private:
  const CpuMachine& cpu_;
  double threads_;
  const Sum& sum_;

  double flops_per_cycle() const { return 2 * cpu_.fma_per_cycle * static_cast<double>(cpu_.vector_bytes) / sum_.element; }
  double products(double count) const { return 2 * count * sum_.weights() / flops_per_cycle() / threads_; }

  double bytes_per_cycle() const {
    const double measured = cpu_.peak_f32_gflop_s * 4 / sum_.element / flops_per_cycle();
    const double rate = cpu_.caches.size() > 2 && cpu_.caches[2].read_gb_s > 0 ? cpu_.caches[2].read_gb_s : kL3GbS;
    return threads_ * rate / (measured > 0 ? measured : kGhz);
  }
};

}  // namespace

double winograd_filter_block(const WinogradSizes& size, const CpuMachine& cpu) {
  const double one = size.filter_bytes() / size.filters, lanes = static_cast<double>(cpu.vector_bytes) / size.element;
  const double fit = std::floor(kFilterShare * static_cast<double>(second_cache_bytes(cpu)) / one / lanes) * lanes;
  return std::min(size.filters, std::max(lanes, fit));
}

std::int64_t winograd_channel_block(const WinogradSizes& size, const CpuMachine& cpu, int threads) {
  const std::int64_t two = 2 * kChannelBlock;
  const double l1 = cpu.caches.empty() ? 32768 : static_cast<double>(cpu.caches[0].size_bytes), side = std::sqrt(size.points);
  const bool fits = side * ((side - 2) * size.tiles_x + 2) * static_cast<double>(two) * size.element <= l1 / 2;
  return fits && (threads == 1 || size.channels >= static_cast<double>(2 * two * threads)) ? two : kChannelBlock;
}

std::int64_t winograd_tile(const GroupPlanner& planner, int statement) {
  std::string why;
  const Scop& scop = *planner.schedule().scop;
  if (scop.reassociate != Numerics::Reassociate::kFree) return 0;
  const std::optional<WindowProduct> found = window_product(scop, statement, &why);
  if (!found) return 0;
  const Sum sum = sum_of(planner, statement, *found);
  const Estimate estimate(planner.options().machine.cpu, planner.threads(), sum);
  double best = estimate.direct() / kGain;
  std::int64_t chosen = 0;
  for (const std::int64_t m : {2, 4}) {
    if (estimate.tiles_of(m) >= best) continue;
    best = estimate.tiles_of(m);
    chosen = m;
  }
  return chosen;
}

}  // namespace facet
