// Machine: what the planner knows about the hardware. Detected, or read from a file (--machine).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace facet {

struct CacheLevel {
  std::int64_t size_bytes = 0;
  std::int64_t line_bytes = 64;
  int shared_by_cores = 1;
  int associativity = 8;
  double read_gb_s = 0;  // one core; 0 is unknown
};

struct CpuMachine {
  std::string name = "generic x86-64";
  std::string isa = "avx2";         // generic | avx2 | avx512 | neon
  std::string march = "x86-64-v3";  // compiler spelling
  int cores = 1;                    // allowed to this process
  int vector_bytes = 32;
  int vector_registers = 16;
  int fma_per_cycle = 2;
  std::vector<CacheLevel> caches;  // L1d, L2, L3
  double peak_f32_gflop_s = 0;     // one core, measured; 0 is not measured yet
  double copy_gb_s = 0;            // all allowed cores, read + write, measured
  double thread_start_us = 5;
  double load_cost = 0.25;  // of a multiply-add: what a load beside it takes; cores that its power slows down lose clock
  int tlb_pages = 1536;     // pages of page_bytes that the tables of addresses hold
  std::int64_t page_bytes = 4096;
  double page_walk_ns = 20;  // beyond them
};

struct GpuMachine {
  std::string name = "sm_90";
  int compute_major = 9, compute_minor = 0;
  int multiprocessors = 132;
  int warp = 32;
  int max_threads_per_block = 1024;
  int max_registers_per_thread = 255;
  int registers_per_multiprocessor = 65536;
  std::int64_t shared_bytes_per_block = 49152;
  std::int64_t shared_bytes_opt_in = 232448;
  std::int64_t max_grid_x = 2147483647, max_grid_y = 65535, max_grid_z = 65535;
  double copy_gb_s = 4000;
  double peak_f32_gflop_s = 50000;
};

struct Machine {
  CpuMachine cpu;
  GpuMachine gpu;
};

}  // namespace facet
