#include "covary/likelihoods/expression.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "covary/error.hpp"
#include "covary/likelihoods/likelihoods.hpp"
#include "covary/parameters/suggest.hpp"
#include "parameters/scanner.hpp"

namespace covary {
namespace {

const std::vector<std::string> names{"gaussian",    "bernoulli",         "student_t",  "binomial",
                                     "poisson",     "negative_binomial", "beta",       "gamma",
                                     "exponential", "ordinal",           "robust_max", "softmax",
                                     "one_vs_rest", "heteroscedastic",   "lgcp"};

class Parser : Scanner {
 public:
  Parser(const std::string& text, const LikelihoodTable& extra)
      : Scanner("likelihood", text), extra_(extra) {}

  Likelihood parse() {
    const std::size_t where = at();
    const std::string word = name();
    if (word.empty()) fail("expected the name of a likelihood, as in gaussian");
    check_name(word, where);
    arguments();
    expect_end();
    Likelihood out = build(word, where);
    if (link_) fail_at(link_where_, fmt::format("{} has no link to choose", word));
    if (bare_) fail_at(bare_where_, fmt::format("{} takes no bare number; name it", word));
    if (!keys_.empty())
      fail_at(keys_.begin()->second.where,
              fmt::format("{} has no parameter '{}'", word, keys_.begin()->first));
    return out;
  }

 private:
  struct Key {
    double value;
    std::size_t where;
  };

  void check_name(const std::string& word, std::size_t where) const {
    auto all = names;
    for (const auto& [own, make] : extra_) all.push_back(own);
    if (std::find(all.begin(), all.end(), word) != all.end()) return;
    fail_at(where, fmt::format("unknown likelihood '{}'{}; likelihoods are: {}", word,
                               did_you_mean(word, all), fmt::join(all, ", ")));
  }

  void arguments() {
    if (!accept('(')) return;
    if (accept(')')) return;
    do {
      const std::size_t where = at();
      if (number_next()) {
        if (bare_) fail_at(where, "one bare number is enough");
        bare_ = number();
        bare_where_ = where;
        continue;
      }
      const std::string word = name();
      if (word == "logit" || word == "probit") {
        if (link_) fail_at(where, "the link is given twice");
        link_ = word == "logit" ? Link::logit : Link::probit;
        link_where_ = where;
      } else if (!word.empty() && accept('=')) {
        if (keys_.count(word)) fail_at(where, fmt::format("{} is given twice", word));
        keys_[word] = {number(), where};
      } else {
        fail_at(where, word.empty() ? "expected an argument"
                                    : fmt::format("'{}' is neither a link{} nor key=number", word,
                                                  did_you_mean(word, {"logit", "probit"})));
      }
    } while (accept(','));
    if (!accept(')')) fail("expected ')' to close the arguments");
  }

  Given take(const std::string& key) {
    const auto found = keys_.find(key);
    if (found == keys_.end()) return {};
    const double value = found->second.value;
    keys_.erase(found);
    return value;
  }
  Link take_link() {
    const Link out = link_.value_or(Link::logit);
    link_.reset();
    return out;
  }
  Index take_classes(const std::string& word, std::size_t where) {
    if (!bare_ || *bare_ != std::floor(*bare_) || *bare_ < 2.0 || *bare_ > 1e6)
      fail_at(bare_ ? bare_where_ : where,
              fmt::format("{0} needs the number of classes, as in {0}(3)", word));
    const auto out = static_cast<Index>(*bare_);
    bare_.reset();
    return out;
  }

  Likelihood build(const std::string& word, std::size_t where) {
    if (const auto own = extra_.find(word); own != extra_.end()) return own->second();
    try {
      return built_in(word, where);
    } catch (const InputError& e) {
      fail_at(where, e.what());
    }
  }
  Likelihood built_in(const std::string& word, std::size_t where) {
    if (word == "gaussian") return gaussian_likelihood(take("variance"));
    if (word == "heteroscedastic") return heteroscedastic_likelihood(take("variance"));
    if (word == "bernoulli") return bernoulli_likelihood(take_link());
    if (word == "poisson") return poisson_likelihood();
    if (word == "lgcp") return lgcp_likelihood(take("volume"));
    if (word == "negative_binomial") return negative_binomial_likelihood(take("shape"));
    if (word == "beta") return beta_likelihood(take("concentration"));
    if (word == "gamma") return gamma_likelihood(take("shape"));
    if (word == "exponential") return exponential_likelihood();
    if (word == "ordinal") return ordinal_likelihood(take_classes(word, where));
    if (word == "softmax") return softmax_likelihood(take_classes(word, where));
    if (word == "one_vs_rest") {
      const Index classes = take_classes(word, where);
      return one_vs_rest_likelihood(classes, take_link());
    }
    if (word == "robust_max") {
      const Index classes = take_classes(word, where);
      return robust_max_likelihood(classes, take("epsilon"));
    }
    if (word == "student_t") {
      const Given scale = take("scale");
      return student_t_likelihood(scale, take("degrees"));
    }
    const Link link = take_link();  // binomial
    return binomial_likelihood(link, take("trials"));
  }

  const LikelihoodTable& extra_;
  std::optional<Link> link_;
  std::optional<double> bare_;
  std::map<std::string, Key> keys_;
  std::size_t link_where_ = 0, bare_where_ = 0;
};

}  // namespace

Likelihood parse_likelihood(const std::string& text, const LikelihoodTable& extra) {
  if (text.size() > 10000) throw ExpressionError("the likelihood is longer than 10000 characters");
  return Parser(text, extra).parse();
}

std::optional<std::string> with_classes(const std::string& expression, Index classes) {
  const auto bracket = expression.find('(');
  const std::string word = expression.substr(0, bracket);
  if (word != "softmax" && word != "robust_max" && word != "one_vs_rest" && word != "ordinal")
    return std::nullopt;
  if (bracket == std::string::npos) return fmt::format("{}({})", word, classes);
  const std::string rest = expression.substr(bracket + 1);
  if (rest.find_first_of("0123456789") == rest.find_first_not_of(' ')) return std::nullopt;
  return fmt::format("{}({}, {}", word, classes, rest);
}

std::vector<std::string> likelihood_examples() {
  return {"gaussian",
          "student_t",
          "heteroscedastic",
          "bernoulli(logit)",
          "bernoulli(probit)",
          "binomial",
          "ordinal(3)",
          "softmax(3)",
          "robust_max(3)",
          "one_vs_rest(3)",
          "poisson",
          "negative_binomial",
          "lgcp",
          "beta",
          "gamma",
          "exponential"};
}

}  // namespace covary
