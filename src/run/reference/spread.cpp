// Spread of perturbed reference runs.
#include "src/run/reference/spread.hpp"

#include <algorithm>
#include <cmath>

#include "src/run/reference/value.hpp"

namespace facet::reference {

namespace {

// Bounds up to this share of the output's size still tell right from wrong: 1.6 % for f32, 1e-6 for f64.
double vague_share(DType type) { return std::min(0.25, 64 * std::sqrt(float_facts(type, false).unit)); }

double root_mean_square(const std::vector<double>& values) {
  double sum = 0;
  double count = 0;
  for (const double v : values)
    if (std::isfinite(v)) {
      sum += v * v;
      count += 1;
    }
  return count > 0 ? std::sqrt(sum / count) : 0;
}

bool is_vague(const ReferenceTensor& t) {
  if (!is_float(t.dtype) || t.bounds.empty()) return false;
  const double size = root_mean_square(t.floats);
  for (std::size_t i = 0; i < t.floats.size(); ++i)
    if (std::isfinite(t.floats[i]) && !(static_cast<double>(t.bounds[i]) <= vague_share(t.dtype) * size)) return true;
  return false;
}

}  // namespace

bool can_be_vague(const Program& program) {
  constexpr std::size_t kDeep = 8;
  return program.nodes.size() >= kDeep ||
         std::any_of(program.nodes.begin(), program.nodes.end(), [](const Node& n) { return !n.loops.empty(); });
}

bool bounds_are_vague(const ReferenceRun& run) {
  return std::any_of(run.outputs.begin(), run.outputs.end(), [](const auto& named) { return is_vague(named.second); });
}

Spread::Spread(const ReferenceRun& base) : base_(base) {
  for (const auto& [name, tensor] : base.outputs)
    if (is_vague(tensor)) outputs_[name] = {root_mean_square(tensor.floats), 0, std::vector<bool>(tensor.floats.size())};
}

void Spread::add(const ReferenceRun& moved) {
  for (auto& [name, output] : outputs_) {
    const ReferenceTensor& base = base_.outputs.at(name);
    const std::vector<double>& other = moved.outputs.at(name).floats;
    for (std::size_t i = 0; i < other.size(); ++i) {
      const double distance = std::fabs(other[i] - base.floats[i]);
      if (!(distance <= vague_share(base.dtype) * output.size)) {
        output.jumps[i] = true;
      } else {
        output.largest = std::max(output.largest, distance);
      }
    }
  }
}

void Spread::tighten(ReferenceRun& base) const {
  for (const auto& [name, output] : outputs_) {
    ReferenceTensor& t = base.outputs.at(name);
    const double bound = kSpreadFactor * (output.largest + float_facts(t.dtype, false).unit * output.size);
    for (std::size_t i = 0; i < t.bounds.size(); ++i)
      if (!output.jumps[i] && std::isfinite(t.floats[i])) t.bounds[i] = std::min(t.bounds[i], static_cast<float>(bound));
  }
}

}  // namespace facet::reference
