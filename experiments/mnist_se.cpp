// Ten digits by one model (van der Wilk 2018, Table 5.1, the row of the squared exponential): ten
// functions over the 784 pixels that share an isotropic kernel and M = 750 inducing inputs, with a
// full q each; minibatches of 1000 with natural steps of 0.1. The document's robust-max is softmax
// here, whose natural gradients go the whole way from the prior; those of robust-max, whose
// curvature has both signs, are shortened many times. From centres of 5000 rows as Z, half the
// median distance as ℓ and variance 10, all of which Adam moves with every batch, at a rate that is
// halved after every ten steps a minute of the time given. The test images are looked at on the
// way, and nothing is chosen by them.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <ctime>
#include <filesystem>

#include "classification_support.hpp"
#include "covary/data/classification_metrics.hpp"
#include "covary/data/csv.hpp"
#include "covary/data/split.hpp"
#include "covary/data/table.hpp"
#include "covary/error.hpp"
#include "covary/features/selection.hpp"
#include "covary/kernels/kernels.hpp"
#include "covary/models/checkpointing.hpp"
#include "covary/models/svgp.hpp"
#include "covary/random/random.hpp"
#include "experiments.hpp"
#include "small.hpp"
#include "sparse_support.hpp"

namespace covary::experiments {
namespace {

constexpr Index usual_inducing = 750, batch = 1000, centred_rows = 5000;
constexpr double usual_minutes = 30.0;
// The last part of the time is for the bound over all rows and the test images.
constexpr double training_share = 0.93;
const std::vector<std::string> columns{"minutes", "processor minutes", "steps", "error in %",
                                       "NLPD"};

Classes digits(const std::string& name) {
  return {read_data("mnist/" + name + "-images-idx3-ubyte.gz").values / 255.0,
          read_data("mnist/" + name + "-labels-idx1-ubyte.gz").values.col(0)};
}

double wall_minutes() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch())
             .count() /
         60.0;
}
double processor_minutes() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC / 60.0; }

// Scores on the test images against time. With a checkpoint they are kept beside it, for a run that
// is resumed.
class Curve {
 public:
  Curve(const Classes& test, const LongSettings& settings, double minutes)
      : test_(test),
        file_(settings.checkpoint.empty() ? "" : settings.checkpoint + ".curve.csv"),
        began_(wall_minutes()) {
    for (const double share : {0.125, 0.25, 0.5, 0.75}) marks_.push_back(share * minutes);
  }

  double minutes() const { return before_ + wall_minutes() - began_; }
  bool is_due() const { return next_ < marks_.size() && minutes() >= marks_[next_]; }

  void add(const GeneralisedFit& fit) {
    const RowMatrix p = fit.predict(test_.X).probabilities;
    points_.push_back({minutes(), processor_before_ + processor_minutes(),
                       static_cast<double>(fit.summary.iterations),
                       100.0 * (1.0 - accuracy(test_.y, p)), nlpd(test_.y, p)});
    pass_marks();
    const auto& [wall, processor, steps, error, loss] = points_.back();
    progress(fmt::format(
        "{:.1f} min, {:.1f} of processors, {} steps: error {:.2f} %, NLPD {:.4f}; ℓ {:.2f}, "
        "variance {:.1f}",
        wall, processor, steps, error, loss, fit.parameters.at("kernel.lengthscales").value[0],
        fit.parameters.at("kernel.variance").value[0]));
    if (!file_.empty()) write_csv(file_, columns, RowMatrix(table()));
  }

  // What a run before this one saw until it was at a step.
  void resume(double seconds, Index step) {
    before_ = seconds / 60.0;
    if (std::filesystem::exists(file_)) {
      const Table kept = read_table(file_);
      for (Index i = 0; i < kept.rows(); ++i)
        if (kept.values(i, 2) <= static_cast<double>(step))
          points_.push_back({kept.values(i, 0), kept.values(i, 1), kept.values(i, 2),
                             kept.values(i, 3), kept.values(i, 4)});
      if (!points_.empty()) processor_before_ = points_.back()[1];
    }
    pass_marks();
  }

  Matrix table() const {
    Matrix out(static_cast<Index>(points_.size()), static_cast<Index>(columns.size()));
    for (std::size_t i = 0; i < points_.size(); ++i)
      for (std::size_t j = 0; j < columns.size(); ++j)
        out(static_cast<Index>(i), static_cast<Index>(j)) = points_[i][j];
    return out;
  }

 private:
  void pass_marks() {
    while (is_due()) ++next_;
  }

  const Classes& test_;
  std::string file_;
  double began_, before_ = 0.0, processor_before_ = 0.0;
  std::vector<double> marks_;
  std::size_t next_ = 0;
  std::vector<std::array<double, 5>> points_;
};

SvgpOptions options_for(const Classes& data, Index M, Index rate_halved, std::uint64_t seed) {
  const double distance = median_distance(data.X, seed);
  SvgpOptions o;
  o.kernel = se(false, {10.0, {0.5 * distance}});
  o.likelihood = "softmax(10)";
  const RowMatrix some = take_rows(
      data.X, sample_rows(data.size(), std::min(centred_rows, data.size()), Random(seed, 51)));
  o.Z = select_inducing(Selection::kmeans, M, some, o.kernel,
                        o.kernel.parameters(data.X.cols()).values(), seed)
            .Z;
  o.scale_inputs = ScaleMode::none;
  o.seed = seed;
  o.training.batch = std::min(batch, data.size() / 2);
  o.training.steps = few(100000, 5);  // until the time is over
  o.training.natural_step = 0.1;
  o.training.natural_ramp = 5;
  o.training.learning_rate = {0.02, LearningRate::Schedule::exponential, 0.5, rate_halved, 0};
  o.training.final_sweeps = 0;
  o.training.tell = progress;
  return o;
}

}  // namespace

Result mnist_se(const LongSettings& settings) {
  Result result;
  result.name = "mnist-se";
  result.source =
      "M. van der Wilk, Sparse Gaussian Process Approximations and Applications (2018), Table 5.1: "
      "squared exponential";
  const double minutes = settings.minutes > 0.0 ? settings.minutes : usual_minutes;
  const Index M = settings.inducing ? settings.inducing : few(usual_inducing, 20);
  const Classes test = digits("t10k");
  Curve curve(test, settings, minutes);
  Classes data = digits("train");
  const bool whole = settings.rows == 0 || settings.rows >= data.size();
  if (!whole) {
    const auto rows = sample_rows(data.size(), settings.rows, Random(settings.seed, 42));
    data = {take_rows(data.X, rows), Vector(data.y(rows))};
  }

  Checkpointing checkpointing(settings.checkpoint, progress);
  checkpointing.problem = fmt::format("mnist-se Z {} {} {}", data.size(), M, settings.seed);
  const bool resumed = settings.resume && std::filesystem::exists(settings.checkpoint);
  SvgpOptions options =
      options_for(data, M, std::max<Index>(1, static_cast<Index>(10.0 * minutes)), settings.seed);
  const double set_up = resumed ? 0.0 : curve.minutes();
  options.training.max_seconds = 60.0 * (training_share * minutes - set_up);
  const Svgp* looked_at = nullptr;
  options.training.after_iteration = [&](const TrainingProgress& now) {
    checkpointing.keep(now);
    if (curve.is_due()) curve.add(looked_at->at(now.state()));
  };
  Svgp model(data.X, data.y, options);
  looked_at = &model;
  if (resumed) {
    TrainingState state = load_checkpoint(settings.checkpoint, checkpointing.problem);
    if (!state.minibatches)
      throw InputError(
          fmt::format("{} is the checkpoint of another kind of training", settings.checkpoint));
    const Index step = state.minibatches->step;
    curve.resume(state.seconds, step);
    progress(fmt::format("resumed at step {}", step));
    model.resume(std::move(state));
  }
  const GeneralisedFit fit = model.fit();
  curve.add(fit);

  const Matrix points = curve.table();
  const double error = points(points.rows() - 1, 3), loss = points(points.rows() - 1, 4);
  result.add("images for training; for testing", "60000; 10000",
             fmt::format("{}; {}", data.size(), test.size()),
             whole ? "" : "a part of the data, by --rows");
  result.add("M", "750", fmt::format("{}", model.inducing()));
  result.add("error", "1.95 ± 0.14 %", fmt::format("{:.2f} %", error),
             fmt::format("{} steps of {} rows", fit.summary.iterations, model.batch()));
  result.add("NLPD", "0.068", fmt::format("{:.4f}", loss));
  result.add(
      "minutes; of processors", "",
      fmt::format("{:.1f}; {:.1f}", points(points.rows() - 1, 0), points(points.rows() - 1, 1)),
      resumed ? "resumed: processors without what was lost" : "reading and tests included");
  result.add(
      "bound over all rows", "", fmt::format("{:.0f}", fit.value),
      fmt::format("ℓ {:.2f}, variance {:.1f}", fit.parameters.at("kernel.lengthscales").value[0],
                  fit.parameters.at("kernel.variance").value[0]));
  if (whole && M >= usual_inducing && minutes >= usual_minutes)
    result.claim("error at most 3 %", error <= 3.0, fmt::format("{:.2f} %", error));
  for (const Index j : {Index{3}, Index{4}}) {
    Matrix picture(points.rows(), 2);
    picture << points.col(0), points.col(j);
    result.series.push_back(
        {fmt::format("{} against minutes", columns[static_cast<std::size_t>(j)]),
         {columns[0], columns[static_cast<std::size_t>(j)]},
         picture});
  }
  return result;
}

}  // namespace covary::experiments
