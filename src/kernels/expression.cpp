#include "covary/kernels/expression.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "covary/error.hpp"
#include "covary/kernels/kernels.hpp"
#include "covary/parameters/suggest.hpp"
#include "parameters/scanner.hpp"

namespace covary {
namespace {

// What stood between a kernel's brackets, and where.
struct Arguments {
  struct Key {
    std::vector<double> values;
    std::size_t where = 0;
  };
  bool ard = false;
  std::vector<double> positional;
  std::map<std::string, Key> keys;
  std::vector<Index> dims;
  std::optional<Kernel> inner;
};

class Parser : Scanner {
 public:
  Parser(const std::string& text, const KernelTable& extra)
      : Scanner("kernel expression", text), extra_(extra) {}

  Kernel parse() {
    if (at_end()) fail("the expression is empty; write for example se(ard)");
    const Operand k = expression();
    expect_end();
    return kernel_of(k, 0);
  }

 private:
  // A factor is a kernel or a bare number waiting for one.
  struct Operand {
    std::optional<Kernel> kernel;
    double number = 1.0;
  };

  void expect(char c, const char* after) {
    if (!accept(c)) fail(fmt::format("expected '{}' {}, found {}", c, after, found()));
  }
  Index column() { return integer(1000000, "expected a column number from 0"); }
  // After a comma inside a list: is the next thing another number rather than the next argument?
  bool accept_list_comma() {
    const std::size_t back = at();
    if (accept(',') && number_next()) return true;
    back_to(back);
    return false;
  }
  std::vector<Index> columns() {
    std::vector<Index> out;
    do {
      const std::size_t where = at();
      const Index first = column();
      Index end = first + 1;
      if (accept(':')) end = column();
      if (end <= first) fail_at(where, fmt::format("the range {}:{} is empty", first, end));
      if (end - first + static_cast<Index>(out.size()) > 100000)
        fail_at(where, fmt::format("the range {}:{} is too long", first, end));
      for (Index d = first; d < end; ++d) out.push_back(d);
    } while (accept_list_comma());
    return out;
  }

  Kernel kernel_of(const Operand& o, std::size_t where) const {
    if (!o.kernel) fail_at(where, "a number by itself is not a kernel; write constant");
    return *o.kernel;
  }
  Operand expression() {
    if (++depth_ > 64) fail("brackets are nested too deeply");
    std::size_t where = at();
    Operand left = term();
    while (accept('+')) {
      const Kernel a = kernel_of(left, where);
      where = at();
      left = {a + kernel_of(term(), where)};
    }
    --depth_;
    return left;
  }
  // Numbers are gathered in front: 0.5*se*2 is (0.5·2)·se.
  Operand term() {
    double scale = 1.0;
    bool scaled = false;
    std::optional<Kernel> kernel;
    do {
      const std::size_t where = at();
      const Operand f = factor();
      if (!f.kernel) {
        if (!(f.number > 0.0)) fail_at(where, "a kernel can only be scaled by a positive number");
        scale *= f.number;
        scaled = true;
      } else {
        kernel = kernel ? *kernel * *f.kernel : *f.kernel;
      }
    } while (accept('*'));
    if (!kernel) return {std::nullopt, scale};
    return {scaled ? scale * *kernel : *kernel};
  }
  Operand factor() {
    Operand out;
    const std::size_t where = at();
    if (accept('(')) {
      out = expression();
      expect(')', "to close the bracket");
    } else if (number_next()) {
      out.number = number();
    } else {
      out.kernel = call();
    }
    while (accept('@')) {
      count();
      out = {restrict(kernel_of(out, where), columns(), where)};
    }
    return out;
  }
  Kernel restrict(const Kernel& k, std::vector<Index> dims, std::size_t where) const {
    try {
      return on_dims(k, std::move(dims));
    } catch (const InputError& e) {
      fail_at(where, e.what());
    }
  }

  // Copies, prints and destructors of a kernel recurse or are quadratic: their size is bounded.
  void count() {
    if (++kernels_ > 1000) fail("the expression has more than 1000 kernels");
  }

  Arguments arguments() {
    Arguments out;
    if (!accept('(')) return out;
    if (accept(')')) return out;
    do {
      const std::size_t where = at();
      if (number_next()) {
        const double value = number();
        if (at_end() || next_is(',') || next_is(')')) {
          out.positional.push_back(value);
          continue;
        }
        back_to(where);  // a kernel that begins with its scale
      }
      const std::string word = name();
      if (word == "ard") {
        out.ard = true;
      } else if (!word.empty() && accept('=')) {
        if (word == "dims" ? !out.dims.empty() : out.keys.count(word) > 0)
          fail_at(where, fmt::format("{} is given twice", word));
        if (word == "dims") {
          out.dims = columns();
        } else {
          auto& key = out.keys[word];
          key.where = where;
          do key.values.push_back(number());
          while (accept_list_comma());
        }
      } else {
        if (out.inner) fail_at(where, "one kernel is enough here; join them with + or *");
        back_to(where);
        out.inner = kernel_of(expression(), where);
      }
    } while (accept(','));
    expect(')', "to close the arguments");
    return out;
  }

  Kernel call() {
    const std::size_t where = at();
    const std::string word = name();
    if (word.empty()) fail("expected a kernel name, found " + found());
    if (!known(word)) {
      const auto names = all_names();
      fail_at(where, fmt::format("unknown kernel '{}'{}; kernels are: {}", word,
                                 did_you_mean(word, names), fmt::join(names, ", ")));
    }
    count();
    Arguments a = arguments();
    Kernel k = build(word, a, where);
    return a.dims.empty() ? k : restrict(k, a.dims, where);
  }

  // A key's values, removed from `a`; both the singular and the plural are understood. `hint` says
  // how to give more than one where that is possible.
  std::vector<double> take(Arguments& a, const std::string& key, bool several,
                           const std::string& hint = "") const {
    const auto one = a.keys.find(key), many = a.keys.find(key + "s");
    const auto found = one != a.keys.end() ? one : many;
    if (found == a.keys.end()) return {};
    if (found != many && many != a.keys.end())
      fail_at(many->second.where, fmt::format("{} is given twice", key));
    const auto [values, where] = found->second;
    if (values.size() > 1 && !several)
      fail_at(where, fmt::format("{} takes one value, got {}{}", key, values.size(), hint));
    a.keys.erase(found);
    return values;
  }
  std::optional<double> take_one(Arguments& a, const std::string& key) const {
    const auto values = take(a, key, false);
    return values.empty() ? std::nullopt : std::optional(values[0]);
  }

  Kernel build(const std::string& word, Arguments& a, std::size_t where) const {
    for (const auto& [name, key] : a.keys)
      for (const double v : key.values)
        if (!(v > 0.0)) fail_at(key.where, fmt::format("{} must be positive, got {}", name, v));
    const bool ard = a.ard;
    const std::string each = fmt::format("; write {}(ard, …) for one each dimension", word);
    std::optional<Kernel> out;
    if (const auto user = extra_.find(word); user != extra_.end()) {
      out = user->second();
    } else if (word == "additive") {
      if (!a.inner) fail_at(where, "additive needs a kernel, as in additive(se)");
      out = additive(*a.inner);
      a.inner.reset();
    } else if (word == "poly") {
      if (a.positional.size() != 1 || a.positional[0] != std::floor(a.positional[0]) ||
          a.positional[0] < 1 || a.positional[0] > 20)
        fail_at(where, "poly needs a whole degree from 1 to 20, as in poly(2)");
      out = polynomial(static_cast<int>(a.positional[0]), take_one(a, "variance"),
                       take_one(a, "offset"));
      a.positional.clear();
    } else if (word == "constant") {
      out = constant(take_one(a, "variance"));
    } else if (word == "overlap") {
      out = overlap(take_one(a, "variance"));
    } else if (word == "lowrank") {
      if (a.positional.size() != 1 || a.positional[0] != std::floor(a.positional[0]) ||
          a.positional[0] < 1 || a.positional[0] > 100)
        fail_at(where, "lowrank needs a whole rank from 1 to 100, as in lowrank(2)");
      out = lowrank(static_cast<Index>(a.positional[0]), take_one(a, "own"));
      a.positional.clear();
    } else if (word == "white") {
      out = white(take_one(a, "variance"));
    } else if (word == "linear") {
      a.ard = false;
      out = linear(ard, take(a, "variance", ard, each));
    } else if (word == "cosine") {
      a.ard = false;
      const auto variance = take_one(a, "variance");
      out = cosine(variance, take(a, "period", ard, each), ard);
    } else {
      a.ard = false;
      Start start{take_one(a, "variance"), take(a, "lengthscale", ard, each)};
      if (word == "se" || word == "rbf") out = se(ard, start);
      if (word == "matern12") out = matern12(ard, start);
      if (word == "matern32") out = matern32(ard, start);
      if (word == "matern52") out = matern52(ard, start);
      if (word == "rq") out = rq(ard, start, take_one(a, "alpha"));
      if (word == "periodic") out = periodic(ard, start, take_one(a, "period"));
    }
    if (a.ard)
      fail_at(where, fmt::format("{} has no lengthscale for each dimension; drop 'ard'", word));
    if (!a.keys.empty())
      fail_at(a.keys.begin()->second.where,
              fmt::format("{} has no parameter '{}'", word, a.keys.begin()->first));
    if (!a.positional.empty())
      fail_at(where, fmt::format("{} takes no bare number; name it, as in lengthscale={}", word,
                                 a.positional[0]));
    if (a.inner) fail_at(where, fmt::format("{} takes no kernel as an argument", word));
    return *out;
  }

  static std::vector<std::string> built_in() {
    return {"se",     "rbf",  "matern12", "matern32", "matern52", "rq",      "periodic", "cosine",
            "linear", "poly", "constant", "white",    "additive", "overlap", "lowrank"};
  }
  std::vector<std::string> all_names() const {
    auto names = built_in();
    for (const auto& [name, make] : extra_) names.push_back(name);
    return names;
  }
  bool known(const std::string& word) const {
    const auto names = all_names();
    return std::find(names.begin(), names.end(), word) != names.end();
  }

  const KernelTable& extra_;
  int depth_ = 0;
  int kernels_ = 0;
};

}  // namespace

Kernel parse_kernel(const std::string& text, const KernelTable& extra) {
  if (text.size() > 100000)
    throw ExpressionError("the kernel expression is longer than 100000 characters");
  return Parser(text, extra).parse();
}

}  // namespace covary
