#include <fmt/format.h>

#include "covary/error.hpp"
#include "data_arguments.hpp"
#include "options.hpp"

namespace covary::cli {
namespace {

Outcome run_update(const DataArguments& a, bool in_place, const Common& common) {
  if (a.out.empty() == !in_place)
    throw InputError("give either --out FILE for the new model or --in-place to replace the old");
  check_folder(a.out);
  const Fit fit = load_for("update", a.model, a.given);
  TableQuestion question = a.question;
  question.tell = [&](const std::string& line) { tell(common, line); };
  const Fit grown = fit->update(read_rows(*fit, a, common), question);
  const std::string& file = in_place ? a.model : a.out;
  grown.save(file);
  Outcome out = describe(*grown);
  const auto before = describe(*fit).object.at("n").get<Index>(),
             after = out.object.at("n").get<Index>();
  out.object["file"] = file;
  out.object["added"] = after - before;
  out.text =
      fmt::format("{} rows added to {}: the model has {} and is in {}\n{} {:.6g}\n", after - before,
                  before, after, file, grown->summary.objective, grown->value);
  return out;
}

}  // namespace

void add_update(CLI::App& app, std::vector<std::unique_ptr<Verb>>& verbs) {
  auto* sub = app.add_subcommand("update", "Condition a fitted model on further rows");
  auto a = std::make_shared<DataArguments>();
  auto in_place = std::make_shared<bool>(false);
  auto verb = std::make_unique<Verb>();
  add_data_options(*sub, *a, "update", "Table with the model's input and output columns");
  add_question_options(*sub, "update", a->question);
  OptionAdder add(*sub, "update");
  add("out", a->out);
  add("in-place", *in_place);
  sub->footer("Example:\n  covary update model.cov test.csv --out updated.cov");
  add_common(*sub, verb->common);
  verb->app = sub;
  verb->run = [a, in_place, sub](const Common& common) {
    a->given = given_options(*sub);
    return run_update(*a, *in_place, common);
  };
  verbs.push_back(std::move(verb));
}

}  // namespace covary::cli
