#include <fmt/format.h>

#include <thread>

#include "common.hpp"
#include "covary/linalg/blas_info.hpp"
#include "covary/linalg/parallel.hpp"
#include "covary/linalg/vector_math.hpp"
#include "covary/models/memory.hpp"
#include "covary/storage/container.hpp"

namespace covary::cli {
namespace {

std::string compiler() {
#ifdef __clang__
  return "clang " __clang_version__;
#else
  return "gcc " __VERSION__;
#endif
}

Outcome run_doctor() {
  const BlasInfo blas = blas_info();
  Outcome out;
  out.object = {
      {"version", COVARY_VERSION},
      {"build", COVARY_BUILD_TYPE},
      {"compiler", compiler()},
      {"format_version", kFormatVersion},
      {"blas",
       {{"name", blas.name},
        {"config", blas.config},
        {"core", blas.core},
        {"better_core", blas.better_core},
        {"threads", blas.threads}}},
      {"threads", threads()},
      {"cores", std::thread::hardware_concurrency()},
      {"simd", simd_level()},
      {"memory",
       {{"total_bytes", finite(total_memory())}, {"available_bytes", finite(available_memory())}}},
      {"mpi", nullptr}};
  const auto row = [&](const char* name, const std::string& value) {
    out.text += fmt::format("{:<10} {}\n", name, value);
  };
  row("version", fmt::format("{} ({}), model files of format {}", COVARY_VERSION, COVARY_BUILD_TYPE,
                             kFormatVersion));
  row("compiler", compiler());
  row("BLAS", fmt::format("{}, routines for {}, {} thread", blas.name, blas.core, blas.threads));
  if (!blas.better_core.empty())
    row("", fmt::format("it does not know this processor: OPENBLAS_CORETYPE={} in the environment "
                        "makes products two to three times faster",
                        blas.better_core));
  row("threads", fmt::format("{} of {} cores", threads(), std::thread::hardware_concurrency()));
  row("SIMD", simd_level());
  row("memory", fmt::format("{} available of {}", memory::in_gigabytes(available_memory()),
                            memory::in_gigabytes(total_memory())));
  row("MPI", "not used by this version");
  return out;
}

}  // namespace

std::string version_text() {
  return fmt::format("covary {}\n{}, {}, {}, SIMD {}, model files of format {}", COVARY_VERSION,
                     COVARY_BUILD_TYPE, compiler(), blas_info().name, simd_level(), kFormatVersion);
}

void add_doctor(CLI::App& app, std::vector<std::unique_ptr<Verb>>& verbs) {
  auto* sub = app.add_subcommand("doctor", "Show what this build uses of this machine");
  auto verb = std::make_unique<Verb>();
  sub->footer("Example:\n  covary doctor");
  add_common(*sub, verb->common);
  verb->app = sub;
  verb->run = [](const Common&) { return run_doctor(); };
  verbs.push_back(std::move(verb));
}

}  // namespace covary::cli
