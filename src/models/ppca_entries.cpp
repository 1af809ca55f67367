#include "covary/models/ppca.hpp"
#include "models/costs.hpp"
#include "models/entries.hpp"

namespace covary {
namespace {

Fit make_ppca(FitRequest& r) {
  const Index most = std::min<Index>(10, r.data.Y.cols() - 1);
  PpcaFit fit = r.around([&] {
    return fit_ppca(r.data.Y, r.options.latent ? r.options.latent : most, r.latent_scale());
  });
  fit.row_labels = r.data.row_labels;
  return fit;
}

}  // namespace

std::vector<ModelEntry> ppca_entries() {
  return {{"ppca", "ppca", "", Targets::none, Form::plain,
           "Probabilistic principal components, in closed form.",
           "a linear latent space: the first thing to try", "N·P·min(N, P)", "N·P",
           "latent-variables.md#probabilistic-principal-components", costs::ppca, "several-outputs",
           "target header out scale no-scale latent label",
           with_any({{"predict", ""}, {"evaluate", ""}}), make_ppca, "ppca", restore_ppca}};
}

}  // namespace covary
