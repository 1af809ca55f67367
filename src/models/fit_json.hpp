#pragma once

#include <cmath>
#include <nlohmann/json.hpp>

#include "covary/data/inputs.hpp"
#include "covary/data/pca.hpp"
#include "covary/data/scaling.hpp"
#include "covary/models/fit.hpp"
#include "covary/parameters/parameters.hpp"
#include "covary/storage/container.hpp"
#include "covary/training/summary.hpp"

namespace covary {

// What the files of every kind of fit have alike. JSON has no NaN: null stands for it.
inline nlohmann::json number(double v) {
  return std::isfinite(v) ? nlohmann::json(v) : nlohmann::json(nullptr);
}
inline nlohmann::json numbers(const Vector& v) {
  nlohmann::json out = nlohmann::json::array();
  for (const double x : v) out.push_back(number(x));
  return out;
}
inline double number_or_nan(const nlohmann::json& j) {
  return j.is_null() ? std::nan("") : j.get<double>();
}

// A fit as its file has it, and the record of a fit that was read from one. FileError where names
// and arrays do not fit each other.
Container container_of(const FitNode& fit);
void put_record(const FitRecord& fit, Container& c, nlohmann::json& j);
void get_record(FitRecord& fit, const Container& c, const nlohmann::json& j);
void check_names(FitRecord& fit, const Container& c, Index inputs, Index outputs);
// As `show` has it.
nlohmann::json scaling_json(const Scaling& s);

// Parameters of many entries, such as inducing inputs, are arrays of the container.
nlohmann::json to_json(const Parameters& parameters, Container& c);
Parameters parameters_from(const nlohmann::json& list, const Container& c);
nlohmann::json to_json(const Summary& s);
Summary summary_from(const nlohmann::json& j);
using Diagnostics = std::vector<std::pair<std::string, double>>;
nlohmann::json to_json(const Diagnostics& diagnostics);
Diagnostics diagnostics_from(const nlohmann::json& j);
nlohmann::json to_json(const InputColumns& inputs);
InputColumns columns_from(const nlohmann::json& j);
void put_scaling(Container& c, const std::string& name, const Scaling& s);
Scaling get_scaling(const Container& c, const std::string& name, Index size);
void put_pca(Container& c, const Pca& pca);
Pca get_pca(const Container& c, Index components);

}  // namespace covary
