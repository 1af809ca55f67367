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

void check_question(const TableQuestion& q, const std::vector<std::string>& given) {
  const auto is_given = [&](const char* option) {
    return std::find(given.begin(), given.end(), option) != given.end();
  };
  if (!(q.threshold > 0.0 && q.threshold < 1.0))
    throw InputError(fmt::format("--threshold must lie between 0 and 1, got {}", q.threshold));
  if (q.steps == 0 && is_given("propagation")) throw InputError("--propagation needs --steps");
  const bool draws = q.steps > 0 && q.propagation == "draws";
  if (is_given("draws") && !draws)
    throw InputError("--draws needs --steps and --propagation draws");
  if (is_given("seed") && !draws && q.parameter_draws == 0)
    throw InputError("--seed needs --steps with --propagation draws, or --parameter-draws");
  if (is_given("loss") && is_given("threshold"))
    throw InputError("give either --loss or --threshold, not both");
  if (is_given("loss") && q.steps > 0) throw Unsupported("--loss is not available with --steps");
}

}  // namespace covary
