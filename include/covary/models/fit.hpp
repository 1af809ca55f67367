#pragma once

#include <concepts>
#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "covary/data/inputs.hpp"
#include "covary/parameters/parameters.hpp"
#include "covary/training/summary.hpp"

namespace covary {

struct Archive;
struct CompressOptions;
struct ModelData;
struct ParameterDraws;
class Fit;

// What a fit of any model keeps besides its posterior.
struct FitRecord {
  std::string model;      // its name in the table of models: "vfe", "pep(0.5)", "gplvm"
  std::string form = {};  // the label of its entry there, where the name has others beside it
  Parameters parameters = {};
  Summary summary = {};  // values in the units of the data; `objective` says what they are
  double value = 0.0;    // of that objective, without log priors
  double log_prior = 0.0;
  Vector standard_errors = {};      // of the free entries of `parameters`, NaN where flat; or none
  InputColumns input_columns = {};  // of a table; none of a model without inputs
  std::vector<std::string> output_names = {};
  CellFormats formats = {};  // of the inputs and outputs that were dates or marked numbers
  // What else the inference has to say, by name: the terms of a bound, its bracket, …
  std::vector<std::pair<std::string, double>> diagnostics = {};

  std::vector<std::string> input_names() const { return input_columns.names(); }
  // Of one output; "y" where it has no name.
  std::string target() const { return output_names.empty() ? "y" : output_names.front(); }
};

// For people, and the same as the text of a JSON object.
struct Answer {
  std::string json = "{}", text = {};
};

// Columns with their names, a row for each row that was asked about.
struct NamedColumns {
  std::vector<std::string> names;
  std::vector<Vector> values;
  std::vector<std::string> classes = {};                        // a cell a row, or none
  std::vector<std::pair<std::string, std::string>> facts = {};  // of all rows: name, JSON
  std::vector<std::string> dates = {};  // names of columns that are days since 1970-01-01

  void add(std::string name, const Vector& v) {
    names.push_back(std::move(name));
    values.push_back(v);
  }
  RowMatrix joined() const;
};

// What a fit may be asked at the rows of a table. The names are those of the options of the command
// line, which say what each is for; the table of models says which model reads which.
struct TableQuestion {
  std::string exposure, loss;
  // Rows with missing inputs: error; drop; learn, which averages over what the input may be; or
  // auto: learn where the model has learned missing inputs, else error.
  std::string missing = "auto";
  double threshold = 0.5;
  std::vector<std::string> input_variance = {};
  bool components = false, gradients = false;
  Index parameter_draws = 0, correspond = 0, steps = 0;
  std::string propagation = "moments";
  Index draws = 100;
  std::uint64_t seed = 0;
  std::string posterior;  // of sample
  Index burn_in = 200, thin = 1;
  std::string noise;  // of update
  std::function<void(const std::string&)> tell = nullptr;
  std::shared_ptr<const ParameterDraws> drawn = nullptr;  // kept from one block to the next

  void say(const std::string& line) const {
    if (tell) tell(line);
  }
};

// Of held-out rows, a number for each observed output: −log density, and the squared error or,
// where there are classes, whether the class was the right one.
struct HeldOut {
  std::vector<double> nlpd, squared_error, right;
};

// What training leaves, of whichever model: what any fit is asked. Immutable once made and
// thread-safe. What is not pure is refused with the reason unless a model overrides it; the table
// of models says what is.
class FitNode : public FitRecord {
 public:
  virtual ~FitNode() = default;
  virtual std::string kind() const = 0;  // in a file: which entries of the table restore it
  // What it says of itself beyond the record, and in words.
  virtual Answer details() const = 0;
  // Beyond the record, so that restored it gives the same bits.
  virtual void store(Archive& to) const = 0;
  // The same without the outputs it was trained on.
  virtual Fit stripped() const;

  // At the rows of a table; the columns that it needs are found by name.
  virtual NamedColumns predict(const Table& rows, TableQuestion& question) const = 0;
  // Whether each row is predicted by itself, so that a table may come in blocks.
  virtual bool row_by_row() const { return !input_columns.columns.empty(); }
  virtual Answer evaluate(const Table& rows, const TableQuestion& question) const;
  virtual NamedColumns sample(const Table& rows, const TableQuestion& question) const;
  virtual Fit update(const Table& rows, const TableQuestion& question) const;
  struct Smaller;
  virtual Smaller compressed(const CompressOptions& options) const;
  virtual HeldOut held_out(const ModelData& rows) const;
  // The evidence with the parameters integrated out by Laplace's method; NaN where that is not
  // known.
  virtual double laplace_log_evidence() const;
  // Of a model whose outputs make the inputs of later rows.
  virtual Index lags() const { return 0; }

  Answer describe() const;
  // A file of docs/model-file.md. Predictions before and after are the same bits.
  void save(const std::string& path) const;
  std::vector<std::byte> bytes() const;

 protected:
  FitNode() = default;
  FitNode(const FitNode&) = default;
  FitNode(FitNode&&) = default;
  FitNode& operator=(const FitNode&) = default;
  FitNode& operator=(FitNode&&) = default;
  [[noreturn]] void refuse(const std::string& what) const;
};

// A fit of any model, as a value.
class Fit {
 public:
  template <std::derived_from<FitNode> T>
  Fit(T node) : node_(std::make_shared<const T>(std::move(node))) {}  // NOLINT: it is one
  explicit Fit(std::shared_ptr<const FitNode> node) : node_(std::move(node)) {}

  const FitNode& operator*() const { return *node_; }
  const FitNode* operator->() const { return node_.get(); }
  const std::shared_ptr<const FitNode>& node() const { return node_; }
  void save(const std::string& path) const { node_->save(path); }

  // The fit as that of one model; Unsupported, naming it, if it is another's.
  template <std::derived_from<FitNode> T>
  const T& as() const {
    if (const T* p = dynamic_cast<const T*>(node_.get())) return *p;
    wrong_model();
  }

 private:
  [[noreturn]] void wrong_model() const;

  std::shared_ptr<const FitNode> node_;
};

// A smaller posterior of the same fit, and what that cost.
struct FitNode::Smaller {
  Fit fit;
  std::string features;
  Index inducing = 0;
  double loss = 0.0;  // in nats a row
  double numbers = 0.0, numbers_before = 0.0;
};

// The rows of a table that --missing leaves to be answered.
Table asked_rows(const FitNode& fit, Table table, const TableQuestion& question);
// Unsupported for a policy where there are no inputs.
void check_missing(const FitNode& fit, const std::string& policy);

// FileError for anything that is no model file.
Fit load(const std::string& path);
Fit load_bytes(std::span<const std::byte> bytes, const std::string& source = "the model");

}  // namespace covary
