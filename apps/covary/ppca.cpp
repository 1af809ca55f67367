#include "ppca.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "covary/data/columns.hpp"
#include "covary/error.hpp"

namespace covary::cli {
namespace {

RowMatrix outputs_in(const SavedPpca& m, const DataArguments& a) {
  const Table table = read_table(a.data, {parse_header(a.header)});
  return numeric_columns(table, select_columns(table, m.fit.output_names));
}

}  // namespace

SavedPpca fit_ppca_of(const LatentArguments& a, const TrainingArguments& t,
                      const Forecast& forecast, const Common& common) {
  const Table table = read_table(t.train, {.header = parse_header(t.header)});
  for (const auto& note : table.notes) tell(common, note);
  std::vector<Index> others;
  std::vector<std::string> labels;
  if (!a.label.empty()) {
    others = {select_columns(table, {a.label}).front()};
    labels = cells_of(table, others.front());
  }
  const auto outputs = output_columns(table, t.target, others, common);
  const LatentTable rows{.Y = numeric_columns(table, outputs)};
  forecast(size_of(rows, a.latent), 1);
  const auto most = std::min<Index>(10, static_cast<Index>(outputs.size()) - 1);
  SavedPpca out{fit_ppca(rows.Y, a.latent ? a.latent : most, latent_scale(t))};
  out.fit.output_names = names_of(table, outputs);
  out.fit.row_labels = std::move(labels);
  return out;
}

Outcome predict_ppca(const SavedPpca& m, const DataArguments& a, const Common& common) {
  const auto found = m.fit.infer(outputs_in(m, a));
  return give_latent(a, {found.mean, found.variance}, found.outputs, m.fit.output_names, common);
}

Outcome evaluate_ppca(const SavedPpca& m, const DataArguments& a) {
  const RowMatrix Y = outputs_in(m, a);
  const auto found = m.fit.infer(Y);
  const double reconstruction = reconstruction_error(Y, found.outputs.mean),
               density = found.log_density.mean();
  Outcome out;
  out.object = {{"n", Y.rows()},
                {"reconstruction_rmse", finite(reconstruction)},
                {"log_density", finite(density)}};
  out.text = fmt::format(
      "reconstruction_rmse {:.6g} (of the outputs it was given)\nlog_density {:.6g} (of a row)\n",
      reconstruction, density);
  return out;
}

}  // namespace covary::cli
