// Times exported kernels against libraries in turns (A B C A B C ...), checks that they agree, prints one line each.
//
//   bench LIBRARY_FOLDER [case-substring]
//
// LIBRARY_FOLDER holds libNAME.so of every exported program. The figure is the median of many turns; "again" is Facet's own
// kernel timed a second time as if it were a rival: differences below that spread are noise.
#include <dlfcn.h>
#include <omp.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <memory>
#include <random>
#include <thread>

#include "bench/cpu/bench.hpp"

namespace bench {

Buffer::Buffer(std::int64_t count) : count_(count) {
  data_ = static_cast<float*>(std::aligned_alloc(64, (count * sizeof(float) + 63) / 64 * 64));
}
Buffer::~Buffer() { std::free(data_); }
Buffer::Buffer(Buffer&& other) noexcept : data_(other.data_), count_(other.count_) { other.data_ = nullptr; }

void Buffer::randomize(std::uint64_t seed) {
  std::minstd_rand generator(static_cast<unsigned>(seed * 2654435761u + 1));
  for (std::int64_t i = 0; i < count_; ++i) data_[i] = static_cast<float>(generator()) / 1073741824.0f - 1.0f;
}
void Buffer::poison() { std::fill(data_, data_ + count_, std::numeric_limits<float>::quiet_NaN()); }

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
  // The argument struct: one 64-bit integer per symbol, then one pointer per input and output.
  auto arguments = std::make_shared<std::vector<std::uint64_t>>();
  for (std::int64_t value : which.symbols) arguments->push_back(static_cast<std::uint64_t>(value));
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
double difference(const std::vector<float>& expected, Buffer& output) {
  double worst = 0, largest = 1e-30;
  for (std::int64_t i = 0; i < output.count(); ++i) {
    const double gap = std::fabs(double(output.data()[i]) - double(expected[i]));
    worst = std::isfinite(gap) ? std::max(worst, gap) : std::numeric_limits<double>::infinity();
    largest = std::max(largest, std::fabs(double(expected[i])));
  }
  return worst / largest;
}

bool agree(const std::vector<Rival>& all, Buffer& output) {
  std::vector<float> expected;
  for (const Rival& rival : all) {
    output.poison();
    rival.run();
    if (expected.empty()) {
      expected.assign(output.data(), output.data() + output.count());
    } else if (double gap = difference(expected, output); !(gap < 1e-4)) {
      std::printf("  %s and %s disagree by %.2e\n", all[0].name.c_str(), rival.name.c_str(), gap);
      return false;
    }
  }
  return true;
}

bool bench_case(const std::string& folder, const Case& which, const Ceilings& ceilings, int threads) {
  std::vector<Buffer> inputs;
  for (std::int64_t count : which.inputs) {
    inputs.emplace_back(count);
    inputs.back().randomize(inputs.size());
  }
  Buffer output(which.output);
  std::vector<Rival> all = {facet_of(folder, which, inputs, output)};
  if (!all[0].run) return false;
  for (Rival& rival : rivals_of(which, inputs, output, threads)) all.push_back(rival);
  all.push_back({"again", all[0].run});
  std::printf("%s\n", which.name.c_str());
  if (!agree(all, output)) return false;

  std::vector<std::vector<double>> times(all.size());
  const double once = seconds(all[0].run);
  const int turns = std::clamp(static_cast<int>(1.0 / (once * all.size())), 7, 101);
  for (int turn = 0; turn < turns; ++turn) {
    for (std::size_t i = 0; i < all.size(); ++i) {
      // Lets the other library's spinning threads go to sleep.
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
      all[i].run();
      times[i].push_back(std::min(seconds(all[i].run), seconds(all[i].run)));
    }
  }
  const double floor = std::max(which.flops / ceilings.fma_gflop_s, which.bytes / ceilings.copy_gb_s) * 1e-9;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const double s = median(times[i]);
    std::printf("  %-9s %9.3f ms %8.1f GFLOP/s %7.1f GB/s %5.0f %% of floor  %5.2f x facet\n", all[i].name.c_str(), s * 1e3,
                which.flops / s * 1e-9, which.bytes / s * 1e-9, 100 * floor / s, s / median(times[0]));
  }
  return true;
}

}  // namespace
}  // namespace bench

int main(int argc, char** argv) {
  if (argc < 2) return std::fprintf(stderr, "usage: bench LIBRARY_FOLDER [case-substring]\n"), 2;
  const int threads = omp_get_max_threads();
  const bench::Ceilings ceilings = bench::measure_ceilings(threads);
  std::printf("%d threads; multiply-adds %.0f GFLOP/s, copy %.1f GB/s\n", threads, ceilings.fma_gflop_s, ceilings.copy_gb_s);
  bool good = true;
  for (const bench::Case& which : bench::all_cases()) {
    if (argc > 2 && !std::strstr(which.name.c_str(), argv[2])) continue;
    good = bench::bench_case(argv[1], which, ceilings, threads) && good;
  }
  return good ? 0 : 1;
}
