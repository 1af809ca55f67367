#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <optional>
#include <string>

#include "covary/models/checkpointing.hpp"
#include "covary/models/fit.hpp"
#include "covary/parameters/parameters.hpp"
#include "covary/training/trainer.hpp"
#include "unlocked.hpp"

namespace covary::python {

namespace nb = nanobind;

// What fit() of every model takes.
struct TrainingArguments {
  std::optional<std::uint64_t> seed = {};  // nothing: the model's own
  Index restarts = 0;                      // 0: the model's own number
  Index max_iter = 1000;
  std::optional<double> max_seconds = {};
  nb::object checkpoint = nb::none();  // a path
  bool resume = false;
  nb::object from = nb::none();  // a fit, its parameters or the path of its file
  nb::object callback = nb::none(), progress = nb::none();

  std::string checkpoint_path() const;  // "" where there is none
  // What to start from: a fit, and its parameters; or these alone; or nothing.
  struct Start {
    std::optional<Fit> loaded = {};
    const FitNode* fit = nullptr;
    const Parameters* parameters = nullptr;
  };
  Start start() const;
  // Into the options of a model; InputError for what makes no sense.
  void apply(TrainingOptions& training) const;
};

// What the state of a training belongs to: a digest of anything that can be pickled.
std::string digest_of(const nb::object& state);

// Training as Python sees it: Ctrl-C, the caller's function, the bar and the checkpoint. It must
// outlive the fit.
class Watch {
 public:
  // `progress` is True, False or None (where somebody watches).
  Watch(const TrainingArguments& arguments, const TrainingOptions& training, Index starts);

  void attach(TrainingOptions& training);
  // The state to go on from, and what is kept from now on, of a training that `problem` describes.
  TrainingState resume(const std::string& problem);

  // What makes the objective that of the data's units.
  void shift_by(double shift) { shift_ = shift; }

  // Trains a model with options that this was attached to, without the interpreter's lock.
  template <class Model>
  auto run(Model& model) {
    return run_with([&] { return model.fit(); });
  }
  // The same for any work.
  template <class Work>
  auto run_with(const Work& work) {
    try {
      auto fit = unlocked(work);
      close(true);
      return fit;
    } catch (...) {
      close(false);
      throw;
    }
  }

 private:
  void show(const TrainingProgress& now);
  void close(bool finished);  // the bar

  nb::object callback_, bar_;
  std::string checkpoint_;
  bool resume_;
  Checkpointing checkpointing_;
  double shift_ = 0.0;
  Index seen_ = 0;        // steps of Adam
  bool stopped_ = false;  // by the caller's function
};

// Those options that hold the seed and how training goes.
template <class Options>
auto& core_of(Options& options) {
  if constexpr (requires { options.gplvm.training; })
    return options.gplvm;
  else
    return options;
}

// Starts at the values of other parameters where paths and sizes match.
void start_from(const Parameters& from, Parameters& parameters);

// Trains a model of its own, so that other Python threads may go on using the one that was given,
// whose parameters become the best found. The owner has `options`, and says how a model is made at
// its parameters with other options (made), what becomes of one that was trained (take), what a fit
// is called (name), how many starts there are, and the state that a checkpoint belongs to.
template <class Owner>
auto run_fit(Owner& owner, const TrainingArguments& a) {
  auto options = owner.options;
  auto& core = core_of(options);
  if (a.seed) core.seed = *a.seed;
  a.apply(core.training);
  const auto from = a.start();
  if constexpr (requires { options.subset; })
    if (from.parameters) options.subset = 0;  // it starts as it is, without a fit of some rows
  Watch watch(a, core.training, owner.starts(core.training.starts));
  watch.attach(core.training);
  auto training = owner.made(options);
  if constexpr (requires { training.log_jacobian(); }) watch.shift_by(-training.log_jacobian());
  if constexpr (requires { training.take_latent_space(*from.fit); })
    if (from.fit) training.take_latent_space(*from.fit);
  if (from.parameters) start_from(*from.parameters, training.parameters());
  // A start of a latent-variable model that has come to its limit is over.
  bool limited = requires { Owner::limited; };
  if constexpr (requires { options.input_map; }) limited = options.gplvm > 0;
  if (!a.checkpoint.is_none())
    training.resume(watch.resume(digest_of(
        nb::make_tuple(owner.state(), core.seed, core.training.starts,
                       limited ? core.training.max_iterations : 0, training.parameters()))));
  auto fit = watch.run(training);
  owner.name(fit);
  owner.take(training, options);
  return fit;
}

// fit() of a class, with the arguments of every model.
template <class Owner, class Run>
void def_fit(nb::class_<Owner>& of, const char* doc, const Run& run) {
  using namespace nb::literals;
  of.def(
      "fit",
      [run](Owner& self, std::optional<std::uint64_t> seed, Index restarts, Index max_iter,
            std::optional<double> max_seconds, const nb::object& callback,
            std::optional<bool> progress, const nb::object& checkpoint, bool resume,
            const nb::object& from) {
        return run(self, TrainingArguments{seed, restarts, max_iter, max_seconds, checkpoint,
                                           resume, from, callback, nb::cast(progress)});
      },
      "seed"_a = nb::none(), "restarts"_a = 0, "max_iter"_a = 1000, "max_seconds"_a = nb::none(),
      "callback"_a = nb::none(), "progress"_a = nb::none(), "checkpoint"_a = nb::none(),
      "resume"_a = false, "from_"_a = nb::none(), doc);
}
template <class Owner>
void def_fit(nb::class_<Owner>& of, const char* doc) {
  def_fit(of, doc, [](Owner& self, const TrainingArguments& a) { return run_fit(self, a); });
}

}  // namespace covary::python
