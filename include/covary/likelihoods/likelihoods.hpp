#pragma once

#include <optional>

#include "covary/likelihoods/likelihood.hpp"

namespace covary {

using Given = std::optional<double>;  // the start of a parameter

enum class Link { logit, probit };

// y = f + noise of variance `variance` (+ aux, a known noise variance).
Likelihood gaussian_likelihood(Given variance = {});
// y = f + scale·t with `degrees` degrees of freedom.
Likelihood student_t_likelihood(Given scale = {}, Given degrees = {});
// y = f₁ + noise of variance `variance`·exp(f₂)
Likelihood heteroscedastic_likelihood(Given variance = {});

// P(y = 1) = σ(f) or Φ(f), labels 0 and 1
Likelihood bernoulli_likelihood(Link link = Link::logit);
// y of aux trials; `trials` where there is no such column
Likelihood binomial_likelihood(Link link = Link::logit, Given trials = {});
// label k where the k-th of `classes` − 1 ordered thresholds is the last below f + N(0, 1)
Likelihood ordinal_likelihood(Index classes);
// P(y = k) = exp(f_k)/Σ exp(f)
Likelihood softmax_likelihood(Index classes);
// P(y = k) of softmax where the latent functions of a row are correlated, as in Laplace's
// posterior: mean N×K, covariance N×K² with a K×K matrix in each row. Accurate to 1e-9 for K ≤ 3 as
// long as the differences have standard deviations below 10, else by a lattice of 4093 points to
// some 1e-3.
Matrix softmax_probabilities(ConstMatrix mean, ConstMatrix covariance);
// Each class against the others by a function of its own: a product of `bernoulli`, and class
// probabilities that are those of the K models over their sum.
Likelihood one_vs_rest_likelihood(Index classes, Link link = Link::logit);
// The likelihood of [y = k] given f_k alone, where this is one_vs_rest; else nothing.
std::optional<Likelihood> each_vs_rest(const Likelihood& likelihood);
// P(y = argmax f) = 1 − ε, the rest shared by the others
Likelihood robust_max_likelihood(Index classes, Given epsilon = {});

// Counts of mean aux·exp(f); aux is the exposure, 1 by default.
Likelihood poisson_likelihood();
// … of variance μ + μ²/shape
Likelihood negative_binomial_likelihood(Given shape = {});
// A log-Gaussian Cox process in bins: Poisson, aux the volume of the bin.
Likelihood lgcp_likelihood(Given volume = {});

// 0 < y < 1 of mean σ(f): Beta(μ·concentration, (1 − μ)·concentration)
Likelihood beta_likelihood(Given concentration = {});
// y > 0 of mean exp(f)
Likelihood gamma_likelihood(Given shape = {});
Likelihood exponential_likelihood();

}  // namespace covary
