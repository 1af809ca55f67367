#pragma once

#include <optional>
#include <string>
#include <vector>

#include "covary/likelihoods/likelihoods.hpp"

namespace covary {

constexpr double log_two_pi = 1.8378770664093454836;

// At least n doubles of the calling thread's own, kept between calls and overwritten by the next:
// what is done for a row allocates nothing.
double* thread_scratch(Index n);

// Declares a positive parameter with the start that was given, or the fallback.
void declare_positive(Parameters& out, const std::string& path, const Given& given,
                      double fallback);
// Throws InputError unless `given` is empty or positive and finite; `what` names it.
Given positive(const Given& given, const char* what);
// "name(a, b)" without the empty arguments, "name" if all are.
std::string expression_of(const std::string& name, const std::vector<std::string>& arguments);
std::string argument(const char* key, const Given& value);  // "key=value" or ""
std::string print(Link link);

// What is wrong with a target, or nothing.
std::string not_a_count(double y);
std::string not_a_label(double y, Index classes);
std::string not_positive(double y, const char* likelihood);

// Mean and variance of y when its mean given f is c·exp(f), and its variance given that mean μ is
// linear·μ + square·μ²: closed under f ~ N(m, v).
Moments log_link_moments(double m, double v, double c, double linear, double square);

}  // namespace covary
