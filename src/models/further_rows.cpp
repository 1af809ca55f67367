#include "models/further_rows.hpp"

#include <fmt/format.h>

#include "covary/data/split.hpp"
#include "covary/error.hpp"
#include "models/table_answers.hpp"

namespace covary {

FurtherRows::FurtherRows(const FitRecord& fit, const Table& table, const TableQuestion& question,
                         std::optional<bool> noisy) {
  const bool has_noise = noisy.value_or(!question.noise.empty());
  if (has_noise == question.noise.empty())
    throw InputError(has_noise
                         ? "the model was trained with noise variances of the rows; name their "
                           "column with --noise"
                         : "the model was trained without noise variances of the rows; leave "
                           "--noise out");
  X = inputs_of(fit, table);
  Y = outputs_of(fit, table);
  if (has_noise) noise = columns_of(table, {question.noise}).col(0);
  std::vector<Index> keep;
  for (Index i = 0; i < Y.rows(); ++i)
    if (!Y.row(i).array().isNaN().all()) keep.push_back(i);
  if (keep.empty()) throw InputError("no row has an observed output; there is nothing to add");
  const Index left_out = Y.rows() - static_cast<Index>(keep.size());
  if (left_out > 0)
    question.say(fmt::format("skipping {} of {} rows: no output is observed", left_out, Y.rows()));
  X = take_rows(X, keep);
  Y = take_rows(Y, keep);
  if (has_noise) noise = Vector(noise(keep));
}

void FurtherRows::tell_of(Summary& summary) const {
  summary.warnings.push_back(
      fmt::format("{} rows were added after training; the parameters are unchanged", X.rows()));
}

}  // namespace covary
