#include <fmt/format.h>

#include <algorithm>

#include "covary/data/csv.hpp"
#include "covary/data/table_blocks.hpp"
#include "covary/error.hpp"
#include "csv_sink.hpp"
#include "data_arguments.hpp"
#include "options.hpp"

namespace covary::cli {
namespace {

// Some rows of a table.
Table rows_of(const Table& table, Index first, Index n) {
  Table out;
  out.names = table.names;
  out.values = table.values.middleRows(first, n);
  out.has_header = table.has_header;
  for (const auto& cells : table.text)
    out.text.emplace_back(cells.empty() ? cells.begin() : cells.begin() + first,
                          cells.empty() ? cells.end() : cells.begin() + first + n);
  return out;
}

// Rows that are predicted each by itself, as they are read.
Outcome predict_blocks(const FitNode& fit, DataArguments& a, const Common& common) {
  TableBlocks blocks(a.data, table_options(a.header, fit));
  const bool in_object = a.out.empty() && common.as_json;
  Outcome out;
  std::unique_ptr<CsvSink> sink;
  constexpr Index most = 4096;  // rows at a time
  Index rows = 0;
  while (const auto table = blocks.next()) {
    if (rows == 0)
      for (const auto& note : table->notes) tell(common, note);
    Index first = 0;
    try {
      for (; first < table->rows(); first += most) {
        const Table some = rows_of(*table, first, std::min(most, table->rows() - first));
        const NamedColumns columns = fit.predict(some, a.question);
        if (in_object) {
          add_columns(columns, out.object);
        } else {
          if (!sink) sink = std::make_unique<CsvSink>(a.out);
          std::vector<std::string> names;
          if (rows == 0) names = columns.names;
          if (rows == 0 && !columns.classes.empty()) names.insert(names.begin(), "class");
          sink->write(format_csv(names, columns.joined(), columns.classes));
          for (const auto& [name, value] : columns.facts) out.object[name] = json::parse(value);
        }
        a.question.tell = nullptr;  // once is enough
        rows += some.rows();
      }
    } catch (const InputError& e) {
      const Index from = blocks.first_row() + first;
      throw InputError(from ? fmt::format("{} (rows counted from {})", e.what(), from)
                            : std::string(e.what()));
    }
  }
  if (sink) sink->commit();
  out.object["n"] = rows;
  out.object["file"] = a.out.empty() ? json(nullptr) : json(a.out);
  if (!a.out.empty()) out.text = fmt::format("{} predictions written to {}\n", rows, a.out);
  return out;
}

Outcome run_predict(DataArguments a, const Common& common) {
  const Fit fit = load_for("predict", a.model, a.given);
  check_question("predict", a.given, a.question);
  a.question.tell = [&](const std::string& line) { tell(common, line); };
  if (fit->row_by_row() && a.question.steps == 0) return predict_blocks(*fit, a, common);
  const Table table = read_table(a.data, table_options(a.header, *fit));
  return give_columns(a, fit->predict(table, a.question),
                      a.question.steps > 0        ? "steps"
                      : a.question.correspond > 0 ? "correspondences"
                                                  : "rows",
                      common);
}

}  // namespace

void add_predict(CLI::App& app, std::vector<std::unique_ptr<Verb>>& verbs) {
  auto* sub = app.add_subcommand("predict", "Predict at the rows of a table");
  auto a = std::make_shared<DataArguments>();
  auto verb = std::make_unique<Verb>();
  add_data_options(*sub, *a, "predict", "Table with the model's input columns");
  add_question_options(*sub, "predict", a->question);
  OptionAdder(*sub, "predict")("out", a->out);
  sub->footer("Example:\n  covary predict model.cov new.csv --out predictions.csv");
  add_common(*sub, verb->common);
  verb->app = sub;
  verb->run = [a, sub](const Common& common) {
    a->given = given_options(*sub);
    return run_predict(*a, common);
  };
  verbs.push_back(std::move(verb));
}

}  // namespace covary::cli
