// Rows that stay in a file: a sparse regression reads them block by block, so that they may be more
// than memory holds.
#include <cmath>
#include <cstdio>
#include <fstream>
#include <memory>

#include "covary/covary.hpp"

namespace {

// 10 000 rows of ten inputs and an output, as numpy.save would write them.
void write_rows(const std::string& path) {
  using namespace covary;
  const SyntheticData data = friedman_data(10000, 1);
  RowMatrix rows(data.X.rows(), data.X.cols() + 1);
  rows << data.X, data.y;
  std::ofstream file(path, std::ios::binary);
  file << npy_header(rows.rows(), rows.cols());
  file.write(reinterpret_cast<const char*>(rows.data()),
             static_cast<std::streamsize>(sizeof(double)) * rows.size());
}

void run(const std::string& path) {
  using namespace covary;
  write_rows(path);
  const auto rows = std::make_shared<FileRows>(
      path, std::vector<Index>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}, std::vector<Index>{10});

  const auto tell = [](const std::string& text) { std::printf("%s\n", text.c_str()); };
  SparseRegression model(rows, {.kernel = "se(ard)",
                                .inducing = 40,
                                .subset = 500,
                                .training = {.max_iterations = 10, .tell = tell}});
  const RegressionFit fit = model.fit();
  std::printf("%s\n", fit.summary.brief().c_str());

  const SyntheticData test = friedman_data(500, 2);
  const Prediction p = fit.predict(test.X);
  std::printf("held-out rmse %.3f of noise with standard deviation 1\n",
              rmse(test.y, p.mean.col(0)));
  std::remove(path.c_str());
}

}  // namespace

int main(int argc, char** argv) {
  try {
    run(argc > 1 ? argv[1] : "sparse_from_file.npy");
    return 0;
  } catch (const covary::Error& e) {
    std::fprintf(stderr, "%s: %s\n", e.kind().c_str(), e.what());
    return 1;
  }
}
