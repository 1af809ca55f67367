#include "data_arguments.hpp"

#include <fmt/format.h>

#include "covary/data/csv.hpp"
#include "csv_sink.hpp"
#include "options.hpp"

namespace covary::cli {

void add_data_options(CLI::App& sub, DataArguments& a, const std::string& verb, const char* what) {
  sub.add_option("FILE", a.model, "Model file")->required()->group("Data");
  sub.add_option("DATA", a.data, what)->required()->group("Data");
  OptionAdder(sub, verb)("header", a.header)
      ->check(CLI::IsMember({"auto", "yes", "no"}))
      ->capture_default_str();
}

Fit load_for(const std::string& verb, const std::string& file,
             const std::vector<std::string>& given) {
  Fit fit = load(file);
  check_options(verb, given, *fit);
  return fit;
}

TableOptions table_options(const std::string& header, const FitRecord& fit) {
  TableOptions options{.header = parse_header(header)};
  for (const auto& column : fit.input_columns.columns)
    if (!column.levels.empty()) options.text_columns.push_back(column.name);
  return options;
}

void add_columns(const NamedColumns& columns, json& object) {
  for (const auto& label : columns.classes) object["class"].push_back(label);
  for (std::size_t j = 0; j < columns.names.size(); ++j)
    for (const double v : columns.values[j]) object[columns.names[j]].push_back(finite(v));
  for (const auto& [name, value] : columns.facts) object[name] = json::parse(value);
}

Outcome give_columns(const DataArguments& a, const NamedColumns& columns, const char* what,
                     const Common& common) {
  Outcome out;
  const RowMatrix values = columns.joined();
  out.object = {{"n", values.rows()}, {"file", a.out.empty() ? json(nullptr) : json(a.out)}};
  if (a.out.empty() && common.as_json) {
    add_columns(columns, out.object);
    return out;
  }
  CsvSink sink(a.out);
  sink.write(format_csv(columns.names, values));
  sink.commit();
  for (const auto& [name, value] : columns.facts) out.object[name] = json::parse(value);
  if (!a.out.empty()) out.text = fmt::format("{} {} written to {}\n", values.rows(), what, a.out);
  return out;
}

Outcome describe(const FitNode& fit) {
  Answer said = fit.describe();
  return {json::parse(said.json), std::move(said.text), 0};
}

}  // namespace covary::cli
