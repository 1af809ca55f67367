// What a GP-LVM of points says of itself and of the rows of a table.
#include "covary/models/map_gplvm.hpp"
#include "models/fit_json.hpp"
#include "models/latent_answers.hpp"

namespace covary {

using nlohmann::json;

Answer MapGplvmFit::details() const {
  json views = json::array();
  for (const auto& m : mappings)
    views.push_back({{"name", m.view.name},
                     {"outputs", names_in(m.view, output_names)},
                     {"scaling", scaling_json(m.scaling)}});
  const auto& first = mappings.front();
  json object{{"kernel", first.posterior.kernel().print()},
              {"likelihood", "gaussian"},
              {"n", X.rows()},
              {"d", outputs()},
              {"latent", latent()},
              {"spread", numbers(spread())},
              {"back_constraint", recognition ? json(recognition->options().form) : json(nullptr)},
              {"views", views},
              {"scaling", {{"outputs", scaling_json(first.scaling)}}}};
  if (dynamics) object["dynamics"] = dynamics->options().kernel.print();
  std::string text = fmt::format(
      "map_gplvm of {} outputs, {} rows, {} latent dimensions{}{}, kernel {}\nlog p(Y | X) {:.6g}, "
      "log prior {:.6g}\n",
      outputs(), X.rows(), latent(),
      recognition ? fmt::format(", back constraint {}", recognition->options().form) : "",
      dynamics ? fmt::format(", dynamics {}", dynamics->options().kernel.print()) : "",
      first.posterior.kernel().print(), value, log_prior);
  text += dimension_line(latent()) + numbers_line("spread", spread());
  add_label_errors(row_labels, X, object, text);
  return {object.dump(), std::move(text)};
}

NamedColumns MapGplvmFit::predict(const Table& rows, TableQuestion& q) const {
  return predict_outputs(*this, rows, q, [&](const RowMatrix& Y) {
    RowMatrix at = place(Y).X, none = RowMatrix::Zero(at.rows(), at.cols());
    return std::pair(std::move(at), std::move(none));
  });
}

Answer MapGplvmFit::evaluate(const Table& rows, const TableQuestion&) const {
  const RowMatrix Y = outputs_of(*this, rows);
  const Placed placed = place(Y);
  const double reconstruction = reconstruction_error(Y, decode(placed.X).mean),
               likelihood = placed.log_likelihood.mean();
  const json object{{"n", Y.rows()},
                    {"reconstruction_rmse", number(reconstruction)},
                    {"log_likelihood", number(likelihood)}};
  return {object.dump(),
          fmt::format("reconstruction_rmse {:.6g} (of the outputs it was given)\nlog_likelihood "
                      "{:.6g} (log p(y | x) of a row where it was placed)\n",
                      reconstruction, likelihood)};
}

NamedColumns MapGplvmFit::sample(const Table& rows, const TableQuestion& q) const {
  return sample_outputs(*this, rows, q);
}

}  // namespace covary
