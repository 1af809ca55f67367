// Inputs for the picture of a classification on one or two inputs.
#include <fmt/format.h>

#include "covary/error.hpp"
#include "covary/report/classification_report.hpp"
#include "report/axis.hpp"

namespace covary {

ClassGrid ClassGrid::over(ConstRows X) {
  if (X.rows() == 0 || X.cols() < 1 || X.cols() > 2)
    throw InputError(fmt::format("X is {}×{}; a grid covers one input or two", X.rows(), X.cols()));
  ClassGrid out;
  for (Index d = 0; d < X.cols(); ++d) {
    Range range;
    range.include(Vector(X.col(d)));
    const Range shown = range.padded(0.04);
    out.axes.push_back(Vector::LinSpaced(X.cols() == 1 ? 240 : 64, shown.low(), shown.high()));
  }
  return out;
}

RowMatrix ClassGrid::inputs() const {
  if (axes.empty() || axes.size() > 2)
    throw InputError(fmt::format("a grid has one axis or two, not {}", axes.size()));
  if (axes.size() == 1) return axes[0];
  RowMatrix out(axes[0].size() * axes[1].size(), 2);
  for (Index i = 0; i < axes[0].size(); ++i)
    for (Index j = 0; j < axes[1].size(); ++j) {
      out(i * axes[1].size() + j, 0) = axes[0](i);
      out(i * axes[1].size() + j, 1) = axes[1](j);
    }
  return out;
}

}  // namespace covary
