#include "inference/posterior_arrays.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include "covary/error.hpp"

namespace covary {

using nlohmann::json;

void check_size(const Container& c, Index rows, Index dims, Index outputs) {
  if (rows == 0 || dims == 0 || outputs == 0)
    throw FileError(
        fmt::format("{} holds a model of {} rows, {} inputs and {} outputs: no rows or "
                    "no columns",
                    c.source, rows, dims, outputs));
  const double n = static_cast<double>(rows), bytes = 8.0 * n * n,
               memory = static_cast<double>(::sysconf(_SC_PHYS_PAGES)) *
                        static_cast<double>(::sysconf(_SC_PAGESIZE));
  if (bytes > memory)
    throw FileError(
        fmt::format("{} holds an exact model of {} rows, whose factor takes {:.3g} GB: more than "
                    "the memory of this machine, {:.3g} GB",
                    c.source, rows, bytes / 1e9, memory / 1e9));
}

Matrix get_factor(const Container& c, const std::string& name, Index M) {
  Matrix L = c.matrix(name, M, M);
  for (Index k = 0; k < M; ++k) {
    if (!(L(k, k) > 0.0) || !L.col(k).allFinite())
      throw FileError(fmt::format("{}: {} is not a covariance factor", c.source, name));
    L.col(k).head(k).setZero();
  }
  return L;
}

void check_finite(const Container& c, bool finite) {
  if (!finite) throw FileError(fmt::format("{} holds values that are not finite", c.source));
}

std::string numbered(const char* of, std::size_t i, const char* name) {
  return fmt::format("{}{}.{}", of, i, name);
}

std::vector<Kernel> get_kernels(const Container& c, const json& j) {
  constexpr std::size_t most = 10000;
  const auto n = j.size();
  if (!j.is_array() || n == 0 || n > most)
    throw FileError(fmt::format("{} cannot have {} kernels", c.source, n));
  std::vector<Kernel> out;
  for (std::size_t i = 0; i < n; ++i)
    out.push_back(i > 0 && j.at(i) == j.at(i - 1) ? out.back()
                                                  : Kernel(j.at(i).get<std::string>()));
  return out;
}

namespace {

struct Kind {
  std::string_view name;
  Posterior (*restore)(const Container& c, const json& j);
};
constexpr Kind kinds[] = {{"exact", restore_exact},
                          {"factors", restore_factors},
                          {"rows", restore_rows},
                          {"joint", restore_joint},
                          {"inducing", restore_inducing}};

// Files of before say it by what they hold.
std::string kind_in(const json& j) {
  if (j.contains("posterior")) return j.at("posterior").get<std::string>();
  if (j.contains("functions")) return j.at("functions").get<std::string>();
  const auto model = j.at("model").get<std::string>();
  return model != "exact" && j.contains("features") ? "factors" : model;
}

}  // namespace

void put_posterior(const Posterior& posterior, Container& c, json& j) {
  Archive to{c, j};
  posterior.store(to);
}

Container Posterior::stored() const {
  Container c;
  json j;
  put_posterior(*this, c, j);
  c.metadata = j.dump();
  return c;
}

Posterior restore_posterior(const Container& from) {
  try {
    return get_posterior(from, json::parse(from.metadata));
  } catch (const json::exception& e) {
    throw FileError(fmt::format("{} is not a usable posterior: {}", from.source, e.what()));
  }
}

Posterior get_posterior(const Container& c, const json& j) {
  const std::string kind = kind_in(j);
  for (const Kind& k : kinds)
    if (k.name == kind) return k.restore(c, j);
  throw FileError(
      fmt::format("{} holds a model of kind '{}', which this build does not know", c.source, kind));
}

}  // namespace covary
