// What principal components say of themselves and of the rows of a table.
#include <fmt/format.h>

#include "covary/models/ppca.hpp"
#include "models/fit_json.hpp"
#include "models/table_answers.hpp"

namespace covary {

using nlohmann::json;

Answer PpcaFit::details() const {
  json object{{"kernel", nullptr},
              {"likelihood", "gaussian"},
              {"n", mean.rows()},
              {"d", outputs()},
              {"latent", latent()},
              {"noise_variance", number(noise_variance)},
              {"variances", numbers(pca.variances)},
              {"explained", numbers(pca.explained())},
              {"scaling", {{"outputs", scaling_json(scaling)}}}};
  std::string text =
      fmt::format("ppca of {} outputs, {} rows, {} latent dimensions\nnoise variance {:.6g}\n",
                  outputs(), mean.rows(), latent(), noise_variance);
  text += dimension_line(latent()) + numbers_line("explained", pca.explained());
  add_label_errors(row_labels, mean, object, text);
  return {object.dump(), std::move(text)};
}

NamedColumns PpcaFit::predict(const Table& rows, TableQuestion&) const {
  const Inferred found = infer(outputs_of(*this, rows));
  return latent_columns(found.mean, found.variance, found.outputs, output_names);
}

Answer PpcaFit::evaluate(const Table& rows, const TableQuestion&) const {
  const RowMatrix Y = outputs_of(*this, rows);
  const Inferred found = infer(Y);
  const double reconstruction = reconstruction_error(Y, found.outputs.mean),
               density = found.log_density.mean();
  const json object{{"n", Y.rows()},
                    {"reconstruction_rmse", number(reconstruction)},
                    {"log_density", number(density)}};
  return {object.dump(),
          fmt::format("reconstruction_rmse {:.6g} (of the outputs it was given)\nlog_density "
                      "{:.6g} (of a row)\n",
                      reconstruction, density)};
}

}  // namespace covary
