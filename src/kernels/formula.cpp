#include "covary/kernels/formula.hpp"

#include <algorithm>

#include "kernels/support.hpp"

namespace covary {
namespace {

std::span<const double> view(const double* p, Index n) { return {p, static_cast<std::size_t>(n)}; }

}  // namespace

void FormulaNode::declare(Parameters& out, const std::string& path, const DataScale&) const {
  for (const auto& p : parameters_)
    declare_positive(out, path + "." + p.name, std::optional(p.start), p.start);
}

void FormulaNode::evaluate(const double* theta, const PairBlock& p, double* K) const {
  const auto values = view(theta, parameter_count(p.x.dims));
  for (Index j = 0; j < p.z.n; ++j)
    for (Index i = 0; i < p.x.n; ++i)
      K[i + j * p.x.n] = value(view(p.x.row(i), p.x.dims), view(p.z.row(j), p.x.dims), values);
}

void FormulaNode::pair_pullback(const double* theta, const double* x, const double* z, Index dims,
                                double weight, double* theta_bar, double* xbar,
                                double* zbar) const {
  const Index P = parameter_count(dims), total = P + 2 * dims;
  std::vector<Dual> all(static_cast<std::size_t>(total));
  std::copy_n(theta, P, all.begin());
  std::copy_n(x, dims, all.begin() + P);
  std::copy_n(z, dims, all.begin() + P + dims);
  const std::span<const Dual> duals(all);
  const auto at = [&](Index k) -> Dual& { return all[static_cast<std::size_t>(k)]; };
  const Index last = xbar || zbar ? total : P;
  for (Index first = 0; first < last; first += Dual::lanes) {
    const Index end = std::min<Index>(last, first + Dual::lanes);
    for (Index k = first; k < end; ++k)
      at(k) = Dual::variable(at(k).value, static_cast<int>(k - first));
    const auto D = static_cast<std::size_t>(dims), p = static_cast<std::size_t>(P);
    const Dual k = dual(duals.subspan(p, D), duals.subspan(p + D, D), duals.first(p));
    for (Index e = first; e < end; ++e) {
      const double g = weight * k.partial[static_cast<std::size_t>(e - first)];
      if (e < P)
        theta_bar[e] += g;
      else if (e < P + dims) {
        if (xbar) xbar[e - P] += g;
      } else if (zbar)
        zbar[e - P - dims] += g;
      at(e) = Dual(at(e).value);
    }
  }
}

void FormulaNode::pullback(const double* theta, const PairBlock& p, const double* Kbar,
                           double* theta_bar, double* xbar, double* zbar) const {
  const Index dims = p.x.dims;
  for (Index j = 0; j < p.z.n; ++j)
    for (Index i = 0; i < p.x.n; ++i)
      pair_pullback(theta, p.x.row(i), p.z.row(j), dims, Kbar[i + j * p.x.n], theta_bar,
                    xbar ? xbar + i * dims : nullptr, zbar ? zbar + j * dims : nullptr);
}

void FormulaNode::diagonal(const double* theta, const RowBlock& x, double* k) const {
  const auto values = view(theta, parameter_count(x.dims));
  for (Index i = 0; i < x.n; ++i)
    k[i] = value(view(x.row(i), x.dims), view(x.row(i), x.dims), values);
}

void FormulaNode::diagonal_pullback(const double* theta, const RowBlock& x, const double* kbar,
                                    double* theta_bar, double* xbar) const {
  for (Index i = 0; i < x.n; ++i) {
    double* to = xbar ? xbar + i * x.dims : nullptr;
    pair_pullback(theta, x.row(i), x.row(i), x.dims, kbar[i], theta_bar, to, to);
  }
}

}  // namespace covary
