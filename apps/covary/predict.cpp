#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "covary/data/csv.hpp"
#include "covary/data/table_blocks.hpp"
#include "covary/error.hpp"
#include "csv_sink.hpp"
#include "data_arguments.hpp"
#include "options.hpp"

namespace covary::cli {
namespace {

// Rows that are predicted each by itself, as they are read.
Outcome predict_blocks(const FitNode& fit, DataArguments& a, const Common& common) {
  check_missing(fit, a.question.missing);
  TableBlocks blocks(a.data, table_options(a.header, fit));
  const bool in_object = a.out.empty() && common.as_json;
  Outcome out;
  std::unique_ptr<CsvSink> sink;
  constexpr Index most = 4096;  // rows at a time
  Index rows = 0;
  while (const auto block = blocks.next()) {
    if (blocks.first_row() == 0) {
      for (const auto& note : block->notes) tell(common, note);
      tell_of_extra_columns(*block, fit, a, common);
    }
    static_cast<void>(fit.input_columns.find(*block));  // refuses the cell, wherever in the block
    const Table table = asked_rows(fit, *block, a.question);
    for (Index first = 0; first < table.rows(); first += most) {
      std::vector<Index> numbers(static_cast<std::size_t>(std::min(most, table.rows() - first)));
      std::iota(numbers.begin(), numbers.end(), first);
      const Table some = table.take(numbers);
      const NamedColumns columns = fit.predict(some, a.question);
      const Table answers = as_table(columns, &some, a.keep);
      if (in_object) {
        add_columns(answers, out.object);
      } else {
        if (!sink) sink = std::make_unique<CsvSink>(a.out);
        sink->write(format_csv(answers, rows == 0));
      }
      for (const auto& [name, value] : columns.facts) out.object[name] = json::parse(value);
      a.question.tell = nullptr;  // once is enough
      rows += some.rows();
    }
  }
  if (rows == 0) throw InputError("no row is left to predict: each has a missing input");
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
  const Table table = read_rows(*fit, a, common);
  return give_columns(a, fit->predict(table, a.question),
                      a.question.steps > 0        ? "steps"
                      : a.question.correspond > 0 ? "correspondences"
                                                  : "rows",
                      common, &table);
}

}  // namespace

void add_predict(CLI::App& app, std::vector<std::unique_ptr<Verb>>& verbs) {
  auto* sub = app.add_subcommand("predict", "Predict at the rows of a table");
  auto a = std::make_shared<DataArguments>();
  auto verb = std::make_unique<Verb>();
  add_data_options(*sub, *a, "predict", "Table with the model's input columns");
  add_question_options(*sub, "predict", a->question);
  OptionAdder add(*sub, "predict");
  add("keep", a->keep);
  add("out", a->out);
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
