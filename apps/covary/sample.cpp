#include "data_arguments.hpp"
#include "options.hpp"

namespace covary::cli {
namespace {

Outcome run_sample(const DataArguments& a, const Common& common) {
  TableQuestion question = a.question;
  check_folder(a.out);
  const Fit fit = load_for("sample", a.model, a.given);
  check_question("sample", a.given, question);
  question.tell = [&](const std::string& line) { tell(common, line); };
  const Table table = read_rows(*fit, a, common);
  Outcome out = give_columns(a, fit->sample(table, question), "rows of draws", common);
  out.object["draws"] = question.draws;
  out.object["seed"] = question.seed;
  return out;
}

}  // namespace

void add_sample(CLI::App& app, std::vector<std::unique_ptr<Verb>>& verbs) {
  auto* sub = app.add_subcommand("sample", "Draw the function jointly at the rows of a table");
  auto a = std::make_shared<DataArguments>();
  auto verb = std::make_unique<Verb>();
  add_data_options(*sub, *a, "sample", "Table with the model's input columns");
  add_question_options(*sub, "sample", a->question);
  OptionAdder(*sub, "sample")("out", a->out);
  sub->footer("Example:\n  covary sample model.cov new.csv -n 10 --out draws.csv");
  add_common(*sub, verb->common);
  verb->app = sub;
  verb->run = [a, sub](const Common& common) {
    a->given = given_options(*sub);
    return run_sample(*a, common);
  };
  verbs.push_back(std::move(verb));
}

}  // namespace covary::cli
