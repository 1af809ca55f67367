#include "experiments.hpp"

#include "covary/error.hpp"

namespace covary::experiments {

void Result::add(std::string quantity, std::string reported, std::string measured,
                 std::string remark) {
  rows.push_back(
      {std::move(quantity), std::move(reported), std::move(measured), std::move(remark)});
}

void Result::claim(std::string quantity, bool holds_here, std::string measured) {
  holds = holds && holds_here;
  rows.push_back(
      {std::move(quantity), "", std::move(measured), holds_here ? "holds" : "DOES NOT HOLD"});
}

Result Run::operator()(const LongSettings& settings) const {
  if (of_all_) return of_all_(settings);
  if (settings.minutes > 0.0 || settings.inducing != 0 || !settings.checkpoint.empty())
    throw InputError(
        "this experiment is no single long training; leave out --minutes, --inducing and "
        "--checkpoint");
  if (of_most_) return of_most_(settings);
  if (settings.repeats != 0 || settings.rows != 0)
    throw InputError(
        "this experiment has its own number of repetitions and rows; leave out --repeats and "
        "--rows");
  return of_seed_(settings.seed);
}

const std::vector<Experiment>& all() {
  static const std::vector<Experiment> table{
      {"gaussian-conditioning",
       "conditioning a Gaussian, and curves as it grows (slides E1, T1, T2)",
       gaussian_conditioning},
      {"factor-graph", "edges read off the precision of a 4-D Gaussian (slides E6, T3)",
       factor_graph},
      {"kernel-gallery", "draws and covariances of the kernels (002 Figs 2.1–2.3, 000 E1.3)",
       kernel_gallery},
      {"basis-vs-gp", "finite basis functions against a GP (000 E1.2–E1.5)", basis_vs_gp},
      {"model-posterior", "linear or quadratic, by evidence (000 E1.1)",
       model_posterior_experiment},
      {"occam", "evidence against complexity (slides E5, T18; 000 E5.1–E5.2)", occam},
      {"periodic-extrapolation", "SE reverts, periodic continues (000 E5.3)",
       periodic_extrapolation},
      {"snelson-fitc-vfe",
       "FITC's noise, clumping and bad additions; VFE's none (000 E3.1–E3.4)",
       snelson_fitc_vfe,
       {"snelson1d"},
       true},
      {"snelson-upper-bounds",
       "FITC held against upper bounds (000 E3.7–E3.9)",
       snelson_upper_bounds,
       {"snelson1d"},
       true},
      {"sparse-reference",
       "reference values and optima (000 Appendix B; slides T8–T12)",
       sparse_reference,
       {"snelson1d"},
       true},
      {"pumadyn",
       "Table 3.1: 32 inputs of which four matter (000 E3.6)",
       pumadyn,
       {"pumadyn32nm"},
       true},
      {"posterior-split",
       "what data can change and what they cannot (000 E2.1, E2.3, E2.4)",
       posterior_split,
       {"snelson1d"}},
      {"sor-vs-dtc",
       "one mean, two ideas of what is uncertain (000 E2.2)",
       sor_vs_dtc,
       {"snelson1d"}},
      {"synthetic-4d-m-sweep",
       "FITC and VFE against the number of inducing inputs (000 E3.5)",
       synthetic_4d_m_sweep,
       {},
       true},
      {"snelson-adversarial-start",
       "FITC and VFE from a bad start (slides E7, E8, T19–T21)",
       snelson_adversarial_start,
       {"snelson1d"},
       true},
      {"automatic-m",
       "how wide the bracket of the evidence is, and where M stops",
       automatic_m,
       {"snelson1d", "powerplant", "kin40k"},
       true},
      {"gpc-simulation-1",
       "labels of a wave: logistic regression and four GP classifiers against n (004 3.1.1)",
       gpc_simulation_1,
       {},
       true},
      {"gpc-simulation-2",
       "labels of diagonal bands, both readings: Table 3.1 (004 3.1.2)",
       gpc_simulation_2,
       {},
       true},
      {"gpc-method-comparison",
       "Laplace, EP and VI against exact answers (004 T4–T7)",
       gpc_method_comparison,
       {},
       true},
      {"banana", "SVGP's decision boundary and bound against M (banana)", banana, {"banana"}, true},
      {"gpc-usps-loops",
       "digits with loops and without: Table 3.2 (004 3.2)",
       gpc_usps_loops,
       {"usps"},
       true},
      {"mnist-se",
       "ten digits by one SVGP with M = 750, error against time (000 E5.8, Table 5.1)",
       mnist_se,
       {"mnist"},
       true},
      {"oil-flow",
       "Bayesian GP-LVM finds two or three dimensions of twelve (002 2.3, Figs 3.4, 3.5)",
       oil_flow,
       {"oil_flow"},
       true},
      {"mackey-glass",
       "free simulation of a chaotic series with uncertainty fed back (002 2.9, Table 4.1)",
       mackey_glass,
       {},
       true},
      {"semi-described",
       "rows whose inputs are partly missing beside complete ones (002 2.8, Fig. 4.2)",
       semi_described,
       {},
       true},
      {"usps-class-density",
       "digits by the density of each: Table 3.3 (002 2.6)",
       usps_class_density,
       {"usps"},
       true},
      {"semi-supervised",
       "few labels among many rows, classified in latent space (002 2.10, Fig. 4.5)",
       semi_supervised,
       {"oil_flow", "usps"},
       true},
      {"mrd-toy", "one shared and two private signals of two views (002 2.11, Fig. 5.2)", mrd_toy},
      {"mocap-walk-run",
       "missing legs and bodies of a run, by dynamical GP-LVMs (002 2.4, Table 3.1)",
       mocap_walk_run,
       {"cmu_mocap_35"},
       true},
      {"mocap-svi",
       "the upper body of novel motions, a GP-LVM by minibatches (002 2.7, Figs 3.15-3.16)",
       mocap_svi,
       {"cmu_mocap_35"},
       true},
      {"pose-silhouette",
       "pose from silhouettes by manifold relevance determination (002 2.13, Table 5.1)",
       pose_silhouette,
       {"silhouette"},
       true},
      {"mrd-oil",
       "flow regimes from a view of labels (002 2.14, Fig. 5.11)",
       mrd_oil,
       {"oil_flow"},
       true},
      {"yale-faces",
       "what faces under the same lights share (002 2.12, Figs 5.3-5.8)",
       yale_faces,
       {"yale_faces_b"},
       true},
      {"fi-mrd",
       "joints that move together, every output a view (002 2.16, Fig. 5.16)",
       fi_mrd,
       {"silhouette"},
       true},
      {"video",
       "completing frames of 102 400 pixels, generated (002 2.5, Table 3.2)",
       video,
       {},
       true}};
  return table;
}

}  // namespace covary::experiments
