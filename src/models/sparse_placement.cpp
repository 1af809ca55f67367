// Inducing variables placed by the mean KL over outputs that the model expects.
#include <fmt/format.h>

#include <cmath>
#include <optional>
#include <utility>

#include "covary/data/split.hpp"
#include "covary/error.hpp"
#include "covary/features/selection.hpp"
#include "covary/random/random.hpp"
#include "models/sparse_regression_impl.hpp"

namespace covary {
namespace {

constexpr int turns = 2;  // of placement, and of the rest
constexpr std::pair<const char*, Placement> names[] = {{"bound", Placement::bound},
                                                       {"expected_kl", Placement::expected_kl}};

}  // namespace

Placement parse_placement(const std::string& name) {
  for (const auto& [text, placement] : names)
    if (name == text) return placement;
  throw InputError(fmt::format("unknown placement '{}'; choose bound or expected_kl", name));
}

std::string print(Placement placement) {
  for (const auto& [text, value] : names)
    if (value == placement) return text;
  throw InputError(fmt::format("{} is not a placement", static_cast<int>(placement)));
}

// n of N rows stand for N/n each. Rows that repeat each other say what one of them would with as
// much less noise, and to the KL it is the same.
std::unique_ptr<ExpectedKl> SparseRegression::Impl::expected_kl_of_rows() const {
  if (options_.approximation.kind != Approximation::Kind::vfe)
    throw InputError(fmt::format("the expected KL is that of vfe; the approximation is {}",
                                 options_.approximation.print()));
  std::vector<Index> observed;
  for (Index i = 0; i < Y_.rows(); ++i)
    if (!Y_.row(i).array().isNaN().all()) observed.push_back(i);
  const auto kept = static_cast<Index>(observed.size());
  std::vector<Index> rows;
  for (const Index i :
       sample_rows(kept, std::min(kept, options_.placement_rows), Random(options_.seed, 0xe1)))
    rows.push_back(observed[static_cast<std::size_t>(i)]);
  // Of all rows, of which those in memory are a sample, as many are observed.
  const double share = static_cast<double>(rows.size()) / static_cast<double>(kept) *
                       static_cast<double>(X_.rows()) / static_cast<double>(rows_->rows());
  const SparseValues v = unpack(parameters_.values());
  Vector point_noise(0);
  if (point_noise_.size()) point_noise = share * point_noise_(rows);
  return std::make_unique<ExpectedKl>(options_.kernel, v.theta, take_rows(X_, rows),
                                      share * v.noise, std::move(point_noise));
}

double SparseRegression::Impl::mean_kl() const {
  Jitter jitter{options_.jitter};
  return (*expected_kl_of_rows())(*features_, unpack(parameters_.values()).z, jitter).kl;
}

// The features alone, by the mean KL.
Minimum SparseRegression::Impl::place(Trainer& trainer, Jitter& jitter) {
  const auto kl = expected_kl_of_rows();
  const Index first = parameters_.size() - features_->parameter_count();
  say(
      fmt::format("placing the inducing variables by the mean KL over outputs of the model, with "
                  "{} rows",
                  kl->rows()));
  const Problem of_features{
      &parameters_, &jitter, [&](ConstVector values, Vector* bar) -> std::optional<double> {
        Vector z_bar;
        const ExpectedKl::Value e =
            (*kl)(*features_, values.tail(values.size() - first), jitter, bar ? &z_bar : nullptr);
        if (bar) {
          *bar = Vector::Zero(values.size());
          bar->tail(z_bar.size()) = -z_bar;
        }
        return -e.kl;
      }};
  std::optional<Minimum> out = trainer.minimise_held(
      of_features, [](const std::string& path) { return !path.starts_with("features."); }, {});
  if (!out)
    throw InputError(
        "--placement expected_kl needs trainable inducing variables, but all are fixed");
  return std::move(*out);
}

// In turns, the last of which is the bound's, so that the fit is of the parameters that suit the
// features it has.
Minimum SparseRegression::Impl::train_placed(Trainer& trainer, Jitter& jitter) {
  const double before = bound();
  std::optional<Minimum> best;
  for (int turn = 0; turn < turns; ++turn) {
    Minimum placed = place(trainer, jitter);
    jitter = Jitter{options_.jitter};
    std::optional<Minimum> trained = trainer.minimise_held(
        problem(jitter), [](const std::string& path) { return path.starts_with("features."); },
        {.before = best ? std::optional(best->summary) : std::nullopt});
    if (!trained) {  // placed once and for all; the way there is no way of the bound's
      placed.summary.trace.clear();
      placed.summary.initial_value = -before;
      placed.state.value = -bound();
      return placed;
    }
    best = std::move(trained);
  }
  return std::move(*best);
}

}  // namespace covary
