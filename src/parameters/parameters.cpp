#include "covary/parameters/parameters.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "covary/error.hpp"
#include "covary/parameters/suggest.hpp"

namespace covary {
namespace {

bool below(const std::string& path, const std::string& prefix) {
  return path.size() > prefix.size() && path.compare(0, prefix.size(), prefix) == 0 &&
         path[prefix.size()] == '.';
}

// "kernel.lengthscale" for "kernel.lengthscales" and the other way round.
bool same_but_for_plural(const std::string& a, const std::string& b) {
  return a + "s" == b || b + "s" == a;
}

}  // namespace

void Parameters::add(Parameter p) {
  if (contains(p.path)) throw InputError(fmt::format("parameter '{}' exists already", p.path));
  if (p.value.size() == 0) throw InputError(fmt::format("parameter '{}' has no entries", p.path));
  p.transform.unconstrain(p.value, p.path);
  // Neither extent may exceed the entries, so that the product cannot overflow, whoever made them
  // up.
  const Index n = p.value.size();
  const bool fits = p.rows > 0 && p.cols > 0 && p.rows <= n && p.cols <= n && p.rows * p.cols == n;
  if (!fits && p.transform.kind() != Transform::Kind::lower_triangular) p.rows = n, p.cols = 1;
  list_.push_back(std::move(p));
}

std::vector<std::size_t> Parameters::match(const std::string& path) const {
  std::vector<std::size_t> found;
  for (std::size_t i = 0; i < list_.size(); ++i)
    if (list_[i].path == path || below(list_[i].path, path)) found.push_back(i);
  if (found.empty())
    for (std::size_t i = 0; i < list_.size(); ++i)
      if (same_but_for_plural(list_[i].path, path)) found.push_back(i);
  if (found.empty()) {
    std::vector<std::string> names;
    for (const auto& p : list_) names.push_back(p.path);
    throw InputError(fmt::format("no parameter '{}'{}; choose from {}", path,
                                 did_you_mean(path, names), fmt::join(names, ", ")));
  }
  return found;
}

std::size_t Parameters::find(const std::string& path) const {
  const auto found = match(path);
  if (found.size() > 1)
    throw InputError(fmt::format("'{}' names {} parameters, the first two {} and {}; name one",
                                 path, found.size(), list_[found[0]].path, list_[found[1]].path));
  return found.front();
}

bool Parameters::contains(const std::string& path) const {
  return std::any_of(list_.begin(), list_.end(), [&](const auto& p) { return p.path == path; });
}

const Parameter& Parameters::at(const std::string& path) const { return list_[find(path)]; }

Index Parameters::offset(const std::string& path) const {
  Index at = 0;
  for (std::size_t i = 0, last = find(path); i < last; ++i) at += list_[i].value.size();
  return at;
}

void Parameters::set(const std::string& path, ConstVector value) {
  Parameter& p = list_[find(path)];
  if (!p.tied_to.empty())
    throw InputError(fmt::format("{} is tied to {}; set that one", p.path, p.tied_to));
  if (value.size() != 1 && value.size() != p.value.size())
    throw InputError(
        fmt::format("{} has {} entries, got {} values", p.path, p.value.size(), value.size()));
  Vector full = value.size() == 1 ? Vector::Constant(p.value.size(), value(0)) : Vector(value);
  // A value asked for beneath the default floor of a positive parameter lowers the floor.
  Transform transform = p.transform;
  if (transform.kind() == Transform::Kind::positive) {
    const double least = full.minCoeff();
    if (least > 0.0 && least <= transform.low())
      transform = Transform::positive(transform.high(), 0.5 * least);
    if (!(least > 0.0)) throw InputError(fmt::format("{} must be positive, got {}", p.path, least));
  }
  transform.unconstrain(full, p.path);
  p.transform = transform;
  p.value = std::move(full);
  set_values(values());  // tied ones follow
}

void Parameters::set(const std::string& path, double value) {
  set(path, Vector::Constant(1, value));
}

void Parameters::set_trainable(const std::string& path, bool trainable) {
  for (const auto i : match(path)) list_[i].trainable = trainable;
}

void Parameters::set_prior(const std::string& path, const Prior& prior) {
  for (const auto i : match(path)) {
    for (const double v : list_[i].value)
      if (!std::isfinite(prior.log_density(v)))
        throw InputError(fmt::format("prior {} gives no density to {} = {}", prior.describe(),
                                     list_[i].path, v));
    list_[i].prior = prior;
  }
}

void Parameters::set_bounds(const std::string& path, double low, double high) {
  const Transform range = Transform::bounded(low, high);
  const auto found = match(path);
  for (const auto i : found) {
    const Parameter& p = list_[i];
    const auto kind = p.transform.kind();
    if (kind == Transform::Kind::positive && low < 0.0)
      throw InputError(fmt::format("{} is positive; its lower bound cannot be {}", p.path, low));
    if (kind == Transform::Kind::lower_triangular || kind == Transform::Kind::ordered)
      throw InputError(
          fmt::format("{} is {} and cannot have bounds", p.path, p.transform.describe()));
  }
  for (const auto i : found) {
    Parameter& p = list_[i];
    p.transform = range;
    for (double& v : p.value)  // a start outside moves inside, away from the flat ends
      if (!(v > low && v < high))
        v = v <= low ? low + 0.1 * (high - low) : high - 0.1 * (high - low);
  }
  set_values(values());
}

void Parameters::tie(const std::string& path, const std::string& target, double ratio) {
  Parameter& p = list_[find(path)];
  const Parameter& t = list_[find(target)];
  if (!std::isfinite(ratio) || ratio == 0.0)
    throw InputError(
        fmt::format("tie of {}: ratio must be finite and not zero, got {}", path, ratio));
  if (p.value.size() != t.value.size())
    throw InputError(fmt::format("cannot tie {} ({} entries) to {} ({} entries)", p.path,
                                 p.value.size(), t.path, t.value.size()));
  const std::string root = t.tied_to.empty() ? t.path : t.tied_to;
  const double whole = t.tied_to.empty() ? ratio : ratio * t.ratio;
  if (root == p.path) throw InputError(fmt::format("{} cannot be tied to itself", p.path));
  p.transform.unconstrain(whole * at(root).value, p.path + " as tied");
  p.tied_to = root;
  p.ratio = whole;
  for (auto& other : list_)  // followers of p now follow the root
    if (other.tied_to == p.path) other.tied_to = root, other.ratio *= whole;
  set_values(values());
}

void Parameters::untie(const std::string& path) {
  for (const auto i : match(path)) list_[i].tied_to.clear(), list_[i].ratio = 1.0;
}

Index Parameters::size() const {
  Index n = 0;
  for (const auto& p : list_) n += p.value.size();
  return n;
}

Index Parameters::free_size() const {
  Index n = 0;
  for (const auto& p : list_)
    if (is_free(p)) n += p.value.size();
  return n;
}

void Parameters::follow(Vector& values) const {
  Index at = 0;
  for (const auto& p : list_) {
    if (!p.tied_to.empty())
      values.segment(at, p.value.size()) =
          p.ratio * values.segment(offset(p.tied_to), p.value.size());
    at += p.value.size();
  }
}

Vector Parameters::values() const {
  Vector v(size());
  Index at = 0;
  for (const auto& p : list_) v.segment(at, p.value.size()) = p.value, at += p.value.size();
  follow(v);
  return v;
}

void Parameters::set_values(ConstVector values) {
  if (values.size() != size())
    throw InputError(fmt::format("expected {} parameter values, got {}", size(), values.size()));
  Vector v = values;
  follow(v);
  Index at = 0;
  for (auto& p : list_) p.value = v.segment(at, p.value.size()), at += p.value.size();
}

Vector Parameters::flatten() const {
  Vector u(free_size());
  Index at = 0;
  for (const auto& p : list_)
    if (is_free(p)) {
      u.segment(at, p.value.size()) = p.transform.unconstrain(p.value, p.path);
      at += p.value.size();
    }
  return u;
}

void Parameters::check_free(ConstVector u) const {
  if (u.size() != free_size())
    throw InputError(fmt::format("expected {} free values, got {}", free_size(), u.size()));
}

Vector Parameters::constrain(ConstVector u) const {
  check_free(u);
  Vector v(size());
  Index at = 0, from = 0;
  for (const auto& p : list_) {
    const Index n = p.value.size();
    if (is_free(p)) {
      v.segment(at, n) = p.transform.constrain(u.segment(from, n));
      from += n;
    } else {
      v.segment(at, n) = p.value;
    }
    at += n;
  }
  follow(v);
  return v;
}

Vector Parameters::pullback(ConstVector u, ConstVector values_bar) const {
  check_free(u);
  Vector with_tied;  // where some are
  Index at = 0;
  for (const auto& p : list_) {
    const Index n = p.value.size();
    if (!p.tied_to.empty()) {
      if (with_tied.size() == 0) with_tied = values_bar;
      with_tied.segment(offset(p.tied_to), n) += p.ratio * values_bar.segment(at, n);
    }
    at += n;
  }
  const double* bar = with_tied.size() ? with_tied.data() : values_bar.data();
  Vector g(free_size());
  Index from = 0;
  at = 0;
  for (const auto& p : list_) {
    const Index n = p.value.size();
    if (is_free(p)) {
      g.segment(from, n) =
          p.transform.pullback(u.segment(from, n), Eigen::Map<const Vector>(bar + at, n));
      from += n;
    }
    at += n;
  }
  return g;
}

double Parameters::log_prior(ConstVector values, Vector* values_bar) const {
  double sum = 0.0;
  Index at = 0;
  for (const auto& p : list_) {
    if (!p.prior || !p.tied_to.empty()) {
      at += p.value.size();
      continue;
    }
    for (Index k = 0; k < p.value.size(); ++k, ++at) {
      sum += p.prior->log_density(values(at));
      if (values_bar) (*values_bar)(at) += p.prior->slope(values(at));
    }
  }
  return sum;
}

std::vector<std::string> Parameters::free_names() const {
  std::vector<std::string> names;
  for (const auto& p : list_)
    if (is_free(p))
      for (Index k = 0; k < p.value.size(); ++k)
        names.push_back(p.value.size() == 1 ? p.path : fmt::format("{}[{}]", p.path, k));
  return names;
}

std::string Parameters::table(const Vector* standard_errors) const {
  constexpr Index most_lines = 40;  // of one parameter; the range of more, such as inducing inputs
  std::string out =
      fmt::format("{:<26} {:>13} {:>11} {:<16} {:<18} {:<9} {:<22} {}\n", "name", "value",
                  standard_errors ? "s.e." : "", "transform", "prior", "trainable", "tie", "shape");
  Index free = 0;
  for (const auto& p : list_) {
    const Index n = p.value.size();
    const bool range = n > most_lines;
    for (Index k = 0; k < (range ? 1 : n); ++k) {
      const bool has_error =
          !range && standard_errors && is_free(p) && std::isfinite((*standard_errors)(free));
      out += fmt::format(
          "{:<26} {:>13} {:>11} {:<16} {:<18} {:<9} {:<22} {}\n",
          n == 1 || range ? p.path : fmt::format("{}[{}]", p.path, k),
          range ? fmt::format("{:.3g}…{:.3g}", p.value.minCoeff(), p.value.maxCoeff())
                : fmt::format("{:.6g}", p.value(k)),
          has_error ? fmt::format("{:.3g}", (*standard_errors)(free)) : "", p.transform.describe(),
          p.prior ? p.prior->describe() : "-", p.trainable ? "yes" : "fixed",
          p.tied_to.empty() ? "-" : fmt::format("{}*{}", p.ratio, p.tied_to),
          n == 1 ? "scalar" : fmt::format("{}x{}", p.rows, p.cols));
      if (is_free(p)) free += range ? n : 1;
    }
  }
  return out;
}

}  // namespace covary
