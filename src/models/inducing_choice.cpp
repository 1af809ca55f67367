#include "models/inducing_choice.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "covary/data/split.hpp"
#include "covary/error.hpp"
#include "inference/informative_vectors.hpp"

namespace covary {
namespace {

constexpr Index usual_inducing = 100;

FunctionModel some_rows(const FunctionModel& model, const std::vector<Index>& rows) {
  FunctionModel out = model;
  out.X = take_rows(model.X, rows);
  out.y = model.y(rows);
  if (model.aux.size()) out.aux = model.aux(rows);
  return out;
}

}  // namespace

Index inducing_count(Index asked, ConstRows Z, Index rows, Index dims) {
  if (Z.size() != 0) {
    if (Z.cols() != dims)
      throw InputError(
          fmt::format("the inducing inputs have {} columns, X has {}", Z.cols(), dims));
    return Z.rows();
  }
  if (asked < 0)
    throw InputError(fmt::format(
        "inducing is {}; it must be at least 1, or 0 for the model's own number", asked));
  const Index M = asked ? asked : std::min(usual_inducing, rows);
  if (M > rows)
    throw InputError(fmt::format(
        "{} inducing inputs are more than the {} observed rows; ask for no more than those", M,
        rows));
  return M;
}

SelectionResult choose_inducing(Selection how, Index M, const FunctionModel& model,
                                const FunctionParameters& at, std::uint64_t seed) {
  std::vector<Index> observed;
  for (Index n = 0; n < model.y.size(); ++n)
    if (!std::isnan(model.y(n))) observed.push_back(n);
  if (how != Selection::informative_vectors)
    return select_inducing(how, M, take_rows(model.X, observed), model.kernel, at.kernel, seed);

  std::vector<Index> rows =
      rows_to_look_at(static_cast<Index>(observed.size()), M, seed);  // among the observed ones
  for (Index& row : rows) row = observed[static_cast<std::size_t>(row)];
  InformativeVectors chosen = informative_vectors(some_rows(model, rows), at, M);
  SelectionResult out;
  out.Z = std::move(chosen.Z);
  for (const Index row : chosen.rows) out.rows.push_back(rows[static_cast<std::size_t>(row)]);
  out.on_subset = rows.size() < observed.size();
  if (out.on_subset)
    out.note = fmt::format("Z chosen on {} of {} rows", rows.size(), observed.size());
  if (out.Z.rows() < M)
    out.note += fmt::format("{}chose {} inducing inputs: no further row has a gain",
                            out.note.empty() ? "" : "; ", out.Z.rows());
  return out;
}

}  // namespace covary
