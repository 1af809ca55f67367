#pragma once

#include <string>

#include "sparse_support.hpp"

namespace covary::experiments {

// One-dimensional toys of Burt (2018): inputs with standard deviation about five (ten of the
// mixture), f drawn from a GP with SE kernel of variance and lengthscale one, noise of variance
// 0.1 (the thesis does not say).
enum class ToyInputs { normal, uniform, mixture };
std::string name_of(ToyInputs inputs);
inline constexpr double toy_noise = 0.1;
Theta toy_truth();
Data draw_toy(ToyInputs inputs, Index N, std::uint64_t seed, std::uint64_t set);

// The measure of eigenfunctions.
struct Measure {
  double mean = 0.0, sd = 1.0;
};
Measure moments_of(const RowMatrix& X);
// The VFE bound of M eigenfunctions, and what it leaves of the prior variances: t = tr(K − Q).
struct EigenBound {
  double elbo = 0.0, trace = 0.0, jitter = 0.0;
};
EigenBound eigen_bound(const Data& data, Index M, const Measure& measure, const Theta& t);
// The sd of a geometric grid in steps of 5 % from a quarter of the start to twice it that has the
// best bound.
double best_sd(const Data& data, Index M, const Measure& start, const Theta& t);

double median(std::vector<double> values);

}  // namespace covary::experiments
