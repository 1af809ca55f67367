#include <fmt/format.h>

#include "covary/models/compress.hpp"
#include "data_arguments.hpp"

namespace covary::cli {
namespace {

struct CompressArguments {
  std::string model, out;
  std::vector<std::string> features;
  CompressOptions options;
};

Outcome run_compress(const CompressArguments& a, const Common& common) {
  check_folder(a.out);
  CompressOptions options = a.options;
  for (const std::string& text : a.features) options.features.emplace_back(text);
  options.tell = [&](const std::string& line) { tell(common, line); };
  const FitNode::Smaller small = load_for("compress", a.model, {})->compressed(options);
  small.fit.save(a.out);
  Outcome out = describe(*small.fit);
  out.object.update({{"file", a.out},
                     {"features", small.features},
                     {"inducing", small.inducing},
                     {"loss", small.loss},
                     {"numbers", small.numbers},
                     {"numbers_before", small.numbers_before}});
  out.text = fmt::format(
      "{} {} features in {}: {:.0f} numbers instead of {:.0f}, {:.3g} times fewer, within {:.3g} "
      "nats per row of the given posterior\n",
      small.inducing, small.features, a.out, small.numbers, small.numbers_before,
      small.numbers_before / small.numbers, small.loss);
  return out;
}

}  // namespace

void add_compress(CLI::App& app, std::vector<std::unique_ptr<Verb>>& verbs) {
  auto* sub = app.add_subcommand("compress", "Make the posterior of a model smaller");
  auto a = std::make_shared<CompressArguments>();
  auto verb = std::make_unique<Verb>();
  sub->add_option("FILE", a->model, "Model file of a regression, svgp or sparse EP")->required();
  sub->add_option("--out", a->out, "Model file to write")->required();
  sub->add_option("--loss", a->options.loss, "Allowed loss: KL divergence in nats per training row")
      ->capture_default_str();
  sub->add_option("--features", a->features,
                  "Kind of inducing variables to try, repeatable (default: points, basis(2), "
                  "basis(4), basis(8))");
  sub->add_option("--most", a->options.most_inducing, "Largest number of inducing variables")
      ->capture_default_str();
  sub->add_option("--max-iter", a->options.iterations, "Iterations of training for each candidate")
      ->capture_default_str();
  sub->add_option("--seed", a->options.seed, "Seed of random starts")->capture_default_str();
  sub->footer("Example:\n  covary compress model.cov --loss 0.05 --out small.cov");
  add_common(*sub, verb->common);
  verb->app = sub;
  verb->run = [a](const Common& common) { return run_compress(*a, common); };
  verbs.push_back(std::move(verb));
}

}  // namespace covary::cli
