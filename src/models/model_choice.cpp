#include "covary/models/model_choice.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "covary/error.hpp"
#include "covary/features/choice.hpp"
#include "covary/models/model_data.hpp"

namespace covary {
namespace {

using Entries = std::vector<const ModelEntry*>;

bool contains(const std::vector<std::string>& words, const std::string& word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

template <class Keep>
Entries kept(const Entries& entries, const Keep& keep) {
  Entries out;
  for (const ModelEntry* e : entries)
    if (keep(*e)) out.push_back(e);
  return out;
}

// Names of models, as "laplace, ep".
template <class Keep>
std::string names_of(const Keep& keep) {
  std::vector<std::string> out;
  for (const ModelEntry& e : model_table())
    if (keep(e) && !contains(out, e.written)) out.push_back(e.written);
  return fmt::format("{}", fmt::join(out, ", "));
}

[[noreturn]] void refuse_likelihood(const std::string& model, const std::string& likelihood) {
  throw Unsupported(fmt::format("--model {} does not take the likelihood '{}'; use {} or auto",
                                model, likelihood, names_of([](const ModelEntry& e) {
                                  return e.targets == Targets::any || e.targets == Targets::other;
                                })));
}

// Whether some model reads it, so that another may not.
bool depends_on_model(const std::string& verb, const std::string& option) {
  return std::any_of(model_table().begin(), model_table().end(),
                     [&](const ModelEntry& e) { return e.reads(verb, option); });
}

}  // namespace

void check_options(const std::string& verb, const std::vector<std::string>& given,
                   const Entries& entries, const std::string& who) {
  for (const std::string& option : given) {
    if (!depends_on_model(verb, option)) continue;
    if (std::none_of(entries.begin(), entries.end(),
                     [&](const ModelEntry* e) { return e->reads(verb, option); }))
      throw Unsupported(fmt::format("--{} is for {}{}; {} does not read it", option,
                                    verb == "fit" ? "--model " : "", readers_of(verb, option),
                                    who));
  }
}

const ModelEntry& entry_of(const FitNode& fit) {
  for (const ModelEntry* e : parse_model(fit.model).entries)
    if (e->kind == fit.kind() && e->label() == fit.form) return *e;
  for (const ModelEntry* e : parse_model(fit.model).entries)
    if (e->form == Form::plain && e->kind == fit.kind()) return *e;
  throw Error("internal", fmt::format("no model '{}' has fits of kind {}", fit.model, fit.kind()));
}

void check_options(const std::string& verb, const std::vector<std::string>& given,
                   const FitNode& fit) {
  const ModelEntry& entry = entry_of(fit);
  if (!entry.takes(verb)) {
    throw Unsupported(fmt::format("covary {} is not available for {}; it is for {}", verb,
                                  entry.label(), readers_of(verb, "")));
  }
  check_options(verb, given, {&entry}, entry.label());
}

ModelChoice::ModelChoice(const FitOptions& options)
    : name_(parse_model(options.model)),
      given_(options.given),
      entries_(name_.entries),
      likelihood_(options.likelihood) {
  parametric_ = FeatureChoice(options.features).is_parametric();
  narrow(options.likelihood, options.missing == "learn");
}

void ModelChoice::narrow(const std::string& likelihood, bool learns) {
  if (name_.is_auto())
    entries_ = kept(entries_, [all = auto_models(parametric_)](const ModelEntry& e) {
      return std::any_of(all.begin(), all.end(),
                         [&](const ModelEntry* one) { return one->name == e.name; });
    });
  // Minibatches and other likelihoods are a form of their own of some models.
  const bool gaussian = is_plain_gaussian(likelihood);
  bool batches = likelihood != "auto" && !gaussian;
  for (const char* option : {"batch", "epochs", "steps", "learning-rate", "schedule", "decay",
                             "every", "warm-up", "natural-step"})
    batches = batches || contains(given_, option);
  entries_ = kept(entries_, [&](const ModelEntry& e) {
    const bool has_form = std::any_of(entries_.begin(), entries_.end(), [](const ModelEntry* o) {
      return o->form == Form::minibatches;
    });
    return !has_form || (e.form == Form::minibatches) == batches;
  });
  if (likelihood != "auto" && (!only() || only()->targets != Targets::none)) {
    const Entries before = entries_;
    entries_ = kept(entries_, [&](const ModelEntry& e) {
      if (e.targets == Targets::any) return !gaussian || !name_.is_auto();
      return e.targets == Targets::classes || (e.targets == Targets::gaussian) == gaussian;
    });
    if (entries_.empty() && gaussian) entries_ = before;
    if (entries_.empty()) refuse_likelihood(name_.text, likelihood);
  }
  const Entries learners =
      kept(entries_, [](const ModelEntry& e) { return e.form == Form::missing_inputs; });
  if (learns && !learners.empty()) entries_ = learners;
  if (!learns || learners.empty())
    entries_ = kept(entries_, [](const ModelEntry& e) { return e.form != Form::missing_inputs; });
  if (learns && learners.empty() && has_inputs() &&
      !(only() && only()->targets == Targets::classes))
    throw Unsupported(fmt::format(
        "--missing learn is for --model {}; {} does not learn missing inputs",
        names_of([](const ModelEntry& e) { return e.form == Form::missing_inputs; }), name_.text));
}

bool ModelChoice::has_inputs() const {
  return std::any_of(entries_.begin(), entries_.end(),
                     [](const ModelEntry* e) { return e->targets != Targets::none; });
}

bool ModelChoice::compares() const {
  return std::any_of(entries_.begin(), entries_.end(),
                     [](const ModelEntry* e) { return e->takes("compare"); });
}

bool ModelChoice::may_read(const std::string& option) const {
  return std::any_of(entries_.begin(), entries_.end(),
                     [&](const ModelEntry* e) { return e->reads("fit", option); });
}

void ModelChoice::check() const {
  check_options("fit", given_, entries_,
                only()            ? only()->label()
                : name_.is_auto() ? "auto"
                                  : name_.text);
}

// A target of text is taken for classes, which the model may not have been meant for.
void ModelChoice::refuse_text(const ModelData& d, const std::string& model) const {
  if (likelihood_ != "auto" || d.labels.classes() == 0) return;
  throw Unsupported(fmt::format(
      "column '{}' holds text, of {} different cells such as '{}', and {} takes numbers; fix the "
      "cells, or classify with {} or auto",
      d.output_names.front(), d.labels.classes(), d.labels.names.back(), model,
      names_of([](const ModelEntry& e) { return e.targets == Targets::any; })));
}

const ModelEntry& ModelChoice::resolve(const ModelData& d, bool strict) const {
  const bool gaussian = !d.likelihood;
  const ModelEntry* out = nullptr;
  const bool learns = only() && only()->form == Form::missing_inputs;
  if (learns && !gaussian) refuse_text(d, only()->label());
  if (learns && !gaussian)
    throw Unsupported(fmt::format(
        "--missing learn is for Gaussian regression; drop rows with missing inputs with --missing "
        "drop to use the likelihood '{}'",
        d.likelihood->print()));
  if (learns && (d.X.array().isNaN().any() || !name_.is_auto())) {
    out = only();
  } else if (name_.is_auto()) {
    AutoChoice facts{gaussian, true,    d.count(),
                     1,        !d.file, d.file ? d.file->outputs() : d.Y.cols()};
    if (!gaussian) {
      facts.laplace = d.likelihood->supports(Inference::laplace);
      facts.functions = d.likelihood->functions();
    }
    out = &choose_model(facts, given_, parametric_);
  } else {
    const Entries fitting = kept(entries_, [&](const ModelEntry& e) {
      return e.targets == Targets::any || (e.targets == Targets::gaussian) == gaussian;
    });
    if (fitting.empty()) {
      refuse_text(d, name_.text);
      refuse_likelihood(name_.text, d.likelihood->print());
    }
    out = fitting.front();
    if (out->targets == Targets::other && d.likelihood->functions() > 1) refuse_text(d, name_.text);
  }
  if (strict)
    check_options(
        "fit", given_, {out},
        name_.is_auto() ? fmt::format("{}, chosen for these data,", out->label()) : out->label());
  return *out;
}

std::string ModelChoice::name_of(const ModelEntry& entry) const {
  return name_.power && entry.power != Power::none ? name_.text : entry.name;
}

}  // namespace covary
