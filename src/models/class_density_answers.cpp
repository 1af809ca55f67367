// What densities of classes say of themselves and of the rows of a table.
#include <fmt/format.h>

#include <cmath>

#include "covary/data/labels.hpp"
#include "covary/models/class_density.hpp"
#include "models/fit_json.hpp"
#include "models/table_answers.hpp"

namespace covary {

using nlohmann::json;

Answer ClassDensityFit::details() const {
  json each = json::array();
  const auto& first = densities.front();
  const std::string kernel = first.mappings.front().posterior.kernel().print();
  std::string text = fmt::format(
      "class_density of {} on {} inputs, {} rows, {} latent dimensions, kernel {}\n{:<16}{:>8}{:>8}"
      "{:>8}{:>16}\n",
      target(), inputs(), rows(), first.latent(), kernel, "class", "rows", "prior", "in use",
      "bound");
  for (Index k = 0; k < size(); ++k) {
    const GplvmFit& d = densities[static_cast<std::size_t>(k)];
    const std::string name =
        classes.empty() ? fmt::format("{}", k) : classes[static_cast<std::size_t>(k)];
    const double prior = std::exp(log_class_prior(k));
    each.push_back({{"class", name},
                    {"n", d.mean.rows()},
                    {"prior", number(prior)},
                    {"active", d.active()},
                    {"relevance", numbers(Vector(d.relevance().row(0)))},
                    {"value", number(d.value)},
                    {"iterations", d.summary.iterations},
                    {"reason", d.summary.reason},
                    {"seconds", number(d.summary.seconds)}});
    text += fmt::format("{:<16}{:>8}{:>8.4f}{:>8}{:>16.6g}\n", name, d.mean.rows(), prior,
                        d.active().size(), d.value);
  }
  const json object{{"kernel", kernel},
                    {"likelihood", fmt::format("softmax({})", size())},
                    {"n", rows()},
                    {"d", inputs()},
                    {"latent", first.latent()},
                    {"inputs", input_names()},
                    {"classes", classes},
                    {"densities", each},
                    {"scaling", {{"inputs", scaling_json(first.mappings.front().scaling)}}}};
  return {object.dump(), std::move(text)};
}

// class, p_<class>, then log p(x, class).
NamedColumns ClassDensityFit::predict(const Table& table, TableQuestion& q) const {
  const Matrix joint = log_joint(inputs_of(*this, table, true));
  NamedColumns out;
  add_classes(predict_from(joint), classes, q, out);
  for (Index k = 0; k < joint.cols(); ++k)
    out.add("log_joint_" +
                (classes.empty() ? fmt::format("{}", k) : classes[static_cast<std::size_t>(k)]),
            joint.col(k));
  return out;
}

Answer ClassDensityFit::evaluate(const Table& table, const TableQuestion& q) const {
  const Vector y = Labels{classes}.encode(table, select_columns(table, output_names).front());
  return class_scores(RowMatrix(predict(inputs_of(*this, table, true))), y, classes, q.threshold);
}

}  // namespace covary
