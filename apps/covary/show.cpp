#include "data_arguments.hpp"

namespace covary::cli {

void add_show(CLI::App& app, std::vector<std::unique_ptr<Verb>>& verbs) {
  auto* sub = app.add_subcommand("show", "Show the parameters and the summary of a model");
  auto path = std::make_shared<std::string>();
  auto verb = std::make_unique<Verb>();
  sub->add_option("FILE", *path, "Model file")->required();
  sub->footer("Example:\n  covary show model.cov");
  add_common(*sub, verb->common);
  verb->app = sub;
  verb->run = [path](const Common&) {
    const Fit fit = load(*path);
    Outcome out = describe(*fit);
    out.text += fit->summary.full();
    return out;
  };
  verbs.push_back(std::move(verb));
}

}  // namespace covary::cli
