// Times exported kernels against libraries in turns (A B C A B C ...), checks that they agree, prints one line each.
//
//   bench --programs CONTRACTIONS FOLDER [--seed N] [case-substring]    writes the program of every case
//   bench CONTRACTIONS FOLDER [--seed N] [case-substring]               times what was exported from them: FOLDER/libPROGRAM.so
//
// The figure is the median of many turns; "again" is Facet's own
// kernel timed a second time as if it were a rival: differences below that spread are noise.
#include <dlfcn.h>
#include <omp.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <limits>
#include <map>
#include <memory>
#include <random>
#include <thread>

#include "bench/cpu/bench.hpp"

namespace bench {

Buffer::Buffer(std::int64_t count, int bytes) : count_(count), bytes_(bytes) {
  data_ = std::aligned_alloc(64, static_cast<std::size_t>((count * bytes + 63) / 64 * 64));
}
Buffer::~Buffer() { std::free(data_); }
Buffer::Buffer(Buffer&& other) noexcept : data_(other.data_), count_(other.count_), bytes_(other.bytes_) {
  other.data_ = nullptr;
}

void Buffer::randomize(std::uint64_t seed) {
  std::minstd_rand generator(static_cast<unsigned>(seed * 2654435761u + 1));
  for (std::int64_t i = 0; i < count_; ++i) {
    const double value = static_cast<double>(generator()) / 1073741824.0 - 1.0;
    if (bytes_ == 4)
      f32()[i] = static_cast<float>(value);
    else
      f64()[i] = value;
  }
}
void Buffer::poison() { std::memset(data_, 0xff, static_cast<std::size_t>(count_ * bytes_)); }

namespace {

using Run = int (*)(const void*, void*);
using WorkspaceBytes = std::size_t (*)(const void*);

// The exported kernel as a rival of the others; empty `run` with a message on stderr when it cannot be loaded.
Rival facet_of(const std::string& folder, const Case& which, std::vector<Buffer>& inputs, Buffer& output) {
  const std::string path = folder + "/lib" + which.program + ".so";
  void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    std::fprintf(stderr, "bench: %s\n", dlerror());
    return {"facet", {}};
  }
  const std::string prefix = "facet_" + which.program;
  auto run = reinterpret_cast<Run>(dlsym(library, (prefix + "_run").c_str()));
  auto workspace_bytes = reinterpret_cast<WorkspaceBytes>(dlsym(library, (prefix + "_workspace_bytes").c_str()));
  // The argument struct: one pointer per input and output (the programs have no symbols).
  auto arguments = std::make_shared<std::vector<std::uint64_t>>();
  for (Buffer& input : inputs) arguments->push_back(reinterpret_cast<std::uint64_t>(input.data()));
  arguments->push_back(reinterpret_cast<std::uint64_t>(output.data()));
  const std::size_t bytes = (workspace_bytes(arguments->data()) + 4095) / 4096 * 4096;
  std::shared_ptr<void> workspace(bytes ? std::aligned_alloc(4096, bytes) : nullptr, std::free);
  auto prepare = reinterpret_cast<Run>(dlsym(library, (prefix + "_prepare").c_str()));
  if (prepare(arguments->data(), workspace.get()) != 0) std::exit(1);
  return {"facet", [=] {
            if (run(arguments->data(), workspace.get()) != 0) std::exit(1);
          }};
}

double seconds(const std::function<void()>& run) {
  const auto start = std::chrono::steady_clock::now();
  run();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

double median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + values.size() / 2, values.end());
  return values[values.size() / 2];
}

// The largest difference between what two runs left in `output`, over the largest magnitude; NaN counts as infinite.
double difference(const std::vector<double>& expected, Buffer& output) {
  double worst = 0, largest = 1e-30;
  for (std::int64_t i = 0; i < output.count(); ++i) {
    const double gap = std::fabs(output.at(i) - expected[static_cast<std::size_t>(i)]);
    worst = std::isfinite(gap) ? std::max(worst, gap) : std::numeric_limits<double>::infinity();
    largest = std::max(largest, std::fabs(expected[static_cast<std::size_t>(i)]));
  }
  return worst / largest;
}

bool agree(const std::vector<Rival>& all, Buffer& output) {
  std::vector<double> expected;
  for (const Rival& rival : all) {
    if (!rival.same_output) continue;
    output.poison();
    rival.run();
    if (expected.empty()) {
      for (std::int64_t i = 0; i < output.count(); ++i) expected.push_back(output.at(i));
    } else if (double gap = difference(expected, output); !(gap < 1e-4)) {
      std::printf("  %s and %s disagree by %.2e\n", all[0].name.c_str(), rival.name.c_str(), gap);
      return false;
    }
  }
  return true;
}

const char* dtype_text(int bytes) { return bytes == 8 ? " f64" : " f32"; }

// How many times longer rivals took than Facet, by kind of case.
using Ratios = std::map<std::string, std::vector<double>>;

void print_times(const Case& which, const std::vector<Rival>& all, const std::vector<std::vector<double>>& times,
                 const Ceilings& ceilings, Ratios& ratios) {
  const double peak = ceilings.fma_gflop_s * 4 / which.bytes;
  const double floor = std::max(which.flops / peak, which.moved / ceilings.copy_gb_s) * 1e-9;
  const double facet = median(times[0]);
  double best = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < all.size(); ++i) {
    const double s = median(times[i]);
    if (i > 0 && i + 1 < all.size()) {
      best = std::min(best, s);
      ratios[which.kind + dtype_text(which.bytes) + ", " + all[i].name + " / facet"].push_back(s / facet);
    }
    std::printf("  %-18s %9.3f ms %8.1f GFLOP/s %7.1f GB/s %5.0f %% of floor  %5.2f x facet\n", all[i].name.c_str(), s * 1e3,
                which.flops / s * 1e-9, which.moved / s * 1e-9, 100 * floor / s, s / facet);
  }
  ratios[which.kind + dtype_text(which.bytes) + ", share of floor"].push_back(floor / facet);
  if (std::isfinite(best)) ratios[which.kind + dtype_text(which.bytes) + ", best rival / facet"].push_back(best / facet);
  std::fflush(stdout);
}

bool bench_case(const std::string& folder, const Case& which, const Ceilings& ceilings, int threads, Ratios& ratios) {
  std::vector<Buffer> inputs;
  for (std::int64_t count : which.inputs) {
    inputs.emplace_back(count, which.bytes);
    inputs.back().randomize(inputs.size());
  }
  Buffer output(which.output, which.bytes);
  std::vector<Rival> all = {facet_of(folder, which, inputs, output)};
  if (!all[0].run) return false;
  for (Rival& rival : rivals_of(which, inputs, output, threads)) all.push_back(rival);
  all.push_back({"again", all[0].run});
  std::printf("%s\n", which.name.c_str());
  if (!agree(all, output)) return false;

  std::vector<std::vector<double>> times(all.size());
  const double once = seconds(all[0].run);
  const int turns = std::clamp(static_cast<int>(1.0 / (once * static_cast<double>(all.size()))), 7, 51);
  for (int turn = 0; turn < turns; ++turn) {
    for (std::size_t i = 0; i < all.size(); ++i) {
      // Lets the other library's spinning threads go to sleep.
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
      all[i].run();
      times[i].push_back(std::min(seconds(all[i].run), seconds(all[i].run)));
    }
  }
  print_times(which, all, times, ceilings, ratios);
  return true;
}

// One file a case; the names, which are those of the programs, go to stdout.
int write_programs(const std::vector<Case>& cases, const std::string& folder, const char* wanted) {
  for (const Case& which : cases) {
    if (wanted && which.name.find(wanted) == std::string::npos) continue;
    std::ofstream(folder + "/" + which.program + ".json") << which.json;
    std::printf("%s\n", which.program.c_str());
  }
  return 0;
}

}  // namespace
}  // namespace bench

int main(int argc, char** argv) {
  std::vector<std::string> words;
  bool programs = false;
  std::uint64_t seed = 0;
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "--programs") == 0)
      programs = true;
    else if (std::strcmp(argv[i], "--seed") == 0 && i + 1 < argc)
      seed = std::strtoull(argv[++i], nullptr, 10);
    else
      words.emplace_back(argv[i]);
  }
  if (words.size() < 2)
    return std::fprintf(stderr, "usage: bench [--programs] CONTRACTIONS FOLDER [--seed N] [case-substring]\n"), 2;
  const std::vector<bench::Case> cases = bench::all_cases(words[0], seed);
  const char* wanted = words.size() > 2 ? words[2].c_str() : nullptr;
  if (programs) return bench::write_programs(cases, words[1], wanted);
  const int threads = omp_get_max_threads();
  const bench::Ceilings ceilings = bench::measure_ceilings(threads);
  std::printf("%d threads; multiply-adds %.0f GFLOP/s, copy %.1f GB/s; OpenBLAS runs its code for %s\n", threads,
              ceilings.fma_gflop_s, ceilings.copy_gb_s, bench::openblas_core());
  bool good = true;
  bench::Ratios ratios;
  for (const bench::Case& which : cases) {
    if (wanted && which.name.find(wanted) == std::string::npos) continue;
    good = bench::bench_case(words[1], which, ceilings, threads, ratios) && good;
  }
  for (const auto& [what, values] : ratios) {
    double sum = 0;
    for (const double v : values) sum += std::log(v);
    std::printf("%s: geometric mean %.2f, least %.2f of %zu\n", what.c_str(),
                std::exp(sum / static_cast<double>(values.size())), *std::min_element(values.begin(), values.end()),
                values.size());
  }
  return good ? 0 : 1;
}
