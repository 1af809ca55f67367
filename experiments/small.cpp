#include "small.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <stdexcept>

#include "covary/error.hpp"
#include "covary/random/random.hpp"
#include "sparse_support.hpp"

namespace covary::experiments {
namespace {

bool small_form = false;

// regression: inputs in [0, 6], then an output, or one of two classes, of them.
// images: columns that follow two numbers, which move slowly from row to row, and the row's label.
// labels: nothing else.
enum class Kind { regression, classes, images, labels };

// What the small form takes of a file. The label of row i is first + (i / run) mod count, so that
// images and labels in two files belong together.
struct DataSet {
  const char* path;
  Kind kind;
  Index rows, columns;
  Index label = -1, first = 0, run = 1, count = 1;  // the column of labels
};

constexpr DataSet data_sets[] = {
    {"snelson1d/train.csv", Kind::regression, 200, 2},
    {"pumadyn32nm/train.csv.gz", Kind::regression, 300, 33},
    {"pumadyn32nm/test.csv.gz", Kind::regression, 100, 33},
    {"powerplant/data.csv", Kind::regression, 150, 5},
    {"kin40k/train.csv.gz", Kind::regression, 150, 9},
    {"kin40k/test.csv.gz", Kind::regression, 150, 9},
    {"parkinsons/data.csv", Kind::regression, 200, 22},
    {"parkinsons/fold.csv", Kind::labels, 200, 1, 0, 0, 1, 10},
    {"banana/full.csv", Kind::classes, 300, 3},
    {"banana/train400.csv", Kind::classes, 120, 3},
    {"airline_delays/gp_table.csv", Kind::classes, 900, 9},
    {"usps/train.csv.gz", Kind::images, 200, 257, 0, 0, 1, 10},
    {"usps/test.csv.gz", Kind::images, 60, 257, 0, 0, 1, 10},
    {"mnist/train-images-idx3-ubyte.gz", Kind::images, 400, 784, -1, 0, 1, 10},
    {"mnist/train-labels-idx1-ubyte.gz", Kind::labels, 400, 1, 0, 0, 1, 10},
    {"mnist/t10k-images-idx3-ubyte.gz", Kind::images, 100, 784, -1, 0, 1, 10},
    {"mnist/t10k-labels-idx1-ubyte.gz", Kind::labels, 100, 1, 0, 0, 1, 10},
    {"oil_flow/train.csv", Kind::images, 120, 15, 14, 0, 1, 3},
    {"oil_flow/test.csv", Kind::images, 60, 15, 14, 0, 1, 3},
    {"cmu_mocap_35/features59_train.csv.gz", Kind::images, 90, 60, 0, 1, 30, 3},
    {"cmu_mocap_35/features59_test.csv.gz", Kind::images, 80, 60, 0, 29, 1, 1},
    {"cmu_mocap_35/taylor_scale.csv", Kind::labels, 59, 1, 0, 1, 1, 1},
    {"silhouette/train.csv.gz", Kind::images, 1927, 163},
    {"yale_faces_b/images-idx3-ubyte.gz", Kind::images, 384, 1024, -1, 1, 64, 6},
    {"yale_faces_b/labels-idx1-ubyte.gz", Kind::labels, 384, 1, 0, 1, 64, 6}};

void fill_row(const DataSet& set, Index i, double label, Random& random, const RowMatrix& weights,
              RowMatrix& out) {
  const Index last = set.columns - 1;
  const double t = static_cast<double>(i), slow = std::sin(0.1 * t) + 0.1 * random.normal(),
               slower = std::cos(0.037 * t) + 0.1 * random.normal();
  for (Index j = 0; j < set.columns; ++j)
    out(i, j) =
        set.kind == Kind::images
            ? std::sin(weights(0, j) * slow + weights(1, j) * slower + weights(2, j) * label) +
                  0.05 * random.normal()
            : 6.0 * random.uniform();
  if (set.kind == Kind::regression || set.kind == Kind::classes) {
    double y = 0.3 * random.normal();
    for (Index j = 0; j < last; ++j) y += std::sin(out(i, j)) / static_cast<double>(1 + j);
    out(i, last) = set.kind == Kind::classes ? static_cast<double>(y > 0.0) : y;
  }
  if (set.label >= 0) out(i, set.label) = label;
}

// Files of the same columns have the same functions, and those of training and testing other rows.
RowMatrix generated(const DataSet& set) {
  const std::string path = set.path;
  const auto columns = static_cast<std::uint64_t>(set.columns);
  const RowMatrix weights = Random(0, columns).normal_matrix(3, set.columns);
  Random random(path.find("/test") == std::string::npos ? 1 : 2, columns);
  RowMatrix out(set.rows, set.columns);
  for (Index i = 0; i < set.rows; ++i)
    fill_row(set, i, static_cast<double>(set.first + (i / set.run) % set.count), random, weights,
             out);
  return out;
}

}  // namespace

bool is_small() { return small_form; }

Index few(Index own, Index small) { return small_form ? small : own; }

Form::Form(bool small) { small_form = small; }
Form::~Form() { small_form = false; }

Table read_data(const std::string& path) {
  if (!is_small()) return read_table(find_data(path));
  const auto* set = std::find_if(std::begin(data_sets), std::end(data_sets),
                                 [&](const DataSet& s) { return path == s.path; });
  if (set == std::end(data_sets))
    throw std::logic_error(fmt::format("the small form knows no columns of '{}'", path));
  std::string found;
  try {
    found = find_data(path);
  } catch (const FileError&) {
    progress(fmt::format("{} is missing: generated numbers take its place", path));
    return numeric_table(generated(*set));
  }
  const Table table = read_table(found);
  return numeric_table(table.values.topRows(std::min(set->rows, table.rows())));
}

}  // namespace covary::experiments
