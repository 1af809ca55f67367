// What --model names, in one place: expressions with a number in brackets, `auto`, and typos.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>

#include "covary/error.hpp"
#include "covary/models/table.hpp"
#include "covary/parameters/suggest.hpp"

namespace covary {
namespace {

constexpr Index most_dense_rows = 2000;

bool contains(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// "pep(0.5)" is "pep" with 0.5; nothing for other expressions.
std::optional<std::pair<std::string, double>> with_power(const std::string& text) {
  for (const ModelEntry& e : model_table()) {
    const std::string& name = e.name;
    if (e.power == Power::none || !text.starts_with(name + "(") || !text.ends_with(")")) continue;
    double power = 0.0;
    const char *first = text.data() + name.size() + 1, *last = text.data() + text.size() - 1;
    const auto [stop, error] = std::from_chars(first, last, power);
    if (error != std::errc{} || stop != last)
      throw InputError(
          fmt::format("cannot read the power of '{}'; write for example {}(0.5)", text, name));
    if (!(power > 0.0 && power <= 1.0))
      throw InputError(fmt::format(
          "power-EP takes a power α with 0 < α ≤ 1, got {}; the limit α → 0 is vfe, α = 1 is fitc",
          power));
    return std::pair(name, power);
  }
  return std::nullopt;
}

// Names that people search for, as lower-case letters and digits, and what does the same here.
constexpr std::pair<const char*, const char*> searched[] = {
    {"gp", "exact"},
    {"gpr", "exact"},
    {"kriging", "exact"},
    {"sgp", "vfe"},
    {"sgpr", "vfe"},
    {"titsias", "vfe"},
    {"nystrom", "sor"},
    {"nystrm", "sor"},  // with ö
    {"spgp", "fitc"},
    {"rff", "sor with --features rff"},
    {"ssgp", "sor with --features ssgp"},
    {"hilbert", "sor with --features hilbert"},
    {"svi", "svgp"},
    {"gpc", "laplace"},
    {"sgpc", "svgp"},
    {"svm", "laplace or svgp"},
    {"vi", "vgp"},
    {"nigp", "noisy_inputs"},
    {"deep", "warped, of two layers"},
    {"deepgp", "warped, of two layers"},
    {"dgp", "warped, of two layers"},
    {"narx", "exact or vfe with --lags"},
    {"ar", "exact or vfe with --lags"},
    {"bgplvm", "gplvm"},
    {"bayesiangplvm", "gplvm"},
    {"vgpds", "gplvm with --dynamics"},
    {"gpdm", "map_gplvm with --dynamics"},
    {"pca", "ppca"}};

// What a name that people search for is called here, or nothing.
std::string known_here_as(const std::string& text) {
  std::string plain;
  for (const unsigned char c : text)
    if (std::isalnum(c)) plain += static_cast<char>(std::tolower(c));
  for (const auto& [name, here] : searched)
    if (plain == name) return fmt::format(" (use {})", here);
  return "";
}

const ModelEntry& entry_of(const std::string& name) {
  for (const ModelEntry& e : model_table())
    if (e.name == name && e.form == Form::plain) return e;
  throw Error("internal", "no model is called " + name);
}

}  // namespace

NamedModel parse_model(const std::string& text) {
  for (const ModelEntry& e : model_table())
    if (e.power == Power::required && text == e.name)
      throw InputError(fmt::format(
          "model '{}' needs its power α with 0 < α ≤ 1; write for example {}(0.5)", text, text));
  NamedModel out{text, {}, {}};
  const auto powered = with_power(text);
  const std::string& name = powered ? powered->first : text;
  if (powered) out.power = powered->second;
  std::vector<std::string> names{"auto"};
  for (const ModelEntry& e : model_table()) {
    if (e.targets == Targets::none || e.targets == Targets::classes
            ? name == e.name
            : name == "auto" || name == e.name || (name == e.aliases && !e.aliases.empty()))
      out.entries.push_back(&e);
    const std::string own = e.power == Power::required ? e.name + "(0.5)" : e.name;
    for (const std::string& n : {own, e.aliases})
      if (!n.empty() && !contains(names, n)) names.push_back(n);
  }
  if (out.entries.empty()) {
    const std::string here = known_here_as(text);
    throw InputError(fmt::format("unknown model '{}'{}; covary models lists them: {}", text,
                                 here.empty() ? did_you_mean(text, names) : here,
                                 fmt::join(names, ", ")));
  }
  return out;
}

std::vector<const ModelEntry*> auto_models(bool parametric_features) {
  return {&entry_of("exact"), &entry_of("laplace"), &entry_of(parametric_features ? "sor" : "vfe"),
          &entry_of("svgp")};
}

const ModelEntry& choose_model(const AutoChoice& data, const std::vector<std::string>& options,
                               bool parametric_features) {
  const auto all = auto_models(parametric_features);
  const ModelEntry& dense = *all[data.gaussian ? 0 : 1];
  const ModelEntry& sparse = *all[data.gaussian ? 2 : 3];
  const Index most = data.functions > 1 ? most_dense_rows / 2 : most_dense_rows;
  const bool possible =
      data.in_memory && data.rows <= most && (data.gaussian || (data.laplace && data.outputs == 1));
  const bool asked = std::any_of(options.begin(), options.end(), [&](const std::string& option) {
    return sparse.reads("fit", option) && !dense.reads("fit", option);
  });
  return possible && !asked ? dense : sparse;
}

std::string readers_of(const std::string& verb, const std::string& option) {
  const auto reads = [&](const ModelEntry& e) {
    return option.empty() ? e.takes(verb) : e.reads(verb, option);
  };
  std::vector<std::string> out;
  for (const ModelEntry& e : model_table()) {
    if (!reads(e)) continue;
    const bool whole =
        std::all_of(model_table().begin(), model_table().end(),
                    [&](const ModelEntry& o) { return o.written != e.written || reads(o); });
    // An option of training by minibatches is what chooses it.
    const bool chosen = verb == "fit" && e.form == Form::minibatches;
    const std::string name = whole || chosen ? e.written : e.label();
    if (!contains(out, name)) out.push_back(name);
  }
  if (out.size() < 2) return out.empty() ? "no model" : out.front();
  const std::string last = out.back();
  out.pop_back();
  return fmt::format("{} or {}", fmt::join(out, ", "), last);
}

}  // namespace covary
