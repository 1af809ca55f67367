#include "data_arguments.hpp"
#include "options.hpp"

namespace covary::cli {
namespace {

Outcome run_evaluate(const DataArguments& a, const Common& common) {
  TableQuestion question = a.question;
  const Fit fit = load_for("evaluate", a.model, a.given);
  check_question("evaluate", a.given, question);
  question.tell = [&](const std::string& line) { tell(common, line); };
  Answer scores = fit->evaluate(read_rows(*fit, a, common), question);
  return {json::parse(scores.json), std::move(scores.text), 0};
}

}  // namespace

void add_evaluate(CLI::App& app, std::vector<std::unique_ptr<Verb>>& verbs) {
  auto* sub = app.add_subcommand("evaluate", "Score predictions against a table with outputs");
  auto a = std::make_shared<DataArguments>();
  auto verb = std::make_unique<Verb>();
  add_data_options(*sub, *a, "evaluate", "Table with the model's input and output columns");
  add_question_options(*sub, "evaluate", a->question);
  sub->footer("Example:\n  covary evaluate model.cov test.csv --json");
  add_common(*sub, verb->common);
  verb->app = sub;
  verb->run = [a, sub](const Common& common) {
    a->given = given_options(*sub);
    return run_evaluate(*a, common);
  };
  verbs.push_back(std::move(verb));
}

}  // namespace covary::cli
