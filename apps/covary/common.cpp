#include "common.hpp"

#include <fmt/format.h>

#include <cmath>
#include <cstdio>
#include <filesystem>

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

json finite(double v) { return std::isfinite(v) ? json(v) : json(nullptr); }

json finite(const Vector& v) {
  json out = json::array();
  for (const double x : v) out.push_back(finite(x));
  return out;
}

Header parse_header(const std::string& text) {
  if (text == "yes") return Header::yes;
  if (text == "no") return Header::no;
  return Header::detect;
}

void check_folder(const std::string& out) {
  if (out.empty()) return;
  const auto folder = std::filesystem::absolute(out).parent_path();
  if (!std::filesystem::is_directory(folder))
    throw FileError(fmt::format("cannot write '{}': there is no folder '{}'; make it first", out,
                                folder.string()));
}

void tell(const Common& common, const std::string& line) {
  if (!common.quiet) fmt::print(stderr, "{}\n", line);
}

}  // namespace covary::cli
