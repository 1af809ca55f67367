#include "models/latent_views.hpp"

#include <fmt/format.h>

#include <cmath>
#include <numeric>

#include "covary/error.hpp"

namespace covary {

void check_latent_outputs(ConstRows Y) {
  const Index N = Y.rows(), P = Y.cols();
  if (N < 2 || P < 1)
    throw InputError(
        fmt::format("a latent-variable model needs at least 2 rows and 1 column, got "
                    "{}×{}",
                    N, P));
  for (Index i = 0; i < N; ++i) {
    bool any = false;
    for (Index p = 0; p < P; ++p) {
      if (std::isinf(Y(i, p)))
        throw InputError(fmt::format("the output of row {}, column {} is infinite", i, p));
      any = any || !std::isnan(Y(i, p));
    }
    if (!any) throw InputError(fmt::format("row {} has no observed output; drop it", i));
  }
}

std::vector<LatentView> checked_views(std::vector<LatentView> views, Index P) {
  if (views.empty()) {
    views.push_back({"", std::vector<Index>(static_cast<std::size_t>(P))});
    std::iota(views.front().columns.begin(), views.front().columns.end(), Index{0});
  }
  std::vector<char> used(static_cast<std::size_t>(P), 0);
  for (const LatentView& view : views) {
    if (view.columns.empty())
      throw InputError(fmt::format("the view '{}' has no columns", view.name));
    for (const Index p : view.columns) {
      if (p < 0 || p >= P)
        throw InputError(fmt::format("the view '{}' names column {}, of {}", view.name, p, P));
      if (used[static_cast<std::size_t>(p)]++)
        throw InputError(fmt::format("column {} is in two views", p));
    }
  }
  for (std::size_t p = 0; p < used.size(); ++p)
    if (!used[p])
      throw InputError(
          fmt::format("column {} is in no view; put it in one or leave it out of the outputs", p));
  return views;
}

RowMatrix filled(const RowMatrix& Y) {
  RowMatrix out = Y;
  for (Index p = 0; p < Y.cols(); ++p) {
    double sum = 0.0, count = 0.0;
    for (Index i = 0; i < Y.rows(); ++i)
      if (!std::isnan(Y(i, p))) {
        sum += Y(i, p);
        count += 1.0;
      }
    for (Index i = 0; i < Y.rows(); ++i)
      if (std::isnan(Y(i, p))) out(i, p) = count > 0.0 ? sum / count : 0.0;
  }
  return out;
}

}  // namespace covary
