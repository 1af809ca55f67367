// Flow regimes by manifold relevance determination (Damianou 2015, section 5.3.4, Figs 5.11, 5.12):
// twelve measurements in one view, three labels of ±1 in the other. Of a test row the latent input
// is inferred from the measurements and the largest label decoded is taken; beside the nearest
// training row.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "covary/data/split.hpp"
#include "covary/data/table.hpp"
#include "covary/features/selection.hpp"
#include "covary/random/random.hpp"
#include "experiments.hpp"
#include "latent_support.hpp"
#include "small.hpp"
#include "sparse_support.hpp"
#include "support.hpp"

namespace covary::experiments {
namespace {

constexpr Index measurements = 12, classes = 3, default_repeats = 3, label_column = 14;

struct Flow {
  RowMatrix Y;
  std::vector<Index> label;
};

Flow read_flow(const std::string& name) {
  const RowMatrix all = read_data("oil_flow/" + name).values;
  Flow out{all.leftCols(measurements), {}};
  for (Index i = 0; i < all.rows(); ++i)
    out.label.push_back(static_cast<Index>(all(i, label_column)));
  return out;
}

RowMatrix both_views(const Flow& flow, const std::vector<Index>& rows) {
  RowMatrix out(static_cast<Index>(rows.size()), measurements + classes);
  out.leftCols(measurements) = take_rows(flow.Y, rows);
  out.rightCols(classes).setConstant(-1.0);
  for (std::size_t i = 0; i < rows.size(); ++i)
    out(static_cast<Index>(i), measurements + flow.label[static_cast<std::size_t>(rows[i])]) = 1.0;
  return out;
}

double accuracy_of(const std::vector<Index>& predicted, const std::vector<Index>& truth) {
  double right = 0.0;
  for (std::size_t i = 0; i < truth.size(); ++i) right += predicted[i] == truth[i];
  return 100.0 * right / static_cast<double>(truth.size());
}

}  // namespace

Result mrd_oil(const Settings& settings) {
  Result result;
  result.name = "mrd-oil";
  result.source =
      "A. Damianou, Deep Gaussian Processes and Variational Propagation of Uncertainty (2015), "
      "section 5.3.4, Figs 5.11 and 5.12";
  const Flow train = read_flow("train.csv"), test = read_flow("test.csv");
  const auto N = static_cast<Index>(train.label.size());
  const Index repeats = settings.repeats ? settings.repeats : few(default_repeats, 1);
  RowMatrix seen(test.Y.rows(), measurements + classes);
  seen << test.Y, RowMatrix::Constant(test.Y.rows(), classes, std::nan(""));
  const struct {
    Index rows;
    const char *ours, *nearest;
  } sizes[] = {{100, "98.0", "95.8"}, {300, "99.2", "98.8"}, {1000, "99.5", "99.2"}};
  Matrix curve(3, 3);
  Index at = 0;
  for (const auto& size : sizes) {
    if (settings.rows && size.rows > settings.rows) continue;
    const Index times = size.rows == N ? 1 : repeats;
    Vector ours(times), nearest(times);
    Index shared = 0, of_labels = 0;
    for (Index r = 0; r < times; ++r) {
      const std::vector<Index> rows = sample_rows(
          N, std::min(size.rows, N), Random(settings.seed + static_cast<std::uint64_t>(r), 0x011));
      GplvmOptions o;
      o.latent = 8;
      o.inducing = few(50, 10);
      o.views = {{"measurements", columns_between(0, measurements)},
                 {"labels", columns_between(measurements, measurements + classes)}};
      o.training.starts = 1;
      o.seed = settings.seed;
      o.training.max_iterations = few(500, 2);
      const GplvmFit fit = Gplvm(both_views(train, rows), o).fit();
      const auto found = fit.infer(seen, few(200, 2));
      const RowMatrix decoded = fit.decode(found.mean, found.variance).mean.rightCols(classes);
      std::vector<Index> by_model(test.label.size()), by_row;
      for (std::size_t i = 0; i < by_model.size(); ++i)
        decoded.row(static_cast<Index>(i)).maxCoeff(&by_model[i]);
      for (const Index k : nearest_rows(test.Y, take_rows(train.Y, rows)))
        by_row.push_back(train.label[static_cast<std::size_t>(rows[static_cast<std::size_t>(k)])]);
      ours(r) = accuracy_of(by_model, test.label);
      nearest(r) = accuracy_of(by_row, test.label);
      const Matrix w = fit.relevance();
      shared = ((w.row(0).array() > 0.01) && (w.row(1).array() > 0.01)).count();
      of_labels = ((w.row(0).array() <= 0.01) && (w.row(1).array() > 0.01)).count();
      progress(
          fmt::format("{} rows, set {}: MRD {:.1f} %, nearest {:.1f} %, {} shared, {} of the "
                      "labels alone",
                      size.rows, r, ours(r), nearest(r), shared, of_labels));
    }
    result.add(fmt::format("{} rows: MRD, % right", size.rows), size.ours, mean_sd(ours, 2),
               fmt::format("{} shared dimensions, {} of the labels alone", shared, of_labels));
    result.add(fmt::format("{} rows: nearest row, % right", size.rows), size.nearest,
               mean_sd(nearest, 2));
    curve.row(at++) << static_cast<double>(size.rows), ours.mean(), nearest.mean();
  }
  result.series.push_back(
      {"% right against rows", {"rows", "MRD", "nearest row"}, Matrix(curve.topRows(at))});
  return result;
}

}  // namespace covary::experiments
