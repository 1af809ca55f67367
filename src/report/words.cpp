#include "report/words.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "kernels/scaled.hpp"
#include "report/text.hpp"

namespace covary {
namespace {

struct Phrase {
  const char* name;
  const char* says;
};

// By the name of a kernel.
constexpr Phrase kernel_phrases[] = {
    {"se", "very smooth functions"},
    {"rbf", "very smooth functions"},
    {"matern12", "rough, continuous functions"},
    {"matern32", "functions with one derivative"},
    {"matern52", "functions with two derivatives"},
    {"rq", "smooth functions that vary at many lengthscales"},
    {"periodic", "functions that repeat"},
    {"cosine", "a wave"},
    {"linear", "a straight trend"},
    {"poly", "a polynomial"},
    {"constant", "an unknown level"},
    {"white", "independent noise that belongs to the function"},
    {"additive", "a sum of functions of one input each"},
};

std::string term_words(const KernelPtr& term) {
  const KernelPtr k = split_scale(term).second;
  if (!k->factors().empty())
    return "a product: two points are similar when they are in every factor";
  if (const auto over = k->over_columns(2); over.columns.size() == 1)
    return term_words(over.inner) + ", of the inputs named after @";
  const std::string expression = k->print(), name = expression.substr(0, expression.find('('));
  for (const auto& p : kernel_phrases)
    if (name == p.name)
      return fmt::format(
          "{}{}", p.says,
          k->parameter_count(1) < k->parameter_count(2) ? ", with a parameter for each input" : "");
  return "its formula is in the table of parameters";
}

}  // namespace

std::string input_name(const RegressionFit& fit, Index d) {
  const auto names = fit.input_names();
  return d < static_cast<Index>(names.size()) ? names[static_cast<std::size_t>(d)]
                                              : fmt::format("x{}", d);
}

std::string output_name(const RegressionFit& fit, Index p) {
  if (p < static_cast<Index>(fit.output_names.size()))
    return fit.output_names[static_cast<std::size_t>(p)];
  return fit.posterior.functions() == 1 ? "y" : fmt::format("y{}", p);
}

std::string lead_sentence(const RegressionFit& fit) {
  const Posterior& posterior = fit.posterior;
  const Index N = posterior.rows(), D = posterior.dims(), P = posterior.functions();
  std::vector<std::string> outputs, inputs;
  for (Index p = 0; p < std::min<Index>(P, 6); ++p) outputs.push_back(output_name(fit, p));
  if (P > 6) outputs.emplace_back("…");
  for (Index d = 0; d < std::min<Index>(D, 12); ++d) inputs.push_back(input_name(fit, d));
  if (D > 12) inputs.emplace_back("…");
  const bool keeps_rows = posterior.can(Capability::training_inputs);
  const Index missing = keeps_rows ? posterior.training_outputs().array().isNaN().count() : 0;
  const std::string kind =
      keeps_rows ? "An exact Gaussian process"
                 : fmt::format("A sparse Gaussian process ({}, {} inducing variables)",
                               posterior.name(), posterior.inducing().features->size());
  return fmt::format(
      "{} was fitted to {} row{}: {} as a function of {} input{} ({}), with "
      "kernel {}, mean function {} and Gaussian noise.{}",
      kind, N, N == 1 ? "" : "s", fmt::join(outputs, ", "), D, D == 1 ? "" : "s",
      fmt::join(inputs, ", "), posterior.kernel().print(), posterior.mean().print(),
      missing == 0 ? ""
                   : fmt::format(" {} output value{} missing and modelled as such.", missing,
                                 missing == 1 ? " is" : "s are"));
}

std::vector<std::string> kernel_words(const RegressionFit& fit) {
  std::vector<std::string> out;
  for (const auto& term : fit.posterior.kernel().terms(fit.posterior.dims())) {
    const std::string expression = term.node->print();
    out.push_back(fmt::format("{}: {}", expression, term_words(term.node)));
  }
  return out;
}

std::string noise_words(const RegressionFit& fit) {
  const Posterior& posterior = fit.posterior;
  const double sd = std::sqrt(posterior.noise_variance());
  std::vector<std::string> each;
  for (Index p = 0; p < std::min<Index>(posterior.functions(), 6); ++p)
    each.push_back(fmt::format("{} for {}", short_number(sd * fit.output_scaling.scale(p)),
                               output_name(fit, p)));
  return fmt::format("The noise has a standard deviation of {}, in the units of the data{}.",
                     fmt::join(each, ", "),
                     posterior.point_noise().size() ? ", besides the known noise of each row" : "");
}

std::vector<std::string> fit_warnings(const RegressionFit& fit) {
  std::vector<std::string> out;
  const Summary& s = fit.summary;
  const bool evaluated = s.stop == Stop::evaluated;
  if (evaluated)
    out.emplace_back("Nothing was trained: the model was evaluated at the given parameters.");
  else if (!s.converged)
    out.push_back(
        fmt::format("Training did not converge: {}. Train longer, or from more starts.", s.reason));
  out.insert(out.end(), s.warnings.begin(), s.warnings.end());
  Index lower = 0, failed = 0;
  for (const auto& start : s.starts) {
    failed += !start.value;
    lower += start.value && *start.value < s.value - 1.0;
  }
  if (lower > 0)
    out.push_back(fmt::format(
        "{} of {} starts ended more than 1 nat below the best: there are several optima, and "
        "the best one found was kept. More starts may find a better one.",
        lower, s.starts.size()));
  if (failed > 0) out.push_back(fmt::format("{} of {} starts failed.", failed, s.starts.size()));
  return out;
}

}  // namespace covary
