#include "experiments.hpp"

#include "covary/error.hpp"
#include "ledger.hpp"
#include "small.hpp"

namespace covary::experiments {
namespace {

std::function<void(const Row&)> listener;

}  // namespace

void on_row(std::function<void(const Row&)> told) { listener = std::move(told); }

void Result::add(std::string quantity, std::string reported, std::string measured,
                 std::string remark) {
  rows.push_back(
      {std::move(quantity), std::move(reported), std::move(measured), std::move(remark)});
  if (listener) listener(rows.back());
}

void Result::claim(std::string quantity, bool holds_here, std::string measured) {
  holds = holds && (holds_here || is_small());
  add(std::move(quantity), "", std::move(measured),
      is_small()   ? "not judged"
      : holds_here ? "holds"
                   : "DOES NOT HOLD");
}

Result Run::operator()(const std::string& name, const LongSettings& settings) const {
  const Form form(settings.small);
  if (of_all_) return of_all_(settings);
  if (settings.minutes > 0.0 || settings.inducing != 0)
    throw InputError(
        "this experiment is no single long training; leave out --minutes and --inducing");
  if (of_units_) {
    Ledger ledger(name, settings);
    return of_units_(settings, ledger);
  }
  if (!settings.checkpoint.empty())
    throw InputError("this experiment keeps no checkpoint; leave out --checkpoint");
  if (of_most_) return of_most_(settings);
  if (settings.repeats != 0 || settings.rows != 0)
    throw InputError(
        "this experiment has its own number of repetitions and rows; leave out --repeats and "
        "--rows");
  return of_seed_(settings.seed);
}

const std::vector<Experiment>& all() {
  static const std::vector<Experiment> table{
      {"gaussian-conditioning", "conditioning a Gaussian, and curves as it grows (slides of Savin)",
       gaussian_conditioning},
      {"factor-graph", "edges read off the precision of a 4-D Gaussian (slides of Savin)",
       factor_graph},
      {"kernel-gallery", "draws and covariances of the kernels (Damianou 2015, van der Wilk 2018)",
       kernel_gallery},
      {"basis-vs-gp", "finite basis functions against a GP (van der Wilk 2018)", basis_vs_gp},
      {"model-posterior", "linear or quadratic, by evidence (van der Wilk 2018)",
       model_posterior_experiment},
      {"occam", "evidence against complexity (slides of Savin, van der Wilk 2018)", occam},
      {"periodic-extrapolation", "SE reverts, periodic continues (van der Wilk 2018)",
       periodic_extrapolation},
      {"snelson-fitc-vfe",
       "FITC's noise, clumping and bad additions; VFE's none (van der Wilk 2018)",
       snelson_fitc_vfe,
       {"snelson1d"},
       true},
      {"snelson-upper-bounds",
       "FITC held against upper bounds (van der Wilk 2018)",
       snelson_upper_bounds,
       {"snelson1d"},
       true},
      {"sparse-reference",
       "reference values and optima (van der Wilk 2018, slides of Savin)",
       sparse_reference,
       {"snelson1d"},
       true},
      {"pumadyn",
       "Table 3.1: 32 inputs of which four matter (van der Wilk 2018)",
       pumadyn,
       {"pumadyn32nm"},
       true},
      {"posterior-split",
       "what data can change and what they cannot (van der Wilk 2018)",
       posterior_split,
       {"snelson1d"}},
      {"sor-vs-dtc",
       "one mean, two ideas of what is uncertain (van der Wilk 2018)",
       sor_vs_dtc,
       {"snelson1d"}},
      {"synthetic-4d-m-sweep",
       "FITC and VFE against the number of inducing inputs (van der Wilk 2018)",
       synthetic_4d_m_sweep,
       {},
       true},
      {"snelson-adversarial-start",
       "FITC and VFE from a bad start (slides of Savin)",
       snelson_adversarial_start,
       {"snelson1d"},
       true},
      {"automatic-m",
       "how wide the bracket of the evidence is, and where M stops",
       automatic_m,
       {"snelson1d", "powerplant", "kin40k"},
       true},
      {"gpc-simulation-1",
       "labels of a wave: logistic regression and four GP classifiers against n (Ashouritaklimi "
       "2021)",
       gpc_simulation_1,
       {},
       true},
      {"gpc-simulation-2",
       "labels of diagonal bands, both readings: Table 3.1 (Ashouritaklimi 2021)",
       gpc_simulation_2,
       {},
       true},
      {"gpc-method-comparison",
       "Laplace, EP and VI against exact answers (Ashouritaklimi 2021)",
       gpc_method_comparison,
       {},
       true},
      {"banana", "SVGP's decision boundary and bound against M (banana)", banana, {"banana"}, true},
      {"gpc-usps-loops",
       "digits with loops and without: Table 3.2 (Ashouritaklimi 2021)",
       gpc_usps_loops,
       {"usps"},
       true},
      {"mnist-se",
       "ten digits by one SVGP with M = 750, error against time (van der Wilk 2018)",
       mnist_se,
       {"mnist"},
       true},
      {"oil-flow",
       "Bayesian GP-LVM finds two or three dimensions of twelve (Damianou 2015)",
       oil_flow,
       {"oil_flow"},
       true},
      {"mackey-glass",
       "free simulation of a chaotic series with uncertainty fed back (Damianou 2015)",
       mackey_glass,
       {},
       true},
      {"semi-described",
       "rows whose inputs are partly missing beside complete ones (Damianou 2015)",
       semi_described,
       {"cmu_mocap_35"},
       true},
      {"usps-class-density",
       "digits by the density of each: Table 3.3 (Damianou 2015)",
       usps_class_density,
       {"usps"},
       true},
      {"semi-supervised",
       "few labels among many rows, classified in latent space (Damianou 2015)",
       semi_supervised,
       {"oil_flow", "usps"},
       true},
      {"mrd-toy", "one shared and two private signals of two views (Damianou 2015)", mrd_toy},
      {"mocap-walk-run",
       "missing legs and bodies of a run, by dynamical GP-LVMs (Damianou 2015)",
       mocap_walk_run,
       {"cmu_mocap_35"},
       true},
      {"mocap-svi",
       "the upper body of novel motions, a GP-LVM by minibatches (Damianou 2015)",
       mocap_svi,
       {"cmu_mocap_35"},
       true},
      {"pose-silhouette",
       "pose from silhouettes by manifold relevance determination (Damianou 2015)",
       pose_silhouette,
       {"silhouette"},
       true},
      {"mrd-oil",
       "flow regimes from a view of labels (Damianou 2015)",
       mrd_oil,
       {"oil_flow"},
       true},
      {"yale-faces",
       "what faces under the same lights share (Damianou 2015)",
       yale_faces,
       {"yale_faces_b"},
       true},
      {"fi-mrd",
       "joints that move together, every output a view (Damianou 2015)",
       fi_mrd,
       {"silhouette"},
       true},
      {"video", "completing frames of 102 400 pixels, generated (Damianou 2015)", video, {}, true},
      {"interdomain-motivating",
       "two windows that all but coincide, and jitter (van der Wilk 2018)",
       interdomain_motivating,
       {"snelson1d"}},
      {"kin40k-basis",
       "inducing variables that are sums of points, and what they store (van der Wilk 2018)",
       kin40k_basis,
       {"kin40k"},
       true},
      {"parkinsons-basis",
       "the same on Parkinsons (van der Wilk 2018)",
       parkinsons_basis,
       {"parkinsons"},
       true},
      {"posterior-compression",
       "numbers stored against error; kernels held from a large model (van der Wilk 2018)",
       posterior_compression,
       {"parkinsons", "kin40k"},
       true},
      {"interdomain-runtime",
       "training curves of sums of points against iterations and time (van der Wilk 2018)",
       interdomain_runtime,
       {"parkinsons", "kin40k"},
       true},
      {"spectral-features",
       "shapes and spectra of features, and what they reach (Burt 2018, van der Wilk 2018)",
       spectral_features},
      {"spectral-trace",
       "what eigenfunctions leave, and what is known of it beforehand (Burt 2018)", spectral_trace},
      {"spectral-diagonal", "what a diagonal covariance of q costs (Burt 2018)", spectral_diagonal},
      {"spectral-toys",
       "features against M: eigenfunctions, points, random rows (Burt 2018)",
       spectral_toys,
       {},
       true},
      {"spectral-preconvergence",
       "what too few eigenfunctions do, kernel trained and held (Burt 2018)",
       spectral_preconvergence,
       {},
       true},
      {"leverage-sampling",
       "rows by leverage against random ones and eigenfunctions (Burt 2018)",
       leverage_sampling,
       {},
       true},
      {"spectral-banana",
       "products of eigenfunctions for labels of normal inputs (Burt 2018)",
       spectral_banana,
       {"banana"},
       true},
      {"airline-additive",
       "late flights in minibatches: points, eigenfunctions, Fourier features (Burt 2018)",
       airline_additive,
       {"airline_delays"},
       true}};
  return table;
}

}  // namespace covary::experiments
