// Options that leave another one without effect: refused, so that none is ignored.
#include <fmt/format.h>

#include <algorithm>

#include "covary/error.hpp"
#include "covary/features/choice.hpp"
#include "covary/models/model_choice.hpp"
#include "models/words.hpp"

namespace covary {
namespace {

bool sets(const FitOptions& o, const std::string& path) {
  return std::any_of(o.set.begin(), o.set.end(), [&](const std::string& text) {
    return split_assignment(text, "--set").first == path;
  });
}

}  // namespace

void check_pairs(const FitOptions& o) {
  const auto refuse = [&](bool idle, const char* option, const std::string& why) {
    if (idle && o.is_given(option))
      throw InputError(fmt::format("--{} has no effect {}", option, why));
  };
  const bool file = !o.inducing_file.empty();
  refuse(file, "inducing", "with --inducing-file, whose rows are counted; leave out one of them");
  refuse(file, "selection", "with --inducing-file, which gives the inputs; leave out one of them");
  refuse(sets(o, "features.Z"), "selection",
         "with --set features.Z, which gives the inputs; leave out one of them");
  if (o.is_given("selection")) {
    const FeatureChoice features(o.features);
    refuse(!features.kind->around_inputs, "selection",
           fmt::format("with --features {}, which have no inducing inputs; leave it out, or use "
                       "--features points",
                       features.print()));
  }
  refuse(o.no_scale && o.scale != "none", "scale",
         "with --no-scale, which is --scale none; leave out one of them");
  for (const auto& text : o.tie) {
    const std::string path = split_assignment(text, "--tie").first;
    if (sets(o, path))
      throw InputError(
          fmt::format("--set {0} has no effect with --tie {0}, which gives its value; set the "
                      "parameter that it is tied to",
                      path));
  }
}

}  // namespace covary
