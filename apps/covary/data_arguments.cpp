#include "data_arguments.hpp"

#include <fmt/format.h>

#include <cmath>
#include <set>

#include "covary/data/columns.hpp"
#include "covary/data/csv.hpp"
#include "covary/error.hpp"
#include "covary/models/model_data.hpp"
#include "csv_sink.hpp"
#include "options.hpp"

namespace covary::cli {
namespace {

// The first few, and how many there are.
std::string some_names(const std::vector<std::string>& names) {
  constexpr std::size_t most = 10;
  const auto shown = static_cast<std::ptrdiff_t>(std::min(names.size(), most));
  std::string out = fmt::format("{}", fmt::join(names.begin(), names.begin() + shown, ", "));
  if (names.size() > most) out += fmt::format(", … ({} in all)", names.size());
  return out;
}

// Lists of columns, separated by commas; all of them by the word all.
std::vector<Index> chosen_columns(const Table& table, const std::vector<std::string>& lists) {
  std::vector<std::string> specs;
  for (const auto& list : lists)
    for (auto& spec : CLI::detail::split(list, ','))
      specs.push_back(spec == "all" && !ColumnNames(table).find(spec) ? ":" : std::move(spec));
  return select_columns(table, specs);
}

}  // namespace

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
  TableOptions options = covary::table_options(fit);
  options.header = parse_header(header);
  return options;
}

void tell_of_extra_columns(const Table& table, const FitNode& fit, const DataArguments& a,
                           const Common& common) {
  if (fit.input_columns.columns.empty() || fit.lags() > 0) return;
  static_cast<void>(fit.input_columns.find(table));  // a table that lacks some is refused first
  std::set<std::string> used(fit.output_names.begin(), fit.output_names.end());
  for (const auto& c : fit.input_columns.columns) used.insert(c.name);
  const TableQuestion& q = a.question;
  used.insert({q.exposure, q.noise});
  for (const auto* specs : {&q.input_variance, &a.keep})
    for (const Index j : chosen_columns(table, *specs))
      used.insert(table.names[static_cast<std::size_t>(j)]);
  std::vector<std::string> extra;
  for (const auto& name : table.names)
    if (!used.count(name)) extra.push_back(name);
  if (!extra.empty() && table.has_header)
    tell(common,
         fmt::format("ignoring columns that the model does not use: {}", some_names(extra)));
}

Table read_rows(const FitNode& fit, const DataArguments& a, const Common& common) {
  check_missing(fit, a.question.missing);
  Table table = read_table(a.data, table_options(a.header, fit));
  for (const auto& note : table.notes) tell(common, note);
  tell_of_extra_columns(table, fit, a, common);
  TableQuestion question = a.question;
  question.tell = teller(common);
  return asked_rows(fit, std::move(table), question);
}

Table as_table(const NamedColumns& columns, const Table* rows,
               const std::vector<std::string>& keep) {
  Table out;
  std::vector<Index> kept;
  if (rows) kept = chosen_columns(*rows, keep);
  const Index n = columns.values.empty() ? static_cast<Index>(columns.classes.size())
                                         : columns.values.front().size();
  if (!kept.empty() && rows->rows() != n)
    throw Unsupported("--keep is for predictions of the rows of DATA, one for each");
  const auto classes = static_cast<Index>(columns.classes.empty() ? 0 : 1);
  out.values.resize(
      n, static_cast<Index>(kept.size()) + classes + static_cast<Index>(columns.values.size()));
  const auto add = [&](const std::string& name, const auto& values, std::vector<std::string> text) {
    out.values.col(static_cast<Index>(out.names.size())) = values;
    out.names.push_back(name);
    out.text.push_back(std::move(text));
  };
  for (const Index j : kept) {
    const auto k = static_cast<std::size_t>(j);
    add(rows->names[k], rows->values.col(j), rows->text[k]);
  }
  if (rows) out.formats = rows->formats;
  if (classes) add("class", Vector::Zero(n), columns.classes);
  for (std::size_t j = 0; j < columns.names.size(); ++j)
    add(columns.names[j], columns.values[j], {});
  for (const auto& name : columns.dates) out.formats[name] = CellFormat::date;
  return out;
}

void add_columns(const Table& columns, json& object) {
  for (std::size_t j = 0; j < columns.names.size(); ++j) {
    json& column = object[columns.names[j]];
    const bool date = is_date(columns.formats, columns.names[j]);
    for (Index i = 0; i < columns.rows(); ++i) {
      const double value = columns.values(i, static_cast<Index>(j));
      if (!columns.text[j].empty())
        column.push_back(columns.text[j][static_cast<std::size_t>(i)]);
      else if (date && std::isfinite(value))
        column.push_back(format_date(value));
      else
        column.push_back(finite(value));
    }
  }
}

Outcome give_columns(const DataArguments& a, const NamedColumns& columns, const char* what,
                     const Common& common, const Table* rows) {
  Outcome out;
  const Table table = as_table(columns, rows, a.keep);
  out.object = {{"n", table.rows()}, {"file", a.out.empty() ? json(nullptr) : json(a.out)}};
  for (const auto& [name, value] : columns.facts) out.object[name] = json::parse(value);
  if (a.out.empty() && common.as_json) {
    add_columns(table, out.object);
    return out;
  }
  CsvSink sink(a.out);
  sink.write(format_csv(table));
  sink.commit();
  if (!a.out.empty()) out.text = fmt::format("{} {} written to {}\n", table.rows(), what, a.out);
  return out;
}

Outcome describe(const FitNode& fit) {
  Answer said = fit.describe();
  return {json::parse(said.json), std::move(said.text), 0};
}

}  // namespace covary::cli
