#include "covary/likelihoods/likelihood.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <cmath>

#include "covary/error.hpp"
#include "covary/likelihoods/expression.hpp"

namespace covary {
namespace {

constexpr std::array all_methods{Inference::laplace,   Inference::ep,   Inference::vi,
                                 Inference::sparse_ep, Inference::svgp, Inference::mcmc};

const char* column_name(Aux aux) {
  switch (aux) {
    case Aux::noise:
      return "noise variance";
    case Aux::exposure:
      return "exposure";
    case Aux::trials:
      return "number of trials";
    case Aux::none:
      break;
  }
  return "column";
}

// What is wrong with an entry of the optional column, or nothing.
std::string aux_complaint(Aux kind, double a) {
  if (!std::isfinite(a)) return "must be finite";
  if (kind == Aux::noise && a < 0.0) return "must not be negative";
  if (kind == Aux::exposure && !(a > 0.0)) return "must be positive";
  if (kind == Aux::trials && (!(a >= 1.0) || a != std::floor(a))) return "must be 1, 2, 3, …";
  return {};
}

}  // namespace

Likelihood::Likelihood(const std::string& expression) : Likelihood(parse_likelihood(expression)) {}

Parameters Likelihood::parameters(const std::string& path) const {
  Parameters out;
  node_->declare(out, path);
  return out;
}

void Likelihood::require(Inference method) const {
  if (supports(method)) return;
  // As the models that do it are called.
  const auto model = [](Inference m) {
    return m == Inference::vi ? "vgp" : m == Inference::sparse_ep ? "fitc or pep" : name_of(m);
  };
  std::vector<std::string> offered;
  for (const Inference m : all_methods)
    if (supports(m)) offered.push_back(model(m));
  throw Unsupported(fmt::format("{} cannot be fitted by {}; it can be by {}", print(),
                                model(method), fmt::join(offered, ", ")));
}

const OneFunction& Likelihood::one_function() const {
  const auto* one = dynamic_cast<const OneFunction*>(node_.get());
  if (!one)
    throw Unsupported(fmt::format("{} has {} latent functions per row, but this needs one", print(),
                                  functions()));
  return *one;
}

void Likelihood::check(ConstVector y, ConstVector aux) const {
  const Index n = y.size();
  if (aux.size() != 0 && node_->aux() == Aux::none)
    throw InputError(fmt::format("{} takes no exposure, trials or noise column; drop it", print()));
  if (aux.size() != 0 && aux.size() != n)
    throw InputError(fmt::format("the {} has {} rows and the targets have {}",
                                 column_name(node_->aux()), aux.size(), n));
  Index bad = 0, first = -1;
  std::string what;
  for (Index i = 0; i < n; ++i) {
    if (std::isnan(y[i])) continue;
    const double a = aux.size() != 0 ? aux[i] : node_->default_aux();
    std::string complaint;
    if (aux.size() != 0)
      if (const auto wrong = aux_complaint(node_->aux(), a); !wrong.empty())
        complaint = fmt::format("its {} of {} {}", column_name(node_->aux()), a, wrong);
    if (complaint.empty())
      complaint = std::isfinite(y[i]) ? node_->complaint(y[i], a) : fmt::format("{}", y[i]);
    if (complaint.empty()) continue;
    if (bad++ == 0) {
      first = i;
      what = complaint;
    }
  }
  if (bad > 0)
    throw InputError(fmt::format("{} targets are not valid for {}, the first at row {}: {}", bad,
                                 print(), first, what));
}

std::string name_of(Inference method) {
  switch (method) {
    case Inference::laplace:
      return "laplace";
    case Inference::ep:
      return "ep";
    case Inference::vi:
      return "vi";
    case Inference::sparse_ep:
      return "sparse_ep";
    case Inference::svgp:
      return "svgp";
    case Inference::mcmc:
      break;
  }
  return "mcmc";
}

std::string capability_table() {
  std::string out = "| likelihood | functions |";
  std::string rule = "|---|---|";
  for (const Inference m : all_methods) {
    out += fmt::format(" {} |", name_of(m));
    rule += "---|";
  }
  out += "\n" + rule + "\n";
  for (const auto& text : likelihood_examples()) {
    const Likelihood l(text);
    out += fmt::format("| `{}` | {} |", text, l.functions());
    for (const Inference m : all_methods) out += l.supports(m) ? " yes |" : " – |";
    out += "\n";
  }
  return out;
}

}  // namespace covary
