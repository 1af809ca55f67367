#pragma once

#include <array>
#include <span>
#include <string>
#include <vector>

#include "covary/autodiff/dual.hpp"
#include "covary/kernels/kernel.hpp"

namespace covary {

// A parameter of a kernel written as a formula: its name and its start. All are positive.
struct FormulaParameter {
  std::string name;
  double start;
};

// What a formula kernel needs beyond its formula; the template below fills in the two functions.
class FormulaNode : public KernelNode {
 public:
  FormulaNode(std::string name, std::vector<FormulaParameter> parameters)
      : name_(std::move(name)), parameters_(std::move(parameters)) {}

  std::string print() const override { return name_; }
  void declare(Parameters& out, const std::string& path, const DataScale& scale) const override;
  Index parameter_count(Index) const override { return static_cast<Index>(parameters_.size()); }
  void evaluate(const double* theta, const PairBlock& p, double* K) const override;
  void pullback(const double* theta, const PairBlock& p, const double* Kbar, double* theta_bar,
                double* xbar, double* zbar) const override;
  void diagonal(const double* theta, const RowBlock& x, double* k) const override;
  void diagonal_pullback(const double* theta, const RowBlock& x, const double* kbar,
                         double* theta_bar, double* xbar) const override;

 protected:
  virtual double value(std::span<const double> x, std::span<const double> z,
                       std::span<const double> theta) const = 0;
  virtual Dual dual(std::span<const Dual> x, std::span<const Dual> z,
                    std::span<const Dual> theta) const = 0;

 private:
  // Weighted gradient of one pair, four directions at a time.
  void pair_pullback(const double* theta, const double* x, const double* z, Index dims,
                     double weight, double* theta_bar, double* xbar, double* zbar) const;

  std::string name_;
  std::vector<FormulaParameter> parameters_;
};

// A kernel from its two-point formula alone; gradients by all parameters and both inputs follow.
//
//   auto k = formula_kernel("arc", {{"variance", 1.0}}, [](auto x, auto z, auto theta) {
//     auto sum = theta[0] * 0.0;
//     for (std::size_t d = 0; d < x.size(); ++d) sum += x[d] * z[d];
//     return theta[0] * exp(sum);
//   });
//
// The function is called with spans of double and of Dual: use auto, and unqualified exp, sqrt, ….
template <class Formula>
Kernel formula_kernel(std::string name, std::vector<FormulaParameter> parameters, Formula formula) {
  class Node final : public FormulaNode {
   public:
    Node(std::string n, std::vector<FormulaParameter> p, Formula f)
        : FormulaNode(std::move(n), std::move(p)), formula_(std::move(f)) {}

   protected:
    double value(std::span<const double> x, std::span<const double> z,
                 std::span<const double> theta) const override {
      return formula_(x, z, theta);
    }
    Dual dual(std::span<const Dual> x, std::span<const Dual> z,
              std::span<const Dual> theta) const override {
      return formula_(x, z, theta);
    }

   private:
    Formula formula_;
  };
  return {std::make_shared<Node>(std::move(name), std::move(parameters), std::move(formula))};
}

}  // namespace covary
