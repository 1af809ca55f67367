// How small a posterior may be (van der Wilk 2018, sections 4.5.2 and 4.5.3, Figs 4.10 to 4.12;
// E4.8 to E4.10). A large model with one point a variable is compressed, its kernel and noise as
// they are, into points and into sums of points within a loss in KL; models with C = 1 and C > 1
// are trained besides; and on kin40k small models are trained with all but their features held from
// the large one. The thesis's kin40k has 36 000 rows and its large model 10⁴ points: here 3600 and
// 200, so that all of it takes minutes.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "basis_support.hpp"
#include "covary/error.hpp"
#include "covary/inference/compression.hpp"
#include "covary/models/compress.hpp"
#include "experiments.hpp"
#include "small.hpp"
#include "sparse_support.hpp"

namespace covary::experiments {
namespace {

// Nats a row. Where the noise is small, as that of Parkinsons, a nat is little: 3 take
// 128 of the 200 points there, and 30 take one of those of kin40k.
const std::vector<double> parkinsons_losses{30.0, 10.0, 3.0}, kin40k_losses{3.0, 1.0, 0.3};
constexpr Index compressing = 100;  // iterations

struct Small {
  double numbers = 0.0, rmse = 0.0, nlpd = 0.0;
};

std::string show(const Score& s) {
  return fmt::format("{:.4f}; {:.4f}; {:.4f}; {:.3f}", s.rmse, s.nlpd, s.bound, s.noise_sd);
}

// Of a fit within the loss, by one list of kinds; nothing where none does.
std::optional<Compressed> compressed(const RegressionFit& large, double loss,
                                     const std::vector<FeatureChoice>& kinds, std::uint64_t seed) {
  CompressOptions o;
  o.loss = loss;
  o.features = kinds;
  o.iterations = few(compressing, 2);
  o.seed = seed;
  o.most_inducing = few(200, 8);
  try {
    return compress(large, o);
  } catch (const NumericalError&) {
    return std::nullopt;
  }
}

void compress_large(Result& result, const std::string& name, const Task& task,
                    const RegressionFit& large, const std::vector<double>& losses,
                    std::uint64_t seed) {
  const std::vector<FeatureChoice> kinds[] = {{"points"}, {"basis(2)", "basis(4)", "basis(8)"}};
  double within = 0.0;
  bool smaller = true;
  std::string ratios;
  for (const double loss : losses) {
    double numbers[2] = {INFINITY, INFINITY};
    for (Index k = 0; k < 2; ++k) {
      const auto small = compressed(large, loss, kinds[k], seed);
      const std::string what = fmt::format(
          "{}, compressed to {} nats a row, {}: variables; numbers;"
          " RMSE; NLPD",
          name, loss, k == 0 ? "points" : "sums");
      if (!small) {
        result.add(what, "", "none is smaller than the large one", "");
        continue;
      }
      const Score s =
          score_of(task, {small->inducing, FeatureChoice(small->features).points}, small->fit);
      numbers[k] = small->numbers;
      within = std::max(within, small->loss / loss);
      progress(fmt::format("{}: {} {}, {:.0f} numbers", what, small->inducing, small->features,
                           small->numbers));
      result.add(what, "",
                 fmt::format("{} {}; {:.0f}; {:.4f}; {:.4f}", small->inducing, small->features,
                             small->numbers, s.rmse, s.nlpd),
                 fmt::format("{:.1f} times smaller", small->numbers_before / small->numbers));
    }
    smaller = smaller && numbers[1] < numbers[0];
    ratios += fmt::format("{}{:.2f}", ratios.empty() ? "" : ", ", numbers[0] / numbers[1]);
  }
  result.claim(name + ": each within its loss", within <= 1.0 + 1e-9,
               fmt::format("at most {:.3f} of it", within));
  result.claim(name + ": at equal loss sums of points store fewer numbers than points", smaller,
               fmt::format("{} times fewer at {} nats a row", ratios, fmt::join(losses, ", ")));
}

// The numbers at which models with C > 1 are first as good as `target`, between two of them by
// interpolation; nothing where they never are.
std::optional<double> numbers_at(std::vector<Small> more, double target, double Small::*score) {
  std::sort(more.begin(), more.end(),
            [](const Small& a, const Small& b) { return a.numbers < b.numbers; });
  const Small* before = nullptr;
  for (const Small& s : more) {
    if (s.*score <= target) {
      if (!before) return s.numbers;
      const double share = (before->*score - target) / (before->*score - s.*score);
      return std::exp((1.0 - share) * std::log(before->numbers) + share * std::log(s.numbers));
    }
    if (!before || s.*score < before->*score) before = &s;
  }
  return std::nullopt;
}

// How many times fewer numbers models with C > 1 store at equal score: the range over the models
// with C = 1, and how many of them are matched.
struct Ratio {
  double least = INFINITY, most = 0.0;
  Index matched = 0;

  std::string show() const {
    return matched ? fmt::format("{:.1f} to {:.1f}, of {} models", least, most, matched)
                   : std::string("never");
  }
};
Ratio ratio_of(const std::vector<Small>& one, const std::vector<Small>& more,
               double Small::*score) {
  Ratio out;
  for (const Small& s : one) {
    const auto there = numbers_at(more, s.*score, score);
    if (!there) continue;
    ++out.matched;
    out.least = std::min(out.least, s.numbers / *there);
    out.most = std::max(out.most, s.numbers / *there);
  }
  return out;
}

// Trained models of both kinds.
Ratio train_small(Result& result, const std::string& name, const Task& task,
                  const std::vector<Size>& sizes, const BasisTraining& how) {
  std::vector<Small> one, more;
  Matrix shown(static_cast<Index>(sizes.size()), 4);
  for (Index i = 0; i < shown.rows(); ++i) {
    const Size& size = sizes[static_cast<std::size_t>(i)];
    const Score s = fit_basis(task, size, how);
    result.add(fmt::format("{}, trained, {}: RMSE; NLPD; bound a row; noise sd", name, size.name()),
               "", show(s), fmt::format("{} numbers, {} iterations", s.numbers, s.iterations));
    (size.C == 1 ? one : more).push_back({static_cast<double>(s.numbers), s.rmse, s.nlpd});
    shown.row(i) << std::log10(static_cast<double>(s.numbers)), s.rmse, s.nlpd,
        static_cast<double>(size.C);
  }
  result.series.push_back({name + ": size and error of trained models",
                           {"log₁₀ numbers stored", "RMSE", "NLPD", "C"},
                           shown});
  const Ratio nlpd = ratio_of(one, more, &Small::nlpd), rmse = ratio_of(one, more, &Small::rmse);
  const bool kin40k = name == "kin40k";
  result.add(name + ": C > 1 stores so many times fewer numbers at equal NLPD",
             kin40k ? "up to 10, less of large models" : "3", nlpd.show());
  result.add(name + ": at equal RMSE", kin40k ? "up to 10, less of large models" : "2 to 3",
             rmse.show());
  return nlpd;
}

// E4.8
void hold_parameters(Result& result, const Task& task, const Parameters& from,
                     const BasisTraining& how) {
  BasisTraining holding = how;
  holding.held = &from;
  const Size sizes[] = {{10, 1}, {10, 10}, {10, 50}, {50, 1}, {50, 10}};
  std::vector<Score> held, free;
  for (const Size& size : sizes) {
    held.push_back(fit_basis(task, size, holding));
    free.push_back(fit_basis(task, size, how));
    result.add(
        fmt::format("kin40k, {}, θ of the large model held: RMSE; NLPD; bound a row; noise sd",
                    size.name()),
        "", show(held.back()), "θ trained: " + show(free.back()));
  }
  result.claim(
      "θ held: RMSE improves much with C, M = 10 from C = 1 to 50 by a tenth at least (E4.8)",
      held[2].rmse < 0.9 * held[0].rmse,
      fmt::format("{:.4f} to {:.4f}", held[0].rmse, held[2].rmse));
  bool worse = true, looser = true;
  for (std::size_t i = 0; i < held.size(); ++i) {
    worse = worse && held[i].nlpd > free[i].nlpd;
    looser = looser && held[i].bound < free[i].bound;
  }
  result.claim("θ held: NLPD is worse than with θ trained, the bound looser", worse && looser,
               fmt::format("{}; {}", worse ? "at all sizes" : "not at all sizes",
                           looser ? "at all sizes" : "not at all sizes"));
}

}  // namespace

Result posterior_compression(const Settings& settings) {
  Result result;
  result.name = "posterior-compression";
  result.source =
      "M. van der Wilk, Sparse Gaussian Process Approximations and Applications (2018), sections "
      "4.5.2 and 4.5.3, Figs 4.10 to 4.12";
  const BasisTraining how{.iterations = settings.repeats ? settings.repeats : few(1000, 2),
                          .seed = settings.seed,
                          .subset = 300};
  std::optional<RegressionFit> large;
  const auto train_large = [&](const std::string& name, const Task& task, const Size& size) {
    const Score s = fit_basis(task, size, how, &large);
    result.add(
        fmt::format("{}, large, {}: RMSE; NLPD; bound a row; noise sd", name, size.name()), "",
        show(s),
        fmt::format("{:.0f} numbers, {:.0f} s", large->posterior.stored_numbers(), s.seconds));
  };

  const Task parkinsons = read_parkinsons(settings);
  train_large("Parkinsons", parkinsons, {200, 1});
  compress_large(result, "Parkinsons", parkinsons, *large, parkinsons_losses, settings.seed);
  const Ratio ratio =
      train_small(result, "Parkinsons", parkinsons,
                  {{10, 1}, {20, 1}, {40, 1}, {80, 1}, {5, 4}, {10, 4}, {20, 4}, {30, 4}}, how);
  result.claim("Parkinsons: at equal NLPD C > 1 is never larger (E4.10)",
               ratio.matched > 0 && ratio.least >= 1.0, ratio.show());

  Settings some = settings;
  if (!some.rows) some.rows = 4000;
  const Task kin40k = read_kin40k(some);
  train_large("kin40k", kin40k, {200, 1});
  compress_large(result, "kin40k", kin40k, *large, kin40k_losses, settings.seed);
  train_small(result, "kin40k", kin40k,
              {{20, 1}, {40, 1}, {80, 1}, {5, 10}, {10, 5}, {20, 5}, {30, 5}}, how);
  hold_parameters(result, kin40k, large->parameters, how);
  return result;
}

}  // namespace covary::experiments
