// The speed of writing and reading a numeric CSV file of about MB megabytes, from the page cache.
//
//   csv_bench FILE MB
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <string>
#include <vector>

#include "covary/data/csv.hpp"
#include "measure.hpp"
#include "problem.hpp"

namespace covary {
namespace {

constexpr Index columns = 8;

int measure(const std::string& path, double megabytes) {
  const Index rows = std::max<Index>(1, static_cast<Index>(megabytes * 1e6 / (columns * 19.2)));
  RowMatrix values(rows, columns);
  bench::Uniform uniform(1);
  for (double& v : values.reshaped()) v = uniform();
  std::vector<std::string> names;
  for (Index c = 0; c < columns; ++c) names.push_back("x" + std::to_string(c));

  const double begin = bench::now();
  write_csv(path, names, values);
  const double writing = bench::now() - begin;
  const double size = static_cast<double>(std::filesystem::file_size(path)) / 1e6;
  bool same = true;
  const auto times = bench::repeat([&](int) {
    const double start = bench::now();
    const Table table = read_table(path);
    const double seconds = bench::now() - start;
    same = same && table.values == values;
    return seconds;
  });
  std::filesystem::remove(path);
  if (!same) {
    std::fprintf(stderr, "csv_bench: what was read is not what was written\n");
    return 1;
  }
  const double seconds = bench::median(times);
  std::printf("{\"case\": \"csv\", \"mb\": %.1f, \"seconds\": %.4g, \"read_mb_per_s\": %.4g, ",
              size, seconds, size / seconds);
  std::printf("\"write_mb_per_s\": %.4g}\n", size / writing);
  return 0;
}

}  // namespace
}  // namespace covary

int main(int argc, char** argv) {
  const double megabytes = argc > 2 ? std::atof(argv[2]) : 0.0;
  if (!(megabytes > 0.0)) {
    std::fprintf(stderr, "usage: csv_bench FILE MB\n");
    return 2;
  }
  try {
    return covary::measure(argv[1], megabytes);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "csv_bench: %s\n", e.what());
    return 1;
  }
}
