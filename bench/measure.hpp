#pragma once

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <functional>
#include <string>
#include <vector>

// Time, memory and the JSON line that bench/report.py reads. No Covary in here.
namespace bench {

inline double now() {
  using namespace std::chrono;
  return duration<double>(steady_clock::now().time_since_epoch()).count();
}

inline double median(std::vector<double> t) {
  std::sort(t.begin(), t.end());
  const std::size_t half = t.size() / 2;
  return t.size() % 2 ? t[half] : 0.5 * (t[half - 1] + t[half]);
}

// Runs of about two seconds in all, at least 3 and at most so many, or COVARY_BENCH_RUNS of them.
// run(k) is the k-th, k = 1, 2, …, and returns its own seconds.
inline std::vector<double> repeat(const std::function<double(int)>& run, std::size_t at_most = 25) {
  const char* asked = std::getenv("COVARY_BENCH_RUNS");
  const std::size_t least = asked ? std::max(1, std::atoi(asked)) : 3,
                    most = asked ? least : at_most;
  std::vector<double> times;
  for (double total = 0.0; times.size() < least || (total < 2.0 && times.size() < most);) {
    times.push_back(run(static_cast<int>(times.size()) + 1));
    total += times.back();
  }
  return times;
}

// A field of /proc/self/status such as "VmHWM", in bytes.
inline double process_memory(const std::string& field) {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.rfind(field + ":", 0) == 0) return 1024.0 * std::atof(line.c_str() + field.size() + 1);
  return 0.0;
}

// From now on "VmHWM" is the peak since this call.
inline void reset_peak_memory() { std::ofstream("/proc/self/clear_refs") << "5"; }

struct Line {
  const char* name;
  std::size_t n;
  int threads;
  std::vector<double> times;
  double value;                  // the evidence at the starting parameters
  std::vector<double> gradient;  // in variance, lengthscales, noise variance
  double peak_bytes;             // over what the process held before
};

inline void print(const Line& l) {
  const double n = static_cast<double>(l.n);
  std::printf("{\"case\": \"%s\", \"n\": %zu, \"threads\": %d, \"seconds\": %.6g, ", l.name, l.n,
              l.threads, median(l.times));
  std::printf("\"fastest\": %.6g, \"runs\": %zu, \"value\": %.17g, \"gradient\": [",
              *std::min_element(l.times.begin(), l.times.end()), l.times.size(), l.value);
  for (std::size_t i = 0; i < l.gradient.size(); ++i)
    std::printf("%s%.17g", i ? ", " : "", l.gradient[i]);
  std::printf("], \"peak_memory_mb\": %.1f, \"peak_memory_n2\": %.3f}\n", l.peak_bytes / 1048576,
              l.peak_bytes / (8.0 * n * n));
}

// The first argument, N.
inline std::size_t size_argument(int argc, char** argv, const char* usage) {
  const long n = argc > 1 ? std::atol(argv[1]) : 0;
  if (n >= 2) return static_cast<std::size_t>(n);
  std::fprintf(stderr, "usage: %s\n", usage);
  std::exit(2);
}

}  // namespace bench
