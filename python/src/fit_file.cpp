#include <fmt/format.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/variant.h>
#include <nanobind/stl/vector.h>

#include <algorithm>

#include "arrays.hpp"
#include "bindings.hpp"
#include "covary/data/inputs.hpp"
#include "covary/error.hpp"
#include "covary/models/fit.hpp"
#include "covary/models/sparse_regression.hpp"
#include "expressions.hpp"
#include "watch.hpp"

namespace covary::python {
namespace {

using namespace nb::literals;

using Columns = std::vector<Index>;

// Counted from the end where negative, as Python does.
Columns resolved(const Columns& given, Index columns) {
  Columns out;
  for (const Index c : given) {
    if (c < -columns || c >= columns)
      throw InputError(fmt::format("there is no column {}, the file has {}", c, columns));
    out.push_back(c < 0 ? c + columns : c);
  }
  return out;
}

struct FileModel {
  std::string path;
  Columns x, y;
  Index columns;  // of the file
  SparseRegressionOptions options;

  SparseRegression made(const SparseRegressionOptions& o) const {
    return unlocked([&] { return SparseRegression(std::make_shared<FileRows>(path, x, y), o); });
  }
  void take(const SparseRegression&, const SparseRegressionOptions&) {}
  void name(RegressionFit& fit) const {
    const Table head = numeric_table(RowMatrix::Zero(1, columns));
    fit.input_columns = InputColumns::from(head, x);
    for (const Index c : y) fit.output_names.push_back(head.names[static_cast<std::size_t>(c)]);
  }
  Index starts(Index) const { return 1; }
  nb::tuple state() const {
    const SparseRegressionOptions& o = options;
    const nb::object file = nb::module_::import_("os").attr("stat")(path);
    return nb::make_tuple(path, x, y, o.kernel, o.mean, o.approximation.print(), o.inducing,
                          file.attr("st_size"), file.attr("st_mtime_ns"));
  }
};

constexpr const char* doc =
    R"doc(Trains a sparse model on the rows of a file that may be larger than memory.

``path`` is an NPY file of float64 in C order, two-dimensional; ``target`` and ``inputs`` are numbers of
its columns (inputs: all others). A sample of the rows is kept in memory, to choose inducing inputs and
to start from; all of them are read in blocks at every evaluation. NaN among the targets is a missing
value. The other arguments are those of ``SparseRegression`` and its ``fit``.

>>> import numpy as np, covary as cv, os, tempfile
>>> rows = np.random.default_rng(0).standard_normal((500, 3))
>>> rows[:, 2] = np.sin(rows[:, 0]) + 0.1 * rows[:, 1]
>>> path = os.path.join(tempfile.mkdtemp(), "rows.npy")
>>> np.save(path, rows)
>>> fit = cv.fit_file(path, target=-1, inducing=15, seed=0, max_iter=20)
>>> fit.predict_y(rows[:4, :2])[0].shape
(4,)
)doc";

}  // namespace

void bind_fit_file(nb::module_& m) {
  m.def(
      "fit_file",
      [](const std::string& path, const std::variant<Index, Columns>& target,
         const std::optional<Columns>& inputs, const KernelLike& kernel, const MeanLike& mean,
         const std::string& model, std::optional<Index> inducing, std::uint64_t seed,
         Index max_iter, std::optional<double> max_seconds, const nb::object& callback,
         std::optional<bool> progress, Index restarts, const nb::object& checkpoint, bool resume,
         const nb::object& from) {
        const Index columns = FileRows(path, {}, {}).columns();
        const Columns y =
            resolved(std::holds_alternative<Index>(target) ? Columns{std::get<Index>(target)}
                                                           : std::get<Columns>(target),
                     columns);
        Columns x;
        if (inputs)
          x = resolved(*inputs, columns);
        else
          for (Index c = 0; c < columns; ++c)
            if (std::find(y.begin(), y.end(), c) == y.end()) x.push_back(c);
        SparseRegressionOptions options;
        options.kernel = to_kernel(kernel);
        options.mean = to_mean(mean);
        options.approximation = Approximation(model);
        if (inducing && *inducing < 1)
          throw InputError(fmt::format(
              "inducing must be at least 1, or None for an automatic number; got {}", *inducing));
        options.inducing = inducing.value_or(0);
        FileModel rows{path, std::move(x), y, columns, std::move(options)};
        return run_fit(rows, {seed, restarts, max_iter, max_seconds, checkpoint, resume, from,
                              callback, nb::cast(progress)});
      },
      "path"_a, "target"_a, "inputs"_a = nb::none(), "kernel"_a = "se(ard)", "mean"_a = "zero",
      "model"_a = "vfe", "inducing"_a = nb::none(), "seed"_a = 0, "max_iter"_a = 1000,
      "max_seconds"_a = nb::none(), "callback"_a = nb::none(), "progress"_a = nb::none(),
      "restarts"_a = 0, "checkpoint"_a = nb::none(), "resume"_a = false, "from_"_a = nb::none(),
      doc);
}

}  // namespace covary::python
