// Few labels and many rows (Damianou 2015, section 4.3.3, Fig. 4.5): oil flow, 1000 rows of which
// 700 test and 300 train; and the USPS digits 0, 2, 4 and 6, 2000 images of which 800 test and 1200
// train. A Bayesian GP-LVM of all training rows, eight latent dimensions, 25 inducing inputs, the
// best bound of four starts, at most 500 iterations each; then logistic regression, with a ridge of
// 1, from six draws of q(x) of each labelled row along the dimensions in use, and the means of q(x)
// of test rows classified. Beside it the same with means alone; with a GP-LVM of the labelled rows
// alone; and from the principal components, at most eight, of the labelled rows and of all.
// Labelled rows are drawn anew until each class is there. Fixed before a score was seen. --repeats
// are splits; --rows takes so many rows of either data set, seven tenths or four tenths of which
// test. (A single start was tried first and was poor.)
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "covary/data/pca.hpp"
#include "covary/data/split.hpp"
#include "covary/data/table.hpp"
#include "covary/features/selection.hpp"
#include "covary/models/gplvm.hpp"
#include "covary/models/logistic_regression.hpp"
#include "covary/random/random.hpp"
#include "experiments.hpp"
#include "ledger.hpp"
#include "small.hpp"
#include "sparse_support.hpp"
#include "support.hpp"

namespace covary::experiments {
namespace {

constexpr Index latent = 8, inducing = 25, draws = 6, starts = 4;
constexpr std::array<const char*, 5> methods = {
    "GP-LVM of all rows, six draws", "GP-LVM of all rows, means",
    "GP-LVM of labelled rows, six draws", "components of labelled rows", "components of all rows"};

struct LabelledRows {
  std::string name;
  RowMatrix X;
  Vector labels;  // 0, 1, …
  Index classes = 0;
  double tested = 0.0;  // share of the rows
  std::vector<Index> counts = {};
};

LabelledRows oil() {
  const Table table = read_data("oil_flow/train.csv");
  return {"oil", table.values.leftCols(12), table.values.col(14), 3, 0.7, {10, 20, 40, 80, 160}};
}

LabelledRows usps() {
  const Table table = read_data("usps/train.csv.gz");
  std::vector<Index> kept;
  for (Index i = 0; i < table.rows() && kept.size() < 2000; ++i)
    if (const double d = table.values(i, 0); d == 0.0 || d == 2.0 || d == 4.0 || d == 6.0)
      kept.push_back(i);
  const RowMatrix values = take_rows(table.values, kept);
  return {"usps", values.rightCols(256), 0.5 * values.col(0), 4, 0.4, {10, 20, 40, 80, 160}};
}

// The best of some starts, by the bound.
GplvmFit gplvm_of(const RowMatrix& X, std::uint64_t seed) {
  GplvmOptions o;
  o.latent = latent;
  o.inducing = inducing;
  o.training.starts = few(starts, 1);
  o.seed = seed;
  o.training.max_iterations = few(500, 3);
  return Gplvm(X, o).fit();
}

std::vector<Index> used_by(const GplvmFit& fit) {
  std::vector<Index> out = fit.active();
  if (out.empty()) out.push_back(0);  // all is noise: one dimension of it
  return out;
}

struct Features {
  RowMatrix X;
  Vector labels;
};
// Draws of q(x) of some rows, each with the label of its row; with none of them the means.
Features drawn(const GplvmFit& fit, const std::vector<Index>& rows, const Vector& labels,
               Index each, Random random) {
  const std::vector<Index> used = used_by(fit);
  const auto n = static_cast<Index>(rows.size()), Q = static_cast<Index>(used.size());
  const Index copies = std::max<Index>(1, each);
  Features out{RowMatrix(n * copies, Q), Vector(n * copies)};
  for (Index i = 0; i < n; ++i)
    for (Index c = 0; c < copies; ++c) {
      const Index at = i * copies + c, row = rows[static_cast<std::size_t>(i)];
      for (Index q = 0; q < Q; ++q) {
        const Index d = used[static_cast<std::size_t>(q)];
        out.X(at, q) = fit.mean(row, d);
        if (each > 0) out.X(at, q) += std::sqrt(fit.variance(row, d)) * random.normal();
      }
      out.labels(at) = labels(i);
    }
  return out;
}

Index errors(const Features& train, const RowMatrix& test, const Vector& truth, Index classes) {
  LogisticOptions o;
  o.ridge = 1.0;
  const RowMatrix p = fit_logistic_regression(train.X, train.labels, classes, o).predict(test);
  Index out = 0;
  for (Index i = 0; i < p.rows(); ++i) {
    Index best = 0;
    p.row(i).maxCoeff(&best);
    out += static_cast<double>(best) != truth(i);
  }
  return out;
}

Index component_errors(const RowMatrix& fitted, const Features& train, const RowMatrix& test,
                       const Vector& truth, Index classes) {
  const Pca all = Pca::fit(fitted);
  const Pca pca = all.first(std::min(latent, all.size()));
  return errors({pca.transform(train.X), train.labels}, pca.transform(test), truth, classes);
}

// So many of the rows, of each class one at least.
std::vector<Index> labelled_rows(const Vector& labels, Index count, Index classes, Random random) {
  for (;;) {
    std::vector<Index> rows = random.permutation(labels.size());
    rows.resize(static_cast<std::size_t>(count));
    std::vector<char> there(static_cast<std::size_t>(classes), 0);
    for (const Index r : rows) there[static_cast<std::size_t>(labels(r))] = 1;
    if (std::count(there.begin(), there.end(), 1) == classes) return rows;
  }
}

// Errors of every method for every count of labels, of one split.
Matrix one_split(const LabelledRows& data, std::uint64_t seed) {
  const Split split = train_test_split(data.X.rows(), data.tested, seed);
  const RowMatrix X = take_rows(data.X, split.train), test = take_rows(data.X, split.test);
  const Vector labels = data.labels(split.train), truth = data.labels(split.test);
  const GplvmFit all = gplvm_of(X, seed);
  const RowMatrix test_means = all.infer(test, few(200, 2)).mean(Eigen::all, used_by(all));
  Matrix out(static_cast<Index>(data.counts.size()), static_cast<Index>(methods.size()));
  for (Index c = 0; c < out.rows(); ++c) {
    const Random random(seed, 0x5e00 + static_cast<std::uint64_t>(c));
    const std::vector<Index> rows =
        labelled_rows(labels, data.counts[static_cast<std::size_t>(c)], data.classes, random);
    const Vector own = labels(rows);
    const RowMatrix seen = take_rows(X, rows);
    const GplvmFit own_fit = gplvm_of(seen, seed);
    std::vector<Index> every(rows.size());
    for (std::size_t i = 0; i < every.size(); ++i) every[i] = static_cast<Index>(i);
    const auto wrong = [&](const Features& train, const RowMatrix& at) {
      return static_cast<double>(errors(train, at, truth, data.classes));
    };
    out(c, 0) = wrong(drawn(all, rows, own, draws, random), test_means);
    out(c, 1) = wrong(drawn(all, rows, own, 0, random), test_means);
    out(c, 2) = wrong(drawn(own_fit, every, own, draws, random),
                      own_fit.infer(test, few(200, 2)).mean(Eigen::all, used_by(own_fit)));
    for (const bool whole : {false, true})
      out(c, whole ? 4 : 3) = static_cast<double>(
          component_errors(whole ? X : seen, {seen, own}, test, truth, data.classes));
  }
  return out;
}

}  // namespace

Result semi_supervised(const Settings& settings, Ledger& ledger) {
  Result result;
  result.name = "semi-supervised";
  result.source =
      "A. Damianou, Deep Gaussian Processes and Variational Propagation of Uncertainty (2015), "
      "section 4.3.3, Fig. 4.5";
  for (LabelledRows data : {oil(), usps()}) {
    if (settings.rows && settings.rows < data.X.rows()) {
      const auto rows = sample_rows(data.X.rows(), settings.rows, Random(settings.seed, 0x5e));
      data.X = take_rows(data.X, rows);
      data.labels = Vector(data.labels(rows));
    }
    const double trained = (1.0 - data.tested) * static_cast<double>(data.X.rows());
    while (!data.counts.empty() && static_cast<double>(data.counts.back()) > 0.9 * trained)
      data.counts.pop_back();
    const Index repeats = settings.repeats ? settings.repeats : few(data.name == "oil" ? 10 : 8, 1);
    const auto counts = static_cast<Index>(data.counts.size());
    std::vector<Matrix> each;
    for (Index r = 0; r < repeats; ++r) {
      const Vector found = ledger.once(
          fmt::format("{}, split {}", data.name, r), counts * static_cast<Index>(methods.size()),
          [&] {
            return Vector(
                one_split(data, settings.seed + static_cast<std::uint64_t>(r)).reshaped());
          });
      each.push_back(found.reshaped(counts, static_cast<Index>(methods.size())));
      progress(
          fmt::format("{}, split {}: {} labels, {:.0f} errors from all rows and {:.0f} from "
                      "components of the labelled",
                      data.name, r, data.counts.front(), each.back()(0, 0), each.back()(0, 3)));
    }
    const auto tests = std::lround(data.tested * static_cast<double>(data.X.rows()));
    Matrix means(counts, 1 + static_cast<Index>(methods.size()));
    for (Index c = 0; c < counts; ++c) {
      means(c, 0) = static_cast<double>(data.counts[static_cast<std::size_t>(c)]);
      for (Index m = 0; m < static_cast<Index>(methods.size()); ++m) {
        Vector wrong(repeats);
        for (Index r = 0; r < repeats; ++r) wrong(r) = each[static_cast<std::size_t>(r)](c, m);
        means(c, 1 + m) = wrong.mean();
        result.add(fmt::format("{}, {} labels: {}", data.name, means(c, 0),
                               methods[static_cast<std::size_t>(m)]),
                   "", mean_sd(wrong, 1), fmt::format("errors of {}, {} splits", tests, repeats));
      }
    }
    result.claim(fmt::format("{}: fewer errors than components of the labelled rows, {} labels",
                             data.name, means(0, 0)),
                 means(0, 1) < means(0, 4),
                 fmt::format("{:.1f} against {:.1f}", means(0, 1), means(0, 4)));
    std::vector<std::string> columns{"labelled rows"};
    columns.insert(columns.end(), methods.begin(), methods.end());
    result.series.push_back({fmt::format("Fig. 4.5: errors on {}", data.name), columns, means});
  }
  return result;
}

}  // namespace covary::experiments
