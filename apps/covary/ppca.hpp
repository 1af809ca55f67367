#pragma once

#include "covary/models/model_file.hpp"
#include "latent.hpp"

namespace covary::cli {

// Probabilistic principal components of the columns of a table.
SavedPpca fit_ppca_of(const LatentArguments& a, const TrainingArguments& t,
                      const Forecast& forecast, const Common& common);
Outcome predict_ppca(const SavedPpca& m, const DataArguments& a, const Common& common);
Outcome evaluate_ppca(const SavedPpca& m, const DataArguments& a);

}  // namespace covary::cli
