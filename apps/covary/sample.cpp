#include <fmt/format.h>

#include <type_traits>

#include "cost.hpp"
#include "covary/data/columns.hpp"
#include "covary/error.hpp"
#include "covary/models/gplvm_sampling.hpp"
#include "data_arguments.hpp"
#include "latent.hpp"
#include "model_choice.hpp"
#include "options.hpp"

namespace covary::cli {
namespace {

struct SampleArguments {
  DataArguments data;
  Index draws = 100, burn_in = 200, thin = 1;
  std::uint64_t seed = 0;
  std::string posterior;  // the sampler of latent inputs, or empty: the function is drawn
};

// "" for a single latent function, else "_" and the class it is of, or its number.
std::string function_suffix(const GeneralisedFit& fit, Index l) {
  if (fit.posterior.functions() == 1) return {};
  return fit.classes.empty() ? fmt::format("_{}", l)
                             : "_" + fit.classes[static_cast<std::size_t>(l)];
}
// Models that are drawn at points of a latent space.
template <class Saved>
concept Latent = std::is_same_v<Saved, SavedLatent> || std::is_same_v<Saved, SavedMapGplvm>;

std::string suffix_of(const Latent auto& m, Index k) {
  return "_" + m.fit.output_names[static_cast<std::size_t>(k)];
}
std::string suffix_of(const SavedModel& m, Index k) { return output_suffix(m, k); }
std::string suffix_of(const SavedGeneralised& m, Index l) { return function_suffix(m.fit, l); }

// The covariance of the rows and its factor.
double bytes_of(const Latent auto&, double n) { return 16.0 * n * n; }
template <class Saved>
double bytes_of(const Saved& m, double n) {
  return m.fit.posterior.sample_bytes(n);
}

RowMatrix inputs_of(const Latent auto& m, const DataArguments& a) {
  const Table table = read_table(a.data, {parse_header(a.header)});
  if (auto points = latent_points(table, m.fit.latent())) return *points;
  throw InputError(fmt::format(
      "{} holds a latent-variable model, which is sampled at points of its latent space: {} needs "
      "columns x0 to x{}, as covary predict writes them",
      a.model, a.data, m.fit.latent() - 1));
}
template <class Saved>
RowMatrix inputs_of(const Saved& m, const DataArguments& a) {
  return m.inputs.apply(read_table(a.data, table_options(a, m.inputs)));
}

template <class Saved>
Outcome draw(const Saved& m, const DataArguments& a, Index draws, std::uint64_t seed,
             const Common& common) {
  const RowMatrix X = inputs_of(m, a);
  require_memory(bytes_of(m, static_cast<double>(X.rows())), X.rows(),
                 fmt::format("a joint draw at {} rows", X.rows()));
  const auto f = m.fit.sample(X, draws, seed);
  const Index P = f.front().cols();
  RowMatrix values(X.rows(), draws * P);
  std::vector<std::string> names;
  for (Index s = 0; s < draws; ++s)
    for (Index k = 0; k < P; ++k) {
      names.push_back(fmt::format("draw_{}{}", s, suffix_of(m, k)));
      values.col(s * P + k) = f[static_cast<std::size_t>(s)].col(k);
    }
  Outcome out = give_table(a, names, values, "rows of draws", common);
  out.object["draws"] = draws;
  out.object["seed"] = seed;
  return out;
}

Outcome draw(const SavedPpca&, const DataArguments& a, Index, std::uint64_t, const Common&) {
  throw Unsupported(fmt::format(
      "{} holds principal components, which have no function to draw; use covary predict",
      a.model));
}

Outcome draw(const SavedClassDensity&, const DataArguments& a, Index, std::uint64_t,
             const Common&) {
  throw Unsupported(
      fmt::format("{} holds densities of classes, which have no function to draw", a.model));
}

// Of the latent inputs of the training rows, whose outputs the table has.
Outcome draw_inputs(const AnyModel& model, const SampleArguments& s, const Common& common) {
  const DataArguments& a = s.data;
  const auto* m = std::get_if<SavedLatent>(&model);
  const Table table = read_table(a.data, {parse_header(a.header)});
  const RowMatrix Y = numeric_columns(table, select_columns(table, m->fit.output_names));
  InputSamplingOptions options;
  options.method = s.posterior;
  options.samples = s.draws;
  options.burn_in = s.burn_in;
  options.thin = s.thin;
  options.seed = s.seed;
  const InputSamples samples = sample_latent(m->fit, Y, options);
  const Index Q = m->fit.latent();
  RowMatrix values(Y.rows(), s.draws * Q);
  std::vector<std::string> names;
  for (Index d = 0; d < s.draws; ++d) {
    values.middleCols(d * Q, Q) = samples.X[static_cast<std::size_t>(d)];
    for (Index q = 0; q < Q; ++q) names.push_back(fmt::format("draw_{}_x{}", d, q));
  }
  Outcome out = give_table(a, names, values, "rows of draws", common);
  out.object.update({{"draws", s.draws},
                     {"seed", s.seed},
                     {"posterior", s.posterior},
                     {"acceptance", finite(samples.acceptance)}});
  return out;
}

Outcome run_sample(const SampleArguments& s, const Common& common) {
  const DataArguments& a = s.data;
  if (s.draws < 1) throw InputError(fmt::format("-n must be at least 1, got {}", s.draws));
  check_folder(a.out);
  const AnyModel model = load_any_model(a.model);
  check_options("sample", a.given, model);
  for (const auto& option : a.given)
    if (s.posterior.empty() && (option == "burn-in" || option == "thin"))
      throw InputError(fmt::format("--{} needs --posterior", option));
  if (!s.posterior.empty()) return draw_inputs(model, s, common);
  return std::visit([&](const auto& m) { return draw(m, a, s.draws, s.seed, common); }, model);
}

}  // namespace

void add_sample(CLI::App& app, std::vector<std::unique_ptr<Verb>>& verbs) {
  auto* sub = app.add_subcommand("sample", "Joint draws of the function at the rows of a table");
  auto a = std::make_shared<SampleArguments>();
  auto verb = std::make_unique<Verb>();
  add_data_options(*sub, a->data, "sample", "Table with the model's input columns");
  OptionAdder add(*sub, "sample");
  add("draws", a->draws, "-n,--draws")->capture_default_str();
  add("seed", a->seed)->capture_default_str();
  add("posterior", a->posterior)->check(CLI::IsMember({"slice", "retrospective"}));
  add("burn-in", a->burn_in)->check(CLI::NonNegativeNumber)->capture_default_str();
  add("thin", a->thin)->check(at_least_one())->capture_default_str();
  add("out", a->data.out);
  sub->footer("Example:\n  covary sample model.cov new.csv -n 10 --out draws.csv");
  add_common(*sub, verb->common);
  verb->app = sub;
  verb->run = [a, sub](const Common& common) {
    a->data.given = given_options(*sub);
    return run_sample(*a, common);
  };
  verbs.push_back(std::move(verb));
}

}  // namespace covary::cli
