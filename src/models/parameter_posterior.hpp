#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "covary/linalg/cholesky.hpp"
#include "covary/parameters/parameters.hpp"

namespace covary {

// The posterior of the free parameters, as a density of φ: log(θ − floor) of positive entries, θ
// itself of real ones, u of bounded ones. An entry without a prior of its own gets a wide one
// around its start: log θ ~ N(log start, 2²), or N(start, 10²) of real ones.
class ParameterPosterior {
 public:
  // log p(Y | values) and ∂/∂values.
  using Evidence = std::function<double(ConstVector values, Jitter& jitter, Vector* values_bar)>;
  ParameterPosterior(Parameters parameters, const Parameters& starts, Evidence evidence);

  Index size() const { return static_cast<Index>(entries_.size()); }
  Vector at_parameters() const;            // φ of the parameters given
  Vector values(const Vector& phi) const;  // all of them; ties followed
  // −log p(Y|θ)p(θ)|dθ/dφ|, and ∂/∂φ; nothing where values are not finite.
  std::optional<double> operator()(const Vector& phi, Vector* gradient, Jitter& jitter) const;

  // Where the density is highest, sought from the parameters given: −log p and its Hessian there.
  struct Mode {
    Vector phi;
    double value;
    Matrix hessian;
  };
  Mode mode(double jitter) const;

 private:
  struct Entry {
    Index at;  // in values()
    Transform transform;
    Prior prior;
  };
  struct Point {
    Vector values, slope, log_slope, log_slope_bar;  // the last three of the entries: dθ/dφ
  };
  Point at(const Vector& phi) const;

  Parameters parameters_;
  Evidence evidence_;
  std::vector<Entry> entries_;
};

// Second derivatives by central differences of a gradient.
Matrix hessian(const std::function<Vector(const Vector&)>& gradient, const Vector& u);

}  // namespace covary
