#pragma once

#include "covary/models/autoregression.hpp"
#include "data_arguments.hpp"
#include "training_arguments.hpp"

namespace covary::cli {

// Of fit --lags: the targets as series, whose windows are the rows to train on.
TrainingData training_windows(const Table& table, const TrainingArguments& a, const Common& common);

// What a regression is scored on: the rows of the table or, of an autoregression, the windows of
// its series.
struct ScoredRows {
  RowMatrix X, Y;
};
ScoredRows scored_rows(const SavedModel& m, const Table& table);

// Of predict --steps: the series of the table, simulated beyond their end.
struct StepArguments {
  Index steps = 0;
  std::string propagation = "moments";
  DrawOptions draws = {};
};
void add_step_options(CLI::App& sub, StepArguments& a);
Outcome predict_steps(const SavedModel& m, const DataArguments& data, const StepArguments& a,
                      const Common& common);

}  // namespace covary::cli
