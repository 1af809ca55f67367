#pragma once

#include <optional>
#include <string>
#include <variant>

#include "covary/data/table.hpp"
#include "covary/models/cross_validation.hpp"
#include "covary/models/request.hpp"

namespace covary {

// How a file is read: from "auto", "yes" or "no" of --header.
Header parse_header(const std::string& text);
// Throws FileError unless the folder of an output file exists; an empty path passes.
void check_folder(const std::string& path);

// Rows to train on: the path of a file, which may stay there, or a table in memory.
using TrainingRows = std::variant<std::string, Table>;

// A call of `fit`, whichever door it comes through. Every option has an effect here or in the
// session, or is refused.
class FitRun {
 public:
  // Checks the call, reads the rows and chooses the model. Error "memory" where it cannot fit.
  FitRun(const TrainingRows& rows, FitOptions options, Tell tell);

  // Trains the model, with what is around it, and keeps the fit where `out` says.
  Fit train(FitSession& session);
  // Of `folds`, if they were asked for: models trained on the rows of each, with nothing around.
  std::optional<FoldScores> cross_validate() const;

  const FitRequest& request() const { return request_; }
  const Cost& cost() const { return cost_; }

 private:
  FitRequest request_;
  std::vector<Split> folds_;
  Cost cost_;
};

}  // namespace covary
