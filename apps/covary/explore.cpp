#include <fmt/format.h>

#include <filesystem>

#include "common.hpp"
#include "covary/data/file.hpp"
#include "covary/error.hpp"
#include "covary/models/model_file.hpp"
#include "covary/report/latent_explorer.hpp"
#include "options.hpp"

namespace covary::cli {
namespace {

struct ExploreArguments {
  std::string model, out, title, draw = "auto";
};

Outcome run_explore(const ExploreArguments& a) {
  check_folder(a.out);
  const AnyModel any = load_any_model(a.model);
  const auto* m = std::get_if<SavedLatent>(&any);
  if (!m)
    throw Unsupported(
        fmt::format("{} does not hold a Bayesian latent-variable model (--model gplvm or mrd); use "
                    "covary report "
                    "for a page on any model",
                    a.model));
  LatentExplorerOptions options;
  options.draw = a.draw;
  options.title = a.title.empty()
                      ? "The latent space of " + std::filesystem::path(a.model).filename().string()
                      : a.title;
  const std::string page = latent_explorer(m->fit, options);
  write_file(a.out, page);
  return {{{"file", a.out}, {"bytes", page.size()}},
          fmt::format("the page is in {} ({} kB): open it in a browser and move the pointer\n",
                      a.out, (page.size() + 999) / 1000),
          0};
}

}  // namespace

void add_explore(CLI::App& app, std::vector<std::unique_ptr<Verb>>& verbs) {
  auto* sub = app.add_subcommand("explore", "A page to walk through a latent space");
  auto a = std::make_shared<ExploreArguments>();
  auto verb = std::make_unique<Verb>();
  sub->add_option("FILE", a->model, "Model file of a latent-variable model")
      ->required()
      ->group("Data");
  OptionAdder add(*sub, "explore");
  add("draw", a->draw)->capture_default_str();
  add("out", a->out)->required();
  add("title", a->title);
  sub->footer("Example:\n  covary explore latent.cov --out latent.html");
  add_common(*sub, verb->common);
  verb->app = sub;
  verb->run = [a](const Common&) { return run_explore(*a); };
  verbs.push_back(std::move(verb));
}

}  // namespace covary::cli
