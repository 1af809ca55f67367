#include "data_arguments.hpp"

#include <fmt/format.h>

#include "covary/data/columns.hpp"
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

TableOptions table_options(const DataArguments& a, const InputColumns& inputs) {
  TableOptions options{.header = parse_header(a.header)};
  for (const auto& column : inputs.columns)
    if (!column.levels.empty()) options.text_columns.push_back(column.name);
  return options;
}

Vector exposure_of(const DataArguments& a, const Table& table) {
  if (a.exposure.empty()) return {};
  return numeric_columns(table, select_columns(table, {a.exposure})).col(0);
}

std::string output_suffix(const SavedModel& m, Index output) {
  return m.fit.output_names.size() == 1
             ? ""
             : "_" + m.fit.output_names[static_cast<std::size_t>(output)];
}

Outcome give_table(const DataArguments& a, const std::vector<std::string>& names, ConstRows values,
                   const char* what, const Common& common) {
  Outcome out;
  out.object = {{"n", values.rows()}, {"file", a.out.empty() ? json(nullptr) : json(a.out)}};
  if (a.out.empty() && common.as_json) {
    for (std::size_t j = 0; j < names.size(); ++j)
      out.object[names[j]] = finite(Vector(values.col(static_cast<Index>(j))));
    return out;
  }
  CsvSink sink(a.out);
  sink.write(format_csv(names, values));
  sink.commit();
  if (!a.out.empty()) out.text = fmt::format("{} {} written to {}\n", values.rows(), what, a.out);
  return out;
}

}  // namespace covary::cli
