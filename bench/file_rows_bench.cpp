// One evaluation of VFE with all gradients on rows that stay in their file.
//
//   file_rows_bench FILE N M     makes FILE, N rows of 8 inputs and an output, unless it is there
//
// Under `ulimit -v` below the size of the file it shows that memory does not grow with the rows.
#include <cmath>
#include <cstdio>
#include <exception>
#include <fstream>
#include <string>
#include <vector>

#include "covary/error.hpp"
#include "covary/inference/sparse.hpp"
#include "covary/linalg/parallel.hpp"
#include "covary/random/random.hpp"
#include "measure.hpp"

namespace covary {
namespace {

constexpr Index D = 8;

void write_npy(const std::string& path, Index N) {
  std::ofstream file(path, std::ios::binary);
  std::string header = "{'descr': '<f8', 'fortran_order': False, 'shape': (" + std::to_string(N) +
                       ", " + std::to_string(D + 1) + "), }";
  header.resize((header.size() + 11 + 63) / 64 * 64 - 11, ' ');
  header += '\n';
  const auto length = static_cast<unsigned>(header.size());
  file << "\x93NUMPY" << '\x01' << '\0' << static_cast<char>(length & 255)
       << static_cast<char>(length >> 8) << header;
  std::vector<double> rows;
  for (Index first = 0; first < N; first += 4096) {
    const Index n = std::min<Index>(4096, N - first);
    Random random(7, static_cast<std::uint64_t>(first));
    rows.clear();
    for (Index i = 0; i < n; ++i) {
      double sum = 0.0;
      for (Index d = 0; d < D; ++d) sum += rows.emplace_back(random.normal());
      rows.push_back(std::sin(sum) + 0.1 * random.normal());
    }
    file.write(reinterpret_cast<const char*>(rows.data()),
               static_cast<std::streamsize>(8 * rows.size()));
  }
  if (!file.flush()) throw FileError("cannot write " + path);
}

void measure(const std::string& path, Index N, Index M) {
  if (!std::ifstream(path)) write_npy(path, N);
  const FileRows rows(path, {0, 1, 2, 3, 4, 5, 6, 7}, {8});
  ReadBuffer buffer;
  const DataBlock first = rows.read(0, M, buffer);
  const RowMatrix Z = Eigen::Map<const RowMatrix>(first.x.data, M, D);
  const Kernel kernel = "se(ard)";
  const Mean mean;
  const FeaturesPtr features = inducing_points(kernel, Z);
  const Sweep sweep = Sweep::for_features(rows, M);
  const SparseProblem problem{"vfe", features.get(), &kernel, &mean, &sweep, {{0}}};
  const SparseValues values{kernel.parameters(D).values(),
                            Eigen::Map<const Vector>(Z.data(), Z.size()), 0.1, Matrix()};
  Jitter jitter;
  SweepGradient gradient;
  const double begin = bench::now();
  const SparseEvaluation e = evaluate_sparse(problem, values, jitter, &gradient);
  const double seconds = bench::now() - begin,
               gigabytes = 8e-9 * static_cast<double>(rows.rows() * (D + 1));
  std::printf(
      "{\"case\": \"vfe from a file\", \"n\": %td, \"m\": %td, \"threads\": %d, "
      "\"seconds\": %.6g, \"value\": %.17g, \"file_gb\": %.3g, \"peak_virtual_mb\": %.1f, "
      "\"peak_memory_mb\": %.1f}\n",
      rows.rows(), M, threads(), seconds, e.value, gigabytes,
      bench::process_memory("VmPeak") / 1048576, bench::process_memory("VmHWM") / 1048576);
}

}  // namespace
}  // namespace covary

int main(int argc, char** argv) {
  try {
    if (argc != 4) throw covary::InputError("usage: file_rows_bench FILE N M");
    covary::measure(argv[1], std::stol(argv[2]), std::stol(argv[3]));
  } catch (const std::exception& e) {
    std::fprintf(stderr, "file_rows_bench: %s\n", e.what());
    return 1;
  }
}
