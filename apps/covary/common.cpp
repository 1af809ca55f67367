#include "common.hpp"

#include <fmt/format.h>

#include <cmath>
#include <cstdio>

#include "covary/error.hpp"

namespace covary::cli {

void add_common(CLI::App& app, Common& common) {
  app.get_help_ptr()->group("Output");
  app.add_flag("--json", common.as_json, "Print exactly one JSON object")->group("Output");
  app.add_flag("--quiet", common.quiet, "No progress and no notes")->group("Output");
  app.add_option("--threads", common.threads,
                 "Threads to use, 0: all cores (default: COVARY_NUM_THREADS, else all cores)")
      ->check(CLI::Range(0, 4096))
      ->group("Output");
}

CLI::Validator at_least_one() {
  return {[](const std::string& text) {
            long long value = 0;
            return CLI::detail::lexical_cast(text, value) && value > 0
                       ? std::string()
                       : fmt::format("'{}' is not a whole number of at least 1", text);
          },
          "POSITIVE"};
}

CLI::Validator at_least_zero() {
  return {[](const std::string& text) {
            double value = 0.0;
            return CLI::detail::lexical_cast(text, value) && value >= 0.0
                       ? std::string()
                       : fmt::format("'{}' is not a number of at least 0", text);
          },
          "NONNEGATIVE"};
}

json finite(double v) { return std::isfinite(v) ? json(v) : json(nullptr); }

json finite(const Vector& v) {
  json out = json::array();
  for (const double x : v) out.push_back(finite(x));
  return out;
}

void tell(const Common& common, const std::string& line) {
  if (!common.quiet) fmt::print(stderr, "{}\n", line);
}

Tell teller(const Common& common) {
  return [&common](const std::string& line) { tell(common, line); };
}

}  // namespace covary::cli
