#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "covary/linalg/types.hpp"

namespace covary::experiments {

// One line of a result: what the document reports (empty where it gives no number) beside what we
// measure, and what a reader should see in it.
struct Row {
  std::string quantity;
  std::string reported;
  std::string measured;
  std::string remark;
};

// Numbers to be drawn: a table with a name for each column, or an image without names.
struct Series {
  std::string name;
  std::vector<std::string> columns;
  Matrix values;
};

// What an experiment found. `holds` is false when a claim that it checks did not come out.
struct Result {
  std::string name;
  std::string source;  // document and figure or property
  std::vector<Row> rows;
  std::vector<Series> series;  // what its pictures show
  bool holds = true;

  void add(std::string quantity, std::string reported, std::string measured,
           std::string remark = "");
  // A claim with its verdict as a row; the small form judges none.
  void claim(std::string quantity, bool holds_here, std::string measured);
};

// Is told each row of a result as soon as it is known, so that a run that is stopped has lost none.
void on_row(std::function<void(const Row&)> told);

// What the command line may change. 0: the experiment's own number.
struct Settings {
  std::uint64_t seed = 0;
  Index repeats = 0;   // of random data or splits
  Index rows = 0;      // of the data set, for a quick run
  bool small = false;  // the small form: small.hpp
};

// Of one long training besides.
struct LongSettings : Settings {
  double minutes = 0.0;  // of wall-clock
  Index inducing = 0;
  std::string checkpoint = {};  // keeps the state of training, or the units of a Ledger
  bool resume = false;
};

class Ledger;

// An experiment's function: of the seed alone, of most settings, of these and what was found
// before, or of all.
class Run {
 public:
  Run(Result (*of_seed)(std::uint64_t)) : of_seed_(of_seed) {}    // NOLINT: a kind of it
  Run(Result (*of_most)(const Settings&)) : of_most_(of_most) {}  // NOLINT
  Run(Result (*of_units)(const Settings&, Ledger&)) : of_units_(of_units) {}  // NOLINT
  Run(Result (*of_all)(const LongSettings&)) : of_all_(of_all) {}             // NOLINT
  // InputError where settings are given to one that has none.
  Result operator()(const std::string& name, const LongSettings& settings) const;

 private:
  Result (*of_seed_)(std::uint64_t) = nullptr;
  Result (*of_most_)(const Settings&) = nullptr;
  Result (*of_units_)(const Settings&, Ledger&) = nullptr;
  Result (*of_all_)(const LongSettings&) = nullptr;
};

struct Experiment {
  std::string name;
  std::string what;  // one line
  Run run;
  std::vector<std::string> data = {};  // folders of data sets that it reads
  bool long_run = false;               // minutes
};

const std::vector<Experiment>& all();

struct DataSource {
  std::string name;
  std::string files;  // below the folder of data, comma-separated
  std::string what, from, columns;
};

const std::vector<DataSource>& data_sources();

// One file each.
Result gaussian_conditioning(std::uint64_t seed);
Result factor_graph(std::uint64_t seed);
Result kernel_gallery(std::uint64_t seed);
Result basis_vs_gp(std::uint64_t seed);
Result model_posterior_experiment(std::uint64_t seed);
Result occam(std::uint64_t seed);
Result periodic_extrapolation(std::uint64_t seed);
Result snelson_fitc_vfe(std::uint64_t seed);
Result snelson_upper_bounds(std::uint64_t seed);
Result sparse_reference(std::uint64_t seed);
Result pumadyn(std::uint64_t seed);
Result posterior_split(std::uint64_t seed);
Result sor_vs_dtc(std::uint64_t seed);
Result synthetic_4d_m_sweep(std::uint64_t seed);
Result snelson_adversarial_start(std::uint64_t seed);
Result automatic_m(std::uint64_t seed);
Result gpc_simulation_1(const Settings& settings);
Result gpc_simulation_2(const Settings& settings);
Result gpc_method_comparison(std::uint64_t seed);
Result banana(const Settings& settings);
Result gpc_usps_loops(const Settings& settings);
Result oil_flow(const Settings& settings);
Result mrd_toy(const Settings& settings, Ledger& ledger);
Result mocap_walk_run(const Settings& settings, Ledger& ledger);
Result mocap_svi(const Settings& settings);
Result pose_silhouette(const Settings& settings);
Result mrd_oil(const Settings& settings);
Result yale_faces(const Settings& settings);
Result fi_mrd(const Settings& settings);
Result video(const Settings& settings);
Result usps_class_density(const Settings& settings, Ledger& ledger);
Result semi_supervised(const Settings& settings, Ledger& ledger);
Result mackey_glass(const Settings& settings);
Result semi_described(const Settings& settings);
Result interdomain_motivating(std::uint64_t seed);
Result kin40k_basis(const Settings& settings, Ledger& ledger);
Result parkinsons_basis(const Settings& settings, Ledger& ledger);
Result spectral_trace(std::uint64_t seed);
Result spectral_diagonal(std::uint64_t seed);
Result spectral_toys(const Settings& settings);
Result spectral_features(std::uint64_t seed);
Result spectral_preconvergence(const Settings& settings);
Result spectral_banana(const Settings& settings);
Result leverage_sampling(const Settings& settings);
Result posterior_compression(const Settings& settings);
Result interdomain_runtime(const Settings& settings);
Result airline_additive(const LongSettings& settings);
Result mnist_se(const LongSettings& settings);

}  // namespace covary::experiments
